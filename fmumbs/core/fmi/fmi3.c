/* fmi3.c: the functions of FMI 3.0: its types, names and statuses over fmu.h.
 *
 * Variables are scalars, or vectors are arrays, by the instantiation token. There are no structural parameters, no
 * clocks and no strings, so what FMI 3.0 has for these is refused. In Co-Simulation the importer sees the end of each
 * integration step in its intermediate update, where it may set inputs, which hold from then on, and end the step there
 * or at a later time; with event mode a step also ends where a force law or a path goes over to its next piece.
 */
#if defined(__clang__) /* the standard's header declares functions without parameters as f() */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wstrict-prototypes"
#endif
#include "fmi3Functions.h"
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#include "fmu.h"

#include <float.h>

#define FITS(name, condition) typedef char fmi3_##name[(condition) ? 1 : -1]
FITS(statuses_are_numbered_alike, (int)fmi3OK == (int)FMU_OK && (int)fmi3Warning == (int)FMU_WARNING &&
                                      (int)fmi3Discard == (int)FMU_DISCARD && (int)fmi3Error == (int)FMU_ERROR);

/* A call that is allowed in these phases: `work` on the component c. */
#define CALL(name, phases, work)                                                                                       \
    fmu_component *c = fmu_begin(instance, name, phases);                                                              \
    return c ? (fmi3Status)(work) : fmi3Error

static void log_message(const fmu_host *host, const char *name, fmu_status status, const char *category,
                        const char *text)
{
    (void)name;
    ((fmi3LogMessageCallback)host->logger)(host->environment, (fmi3Status)status, category, text);
}

/* The importer's intermediate update at the end of an integration step; when the step is to end. */
static double step_ended(fmu_component *c, double end, int event)
{
    const double now = fm_time(c->core);
    fmi3IntermediateUpdateCallback update = (fmi3IntermediateUpdateCallback)c->host.update;
    fmi3Boolean early = fmi3False;
    fmi3Float64 when = now;
    if (update) update(c->host.environment, now, fmi3True, fmi3True, fmi3True, c->host.early != 0, &early, &when);
    if (!c->host.early) return end;
    c->at_event = event && c->host.events;
    if (c->at_event) return now;
    return early ? when : end;
}

static const fmu_version FMI3 = {
    "fmi3",
    "instantiation token",
    "Co-Simulation or Model Exchange",
    "FMUState",
    "fmi3SetFMUState",
    {"Float64", "Int32", "Boolean"},
    log_message,
    step_ended,
    "/arrays",
};

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[])
{
    CALL("SetDebugLogging", FMU_OUTSIDE_STEPS, fmu_set_logging(c, loggingOn, nCategories, categories));
}

/* Life cycle -------------------------------------------------------------------------------------------- */

fmi3Instance fmi3InstantiateModelExchange(fmi3String instanceName, fmi3String instantiationToken,
                                          fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                          fmi3InstanceEnvironment instanceEnvironment,
                                          fmi3LogMessageCallback logMessage)
{
    const fmu_host host = {&FMI3, (void (*)(void))logMessage, instanceEnvironment, NULL, 0, 0};
    (void)visible;
    return fmu_open(&host, instanceName, FMU_MODEL_EXCHANGE, instantiationToken, resourcePath, loggingOn);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instanceName, fmi3String instantiationToken,
                                         fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                         fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed,
                                         const fmi3ValueReference requiredIntermediateVariables[],
                                         size_t nRequiredIntermediateVariables,
                                         fmi3InstanceEnvironment instanceEnvironment, fmi3LogMessageCallback logMessage,
                                         fmi3IntermediateUpdateCallback intermediateUpdate)
{
    const fmu_host host = {
        &FMI3,         (void (*)(void))logMessage, instanceEnvironment, (void (*)(void))intermediateUpdate,
        eventModeUsed, earlyReturnAllowed};
    (void)visible, (void)requiredIntermediateVariables, (void)nRequiredIntermediateVariables; /* all may be read */
    return fmu_open(&host, instanceName, FMU_CO_SIMULATION, instantiationToken, resourcePath, loggingOn);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    (void)instanceName, (void)instantiationToken, (void)resourcePath, (void)visible, (void)loggingOn;
    (void)clockUpdate, (void)lockPreemption, (void)unlockPreemption;
    if (logMessage)
        logMessage(instanceEnvironment, fmi3Error, "logStatusError",
                   "fmi3InstantiateScheduledExecution: this FMU has no clocks; it is for Co-Simulation and Model "
                   "Exchange");
    return NULL;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    fmu_close(instance);
}

