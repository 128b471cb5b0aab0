/* fmu_values.c: reads and sets variables and their derivatives.
 *
 * Every call checks all its value references before it changes anything. What may be set when:
 *   inputs                                 any time before the end, also within a step
 *   tunable parameters                     any time before the end
 *   fixed parameters, states (exact start) before initialization mode ends
 *   continuous states                      in Model Exchange, as optimisers do
 *   other outputs                          never
 */
#include "fmu.h"
#include "../maths/text.h"

#include <math.h>
#include <stdint.h>

enum { CHUNK = 64 }; /* whole numbers converted at a time */

/* Whether a variable may be used in the present call; sends a message if not. */
typedef int fmu_check(fmu_component *c, uint32_t reference, const fm_variable_info *info);

/* Refuses variable `reference` with a message that begins with its name. */
static int refuse(fmu_component *c, uint32_t reference, const char *sentence)
{
    char name[256];
    (void)fm_variable_name(c->core, reference, name, sizeof name);
    (void)fmu_say(c, FMU_ERROR, "'%s' (value reference %u) %s", name, reference, sentence);
    return 0;
}

static int has_type(fmu_component *c, uint32_t reference, const fm_variable_info *info, fm_type type)
{
    char sentence[80];
    if (info->type == (int32_t)type) return 1;
    const char *name = c->host.version->types[info->type];
    (void)fm_print(sentence, sizeof sentence, "is of type %s; use the functions for %s", name, name);
    return refuse(c, reference, sentence);
}

/* Checks all of `reference`, which the caller reads or sets through `values`. */
static int check_all(fmu_component *c, const uint32_t *reference, size_t count, const void *values, fm_type type,
                     fmu_check *check)
{
    size_t i;
    if (count > 0 && (!reference || !values)) {
        (void)fmu_say(c, FMU_ERROR, "an array of %lu elements is NULL", (unsigned long)count);
        return 0;
    }
    for (i = 0; i < count; i++) {
        fm_variable_info info;
        if (fm_variable(c->core, reference[i], &info) != FM_OK) {
            (void)fmu_say(c, FMU_ERROR, "value reference %u does not exist; they range from 0 to %lu", reference[i],
                          (unsigned long)fm_variable_count(c->core) - 1);
            return 0;
        }
        if (!has_type(c, reference[i], &info, type) || (check && !check(c, reference[i], &info))) return 0;
    }
    return 1;
}

static int may_be_set(fmu_component *c, uint32_t reference, const fm_variable_info *info)
{
    const char *prefix = c->host.version->prefix;
    char sentence[120];
    if (info->causality == FM_INPUT) return 1;
    if (c->experiment.phase == FMU_INTERMEDIATE)
        return refuse(c, reference, "is not an input, and nothing else may be set in an intermediate update");
    if (info->causality == FM_PARAMETER && info->tunable) return 1;
    if (info->state && c->experiment.phase & FMU_HOSTED) return 1;
    if (info->causality == FM_LOCAL)
        return refuse(c, reference, info->kind < 0 ? "cannot be set" : "is a constant and cannot be set");
    if (info->causality == FM_OUTPUT && !info->state)
        return refuse(c, reference, "is a computed output and cannot be set");
    if (c->experiment.phase & FMU_MAY_SET_START) return 1;
    (void)fm_print(sentence, sizeof sentence, "is %s, set before %sExitInitializationMode only; use %sReset",
                   info->causality == FM_OUTPUT ? "a state" : "fixed", prefix, prefix);
    return refuse(c, reference, sentence);
}

/* Whether derivatives with respect to a variable exist, and of one. */
static int is_known(fmu_component *c, uint32_t reference, const fm_variable_info *info)
{
    return info->causality == FM_INPUT || info->state || info->tunable ||
           refuse(c, reference, "is neither an input nor a state nor a tunable parameter");
}

static int is_unknown(fmu_component *c, uint32_t reference, const fm_variable_info *info)
{
    return info->causality == FM_OUTPUT || info->kind == -1 || refuse(c, reference, "is not an output");
}

static int is_input(fmu_component *c, uint32_t reference, const fm_variable_info *info)
{
    return info->causality == FM_INPUT || refuse(c, reference, "is not an input");
}

static int is_output(fmu_component *c, uint32_t reference, const fm_variable_info *info)
{
    return info->causality == FM_OUTPUT || refuse(c, reference, "is not an output");
}

/* Values ------------------------------------------------------------------------------------------------ */

/* Assembles if some depend on it: parameters and inputs are read as they were set, between two calls that set them too.
 */
static fmu_status ready(fmu_component *c, const uint32_t *reference, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        fm_variable_info info;
        if (fm_variable(c->core, reference[i], &info) != FM_OK) continue;
        if (info.causality == FM_OUTPUT || info.kind < 0) return fmu_assembled(c);
    }
    return FMU_OK;
}

fmu_status fmu_get_real(fmu_component *c, const uint32_t *reference, size_t count, double *value)
{
    if (!check_all(c, reference, count, value, FM_REAL, NULL) || ready(c, reference, count) != FMU_OK) return FMU_ERROR;
    return count ? fmu_answer(c, fm_get(c->core, reference, count, value)) : FMU_OK;
}

/* After a value was set: in initialization mode the mechanism has to be assembled again. */
static fmu_status after_setting(fmu_component *c, fmu_status status)
{
    if (status == FMU_OK && c->experiment.phase == FMU_INITIALIZATION) c->experiment.unassembled = 1;
    return status;
}

/* Whether inputs are set to other values than they have. */
static int changes(fmu_component *c, const uint32_t *reference, size_t count, const double *value)
{
    for (size_t i = 0; i < count; i++) {
        double now;
        if (fm_get(c->core, reference + i, 1, &now) != FM_OK || now != value[i]) return 1;
    }
    return 0;
}

