/* inputs.c: inputs during a step, in which they may have derivatives. */
#include "inputs.h"

#include "../instance/instance.h"

#include <string.h>

/* Inputs at time t: their values plus, if the present step has them, their Taylor terms from its start. */
const double *fm_inputs_at(fm_instance *s, double t, const double *value, const double *taylor, int32_t count,
                           double *now)
{
    if (s->clock[FM_TAYLOR_ON] == 0.0) return value;
    double x = t - s->clock[FM_TIME];
    for (int32_t i = 0; i < count; i++) {
        const double *d = taylor + FM_TAYLOR * i;
        now[i] = value[i] + x * (d[0] + x * (d[1] / 2.0 + x * (d[2] / 6.0)));
    }
    return now;
}

/* The inputs at time t of actuators, and that load or scale friction and laws, in work.control. */
void fm_controls_at(fm_instance *s, double t)
{
    const int32_t count = s->image.n.controls;
    if (count == 0) return;
    const double *now = fm_inputs_at(s, t, s->control, s->control_taylor, count,
                                     s->work.input + s->image.n.modes + 6 * s->image.n.loads);
    memcpy(s->work.control, now, (size_t)count * sizeof *now);
}
