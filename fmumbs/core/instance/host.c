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
