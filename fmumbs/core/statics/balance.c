/* balance.c: what is out of balance in a mechanism at rest, as a displacement, and how it changes with the positions.
 *
 *     F(q) = (M / t^2 + K)^-1 (Q(q) + J' lambda),   J F = 0,   t^2 = length / gravity (without gravity: 1000 steps),
 * is where the forces Q would move the mechanism against its inertia and the stiffness K of its joints, flexible bodies
 * and springs: one evaluation with K beside M (motion/stiffness.c, motion/compliances.c), in the number of bodies. It
 * vanishes exactly where the forces balance. Its rate -dF/dq is nearly the identity where nothing but K returns the
 * mechanism, and of the order of one where gravity does, so that Krylov spaces of it are small (krylov.c).
 * Displacements are in radians, and in lengths of the model.
 *
 * At rest excited modes stand, and laws act with the mean of their forces at small velocities of either sign.
 * Displacements are along the velocity variables: with nonholonomic joints along the velocities that these allow.
 */
#include "balance.h"

#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../assembly/drift.h"
#include "../instance/instance.h"
#include "../forces/contact.h"
#include "../forces/cylinder.h"
#include "../forces/inputs.h"
#include "../forces/sides.h"
#include "../loops/cut_joints.h"
#include "../loops/loop_rank.h"
#include "../loops/projection.h"
#include "../motion/compliances.h"
#include "../motion/rates.h"
#include "../motion/stiffness.h"
#include "../time/failures.h"
#include "../tree/kinematics.h"
#include "../tree/positions.h"
#include "../tree/reversed.h"
#include "../motion/scratch.h"
#include "scratch.h"
#include "stops.h"

#include <math.h>
#include <string.h>

#define FM_DIFFERENCE 1e-6 /* [rad], or lengths: step of the differences */
#define FM_STILL_SET 0     /* of the directions of compliances.c */
#define FM_LONG 1e3        /* of solver.step: a time in which mechanisms move, or a long one */
#define FM_IMMOBILE 1e-9   /* of a motion: what loops leave of it where nothing moves */

double fm_balance_unit(const fm_instance *s, int32_t u)
{
    return s->image.mode_linear[u] ? s->image.length[0] : 1.0;
}

double fm_largest(const double *v, int32_t count)
{
    double most = 0.0;
    for (int32_t i = 0; i < count; i++) most = fabs(v[i]) > most || isnan(v[i]) ? fabs(v[i]) : most;
    return most;
}

double fm_norm(const double *v, int32_t count)
{
    double sum = 0.0;
    for (int32_t i = 0; i < count; i++) sum += v[i] * v[i];
    return sqrt(sum);
}

/* Whether the search has to stop. */
int fm_balance_exhausted(fm_instance *s)
{
    return s->work.evaluations > s->statics->most || fm_step_interrupted(s);
}

/* A time in which the mechanism moves: a fall over its length, without gravity so many of solver.step. */
static double moving_time(const fm_instance *s)
{
    const double pull = sqrt(dot(s->gravity, s->gravity));
    return pull > 0.0 ? sqrt(s->image.length[0] / pull) : FM_LONG * s->options[FM_OPTION_STEP];
}

/* Before fm_balance_begin, y with the oil that cylinders keep and the places that bristles hold; `back`: as it was,
 * before fm_balance_end. */
void fm_balance_trap(fm_instance *s, double *y, int back)
{
    if (s->image.n.cylinders == 0 && s->image.n.spots == 0) return;
    fm_controls_at(s, s->clock[FM_TIME]);
    s->planar.is_placed = 0;
    fm_run_orientations(s, y);
    fm_make_world(s, y);
    fm_cylinders_trap(s, y, back);
    fm_spots_trap(s, y, back);
}

/* From here on, until fm_balance_end, evaluations are at rest. */
void fm_balance_begin(fm_instance *s)
{
    s->statics->correction = s->closure[FM_CLOSURE_CORRECTION];
    s->statics->shift = 0.0;
    s->statics->by_matrix = s->statics->profile.n > FM_KRYLOV;
    s->closure[FM_CLOSURE_CORRECTION] = (double)FM_CORRECT_DIRECTLY;
    for (int32_t i = 0; i < 2 * s->image.n.laws; i++) s->laws.now[i] = FM_UNKNOWN;
    memset(s->implicit->f, 0, (size_t)s->image.n.speeds * sizeof *s->implicit->f);
    s->work.still = 1;
    s->statics->time = moving_time(s);
    fm_stops_begin(s);
    s->valid = FM_VALID_NOTHING;
}

