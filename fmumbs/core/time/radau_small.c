/* radau_small.c: the iteration of Radau IIA (radau.c) where few coordinates move: Newton's method on all three stages,
 * with dense linear systems.
 *
 * With A = T Lambda^-1 T^-1 (radau_tableau.h) the changes of all stages' derivatives, (I - h A x J) d = r, fall apart
 * into a real system and a complex one, each (1 - g J) d = r, g = h/gamma and h/(alpha + i beta), where r and d are the
 * sums T^-1 r of the stages (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8). With J = [0 1; -W
 * K -W D], W = M^-1, r_q and r_v by which the derivatives of positions, in terms of velocities, and those of velocities
 * are off, (M + g D + g^2 K) d_v = M r_v - g K r_q,   d_q = r_q + g d_v. M, K and D are those at the middle stage of
 * the prediction, with every direction in which springs resist; their factors serve all iterations of the step, and the
 * real ones the error's filter, too. M comes from composite bodies; with loops 1, W K and W D take the places of M, K
 * and D, W from one sweep for each velocity variable. An excited mode has the inertia 1, whatever it moves. 2 to 3
 * iterations do in place of 3 to 5, without the evaluations that directions cost otherwise.
 *
 * A stiff spring that turns by delta within the step is off by rho delta^2 beside the inertia then. Steps after one in
 * which that slowed the iteration have K and D of each stage: as one system where that is small, M x_i + sum over j of
 * (h A_ij D_i + h^2 (A A)_ij K_i) x_j = M r_v,i - K_i h sum over j of A_ij r_q,j, or by the other iteration of radau.c.
 */
#include "radau_small.h"

#include "../instance/instance.h"
#include "../maths/lu.h"
#include "../maths/lu_complex.h"
#include "../maths/products.h"
#include "../forces/elements.h"
#include "../motion/compliances.h"
#include "../motion/evaluation.h"
#include "../motion/scratch.h"
#include "../tree/composite.h"
#include "../tree/kinematics.h"
#include "../tree/rate.h"
#include "../tree/positions.h"
#include "../tree/reversed.h"
#include "radau_tableau.h"
#include "scratch.h"
#include "stages.h"

#include <math.h>
#include <string.h>

#define FM_DENSE_ALONE 24 /* most velocity variables where no spring resists across joints */
#define FM_WITHIN 0.3 /* of the step: what is stiff within that time costs a direction, where a sweep gives W */

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

static int by_sweeps(const fm_instance *s)
{
    return s->image.n.rows > 0 || s->model.reversed > 0;
}

/* K and D at y, transposed, of which the world kinematics are known, the ones of number `which`. */
static void place(fm_instance *s, int which, const double *y, double h)
{
    const int32_t n = s->image.n.speeds;
    double *K = s->integrator->dense_K + which * n * n, *D = s->integrator->dense_D + which * n * n;
    const fm_compliances *set = s->implicit->set;
    fm_compliances_find(s, 0, y, h, 0.0);
    memset(K, 0, (size_t)(n * n) * sizeof *K);
    memset(D, 0, (size_t)(n * n) * sizeof *D);
    for (int32_t u = 0; u < n; u++) K[u * n + u] = s->stiff.K[u], D[u * n + u] = s->stiff.D[u];
    for (int32_t c = 0; c < set->count; c++) {
        const double *J = set->J + c * n, k = set->gk[c] / h, d = set->rho[c] / h - set->gk[c];
        for (int32_t u = 0; u < n; u++)
            for (int32_t v = 0; J[u] != 0.0 && v < n; v++)
                K[u * n + v] += k * J[u] * J[v], D[u * n + v] += d * J[u] * J[v];
    }
    for (int32_t i = 0; i < s->image.n.excitations; i++) {
        const int32_t own = s->image.excitation_u[i];
        for (int32_t v = 0; v < n; v++)
            if (v != own) K[v * n + own] = D[v * n + own] = 0.0;
    }
}

