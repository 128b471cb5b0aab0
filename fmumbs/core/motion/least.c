/* least.c: minimum-norm reactions where reactions are not unique: they minimise the sum of |f|^2 + |t|^2 / L^2 over all
 * joints.
 *
 * If rows are redundant, multipliers mu with J' mu = 0 (self-stresses) change the reactions and nothing else. With
 * active rows a and inactive rows i, mu_a = -(J_a G J_a')^-1 J_a G J_i' mu_i for any metric G of the free modes: here
 * 1, and 1 / L^2 for rotations, so that inertia does not matter; the matrix has the blocks of K. The effect on the
 * joints' reactions, W mu, follows from statics alone: through a joint act the wrenches of the rows beyond it. The mu_i
 * are found by conjugate gradients; each iteration costs one solution and one pass along the rows' paths. The minimum
 * depends neither on the choice of rows nor on the choice of cut joints.
 *
 * Rows of couplings take part, but load no joint.
 */
#include "least.h"

#include "../maths/vectors.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../loops/constraints.h"
#include "../loops/jacobian.h"
#include "../loops/delassus.h"
#include "../loops/multipliers.h"
#include "reactions.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

#define FM_CONVERGED 1e-28   /* fraction of the sum of squares at which the iteration stops */
#define FM_SMALL_PIVOT 1e-10 /* fraction of a row's regular diagonal below which its pivot is mostly round-off */
#define FM_LOOSE 1e-7        /* the same, added to the diagonal there */

static int counts(const fm_instance *s, int32_t row)
{
    return !fm_row_rests(s, row);
}

static int loads_joints(const fm_instance *s, int32_t row)
{
    return s->image.row_kind[row] != FM_ROW_COUPLED;
}

static int is_idle(const fm_instance *s, int32_t row)
{
    return s->least->idle[row] != 0.0;
}

/* A row passes on to the modes of a joint what couplings then take up: no part of the reaction. Without couplings
 * these parts of all rows cancel. */
static void leave_to_couplings(const fm_instance *s, int32_t joint, double wrench[6])
{
    const double *R = s->world[s->image.joint_last[joint]].R;
    double own[6];
    rotate_in(R, wrench, own);
    rotate_in(R, wrench + 3, own + 3);
    fm_remove_free_modes(s, joint, own);
    rotate_out(R, own, wrench);
    rotate_out(R, own + 3, wrench + 3);
}

/* The wrench of a row at M of a joint, torque and force. */
static void at_joint(const fm_instance *s, int32_t row, int32_t joint, double sign, double out[6])
{
    const double *w = s->loop.wrench + 6 * row, *from = s->least->at + 3 * s->image.row_joint[row];
    const double *to = s->least->at + 3 * joint;
    const double arm[3] = {from[0] - to[0], from[1] - to[1], from[2] - to[2]};
    double add[3];
    cross(arm, w + 3, add);
    for (int j = 0; j < 3; j++) out[j] = sign * (w[j] + add[j]), out[3 + j] = sign * w[3 + j];
    if (s->image.n.couplings > 0 && !fm_is_cut_joint(&s->image, joint)) leave_to_couplings(s, joint, out);
}

/* The next joint of the tree on the two paths of a row, up to where they meet, and the sign with which the row loads
 * it; -1: no more. `end` starts as the links of M and F. */
static int32_t next_joint(const fm_instance *s, int32_t end[2], double *sign)
{
    const fm_image *m = &s->image;
    while (end[0] != end[1]) { /* a parent's index is smaller than its child's */
        const int of_F = end[1] > end[0];
        const int32_t link = end[of_F], joint = m->link_joint[link];
        end[of_F] = m->link_parent[link];
        if (link != m->joint_last[joint]) continue;
        *sign = of_F == m->joint_reversed[joint] ? -1.0 : 1.0;
        return joint;
    }
    return -1;
}

