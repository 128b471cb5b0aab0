/* radau_small.c: the iteration of Radau IIA (radau.c) where few coordinates are beside stiff springs between points:
 * one dense linear system for all three stages.
 *
 * Each direction in which such springs resist costs a sweep at every stage. W = M^-1 costs one for each velocity
 * variable, once a step, at the middle stage. With K_i and D_i of each stage, r_q and r_v by which the derivatives of
 * positions, in terms of velocities, and those of velocities are off, the changes x of the accelerations follow from
 *     x_i + W sum over j of (h A_ij D_i + h^2 (A A)_ij K_i) x_j = r_v,i - W K_i h sum over j of A_ij r_q,j.
 * Its factors are kept for all iterations of the step. What is left of the errors is due to what K and D leave out, and
 * to the change of W over the step: 2 to 3 iterations do in place of 4 to 5. The error's filter is that of one stage,
 * (1 + W (g D + g^2 K)) x = r_v - W g K r_q.
 */
#include "radau_small.h"

#include "../instance/instance.h"
#include "../maths/lu.h"
#include "../motion/compliances.h"
#include "../motion/evaluation.h"
#include "../tree/kinematics.h"
#include "../tree/rate.h"
#include "../tree/positions.h"
#include "../tree/reversed.h"
#include "../motion/scratch.h"
#include "radau_tableau.h"
#include "scratch.h"
#include "stages.h"

#include <math.h>
#include <string.h>

#define FM_WITHIN 0.3 /* of the step: what is stiff within that time is a part of the system */

/* Accelerations at t and y without a trace in what is known of the loops' rows, and the rates of positions. */
static void evaluate(fm_instance *s, double t, const double *y, double *rates)
{
    const int32_t worn = s->loop.worn, near_singular = s->loop.near_singular;
    s->valid &= FM_VALID_LAWS;
    fm_accelerations_alone(s, t, y, rates + s->image.n.positions);
    fm_position_rates(s, y, rates);
    s->loop.worn = worn, s->loop.near_singular = near_singular;
}

/* W at y, where the last evaluation was. */
static void invert(fm_instance *s, const double *y)
{
    const double trial = fm_trial_force(s);
    const int32_t n = s->image.n.speeds, worn = s->loop.worn, near_singular = s->loop.near_singular;
    double *force = s->implicit->along, *without = s->implicit->kept;
    memset(force, 0, (size_t)n * sizeof *force);
    fm_sweep_and_close(s, y, force, without);
    for (int32_t u = 0; u < n; u++) {
        double *column = s->integrator->W + u * n;
        force[u] = trial * (s->image.mode_linear[u] ? 1.0 : s->image.length[0]);
        fm_sweep_and_close(s, y, force, column);
        for (int32_t i = 0; i < n; i++) column[i] = (column[i] - without[i]) / force[u];
        force[u] = 0.0;
    }
    s->work.evaluations += n + 1;
    s->loop.worn = worn, s->loop.near_singular = near_singular;
}

/* K and D in set `which` at y, of which the world kinematics are known; g: what is stiff within that time. */
static void place(fm_instance *s, int which, const double *y, double g)
{
    const int32_t n = s->image.n.speeds;
    double *K = s->integrator->dense_K + which * n * n, *D = s->integrator->dense_D + which * n * n;
    const fm_compliances *set = s->implicit->set + which;
    fm_compliances_find(s, which, y, g);
    memset(K, 0, (size_t)(n * n) * sizeof *K);
    memset(D, 0, (size_t)(n * n) * sizeof *D);
    for (int32_t u = 0; u < n; u++) K[u * n + u] = s->stiff.K[u], D[u * n + u] = s->stiff.D[u];
    for (int32_t c = 0; c < set->count; c++) {
        const double *J = set->J + c * n, k = set->gk[c] / g, d = set->rho[c] / g - set->gk[c];
        for (int32_t u = 0; u < n; u++)
            for (int32_t v = 0; v < n; v++) K[u * n + v] += k * J[u] * J[v], D[u * n + v] += d * J[u] * J[v];
    }
}

/* out (rows of `width`) = W (by_d D + by_k K) of a set. */
static void multiply(const fm_instance *s, int which, double by_d, double by_k, double *out, int32_t width)
{
    const int32_t n = s->image.n.speeds;
    const double *K = s->integrator->dense_K + which * n * n, *D = s->integrator->dense_D + which * n * n;
    for (int32_t u = 0; u < n; u++)
        for (int32_t v = 0; v < n; v++) {
            double sum = 0.0;
            for (int32_t w = 0; w < n; w++)
                sum += s->integrator->W[w * n + u] * (by_d * D[w * n + v] + by_k * K[w * n + v]);
            out[u * width + v] = sum;
        }
}

/* Whether a step of h from the head is iterated so: where the columns of its stiff directions at three stages would
 * cost about as many sweeps as W. */
int fm_small_begin(fm_instance *s, double h)
{
    if (s->integrator->small == 0) return 0;
    fm_run_orientations(s, s->head);
    fm_make_world(s, s->head);
    place(s, FM_RADAU_STAGES, s->head, FM_WITHIN * h);
    return FM_RADAU_STAGES * s->implicit->set[FM_RADAU_STAGES].count >= s->image.n.speeds;
}

