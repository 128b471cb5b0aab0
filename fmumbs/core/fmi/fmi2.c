/* fmi2.c: the functions of FMI 2.0: its types, names and statuses over fmu.h.
 *
 * canNotUseMemoryManagementFunctions is true: the importer's memory functions are never called.
 */
#include "fmi2Functions.h"
#include "fmu.h"

#include <float.h>

#define FITS(name, condition) typedef char fmi2_##name[(condition) ? 1 : -1]
FITS(references_are_uint32, sizeof(fmi2ValueReference) == sizeof(uint32_t));
FITS(integers_are_int32, sizeof(fmi2Integer) == sizeof(int32_t) && sizeof(fmi2Boolean) == sizeof(int32_t));
FITS(statuses_are_numbered_alike, (int)fmi2OK == (int)FMU_OK && (int)fmi2Warning == (int)FMU_WARNING &&
                                      (int)fmi2Discard == (int)FMU_DISCARD && (int)fmi2Error == (int)FMU_ERROR);
FITS(kinds_are_numbered_alike,
     (int)fmi2ModelExchange == (int)FMU_MODEL_EXCHANGE && (int)fmi2CoSimulation == (int)FMU_CO_SIMULATION);

/* A call that is allowed in these phases: `work` on the component c. */
#define CALL(name, phases, work)                                                                                       \
    fmu_component *c = fmu_begin(component, name, phases);                                                             \
    return c ? (fmi2Status)(work) : fmi2Error

/* The logger interprets '%' as a format and '#' as a value reference; both are doubled. */
static void escape(char *to, size_t capacity, const char *from)
{
    size_t n = 0;
    for (; *from && n + 2 < capacity; from++) {
        if (*from == '%' || *from == '#') to[n++] = *from;
        to[n++] = *from;
    }
    to[n] = '\0';
}

static void log_message(const fmu_host *host, const char *name, fmu_status status, const char *category,
                        const char *text)
{
    char escaped[2 * FMU_MESSAGE];
    escape(escaped, sizeof escaped, text);
    ((fmi2CallbackLogger)host->logger)(host->environment, name, (fmi2Status)status, category, escaped);
}

static const fmu_version FMI2 = {
    "fmi2",
    "GUID",
    "fmi2ModelExchange or fmi2CoSimulation",
    "FMUstate",
    "fmi2SetFMUstate",
    {"Real", "Integer", "Boolean"},
    log_message,
    NULL,
    NULL,
};

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

/* Life cycle -------------------------------------------------------------------------------------------- */

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn)
{
    fmu_host host = {&FMI2, NULL, NULL, NULL, 0, 0};
    (void)visible;
    if (functions) {
        host.logger = (void (*)(void))functions->logger;
        host.environment = functions->componentEnvironment;
    }
    return fmu_open(&host, instanceName, (fmu_kind)fmuType, fmuGUID, fmuResourceLocation, loggingOn != fmi2False);
}

void fmi2FreeInstance(fmi2Component component)
{
    fmu_close(component);
}

fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean loggingOn, size_t nCategories,
                               const fmi2String categories[])
{
    CALL("SetDebugLogging", FMU_OUTSIDE_STEPS, fmu_set_logging(c, loggingOn != fmi2False, nCategories, categories));
}

fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean toleranceDefined, fmi2Real tolerance,
                               fmi2Real startTime, fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    CALL("SetupExperiment", FMU_INSTANTIATED,
         fmu_set_up(c, toleranceDefined != fmi2False, tolerance, startTime, stopTimeDefined != fmi2False, stopTime));
}

fmi2Status fmi2EnterInitializationMode(fmi2Component component)
{
    CALL("EnterInitializationMode", FMU_INSTANTIATED, fmu_enter_initialization(c));
}

fmi2Status fmi2ExitInitializationMode(fmi2Component component)
{
    CALL("ExitInitializationMode", FMU_INITIALIZATION, fmu_start(c));
}

fmi2Status fmi2Terminate(fmi2Component component)
{
    CALL("Terminate", FMU_RUNNING, fmu_terminate(c));
}

fmi2Status fmi2Reset(fmi2Component component)
{
    CALL("Reset", FMU_OUTSIDE_STEPS, fmu_reset(c));
}

/* Values ------------------------------------------------------------------------------------------------ */

fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[])
{
    CALL("GetReal", FMU_MAY_GET, fmu_get_real(c, vr, nvr, value));
}

fmi2Status fmi2GetInteger(fmi2Component component, const fmi2ValueReference vr[], size_t nvr, fmi2Integer value[])
{
    CALL("GetInteger", FMU_MAY_GET, fmu_get_whole(c, FM_INTEGER, vr, nvr, value));
}