/* Adds the effect of the multipliers on all joints. */
static void spread(const fm_instance *s, const double *mu, double *R)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.rows; i++) {
        if (mu[i] == 0.0 || !counts(s, i) || !loads_joints(s, i)) continue;
        int32_t joint = m->row_joint[i], end[2] = {m->joint_M_link[joint], m->joint_F_link[joint]};
        double sign = 1.0, w[6];
        for (; joint >= 0; joint = next_joint(s, end, &sign)) {
            at_joint(s, i, joint, sign * mu[i], w);
            for (int j = 0; j < 6; j++) R[6 * joint + j] += w[j];
        }
    }
}

/* R' C w of one row, w its effect on the joints and R' C R the norm; with R NULL, w' C w. */
static double weigh(const fm_instance *s, int32_t row, const double *R)
{
    const fm_image *m = &s->image;
    const double least = 1.0 / (m->length[0] * m->length[0]);
    if (!loads_joints(s, row)) return 0.0;
    int32_t joint = m->row_joint[row], end[2] = {m->joint_M_link[joint], m->joint_F_link[joint]};
    double sign = 1.0, sum = 0.0, w[6];
    for (; joint >= 0; joint = next_joint(s, end, &sign)) {
        at_joint(s, row, joint, sign, w);
        const double *with = R != NULL ? R + 6 * joint : w;
        sum += least * dot(w, with) + dot(w + 3, with + 3);
    }
    return sum;
}

static double squares(const fm_instance *s, const double *R)
{
    const double least = 1.0 / (s->image.length[0] * s->image.length[0]);
    double sum = 0.0;
    for (int32_t j = 0; j < s->image.n.joints; j++)
        sum += least * dot(R + 6 * j, R + 6 * j) + dot(R + 6 * j + 3, R + 6 * j + 3);
    return sum;
}

/* J_b G J_c' x for rows c in `from` and b in `to`: inactive (1) or active (0); other elements of `out` are not
 * changed. */
static void carry(fm_instance *s, const double *x, int from, int to, double *out)
{
    double *modes = s->loop.row;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t b = 0; b < s->plan.blocks; b++) {
            const fm_block *k = s->plan.block + b;
            const int32_t *path = s->plan.path + k->path;
            for (int32_t r = 0; r < k->rows; r++) {
                const int32_t i = k->first + r;
                const size_t at = k->y + (size_t)r * (size_t)k->length;
                double sum = 0.0;
                if (!counts(s, i) || (!is_idle(s, i) && !(s->row_active[i] > 0.0)) ||
                    is_idle(s, i) != (pass ? to : from))
                    continue;
                for (int32_t e = 0; pass == 0 && e < k->length; e++) modes[path[e]] += s->loop.z[at + (size_t)e] * x[i];
                for (int32_t e = 0; pass == 1 && e < k->length; e++) sum += s->loop.y[at + (size_t)e] * modes[path[e]];
                if (pass == 1) out[i] = sum;
            }
        }
    memset(modes, 0, (size_t)s->image.n.speeds * sizeof *modes);
}

/* Computes all multipliers from those of the inactive rows, which are kept: J' mu = 0. */
static void complete(fm_instance *s, double *mu)
{
    double *rhs = s->loop.rhs, *x = s->loop.bound;
    memset(rhs, 0, (size_t)s->image.n.rows * sizeof *rhs);
    carry(s, mu, 1, 0, rhs);
    fm_solve_delassus(s, rhs, x);
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (!is_idle(s, i)) mu[i] = -x[i];
}

/* The negative gradient of the sum of squares with respect to the inactive rows' multipliers, the active ones
 * following. */
static void descend(fm_instance *s, const double *R, double *fall)
{
    double *g = s->loop.rhs, *x = s->loop.bound;
    for (int32_t i = 0; i < s->image.n.rows; i++)
        g[i] = counts(s, i) && (is_idle(s, i) || s->row_active[i] > 0.0) ? weigh(s, i, R) : 0.0;
    fm_solve_delassus(s, g, x);
    memset(fall, 0, (size_t)s->image.n.rows * sizeof *fall);
    carry(s, x, 0, 1, fall);
    for (int32_t i = 0; i < s->image.n.rows; i++) fall[i] = is_idle(s, i) ? fall[i] - g[i] : 0.0;
}