/* The system of all stages. */
static void build(fm_instance *s, double h)
{
    const int32_t n = s->image.n.speeds, all = FM_RADAU_STAGES * n;
    for (int i = 0; i < FM_RADAU_STAGES; i++)
        for (int j = 0; j < FM_RADAU_STAGES; j++) {
            double square = 0.0, *block = s->integrator->dense_B + i * n * all + j * n;
            for (int k = 0; k < FM_RADAU_STAGES; k++) square += A[i][k] * A[k][j];
            multiply(s, i, h * A[i][j], h * h * square, block, all);
            for (int32_t u = 0; i == j && u < n; u++) block[u * all + u] += 1.0;
        }
    fm_lu_factor(s->integrator->dense_B, all, s->integrator->exchanged); /* a singular one: the step is rejected */
}

/* x -= W K of a set times q. */
static void subtract(const fm_instance *s, int which, const double *q, double *x)
{
    const int32_t n = s->image.n.speeds;
    const double *K = s->integrator->dense_K + which * n * n;
    for (int32_t w = 0; w < n; w++) {
        double force = 0.0;
        for (int32_t v = 0; v < n; v++) force += K[w * n + v] * q[v];
        for (int32_t u = 0; u < n; u++) x[u] -= s->integrator->W[w * n + u] * force;
    }
}

/* h times row i of A times three vectors of n, one after the other. */
static void integrate(double h, int i, const double *x, int32_t n, double *out)
{
    for (int32_t u = 0; u < n; u++) out[u] = h * ((A[i][0] * x[u] + A[i][1] * x[n + u]) + A[i][2] * x[2 * n + u]);
}

/* One iteration of all stages: their changes in stages 3 to 5. */
void fm_small_iterate(fm_instance *s, double t, double h, int first)
{
    const int32_t np = s->image.n.positions, n = s->image.n.speeds, ny = s->model.ny;
    double *x = s->integrator->dense_x, *q = x + FM_RADAU_STAGES * n, *work = fm_stage(s, 2 * FM_RADAU_STAGES);
    for (int i = 0; i < FM_RADAU_STAGES; i++) {
        double *d = fm_stage(s, FM_RADAU_STAGES + i), *y = fm_stage(s, 2 * FM_RADAU_STAGES + 1 + i);
        integrate(h, i, fm_stage(s, 0), ny, y);
        for (int32_t m = 0; m < ny; m++) y[m] += s->head[m];
        evaluate(s, t + C[i] * h, y, d);
        for (int32_t m = 0; m < ny; m++) d[m] -= fm_stage(s, i)[m];
        if (first) place(s, i, y, FM_WITHIN * h);
        if (first && i == 1) invert(s, y);
        fm_speeds_of(s, y, d, q + i * n);
    }
    if (first) build(s, h);
    for (int i = 0; i < FM_RADAU_STAGES; i++) {
        memcpy(x + i * n, fm_stage(s, FM_RADAU_STAGES + i) + np, (size_t)n * sizeof *x);
        integrate(h, i, q, n, work);
        subtract(s, i, work, x + i * n);
    }
    fm_lu_solve(s->integrator->dense_B, FM_RADAU_STAGES * n, s->integrator->exchanged, x);
    for (int i = 0; i < FM_RADAU_STAGES; i++) {
        double *d = fm_stage(s, FM_RADAU_STAGES + i), *y = fm_stage(s, 2 * FM_RADAU_STAGES + 1 + i);
        integrate(h, i, x, n, y + np);
        fm_position_rates(s, y, work);
        for (int32_t m = 0; m < np; m++) d[m] += work[m];
        memcpy(d + np, x + i * n, (size_t)n * sizeof *x);
    }
}

/* error = (1 - g J)^-1 r at the head, with W of the step. */
void fm_small_filter(fm_instance *s, double g, const double *r, double *error)
{
    const int32_t np = s->image.n.positions, n = s->image.n.speeds;
    double *P = s->integrator->dense_P, *x = s->integrator->dense_x, *q = x + n;
    multiply(s, FM_RADAU_STAGES, g, g * g, P, n);
    for (int32_t u = 0; u < n; u++) P[u * n + u] += 1.0;
    fm_lu_factor(P, n, s->integrator->exchanged + FM_RADAU_STAGES * n);
    fm_speeds_of(s, s->head, r, q);
    for (int32_t u = 0; u < n; u++) q[u] *= g, x[u] = r[np + u];
    subtract(s, FM_RADAU_STAGES, q, x);
    fm_lu_solve(P, n, s->integrator->exchanged + FM_RADAU_STAGES * n, x);
    memcpy(error, s->head, (size_t)np * sizeof *error);
    memcpy(error + np, x, (size_t)n * sizeof *x);
    fm_position_rates(s, error, fm_stage(s, 2 * FM_RADAU_STAGES));
    for (int32_t m = 0; m < np; m++) error[m] = r[m] + g * fm_stage(s, 2 * FM_RADAU_STAGES)[m];
}
