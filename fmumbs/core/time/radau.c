/* radau.c: Radau IIA of order 5 for stiff mechanisms, without a matrix of its own.
 *
 * The unknowns are the derivatives k_i = (kq_i, kv_i) at the three stages Y_i = y + h sum of A_ij k_j. With a lower
 * triangular L near A they are iterated stage by stage,
 *     (I - h l_ii J) d_i = f(y + h sum of A_ij k_j + h sum over j < i of L_ij d_j) - k_i,   k_i <- k_i + d_i,
 * so that only real systems of the size of y are left, while the fixed point is that of the collocation
 * (P. J. van der Houwen, J. J. B. de Swart, SIAM J. Sci. Comput. 18 (1997) 41). They take L from A = L U of Crout. Ours
 * is one of those with (1 - L^-1 A)^3 = 0, so that very stiff parts are found in three iterations, too. Of the error of
 * a stage of y' = lambda y it leaves at most 1.02, 0.32, 0.11, 0.037 after one to four, for any h lambda in the left
 * half plane; Crout's 0.77, 0.49, 0.19, 0.067. In positions and velocities (Q, V) such a system is one evaluation of
 * accelerations with K and D in it (stiffness.c): with g = h l_ii and r = Q' - kq_i (M + R) a = Q(Q + g r, V) - bias +
 * R kv_i,   d_v = a - kv_i,   d_q = r + g d_v, because what the joints' springs put on Q + g r and what R adds is what
 * they will put on the new positions. Error by the filtered embedded formula, steps by Gustafsson's control, output by
 * the collocation polynomial: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8.
 */
#include "../forces/inputs.h"
#include "../tree/positions.h"
#include "../tree/reversed.h"
#include "../loops/scratch.h"
#include "../motion/compliances.h"
#include "../motion/friction.h"
#include "../motion/own_states.h"
#include "../motion/rates.h"
#include "../motion/scratch.h"
#include "../motion/stiffness.h"
#include "radau_small.h"
#include "radau_tableau.h"
#include "scheme.h"
#include "scratch.h"
#include "stages.h"

#include <math.h>
#include <string.h>

#define FM_ITERATION_ERROR 0.03 /* of the error that is allowed: what an iteration may leave */
/* times the allowed error: what the slope at the end and the last stage's may differ by, times h */
#define FM_SLOPES_APART 10.0
#define FM_LOOSER 0.35       /* times eps^(-1/5): how much more than the tolerance eps the estimate may be */
#define FM_FURTHEST 20.0     /* times the last step: how far its polynomial is extrapolated */
#define FM_CUBIC FM_TERMS_OF_RADAU /* the term of `dense` after those of the dense output, for predictions */
#define FM_SLOWEST_RATE 0.95 /* an iteration that leaves more of the last change does not converge */
#define FM_SLOW_RATE 0.2     /* Newton's method is not worth its matrices: springs turn */
/* that are taken otherwise then, of two iterations at least, mostly three: so tries that fail, of FM_MOST_ITERATED
 * each, are at most a sixth to a fourth of all iterations */
#define FM_TURNING_STEPS (5 * FM_MOST_ITERATED / 3)

static const double L[FM_RADAU_STAGES][FM_RADAU_STAGES] = {
    {0.272, 0.0, 0.0},
    {0.434, 0.334, 0.0},
    {0.35514240714403683, 0.5029728125871217, 0.1834566161794059},
};
static const double GAMMA = 0.27488882959567736775; /* the real eigenvalue of A */
static const double E[FM_RADAU_STAGES] = {-2.7623054547485993983, 0.37993559825272887787, -0.091629609865225789249};

/* Whether the last step was one of these, and its dense output ends at the head. */
static int goes_on(const fm_instance *s)
{
    const double *clock = s->clock;
    return clock[FM_IMPLICIT] != 0.0 && clock[FM_TIME_TAIL] < clock[FM_TIME_HEAD] &&
           clock[FM_TIME_HEAD] == clock[FM_TIME_DENSE];
}

/* The stages' derivatives as the polynomial of the last step would have them, through the derivative that it began
 * with, too, or as they are at the head. */