static fmu_status enter_initialization(fmu_component *c, int with_tolerance, double tolerance, double start,
                                       int with_stop, double stop)
{
    const fmu_status status = fmu_set_up(c, with_tolerance, tolerance, start, with_stop, stop);
    return status == FMU_OK ? fmu_enter_initialization(c) : status;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    CALL("EnterInitializationMode", FMU_INSTANTIATED,
         enter_initialization(c, toleranceDefined, tolerance, startTime, stopTimeDefined, stopTime));
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    CALL("ExitInitializationMode", FMU_INITIALIZATION, fmu_start(c));
}

static fmu_status enter_event_mode(fmu_component *c)
{
    if (c->kind == FMU_MODEL_EXCHANGE) return fmu_enter_phase(c, FMU_EVENT_MODE);
    if (!c->host.events)
        return fmu_say(c, FMU_ERROR, "the instance is used without event mode; pass eventModeUsed when it is made");
    return fmu_enter_phase(c, FMU_STEP_EVENT);
}

fmi3Status fmi3EnterEventMode(fmi3Instance instance)
{
    CALL("EnterEventMode", FMU_HOSTED | FMU_MAY_STEP, enter_event_mode(c));
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    CALL("Terminate", FMU_RUNNING, fmu_terminate(c));
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    CALL("Reset", FMU_OUTSIDE_STEPS, fmu_reset(c));
}

/* Values ------------------------------------------------------------------------------------------------ */

/* Work on all elements of n variables, whose references become those of the elements. list: 0, or 1 for a second list.
 */
#define ELEMENTS(list, references, n, values, work)                                                                    \
    (fmu_elements(c, list, &(references), &(n), values) ? (work) : FMU_ERROR)

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          fmi3Float64 values[], size_t nValues)
{
    CALL("GetFloat64", FMU_MAY_GET,
         ELEMENTS(0, valueReferences, nValueReferences, nValues,
                  fmu_get_real(c, valueReferences, nValueReferences, values)));
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          const fmi3Float64 values[], size_t nValues)
{
    CALL("SetFloat64", FMU_MAY_SET_INPUTS,
         ELEMENTS(0, valueReferences, nValueReferences, nValues,
                  fmu_set_real(c, valueReferences, nValueReferences, values)));
}

fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Int32 values[], size_t nValues)
{
    CALL("GetInt32", FMU_MAY_GET,
         ELEMENTS(0, valueReferences, nValueReferences, nValues,
                  fmu_get_whole(c, FM_INTEGER, valueReferences, nValueReferences, values)));
}

fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        const fmi3Int32 values[], size_t nValues)
{
    CALL("SetInt32", FMU_MAY_SET,
         ELEMENTS(0, valueReferences, nValueReferences, nValues,
                  fmu_set_whole(c, FM_INTEGER, valueReferences, nValueReferences, values)));
}

static fmu_status get_booleans(fmu_component *c, const fmi3ValueReference *reference, size_t count, fmi3Boolean *value)
{
    fmu_status status = count > 0 && !value ? fmu_get_whole(c, FM_BOOLEAN, reference, count, NULL) : FMU_OK;
    for (size_t i = 0; i < count && status == FMU_OK; i++) {
        int32_t whole = 0;
        status = fmu_get_whole(c, FM_BOOLEAN, reference ? reference + i : NULL, 1, &whole);
        if (status == FMU_OK) value[i] = whole != 0;
    }
    return status;
}

fmi3Status fmi3GetBoolean(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          fmi3Boolean values[], size_t nValues)
{
    CALL("GetBoolean", FMU_MAY_GET,
         ELEMENTS(0, valueReferences, nValueReferences, nValues,
                  get_booleans(c, valueReferences, nValueReferences, values)));
}

static fmu_status set_booleans(fmu_component *c, const fmi3ValueReference *reference, size_t count,
                               const fmi3Boolean *value)
{
    fmu_status status = fmu_may_set(c, FM_BOOLEAN, reference, count, value);
    for (size_t i = 0; i < count && status == FMU_OK; i++) {
        const int32_t whole = value[i];
        status = fmu_set_whole(c, FM_BOOLEAN, reference + i, 1, &whole);
    }
    return status;
}

fmi3Status fmi3SetBoolean(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          const fmi3Boolean values[], size_t nValues)
{
    CALL("SetBoolean", FMU_MAY_SET,
         ELEMENTS(0, valueReferences, nValueReferences, nValues,
                  set_booleans(c, valueReferences, nValueReferences, values)));
}

