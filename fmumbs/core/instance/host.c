/* host.c: the core's floating-point mode in a public call, and the host's question whether a step shall end. */
#include "host.h"

#include "../maths/float_mode.h"
#include "instance.h"

void fm_enter(fm_instance *s)
{
    s->host_mode = fm_float_enter();
}

fm_status fm_leave(const fm_instance *s, fm_status status)
{
    fm_float_leave(s->host_mode);
    return status;
}

/* Whether the host wants the step under way to end; asked in its own mode, which it may change. */
int fm_ask_host(fm_instance *s)
{
    fm_float_leave(s->host_mode);
    const int ends = s->interrupt_wanted(s->host) != 0;
    fm_enter(s);
    return ends;
}
