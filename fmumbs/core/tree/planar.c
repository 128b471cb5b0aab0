/* planar.c: data of the planar kernels, and conversion of their results to space.
 *
 * A tree (a link on the ground and all its descendants) is planar if its links rotate about one common direction n,
 * translate perpendicular to it, or are fixed. Its motion then does not depend on any out-of-plane quantity, whatever
 * the inertias, loads, springs and gravity: every link has the angular acceleration alpha n, and along n the ground's
 * acceleration. So no tunable parameter can make these kernels invalid. Out-of-plane forces affect the reactions only,
 * which are computed in space from (alpha, a) on demand.
 *
 * Planar links are numbered separately, depth first. Each has planar axes x, y with x x y = n: x along the translation
 * of a slide, otherwise towards the next link if that is its child. In a model with loops all trees of the loops must
 * share one plane (planar_loops.c).
 */
#include "planar.h"

#include "../image/joints.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "links.h"
#include "planar_fit.h"
#include "planar_modal.h"

#include <math.h>
#include <string.h>

#define FM_ACROSS 1e-6 /* relative length of a part perpendicular to the normal, below which it is ignored */

/* Data of the kernels
 * ------------------------------------------------------------------------------------------------- */

static double *lane_of(const fm_instance *s, int32_t place, int name)
{
    return fm_plane_at(s, place) + name * FM_PLANE_WIDTH;
}

/* The direction of v perpendicular to n; returns its length relative to v's. */
static double across(const double *n, const double *v, double *out)
{
    const double along = dot(v, n);
    for (int j = 0; j < 3; j++) out[j] = v[j] - along * n[j];
    const double length = sqrt(dot(out, out));
    for (int j = 0; j < 3; j++) out[j] /= length;
    return length / sqrt(dot(v, v));
}

/* Planar axes of a link, in its own axes. */
static void choose_axes(fm_instance *s, int32_t place)
{
    const fm_plane_link *k = s->planar.link + place;
    fm_plane_axes *to = s->planar.axes + place;
    const int32_t next = k->link + 1;
    double x[3] = {0.0, 0.0, 0.0}, size = 0.0;
    if (k->kind == FM_PLANE_SLIDE) x[2] = 1.0;
    else if (next < s->image.n.links && s->link[next].parent == k->link) memcpy(x, s->rigid[next].r, sizeof x);
    for (int tries = 0; tries < 4 && !(size > FM_ACROSS); tries++) {
        size = across(to->n, x, to->x);
        for (int j = 0; j < 3; j++) x[j] = j == tries ? 1.0 : 0.0; /* otherwise any direction */
    }
    memcpy(x, to->x, sizeof x);
    (void)across(to->n, x, to->x); /* repeated, for accuracy if x was short */
    cross(to->n, to->x, to->y);
}

/* Rotation and position of a link in its parent's planar axes; for a root, in its own axes at zero. */
static void place_in_parent(fm_instance *s, int32_t place)
{
    fm_plane_link *k = s->planar.link + place;
    double c0 = 1.0, s0 = 0.0, rx = 0.0, ry = 0.0;
    if (k->parent >= 0) {
        const fm_plane_axes *parent = s->planar.axes + k->parent;
        double x[3];
        rotate_out(s->axes[k->link].R0, s->planar.axes[place].x, x);
        c0 = dot(parent->x, x), s0 = dot(parent->y, x);
        const double *r = s->rigid[k->link].r;
        rx = dot(parent->x, r), ry = dot(parent->y, r);
        k->straight = k->kind == FM_PLANE_PIN && !k->driven && !k->jumps && fabs(ry) <= FM_PARALLEL * sqrt(dot(r, r));
    }
    if (k->straight) ry = 0.0;
    *lane_of(s, place, FM_PLANE_rx0) = rx, *lane_of(s, place, FM_PLANE_ry0) = ry;
    *lane_of(s, place, FM_PLANE_sign) = k->kind == FM_PLANE_PIN     ? k->sign
                                        : k->kind == FM_PLANE_FRAME ? 1.0
                                        : k->kind == FM_PLANE_MODAL ? -1.0
                                                                    : 0.0;
    *lane_of(s, place, FM_PLANE_c0) = c0, *lane_of(s, place, FM_PLANE_s0) = s0;
    *lane_of(s, place, FM_PLANE_tx) = -ry, *lane_of(s, place, FM_PLANE_ty) = rx;
}

static int8_t kind_of(const fm_link *l)
{
    const int32_t kind = l->kind;
    if (kind <= FM_LINK_REVOLUTE) return FM_PLANE_PIN;
    if (kind == FM_LINK_PRISMATIC) return FM_PLANE_SLIDE;
    if (kind == FM_LINK_DRIVEN) return l->pitch != 0.0 ? FM_PLANE_PIN : FM_PLANE_SLIDE;
    return kind == FM_LINK_MODAL ? FM_PLANE_MODAL : kind == FM_LINK_FRAME ? FM_PLANE_FRAME : FM_PLANE_FIXED;
}

