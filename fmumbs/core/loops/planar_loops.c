/* planar_loops.c: describes the loops of planar mechanisms for planar_loops.inc.
 *
 * Only the rows of a cut joint that act in the plane affect the motion; along and perpendicular rows across it are
 * satisfied identically. They affect reactions only, which are computed in space.
 */
#include "planar_loops.h"

#include "../maths/rotations.h"
#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../tree/planar_fit.h"

#include <math.h>
#include <string.h>

static const fm_plane_axes *axes_of(const fm_instance *s, int32_t place)
{
    return place < 0 ? &s->planar.ground : s->planar.axes + place;
}

static void in_plane(const fm_plane_axes *axes, const double *v, double out[2])
{
    out[0] = dot(axes->x, v), out[1] = dot(axes->y, v);
}

/* The distance of a link's point from the ground's origin along the normal. */
static double height(const fm_instance *s, int32_t place, const double *at)
{
    double sum = dot(axes_of(s, place)->n, at);
    while (place >= 0) {
        const fm_plane_link *k = s->planar.link + place;
        sum += dot(axes_of(s, k->parent)->n, s->rigid[k->link].r);
        place = k->parent;
    }
    return sum;
}

static void describe_pin(const fm_instance *s, int32_t joint, fm_plane_joint *j)
{
    const fm_image *m = &s->image;
    const double *axis = m->cut_axis + 3 * m->joint_mode[joint];
    double across[3], v[3];
    fm_across(axis, across);
    rotate_out(m->joint_F + 9 * joint, across, v);
    in_plane(axes_of(s, j->F), v, j->pin_F);
    rotate_out(m->joint_M + 9 * joint, across, v);
    in_plane(axes_of(s, j->M), v, j->pin_M);
    rotate_out(m->joint_F + 9 * joint, axis, v);
    j->side = dot(axes_of(s, j->F)->n, v) < 0.0 ? -1.0 : 1.0;
}

static void describe_joint(fm_instance *s, int32_t block)
{
    static const double nothing[3] = {0.0, 0.0, 0.0};
    const fm_image *m = &s->image;
    const fm_block *b = s->plan.block + block;
    const int32_t joint = m->row_joint[b->first], F = m->joint_F_link[joint], M = m->joint_M_link[joint];
    fm_plane_joint *j = s->planar.joint + block;
    for (int32_t i = b->first; i < b->first + b->rows; i++) s->planar.row[i].kind = FM_ROW_KINDS;
    s->planar.block[joint] = block;
    j->F = F < 0 ? -1 : s->planar.place[F], j->M = M < 0 ? -1 : s->planar.place[M];
    in_plane(axes_of(s, j->F), m->joint_F_r + 3 * joint, j->at_F);
    in_plane(axes_of(s, j->M), m->joint_M_r + 3 * joint, j->at_M);
    j->high_F = height(s, j->F, nothing), j->high_M = height(s, j->M, nothing);
    j->apart = height(s, j->M, m->joint_M_r + 3 * joint) - height(s, j->F, m->joint_F_r + 3 * joint);
    if (fm_is_pin(m, joint)) describe_pin(s, joint, j);
    for (int32_t i = b->first; i < b->first + b->rows; i++) {
        fm_plane_row *row = s->planar.row + i;
        row->length = m->row_length[i];
        row->kind = fm_planar_row(m, i, axes_of(s, j->F)->n, axes_of(s, j->M)->n);
        in_plane(axes_of(s, j->F), m->row_f + 3 * i, row->f);
        in_plane(axes_of(s, j->M), m->row_g + 3 * i, row->g);
    }
}

