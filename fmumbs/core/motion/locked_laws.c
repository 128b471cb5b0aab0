/* locked_laws.c: force laws whose velocities the tree, loops or programs fix, so that no force of theirs changes the
 * motion.
 *
 * Of such a law the diagonal of A = J M^-1 J' (sticking.c) is round-off: what is divided by it would be noise. Where
 * loops or programs fix it, it is round-off of A0, the same without them, from evaluations without multipliers; where
 * it is not small beside what the two bodies alone would allow, they are not needed. The tree itself fixes the length
 * of a spring to a point on the axis of a hinge, say: then A is round-off of all accelerations that a force of the
 * law's size leaves. A law that is locked at rest exerts the least force of its range, which is a choice: any other one
 * changes the reactions only. Where its velocity is made to leave the bound, as by a program, it slides.
 */
#include "locked_laws.h"

#include "../instance/instance.h"
#include "../forces/laws.h"
#include "../tree/rate.h"
#include "law_rates.h"
#include "mobility.h"

#include <math.h>
#include <string.h>

#define FM_ROUND_OFF_RATE 1e-12 /* of the mechanism's largest acceleration, in rad or lengths: round-off in a rate */
#define FM_LOCKED 1e-10 /* of A0: below it, a law's velocity is fixed */
#define FM_SUSPECTED 1e-4 /* of the mobility of the bodies alone, which is at least A0 */
/* of the mechanism's largest acceleration, in rad or lengths: a smaller one is round-off */
#define FM_RESTING_RATE 1e-9

/* At least the diagonal of A0 of a law. */
static double most_mobile(const fm_instance *s, int32_t law)
{
    const fm_image *m = &s->image;
    const int32_t spring = m->law_spring[law], u = m->law_u[law];
    if (spring >= 0) {
        const int32_t P = m->spring_P[spring], Q = m->spring_Q[spring];
        return fm_most_mobile_at(s, m->point_link[P], m->point_r + 3 * P, 1) +
               fm_most_mobile_at(s, m->point_link[Q], m->point_r + 3 * Q, 1);
    }
    for (int32_t j = 0; j < m->n.joints; j++)
        if (u >= m->joint_u[j] && u < m->joint_u[j] + m->joint_nu[j])
            return fm_most_mobile_at(s, m->joint_F_link[j], m->joint_F_r + 3 * j, m->mode_linear[u]) +
                   fm_most_mobile_at(s, m->joint_M_link[j], m->joint_M_r + 3 * j, m->mode_linear[u]);
    return INFINITY;
}

/* The diagonals of A0 of the suspected laws, in laws.free; returns the largest acceleration without multipliers. */
static double find_free(fm_instance *s, const fm_evaluation *how, int32_t n, double *udot)
{
    const int32_t used = s->reduced.used, worn = s->loop.worn, near_singular = s->loop.near_singular;
    double *rates = s->laws.x;
    s->reduced.used = 0;
    s->loop.multipliers = FM_NO_MULTIPLIERS;
    fm_law_rates(s, how, n, s->laws.aim, udot);
    const double most = fm_fastest(s, udot);
    for (int32_t i = 0; i < n; i++) {
        if (s->laws.free[i] >= 0.0) s->laws.free[i] = fm_law_response(s, how, n, i, rates, udot, s->laws.aim);
    }
    s->loop.multipliers = FM_OWN_MULTIPLIERS;
    s->reduced.used = used;
    s->loop.worn = worn, s->loop.near_singular = near_singular;
    return most;
}

/* Whether the trial force of a law changes its own rate by round-off alone. */
static int does_nothing(const fm_instance *s, int32_t n, int32_t i, double before)
{
    const int32_t law = s->laws.held[i];
    return s->laws.A[i * n + i] * fm_law_trial(s, law) <=
           FM_ROUND_OFF_RATE * fmax(before, s->laws.moved[i]) * fm_law_unit(s, law);
}

/* Locks a law with the rate a, at rest if that is at most `rest`, and has it leave A. */
static void lock(fm_instance *s, int32_t n, int32_t i, double rest)
{
    const double a = s->laws.a[i];
    s->laws.locked[i] = fabs(a) <= rest * fm_law_unit(s, s->laws.held[i]) ? FM_LOCKED_AT_REST
                        : a > 0.0                                         ? FM_LOCKED_RISING
                                                                          : FM_LOCKED_FALLING;
    for (int32_t j = 0; j < n; j++) s->laws.A[i * n + j] = s->laws.A[j * n + i] = 0.0;
}

/* Which of the n listed laws are locked, in laws.locked, with zeros in their rows and columns of A; `udot`: the
 * accelerations without forces of these laws, which are overwritten. Requires a and A. */
void fm_find_locked_laws(fm_instance *s, const fm_evaluation *how, int32_t n, double *udot)
{
    const fm_image *m = &s->image;
    const double *A = s->laws.A, before = fm_fastest(s, udot);
    int any = 0;
    for (int32_t i = 0; i < n; i++) {
        s->laws.locked[i] = FM_NOT_LOCKED;
        s->laws.free[i] = -1.0;
        if (A[i * n + i] > FM_SUSPECTED * most_mobile(s, s->laws.held[i])) continue;
        if (m->n.rows + m->n.excitations > 0) s->laws.free[i] = 0.0, any = 1;
        else if (does_nothing(s, n, i, before)) lock(s, n, i, FM_RESTING_RATE * before);
    }
    if (!any) return;
    const double rest = FM_RESTING_RATE * fmax(before, find_free(s, how, n, udot));
    for (int32_t i = 0; i < n; i++)
        if (s->laws.free[i] >= 0.0 && (A[i * n + i] <= FM_LOCKED * s->laws.free[i] || does_nothing(s, n, i, before)))
            lock(s, n, i, rest);
}

/* The force of a locked law in its range: the least one at rest or without an end there, else that of sliding to the
 * side to which it is moved. */
double fm_locked_force(const fm_instance *s, int32_t i)
{
    const double *range = s->laws.range + 2 * i;
    if (s->laws.locked[i] == FM_LOCKED_RISING && isfinite(range[0])) return range[0];
    if (s->laws.locked[i] == FM_LOCKED_FALLING && isfinite(range[1])) return range[1];
    return range[0] > 0.0 ? range[0] : range[1] < 0.0 ? range[1] : 0.0;
}