static void predict(fm_instance *s, double h)
{
    const int32_t ny = s->model.ny;
    const double last = s->clock[FM_TIME_DENSE] - s->clock[FM_TIME_TAIL], *r = s->dense;
    const int further = goes_on(s) && h < FM_FURTHEST * last;
    for (int j = 0; j < FM_RADAU_STAGES; j++) {
        const double x = 1.0 + C[j] * h / last, b = 1.0 - 2.0 * x, c = x * (2.0 - 3.0 * x), d = 2.0 * x * (1.0 - x) * b;
        const double begun = (x - C[0]) * (x - C[1]) * (x - C[2]), *cubic = r + FM_CUBIC * ny;
        double *k = fm_stage(s, j);
        if (!further) memcpy(k, s->slope, (size_t)ny * sizeof *k);
        else
            for (int32_t i = 0; i < ny; i++)
                k[i] = ((r[ny + i] + b * r[2 * ny + i]) + (c * r[3 * ny + i] + d * r[4 * ny + i])) / last +
                       begun * cubic[i];
    }
}

/* y + h sum of A_ij k_j + h sum over j < i of L_ij d_j, at which iteration i evaluates. */
static void place_stage(const fm_instance *s, double h, int i, double *restrict y)
{
    const int32_t ny = s->model.ny;
    const double *restrict one = fm_stage(s, 0), *restrict two = fm_stage(s, 1), *restrict three = fm_stage(s, 2),
                           *restrict head = s->head;
    for (int32_t n = 0; n < ny; n++) y[n] = head[n] + h * ((A[i][0] * one[n] + A[i][1] * two[n]) + A[i][2] * three[n]);
    for (int j = 0; j < i; j++) {
        const double *restrict d = fm_stage(s, FM_RADAU_STAGES + j), part = h * L[i][j];
        for (int32_t n = 0; n < ny; n++) y[n] += part * d[n];
    }
}

/* One iteration of stage i: its change in stage 3 + i. */
static void iterate(fm_instance *s, double t, double h, int i, int first)
{
    const int32_t np = s->image.n.positions, nu = s->image.n.speeds;
    const double *k = fm_stage(s, i), g = h * L[i][i];
    double *d = fm_stage(s, FM_RADAU_STAGES + i), *y = s->integrator->trial, *work = fm_stage(s, 2 * FM_RADAU_STAGES);
    place_stage(s, h, i, y);
    if (s->image.n.generals > 0) fm_run_orientations(s, y); /* whose rates follow from the pose */
    fm_position_rates(s, y, d);
    fm_friction_stage(s, t + C[i] * h, y, g, d);
    fm_own_stage(s, t + C[i] * h, y, g, d);
    for (int32_t n = 0; n < np; n++) d[n] -= k[n], y[n] += g * d[n];
    fm_friction_relax(s, g, k, d, y);
    fm_own_relax(s, g, k, d, y);
    memset(work, 0, (size_t)s->model.ny * sizeof *work);
    fm_stiff_force(s, g, k + np, work, s->implicit->f);
    fm_stiff_accelerations(s, t + C[i] * h, y, g, d + np);
    if (first) fm_compliances_place(s, i, -1, t + C[i] * h, y, g, d + np);
    else fm_compliances_renew(s, i);
    for (int32_t n = np; n < np + nu; n++) d[n] -= k[n];
    fm_compliances_apply(s, i, NULL, d + np);
    memcpy(y + np, d + np, (size_t)nu * sizeof *y);
    fm_position_rates(s, y, work);
    for (int32_t n = 0; n < np; n++) d[n] += g * work[n];
    fm_friction_follow(s, g, y, d);
    fm_own_follow(s, g, y, d);
}

/* One iteration of all stages: their changes in stages 3 to 5. */
static void iterate_all(fm_instance *s, double t, double h, int first)
{
    if (s->integrator->dense) fm_small_iterate(s, t, h, first);
    else
        for (int i = 0; i < FM_RADAU_STAGES && !s->realised->lost; i++) iterate(s, t, h, i, first);
}