/* X <- X W, for transposed X. */
static void multiply(const fm_instance *s, double *X)
{
    const int32_t n = s->image.n.speeds;
    double *row = s->integrator->dense_x;
    for (int32_t v = 0; v < n; v++) {
        memset(row, 0, (size_t)n * sizeof *row);
        for (int32_t w = 0; w < n; w++) fm_add_times(row, X[v * n + w], s->integrator->W + w * n, n);
        memcpy(X + v * n, row, (size_t)n * sizeof *row);
    }
}

/* M, transposed, or W, at y, where the last evaluation was. */
static void weigh(fm_instance *s, const double *y)
{
    const int32_t n = s->image.n.speeds;
    double *M = s->integrator->dense_M;
    if (by_sweeps(s)) {
        invert(s, y);
        memset(M, 0, (size_t)(n * n) * sizeof *M);
        for (int32_t u = 0; u < n; u++) M[u * n + u] = 1.0;
        return;
    }
    fm_composite_mass_in_world(s);
    memcpy(M, s->reduced.mass, (size_t)(n * n) * sizeof *M);
    for (int32_t i = 0; i < s->image.n.excitations; i++) {
        const int32_t own = s->image.excitation_u[i];
        for (int32_t v = 0; v < n; v++) M[v * n + own] = v == own;
    }
}

/* What makes rows of the transposed matrices comparable, those of a number of systems one below the other: the rows of
 * a slide are per length. */
static double *units_of_rows(fm_instance *s, int systems)
{
    const size_t n = (size_t)s->image.n.speeds;
    for (int i = 0; i < systems; i++)
        memcpy(s->integrator->row_unit + (size_t)i * n, s->scale + s->image.n.positions, n * sizeof *s->scale);
    return s->integrator->row_unit;
}

/* The factors of the real system and of the complex one. A singular one: the step is rejected. */
static void factor(fm_instance *s, double h)
{
    const int32_t n = s->image.n.speeds, all = n * n;
    const double *M = s->integrator->dense_M, *K = s->integrator->dense_K + all, *D = s->integrator->dense_D + all;
    const double square = ALPHA * ALPHA + BETA * BETA, g = h / REAL, x = h * ALPHA / square, y = -h * BETA / square;
    double *real = s->integrator->dense_E, *re = real + all, *im = re + all;
    for (int32_t i = 0; i < all; i++) real[i] = M[i] + g * (D[i] + g * K[i]);
    fm_lu_factor(real, n, units_of_rows(s, 1), s->integrator->exchanged);
    if (s->integrator->dense != FM_TOGETHER) return;
    for (int32_t i = 0; i < all; i++) {
        re[i] = M[i] + (x * D[i] + (x * x - y * y) * K[i]);
        im[i] = y * D[i] + 2.0 * x * y * K[i];
    }
    fm_lu_complex_factor(re, im, n, units_of_rows(s, 1), s->integrator->exchanged + n);
}

/* Those of the system of all stages, transposed. */
static void factor_apart(fm_instance *s, double h)
{
    const int32_t n = s->image.n.speeds, all = FM_RADAU_STAGES * n;
    double *E = s->integrator->dense_E + n * n;
    for (int i = 0; i < FM_RADAU_STAGES; i++)
        for (int j = 0; j < FM_RADAU_STAGES; j++) {
            const double *M = s->integrator->dense_M, *K = s->integrator->dense_K + i * n * n,
                         *D = s->integrator->dense_D + i * n * n;
            double square = 0.0;
            for (int k = 0; k < FM_RADAU_STAGES; k++) square += A[i][k] * A[k][j];
            for (int32_t v = 0; v < n; v++)
                for (int32_t u = 0; u < n; u++)
                    E[(j * n + v) * all + i * n + u] =
                        (i == j ? M[v * n + u] : 0.0) + h * A[i][j] * D[v * n + u] + h * h * square * K[v * n + u];
        }
    fm_lu_factor(E, all, units_of_rows(s, FM_RADAU_STAGES), s->integrator->exchanged + n);
}

/* Whether springs resist in directions that would cost sweeps. */
static int resists(const fm_instance *s)
{
    for (int32_t u = s->image.n.speeds; u < s->image.n.modes; u++)
        if (s->stiffness[u] > 0.0 || s->damping[u] > 0.0) return 1;
    return fm_count_pairs(&s->image) > 0 || s->stiff.matrices > 0;
}