static void describe_link(fm_instance *s, int32_t place, int32_t link, const double *normal)
{
    fm_plane_link *k = s->planar.link + place;
    const fm_link *l = s->link + link;
    memset(k, 0, sizeof *k);
    s->planar.place[link] = place;
    memcpy(s->planar.axes[place].n, normal, sizeof s->planar.axes[place].n);
    k->link = link;
    k->parent = l->parent < 0 ? -1 : s->planar.place[l->parent];
    k->kind = kind_of(l);
    k->driven = l->kind == FM_LINK_DRIVEN;
    s->planar.drives += k->driven;
    k->p = l->p < 0 ? 0 : l->p;
    k->u = l->u;
    k->jumps = k->parent < 0 || k->parent != place - 1;
    k->pending = l->pending >= 0 ? s->model.plane_pendings++ : -1;
    k->slot = l->slot >= 0 ? s->planar.link[k->parent].pending : -1;
    k->first_in_slot = l->first_in_slot;
    k->side = k->kind == FM_PLANE_PIN ? normal[fm_link_axis(l->kind)] : 1.0;
    k->sign = k->kind == FM_PLANE_PIN     ? l->sign * l->pitch * k->side
              : k->kind == FM_PLANE_SLIDE ? l->sign * l->slide
                                          : 0.0;
}

/* Whether the position variables of a block are consecutive in y. */
static int are_regular(const fm_instance *s, int32_t first)
{
    const fm_plane_link *k = s->planar.link + first;
    for (int32_t i = 1; i < FM_PLANE_WIDTH && first + i < s->model.planars; i++)
        if (k[i].kind >= FM_PLANE_MODAL || (k[i].kind != FM_PLANE_FIXED && k[i].p != k->p + i)) return 0;
    return k->kind < FM_PLANE_FIXED && k->p + FM_PLANE_WIDTH <= s->model.ny;
}

/* Called once, after the links are prepared. */
void fm_planar_structure(fm_instance *s)
{
    int32_t place = 0;
    double *normal = s->wrench; /* used as scratch memory here */
    s->model.plane_pendings = s->planar.drives = 0;
    if (s->model.planars > 0) (void)fm_planar_normals(&s->image, normal, s->planar.ground.n);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const double *n = normal + 3 * i;
        s->planar.place[i] = -1;
        if (s->model.planars > 0 && dot(n, n) > 0.0) describe_link(s, place++, i, n);
    }
    for (int32_t i = 0; i < place; i++) choose_axes(s, i);
    for (int32_t i = 0; i < place; i++) place_in_parent(s, i);
    for (int32_t i = 0; i < place; i += FM_PLANE_WIDTH) s->planar.link[i].regular = (int8_t)are_regular(s, i);
    s->planar.bends = 0;
    for (int32_t i = 0; i < place; i++) s->planar.bends |= s->planar.link[i].kind >= FM_PLANE_MODAL;
    fm_planar_modal_structure(s);
    (void)fm_planar_use(s, 1);
}

/* The ground's acceleration less gravity in the roots' axes at zero; called after every change of gravity. */
void fm_planar_weigh(fm_instance *s)
{
    s->planar.ax = -dot(s->planar.ground.x, s->gravity), s->planar.ay = -dot(s->planar.ground.y, s->gravity);
    for (int32_t i = 0; i < s->model.planars; i++) {
        const fm_plane_link *k = s->planar.link + i;
        fm_plane_axes *axes = s->planar.axes + i;
        double weight[3];
        if (k->parent >= 0) continue;
        rotate_in(s->axes[k->link].R0, s->gravity, weight);
        s->planar.root[i].ax = -dot(axes->x, weight), s->planar.root[i].ay = -dot(axes->y, weight);
        axes->along = -dot(axes->n, weight);
    }
}

/* Inertias in planar axes; called after every change of a parameter. */
void fm_planar_derive(fm_instance *s)
{
    double before = 0.0;
    for (int32_t i = 0; i < s->model.planars; i++) {
        const fm_rigid *l = s->rigid + s->planar.link[i].link;
        const fm_plane_axes *axes = s->planar.axes + i;
        const double *n = axes->n, *J = l->J;
        const double Jn[3] = {J[0] * n[0] + J[1] * n[1] + J[2] * n[2], J[1] * n[0] + J[3] * n[1] + J[4] * n[2],
                              J[2] * n[0] + J[4] * n[1] + J[5] * n[2]};
        *lane_of(s, i, FM_PLANE_m) = l->m;
        *lane_of(s, i, FM_PLANE_hx) = -dot(l->h, axes->y);
        *lane_of(s, i, FM_PLANE_hy) = dot(l->h, axes->x);
        *lane_of(s, i, FM_PLANE_before) = before;
        before = s->planar.link[i].kind == FM_PLANE_MODAL ? 0.0 : dot(n, Jn); /* of flexible bodies: planar_modal.inc */
    }
    s->model.plane_tip = before;
    fm_planar_modal_derive(s);
    fm_planar_weigh(s);
}

/* Selection of kernels -----------------------------------------------------------------------------------------------
 */

static int is_planar(const fm_instance *s, int32_t link)
{
    return s->planar.used && s->planar.place[link] >= 0;
}

