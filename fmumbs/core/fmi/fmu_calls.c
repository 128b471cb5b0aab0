/* fmu_calls.c: what computes itself, in the core's floating-point mode.
 *
 * The work is done by functions in other files, so that the compiler cannot move operations out of the mode. What
 * passes numbers on to the core needs no mode: the core enters its own (float_mode.h).
 */
#include "fmu.h"

fmu_status fmu_set_up(fmu_component *c, int with_tolerance, double tolerance, double start, int with_stop, double stop)
{
    (void)fm_float_enter();
    const fmu_status status = fmu_do_set_up(c, with_tolerance, tolerance, start, with_stop, stop);
    fm_float_leave(c->mode);
    return status;
}

fmu_status fmu_start(fmu_component *c)
{
    (void)fm_float_enter();
    const fmu_status status = fmu_do_start(c);
    fm_float_leave(c->mode);
    return status;
}

fmu_status fmu_step(fmu_component *c, double from, double step)
{
    (void)fm_float_enter();
    const fmu_status status = fmu_do_step(c, from, step);
    fm_float_leave(c->mode);
    return status;
}
