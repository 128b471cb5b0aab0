/* fmi2_component.c: which call is allowed in which state; messages to the importer. */
#include "fmi2_component.h"
#include "../maths/text.h"

#include <stdarg.h>
#include <string.h>

#define AT_REST (FMU_STEP_COMPLETE | FMU_STEP_FAILED)
#define RUNNING (AT_REST | FMU_TERMINATED)
#define BEFORE (FMU_INSTANTIATED | FMU_INITIALIZATION)
#define ALWAYS (BEFORE | RUNNING)

/* After a failed step the instance remains at the last successful time; values may be set and the step repeated. */
static const struct {
    const char *name;
    unsigned phases;
} CALLS[FMU_CALLS] = {
    [FMU_SET_DEBUG_LOGGING]      = {"fmi2SetDebugLogging", ALWAYS},
    [FMU_SETUP_EXPERIMENT]       = {"fmi2SetupExperiment", FMU_INSTANTIATED},
    [FMU_ENTER_INITIALIZATION]   = {"fmi2EnterInitializationMode", FMU_INSTANTIATED},
    [FMU_EXIT_INITIALIZATION]    = {"fmi2ExitInitializationMode", FMU_INITIALIZATION},
    [FMU_TERMINATE]              = {"fmi2Terminate", AT_REST},
    [FMU_RESET]                  = {"fmi2Reset", ALWAYS},
    [FMU_GET_REAL]               = {"fmi2GetReal", FMU_INITIALIZATION | RUNNING},
    [FMU_GET_INTEGER]            = {"fmi2GetInteger", FMU_INITIALIZATION | RUNNING},
    [FMU_GET_BOOLEAN]            = {"fmi2GetBoolean", FMU_INITIALIZATION | RUNNING},
    [FMU_GET_STRING]             = {"fmi2GetString", FMU_INITIALIZATION | RUNNING},
    [FMU_SET_REAL]               = {"fmi2SetReal", BEFORE | AT_REST},
    [FMU_SET_INTEGER]            = {"fmi2SetInteger", BEFORE | AT_REST},
    [FMU_SET_BOOLEAN]            = {"fmi2SetBoolean", BEFORE | AT_REST},
    [FMU_SET_STRING]             = {"fmi2SetString", BEFORE | AT_REST},
    [FMU_GET_STATE]              = {"fmi2GetFMUstate", ALWAYS},
    [FMU_SET_STATE]              = {"fmi2SetFMUstate", ALWAYS},
    [FMU_FREE_STATE]             = {"fmi2FreeFMUstate", ALWAYS},
    [FMU_STATE_SIZE]             = {"fmi2SerializedFMUstateSize", ALWAYS},
    [FMU_SERIALIZE]              = {"fmi2SerializeFMUstate", ALWAYS},
    [FMU_DESERIALIZE]            = {"fmi2DeSerializeFMUstate", ALWAYS},
    [FMU_DIRECTIONAL_DERIVATIVE] = {"fmi2GetDirectionalDerivative", FMU_INITIALIZATION | RUNNING},
    [FMU_SET_INPUT_DERIVATIVES]  = {"fmi2SetRealInputDerivatives", BEFORE | AT_REST},
    [FMU_GET_OUTPUT_DERIVATIVES] = {"fmi2GetRealOutputDerivatives", RUNNING},
    [FMU_DO_STEP]                = {"fmi2DoStep", AT_REST},
    [FMU_CANCEL_STEP]            = {"fmi2CancelStep", 0},
    [FMU_GET_STATUS]             = {"fmi2GetStatus", RUNNING},
    [FMU_GET_REAL_STATUS]        = {"fmi2GetRealStatus", RUNNING},
    [FMU_GET_INTEGER_STATUS]     = {"fmi2GetIntegerStatus", RUNNING},
    [FMU_GET_BOOLEAN_STATUS]     = {"fmi2GetBooleanStatus", RUNNING},
    [FMU_GET_STRING_STATUS]      = {"fmi2GetStringStatus", RUNNING},
};

