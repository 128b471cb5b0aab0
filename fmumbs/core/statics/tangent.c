/* tangent.c: the stiffness of a mechanism at rest beside its inertia, for frequencies and stability. */
#include "tangent.h"

#include "../instance/instance.h"
#include "../instance/message.h"
#include "../tree/positions.h"
#include "../motion/evaluation.h"
#include "balance.h"
#include "krylov.h"
#include "pose.h"
#include "scratch.h"
#include "stops.h"

#include <math.h>
#include <string.h>

#define FM_WANTED_RESIDUAL 1e-10
#define FM_MOST_RESIDUAL 1e-7
#define FM_RIGID 1e8 /* k of stops where no position is sought: their part in a frequency is its inverse */
#define FM_LONGER_TIME 100.0 /* times the unit of time, where the first fails: balance.c with the stiffness alone */

/* The present positions, at rest, in statics.now. */
static fm_status begin(fm_instance *s)
{
    if (fm_check_assembled(s) != FM_OK) return FM_ERROR;
    fm_stop(s, s->y, s->statics->now);
    s->reduced.used = 0; /* statics is that of the sweeps */
    fm_pose_begin(s, s->statics->now);
    fm_balance_trap(s, s->statics->now, 0);
    fm_balance_begin(s);
    while (s->statics->stop_stiffness < FM_RIGID && fm_stops_stiffen(s)) {}
    fm_stops_bear(s, s->statics->now);
    return FM_OK;
}

static fm_status end(fm_instance *s, int fits)
{
    fm_balance_end(s);
    fm_pose_end(s);
    s->reduced.used = s->model.reduced;
    return fits ? FM_OK
                : fm_say(s, FM_ERROR,
                         "the accelerations near the present positions are not finite: a singular position is near");
}

/* The accelerations at rest away from statics.now. */
static int rates_at(fm_instance *s, const double *v, double step, double *out)
{
    double sum = 0.0;
    fm_balance_move(s, s->statics->now, v, step, s->statics->probe);
    fm_stops_hold(s, 1);
    fm_accelerations(s, s->clock[FM_TIME], s->statics->probe, out);
    fm_stops_hold(s, 0);
    for (int32_t u = 0; u < s->image.n.speeds; u++) out[u] /= fm_balance_unit(s, u), sum += fabs(out[u]);
    return isfinite(sum);
}

/* out = M^-1 K v at statics.now, with steps of h times v. 0: it is not finite. */
static int along(fm_instance *s, double h, const double *v, double *out)
{
    double *back = s->statics->back;
    const int fits = rates_at(s, v, h, out) && rates_at(s, v, -h, back);
    for (int32_t u = 0; u < s->image.n.speeds; u++) out[u] = (back[u] - out[u]) / (2.0 * h);
    return fits && fm_balance_allow(s, s->statics->now, out);
}

/* M^-1 K v at statics.now during a search, by differences of this step, in radians and lengths of the model. 0: it is
 * not finite. */
int fm_tangent_along(fm_instance *s, double step, const double *v, double *out)
{
    const double h = step / fm_largest(v, s->image.n.speeds);
    return h > 0.0 && isfinite(h) && along(s, h, v, out);
}

/* out = M^-1 K direction in the motions that the loops allow, K the tangent stiffness, by central differences. */
fm_status fm_do_tangent(fm_instance *s, double step, const double *direction, double *out)
{
    const int32_t n = s->image.n.speeds;
    double *v = s->statics->change;
    if (begin(s) != FM_OK) return FM_ERROR;
    for (int32_t u = 0; u < n; u++) v[u] = direction[u] / fm_balance_unit(s, u);
    const double h = step / fm_largest(v, n);
    memset(out, 0, (size_t)n * sizeof *out);
    if (!(h > 0.0 && isfinite(h))) return end(s, fm_largest(v, n) == 0.0);
    const int fits = along(s, h, v, out);
    for (int32_t u = 0; u < n; u++) out[u] *= fm_balance_unit(s, u);
    return end(s, fits);
}

/* What the tangent depends on: the time, and the state without the clock. */
static uint64_t state_key(const fm_instance *s)
{
    const size_t clock = (size_t)(s->y - s->state);
    return fm_checksum(s->y, (s->model.state_doubles - clock) * sizeof(double)) ^
           fm_checksum(s->clock + FM_TIME, sizeof(double));
}

/* fm_balance_place at statics.now, with the matrix of the last product if nothing has changed since. */
static int place_again(fm_instance *s, uint64_t key)
{
    const int same = s->statics->factored && s->statics->key == key;
    const int fits = fm_balance_place(s, s->statics->now);
    s->statics->factored = same, s->statics->key = key;
    return fits;
}

/* out = K^-1 M direction, for a direction that the loops allow, from a system that is solved without a matrix. */
fm_status fm_do_flexibility(fm_instance *s, const double *direction, double *out)
{
    const int32_t n = s->image.n.speeds;
    double *v = s->statics->change, *right = s->statics->simplified;
    const uint64_t key = state_key(s);
    if (begin(s) != FM_OK) return FM_ERROR;
    int fits = 1, solved = 0;
    for (int way = 0; way < 2 && fits && !solved; way++) {
        if (way == 1) s->statics->time *= FM_LONGER_TIME;
        fits = place_again(s, key);
        for (int32_t u = 0; u < n; u++) v[u] = direction[u] / fm_balance_unit(s, u);
        fits = fits && fm_balance_allow(s, s->statics->now, v) && fm_balance_inertia(s, v, right) &&
               fm_balance_allow(s, s->statics->now, right);
        fits = fits && fm_krylov(s, 0.0, right, FM_WANTED_RESIDUAL, -1e-14, v);
        solved = s->statics->unsolved <= FM_MOST_RESIDUAL * fm_norm(right, n);
    }
    const double squared = s->statics->time * s->statics->time;
    for (int32_t u = 0; u < n; u++) out[u] = fits ? squared * v[u] * fm_balance_unit(s, u) : 0.0;
    const fm_status status = end(s, fits);
    return status != FM_OK || solved
               ? status
               : fm_say(s, FM_ERROR,
                        "the linear system of the stiffness does not converge: stiffnesses are too different");
}
