/* law_rates.c: the rates of the velocities of laws that stick, and what a force of one of them adds to those. */
#include "law_rates.h"

#include "../instance/instance.h"
#include "../tree/rate.h"
#include "../tree/kinematics.h"
#include "../tree/planar.h"
#include "../forces/laws.h"

#include <math.h>

/* The second time derivative of a spring's length, from the results of the sweeps. */
double fm_line_acceleration(const fm_instance *s, int32_t spring)
{
    const fm_image *m = &s->image;
    const int32_t P = m->spring_P[spring], Q = m->spring_Q[spring];
    double rP[3], vP[3], aP[3], rQ[3], vQ[3], aQ[3], direction[3], rate, along = 0.0, square = 0.0;
    const double length = fm_spring_line(s, spring, direction, &rate);
    fm_point_place(s, P, rP, vP);
    fm_point_place(s, Q, rQ, vQ);
    fm_acceleration(s, m->point_link[P], m->point_r + 3 * P, aP);
    fm_acceleration(s, m->point_link[Q], m->point_r + 3 * Q, aQ);
    for (int j = 0; j < 3; j++) {
        along += direction[j] * (aQ[j] - aP[j]);
        square += (vQ[j] - vP[j]) * (vQ[j] - vP[j]);
    }
    return length > 0.0 ? along + (square - rate * rate) / length : 0.0;
}

/* The rate of the velocity of a law on joints. */
double fm_law_mode_rate(const fm_instance *s, int32_t law, const double *udot)
{
    const int32_t gear = s->image.law_gear[law];
    const double rate = udot[s->image.law_u[law]];
    return gear >= 0 ? rate - s->gear_ratio[gear] * udot[s->image.gear_u[gear]] : rate;
}

/* One evaluation; also the rates of the velocities of the listed laws. */
void fm_law_rates(fm_instance *s, const fm_evaluation *how, int32_t count, double *rates, double *udot)
{
    how->make(s, how, udot);
    int lines = 0;
    for (int32_t i = 0; i < count; i++) lines |= s->image.law_spring[s->laws.held[i]] >= 0;
    if (lines) fm_planar_expand(s);
    for (int32_t i = 0; i < count; i++) {
        const int32_t law = s->laws.held[i], spring = s->image.law_spring[law];
        rates[i] = spring >= 0 ? fm_line_acceleration(s, spring) : fm_law_mode_rate(s, law, udot);
    }
}

/* The sign with which a law's force drives its velocity: a spring's force reduces its length. */
double fm_law_along(const fm_instance *s, int32_t law, double force)
{
    return s->image.law_spring[law] >= 0 ? -force : force;
}

/* The magnitude of a law's force, for a unit of trial force. */
double fm_law_trial(const fm_instance *s, int32_t law)
{
    double size = 0.0;
    for (int32_t i = s->image.law_first[law]; i < s->image.law_first[law] + s->image.law_count[law]; i++)
        size = fabs(s->image.law_polynomial[FM_LAW_TERMS * i]) > size ? fabs(s->image.law_polynomial[FM_LAW_TERMS * i])
                                                                      : size;
    if (size > 0.0 && size < 1e100) return size;
    const int slides = s->image.law_spring[law] >= 0 || s->image.mode_linear[s->image.law_u[law]];
    return fm_trial_force(s) * (slides ? 1.0 : s->image.length[0]);
}

/* The rates that a unit force of listed law i adds to those of the others, `without`; returns its own. */
double fm_law_response(fm_instance *s, const fm_evaluation *how, int32_t count, int32_t i, double *rates, double *udot,
                       const double *without)
{
    const int32_t law = s->laws.held[i];
    const double force = fm_law_trial(s, law);
    s->laws.force[law] = fm_law_along(s, law, force);
    fm_law_rates(s, how, count, rates, udot);
    s->laws.force[law] = 0.0;
    for (int32_t j = 0; j < count; j++) rates[j] = (rates[j] - without[j]) / force;
    return rates[i];
}