/* Types of which the FMU has no variable. */
#define OTHER_TYPES(T) T(Float32) T(Int8) T(UInt8) T(Int16) T(UInt16) T(UInt32) T(Int64) T(UInt64) T(String)

#define T(type)                                                                                                        \
    fmi3Status fmi3Get##type(fmi3Instance instance, const fmi3ValueReference valueReferences[],                        \
                             size_t nValueReferences, fmi3##type values[], size_t nValues)                            \
    {                                                                                                                  \
        (void)valueReferences, (void)values, (void)nValues;                                                            \
        CALL("Get" #type, FMU_MAY_GET, fmu_no_type(c, nValueReferences, #type));                                       \
    }                                                                                                                  \
    fmi3Status fmi3Set##type(fmi3Instance instance, const fmi3ValueReference valueReferences[],                        \
                             size_t nValueReferences, const fmi3##type values[], size_t nValues)                      \
    {                                                                                                                  \
        (void)valueReferences, (void)values, (void)nValues;                                                            \
        CALL("Set" #type, FMU_MAY_SET, fmu_no_type(c, nValueReferences, #type));                                       \
    }
OTHER_TYPES(T)
#undef T

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         size_t valueSizes[], fmi3Binary values[], size_t nValues)
{
    (void)valueReferences, (void)valueSizes, (void)values, (void)nValues;
    CALL("GetBinary", FMU_MAY_GET, fmu_no_type(c, nValueReferences, "Binary"));
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         const size_t valueSizes[], const fmi3Binary values[], size_t nValues)
{
    (void)valueReferences, (void)valueSizes, (void)values, (void)nValues;
    CALL("SetBinary", FMU_MAY_SET, fmu_no_type(c, nValueReferences, "Binary"));
}

/* Clocks: there are none ---------------------------------------------------------------------------------- */

#define NO_CLOCK(name) CALL(name, FMU_OUTSIDE_STEPS, fmu_no_type(c, nValueReferences, "Clock"))

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Clock values[])
{
    (void)valueReferences, (void)values;
    NO_CLOCK("GetClock");
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        const fmi3Clock values[])
{
    (void)valueReferences, (void)values;
    NO_CLOCK("SetClock");
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    (void)valueReferences, (void)intervals, (void)qualifiers;
    NO_CLOCK("GetIntervalDecimal");
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                   size_t nValueReferences, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                   fmi3IntervalQualifier qualifiers[])
{
    (void)valueReferences, (void)counters, (void)resolutions, (void)qualifiers;
    NO_CLOCK("GetIntervalFraction");
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                               size_t nValueReferences, fmi3Float64 shifts[])
{
    (void)valueReferences, (void)shifts;
    NO_CLOCK("GetShiftDecimal");
}

fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                size_t nValueReferences, fmi3UInt64 counters[], fmi3UInt64 resolutions[])
{
    (void)valueReferences, (void)counters, (void)resolutions;
    NO_CLOCK("GetShiftFraction");
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, const fmi3Float64 intervals[])
{
    (void)valueReferences, (void)intervals;
    NO_CLOCK("SetIntervalDecimal");
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                   size_t nValueReferences, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)valueReferences, (void)counters, (void)resolutions;
    NO_CLOCK("SetIntervalFraction");
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                               size_t nValueReferences, const fmi3Float64 shifts[])
{
    (void)valueReferences, (void)shifts;
    NO_CLOCK("SetShiftDecimal");
}

fmi3Status fmi3SetShiftFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                size_t nValueReferences, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)valueReferences, (void)counters, (void)resolutions;
    NO_CLOCK("SetShiftFraction");
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
                                      fmi3Float64 activationTime)
{
    (void)clockReference, (void)activationTime;
    CALL("ActivateModelPartition", FMU_OUTSIDE_STEPS, fmu_no_type(c, 1, "Clock"));
}

/* What else it does not have ------------------------------------------------------------------------------ */

static fmu_status no_dependencies(fmu_component *c)
{
    return fmu_say(c, FMU_ERROR, "dependencies are in modelDescription.xml and do not change");
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference valueReference,
                                               size_t *nDependencies)
{
    (void)valueReference, (void)nDependencies;
    CALL("GetNumberOfVariableDependencies", FMU_OUTSIDE_STEPS, no_dependencies(c));
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference dependent,
                                       size_t elementIndicesOfDependent[], fmi3ValueReference independents[],
                                       size_t elementIndicesOfIndependents[], fmi3DependencyKind dependencyKinds[],
                                       size_t nDependencies)
{
    (void)dependent, (void)elementIndicesOfDependent, (void)independents, (void)elementIndicesOfIndependents;
    (void)dependencyKinds, (void)nDependencies;
    CALL("GetVariableDependencies", FMU_OUTSIDE_STEPS, no_dependencies(c));
}