/* Moves those that the spatial kernels process to the front. */
static void sort_out(fm_instance *s)
{
    s->model.spatial_angles = s->model.spatial_slides = 0;
    for (int32_t i = 0; i < s->model.angles; i++) {
        const fm_angle angle = s->angle[i];
        if (is_planar(s, angle.link)) continue;
        s->angle[i] = s->angle[s->model.spatial_angles];
        s->angle[s->model.spatial_angles++] = angle;
    }
    for (int32_t i = 0; i < s->model.slides; i++) {
        const int32_t link = s->slide_link[i];
        if (is_planar(s, link)) continue;
        s->slide_link[i] = s->slide_link[s->model.spatial_slides];
        s->slide_link[s->model.spatial_slides++] = link;
    }
}

/* Uses planar kernels for planar trees (`on`), or spatial kernels for all; returns the number of links that use planar
 * ones. */
int32_t fm_planar_use(fm_instance *s, int32_t on)
{
    const int32_t links = s->image.n.links;
    int32_t ranges = 0;
    s->planar.used = on && s->model.planars > 0;
    sort_out(s);
    for (int32_t i = 0; i < links; i++) {
        fm_link *k = s->link + i;
        if (k->root) k->slot = -1;
        if (is_planar(s, i)) continue;
        if (ranges == 0 || s->range[2 * ranges - 1] != i) {
            s->range[2 * ranges++] = i;
            k->slot = FM_SWEEP_ENDS;
        }
        s->range[2 * ranges - 1] = i + 1;
    }
    s->model.ranges = ranges;
    fm_make_briefs(s);
    s->valid = FM_VALID_NOTHING;
    return s->planar.used ? s->model.planars : 0;
}

/* Conversion to space ------------------------------------------------------------------------------------------------
 */

/* Inertial wrench of a link about its origin at zero acceleration, less the applied one. */
static void expand_forces(fm_instance *s, int32_t i, const double *n, double w)
{
    const fm_rigid *l = s->rigid + i;
    const double *J = l->J, *h = l->h, square = w * w, along = dot(h, n);
    const double Jn[3] = {J[0] * n[0] + J[1] * n[1] + J[2] * n[2], J[1] * n[0] + J[3] * n[1] + J[4] * n[2],
                          J[2] * n[0] + J[4] * n[1] + J[5] * n[2]};
    const int forces = s->work.forced;
    double torque[3], force[3];
    cross(n, Jn, torque);
    for (int j = 0; j < 3; j++) {
        torque[j] = square * torque[j] - (forces ? s->work.applied[6 * i + j] : 0.0);
        force[j] = square * (n[j] * along - h[j]) - (forces ? s->work.applied[6 * i + 3 + j] : 0.0);
    }
    fm_inertial_set(s, torque, i, torque);
    fm_inertial_set(s, force, i, force);
}

/* Cosines and sines, for fm_make_world. */
void fm_planar_orient(fm_instance *s, const double *y)
{
    if (s->planar.used && s->planar.bends) fm_planar_modal_orient(s, y);
    for (int32_t i = 0; s->planar.used && i < s->model.planars; i++) {
        const fm_plane_link *k = s->planar.link + i;
        if (k->kind >= FM_PLANE_MODAL) continue;
        s->turn[k->link].c = *lane_of(s, i, FM_PLANE_cosine);
        s->turn[k->link].s = k->side * *lane_of(s, i, FM_PLANE_sine);
    }
}

/* Converts the last evaluation's motion of planar trees to the results that the spatial kernels would leave. */
void fm_planar_expand(fm_instance *s)
{
    if (s->planar.used && s->planar.bends) fm_planar_modal_orient(s, s->y);
    for (int32_t i = 0; s->planar.used && i < s->model.planars; i++) {
        const fm_plane_link *k = s->planar.link + i;
        fm_plane_axes *axes = s->planar.axes + i, *parent = s->planar.axes + (k->parent < 0 ? i : k->parent);
        const double w = *lane_of(s, i, FM_PLANE_w);
        const double ax = *lane_of(s, i, FM_PLANE_ax), ay = *lane_of(s, i, FM_PLANE_ay);
        const double bias_x = *lane_of(s, i, FM_PLANE_bias_x), bias_y = *lane_of(s, i, FM_PLANE_bias_y);
        const double alpha = *lane_of(s, i, FM_PLANE_alpha);
        fm_motion *m = s->motion + k->link;
        double spin[3], bias[3];
        if (k->parent >= 0) axes->along = parent->along;
        for (int j = 0; j < 3; j++) {
            spin[j] = w * axes->n[j];
            bias[j] = bias_x * parent->x[j] + bias_y * parent->y[j];
            s->projected[k->link].bias[j] = 0.0;
            m->alpha[j] = alpha * axes->n[j];
            m->a[j] = (ax * axes->x[j] + ay * axes->y[j]) + axes->along * axes->n[j];
        }
        fm_lane_set(s, w, k->link, spin);
        fm_lane_set(s, bias, k->link, bias);
        expand_forces(s, k->link, axes->n, w);
    }
    if (s->planar.bends) fm_planar_modal_expand(s, s->y);
}