fmu_status fmu_set_real(fmu_component *c, const uint32_t *reference, size_t count, const double *value)
{
    if (!check_all(c, reference, count, value, FM_REAL, may_be_set)) return FMU_ERROR;
    if (c->experiment.phase == FMU_INTERMEDIATE) c->changed |= changes(c, reference, count, value);
    return count ? after_setting(c, fmu_answer(c, fm_set(c->core, reference, count, value))) : FMU_OK;
}

/* Whole numbers: the core's values are doubles ------------------------------------------------------------ */

static int32_t to_whole(double value)
{
    return value >= INT32_MAX ? INT32_MAX : value > INT32_MIN ? (int32_t)value : INT32_MIN;
}

static size_t chunk_at(size_t done, size_t all)
{
    return all - done < CHUNK ? all - done : (size_t)CHUNK;
}

fmu_status fmu_get_whole(fmu_component *c, fm_type type, const uint32_t *reference, size_t count, int32_t *value)
{
    double real[CHUNK];
    size_t done;
    size_t i;
    if (!check_all(c, reference, count, value, type, NULL) || ready(c, reference, count) != FMU_OK) return FMU_ERROR;
    for (done = 0; done < count; done += chunk_at(done, count)) {
        const fmu_status status = fmu_answer(c, fm_get(c->core, reference + done, chunk_at(done, count), real));
        if (status != FMU_OK) return status;
        for (i = 0; i < chunk_at(done, count); i++) value[done + i] = to_whole(real[i]);
    }
    return FMU_OK;
}

fmu_status fmu_set_whole(fmu_component *c, fm_type type, const uint32_t *reference, size_t count, const int32_t *value)
{
    double real[CHUNK];
    size_t done;
    size_t i;
    if (!check_all(c, reference, count, value, type, may_be_set)) return FMU_ERROR;
    for (done = 0; done < count; done += chunk_at(done, count)) {
        fmu_status status;
        for (i = 0; i < chunk_at(done, count); i++) real[i] = value[done + i];
        status = fmu_answer(c, fm_set(c->core, reference + done, chunk_at(done, count), real));
        if (after_setting(c, status) != FMU_OK) return status;
    }
    return FMU_OK;
}

fmu_status fmu_may_set(fmu_component *c, fm_type type, const uint32_t *reference, size_t count, const void *values)
{
    return check_all(c, reference, count, values, type, may_be_set) ? FMU_OK : FMU_ERROR;
}

fmu_status fmu_no_type(fmu_component *c, size_t count, const char *type)
{
    return count ? fmu_say(c, FMU_ERROR, "this FMU has no variable of type %s", type) : FMU_OK;
}

/* Derivatives ------------------------------------------------------------------------------------------- */

static int check_orders(fmu_component *c, const int32_t *order, size_t count, int32_t highest)
{
    size_t i;
    if (count > 0 && !order) {
        (void)fmu_say(c, FMU_ERROR, "order is NULL");
        return 0;
    }
    for (i = 0; i < count; i++) {
        if (order[i] >= 1 && order[i] <= highest) continue;
        (void)fmu_say(c, FMU_ERROR, "order %d is not among the orders 1 to %d", order[i], highest);
        return 0;
    }
    return 1;
}

fmu_status fmu_set_input_derivatives(fmu_component *c, const uint32_t *reference, size_t count, const int32_t *order,
                                     const double *value)
{
    if (!check_all(c, reference, count, value, FM_REAL, is_input) || !check_orders(c, order, count, 3))
        return FMU_ERROR;
    return count ? fmu_answer(c, fm_set_input_derivatives(c->core, reference, count, order, value)) : FMU_OK;
}

fmu_status fmu_get_output_derivatives(fmu_component *c, const uint32_t *reference, size_t count, const int32_t *order,
                                      double *value)
{
    if (!check_all(c, reference, count, value, FM_REAL, is_output) || !check_orders(c, order, count, 1))
        return FMU_ERROR;
    return count ? fmu_answer(c, fm_get_output_derivatives(c->core, reference, count, order, value)) : FMU_OK;
}

/* Checked here as well, so that an invalid call does not trigger assembly. */
static int check_seeds(fmu_component *c, const double *seed, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        if (isfinite(seed[i])) continue;
        (void)fmu_say(c, FMU_ERROR, "seed %lu of %lu is not finite", (unsigned long)i + 1, (unsigned long)count);
        return 0;
    }
    return 1;
}

fmu_status fmu_directional_derivative(fmu_component *c, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                      size_t knowns, const double *seed, double *result)
{
    if (!check_all(c, unknown, unknowns, result, FM_REAL, is_unknown) ||
        !check_all(c, known, knowns, seed, FM_REAL, is_known) || !check_seeds(c, seed, knowns) ||
        fmu_assembled(c) != FMU_OK) {
        return FMU_ERROR;
    }
    if (unknowns == 0) return FMU_OK;
    return fmu_answer(c, fm_directional_derivative(c->core, unknown, unknowns, known, knowns, seed, result));
}

fmu_status fmu_adjoint_derivative(fmu_component *c, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                  size_t knowns, const double *seed, double *result)
{
    if (!check_all(c, unknown, unknowns, seed, FM_REAL, is_unknown) ||
        !check_all(c, known, knowns, result, FM_REAL, is_known) || !check_seeds(c, seed, unknowns) ||
        fmu_assembled(c) != FMU_OK) {
        return FMU_ERROR;
    }
    if (knowns == 0) return FMU_OK;
    return fmu_answer(c, fm_adjoint_derivative(c->core, unknown, unknowns, known, knowns, seed, result));
}