/* Adds the changes to the stages; returns how much they move these, beside the error that is allowed. */
static double change(fm_instance *s, double h)
{
    const int32_t ny = s->model.ny;
    const double *restrict d0 = fm_stage(s, 3), *restrict d1 = fm_stage(s, 4), *restrict d2 = fm_stage(s, 5);
    double *restrict k0 = fm_stage(s, 0), *restrict k1 = fm_stage(s, 1), *restrict k2 = fm_stage(s, 2), most = 0.0,
                     sum = 0.0;
    for (int32_t n = 0; n < ny; n++) {
        const double one = d0[n], two = d1[n], three = d2[n], w = h / fm_weight(s, n, fabs(s->head[n]));
        k0[n] += one, k1[n] += two, k2[n] += three;
        const double x = fabs((A[0][0] * one + A[0][1] * two) + A[0][2] * three);
        const double y = fabs((A[1][0] * one + A[1][1] * two) + A[1][2] * three);
        const double z = fabs((A[2][0] * one + A[2][1] * two) + A[2][2] * three);
        const double larger = x > y ? x : y, largest = w * (larger > z ? larger : z);
        most = largest > most ? largest : most;
        sum += (x + y) + z;
    }
    return isfinite(sum) ? most : NAN;
}

/* The stages of a step. 0: they are not found. */
static int find_stages(fm_instance *s, double t, double h)
{
    int32_t *iterations = &s->integrator->iterations;
    double last = 0.0;
    predict(s, h);
    for (*iterations = 1; *iterations <= s->integrator->patience; ++*iterations) {
        iterate_all(s, t, h, *iterations == 1);
        const double now = change(s, h);
        if (!isfinite(now) || s->realised->lost) return 0;
        if (*iterations == 1) {
            if (now < 0.01 * FM_ITERATION_ERROR) return 1;
        } else {
            const double rate = now > 1e-3 * last ? now / last : 1e-3; /* less says nothing after a wild prediction */
            if (rate < 1.0 && rate / (1.0 - rate) * now < FM_ITERATION_ERROR) return 1;
            if (rate >= FM_SLOWEST_RATE && *iterations > 2) return 0;
            if (rate >= FM_SLOW_RATE && *iterations > 2 && s->integrator->dense == FM_TOGETHER)
                s->clock[FM_TURNING] = FM_TURNING_STEPS;
        }
        last = now > 1e-300 ? now : 1e-300;
    }
    return 0;
}

/* How far stage i is from the head, in state n. */
static double moved(const fm_instance *s, double h, int i, int32_t n)
{
    return h * ((A[i][0] * fm_stage(s, 0)[n] + A[i][1] * fm_stage(s, 1)[n]) + A[i][2] * fm_stage(s, 2)[n]);
}

/* The largest of some estimated errors, given over g, relative to those that are allowed. The estimate is of order 4 in
 * the step, the error of order 5: so that this is as the tolerance eps is, the estimate may be as eps^(4/5). */
static double norm(const fm_instance *s, double g, const double *error)
{
    const double more = FM_LOOSER / fm_fifth_root(s->options[FM_OPTION_TOLERANCE]), allowed = more > 1.0 ? more : 1.0;
    double worst = 0.0;
    for (int32_t n = 0; n < s->model.ny; n++) {
        const double before = fabs(s->head[n]), after = fabs(s->integrator->trial[n]);
        const double off = g * fabs(error[n]) / fm_weight(s, n, before > after ? before : after);
        worst = off > worst || isnan(off) ? off : worst;
        if (isnan(worst)) return worst;
    }
    return worst / allowed;
}

/* The error of a step, beside that which is allowed: (I - h gamma J)^-1 (h gamma f + sum of E_i (Y_i - y)), f the slope
 * at the head, or near it; or that without the filter where it is less, as round-off of accelerations makes it in short
 * steps. Leaves the filtered error over h gamma in stage 4: so it is of the size of a slope, and no evaluation loses
 * digits of it. */