static double *diagonal_of(const fm_instance *s, const fm_block *k, int32_t q)
{
    return s->loop.L + k->L + (size_t)(q * (k->used + 1));
}

/* The size of a row's diagonal where it is regular: a row may vanish at a singular position. */
static double regular(const fm_instance *s, int32_t row)
{
    const double *w = s->loop.wrench + 6 * row, L = s->image.length[0];
    return loads_joints(s, row) ? fmax(s->loop.diagonal[row], dot(w, w) / (L * L) + dot(w + 3, w + 3))
                                : s->loop.diagonal[row];
}

/* Whether pivots of the factor are so small that solutions are mostly round-off. */
static int is_singular(const fm_instance *s)
{
    for (const fm_block *k = s->plan.block, *end = k + s->plan.blocks; k < end; k++)
        for (int32_t q = 0; q < k->used; q++)
            if (*diagonal_of(s, k, q) * FM_SMALL_PIVOT * regular(s, k->first + k->use[q]) > 1.0) return 1;
    return 0;
}

/* Factors J_a G J_a'. At a singular position, where the active rows are dependent, their own self-stress takes no part:
 * along it multipliers stay what they are, the limit on the branch. */
static int factor(fm_instance *s)
{
    fm_make_delassus(s);
    if (fm_factor_delassus(s) && !is_singular(s)) return 1;
    fm_make_delassus(s);
    for (const fm_block *k = s->plan.block, *end = k + s->plan.blocks; k < end; k++)
        for (int32_t q = 0; q < k->used; q++) *diagonal_of(s, k, q) += FM_LOOSE * regular(s, k->first + k->use[q]);
    return fm_factor_delassus(s);
}

/* Computes rows, their wrenches, J along their paths, the scales of the inactive rows' multipliers, and the factor of
 * J_a G J_a'. 0: that is not finite. */
static int prepare(fm_instance *s)
{
    const fm_image *m = &s->image;
    double *modes = s->loop.row;
    fm_ends ends = {.joint = -1};
    for (int32_t j = 0; j < m->n.joints; j++) {
        fm_place M;
        fm_frame_place(s, m->joint_M_link[j], m->joint_M_r + 3 * j, 0, &M);
        memcpy(s->least->at + 3 * j, M.r, sizeof M.r);
    }
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        fm_block *k = s->plan.block + b;
        const int32_t *path = s->plan.path + k->path;
        k->used = 0;
        for (int32_t r = 0; r < k->rows; r++) {
            const int32_t i = k->first + r;
            const size_t at = k->y + (size_t)r * (size_t)k->length;
            double square = 0.0;
            fm_constraint one;
            if (!counts(s, i)) continue;
            if (s->row_active[i] > 0.0) k->use[k->used++] = r;
            fm_constraint_at(s, i, 0, &ends, &one);
            memcpy(s->loop.wrench + 6 * i, one.torque, sizeof one.torque);
            memcpy(s->loop.wrench + 6 * i + 3, one.force, sizeof one.force);
            (void)fm_row_along(s, i, &one, modes, NULL);
            for (int32_t e = 0; e < k->length; e++) {
                const double y = modes[path[e]];
                s->loop.y[at + (size_t)e] = y;
                s->loop.z[at + (size_t)e] = y * s->least->metric[path[e]];
                square += y * s->loop.z[at + (size_t)e];
            }
            if (is_idle(s, i)) s->least->idle[i] = loads_joints(s, i) ? weigh(s, i, NULL) : square;
            for (int32_t e = 0; e < k->length; e++) modes[path[e]] = 0.0;
        }
    }
    return factor(s);
}

