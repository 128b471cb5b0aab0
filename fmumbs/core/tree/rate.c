/* rate.c: how fast a mechanism moves [1/s], beside which velocities, times and trial forces count: no unit is built in.
 *
 * With 1 rad and the model's length L for the coordinates, velocities have a rate, and accelerations its square. The rate of a
 * run is sqrt(g / L), that of a fall. Without gravity it is the largest one of accelerations, of which a former one counts as
 * long as it lasts: 1/rate grows by no more than the time that passes.
 */
#include "rate.h"

#include "../instance/instance.h"
#include "../maths/vectors.h"

#include <math.h>

/* The largest of a vector of velocities or accelerations, in units of 1 rad or the model's length; without the
 * targets of programs for these. */
double fm_fastest(const fm_instance *s, const double *u)
{
    const double *unit = s->scale + s->image.n.positions;
    const int32_t *order = s->order + s->image.n.positions;
    double most = 0.0;
    for (int32_t i = 0; i < s->image.n.speeds; i++)
        if (order[i] == 1) most = fmax(most, fabs(u[i]) / unit[i]);
    return most;
}

/* That of a fall over the model's length. */
static double falling(const fm_instance *s)
{
    return sqrt(sqrt(dot(s->gravity, s->gravity)) / s->image.length[0]);
}

/* The rate of the velocities u, of a fall at least. */
double fm_rate_of(const fm_instance *s, const double *u)
{
    return fmax(falling(s), fm_fastest(s, u));
}

/* Adds the accelerations of a slope to the rate of the run, after a step of h. */
void fm_note_rate(fm_instance *s, const double *slope, double h)
{
    const double fall = falling(s), before = s->clock[FM_RATE];
    s->clock[FM_RATE] = fall > 0.0 ? fall : fmax(before / (1.0 + before * h), sqrt(fm_fastest(s, slope + s->image.n.positions)));
}

/* A time in which the mechanism moves, solver.step if nothing does. */
double fm_trial_time(const fm_instance *s)
{
    return s->clock[FM_RATE] > 0.0 ? 1.0 / s->clock[FM_RATE] : s->options[FM_OPTION_STEP];
}

/* A force of the size of those that move the mechanism. */
double fm_trial_force(const fm_instance *s)
{
    const double time = fm_trial_time(s);
    return s->model.mass * s->image.length[0] / (time * time);
}
