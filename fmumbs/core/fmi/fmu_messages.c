/* fmu_messages.c: calls refused in a phase; messages to the importer. */
#include "fmu.h"
#include "../maths/text.h"

#include <stdarg.h>
#include <string.h>

static const struct {
    fmu_phase phase;
    const char *name;
    const char *way_on; /* the call that leaves it; NULL: the step ends it */
} PHASES[] = {
    {FMU_INSTANTIATED, "instantiated", "EnterInitializationMode"},
    {FMU_INITIALIZATION, "in initialization mode", "ExitInitializationMode"},
    {FMU_STEP_COMPLETE, "between two steps", "Reset"},
    {FMU_STEP_FAILED, "after a failed step", "Reset"},
    {FMU_EVENT_MODE, "in event mode", "EnterContinuousTimeMode"},
    {FMU_CONTINUOUS_TIME, "in continuous-time mode", "EnterEventMode"},
    {FMU_TERMINATED, "terminated", "Reset"},
    {FMU_STEP_EVENT, "in event mode", "EnterStepMode"},
    {FMU_INTERMEDIATE, "in an intermediate update, where values may be read and inputs be set, and nothing else", NULL},
};

static const struct {
    fmu_status status;
    const char *name;
    fmu_category bit;
} CATEGORIES[] = {
    {FMU_OK, "logAll", FMU_LOG_EVENTS},
    {FMU_WARNING, "logStatusWarning", FMU_LOG_WARNING},
    {FMU_DISCARD, "logStatusDiscard", FMU_LOG_DISCARD},
    {FMU_ERROR, "logStatusError", FMU_LOG_ERROR},
};

fmu_status fmu_say(fmu_component *c, fmu_status status, const char *format, ...)
{
    size_t i = 0;
    size_t used;
    va_list arguments;
    while (CATEGORIES[i].status != status) i++;
    if (!c->host.logger || !(c->log & CATEGORIES[i].bit)) return status;
    const fm_float_mode mode = fm_float_enter();
    (void)fm_print(c->text, sizeof c->text, "%s%s: ", c->host.version->prefix, c->call);
    used = strlen(c->text);
    va_start(arguments, format);
    (void)fm_vprint(c->text + used, sizeof c->text - used, format, arguments);
    va_end(arguments);
    fm_float_leave(c->mode);
    c->host.version->log(&c->host, c->name, status, CATEGORIES[i].name, c->text);
    if (mode != c->mode) fm_float_leave(mode);
    return status;
}

fmu_status fmu_answer(fmu_component *c, fm_status status)
{
    if (status == FM_OK) return FMU_OK;
    return fmu_say(c, status == FM_DISCARD ? FMU_DISCARD : FMU_ERROR, "%s", fm_message(c->core));
}

/* Phases ------------------------------------------------------------------------------------------------ */

static void say_not_allowed(fmu_component *c)
{
    const fmu_version *version = c->host.version;
    const int failed = c->experiment.phase == FMU_STEP_FAILED;
    size_t i = 0;
    while (PHASES[i].phase != (fmu_phase)c->experiment.phase) i++;
    if (!PHASES[i].way_on) {
        (void)fmu_say(c, FMU_ERROR, "not allowed while the instance is %s", PHASES[i].name);
        return;
    }
    (void)fmu_say(c, FMU_ERROR, "not allowed while the instance is %s; call %s%s%s%s first", PHASES[i].name,
                  failed ? version->set_state : "", failed ? " or " : "", version->prefix, PHASES[i].way_on);
}

fmu_component *fmu_begin(void *component, const char *call, unsigned phases)
{
    fmu_component *c = component;
    if (!c) return NULL;
    c->call = call;
    c->mode = fm_float_read();
    if (phases & (unsigned)c->experiment.phase) return c;
    say_not_allowed(c);
    return NULL;
}

/* Categories -------------------------------------------------------------------------------------------- */

/* The bits of a category, 0 if there is none of this name. */
static unsigned category_bits(const char *name)
{
    size_t i;
    for (i = 0; name && i < sizeof CATEGORIES / sizeof *CATEGORIES; i++) {
        if (strcmp(name, CATEGORIES[i].name) != 0) continue;
        return CATEGORIES[i].status == FMU_OK ? FMU_LOG_ALL : CATEGORIES[i].bit;
    }
    return 0;
}

fmu_status fmu_set_logging(fmu_component *c, int on, size_t count, const char *const *categories)
{
    unsigned named = 0;
    size_t i;
    if (count > 0 && !categories) return fmu_say(c, FMU_ERROR, "categories is NULL");
    for (i = 0; i < count; i++) {
        unsigned bits = category_bits(categories[i]);
        if (!bits) {
            return fmu_say(c, FMU_ERROR,
                           "unknown category '%s'; the categories are logAll, logStatusWarning, "
                           "logStatusDiscard and logStatusError",
                           categories[i] ? categories[i] : "NULL");
        }
        named |= bits;
    }
    if (count == 0) c->log = on ? FMU_LOG_ALL : FMU_LOG_PROBLEMS;
    else c->log = on ? named : c->log & ~named;
    return FMU_OK;
}
