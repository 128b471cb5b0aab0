/* fmi2_calls.c: the FMI 2.0 functions that compute themselves, in the core's floating-point mode.
 *
 * Their work is done by functions in other files, so that the compiler cannot move operations out of the mode. What
 * passes numbers on to the core needs no mode: the core enters its own (float_mode.h).
 */
#include "fmi2_component.h"

fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean toleranceDefined, fmi2Real tolerance,
                               fmi2Real startTime, fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    fmu_component *c = fmu_begin(component, FMU_SETUP_EXPERIMENT);
    if (!c) return fmi2Error;
    (void)fm_float_enter();
    const fmi2Status status = fmu_set_up(c, toleranceDefined != fmi2False, tolerance, startTime, stopTimeDefined != fmi2False,
                                         stopTime);
    fm_float_leave(c->host);
    return status;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component component)
{
    fmu_component *c = fmu_begin(component, FMU_EXIT_INITIALIZATION);
    if (!c) return fmi2Error;
    (void)fm_float_enter();
    const fmi2Status status = fmu_start(c);
    fm_float_leave(c->host);
    return status;
}

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    fmu_component *c = fmu_begin(component, FMU_DO_STEP);
    (void)noSetFMUStatePriorToCurrentPoint;
    if (!c) return fmi2Error;
    (void)fm_float_enter();
    const fmi2Status status = fmu_step(c, currentCommunicationPoint, communicationStepSize);
    fm_float_leave(c->host);
    return status;
}
