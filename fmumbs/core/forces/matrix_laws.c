/* matrix_laws.c: springs and dampers with matrices, of balls and of bushings, and of three turns by their rotation
 * vector.
 *
 * Of a bushing the entries beside the diagonals of K and D couple its modes, force = -K (q - rest) - D u.
 *
 * Of a ball, with theta the rotation vector of R_FM and w the angular velocity in M's axes the potential is theta' K
 * theta / 2 and the torque on M, in its axes, -G' K theta - D w, where theta' = G w at the rate theta', and G = E +
 * [theta] / 2 + c [theta]^2,   c = (1 - h cot h) / (4 h^2),   h = |theta| / 2, so that G theta = theta. If both are
 * multiples of the identity, the torque is -k theta - d w.
 *
 * Three turns q about perpendicular axes, as of a flexible link, have w = A q' in M's axes, so that theta' = B q', B =
 * G A, and the forces -B' (K (theta - rest) + D theta'). To first order theta is q; to second order it is the middle
 * between the order of the turns and the opposite order, so that neither end of an element is preferred.
 */
#include "matrix_laws.h"

#include "../image/joints.h"
#include "../maths/rotations.h"
#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"

#include <math.h>

#define FM_HARDLY_FULL 0.05   /* entries beside the diagonal, relative to it: below it, the diagonal will do */
#define FM_SERIES_UP_TO 0.05 /* |theta|^2 [rad2]: there the next term of the series is below round-off */

/* The entries 12, 13 and 23 of a ball's matrix, in one of the arrays of coupled entries. */
static const double *beside(const fm_instance *s, int32_t joint, const double *entries)
{
    static const double nothing[3];
    const fm_image *m = &s->image;
    return m->joint_kind[joint] == FM_JOINT_SPHERICAL && m->joint_couplings[joint] > 0
               ? entries + m->joint_coupled[joint]
               : nothing;
}

static int is_multiple_of_identity(const double d[3], const double b[3])
{
    return d[0] == d[1] && d[1] == d[2] && b[0] == 0.0 && b[1] == 0.0 && b[2] == 0.0;
}

/* The product of a symmetric matrix with v; d: its diagonal, b: its entries 12, 13 and 23. */
static void times(const double d[3], const double b[3], const double v[3], double out[3])
{
    out[0] = (d[0] * v[0] + b[0] * v[1]) + b[1] * v[2];
    out[1] = (b[0] * v[0] + d[1] * v[1]) + b[2] * v[2];
    out[2] = (b[1] * v[0] + b[2] * v[1]) + d[2] * v[2];
}

/* The factor c of G. */
static double square_factor(const double angle[3])
{
    const double x = dot(angle, angle), h = 0.5 * sqrt(x);
    if (!(x > FM_SERIES_UP_TO))
        return 1.0 / 12 + x * (1.0 / 720 + x * (1.0 / 30240 + x * (1.0 / 1209600 + x / 47900160)));
    double cosine, sine;
    fm_cos_and_sin(h, &cosine, &sine);
    return (1.0 - h * cosine / sine) / x;
}

/* Adds the torque of the spring and the damper of a joint's ball to `torque`. mode: the first of its three velocities;
 * p: its quaternion, u: its velocities. */
void fm_ball_resist(const fm_instance *s, int32_t joint, int32_t mode, const double *p, const double *u,
                    double torque[3])
{
    const double *K = s->stiffness + mode, *K_beside = beside(s, joint, s->coupled_stiffness);
    const double *D = s->damping + mode, *D_beside = beside(s, joint, s->coupled_damping);
    double angle[3], force[3], once[3], twice[3], drag[3];
    fm_rotation_vector(p, angle);
    if (is_multiple_of_identity(K, K_beside) && is_multiple_of_identity(D, D_beside)) {
        for (int j = 0; j < 3; j++) torque[j] = (torque[j] - K[0] * angle[j]) - D[0] * u[j];
        return;
    }
    const double c = square_factor(angle);
    times(K, K_beside, angle, force);
    times(D, D_beside, u, drag);
    cross(angle, force, once);
    cross(angle, once, twice);
    for (int j = 0; j < 3; j++) torque[j] -= ((force[j] - 0.5 * once[j]) + c * twice[j]) + drag[j];
}

/* G' K G, by which the torque of its spring changes with turns about M's axes, but for the change of G. */
void fm_ball_stiffness(const fm_instance *s, int32_t joint, int32_t mode, const double *p, double out[3][3])
{
    const double *K = s->stiffness + mode, *K_beside = beside(s, joint, s->coupled_stiffness);
    double angle[3], once[3], twice[3], turned[3], force[3];
    fm_rotation_vector(p, angle);
    const double c = square_factor(angle);
    for (int j = 0; j < 3; j++) {
        const double unit[3] = {j == 0, j == 1, j == 2};
        cross(angle, unit, once);
        cross(angle, once, twice);
        for (int i = 0; i < 3; i++) turned[i] = (unit[i] + 0.5 * once[i]) + c * twice[i];
        times(K, K_beside, turned, force);
        cross(angle, force, once);
        cross(angle, once, twice);
        for (int i = 0; i < 3; i++) out[i][j] = (force[i] - 0.5 * once[i]) + c * twice[i];
    }
}