static double estimate(fm_instance *s, double t, double h, const double *slope)
{
    const int32_t np = s->image.n.positions, nu = s->image.n.speeds, ny = s->model.ny;
    const double g = GAMMA * h, *a0 = s->slope + np;
    double *r = fm_stage(s, 3), *error = fm_stage(s, 4), *a = fm_stage(s, 5), *b = fm_stage(s, 6);
    for (int32_t n = 0; n < ny; n++)
        r[n] = slope[n] + ((E[0] * moved(s, h, 0, n) + E[1] * moved(s, h, 1, n)) + E[2] * moved(s, h, 2, n)) / g;
    const double unfiltered = norm(s, g, r);
    if (s->integrator->dense) {
        fm_small_filter(s, g, r, error);
        const double filtered = norm(s, g, error);
        return unfiltered < filtered ? unfiltered : filtered;
    }
    for (int32_t n = 0; n < nu; n++) a[n] = a0[n] - r[np + n];
    fm_speeds_of(s, s->head, r, b);
    for (int32_t n = 0; n < nu; n++) b[n] = -b[n];
    fm_friction_stage(s, t, s->head, g, NULL);
    fm_own_stage(s, t, s->head, g, NULL);
    fm_stiff_force(s, g, a, b, s->implicit->f);
    fm_friction_push(s, g, r, s->implicit->f);
    fm_own_push(s, g, s->head, r, s->implicit->f);
    fm_stiff_accelerations(s, t, s->head, g, a);
    if (slope == s->slope) fm_compliances_place(s, FM_RADAU_STAGES, 0, t, s->head, g, a);
    memcpy(error, s->head, (size_t)ny * sizeof *error);
    for (int32_t n = 0; n < nu; n++) error[np + n] = r[np + n] + (a[n] - a0[n]), b[n] = -b[n];
    fm_compliances_apply(s, FM_RADAU_STAGES, b, error + np);
    fm_position_rates(s, error, b);
    fm_friction_follow(s, g, error, r);
    fm_own_follow(s, g, error, r);
    for (int32_t n = 0; n < np; n++) error[n] = r[n] + g * b[n];
    memcpy(error + s->model.bristles, r + s->model.bristles, (size_t)s->image.n.bristles * sizeof *error);
    const double filtered = norm(s, g, error);
    return unfiltered < filtered ? unfiltered : filtered;
}

/* The same with the slope where that error leads, which large errors of stiff parts need. */
static double estimate_again(fm_instance *s, double t, double h)
{
    double *near = fm_stage(s, 4), *slope = fm_stage(s, 5);
    for (int32_t n = 0; n < s->model.ny; n++) near[n] = s->head[n] + GAMMA * h * near[n];
    fm_rates(s, t, near, slope);
    return estimate(s, t, h, slope);
}

/* How far the slope at the end of a step is from the last stage's derivative, beside the error that is allowed over h.
 */
static double unbalanced(const fm_instance *s, double h, const double *slope)
{
    const double *k = fm_stage(s, FM_RADAU_STAGES - 1);
    double most = 0.0, sum = 0.0;
    for (int32_t n = 0; n < s->model.ny; n++) {
        const double off = h * fabs(slope[n] - k[n]) / fm_weight(s, n, fabs(s->integrator->trial[n]));
        most = off > most ? off : most, sum += off;
    }
    return isfinite(sum) ? most : NAN;
}

/* The slope at the end of a step, in stage 6, with further iterations where stiff parts make much of what is left of
 * the stages' errors: forces would be wrong by that. Each halves that at least; they end where it is small, or where
 * one does not halve it, as with round-off: the stages themselves have converged before. 0: it is not finite. */
static int find_slope(fm_instance *s, double t, double h)
{
    double *slope = fm_stage(s, 2 * FM_RADAU_STAGES), last = INFINITY;
    for (;;) {
        fm_rates(s, t + h, s->integrator->trial, slope);
        const double now = unbalanced(s, h, slope);
        if (!isfinite(now)) return 0;
        if (now <= FM_SLOPES_APART || now > 0.5 * last) return 1;
        last = now;
        iterate_all(s, t, h, 0);
        if (s->realised->lost || !isfinite(change(s, h))) return 0;
        for (int32_t n = 0; n < s->model.ny; n++)
            s->integrator->trial[n] = s->head[n] + moved(s, h, FM_RADAU_STAGES - 1, n);
    }
}

/* One trial of length h from the head, the number `rejected` + 1; returns its error, INFINITY where its stages are not
 * found. The new state is left in `trial`, its slope in the last stage. */