fmi2Status fmi2GetBoolean(fmi2Component component, const fmi2ValueReference vr[], size_t nvr, fmi2Boolean value[])
{
    CALL("GetBoolean", FMU_MAY_GET, fmu_get_whole(c, FM_BOOLEAN, vr, nvr, value));
}

fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference vr[], size_t nvr, fmi2String value[])
{
    (void)vr, (void)value;
    CALL("GetString", FMU_MAY_GET, fmu_no_type(c, nvr, "String"));
}

fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t nvr, const fmi2Real value[])
{
    CALL("SetReal", FMU_MAY_SET, fmu_set_real(c, vr, nvr, value));
}

fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer value[])
{
    CALL("SetInteger", FMU_MAY_SET, fmu_set_whole(c, FM_INTEGER, vr, nvr, value));
}

fmi2Status fmi2SetBoolean(fmi2Component component, const fmi2ValueReference vr[], size_t nvr, const fmi2Boolean value[])
{
    CALL("SetBoolean", FMU_MAY_SET, fmu_set_whole(c, FM_BOOLEAN, vr, nvr, value));
}

fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[])
{
    (void)vr, (void)value;
    CALL("SetString", FMU_MAY_SET, fmu_no_type(c, nvr, "String"));
}

/* Derivatives ------------------------------------------------------------------------------------------- */

fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    CALL("SetRealInputDerivatives", FMU_MAY_SET & ~FMU_HOSTED, fmu_set_input_derivatives(c, vr, nvr, order, value));
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[])
{
    CALL("GetRealOutputDerivatives", FMU_STARTED & ~FMU_HOSTED, fmu_get_output_derivatives(c, vr, nvr, order, value));
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference vUnknown_ref[],
                                        size_t nUnknown, const fmi2ValueReference vKnown_ref[], size_t nKnown,
                                        const fmi2Real dvKnown[], fmi2Real dvUnknown[])
{
    CALL("GetDirectionalDerivative", FMU_MAY_GET,
         fmu_directional_derivative(c, vUnknown_ref, nUnknown, vKnown_ref, nKnown, dvKnown, dvUnknown));
}

/* FMU states -------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *FMUstate)
{
    CALL("GetFMUstate", FMU_OUTSIDE_STEPS, fmu_state_save(c, FMUstate));
}

fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate FMUstate)
{
    CALL("SetFMUstate", FMU_OUTSIDE_STEPS, fmu_state_load(c, FMUstate));
}

fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *FMUstate)
{
    CALL("FreeFMUstate", FMU_OUTSIDE_STEPS, fmu_state_free(c, FMUstate));
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate FMUstate, size_t *size)
{
    CALL("SerializedFMUstateSize", FMU_OUTSIDE_STEPS, fmu_state_size(c, FMUstate, size));
}

fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate FMUstate, fmi2Byte serializedState[],
                                 size_t size)
{
    CALL("SerializeFMUstate", FMU_OUTSIDE_STEPS, fmu_state_write(c, FMUstate, serializedState, size));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte serializedState[], size_t size,
                                   fmi2FMUstate *FMUstate)
{
    CALL("DeSerializeFMUstate", FMU_OUTSIDE_STEPS, fmu_state_read(c, serializedState, size, FMUstate));
}

/* Model Exchange ---------------------------------------------------------------------------------------- */

fmi2Status fmi2EnterEventMode(fmi2Component component)
{
    CALL("EnterEventMode", FMU_HOSTED, fmu_enter_phase(c, FMU_EVENT_MODE));
}

static fmi2Status new_discrete_states(fmu_component *c, fmi2EventInfo *info)
{
    fm_events events;
    const fmu_status status = fmu_update_events(c, info ? &events : NULL);
    if (status != FMU_OK) return (fmi2Status)status;
    info->newDiscreteStatesNeeded = info->terminateSimulation = info->nominalsOfContinuousStatesChanged = fmi2False;
    info->valuesOfContinuousStatesChanged = events.changed ? fmi2True : fmi2False;
    info->nextEventTimeDefined = events.next < DBL_MAX ? fmi2True : fmi2False;
    info->nextEventTime = info->nextEventTimeDefined ? events.next : 0.0;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo *eventInfo)
{
    CALL("NewDiscreteStates", FMU_EVENT_MODE, new_discrete_states(c, eventInfo));
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component component)
{
    CALL("EnterContinuousTimeMode", FMU_EVENT_MODE, fmu_enter_phase(c, FMU_CONTINUOUS_TIME));
}

