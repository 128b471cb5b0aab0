/* jacobian.c: rates of the rows of cut joints, c' = J u.
 *
 * The semi-analytic method of constraint-jacobians, Algorithm 1: a row's unit wrench (group I) is propagated from both
 * ends of its joint to the root of the loop. In the axes of each link on the way it is projected on the free modes phi
 * (group II), which depend on the link's kind only: J = phi'w. Where the two paths meet the wrenches cancel.
 */
#include "jacobian.h"

#include "../image/joints.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/modal.h"
#include "constraints.h"
#include "cut_joints.h"
#include "profiles.h"

#include <math.h>

/* The squared upper bound of a wrench's projection on a mode, as if they were parallel. */
static double most_along(const fm_instance *s, const double phi[6], const double t[3], const double f[3])
{
    const double most = sqrt(dot(phi, phi)) * fm_most_torque(s, t, f) + sqrt(dot(phi + 3, phi + 3) * dot(f, f));
    return most * most;
}

/* Adds the projections of a wrench (world axes, at its point r) on the free modes of a link to J. Returns the upper
 * bound of their weighted squares, if there are weights. */
static double along_modes(const fm_instance *s, int32_t i, const fm_constraint *at, double sign, double *J,
                          const double *weight)
{
    const fm_link *k = s->link + i;
    double arm[3], torque[3], t[3], f[3], most = 0.0;
    if (k->u < 0 && k->kind != FM_LINK_FRAME) return 0.0;
    for (int j = 0; j < 3; j++) arm[j] = at->r[j] - s->world[i].r[j];
    cross(arm, at->force, torque);
    for (int j = 0; j < 3; j++) torque[j] += at->torque[j];
    rotate_in(s->world[i].R, torque, t);
    rotate_in(s->world[i].R, at->force, f);
    if (k->kind == FM_LINK_GENERAL) {
        const fm_general *g = s->general + k->nth;
        const int32_t screws = s->loop.placing;
        for (int32_t j = 0; j < (screws ? g->screws : g->speeds); j++) {
            const int32_t u = screws ? fm_screw_variable(&s->image, i, g->place[j]) : k->u + j;
            const double *phi = screws ? g->J[j] : g->phi[j];
            J[u] += sign * (dot(phi, t) + dot(phi + 3, f));
            if (weight != NULL) most += weight[u] * most_along(s, phi, t, f);
        }
    } else if (k->kind >= FM_LINK_MODAL) {
        const fm_modal *b = fm_modal_of(s, i);
        double column[6];
        for (int32_t j = 0; j < b->n; j++) {
            const int32_t u = s->link[b->link].u + j;
            if (!fm_modal_column(s, i, j, column)) continue;
            J[u] += sign * (dot(column, t) + dot(column + 3, f));
            if (weight != NULL) most += weight[u] * most_along(s, column, t, f);
        }
    } else if (k->kind == FM_LINK_SPHERICAL) {
        for (int j = 0; j < 3; j++) J[k->u + j] += sign * t[j];
        if (weight != NULL) most = weight[k->u] * fm_most_torque(s, t, f) * fm_most_torque(s, t, f);
    } else {
        const int axis = fm_link_axis(k->kind);
        const double phi[6] = {k->pitch, 0.0, 0.0, k->slide, 0.0, 0.0};
        J[k->u] += sign * k->sign * (k->pitch * t[axis] + k->slide * f[axis]);
        if (weight != NULL) most = weight[k->u] * most_along(s, phi, t, f);
    }
    return most;
}

/* The row of a coupling: its ratios. */
static double couple_modes(const fm_instance *s, int32_t coupling, double *J, const double *weight)
{
    const int32_t first = s->image.coupling_first[coupling];
    double most = 0.0;
    for (int32_t i = first; i < first + s->image.coupling_count[coupling]; i++) {
        const int32_t u = s->link[s->image.term_link[i]].u;
        const double ratio = fm_ratio(s, coupling, i);
        J[u] += ratio;
        if (weight != NULL) most += weight[u] * ratio * ratio;
    }
    return most;
}

/* The same for the wrench of `row` on link M and its opposite on link F (-1: ground). */
double fm_wrench_along(const fm_instance *s, int32_t F, int32_t M, const fm_constraint *row, double *J,
                       const double *weight)
{
    double most = 0.0;
    while (F != M) { /* a parent's index is smaller than its child's */
        int32_t *end = F > M ? &F : &M;
        most += along_modes(s, *end, row, F > M ? -1.0 : 1.0, J, weight);
        *end = s->link[*end].parent;
    }
    return most;
}

/* Adds the row of the rate of a cut joint's mode u, in terms of links. Requires world kinematics. */
void fm_cut_mode_row(const fm_instance *s, int32_t joint, int32_t u, double *J)
{
    fm_constraint on;
    fm_cut_joint_row(s, joint, u - s->image.joint_u[joint], &on);
    (void)fm_wrench_along(s, s->image.joint_F_link[joint], s->image.joint_M_link[joint], &on, J, NULL);
}

/* Adds a row of J within its block; elements of balls that are traversed from M to F are in their links' axes. With a
 * weight for each velocity variable, returns the upper bound of the row's weighted square. */
double fm_row_along(const fm_instance *s, int32_t i, const fm_constraint *row, double *J, const double *weight)
{
    const int32_t joint = s->image.row_joint[i];
    if (s->image.row_kind[i] == FM_ROW_COUPLED) return couple_modes(s, s->image.row_coupling[i], J, weight);
    return fm_wrench_along(s, s->image.joint_F_link[joint], s->image.joint_M_link[joint], row, J, weight);
}

/* Adds a row of J with the velocity of a program that prescribes a length, which no link of its block has. */
void fm_whole_row(const fm_instance *s, int32_t i, const fm_constraint *row, double *J)
{
    (void)fm_row_along(s, i, row, J, NULL);
    if (fm_is_programmed_length(&s->image, i)) J[s->image.excitation_u[s->image.row_excitation[i]]] -= 1.0;
}