/* Energy of its spring [J]. */
double fm_ball_energy(const fm_instance *s, int32_t joint, int32_t mode, const double *p)
{
    double angle[3], force[3];
    fm_rotation_vector(p, angle);
    times(s->stiffness + mode, beside(s, joint, s->coupled_stiffness), angle, force);
    return 0.5 * dot(angle, force);
}

/* The rotation vector of three turns by angles q about x, y, z, and B. */
static void bend_of(const double q[3], double angle[3], double B[3][3])
{
    double c[3], sn[3], quaternion[4], once[3], twice[3];
    for (int i = 0; i < 3; i++) fm_cos_and_sin(0.5 * q[i], c + i, sn + i);
    const double cc = c[1] * c[2], ss = sn[1] * sn[2], cs = c[1] * sn[2], sc = sn[1] * c[2];
    quaternion[0] = c[0] * cc - sn[0] * ss;
    quaternion[1] = sn[0] * cc + c[0] * ss;
    quaternion[2] = c[0] * sc - sn[0] * cs;
    quaternion[3] = c[0] * cs + sn[0] * sc;
    fm_rotation_vector(quaternion, angle);
    const double cy = c[1] * c[1] - sn[1] * sn[1], sy = 2.0 * c[1] * sn[1];
    const double cz = c[2] * c[2] - sn[2] * sn[2], sz = 2.0 * c[2] * sn[2];
    const double A[3][3] = {{cy * cz, -cy * sz, sy}, {sz, cz, 0.0}, {0.0, 0.0, 1.0}}; /* by columns */
    const double factor = square_factor(angle);
    for (int j = 0; j < 3; j++) {
        cross(angle, A[j], once);
        cross(angle, once, twice);
        for (int i = 0; i < 3; i++) B[j][i] = (A[j][i] + 0.5 * once[i]) + factor * twice[i];
    }
}

/* Adds what the forces of a joint's rotation spring and damper are beside those on its three angles; returns the same
 * of their energy [J]. p, u, force: of the joint. */
static double bend_resist(const fm_instance *s, int32_t joint, const double *p, const double *u, double *force)
{
    const int32_t first = s->image.joint_bends[joint], at = s->image.joint_u[joint] + first;
    const double *K = s->stiffness + at, *D = s->damping + at, *rest = s->rest + at;
    double angle[3], B[3][3], moment[3], energy = 0.0;
    p += first, u += first, force += first;
    bend_of(p, angle, B);
    for (int i = 0; i < 3; i++) {
        const double rate = (B[0][i] * u[0] + B[1][i] * u[1]) + B[2][i] * u[2];
        const double away = p[i] - rest[i], bent = angle[i] - rest[i];
        moment[i] = K[i] * bent + D[i] * rate;
        force[i] += K[i] * away + D[i] * u[i];
        energy += 0.5 * K[i] * (bent * bent - away * away);
    }
    for (int j = 0; j < 3; j++) force[j] -= dot(B[j], moment);
    return energy;
}

/* Adds the forces between the modes of a bushing or of a rotation spring, at its positions p and velocities u; returns
 * their energy [J]. Nothing for other joints. */
double fm_coupled_resist(const fm_instance *s, int32_t joint, const double *p, const double *u, double *force)
{
    const fm_image *m = &s->image;
    const double *rest = s->rest + m->joint_u[joint];
    double energy = 0.0;
    if (m->joint_bends[joint] >= 0) return bend_resist(s, joint, p, u, force);
    if (m->joint_kind[joint] != FM_JOINT_SCALAR) return 0.0;
    for (int32_t c = m->joint_coupled[joint]; c < m->joint_coupled[joint] + m->joint_couplings[joint]; c++) {
        const int32_t a = m->coupled_modes[2 * c], b = m->coupled_modes[2 * c + 1];
        const double k = s->coupled_stiffness[c], d = s->coupled_damping[c];
        force[a] -= k * (p[b] - rest[b]) + d * u[b];
        force[b] -= k * (p[a] - rest[a]) + d * u[a];
        energy += k * (p[a] - rest[a]) * (p[b] - rest[b]);
    }
    return energy;
}

/* Whether a matrix of a joint is far from diagonal, or of a ball from a multiple of the identity. */
static int is_full(const fm_instance *s, int32_t joint, const double *diagonal, const double *beside)
{
    const fm_image *m = &s->image;
    const double *d = diagonal + m->joint_u[joint];
    for (int32_t c = m->joint_coupled[joint]; c < m->joint_coupled[joint] + m->joint_couplings[joint]; c++) {
        const double i = d[m->coupled_modes[2 * c]], j = d[m->coupled_modes[2 * c + 1]];
        if (beside[c] * beside[c] > FM_HARDLY_FULL * FM_HARDLY_FULL * fabs(i * j)) return 1;
        if (m->joint_kind[joint] == FM_JOINT_SPHERICAL && fabs(i - j) > FM_HARDLY_FULL * fabs(i + j)) return 1;
    }
    return 0;
}

/* Whether a joint of the tree resists by directions, and not by the inertias of motion/stiffness.c. */
int fm_resists_along(const fm_instance *s, int32_t joint)
{
    if (joint < 0 || joint >= s->stiff.matrices || !fm_has_matrix(&s->image, joint)) return 0;
    return is_full(s, joint, s->stiffness, s->coupled_stiffness) ||
           (!s->work.still && is_full(s, joint, s->damping, s->coupled_damping));
}
