/* fmi2_step.c: the work of fmi2DoStep; its status functions.
 *
 * The step ends at currentCommunicationPoint + communicationStepSize as the importer computes it, so that the
 * instance's clock follows the importer's and round-off does not accumulate. Times may differ by 1e-6 of the step and
 * 16 ulp of the time. A step that is lost in that round-off changes nothing.
 */
#include "fmi2_component.h"

#include <float.h>
#include <math.h>

static double time_tolerance(double time, double step)
{
    return 1e-6 * step + 16.0 * DBL_EPSILON * fabs(time);
}

static fmi2Status check_step(fmu_component *c, double from, double step)
{
    double now = fm_time(c->core), tolerance;
    if (!isfinite(from) || !isfinite(step))
        return fmu_say(c, fmi2Error, "the step from %g s by %g s is not finite", from, step);
    tolerance = time_tolerance(from, step);
    if (step <= 0.0) return fmu_say(c, fmi2Error, "the step size %g s is not positive", step);
    if (fabs(from - now) > tolerance) {
        return fmu_say(c, fmi2Error, "the communication point %.12g s is not the time of the instance, "
                       "%.12g s (off by %.3g s); continue from there or set a saved state", from, now,
                       from - now);
    }
    if (c->experiment.stop_defined && from + step > c->experiment.stop + tolerance) {
        return fmu_say(c, fmi2Error, "the step from %.12g s by %.12g s passes the stop time %.12g s by %.3g s",
                       from, step, c->experiment.stop, from + step - c->experiment.stop);
    }
    return fmi2OK;
}

fmi2Status fmu_step(fmu_component *c, double from, double step)
{
    fmi2Status status = check_step(c, from, step);
    const double end = from + step;
    if (status != fmi2OK) return status;
    status = end > fm_time(c->core) ? fmu_answer(c, fm_step(c->core, end)) : fmi2OK;
    if (status == fmi2Error) return status;
    fmu_tell_deformation(c);
    c->experiment.phase = status == fmi2OK ? FMU_STEP_COMPLETE : FMU_STEP_FAILED;
    c->experiment.last_step = (int32_t)status;
    return status;
}

fmi2Status fmi2CancelStep(fmi2Component component)
{
    (void)fmu_begin(component, FMU_CANCEL_STEP);
    return fmi2Error;
}

/* Status ------------------------------------------------------------------------------------------------- */

/* No step is ever pending, so fmi2PendingStatus is not supported. */
static fmi2Status no_such_status(fmu_component *c, fmi2StatusKind kind)
{
    return fmu_say(c, fmi2Discard, "status kind %d is not supported; supported are fmi2DoStepStatus, "
                   "fmi2LastSuccessfulTime (real) and fmi2Terminated (boolean)", (int)kind);
}

fmi2Status fmi2GetStatus(fmi2Component component, const fmi2StatusKind s, fmi2Status *value)
{
    fmu_component *c = fmu_begin(component, FMU_GET_STATUS);
    if (!c) return fmi2Error;
    if (!value) return fmu_say(c, fmi2Error, "value is NULL");
    if (s != fmi2DoStepStatus) return no_such_status(c, s);
    *value = (fmi2Status)c->experiment.last_step;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind s, fmi2Real *value)
{
    fmu_component *c = fmu_begin(component, FMU_GET_REAL_STATUS);
    if (!c) return fmi2Error;
    if (!value) return fmu_say(c, fmi2Error, "value is NULL");
    if (s != fmi2LastSuccessfulTime) return no_such_status(c, s);
    *value = fm_time(c->core);
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component component, const fmi2StatusKind s, fmi2Integer *value)
{
    fmu_component *c = fmu_begin(component, FMU_GET_INTEGER_STATUS);
    (void)value;
    return c ? no_such_status(c, s) : fmi2Error;
}

/* Always false before fmi2Terminate: the instance never asks to stop, and a failed step can be repeated. */
fmi2Status fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind s, fmi2Boolean *value)
{
    fmu_component *c = fmu_begin(component, FMU_GET_BOOLEAN_STATUS);
    if (!c) return fmi2Error;
    if (!value) return fmu_say(c, fmi2Error, "value is NULL");
    if (s != fmi2Terminated) return no_such_status(c, s);
    *value = c->experiment.phase == FMU_TERMINATED ? fmi2True : fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component component, const fmi2StatusKind s, fmi2String *value)
{
    fmu_component *c = fmu_begin(component, FMU_GET_STRING_STATUS);
    (void)value;
    return c ? no_such_status(c, s) : fmi2Error;
}