/* How a step from the head is iterated: so that it costs least. */
fm_iteration fm_small_begin(fm_instance *s, double h)
{
    const int32_t small = s->integrator->small;
    if (small == 0) return FM_BY_STAGES;
    if (!by_sweeps(s)) {
        if (small > FM_DENSE_ALONE && !resists(s)) return FM_BY_STAGES;
        return s->clock[FM_TURNING] == 0.0 ? FM_TOGETHER : small <= FM_MOST_APART ? FM_APART : FM_BY_STAGES;
    }
    fm_run_orientations(s, s->head);
    fm_make_world(s, s->head);
    fm_compliances_find(s, FM_RADAU_STAGES, s->head, FM_WITHIN * h, FM_STIFF_ABOVE);
    return FM_RADAU_STAGES * s->implicit->set[FM_RADAU_STAGES].count >= small ? FM_APART : FM_BY_STAGES;
}

/* out += part X x, of a transposed X */
static void add_product(const double *X, double part, const double *x, int32_t n, double *out)
{
    for (int32_t v = 0; v < n; v++) fm_add_times(out, part * x[v], X + v * n, n);
}

/* out = M rv, force = K q of three vectors each, K that of each stage where they are apart. */
static void multiply_all(const fm_instance *s, const double *rv, const double *q, double *out, double *force)
{
    const int32_t n = s->image.n.speeds;
    memset(out, 0, FM_RADAU_STAGES * (size_t)n * sizeof *out),
        memset(force, 0, FM_RADAU_STAGES * (size_t)n * sizeof *force);
    for (int i = 0; i < FM_RADAU_STAGES; i++) {
        const int which = s->integrator->dense == FM_APART ? i : 1;
        add_product(s->integrator->dense_M, 1.0, rv + i * n, n, out + i * n);
        add_product(s->integrator->dense_K + which * n * n, 1.0, q + i * n, n, force + i * n);
    }
}

/* Three vectors of n, one after the other, replaced by their sums with the rows of B. */
static void combine(const double B[FM_RADAU_STAGES][FM_RADAU_STAGES], double *x, int32_t n)
{
    for (int32_t u = 0; u < n; u++) {
        const double one = x[u], two = x[n + u], three = x[2 * n + u];
        for (int i = 0; i < FM_RADAU_STAGES; i++) x[i * n + u] = (B[i][0] * one + B[i][1] * two) + B[i][2] * three;
    }
}

/* h times row i of A times three vectors of n, one after the other. */
static void integrate(double h, int i, const double *x, int32_t n, double *out)
{
    for (int32_t u = 0; u < n; u++) out[u] = h * ((A[i][0] * x[u] + A[i][1] * x[n + u]) + A[i][2] * x[2 * n + u]);
}

/* rv <- d_v of all stages, by the real system and the complex one for sums of them. */
static void solve(fm_instance *s, double h, double *rv, double *rq)
{
    const int32_t n = s->image.n.speeds, all = n * n, *exchanged = s->integrator->exchanged;
    const double square = ALPHA * ALPHA + BETA * BETA, x = h * ALPHA / square, y = -h * BETA / square;
    double *out = rq + FM_RADAU_STAGES * n, *re = out + n, *im = re + n, *force = im + n, *E = s->integrator->dense_E;
    combine(TI, rv, n), combine(TI, rq, n);
    multiply_all(s, rv, rq, out, force);
    for (int32_t u = 0; u < n; u++) {
        const double two = force[n + u], three = force[2 * n + u];
        out[u] -= h / REAL * force[u], re[u] -= x * two - y * three, im[u] -= x * three + y * two;
    }
    fm_lu_solve_transposed(E, n, exchanged, out);
    fm_lu_complex_solve(E + all, E + 2 * all, n, exchanged + n, re, im);
    combine(T, out, n);
    memcpy(rv, out, FM_RADAU_STAGES * (size_t)n * sizeof *rv);
}