static const struct {
    fmu_phase phase;
    const char *name;
    const char *way_on; /* the call that leaves this state */
} PHASES[] = {
    {FMU_INSTANTIATED, "instantiated", "fmi2EnterInitializationMode"},
    {FMU_INITIALIZATION, "in initialization mode", "fmi2ExitInitializationMode"},
    {FMU_STEP_COMPLETE, "between two steps", "fmi2Reset"},
    {FMU_STEP_FAILED, "after a failed step", "fmi2SetFMUstate or fmi2Reset"},
    {FMU_TERMINATED, "terminated", "fmi2Reset"},
};

static const struct {
    fmi2Status status;
    const char *name;
    fmu_category bit;
} CATEGORIES[] = {
    {fmi2OK, "logAll", FMU_LOG_EVENTS},
    {fmi2Warning, "logStatusWarning", FMU_LOG_WARNING},
    {fmi2Discard, "logStatusDiscard", FMU_LOG_DISCARD},
    {fmi2Error, "logStatusError", FMU_LOG_ERROR},
};

/* Calls ------------------------------------------------------------------------------------------------- */

static void say_not_allowed(fmu_component *c)
{
    size_t i = 0;
    if (c->call == FMU_CANCEL_STEP) {
        (void)fmu_say(c, fmi2Error, "no step is pending; this FMU ends every step before fmi2DoStep returns");
        return;
    }
    while (PHASES[i].phase != (fmu_phase)c->experiment.phase) i++;
    (void)fmu_say(c, fmi2Error, "not allowed while the instance is %s; call %s first", PHASES[i].name,
                  PHASES[i].way_on);
}

fmu_component *fmu_begin(fmi2Component component, fmu_call call)
{
    fmu_component *c = component;
    if (!c) return NULL;
    c->call = call;
    c->host = fm_float_read();
    if (CALLS[call].phases & (unsigned)c->experiment.phase) return c;
    say_not_allowed(c);
    return NULL;
}

fmi2Status fmu_answer(fmu_component *c, fm_status status)
{
    if (status == FM_OK) return fmi2OK;
    return fmu_say(c, status == FM_DISCARD ? fmi2Discard : fmi2Error, "%s", fm_message(c->core));
}

fmi2Status fmu_assembled(fmu_component *c)
{
    if (!c->experiment.unassembled) return fmi2OK;
    if (fm_assemble(c->core, c->experiment.start) != FM_OK) return fmu_answer(c, FM_ERROR);
    c->experiment.unassembled = 0;
    return fmi2OK;
}

/* Messages ---------------------------------------------------------------------------------------------- */

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

unsigned fmu_category_bits(const char *name)
{
    size_t i;
    for (i = 0; name && i < sizeof CATEGORIES / sizeof *CATEGORIES; i++) {
        if (strcmp(name, CATEGORIES[i].name) != 0) continue;
        return CATEGORIES[i].status == fmi2OK ? FMU_LOG_ALL : CATEGORIES[i].bit;
    }
    return 0;
}

fmi2Status fmu_say(fmu_component *c, fmi2Status status, const char *format, ...)
{
    size_t i = 0;
    size_t used;
    va_list arguments;
    while (CATEGORIES[i].status != status) i++;
    if (!c->callbacks.logger || !(c->log & CATEGORIES[i].bit)) return status;
    const fm_float_mode mode = fm_float_enter();
    (void)fm_print(c->text, sizeof c->text, "%s: ", CALLS[c->call].name);
    used = strlen(c->text);
    va_start(arguments, format);
    (void)fm_vprint(c->text + used, sizeof c->text - used, format, arguments);
    va_end(arguments);
    escape(c->escaped, sizeof c->escaped, c->text);
    fm_float_leave(c->host);
    c->callbacks.logger(c->callbacks.componentEnvironment, c->name, status, CATEGORIES[i].name, c->escaped);
    if (mode != c->host) fm_float_leave(mode);
    return status;
}

void fmu_say_early(const fmi2CallbackFunctions *callbacks, fmi2String name, const char *format, ...)
{
    char text[FMU_MESSAGE] = "fmi2Instantiate: ";
    char escaped[2 * FMU_MESSAGE];
    size_t used = strlen(text);
    va_list arguments;
    if (!callbacks || !callbacks->logger) return;
    va_start(arguments, format);
    (void)fm_vprint(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    escape(escaped, sizeof escaped, text);
    callbacks->logger(callbacks->componentEnvironment, name ? name : "", fmi2Error, "logStatusError",
                      escaped);
}