static fmi2Status completed_step(fmu_component *c, fmi2Boolean *event, fmi2Boolean *terminate)
{
    const fmu_status status = fmu_completed_step(c, terminate ? event : NULL);
    if (status == FMU_OK) *terminate = fmi2False;
    return (fmi2Status)status;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component component, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation)
{
    (void)noSetFMUStatePriorToCurrentPoint;
    CALL("CompletedIntegratorStep", FMU_CONTINUOUS_TIME, completed_step(c, enterEventMode, terminateSimulation));
}

fmi2Status fmi2SetTime(fmi2Component component, fmi2Real time)
{
    CALL("SetTime", FMU_HOSTED, fmu_set_time(c, time));
}

fmi2Status fmi2SetContinuousStates(fmi2Component component, const fmi2Real x[], size_t nx)
{
    CALL("SetContinuousStates", FMU_CONTINUOUS_TIME, fmu_set_states(c, x, nx));
}

fmi2Status fmi2GetDerivatives(fmi2Component component, fmi2Real derivatives[], size_t nx)
{
    CALL("GetDerivatives", FMU_HOSTED, fmu_get_rates(c, derivatives, nx));
}

fmi2Status fmi2GetEventIndicators(fmi2Component component, fmi2Real eventIndicators[], size_t ni)
{
    CALL("GetEventIndicators", FMU_HOSTED, fmu_get_indicators(c, eventIndicators, ni));
}

fmi2Status fmi2GetContinuousStates(fmi2Component component, fmi2Real x[], size_t nx)
{
    CALL("GetContinuousStates", FMU_INITIALIZATION | FMU_HOSTED | FMU_TERMINATED, fmu_get_states(c, x, nx));
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component component, fmi2Real x_nominal[], size_t nx)
{
    CALL("GetNominalsOfContinuousStates", FMU_OUTSIDE_STEPS, fmu_get_nominals(c, x_nominal, nx));
}

/* Steps ------------------------------------------------------------------------------------------------- */

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    (void)noSetFMUStatePriorToCurrentPoint;
    CALL("DoStep", FMU_MAY_STEP, fmu_step(c, currentCommunicationPoint, communicationStepSize));
}

fmi2Status fmi2CancelStep(fmi2Component component)
{
    CALL("CancelStep", FMU_OUTSIDE_STEPS,
         fmu_say(c, FMU_ERROR, "no step is pending; this FMU ends every step before fmi2DoStep returns"));
}

/* Status ------------------------------------------------------------------------------------------------ */

/* Why a status function has no value. No step is ever pending, so fmi2PendingStatus is not supported. */
static fmi2Status no_status(fmu_component *c, fmi2StatusKind kind, const void *value)
{
    if (!c) return fmi2Error;
    if (!value) return (fmi2Status)fmu_say(c, FMU_ERROR, "value is NULL");
    return (fmi2Status)fmu_say(c, FMU_DISCARD,
                               "status kind %d is not supported; supported are fmi2DoStepStatus, "
                               "fmi2LastSuccessfulTime (real) and fmi2Terminated (boolean)",
                               (int)kind);
}

fmi2Status fmi2GetStatus(fmi2Component component, const fmi2StatusKind s, fmi2Status *value)
{
    fmu_component *c = fmu_begin(component, "GetStatus", FMU_STARTED);
    if (!c || !value || s != fmi2DoStepStatus) return no_status(c, s, value);
    *value = (fmi2Status)c->experiment.last_step;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind s, fmi2Real *value)
{
    fmu_component *c = fmu_begin(component, "GetRealStatus", FMU_STARTED);
    if (!c || !value || s != fmi2LastSuccessfulTime) return no_status(c, s, value);
    *value = fm_time(c->core);
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component component, const fmi2StatusKind s, fmi2Integer *value)
{
    return no_status(fmu_begin(component, "GetIntegerStatus", FMU_STARTED), s, value);
}

/* Always false before fmi2Terminate: the instance never asks to stop, and a failed step can be repeated. */
fmi2Status fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind s, fmi2Boolean *value)
{
    fmu_component *c = fmu_begin(component, "GetBooleanStatus", FMU_STARTED);
    if (!c || !value || s != fmi2Terminated) return no_status(c, s, value);
    *value = c->experiment.phase == FMU_TERMINATED ? fmi2True : fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component component, const fmi2StatusKind s, fmi2String *value)
{
    return no_status(fmu_begin(component, "GetStringStatus", FMU_STARTED), s, value);
}
