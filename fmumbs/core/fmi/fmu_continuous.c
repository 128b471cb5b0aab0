/* fmu_continuous.c: Model Exchange, in which the importer integrates (core/time/hosted.c).
 *
 * Event mode begins with the events of the start already updated, so that an importer that reads or sets values before
 * its first update finds a model that answers.
 */
#include "fmu.h"

#include <math.h>

/* Refuses an array that is missing, or not as long as the model's. */
static fmu_status check(fmu_component *c, const void *array, size_t count, int32_t wanted, const char *what)
{
    if (count != (size_t)wanted)
        return fmu_say(c, FMU_ERROR, "the array has %lu elements, the model %ld %s", (unsigned long)count, (long)wanted,
                       what);
    return count > 0 && !array ? fmu_say(c, FMU_ERROR, "an array of %lu elements is NULL", (unsigned long)count)
                               : FMU_OK;
}

static fmu_status check_states(fmu_component *c, const void *array, size_t count)
{
    return check(c, array, count, fm_continuous_count(c->core), "continuous states");
}

fmu_status fmu_update_events(fmu_component *c, fm_events *events)
{
    if (!events) return fmu_say(c, FMU_ERROR, "the structure of what events change is NULL");
    if (c->kind == FMU_MODEL_EXCHANGE) return fmu_answer(c, fm_update_events(c->core, events));
    events->changed = 0; /* steps deal with what happens in them; inputs may jump at any communication point */
    events->next = INFINITY;
    return FMU_OK;
}

fmu_status fmu_enter_phase(fmu_component *c, fmu_phase phase)
{
    c->experiment.phase = (int32_t)phase;
    return FMU_OK;
}

fmu_status fmu_completed_step(fmu_component *c, int32_t *event)
{
    if (!event) return fmu_say(c, FMU_ERROR, "the flag for an event is NULL");
    const fmu_status status = fmu_answer(c, fm_completed_step(c->core, event));
    if (status == FMU_OK) fmu_tell_ranges(c);
    return status;
}

fmu_status fmu_set_time(fmu_component *c, double time)
{
    return fmu_answer(c, fm_set_continuous(c->core, time, NULL));
}

fmu_status fmu_set_states(fmu_component *c, const double *x, size_t count)
{
    if (check_states(c, x, count) != FMU_OK) return FMU_ERROR;
    return count ? fmu_answer(c, fm_set_continuous(c->core, fm_time(c->core), x)) : FMU_OK;
}

fmu_status fmu_get_states(fmu_component *c, double *x, size_t count)
{
    if (check_states(c, x, count) != FMU_OK || fmu_assembled(c) != FMU_OK) return FMU_ERROR;
    fm_get_continuous(c->core, x);
    return FMU_OK;
}

fmu_status fmu_get_rates(fmu_component *c, double *rates, size_t count)
{
    if (check_states(c, rates, count) != FMU_OK) return FMU_ERROR;
    return count ? fmu_answer(c, fm_continuous_rates(c->core, rates)) : FMU_OK;
}

fmu_status fmu_get_indicators(fmu_component *c, double *indicators, size_t count)
{
    if (check(c, indicators, count, fm_indicator_count(c->core), "event indicators") != FMU_OK) return FMU_ERROR;
    return count ? fmu_answer(c, fm_indicators(c->core, indicators)) : FMU_OK;
}

fmu_status fmu_get_nominals(fmu_component *c, double *nominals, size_t count)
{
    if (check_states(c, nominals, count) != FMU_OK) return FMU_ERROR;
    fm_nominals(c->core, nominals);
    return FMU_OK;
}