void fm_balance_end(fm_instance *s)
{
    s->work.still = 0;
    s->closure[FM_CLOSURE_CORRECTION] = s->statics->correction;
    s->planar.is_placed = 0;
    s->valid = FM_VALID_NOTHING;
}

/* Positions a part of v away from others, at rest. */
void fm_balance_move(fm_instance *s, const double *from, const double *v, double part, double *to)
{
    if (s->image.n.generals > 0) fm_run_orientations(s, from); /* whose rates follow from the pose */
    fm_stop(s, from, to);
    for (int32_t u = 0; u < s->image.n.speeds; u++) s->loop.change[u] = part * v[u] * fm_balance_unit(s, u);
    fm_move_positions(s, to, s->loop.change);
    (void)fm_normalise(s, to, NULL);
}

/* Closes the loops near y, which becomes the position from which the coordinates of cut joints and the turns of ropes
 * are followed. 0: it fails. */
int fm_balance_close(fm_instance *s, double *y)
{
    for (int32_t i = 0; i < s->image.n.positions; i++)
        if (!isfinite(y[i])) return 0;
    (void)fm_ropes_follow(s, y);
    if (!fm_correct_drift(s, y, 0)) return 0;
    if (s->image.n.modes > s->image.n.speeds) (void)fm_follow_cut_joints(s);
    if (s->image.n.rows > 0) fm_watch_rows(s, y);
    return 1;
}

/* F at y, which is at rest, with the stiffness of the last fm_balance_place. 0: it is not finite. */
int fm_balance_at(fm_instance *s, const double *y, double *F)
{
    const double t = s->statics->time;
    double sum = 0.0;
    fm_stiff_accelerations(s, s->clock[FM_TIME], y, t, F);
    fm_compliances_apply(s, FM_STILL_SET, NULL, F);
    for (int32_t i = 0; i < s->image.n.excitations; i++) F[s->image.excitation_u[i]] = 0.0;
    for (int32_t u = 0; u < s->image.n.speeds; u++) {
        F[u] *= t * t / fm_balance_unit(s, u);
        sum += fabs(F[u]);
    }
    return isfinite(sum);
}

/* Takes from v what the loops do not allow at y, by the smallest change in the mass norm. 0: it fails. */
int fm_balance_allow(fm_instance *s, const double *y, double *v)
{
    const int32_t np = s->image.n.positions, nu = s->image.n.speeds;
    double *at = s->statics->probe, sum = 0.0;
    if (s->image.n.rows == 0) return 1;
    const int32_t worn = s->loop.worn, near_singular = s->loop.near_singular;
    const double iterated = s->clock[FM_ITERATED];
    memcpy(at, y, (size_t)np * sizeof *at);
    for (int32_t u = 0; u < nu; u++) at[np + u] = v[u] * fm_balance_unit(s, u);
    s->planar.is_placed = 0;
    fm_place_loops(s, at, 0);
    (void)fm_loop_gap(s, 1);
    const int fits = fm_factor_loops(s, at);
    if (fits) fm_correct_once(s, at, 1);
    s->clock[FM_ITERATED] = iterated;
    s->loop.worn = worn, s->loop.near_singular = near_singular;
    for (int32_t u = 0; fits && u < nu; u++) v[u] = at[np + u] / fm_balance_unit(s, u), sum += fabs(v[u]);
    return fits && isfinite(sum);
}

/* Some motion at the base that the loops allow. 0: there is none; -1: it is not found. */
int fm_balance_seed(fm_instance *s, double *x)
{
    const int32_t n = s->image.n.speeds;
    for (int32_t u = 0; u < n; u++) x[u] = fm_sin(1.0 + 2.4 * u);
    for (int32_t i = 0; i < s->image.n.excitations; i++) x[s->image.excitation_u[i]] = 0.0;
    const double any = fm_norm(x, n);
    return fm_balance_allow(s, s->statics->base, x) ? fm_norm(x, n) > FM_IMMOBILE * any : -1;
}

