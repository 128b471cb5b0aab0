/* turning_axes.c: joints whose coordinates have a limit: those that turn about three axes one after the other, such as
 * a bushing, and links of several screws, whose rates have poles (tree/poles.c).
 *
 * With a, b, c the axes, each as the rotations before it turn it, the angles describe every small rotation as long as
 *     d = a . (b x c)
 * is not zero; of axes x, y, z it is the cosine of the second angle. For an angular velocity of 1 rad/s the first and
 * the third angle have rates up to 1/d, and their springs, dampers and inertias act 1/d^2-fold. The limit is a
 * millionfold. On its other side the same position has other angles, so that a step may not pass it either. Links of
 * several screws come to their limit within the same angle of a pole.
 */
#include "turning_axes.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../tree/poles.h"
#include "cut_chain.h"
#include "cut_joints.h"

#include <math.h>
#include <string.h>

#define FM_LIMIT 1e-3 /* |d| at the limit; angle from a pole [rad] */
/* [rad]: a position of other angles, where |d| is larger unless it is zero at all positions */
#define FM_OTHER_ANGLE 0.7
#define FM_AXES 3

/* The axes of a joint of the tree at positions y, angles increased by `more`; returns how many there are. */
static int32_t axes_in_tree(const fm_instance *s, int32_t joint, const double *y, double more, double (*axis)[3])
{
    const fm_image *m = &s->image;
    double R[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    int32_t n = 0;
    for (int32_t i = m->joint_first[joint]; i <= m->joint_last[joint]; i++) {
        const fm_link *k = s->link + i;
        double own[9], next[9], about[3] = {0.0, 0.0, 0.0};
        if (k->kind >= FM_LINK_GENERAL || k->kind == FM_LINK_SPHERICAL) return 0;
        product(R, s->axes[i].R0, next);
        memcpy(R, next, sizeof R);
        if (k->pitch == 0.0 || k->p < 0) continue;
        about[fm_link_axis(k->kind)] = 1.0;
        if (k->u >= 0 && k->kind != FM_LINK_DRIVEN) {
            if (n == FM_AXES) return 0;
            rotate_out(R, about, axis[n++]);
        }
        fm_rotation_about(about, k->sign * k->pitch * (y[k->p] + more), own);
        product(R, own, next);
        memcpy(R, next, sizeof R);
    }
    return n;
}

/* Those of a cut joint at its positions p. */
static int32_t axes_of_cut(const fm_instance *s, int32_t joint, const double *p, double more, double (*axis)[3])
{
    const fm_image *m = &s->image;
    double moved[FM_JOINT_MODES + 1];
    int32_t n = 0, at = 0;
    fm_chain c;
    for (int32_t k = m->joint_mode[joint]; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        if (m->cut_kind[k] == FM_CUT_BALL) return 0;
        if (m->cut_kind[k] == FM_CUT_SCREW) moved[at] = p[at] + (m->cut_turn[k] != 0.0 ? more : 0.0), at++;
    }
    fm_make_chain(s, joint, moved, NULL, &c);
    for (int32_t i = 0; i < c.n; i++) {
        const double size = sqrt(dot(c.phi[i], c.phi[i]));
        if (size == 0.0) continue;
        if (n == FM_AXES) return 0;
        for (int j = 0; j < 3; j++) axis[n][j] = c.phi[i][j] / size;
        n++;
    }
    return n;
}

/* d; 1 of joints that do not turn about three axes. at: y, or the positions of a cut joint. */
static double independence(const fm_instance *s, int32_t joint, const double *at, double more)
{
    double axis[FM_AXES][3], across[3];
    if (s->image.joint_nu[joint] < FM_AXES) return 1.0;
    const int cut = fm_is_cut_joint(&s->image, joint);
    const int32_t n = cut ? axes_of_cut(s, joint, at, more, axis) : axes_in_tree(s, joint, at, more, axis);
    if (n != FM_AXES) return 1.0;
    cross(axis[1], axis[2], across);
    return dot(axis[0], across);
}

/* Its positions: those that are followed, of a cut joint. */
static const double *positions_of(const fm_instance *s, int32_t joint, const double *y)
{
    return fm_is_cut_joint(&s->image, joint) ? s->cut_p + s->image.joint_p[joint] : y;
}

/* Whether d is near zero at these positions, but not wherever the joint is: two parallel axes and a third one. */
static int is_at_limit(const fm_instance *s, int32_t joint, const double *at)
{
    return !(fabs(independence(s, joint, at, 0.0)) >= FM_LIMIT) &&
           fabs(independence(s, joint, at, FM_OTHER_ANGLE)) >= FM_LIMIT;
}

/* Called once, after the image has been read. */
void fm_turning_structure(fm_instance *s)
{
    const fm_image *m = &s->image;
    s->model.turning = 0;
    for (int32_t j = 0; j < m->n.joints; j++) {
        const double *at = fm_is_cut_joint(m, j) ? m->cut_start + m->joint_p[j] : m->start_p;
        s->model.turning += independence(s, j, at, 0.0) != 1.0 || independence(s, j, at, FM_OTHER_ANGLE) != 1.0;
    }
}

/* The link of several screws that is the joint, NULL: none. */
static const fm_general *screws_of(const fm_instance *s, int32_t joint)
{
    const int32_t link = s->image.joint_last[joint];
    return link >= 0 && s->link[link].kind == FM_LINK_GENERAL ? s->general + s->link[link].nth : NULL;
}

/* A joint of several screws with a pole within an angle of y, or `part` of the model's length; -1: none. */
static int32_t beside_pole(const fm_instance *s, const double *y, double angle, double part)
{
    for (int32_t i = 0; i < s->image.n.generals; i++) {
        const int32_t link = s->general[i].link;
        if (fm_pole_within(s, s->general + i, y + s->link[link].p, angle, part)) return s->image.link_joint[link];
    }
    return -1;
}

/* One with a pole between two states; -1: none. */
static int32_t passes_pole(const fm_instance *s, const double *before, const double *after)
{
    for (int32_t i = 0; i < s->image.n.generals; i++) {
        const int32_t link = s->general[i].link, p = s->link[link].p;
        if (fm_pole_between(s, s->general + i, before + p, after + p)) return s->image.link_joint[link];
    }
    return -1;
}

/* A joint at its limit; -1: none. */
int32_t fm_starts_at_limit(const fm_instance *s, const double *y)
{
    for (int32_t j = 0; s->model.turning > 0 && j < s->image.n.joints; j++)
        if (is_at_limit(s, j, positions_of(s, j, y))) return j;
    return beside_pole(s, y, FM_LIMIT, 0.0);
}

/* A joint that comes to its limit between two states, or passes it; -1: none. beside: whether an end beside a pole
 * counts as one that comes to it. Requires placed links at `after`, and that cut joints were followed to `before`. */
int32_t fm_passes_limit(const fm_instance *s, const double *before, const double *after, int beside)
{
    for (int32_t j = 0; s->model.turning > 0 && j < s->image.n.joints; j++) {
        if (s->image.joint_nu[j] < FM_AXES) continue;
        const double d = independence(s, j, positions_of(s, j, before), 0.0), side = d < 0.0 ? -1.0 : 1.0;
        fm_coordinates at;
        const int cut = fm_is_cut_joint(&s->image, j);
        if (!(fabs(d) >= FM_LIMIT)) continue;
        if (cut) fm_cut_joint_coordinates(s, j, 0, &at);
        if (!(side * independence(s, j, cut ? at.p : after, 0.0) >= FM_LIMIT)) return j;
    }
    const int32_t passes = passes_pole(s, before, after);
    return passes >= 0 || !beside ? passes : beside_pole(s, after, FM_LIMIT, 0.0);
}

/* What its coordinates end at, in words. */
const char *fm_limit_of(const fm_instance *s, int32_t joint)
{
    if (screws_of(s, joint))
        return "the rates of its modes grow without bound there, as those of turns z, x, y at 90 degrees about x. "
               "Another order of its turns has its limit elsewhere";
    const double *at =
        fm_is_cut_joint(&s->image, joint) ? s->image.cut_start + s->image.joint_p[joint] : s->image.start_p;
    const int turns = independence(s, joint, at, 0.0) != 1.0 || independence(s, joint, at, FM_OTHER_ANGLE) != 1.0;
    return turns ? "its three axes of rotation fall into one plane, as those of a Bushing at 90 degrees about its y"
                 : "its modes are dependent there";
}

/* The joint that is nearest to its limit at y, if it is within `angle` of it, or one beside a pole; -1: none is. */
int32_t fm_nearest_limit(const fm_instance *s, const double *y, double angle)
{
    int32_t nearest = -1;
    for (int32_t j = 0; s->model.turning > 0 && j < s->image.n.joints; j++) {
        const double *at = positions_of(s, j, y), d = fabs(independence(s, j, at, 0.0));
        if (!(d < angle) || !(fabs(independence(s, j, at, FM_OTHER_ANGLE)) >= FM_LIMIT)) continue;
        angle = d;
        nearest = j;
    }
    return nearest >= 0 ? nearest : beside_pole(s, y, angle, angle);
}
