/* rate.c: how fast a mechanism moves. */
#include "rate.h"

#include "../instance/instance.h"

#include <math.h>

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