/* Takes K as it is at y, which is at rest, and linearises there from now on. F there in statics.F. 0: it is not finite.
 */
int fm_balance_place(fm_instance *s, const double *y)
{
    memcpy(s->statics->base, y, (size_t)s->model.ny * sizeof *y);
    fm_controls_at(s, s->clock[FM_TIME]);
    fm_stops_bear(s, y);
    fm_stiff_place(s, y);
    for (int32_t u = 0; u < s->image.n.speeds; u++) {
        s->stiff.K[u] = s->stiff.K[u] > 0.0 ? s->stiff.K[u] : 0.0;
        s->stiff.D[u] = 0.0;
    }
    fm_stiff_accelerations(s, s->clock[FM_TIME], y, s->statics->time, s->statics->F);
    s->statics->factored = 0, s->statics->key = 0;
    if (s->statics->by_matrix) s->implicit->set[FM_STILL_SET].count = 0; /* the matrix has them */
    else fm_compliances_place(s, FM_STILL_SET, -1, s->clock[FM_TIME], y, s->statics->time, s->statics->F);
    if (!fm_balance_at(s, y, s->statics->F)) return 0;
    memcpy(s->loop.rest_lambda, s->loop.lambda, (size_t)s->image.n.rows * sizeof(double));
    return fm_balance_allow(s, y, s->statics->F);
}

/* out = mu v - dF/dq v at the base, by central differences, for v that the loops allow, and statics.shift times
 * fm_balance_inertia. 0: it is not finite. */
int fm_balance_product(fm_instance *s, double mu, const double *v, double *out)
{
    const int32_t n = s->image.n.speeds;
    const double largest = fm_largest(v, n), step = FM_DIFFERENCE / largest;
    double *back = s->statics->back;
    if (!(largest > 0.0 && isfinite(step))) {
        memset(out, 0, (size_t)n * sizeof *out);
        return 1;
    }
    s->laws.linear = 1;
    fm_balance_move(s, s->statics->base, v, step, s->statics->probe);
    int fits = fm_balance_at(s, s->statics->probe, out);
    fm_balance_move(s, s->statics->base, v, -step, s->statics->probe);
    fits = fits && fm_balance_at(s, s->statics->probe, back);
    s->laws.linear = 0;
    if (!fits) return 0;
    for (int32_t u = 0; u < n; u++) out[u] = mu * v[u] + (back[u] - out[u]) / (2.0 * step);
    if (s->statics->shift != 0.0) {
        if (!fm_balance_inertia(s, v, s->statics->inert)) return 0;
        for (int32_t u = 0; u < n; u++) out[u] += s->statics->shift * s->statics->inert[u];
    }
    return fm_balance_allow(s, s->statics->base, out);
}

/* out = (M / t^2 + K)^-1 M / t^2 v at the base = v - (M / t^2 + K)^-1 K v, for v that the loops allow. 0: it is not
 * finite. */
int fm_balance_inertia(fm_instance *s, const double *v, double *out)
{
    const fm_compliances *set = s->implicit->set + FM_STILL_SET;
    const int32_t n = s->image.n.speeds;
    const double t = s->statics->time;
    double *rate = s->statics->rate, *none = rate + n;
    memset(none, 0, (size_t)n * sizeof *none);
    for (int32_t u = 0; u < n; u++) rate[u] = v[u] * fm_balance_unit(s, u);
    fm_stiff_force(s, t, rate, none, none);
    for (int32_t i = 0; i < set->count; i++) {
        const double *J = set->J + (size_t)i * (size_t)n;
        double along = 0.0;
        for (int32_t u = 0; u < n; u++) along += J[u] * rate[u];
        for (int32_t u = 0; u < n; u++) none[u] += set->rho[i] * along * J[u];
    }
    for (int32_t i = 0; i < s->image.n.excitations; i++) none[s->image.excitation_u[i]] = 0.0;
    if (!fm_balance_at(s, s->statics->base, s->statics->back)) return 0;
    memcpy(s->implicit->f, none, (size_t)n * sizeof *none);
    const int fits = fm_balance_at(s, s->statics->base, out);
    memset(s->implicit->f, 0, (size_t)n * sizeof *s->implicit->f);
    for (int32_t u = 0; u < n; u++) out[u] = v[u] - (out[u] - s->statics->back[u]) / (t * t);
    return fits;
}