/* Conjugate gradients, starting from R and the multipliers so far, which end after as many steps as there are idle rows
 * but for round-off. Returns what is left of the slope's square, 0: nothing that counts. */
static double minimise(fm_instance *s, int32_t idle, double *R, double *total)
{
    const int32_t rows = s->image.n.rows;
    double *p = s->least->p, *step = s->least->step, *fall = s->least->fall, *along = s->least->along,
           *more = s->least->more;
    double gain = 0.0, before = 0.0;
    const double enough = FM_CONVERGED * squares(s, R);
    descend(s, R, fall);
    memset(p, 0, (size_t)rows * sizeof *p);
    for (int32_t n = 0;; n++) {
        gain = 0.0;
        for (int32_t i = 0; i < rows; i++)
            if (is_idle(s, i)) gain += fall[i] * fall[i] / s->least->idle[i];
        if (!(gain > enough)) return 0.0;
        if (n >= 2 * idle + 10) return gain;
        for (int32_t i = 0; i < rows; i++)
            if (is_idle(s, i)) p[i] = fall[i] / s->least->idle[i] + (n > 0 ? gain / before * p[i] : 0.0);
        memcpy(step, p, (size_t)rows * sizeof *step);
        complete(s, step);
        memset(along, 0, 6 * (size_t)s->image.n.joints * sizeof *along);
        spread(s, step, along);
        const double length = gain / squares(s, along);
        if (!isfinite(length)) return 0.0;
        for (int32_t i = 0; i < rows; i++) total[i] += length * step[i];
        for (int32_t i = 0; i < 6 * s->image.n.joints; i++) R[i] += length * along[i];
        descend(s, along, more);
        for (int32_t i = 0; i < rows; i++) fall[i] += length * more[i];
        before = gain;
    }
}

/* The reactions of all joints at M in world axes, from the present multipliers. */
static void collect_reactions(const fm_instance *s, double *R)
{
    const fm_image *m = &s->image;
    for (int32_t j = 0; j < m->n.joints; j++) {
        double wrench[6];
        if (fm_is_cut_joint(m, j)) {
            fm_loop_wrench(s, j, R + 6 * j, R + 6 * j + 3);
            continue;
        }
        fm_joint_wrench(s, j, wrench);
        fm_remove_free_modes(s, j, wrench);
        rotate_out(s->world[m->joint_last[j]].R, wrench, R + 6 * j);
        rotate_out(s->world[m->joint_last[j]].R, wrench + 3, R + 6 * j + 3);
    }
}

/* The change of all multipliers that minimises the reactions' norm. Requires wrenches and world kinematics. 0:
 * reactions are unique. */
int fm_least_reactions(fm_instance *s, double *change)
{
    const fm_image *m = &s->image;
    int32_t idle = 0;
    memset(change, 0, (size_t)m->n.rows * sizeof *change);
    for (int32_t i = 0; i < m->n.rows; i++) {
        const int out = counts(s, i) && !(s->row_active[i] > 0.0);
        s->least->idle[i] = out;
        idle += out;
    }
    if (idle == 0) return 0;
    const int fits = prepare(s);
    if (fits) {
        collect_reactions(s, s->least->R);
        double left = INFINITY, now; /* they start again as long as each start halves it: then it is round-off */
        while ((now = minimise(s, idle, s->least->R, change)) > 0.0 && now < 0.5 * left) left = now;
    }
    fm_use_rows(s);
    return fits;
}

/* Computes the metric of the free modes; 0 for excited ones. */
void fm_least_structure(fm_instance *s)
{
    const double turning = 1.0 / (s->image.length[0] * s->image.length[0]);
    for (int32_t i = 0; i < s->image.n.speeds; i++) s->least->metric[i] = s->image.mode_linear[i] ? 1.0 : turning;
    for (int32_t i = 0; i < s->image.n.excitations; i++) s->least->metric[s->image.excitation_u[i]] = 0.0;
}