static fmu_status no_configuration(fmu_component *c)
{
    return fmu_say(c, FMU_ERROR, "this FMU has no structural parameters to configure");
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance)
{
    CALL("EnterConfigurationMode", FMU_OUTSIDE_STEPS, no_configuration(c));
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance)
{
    CALL("ExitConfigurationMode", FMU_OUTSIDE_STEPS, no_configuration(c));
}

/* Derivatives ------------------------------------------------------------------------------------------- */

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                        const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                        size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity)
{
    CALL("GetDirectionalDerivative", FMU_MAY_GET & ~FMU_INTERMEDIATE,
         ELEMENTS(0, knowns, nKnowns, nSeed,
                  ELEMENTS(1, unknowns, nUnknowns, nSensitivity,
                           fmu_directional_derivative(c, unknowns, nUnknowns, knowns, nKnowns, seed, sensitivity))));
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                    const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                    size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity)
{
    CALL("GetAdjointDerivative", FMU_MAY_GET & ~FMU_INTERMEDIATE,
         ELEMENTS(0, knowns, nKnowns, nSensitivity,
                  ELEMENTS(1, unknowns, nUnknowns, nSeed,
                           fmu_adjoint_derivative(c, unknowns, nUnknowns, knowns, nKnowns, seed, sensitivity))));
}

/* An order is that of all elements of an array. */
static fmu_status output_derivatives(fmu_component *c, const uint32_t *reference, size_t count, const int32_t *order,
                                     double *value, size_t values)
{
    const uint32_t *element = reference;
    size_t elements = count;
    fmu_status status = FMU_OK;
    if (!fmu_elements(c, 0, &element, &elements, values)) return FMU_ERROR;
    if (elements == count || !order || !value) return fmu_get_output_derivatives(c, reference, count, order, value);
    for (size_t i = 0; i < count; i++) {
        const uint32_t length = fm_array_length(c->core, reference[i]);
        for (uint32_t k = 0; k < length && status == FMU_OK; k++)
            status = fmu_get_output_derivatives(c, element++, 1, order + i, value++);
    }
    return status;
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                    size_t nValueReferences, const fmi3Int32 orders[], fmi3Float64 values[],
                                    size_t nValues)
{
    CALL("GetOutputDerivatives", FMU_STARTED & ~FMU_HOSTED,
         output_derivatives(c, valueReferences, nValueReferences, orders, values, nValues));
}

/* FMU states -------------------------------------------------------------------------------------------- */

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *FMUState)
{
    CALL("GetFMUState", FMU_OUTSIDE_STEPS, fmu_state_save(c, FMUState));
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState FMUState)
{
    CALL("SetFMUState", FMU_OUTSIDE_STEPS, fmu_state_load(c, FMUState));
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *FMUState)
{
    CALL("FreeFMUState", FMU_OUTSIDE_STEPS, fmu_state_free(c, FMUState));
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState FMUState, size_t *size)
{
    CALL("SerializedFMUStateSize", FMU_OUTSIDE_STEPS, fmu_state_size(c, FMUState, size));
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState FMUState, fmi3Byte serializedState[], size_t size)
{
    CALL("SerializeFMUState", FMU_OUTSIDE_STEPS, fmu_state_write(c, FMUState, serializedState, size));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte serializedState[], size_t size,
                                   fmi3FMUState *FMUState)
{
    CALL("DeserializeFMUState", FMU_OUTSIDE_STEPS, fmu_state_read(c, serializedState, size, FMUState));
}

/* Events ------------------------------------------------------------------------------------------------ */

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance instance)
{
    CALL("EvaluateDiscreteStates", FMU_INITIALIZATION | FMU_EVENT_MODE | FMU_STEP_EVENT, FMU_OK);
}

static fmu_status update_discrete_states(fmu_component *c, fmi3Boolean *needed, fmi3Boolean *terminate,
                                         fmi3Boolean *nominals, fmi3Boolean *changed, fmi3Boolean *defined,
                                         fmi3Float64 *next)
{
    fm_events events;
    const int complete = needed && terminate && nominals && changed && defined && next;
    const fmu_status status = fmu_update_events(c, complete ? &events : NULL);
    if (status != FMU_OK) return status;
    *needed = *terminate = *nominals = fmi3False;
    *changed = events.changed != 0;
    *defined = events.next < DBL_MAX;
    *next = *defined ? events.next : 0.0;
    return FMU_OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
                                    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime)
{
    CALL("UpdateDiscreteStates", FMU_EVENT_MODE | FMU_STEP_EVENT,
         update_discrete_states(c, discreteStatesNeedUpdate, terminateSimulation, nominalsOfContinuousStatesChanged,
                                valuesOfContinuousStatesChanged, nextEventTimeDefined, nextEventTime));
}