/* The same by the system of all stages. */
static void solve_apart(fm_instance *s, double h, double *rv, double *rq)
{
    const int32_t n = s->image.n.speeds, all = FM_RADAU_STAGES * n;
    double *out = rq + all, *force = out + all;
    combine(A, rq, n);
    multiply_all(s, rv, rq, out, force);
    for (int32_t u = 0; u < all; u++) rv[u] = out[u] - h * force[u];
    fm_lu_solve_transposed(s->integrator->dense_E + n * n, all, s->integrator->exchanged + n, rv);
}

static double *stage_place(const fm_instance *s, int i)
{
    return fm_stage(s, 2 * FM_RADAU_STAGES + 1 + i);
}

/* The accelerations and rates at the stages less their derivatives, in stages 3 to 5; in the first iteration M, K and
 * D. */
static void evaluate_all(fm_instance *s, double t, double h, int first)
{
    const int32_t ny = s->model.ny;
    for (int i = FM_RADAU_STAGES - 1; i >= 0; i--) {
        double *d = fm_stage(s, FM_RADAU_STAGES + i), *y = stage_place(s, i);
        integrate(h, i, fm_stage(s, 0), ny, y);
        for (int32_t m = 0; m < ny; m++) y[m] += s->head[m];
        evaluate(s, t + C[i] * h, y, d);
        for (int32_t m = 0; m < ny; m++) d[m] -= fm_stage(s, i)[m];
        if (!first || (i != 1 && s->integrator->dense == FM_TOGETHER)) continue;
        fm_make_world(s, y);
        place(s, i, y, h);
        if (i == 1) weigh(s, y);
    }
}

/* The factors, after the first evaluations. */
static void begin(fm_instance *s, double h)
{
    const int32_t n = s->image.n.speeds;
    for (int i = 0; by_sweeps(s) && i < FM_RADAU_STAGES; i++)
        multiply(s, s->integrator->dense_K + i * n * n), multiply(s, s->integrator->dense_D + i * n * n);
    factor(s, h);
    if (s->integrator->dense == FM_APART) factor_apart(s, h);
}

/* One iteration of all stages: their changes in stages 3 to 5. */
void fm_small_iterate(fm_instance *s, double t, double h, int first)
{
    const int32_t np = s->image.n.positions, n = s->image.n.speeds;
    double *x = s->integrator->dense_x, *q = x + FM_RADAU_STAGES * n, *work = fm_stage(s, 2 * FM_RADAU_STAGES);
    evaluate_all(s, t, h, first);
    if (first) begin(s, h);
    for (int i = 0; i < FM_RADAU_STAGES; i++) {
        const double *d = fm_stage(s, FM_RADAU_STAGES + i);
        memcpy(x + i * n, d + np, (size_t)n * sizeof *x);
        fm_speeds_of(s, stage_place(s, i), d, q + i * n);
    }
    if (s->integrator->dense == FM_APART) solve_apart(s, h, x, q);
    else solve(s, h, x, q);
    for (int i = 0; i < FM_RADAU_STAGES; i++) {
        double *d = fm_stage(s, FM_RADAU_STAGES + i), *y = stage_place(s, i);
        integrate(h, i, x, n, y + np);
        fm_position_rates(s, y, work);
        for (int32_t m = 0; m < np; m++) d[m] += work[m];
        memcpy(d + np, x + i * n, (size_t)n * sizeof *x);
    }
}

/* error = (1 - g J)^-1 r at the head, g = h/gamma, with M, K and D of the step. */
void fm_small_filter(fm_instance *s, double g, const double *r, double *error)
{
    const int32_t np = s->image.n.positions, n = s->image.n.speeds;
    double *q = s->integrator->dense_x, *x = q + n, *rates = fm_stage(s, 2 * FM_RADAU_STAGES);
    fm_speeds_of(s, s->head, r, q);
    memset(x, 0, (size_t)n * sizeof *x);
    add_product(s->integrator->dense_M, 1.0, r + np, n, x), add_product(s->integrator->dense_K + n * n, -g, q, n, x);
    fm_lu_solve_transposed(s->integrator->dense_E, n, s->integrator->exchanged, x);
    memcpy(error, s->head, (size_t)np * sizeof *error);
    memcpy(error + np, x, (size_t)n * sizeof *x);
    fm_position_rates(s, error, rates);
    for (int32_t m = 0; m < np; m++) error[m] = r[m] + g * rates[m];
}
