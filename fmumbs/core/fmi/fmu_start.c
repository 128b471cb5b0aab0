/* fmu_start.c: the experiment; assembly; messages about the start. */
#include "fmu.h"
#include "../maths/text.h"

#include <math.h>
#include <string.h>

enum { TOLD = 6 }; /* most changed start values that a message names */

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

fmu_status fmu_do_set_up(fmu_component *c, int with_tolerance, double tolerance, double start, int with_stop,
                         double stop)
{
    uint32_t reference;
    if (!isfinite(start)) return fmu_say(c, FMU_ERROR, "the start time %g is not finite", start);
    if (with_stop && !(isfinite(stop) && stop >= start)) {
        return fmu_say(c, FMU_ERROR, "the stop time %g s is not finite or lies before the start time %g s", stop,
                       start);
    }
    if (with_tolerance && !(isfinite(tolerance) && tolerance > 0.0))
        return fmu_say(c, FMU_ERROR, "the tolerance %g is not a positive number", tolerance);
    if (with_tolerance && find_tolerance(c->core, &reference)) {
        fmu_status status = fmu_answer(c, fm_set(c->core, &reference, 1, &tolerance));
        if (status != FMU_OK) return status;
    }
    c->experiment.start = start;
    c->experiment.stop_defined = with_stop;
    c->experiment.stop = with_stop ? stop : 0.0;
    return FMU_OK;
}

fmu_status fmu_assembled(fmu_component *c)
{
    if (!c->experiment.unassembled) return FMU_OK;
    if (fm_assemble(c->core, c->experiment.start) != FM_OK) return fmu_answer(c, FM_ERROR);
    c->experiment.unassembled = 0;
    return FMU_OK;
}

/* Reports which start values assembly changed, as a warning if the importer set one of them. The call still returns
 * FMU_OK: the motion is valid, and some masters, such as OMSimulator, stop at any other status. */
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
        used += (size_t)fm_print(text + used, sizeof text - used, "%s%s from %s%s%s to %s%s%s%s%s", i > 0 ? ", " : "",
                                 one->name, open, given, shut, open, value, shut, *one->unit ? " " : "", one->unit);
    }
    (void)fmu_say(c, change[0].set ? FMU_WARNING : FMU_OK, "loops changed start values: %s%s", text,
                  count > TOLD ? " and others" : "");
}

/* Warns of a start in an unstable equilibrium. */
static void tell_departure(fmu_component *c)
{
    char name[200];
    const double growth = fm_departure(c->core, name, sizeof name);
    if (growth > 0.0)
        (void)fmu_say(c, FMU_WARNING,
                      "it starts in an unstable equilibrium: a %s%s grows as exp(%.6g t). Give a start "
                      "nearer to a stable one, or %s",
                      *name ? "displacement of " : "vibration", name, growth,
                      *name ? "hold that coordinate" : "add damping");
    else if (growth != 0.0)
        (void)fmu_say(c, FMU_WARNING,
                      "it starts in an equilibrium whose stability was not found out: round-off hides it, or "
                      "forces without a potential may make it flutter");
}

void fmu_tell_ranges(fmu_component *c)
{
    char text[FMU_MESSAGE / 2];
    if (!c->experiment.told_deformation && fm_deformation(c->core, text, sizeof text) > 0.0) {
        c->experiment.told_deformation = 1;
        (void)fmu_say(c, FMU_WARNING, "%s", text);
    }
    if (!c->experiment.told_cavitation && fm_cavitation(c->core, text, sizeof text)) {
        c->experiment.told_cavitation = 1;
        (void)fmu_say(c, FMU_WARNING, "%s", text);
    }
    if (!c->experiment.told_missed && fm_missed_contact(c->core, text, sizeof text)) {
        c->experiment.told_missed = 1;
        (void)fmu_say(c, FMU_WARNING, "%s", text);
    }
}

/* The forces of locks, which open now. */
static void tell_locks(fmu_component *c)
{
    for (int32_t i = 0; i < fm_lock_count(c->core); i++) {
        char name[200];
        const double force = fm_lock(c->core, i, name, sizeof name);
        (void)fmu_say(c, FMU_OK, "in the equilibrium %s was locked, by %.6g", name, force);
    }
}

fmu_status fmu_do_start(fmu_component *c)
{
    fmu_status status = fm_check_parameters(c->core) == FM_OK ? fmu_assembled(c) : fmu_answer(c, FM_ERROR);
    if (status == FMU_OK && c->kind == FMU_MODEL_EXCHANGE) {
        fm_events events;
        status = fmu_answer(c, fm_update_events(c->core, &events));
    }
    if (status != FMU_OK) return status;
    c->experiment.phase = c->kind == FMU_MODEL_EXCHANGE ? FMU_EVENT_MODE
                          : c->host.events              ? FMU_STEP_EVENT
                                                        : FMU_STEP_COMPLETE;
    (void)fmu_say(c, FMU_OK, "started at %.12g s", c->experiment.start);
    tell_changes(c);
    tell_departure(c);
    fmu_tell_ranges(c);
    tell_locks(c);
    if (fm_mobility(c->core) == 0 && fm_excited(c->core) == 0 && fm_active(c->core, NULL, 0) > 0)
        (void)fmu_say(c, FMU_WARNING,
                      "the mechanism is locked: its loops leave no degree of freedom. Free one of their joints");
    return FMU_OK;
}