/* Model Exchange ---------------------------------------------------------------------------------------- */

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance)
{
    CALL("EnterContinuousTimeMode", FMU_EVENT_MODE, fmu_enter_phase(c, FMU_CONTINUOUS_TIME));
}

static fmu_status completed_step(fmu_component *c, fmi3Boolean *event, fmi3Boolean *terminate)
{
    int32_t updates = 0;
    const fmu_status status = fmu_completed_step(c, event && terminate ? &updates : NULL);
    if (status == FMU_OK) *event = updates != 0, *terminate = fmi3False;
    return status;
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi3Boolean *enterEventMode, fmi3Boolean *terminateSimulation)
{
    (void)noSetFMUStatePriorToCurrentPoint;
    CALL("CompletedIntegratorStep", FMU_CONTINUOUS_TIME, completed_step(c, enterEventMode, terminateSimulation));
}

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time)
{
    CALL("SetTime", FMU_HOSTED, fmu_set_time(c, time));
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 continuousStates[],
                                   size_t nContinuousStates)
{
    CALL("SetContinuousStates", FMU_CONTINUOUS_TIME, fmu_set_states(c, continuousStates, nContinuousStates));
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 derivatives[], size_t nContinuousStates)
{
    CALL("GetContinuousStateDerivatives", FMU_HOSTED, fmu_get_rates(c, derivatives, nContinuousStates));
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 eventIndicators[], size_t nEventIndicators)
{
    CALL("GetEventIndicators", FMU_HOSTED, fmu_get_indicators(c, eventIndicators, nEventIndicators));
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 continuousStates[], size_t nContinuousStates)
{
    CALL("GetContinuousStates", FMU_INITIALIZATION | FMU_HOSTED | FMU_TERMINATED,
         fmu_get_states(c, continuousStates, nContinuousStates));
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[], size_t nContinuousStates)
{
    CALL("GetNominalsOfContinuousStates", FMU_OUTSIDE_STEPS, fmu_get_nominals(c, nominals, nContinuousStates));
}

static fmu_status count(fmu_component *c, size_t *number, int32_t of)
{
    if (!number) return fmu_say(c, FMU_ERROR, "the number is NULL");
    *number = (size_t)of;
    return FMU_OK;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *nEventIndicators)
{
    CALL("GetNumberOfEventIndicators", FMU_OUTSIDE_STEPS, count(c, nEventIndicators, fm_indicator_count(c->core)));
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *nContinuousStates)
{
    CALL("GetNumberOfContinuousStates", FMU_OUTSIDE_STEPS, count(c, nContinuousStates, fm_continuous_count(c->core)));
}

/* Co-Simulation ----------------------------------------------------------------------------------------- */

fmi3Status fmi3EnterStepMode(fmi3Instance instance)
{
    CALL("EnterStepMode", FMU_STEP_EVENT, fmu_enter_phase(c, FMU_STEP_COMPLETE));
}

static fmu_status do_step(fmu_component *c, double from, double step, fmi3Boolean *event, fmi3Boolean *terminate,
                          fmi3Boolean *early, fmi3Float64 *last)
{
    if (!event || !terminate || !early || !last) return fmu_say(c, FMU_ERROR, "a result's pointer is NULL");
    *event = *terminate = *early = fmi3False;
    *last = fm_time(c->core);
    const fmu_status status = fmu_step(c, from, step);
    if (status == FMU_ERROR) return status;
    *event = status == FMU_OK && c->at_event;
    *early = status == FMU_OK && fm_time(c->core) < from + step;
    *last = fm_time(c->core);
    return status;
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 currentCommunicationPoint, fmi3Float64 communicationStepSize,
                      fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *eventHandlingNeeded,
                      fmi3Boolean *terminateSimulation, fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime)
{
    (void)noSetFMUStatePriorToCurrentPoint;
    CALL("DoStep", FMU_MAY_STEP,
         do_step(c, currentCommunicationPoint, communicationStepSize, eventHandlingNeeded, terminateSimulation,
                 earlyReturn, lastSuccessfulTime));
}
