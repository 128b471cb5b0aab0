/* descent.c: from the present positions down to a stable equilibrium near them, by pseudo-transient continuation (C. T.
 * Kelley, D. E. Keyes, SIAM J. Numer. Anal. 35 (1998) 508).
 *
 *     (mu - dF/dq) d = F
 * is an implicit Euler step of dq/dt = F, the motion of the mechanism in a viscous medium, of length 1/mu; it lengthens
 * as F falls. A step is taken only if it leads down as that motion does: if mu - dF/dq has no eigenvalue to the left of
 * zero, since along the eigenvector of one a step would climb to a ridge; and if the forces do work along it, at its
 * beginning and on the whole. Otherwise mu grows. A step ends where it comes to a stop with a restitution (stops.c). So
 * the descent stays in the valley where it begins, and ends where F is so small that Newton's method ends there.
 */
#include "descent.h"

#include "../instance/instance.h"
#include "../motion/evaluation.h"
#include "../outputs/energy.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "balance.h"
#include "krylov.h"
#include "scratch.h"
#include "stops.h"

#include <math.h>
#include <string.h>

#define FM_LONGEST_STEP 0.5   /* [rad], or lengths: largest step of a coordinate */
#define FM_MOST_DESCENTS 1000
#define FM_ROUGHLY 1e-3       /* relative tolerance of the linear systems */
#define FM_ARRIVED_STEP 1e-4  /* [rad], or lengths: longest step of a descent that has arrived */
#define FM_FIRST_DAMPING 10.0 /* mu over F at first */
#define FM_DAMPING_FACTOR 4.0 /* times mu, after a step that is refused */

/* The work of the forces at y along a displacement, over some positive number. By kinetic energies, of which M makes
 * the product: T(a + d) - T(a - d) = 2 a' M d, where the potential drops out. */
static double work_along(fm_instance *s, const double *y, const double *d)
{
    const int32_t np = s->image.n.positions, nu = s->image.n.speeds;
    double *a = s->statics->rate, energy[2], most = 0.0;
    fm_accelerations(s, s->clock[FM_TIME], y, a);
    for (int32_t u = 0; u < nu; u++) most = fmax(most, fabs(a[u]) / fm_balance_unit(s, u));
    const double far = fm_largest(d, nu), fast = 1.0 / s->statics->time;
    if (!(most > 0.0 && far > 0.0)) return 0.0;
    memcpy(s->y, y, (size_t)s->model.ny * sizeof *y);
    for (int way = 0; way < 2; way++) {
        for (int32_t u = 0; u < nu; u++)
            s->y[np + u] = fast * (a[u] / most + (way == 0 ? d[u] : -d[u]) * fm_balance_unit(s, u) / far);
        for (int32_t i = 0; i < s->image.n.excitations; i++) s->y[np + s->image.excitation_u[i]] = 0.0;
        s->planar.is_placed = 0;
        fm_run_orientations(s, s->y);
        fm_make_world(s, s->y);
        energy[way] = fm_energy(s);
    }
    return (energy[0] - energy[1]) * most;
}

/* One step from statics.now, at most as long as allowed, to statics.next. Returns 0, or by which factor mu has to grow.
 */
static double step(fm_instance *s, double mu, double *longest)
{
    const double *d = s->statics->change;
    if (!fm_krylov(s, mu, s->statics->F, FM_ROUGHLY, 0.0, s->statics->change)) return FM_DAMPING_FACTOR;
    const double curvature = fm_krylov_curvature(s, mu);
    /* twice the least eigenvalue */
    if (!(curvature > 0.0)) return fmax(FM_DAMPING_FACTOR, 2.0 * (1.0 - curvature / mu));
    *longest = fm_largest(d, s->image.n.speeds);
    if (!(*longest <= FM_LONGEST_STEP)) return FM_DAMPING_FACTOR;
    fm_balance_move(s, s->statics->now, d, 1.0, s->statics->next);
    const double room = fm_stops_room(s, s->statics->now, s->statics->next);
    if (room < 1.0) fm_balance_move(s, s->statics->now, d, room, s->statics->next);
    if (!fm_balance_close(s, s->statics->next)) return FM_DAMPING_FACTOR;
    const double first = work_along(s, s->statics->now, d), last = work_along(s, s->statics->next, d);
    return first > 0.0 && first + last >= 0.0 ? 0.0 : FM_DAMPING_FACTOR;
}

/* Descends from statics.now. 0: it does not arrive. */
int fm_descend(fm_instance *s)
{
    const int32_t n = s->image.n.speeds;
    if (!fm_balance_place(s, s->statics->now)) return 0;
    double before = fm_norm(s->statics->F, n), mu = FM_FIRST_DAMPING * before;
    if (before == 0.0) return 1;
    for (int i = 0; i < FM_MOST_DESCENTS && !fm_balance_exhausted(s); i++) {
        double longest = 0.0;
        const double grows = step(s, mu, &longest);
        if (grows > 0.0) {
            mu *= grows;
            if (!isfinite(mu) || !fm_balance_close(s, s->statics->now) || !fm_balance_place(s, s->statics->now))
                return 0;
            continue;
        }
        memcpy(s->statics->now, s->statics->next, (size_t)s->model.ny * sizeof(double));
        if (longest < FM_ARRIVED_STEP && mu < 1e-3) return 1;
        if (!fm_balance_place(s, s->statics->now)) return 0;
        const double after = fm_norm(s->statics->F, n), rate = before > 0.0 ? after / before : 0.0;
        if (s->statics->by_matrix)
            mu *= longest < 0.5 * FM_LONGEST_STEP ? 0.2 : 1.0; /* the tangent is exact: as long as it leads */
        else mu *= rate < 0.2 ? 0.2 : rate > 2.0 ? 2.0 : rate;
        /* what landed with short steps goes on with longer ones */
        if (s->image.n.spots > 0 && mu > FM_FIRST_DAMPING * after) mu /= FM_DAMPING_FACTOR;
        before = after;
    }
    return 0;
}
