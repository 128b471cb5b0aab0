/* reactions.c: which part of what crosses a joint is its reaction, and what drives its excited modes.
 *
 * Lambda_z = Lambda - psi phi' Lambda (3.19, 3.34 of joint-representation). Beside the free modes phi and the excited
 * ones the basis has locked modes, which a joint does not say. They are chosen so that what acts on the free modes is
 * a torque in the directions about which the joint turns and a force in those in which it slides without turning:
 * that depends on no unit of length, and a torque that drives a screw is a torque. With B these directions and Phi
 * the free and the excited modes, [psi, psi_k] = B (Phi' B)^-1. All at M, in the axes of the joint's last link, the
 * angular part first.
 */
#include "instance.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

/* The modes of a joint of screws at M, in the axes of its last link: first the free ones, then the excited ones. */
static int32_t make_modes(const fm_instance *s, int32_t joint, double phi[][6])
{
    const fm_image *m = &s->image;
    const int32_t last = m->joint_last[joint], u = m->joint_u[joint];
    const fm_world *M = s->world + last;
    memset(phi, 0, FM_FREEDOMS * sizeof *phi);
    for (int32_t i = m->joint_first[joint]; i <= last; i++) {
        const fm_link *k = s->link + i;
        const fm_world *w = s->world + i;
        if (k->general >= 0) {
            const fm_general *g = s->general + k->general;
            memcpy(phi, g->phi, (size_t)g->speeds * sizeof *phi);
        } else if (k->u >= 0) {
            const int axis = k->kind <= FM_LINK_REVOLUTE_Z ? k->kind - FM_LINK_REVOLUTE_X : 2;
            double e[3], arm[3], v[3];
            for (int j = 0; j < 3; j++) e[j] = k->sign * w->R[3 * j + axis], arm[j] = M->r[j] - w->r[j];
            for (int j = 0; j < 3; j++) {
                const int a = (j + 1) % 3, b = (j + 2) % 3;
                v[j] = k->pitch * (e[a] * arm[b] - e[b] * arm[a]) + k->slide * e[j];
            }
            for (int j = 0; j < 3; j++) {
                phi[k->u - u][j] = k->pitch * ((M->R[j] * e[0] + M->R[3 + j] * e[1]) + M->R[6 + j] * e[2]);
                phi[k->u - u][3 + j] = (M->R[j] * v[0] + M->R[3 + j] * v[1]) + M->R[6 + j] * v[2];
            }
        }
    }
    return m->joint_nu[joint];
}

/* Of the directions of n vectors of three in rows of six, from `first` on: makes them orthonormal, whole rows being
 * mixed, those that are long first. Returns how many there are; the rows behind them have nothing left there, or
 * nothing beside `most`. */
