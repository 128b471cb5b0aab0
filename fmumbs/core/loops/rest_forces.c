/* rest_forces.c: the forces on a mechanism at rest along its velocity variables, and the impulses of its inertias, by
 * inverse dynamics (tree/inverse.c), for the tangent stiffness (statics/stiffness_matrix.c).
 *
 *     R(q) = Q(q) + J(q)' lambda
 * with the multipliers lambda given, so that its rate has the stiffness of the constraint forces as well.
 */
#include "rest_forces.h"

#include "../forces/wrenches.h"
#include "../instance/instance.h"
#include "../tree/inverse.h"
#include "../tree/reversed.h"
#include "constraints.h"
#include "profiles.h"

#include <string.h>

/* Adds the wrenches of the multipliers to those that are applied to the links, and the forces of couplings to `out`. */
static void add_multipliers(fm_instance *s, const double *lambda, double *out)
{
    fm_ends at = {.joint = -1};
    if (!s->work.forced) memset(s->work.applied, 0, 6 * (size_t)s->image.n.links * sizeof(double));
    s->work.forced = 1;
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        if (!(s->row_active[i] > 0.0) || s->image.row_kind[i] == FM_ROW_GIVEN) continue;
        if (s->image.row_kind[i] == FM_ROW_COUPLED) {
            const int32_t coupling = s->image.row_coupling[i], first = s->image.coupling_first[coupling];
            for (int32_t n = first; n < first + s->image.coupling_count[coupling]; n++)
                out[s->link[s->image.term_link[n]].u] += lambda[i] * fm_ratio(s, coupling, n);
            continue;
        }
        const int32_t joint = s->image.row_joint[i];
        fm_constraint row;
        double wrench[6];
        fm_constraint_at(s, i, 0, &at, &row);
        for (int j = 0; j < 3; j++) wrench[j] = lambda[i] * row.torque[j], wrench[3 + j] = lambda[i] * row.force[j];
        fm_apply_wrench(s, s->image.joint_M_link[joint], row.r, wrench, 1.0);
        fm_apply_wrench(s, s->image.joint_F_link[joint], row.r, wrench, -1.0);
    }
}

/* R at y, which is at rest, in place of accelerations: the end of an evaluation whose applied forces are tau and those
 * on the links. Requires the orientations at y, and with rows the world kinematics. */
void fm_rest_forces(fm_instance *s, const double *y, const double *tau, double *out)
{
    const int32_t nu = s->image.n.speeds;
    double *taken = s->loop.taken, *none = taken + nu;
    memcpy(out, fm_linked_forces(s, tau), (size_t)nu * sizeof *out);
    memset(none, 0, (size_t)nu * sizeof *none);
    if (s->image.n.rows > 0) add_multipliers(s, s->loop.rest_lambda, out);
    fm_inverse_place(s, y);
    fm_inverse_accelerations(s, none, 1);
    fm_inverse_forces(s, none, 1, taken);
    for (int32_t u = 0; u < nu; u++) out[u] -= taken[u];
    fm_from_links(s, out);
}

/* out = (M + R) v, R the inertias of the time in s->stiff (motion/stiffness.c). Requires fm_inverse_place. */
void fm_rest_impulses(fm_instance *s, const double *v, double *out)
{
    const double *linked = fm_linked_forces(s, v);
    fm_inverse_accelerations(s, linked, 0);
    fm_inverse_forces(s, linked, 0, out);
    fm_from_links(s, out);
}
