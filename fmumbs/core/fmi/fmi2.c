/* fmi2.c: life cycle of an instance behind the FMI 2.0 functions for co-simulation.
 *
 *   fmi2Instantiate -> instantiated -> initialization mode -> step complete <-> step failed -> terminated
 *
 * Values may be set before and during initialization mode; the mechanism is assembled when a value is first read, or
 * when the mode ends. fmi2_component.h lists the other files.
 */
#include "fmi2_component.h"
#include "../maths/text.h"
#include "fmi2_resource.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD = 6 }; /* most changed start values that a message names */

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

/* Instantiate and free ---------------------------------------------------------------------------------- */

/* The reason why the arguments of fmi2Instantiate are invalid, or NULL. */
static const char *bad_arguments(fmi2String name, fmi2Type type, fmi2String guid)
{
    if (!name || !*name) return "the instance name is empty; give each instance a name of its own";
    if (type != fmi2CoSimulation) return "this FMU is for co-simulation only; pass fmi2CoSimulation";
    if (!guid) return "no GUID was given; pass the one of modelDescription.xml";
    return NULL;
}

/* Opens the core's instance; NULL, after sending a message, on failure. */
static fm_instance *open_core(fmi2String name, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks)
{
    char why[FMU_MESSAGE / 2] = "";
    fmu_image image;
    fm_instance *core = NULL;
    if (!fmu_image_find(&image, resources, why, sizeof why)) {
        fmu_say_early(callbacks, name, "%s", why);
        return NULL;
    }
    if (!fm_hash_fits(image.bytes, image.size)) {
        fmu_say_early(callbacks, name, "the model image was altered: its SHA-256 differs from the one in its header; "
                      "export again");
    } else if (fm_open(image.bytes, image.size, &core, why, sizeof why) != FM_OK) {
        fmu_say_early(callbacks, name, "%s", why);
        core = NULL;
    } else if (strcmp(fm_guid(core), guid) != 0) {
        fmu_say_early(callbacks, name, "GUID '%s' is not that of the model, '%s'; modelDescription.xml and "
                      "resources belong to different FMUs, export again", guid, fm_guid(core));
        fm_close(core);
        core = NULL;
    }
    fmu_image_free(&image);
    return core;
}

static void start_again(fmu_component *c)
{
    fmu_experiment fresh = {0.0, 0.0, 0, FMU_INSTANTIATED, 1, fmi2OK, 0};
    c->experiment = fresh;
}

static fmu_component *make_component(fmi2String name, const fmi2CallbackFunctions *callbacks,
                                     fm_instance *core)
{
    size_t length = strlen(name) + 1;
    fmu_component *c = calloc(1, sizeof *c + length);
    if (!c) return NULL;
    c->core = core;
    c->callbacks = *callbacks;
    c->name = (char *)(c + 1);
    memcpy(c->name, name, length);
    start_again(c);
    return c;
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn)
{
    static const fmi2CallbackFunctions none = {NULL, NULL, NULL, NULL, NULL};
    const fmi2CallbackFunctions *callbacks = functions ? functions : &none;
    const char *problem = bad_arguments(instanceName, fmuType, fmuGUID);
    fm_instance *core = NULL;
    fmu_component *c;
    (void)visible;
    if (problem) {
        fmu_say_early(callbacks, instanceName, "%s", problem);
        return NULL;
    }
    core = open_core(instanceName, fmuGUID, fmuResourceLocation, callbacks);
    if (!core) return NULL;
    c = make_component(instanceName, callbacks, core);
    if (!c) {
        fmu_say_early(callbacks, instanceName, "not enough memory");
        fm_close(core);
        return NULL;
    }
    c->log = loggingOn ? FMU_LOG_ALL : FMU_LOG_PROBLEMS;
    return c;
}

void fmi2FreeInstance(fmi2Component component)
{
    fmu_component *c = component;
    if (!c) return;
    fmu_drop_states(c);
    fm_close(c->core);
    free(c);
}

/* Without categories: all categories, or only warnings, discarded steps and errors. */
fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean loggingOn, size_t nCategories,
                               const fmi2String categories[])
{
    fmu_component *c = fmu_begin(component, FMU_SET_DEBUG_LOGGING);
    unsigned named = 0;
    size_t i;
    if (!c) return fmi2Error;
    if (nCategories > 0 && !categories) return fmu_say(c, fmi2Error, "categories is NULL");
    for (i = 0; i < nCategories; i++) {
        unsigned bits = fmu_category_bits(categories[i]);
        if (!bits) {
            return fmu_say(c, fmi2Error, "unknown category '%s'; the categories are logAll, logStatusWarning, "
                           "logStatusDiscard and logStatusError", categories[i] ? categories[i] : "NULL");
        }
        named |= bits;
    }
    if (nCategories == 0) {
        c->log = loggingOn ? FMU_LOG_ALL : FMU_LOG_PROBLEMS;
    } else {
        c->log = loggingOn ? named : c->log & ~named;
    }
    return fmi2OK;
}

/* Initialise, terminate, reset -------------------------------------------------------------------------- */

/* The value reference of solver.tolerance. Returns 0 if the FMU has none. */
static int find_tolerance(const fm_instance *core, uint32_t *reference)
{
    uint32_t count = fm_variable_count(core);
    for (*reference = 0; *reference < count; ++*reference) {
        fm_variable_info info;
        const fm_kind_info *kind;
        if (fm_variable(core, *reference, &info) != FM_OK || info.causality != FM_PARAMETER) continue;
        kind = fm_kind((uint32_t)info.kind);
        if (kind && strcmp(kind->suffix, "solver.tolerance") == 0) return 1;
    }
    return 0;
}