static int32_t make_directions(double (*rows)[6], int32_t n, int first, double most, double (*out)[3])
{
    int32_t rank = 0;
    for (; rank < n; rank++) {
        int32_t best = rank;
        double longest = -1.0;
        for (int32_t i = rank; i < n; i++) {
            const double *v = rows[i] + first, square = (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
            if (square > longest) best = i, longest = square;
        }
        const double length = sqrt(longest);
        most = length > most ? length : most;
        if (!(length > 1e-9 * most)) break;
        for (int c = 0; c < 6; c++) {
            const double swap = rows[best][c] / length;
            rows[best][c] = rows[rank][c];
            rows[rank][c] = swap;
        }
        memcpy(out[rank], rows[rank] + first, 3 * sizeof(double));
        for (int32_t i = rank + 1; i < n; i++) {
            const double *v = rows[i] + first, *e = out[rank];
            const double along = (v[0] * e[0] + v[1] * e[1]) + v[2] * e[2];
            for (int c = 0; c < 6; c++) rows[i][c] -= along * rows[rank][c];
        }
    }
    return rank;
}

/* Solves A x = b by elimination; where A is singular some x are zero. */
static void solve(double (*A)[FM_FREEDOMS], double *b, int32_t n)
{
    int32_t pivot_of[FM_FREEDOMS];
    double most = 0.0;
    for (int32_t c = 0; c < n; c++) {
        int32_t p = c;
        for (int32_t i = c + 1; i < n; i++) p = fabs(A[i][c]) > fabs(A[p][c]) ? i : p;
        for (int32_t j = 0; p != c && j < n; j++) {
            const double swap = A[c][j];
            A[c][j] = A[p][j], A[p][j] = swap;
        }
        const double swap = b[c];
        b[c] = b[p], b[p] = swap;
        most = fabs(A[c][c]) > most ? fabs(A[c][c]) : most;
        pivot_of[c] = fabs(A[c][c]) > 1e-9 * most;
        for (int32_t i = c + 1; pivot_of[c] && i < n; i++) {
            const double less = A[i][c] / A[c][c];
            for (int32_t j = c; j < n; j++) A[i][j] -= less * A[c][j];
            b[i] -= less * b[c];
        }
    }
    for (int32_t c = n - 1; c >= 0; c--) {
        for (int32_t j = c + 1; j < n; j++) b[c] -= A[c][j] * b[j];
        b[c] = pivot_of[c] ? b[c] / A[c][c] : 0.0;
    }
}

/* The origin of a joint's M seen from that of its last link, in the last link's axes: not zero where the joint points
 * towards the ground. */
static void reduction_point(const fm_instance *s, int32_t joint, double out[3])
{
    const fm_image *m = &s->image;
    const int32_t link = m->joint_M_link[joint];
    const fm_world *F = s->world + m->joint_last[joint];
    const double *at = m->joint_M_r + 3 * joint;
    double r[3], arm[3] = {0.0, 0.0, 0.0};
    if (m->joint_reversed[joint]) {
        memcpy(r, at, sizeof r);
        if (link >= 0) turn_out(s->world[link].R, at, r);
        for (int j = 0; j < 3; j++) arm[j] = ((link >= 0 ? s->world[link].r[j] : 0.0) + r[j]) - F->r[j];
    }
    turn_in(F->R, arm, out);
}

/* Torque and force that F's body puts on M's at M, in the axes of the joint's last link. */
void fm_joint_wrench(const fm_instance *s, int32_t joint, double wrench[6])
{
    memcpy(wrench, s->wrench + 6 * s->image.joint_last[joint], 6 * sizeof *wrench);
    if (!s->image.joint_reversed[joint]) return;
    double arm[3], moment[3];
    reduction_point(s, joint, arm);
    cross(arm, wrench + 3, moment);
    for (int j = 0; j < 3; j++) wrench[j] = moment[j] - wrench[j], wrench[3 + j] = -wrench[3 + j];
}

/* The directions that go with n modes. 0: no such joint, its modes are dependent. */
int fm_make_dual(const fm_instance *s, double (*phi)[6], int32_t n, fm_dual *d)
{
    double rows[FM_FREEDOMS][6];
    memcpy(rows, phi, sizeof rows);
    double far = 0.0; /* a slide of this size turns nothing but by round-off */
    for (int32_t i = 0; i < n; i++) {
        const double *v = phi[i] + 3, length = sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
        far = length > far ? length : far;
    }
    d->n = n;
    d->turning = make_directions(rows, n, 0, far / s->image.length[0], d->along);
    const int32_t sliding = make_directions(rows + d->turning, n - d->turning, 3, 0.0, d->along + d->turning);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) d->A[i][j] = dot(j < d->turning ? phi[i] : phi[i] + 3, d->along[j]);
    return d->turning + sliding == n;
}

