/* rate.c: how fast a mechanism moves [1/s], beside which velocities, times and trial forces count: no unit is built in.
 *
 * With 1 rad and the model's length L for the coordinates, velocities have a rate, and accelerations its square. The
 * rate of a run is sqrt(g / L), that of a fall, or its largest velocity, of which a former one counts as long as it
 * lasts: 1/rate grows by no more than the time that passes.
 */
#include "rate.h"

#include "../instance/instance.h"
#include "../maths/vectors.h"

#include <math.h>

#define FM_LARGEST_RATE 1e150 /* [1/s]: its square, an acceleration, is finite */

/* In the error of a step, slower velocities count as */
#define FM_OF_FALL 0.25         /* this part of the rate of a fall, */
#define FM_OF_FASTEST 0.015625  /* of that of the run, which leaves joints beside a rotor their accuracy, */
#define FM_OF_STEP 1e-4         /* and of 1 rad or the model's length in the step */

/* Whether a link is the target of a program for velocities or accelerations: its origin is no place. */
int fm_is_rate_target(const fm_instance *s, int32_t link)
{
    const int32_t u = s->link[link].u;
    return u >= 0 && s->order[s->image.n.positions + u] > 1;
}

/* The largest of a vector of velocities or accelerations, in units of 1 rad or the model's length; without the targets
 * of programs for these. */
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

/* The rate beside which a host counts velocities: of a fall, without gravity of the fastest joint, else 1. */
double fm_nominal_rate(const fm_instance *s)
{
    const double fall = falling(s), rate = fall > 0.0 ? fall : fm_fastest(s, s->y + s->image.n.positions);
    return rate > 0.0 && isfinite(rate) ? rate : 1.0;
}

/* Makes the velocities u part of the rate of the run, after a step of h, and of that beside which velocities count. */
void fm_note_rate(fm_instance *s, const double *u, double h)
{
    const double before = s->clock[FM_RATE];
    s->clock[FM_RATE] = fmin(fmax(fm_rate_of(s, u), before / (1.0 + before * h)), FM_LARGEST_RATE);
    s->work.rate = fmax(FM_OF_FALL * falling(s), FM_OF_FASTEST * s->clock[FM_RATE]);
}

/* Makes the rate beside which velocities count that of a step of h, which begins with the slope of the head. */
void fm_begin_rate(fm_instance *s, double h)
{
    const double gained = h * fm_fastest(s, s->slope + s->image.n.positions);
    const double fastest = FM_OF_FASTEST * fmax(s->clock[FM_RATE], gained);
    s->work.rate = fmax(FM_OF_FALL * falling(s), fmax(fastest, FM_OF_STEP / h));
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
