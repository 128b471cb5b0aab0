/* matrix_laws.c: springs and dampers with matrices, of balls and of bushings.
 *
 * Of a bushing the entries beside the diagonals of K and D couple its modes, force = -K (q - rest) - D u.
 *
 * Of a ball, with theta the rotation vector of R_FM and w the angular velocity in M's axes the potential is theta' K theta / 2 and
 * the torque on M, in its axes, -G' K theta - D w, where theta' = G w at the rate theta', and
 *     G = E + [theta] / 2 + c [theta]^2,   c = (1 - h cot h) / (4 h^2),   h = |theta| / 2,
 * so that G theta = theta. K = A' diag(k) A with principal axes A in the rows of law_axes, and D likewise; where these
 * are zero both are multiples of the identity, and the torque is -k theta - d w.
 */
#include "matrix_laws.h"

#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"

#include <math.h>

#define FM_SERIES_UP_TO 0.05 /* |theta|^2 [rad2]: there the next term of the series is below round-off */

static int has_matrices(const fm_instance *s, int32_t mode)
{
    const double *a = s->image.law_axes + 6 * mode;
    return dot(a, a) > 0.0;
}

/* The sum of the principal values times the components of v along their axes; `from`: 0 stiffness, 3 damping. */
static void times(const fm_instance *s, const double *values, int32_t mode, int from, const double v[3], double out[3])
{
    for (int j = 0; j < 3; j++) out[j] = 0.0;
    for (int k = 0; k < 3; k++) {
        const double *a = s->image.law_axes + 6 * (mode + k) + from, along = values[mode + k] * dot(a, v);
        for (int j = 0; j < 3; j++) out[j] += along * a[j];
    }
}

/* Adds the torque of the spring and the damper of a ball to `torque`. mode: the first of its three velocities; p: its
 * quaternion, u: its velocities. */
void fm_ball_resist(const fm_instance *s, int32_t mode, const double *p, const double *u, double torque[3])
{
    double angle[3], force[3], once[3], twice[3], drag[3];
    fm_rotation_vector(p, angle);
    if (!has_matrices(s, mode)) {
        for (int j = 0; j < 3; j++)
            torque[j] = (torque[j] - s->stiffness[mode] * angle[j]) - s->damping[mode] * u[j];
        return;
    }
    const double x = dot(angle, angle), h = 0.5 * sqrt(x);
    const double c = x > FM_SERIES_UP_TO ? (1.0 - h * cos(h) / sin(h)) / x
                                         : 1.0 / 12 + x * (1.0 / 720 + x * (1.0 / 30240 + x * (1.0 / 1209600 + x / 47900160)));
    times(s, s->stiffness, mode, 0, angle, force);
    times(s, s->damping, mode, 3, u, drag);
    cross(angle, force, once);
    cross(angle, once, twice);
    for (int j = 0; j < 3; j++) torque[j] -= ((force[j] - 0.5 * once[j]) + c * twice[j]) + drag[j];
}

/* Energy of its spring [J]. */
double fm_ball_energy(const fm_instance *s, int32_t mode, const double *p)
{
    double angle[3], force[3];
    fm_rotation_vector(p, angle);
    if (!has_matrices(s, mode)) return 0.5 * s->stiffness[mode] * dot(angle, angle);
    times(s, s->stiffness, mode, 0, angle, force);
    return 0.5 * dot(angle, force);
}

/* Adds the forces between the modes of a joint, at its positions p and velocities u; returns their energy [J]. */
double fm_coupled_resist(const fm_instance *s, int32_t joint, const double *p, const double *u, double *force)
{
    const fm_image *m = &s->image;
    const double *rest = s->rest + m->joint_u[joint];
    double energy = 0.0;
    for (int32_t c = m->joint_coupled[joint]; c < m->joint_coupled[joint] + m->joint_couplings[joint]; c++) {
        const int32_t a = m->coupled_modes[2 * c], b = m->coupled_modes[2 * c + 1];
        const double k = m->coupled_stiffness[c], d = m->coupled_damping[c];
        force[a] -= k * (p[b] - rest[b]) + d * u[b];
        force[b] -= k * (p[a] - rest[a]) + d * u[a];
        energy += k * (p[a] - rest[a]) * (p[b] - rest[b]);
    }
    return energy;
}
