/* mode_rows.c: constraint rows of a cut joint with any product of modes, such as a slide between two turns.
 *
 * With Phi(p) the n free modes at M, in F's axes, the rows are 6 - n vectors w with w' Phi = 0 (joint-representation,
 * Eq 3.12), at the positions p that cut_joints.c finds from the poses of F and M:
 *     c = w' miss,   c' = w' G,   c'' = w' (G' - bias),   miss: from the product X(p) to M's pose
 * The angular parts of Phi span t directions, and the modes that only slide, combined from all, span n - t. For each
 * direction e across the first, w = [e; 0]; for each g across the second, w = [m; g] with m among the first, such that
 * m . omega_i = -g . v_i for each mode. Where only one direction d slides, g is across a reference direction as well,
 * so that it follows the motion smoothly; an axis about which alone the joint turns is fixed in F.
 */
#include "mode_rows.h"

#include "../image/joints.h"
#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/dual.h"
#include "cut_joints.h"

#include <math.h>
#include <string.h>

static void scale_to_one(double v[3])
{
    const double size = sqrt(dot(v, v));
    for (int j = 0; j < 3; j++) v[j] /= size;
}

/* 3 - n directions across n orthonormal ones; across a single one, first the normal of it and the reference. */
static int32_t directions_across(double (*given)[3], int32_t n, const double reference[3], double (*out)[3])
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (n == 0) memcpy(out, axes, sizeof axes);
    if (n == 2) cross(given[0], given[1], out[0]);
    if (n == 1) {
        cross(given[0], reference, out[0]);
        scale_to_one(out[0]);
        cross(given[0], out[0], out[1]);
    }
    return 3 - n;
}

/* All rows of the joint. */
static void find_rows(const fm_instance *s, int32_t row, int moving, fm_ends *ends)
{
    const fm_image *m = &s->image;
    fm_cut_motion at;
    double e[3][3], g[3][3], reference[3], across[3], w[FM_JOINT_MODES][6];
    memset(w, 0, sizeof w);
    ends->found = 1;
    if (!fm_cut_joint_motion(s, m->row_joint[row], moving, &at)) {
        for (int32_t k = 0; k < FM_JOINT_MODES; k++) ends->c[k][0] = ends->c[k][1] = ends->c[k][2] = NAN;
        memset(ends->row, 0, sizeof ends->row);
        return;
    }
    const int in_M = m->row_kind[row] == FM_ROW_MODES_M;
    const double *own = (in_M ? m->joint_M : m->joint_F) + 9 * m->row_joint[row],
                 *v = (in_M ? m->row_g : m->row_f) + 3 * row;
    rotate_in(own, v, reference); /* from the link's axes to those of the joint's frame */
    if (in_M) {
        memcpy(across, reference, sizeof across);
        rotate_out(at.R, across, reference);
    }
    fm_dual *d = &at.dual;
    if (d->turning == 1) fm_across(d->along[0], across);
    const int32_t turns = directions_across(d->along, d->turning, across, e);
    const int32_t slides = directions_across(d->along + d->turning, d->n - d->turning, reference, g);
    for (int32_t k = 0; k < turns; k++) memcpy(w[k], e[k], sizeof e[k]);
    for (int32_t k = 0; k < slides; k++) {
        double *wrench = w[turns + k];
        for (int32_t i = 0; i < d->n; i++) wrench[i] = -dot(g[k], at.phi[i] + 3);
        fm_dual_wrench(d, wrench);
        for (int j = 0; j < 3; j++) wrench[3 + j] += g[k][j];
    }
    for (int32_t k = 0; k < turns + slides; k++) {
        ends->c[k][0] = dot6(w[k], at.miss);
        ends->c[k][1] = dot6(w[k], at.velocity);
        ends->c[k][2] = dot6(w[k], at.acceleration);
        rotate_out(at.F, w[k], ends->row[k]);
        rotate_out(at.F, w[k] + 3, ends->row[k] + 3);
    }
}

/* Row `row`; ends: the frames of its joint. */
void fm_mode_row(const fm_instance *s, int32_t row, int moving, fm_ends *ends, fm_constraint *out)
{
    const int32_t k = fm_row_of_joint(&s->image, row);
    if (!ends->found) find_rows(s, row, moving, ends);
    memcpy(out->c, ends->c[k], sizeof out->c);
    memcpy(out->torque, ends->row[k], sizeof out->torque);
    memcpy(out->force, ends->row[k] + 3, sizeof out->force);
}
