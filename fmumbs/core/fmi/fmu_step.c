/* fmu_step.c: a step.
 *
 * It ends at the communication point plus the step size as the importer computes it, so that the instance's clock
 * follows the importer's and round-off does not accumulate. Times may differ by 1e-6 of the step and 16 ulp of the
 * time. A step that is lost in that round-off changes nothing.
 *
 * Inputs that the importer sets in an intermediate update hold from its time on: the core's step ends there, and
 * another one goes on from there.
 */
#include "fmu.h"

#include <float.h>
#include <math.h>

static double time_tolerance(double time, double step)
{
    return 1e-6 * step + 16.0 * DBL_EPSILON * fabs(time);
}

static fmu_status check_step(fmu_component *c, double from, double step)
{
    double now = fm_time(c->core), tolerance;
    if (!isfinite(from) || !isfinite(step))
        return fmu_say(c, FMU_ERROR, "the step from %g s by %g s is not finite", from, step);
    tolerance = time_tolerance(from, step);
    if (step <= 0.0) return fmu_say(c, FMU_ERROR, "the step size %g s is not positive", step);
    if (fabs(from - now) > tolerance) {
        return fmu_say(c, FMU_ERROR,
                       "the communication point %.12g s is not the time of the instance, "
                       "%.12g s (off by %.3g s); continue from there or set a saved state",
                       from, now, from - now);
    }
    if (c->experiment.stop_defined && from + step > c->experiment.stop + tolerance) {
        return fmu_say(c, FMU_ERROR, "the step from %.12g s by %.12g s passes the stop time %.12g s by %.3g s", from,
                       step, c->experiment.stop, from + step - c->experiment.stop);
    }
    return FMU_OK;
}

/* Shows the importer the end of an integration step, in its floating-point mode. Returns when the core's step is to
 * end. */
static double show(void *component, double end, int event)
{
    fmu_component *c = component;
    const char *call = c->call;
    const int32_t phase = c->experiment.phase;
    const fm_float_mode mode = fm_float_read();
    c->experiment.phase = FMU_INTERMEDIATE;
    c->changed = 0;
    fm_float_leave(c->mode);
    const double asked = c->host.version->step_ended(c, end, event);
    fm_float_leave(mode);
    if (asked < c->goal) c->goal = asked; /* an importer may ask for an end behind that of the step */
    c->experiment.phase = phase;
    c->call = call;
    return c->changed ? fm_time(c->core) : c->goal;
}

/* The core's steps to the goal. */
static fm_status step_to_goal(fmu_component *c)
{
    for (;;) {
        const fm_status status = fm_step(c->core, c->goal);
        if (status != FM_OK || !c->changed || !(fm_time(c->core) < c->goal)) return status;
    }
}

fmu_status fmu_do_step(fmu_component *c, double from, double step)
{
    fmu_status status = check_step(c, from, step);
    if (status != FMU_OK) return status;
    c->at_event = 0;
    c->goal = from + step;
    if (c->host.update || (c->host.events && c->host.early)) fm_watch(c->core, show, c);
    status = c->goal > fm_time(c->core) ? fmu_answer(c, step_to_goal(c)) : FMU_OK;
    fm_watch(c->core, NULL, NULL);
    if (status == FMU_ERROR) return status;
    fmu_tell_ranges(c);
    c->experiment.phase = status == FMU_OK ? FMU_STEP_COMPLETE : FMU_STEP_FAILED;
    c->experiment.last_step = (int32_t)status;
    return status;
}