static double trial(fm_instance *s, double t, double h, int rejected)
{
    s->singular->was_near = 0;
    fm_controls_at(s, t);
    fm_stiff_place(s, s->head);
    s->integrator->dense = fm_small_begin(s);
    int found = find_stages(s, t, h);
    if (!found && s->integrator->patience == FM_MOST_ITERATED && s->integrator->dense == FM_TOGETHER &&
        !s->realised->lost) {
        s->clock[FM_TURNING] = FM_TURNING_STEPS;
        s->integrator->dense = fm_small_begin(s);
        found = find_stages(s, t, h);
    }
    if (!found) return INFINITY;
    for (int32_t n = 0; n < s->model.ny; n++)
        s->integrator->trial[n] = s->head[n] + moved(s, h, FM_RADAU_STAGES - 1, n);
    double error = estimate(s, t, h, s->slope);
    if (error > 1.0 && (rejected || !goes_on(s))) error = estimate_again(s, t, h);
    if (!(error <= 1.0)) return error;
    return find_slope(s, t, h) ? error : INFINITY;
}

/* The dense output of a step of length h that leads from the head to `trial`: the polynomial through its stages. Where
 * force laws begin a mode it has the slope at the head too: a velocity that leaves a bound then leaves it to the right
 * side. For predictions also the coefficient of (x - c1)(x - c2)(x - c3), with which its derivative begins as that of
 * the step before ended; c1 c2 c3 = 1/10. */
static void keep(fm_instance *s, double h, int within)
{
    (void)within;
    const int32_t ny = s->model.ny;
    const int on = goes_on(s), begins = s->image.n.laws > 0 && !on;
    const double last = s->clock[FM_TIME_DENSE] - s->clock[FM_TIME_TAIL];
    double *r = s->dense, *cubic = r + FM_CUBIC * ny;
    if (s->clock[FM_TURNING] > 0.0 && s->integrator->dense != FM_TOGETHER) s->clock[FM_TURNING] -= 1.0;
    for (int32_t i = 0; i < ny; i++) {
        const double ended = on ? ((r[ny + i] - r[2 * ny + i]) - r[3 * ny + i]) / last : 0.0;
        const double diff = s->integrator->trial[i] - s->head[i];
        const double one = (moved(s, h, 0, i) - C[0] * diff) / (C[0] * (1.0 - C[0]));
        const double two = (moved(s, h, 1, i) - C[1] * diff) / (C[1] * (1.0 - C[1]));
        r[i] = s->head[i];
        r[ny + i] = diff;
        r[3 * ny + i] = (two - one) / (C[1] - C[0]);
        r[2 * ny + i] = one - C[0] * r[3 * ny + i];
        r[4 * ny + i] = 0.0;
        cubic[i] = on ? 10.0 * ((r[ny + i] + r[2 * ny + i]) / h - ended) : 0.0;
        if (!begins) continue;
        const double start = h * s->slope[i] - diff, left = (one - start) / C[0], right = (two - start) / C[1];
        r[2 * ny + i] = start;
        r[4 * ny + i] = (left - right) / (C[1] - C[0]);
        r[3 * ny + i] = left - (1.0 - C[0]) * r[4 * ny + i];
    }
}

static double fourth_root(double x)
{
    return sqrt(sqrt(x));
}

/* By how much the step after one of length h should differ from it, whether that was taken or not. */
static double factor_after(const fm_instance *s, const fm_scheme *scheme, double h, double error)
{
    (void)scheme;
    const double *clock = s->clock;
    if (!isfinite(error)) return 0.5;
    const double least = error > 1e-10 ? error : 1e-10;
    const double safe = 0.9 * (2.0 * FM_MOST_ITERATED + 1.0) / (2.0 * FM_MOST_ITERATED + s->integrator->iterations);
    double factor = safe / fourth_root(least);
    if (error <= 1.0 && goes_on(s)) { /* Gustafsson */
        const double last = clock[FM_TIME_HEAD] - clock[FM_TIME_TAIL];
        const double before = clock[FM_ERROR_LAST] > 1e-2 ? clock[FM_ERROR_LAST] : 1e-2;
        const double other = safe * (h / last) * fourth_root(before / (least * least));
        factor = other < factor ? other : factor;
    }
    return factor > 8.0 ? 8.0 : factor < 0.2 ? 0.2 : factor;
}

const fm_scheme fm_scheme_radau = {
    .trial = trial,
    .keep = keep,
    .factor = factor_after,
    .root = fm_fifth_root,
    .last = 2 * FM_RADAU_STAGES,
    .implicit = 1,
    .stand_in = &fm_scheme_dopri5,
};
