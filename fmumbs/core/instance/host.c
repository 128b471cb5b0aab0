/* host.c: enters and leaves the core's floating-point mode in a public call; asks the host whether to stop a step. */
#include "host.h"

#include "../maths/float_mode.h"
#include "instance.h"

void fm_enter(fm_instance *s)
{
    s->host.mode = fm_float_enter();
    s->host.stopped = 0;
}

fm_status fm_leave(const fm_instance *s, fm_status status)
{
    fm_float_leave(s->host.mode);
    return status;
}

/* Whether the host wants to stop the present step. The callback runs in the host's floating-point mode, which it may
 * change. */
int fm_ask_host(fm_instance *s)
{
    fm_float_leave(s->host.mode);
    const int ends = s->host.wanted(s->host.data) != 0;
    s->host.mode = fm_float_enter();
    return ends;
}

/* Whether the host sees the ends of integration steps. Inputs with derivatives count time from the start of an fm_step,
 * so that it sees none of one with them. */
int fm_is_watched(const fm_instance *s)
{
    return s->host.step_ended != NULL && s->clock[FM_TAYLOR_ON] == 0.0;
}

/* Shows the host the present time and state within a step to `end`, where it may read values, in its floating-point
 * mode. Returns when the step is to end: not before the present time, nor after `end`. */
double fm_show_host(fm_instance *s, double end, int event)
{
    const double evaluations = s->work.evaluations;
    fm_float_leave(s->host.mode);
    const double wanted = s->host.step_ended(s->host.watching, end, event);
    s->host.mode = fm_float_enter();
    s->work.evaluations = evaluations;
    if (!(wanted < end)) return end;
    return wanted > s->clock[FM_TIME] ? wanted : s->clock[FM_TIME];
}