/* x: forces along the modes; becomes the wrench by which they act. */
void fm_dual_wrench(const fm_dual *d, double x[6])
{
    double A[FM_FREEDOMS][FM_FREEDOMS], wrench[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    memcpy(A, d->A, sizeof A);
    solve(A, x, d->n);
    for (int32_t j = 0; j < d->n; j++)
        for (int c = 0; c < 3; c++) wrench[j < d->turning ? c : 3 + c] += d->along[j][c] * x[j];
    memcpy(x, wrench, sizeof wrench);
}

/* x: a velocity of M; becomes the velocities of the modes. */
void fm_dual_rates(const fm_dual *d, double x[6])
{
    double A[FM_FREEDOMS][FM_FREEDOMS], rates[FM_FREEDOMS];
    for (int32_t i = 0; i < d->n; i++) {
        rates[i] = dot(i < d->turning ? x : x + 3, d->along[i]);
        for (int32_t j = 0; j < d->n; j++) A[i][j] = d->A[j][i];
    }
    solve(A, rates, d->n);
    memcpy(x, rates, (size_t)d->n * sizeof *x);
}

/* Lambda_z of a joint of several screws. */
static void take_modes(const fm_instance *s, int32_t joint, double wrench[6])
{
    double phi[FM_FREEDOMS][6], x[6];
    fm_dual dual;
    if (s->image.joint_nu[joint] > FM_FREEDOMS) return;
    const int32_t n = make_modes(s, joint, phi), free = n - s->image.joint_excited[joint];
    double arm[3], turned[3];
    reduction_point(s, joint, arm);
    for (int32_t i = 0; i < n; i++) { /* to M; where the joint is reversed all of them are M's motion but for their sign */
        cross(phi[i], arm, turned);
        for (int j = 0; j < 3; j++) phi[i][3 + j] += turned[j];
    }
    if (!fm_make_dual(s, phi, n, &dual)) return;
    for (int32_t i = 0; i < n; i++) x[i] = i < free ? dot6(phi[i], wrench) : 0.0;
    fm_dual_wrench(&dual, x);
    for (int c = 0; c < 6; c++) wrench[c] -= x[c];
}

/* What couplings put on a mode. */
static double coupled(const fm_instance *s, int32_t u)
{
    const fm_image *m = &s->image;
    double force = 0.0;
    for (int32_t i = 0; i < m->n.couplings; i++)
        for (int32_t j = 0; j < m->coupling_count[i]; j++)
            if (m->link_u[m->term_link[m->coupling_first[i] + j]] == u) force += fm_coupling_force(s, i, j);
    return force;
}

/* What the actuator of an excited mode puts in: the projection of all that crosses the joint on the mode (3.30), less
 * what couplings put there. */
double fm_drive(const fm_instance *s, int32_t joint, int32_t part)
{
    double phi[FM_FREEDOMS][6];
    const int32_t nu = s->image.joint_nu[joint];
    if (nu > FM_FREEDOMS) return 0.0;
    (void)make_modes(s, joint, phi);
    const int32_t mode = nu - s->image.joint_excited[joint] + part;
    return dot6(phi[mode], s->wrench + 6 * s->image.joint_last[joint]) - coupled(s, s->image.joint_u[joint] + mode);
}

/* Takes out of (torque, force) about M what the free modes carry; axes of the joint's last link. */
void fm_take_free_modes(const fm_instance *s, int32_t joint, double wrench[6])
{
    const fm_link *k = s->link + s->image.joint_last[joint];
    const int32_t kind = s->image.joint_kind[joint];
    if (kind == FM_JOINT_NONHOLONOMIC || (kind == FM_JOINT_SCALAR && s->image.joint_first[joint] < s->image.joint_last[joint])) {
        take_modes(s, joint, wrench);
        return;
    }
    if (kind == FM_JOINT_SCALAR && k->kind == FM_LINK_DRIVEN) return;
    if (kind == FM_JOINT_SPHERICAL || kind == FM_JOINT_FREE) memset(wrench, 0, 3 * sizeof *wrench);
    if (kind == FM_JOINT_FREE) memset(wrench + 3, 0, 3 * sizeof *wrench);
    if (kind != FM_JOINT_SCALAR) return;
    const int axis = k->kind <= FM_LINK_REVOLUTE_Z ? k->kind - FM_LINK_REVOLUTE_X : 2;
    if (k->pitch == 0.0) wrench[3 + axis] = 0.0;
    else wrench[axis] = k->slide == 0.0 ? 0.0 : -(k->slide / k->pitch) * wrench[3 + axis];
}