/* Called once, after the planar axes have been chosen. Requires the ground's normal. */
void fm_planar_loops_structure(fm_instance *s)
{
    fm_plane_axes *ground = &s->planar.ground;
    const double *normal = ground->n;
    if (s->model.planars == 0 || s->plan.blocks == 0) return;
    const int least = fabs(normal[0]) < 0.6 ? 0 : 1;
    double x[3] = {0.0, 0.0, 0.0};
    x[least] = 1.0;
    cross(normal, x, ground->y);
    const double length = sqrt(dot(ground->y, ground->y));
    for (int j = 0; j < 3; j++) ground->y[j] /= length;
    cross(ground->y, ground->n, ground->x);
    memset(s->planar.world, 0, ((size_t)s->model.planars + 1) * sizeof *s->planar.world);
    s->planar.world[0].c = 1.0;
    for (int32_t i = 0; i < s->model.planars; i++) {
        const fm_plane_link *k = s->planar.link + i;
        fm_plane_motion *root = &s->planar.root[i].at;
        double axis[3], rotated[2], at[2];
        memset(root, 0, sizeof *root);
        if (k->parent >= 0) continue;
        rotate_out(s->axes[k->link].R0, s->planar.axes[i].x, axis);
        in_plane(ground, axis, rotated);
        in_plane(ground, s->rigid[k->link].r, at);
        root->c = rotated[0], root->s = rotated[1], root->x = at[0], root->y = at[1];
    }
    for (int32_t i = 0; i < s->image.n.joints; i++) s->planar.block[i] = -1;
    for (int32_t b = 0; b < s->plan.blocks; b++) describe_joint(s, b);
    s->planar.free_cuts = 0;
    for (int32_t i = 0; i < s->image.n.joints; i++)
        s->planar.free_cuts += fm_is_cut_joint(&s->image, i) && s->image.joint_np[i] > 0 && s->planar.block[i] < 0;
    for (size_t e = 0; e < s->plan.paths; e++) {
        const int32_t link = s->plan.link[e], place = s->planar.place[link], body = s->image.link_modal[link];
        s->planar.mode[e] = place;
        if (body >= 0) s->planar.mode[e] = -1 - (s->image.modal_shape[body] + (s->plan.path[e] - s->link[link].u));
    }
}

/* Conversion to space ------------------------------------------------------------------------------------------------
 */

/* A link's spatial motion from its planar one; `high`: height of its origin above the plane. */
static void show(fm_instance *s, int32_t place, double high)
{
    if (place < 0) return;
    const fm_plane_axes *axes = s->planar.axes + place, *ground = &s->planar.ground;
    const fm_plane_motion *in = s->planar.world + 1 + place;
    fm_world *out = s->world + s->planar.link[place].link;
    for (int i = 0; i < 3; i++) {
        const double x = in->c * ground->x[i] + in->s * ground->y[i], y = in->c * ground->y[i] - in->s * ground->x[i];
        for (int j = 0; j < 3; j++) out->R[3 * i + j] = (x * axes->x[j] + y * axes->y[j]) + ground->n[i] * axes->n[j];
        out->r[i] = (in->x * ground->x[i] + in->y * ground->y[i]) + high * ground->n[i];
        out->v[i] = in->vx * ground->x[i] + in->vy * ground->y[i];
        out->w[i] = in->w * ground->n[i];
    }
}

/* World kinematics of the links of a cut joint. */
void fm_planar_show(fm_instance *s, int32_t joint)
{
    const fm_plane_joint *j = s->planar.joint + s->planar.block[joint];
    show(s, j->F, j->high_F);
    show(s, j->M, j->high_M);
}

/* The angle of a cut pin joint, up to multiples of 2 pi, and its rate. */
double fm_planar_angle(const fm_instance *s, int32_t joint, double *rate)
{
    const fm_plane_joint *j = s->planar.joint + s->planar.block[joint];
    const fm_plane_motion *F = s->planar.world + 1 + j->F, *M = s->planar.world + 1 + j->M;
    const double fx = F->c * j->pin_F[0] - F->s * j->pin_F[1], fy = F->s * j->pin_F[0] + F->c * j->pin_F[1];
    const double gx = M->c * j->pin_M[0] - M->s * j->pin_M[1], gy = M->s * j->pin_M[0] + M->c * j->pin_M[1];
    *rate = j->side * (M->w - F->w);
    return fm_atan2(j->side * (fx * gy - fy * gx), fx * gx + fy * gy);
}

/* The largest coordinate of a link's origin in the plane. */
double fm_planar_extent(const fm_instance *s)
{
    double most = 0.0;
    for (int32_t i = 1; i <= s->model.planars; i++) {
        const fm_plane_motion *w = s->planar.world + i;
        most = fabs(w->x) > most ? fabs(w->x) : most;
        most = fabs(w->y) > most ? fabs(w->y) : most;
    }
    return most;
}
