/* radau_small.c: the iteration of Radau IIA (radau.c) where few coordinates move: Newton's method on all three stages,
 * with dense linear systems.
 *
 * With A = T Lambda^-1 T^-1 (radau_tableau.h) the changes of all stages' derivatives, (I - h A x J) d = r, fall apart
 * into a real system and a complex one, each (1 - g J) d = r, g = h/gamma and h/(alpha + i beta), where r and d are the
 * sums T^-1 r of the stages (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8). J has M, K and D
 * at the middle stage of the prediction, with every direction in which springs resist, the rows of the loops, and the
 * bristles of friction there (radau_matrices.c); their factors serve all iterations of the step, and the real ones the
 * error's filter, too. 2 to 3 iterations do in place of 3 to 5, without the evaluations that directions cost otherwise.
 *
 * A stiff spring that turns by delta within the step is off by rho delta^2 beside the inertia then. Steps after one in
 * which that slowed the iteration have K and D of each stage: as one system where that is small, M x_i + sum over j of
 * (h A_ij D_i + h^2 (A A)_ij K_i) x_j = M r_v,i - K_i h sum over j of A_ij r_q,j, or by the other iteration of radau.c.
 */
#include "radau_small.h"

#include "../instance/instance.h"
#include "../forces/elements.h"
#include "../motion/evaluation.h"
#include "../motion/friction.h"
#include "../motion/scratch.h"
#include "../tree/kinematics.h"
#include "../tree/positions.h"
#include "radau_matrices.h"
#include "radau_tableau.h"
#include "scratch.h"
#include "stages.h"

#include <math.h>
#include <string.h>

/* Most velocity variables and rows where no spring resists across joints. Time beside that of the iteration by stages,
 * of chains of 8, 16, 24 and 40 hinges: without such springs, though with those of the hinges, 0.85, 1.05, 1.29, 2.0;
 * loops and friction, which stages iterate more often, take less. */
#define FM_DENSE_ALONE 24

/* Accelerations at t and y without a trace in what is known of the loops' rows, and the rates of positions. */
static void evaluate(fm_instance *s, double t, const double *y, double *rates)
{
    const int32_t worn = s->loop.worn, near_singular = s->loop.near_singular;
    s->valid &= FM_VALID_LAWS;
    fm_accelerations_alone(s, t, y, rates + s->image.n.positions);
    fm_position_rates(s, y, rates);
    fm_friction_rates(s, rates);
    s->loop.worn = worn, s->loop.near_singular = near_singular;
}

/* Whether springs resist in directions that would cost sweeps. */
static int resists(const fm_instance *s)
{
    for (int32_t u = s->image.n.speeds; u < s->image.n.modes; u++)
        if (s->stiffness[u] > 0.0 || s->damping[u] > 0.0) return 1;
    return fm_count_pairs(&s->image) > 0 || s->stiff.matrices > 0;
}

/* How a step from the head is iterated: so that it costs least. */
fm_iteration fm_small_begin(const fm_instance *s)
{
    const int32_t small = s->integrator->small, unknowns = small + s->image.n.rows;
    if (small == 0 || (unknowns > FM_DENSE_ALONE && !resists(s))) return FM_BY_STAGES;
    if (s->clock[FM_TURNING] == 0.0) return FM_TOGETHER;
    return unknowns <= FM_MOST_APART && s->image.n.bristles == 0 ? FM_APART : FM_BY_STAGES;
}

/* h times row i of A times three vectors of n, one after the other. */
static void integrate(double h, int i, const double *x, int32_t n, double *out)
{
    for (int32_t u = 0; u < n; u++) out[u] = h * ((A[i][0] * x[u] + A[i][1] * x[n + u]) + A[i][2] * x[2 * n + u]);
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
        fm_matrices_resist(s, i, y, h);
        if (i == 1) fm_matrices_weigh(s);
    }
}

/* One iteration of all stages: their changes in stages 3 to 5. */
void fm_small_iterate(fm_instance *s, double t, double h, int first)
{
    const int32_t np = s->image.n.positions, n = s->image.n.speeds, z = s->model.bristles,
                  bristles = s->image.n.bristles;
    double *v = s->integrator->dense_v, *q = s->integrator->dense_q, *work = fm_stage(s, 2 * FM_RADAU_STAGES);
    evaluate_all(s, t, h, first);
    if (first) fm_matrices_factor(s, h);
    for (int i = 0; i < FM_RADAU_STAGES; i++) {
        const double *d = fm_stage(s, FM_RADAU_STAGES + i);
        memcpy(v + i * n, d + np, (size_t)n * sizeof *v);
        memcpy(s->integrator->dense_z + i * bristles, d + z, (size_t)bristles * sizeof *d);
        fm_speeds_of(s, stage_place(s, i), d, q + i * n);
    }
    fm_matrices_solve(s, h, v, q, s->integrator->dense_z);
    for (int i = 0; i < FM_RADAU_STAGES; i++) {
        double *d = fm_stage(s, FM_RADAU_STAGES + i), *y = stage_place(s, i);
        integrate(h, i, v, n, y + np);
        fm_position_rates(s, y, work);
        for (int32_t m = 0; m < np; m++) d[m] += work[m];
        memcpy(d + np, v + i * n, (size_t)n * sizeof *v);
        memcpy(d + z, s->integrator->dense_z + i * bristles, (size_t)bristles * sizeof *d);
    }
}

/* error = (1 - g J)^-1 r at the head, g = h/gamma, with M, K and D of the step. */
void fm_small_filter(fm_instance *s, double g, const double *r, double *error)
{
    const int32_t np = s->image.n.positions, n = s->image.n.speeds, z = s->model.bristles;
    double *q = s->integrator->dense_q, *rates = fm_stage(s, 2 * FM_RADAU_STAGES);
    fm_speeds_of(s, s->head, r, q);
    memcpy(error, s->head, (size_t)np * sizeof *error);
    memcpy(error + np, r + np, (size_t)n * sizeof *error);
    memcpy(error + z, r + z, (size_t)s->image.n.bristles * sizeof *error);
    fm_matrices_solve_real(s, g, error + np, q, error + z);
    fm_position_rates(s, error, rates);
    for (int32_t m = 0; m < np; m++) error[m] = r[m] + g * rates[m];
}