fmi2Status fmu_set_up(fmu_component *c, int with_tolerance, double tolerance, double start, int with_stop, double stop)
{
    uint32_t reference;
    if (!isfinite(start)) return fmu_say(c, fmi2Error, "the start time %g is not finite", start);
    if (with_stop && !(isfinite(stop) && stop >= start)) {
        return fmu_say(c, fmi2Error, "the stop time %g s is not finite or lies before the start time %g s",
                       stop, start);
    }
    if (with_tolerance && !(isfinite(tolerance) && tolerance > 0.0))
        return fmu_say(c, fmi2Error, "the tolerance %g is not a positive number", tolerance);
    if (with_tolerance && find_tolerance(c->core, &reference)) {
        fmi2Status status = fmu_answer(c, fm_set(c->core, &reference, 1, &tolerance));
        if (status != fmi2OK) return status;
    }
    c->experiment.start = start;
    c->experiment.stop_defined = with_stop;
    c->experiment.stop = with_stop ? stop : 0.0;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component component)
{
    fmu_component *c = fmu_begin(component, FMU_ENTER_INITIALIZATION);
    if (!c) return fmi2Error;
    c->experiment.phase = FMU_INITIALIZATION;
    c->experiment.unassembled = 1;
    return fmi2OK;
}

/* Reports which start values assembly changed, as a warning if the importer set one of them. The call still returns
 * fmi2OK: the motion is valid, and some masters, such as OMSimulator, stop at any other status. */
static void tell_changes(fmu_component *c)
{
    fm_start_change change[TOLD];
    char text[FMU_MESSAGE / 2] = "";
    size_t count = fm_start_changes(c->core, change, TOLD), used = 0, i;
    if (count == 0) return;
    for (i = 0; i < count && i < TOLD && used < sizeof text; i++) {
        const fm_start_change *one = change + i;
        const char *open = one->count > 1 ? "(" : "", *shut = one->count > 1 ? ")" : "";
        char given[200], value[200];
        fm_print_apart(one->given, one->value, (size_t)one->count, given, value, sizeof given);
        used += (size_t)fm_print(text + used, sizeof text - used, "%s%s from %s%s%s to %s%s%s%s%s", i > 0 ? ", " : "", one->name,
                                 open, given, shut, open, value, shut, *one->unit ? " " : "", one->unit);
    }
    (void)fmu_say(c, change[0].set ? fmi2Warning : fmi2OK, "loops changed start values: %s%s", text,
                  count > TOLD ? " and others" : "");
}

/* Warns of a start in an unstable equilibrium. */
static void tell_departure(fmu_component *c)
{
    char name[200];
    const double growth = fm_departure(c->core, name, sizeof name);
    if (growth > 0.0)
        (void)fmu_say(c, fmi2Warning, "it starts in an unstable equilibrium: a %s%s grows as exp(%.6g t). Give a start "
                      "nearer to a stable one, or %s", *name ? "displacement of " : "vibration", name, growth,
                      *name ? "hold that coordinate" : "add damping");
    else if (growth != 0.0)
        (void)fmu_say(c, fmi2Warning, "it starts in an equilibrium whose stability was not found out: round-off hides it, or "
                      "forces without a potential may make it flutter");
}

void fmu_tell_deformation(fmu_component *c)
{
    char text[FMU_MESSAGE / 2];
    if (c->experiment.told || !(fm_deformation(c->core, text, sizeof text) > 0.0)) return;
    c->experiment.told = 1;
    (void)fmu_say(c, fmi2Warning, "%s", text);
}

/* The forces of locks, which open now. */
static void tell_locks(fmu_component *c)
{
    for (int32_t i = 0; i < fm_lock_count(c->core); i++) {
        char name[200];
        const double force = fm_lock(c->core, i, name, sizeof name);
        (void)fmu_say(c, fmi2OK, "in the equilibrium %s was locked, by %.6g", name, force);
    }
}

fmi2Status fmu_start(fmu_component *c)
{
    fmi2Status status = fm_check_parameters(c->core) == FM_OK ? fmu_assembled(c) : fmu_answer(c, FM_ERROR);
    if (status != fmi2OK) return status;
    c->experiment.phase = FMU_STEP_COMPLETE;
    (void)fmu_say(c, fmi2OK, "started at %.12g s", c->experiment.start);
    tell_changes(c);
    tell_departure(c);
    fmu_tell_deformation(c);
    tell_locks(c);
    if (fm_mobility(c->core) == 0 && fm_excited(c->core) == 0 && fm_active(c->core, NULL, 0) > 0)
        (void)fmu_say(c, fmi2Warning, "the mechanism is locked: its loops leave no degree of freedom. Free one of their joints");
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component component)
{
    fmu_component *c = fmu_begin(component, FMU_TERMINATE);
    if (!c) return fmi2Error;
    c->experiment.phase = FMU_TERMINATED;
    return fmu_say(c, fmi2OK, "ended at %.12g s", fm_time(c->core));
}

fmi2Status fmi2Reset(fmi2Component component)
{
    fmu_component *c = fmu_begin(component, FMU_RESET);
    fmi2Status status = c ? fmu_answer(c, fm_reset(c->core)) : fmi2Error;
    if (status == fmi2OK) start_again(c);
    return status;
}
