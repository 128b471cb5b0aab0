/* fmi2_values.c: reads and sets variables and their derivatives.
 *
 * Every call checks all its value references before it changes anything. What may be set when:
 *   inputs, tunable parameters             any time before fmi2Terminate
 *   fixed parameters, states (exact start) before fmi2ExitInitializationMode
 *   other outputs                          never
 */
#include "fmi2_component.h"

#include <limits.h>
#include <math.h>

enum { CHUNK = 64 }; /* integers converted at a time */

typedef char fmu_reference_is_uint32[sizeof(fmi2ValueReference) == sizeof(uint32_t) ? 1 : -1];
typedef char fmu_integer_is_int32[sizeof(fmi2Integer) == sizeof(int32_t) ? 1 : -1];

/* Whether a variable may be used in the present call; sends a message if not. */
typedef int fmu_check(fmu_component *c, fmi2ValueReference reference, const fm_variable_info *info);

static const uint32_t *references(const fmi2ValueReference *vr)
{
    return (const uint32_t *)vr;
}

static const int32_t *orders(const fmi2Integer *order)
{
    return (const int32_t *)order;
}

/* Refuses variable `reference` with a message that begins with its name. */
static int refuse(fmu_component *c, fmi2ValueReference reference, const char *sentence)
{
    char name[256];
    (void)fm_variable_name(c->core, reference, name, sizeof name);
    (void)fmu_say(c, fmi2Error, "'%s' (value reference %u) %s", name, reference, sentence);
    return 0;
}

static int has_type(fmu_component *c, fmi2ValueReference reference, const fm_variable_info *info,
                    int32_t type)
{
    if (info->type == type) return 1;
    return refuse(c, reference,
                  info->type == FM_REAL    ? "is a Real; use the functions for Real" :
                  info->type == FM_INTEGER ? "is an Integer; use the functions for Integer" :
                                             "is a Boolean; use the functions for Boolean");
}

/* Checks all of `vr`, which the caller reads or sets through `values`. */
static int check_all(fmu_component *c, const fmi2ValueReference *vr, size_t nvr, const void *values,
                     int32_t type, fmu_check *check)
{
    size_t i;
    if (nvr > 0 && (!vr || !values)) {
        (void)fmu_say(c, fmi2Error, "an array of %lu elements is NULL", (unsigned long)nvr);
        return 0;
    }
    for (i = 0; i < nvr; i++) {
        fm_variable_info info;
        if (fm_variable(c->core, vr[i], &info) != FM_OK) {
            (void)fmu_say(c, fmi2Error, "value reference %u does not exist; they range from 0 to %lu", vr[i],
                          (unsigned long)fm_variable_count(c->core) - 1);
            return 0;
        }
        if (!has_type(c, vr[i], &info, type) || (check && !check(c, vr[i], &info))) return 0;
    }
    return 1;
}

static int may_be_set(fmu_component *c, fmi2ValueReference reference, const fm_variable_info *info)
{
    if (info->causality == FM_INPUT || (info->causality == FM_PARAMETER && info->tunable)) return 1;
    if (info->causality == FM_LOCAL) return refuse(c, reference, "is a constant and cannot be set");
    if (info->causality == FM_OUTPUT && !info->state)
        return refuse(c, reference, "is a computed output and cannot be set");
    if (c->experiment.phase & (FMU_INSTANTIATED | FMU_INITIALIZATION)) return 1;
    if (info->causality == FM_OUTPUT)
        return refuse(c, reference, "is a state, set before fmi2ExitInitializationMode only; use fmi2Reset");
    return refuse(c, reference, "is fixed, set before fmi2ExitInitializationMode only; use fmi2Reset");
}

static int is_input(fmu_component *c, fmi2ValueReference reference, const fm_variable_info *info)
{
    return info->causality == FM_INPUT || refuse(c, reference, "is not an input");
}

static int is_output(fmu_component *c, fmi2ValueReference reference, const fm_variable_info *info)
{
    return info->causality == FM_OUTPUT || refuse(c, reference, "is not an output");
}

/* Values ------------------------------------------------------------------------------------------------ */

/* Assembles if some of `vr` depend on it: parameters and inputs are read as they were set, between two calls that set them too. */
static fmi2Status ready(fmu_component *c, const fmi2ValueReference *vr, size_t nvr)
{
    size_t i;
    for (i = 0; i < nvr; i++) {
        fm_variable_info info;
        if (fm_variable(c->core, vr[i], &info) == FM_OK && info.causality == FM_OUTPUT) return fmu_assembled(c);
    }
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[])
{
    fmu_component *c = fmu_begin(component, FMU_GET_REAL);
    if (!c || !check_all(c, vr, nvr, value, FM_REAL, NULL) || ready(c, vr, nvr) != fmi2OK) return fmi2Error;
    return nvr ? fmu_answer(c, fm_get(c->core, references(vr), nvr, value)) : fmi2OK;
}

/* After a value was set: in initialization mode the mechanism has to be assembled again. */
static fmi2Status after_setting(fmu_component *c, fmi2Status status)
{
    if (status == fmi2OK && c->experiment.phase == FMU_INITIALIZATION) c->experiment.unassembled = 1;
    return status;
}

fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                       const fmi2Real value[])
{
    fmu_component *c = fmu_begin(component, FMU_SET_REAL);
    if (!c || !check_all(c, vr, nvr, value, FM_REAL, may_be_set)) return fmi2Error;
    return nvr ? after_setting(c, fmu_answer(c, fm_set(c->core, references(vr), nvr, value))) : fmi2OK;
}

static fmi2Integer to_integer(double value)
{
    return value >= INT_MAX ? INT_MAX : value > INT_MIN ? (fmi2Integer)value : INT_MIN;
}

static size_t chunk_at(size_t done, size_t all)
{
    return all - done < CHUNK ? all - done : (size_t)CHUNK;
}

/* FMI's Integer and Boolean are ints, the core's values doubles. */
static fmi2Status get_whole(fmi2Component component, fmu_call call, int32_t type, const fmi2ValueReference vr[],
                            size_t nvr, int value[])
{
    fmu_component *c = fmu_begin(component, call);
    double real[CHUNK];
    size_t done;
    size_t i;
    if (!c || !check_all(c, vr, nvr, value, type, NULL) || ready(c, vr, nvr) != fmi2OK) return fmi2Error;
    for (done = 0; done < nvr; done += chunk_at(done, nvr)) {
        fmi2Status status = fmu_answer(c, fm_get(c->core, references(vr + done), chunk_at(done, nvr), real));
        if (status != fmi2OK) return status;
        for (i = 0; i < chunk_at(done, nvr); i++) value[done + i] = to_integer(real[i]);
    }
    return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                             fmi2Integer value[])
{
    return get_whole(component, FMU_GET_INTEGER, FM_INTEGER, vr, nvr, value);
}

fmi2Status fmi2GetBoolean(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                             fmi2Boolean value[])
{
    return get_whole(component, FMU_GET_BOOLEAN, FM_BOOLEAN, vr, nvr, value);
}

fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                          const fmi2Integer value[])
{
    fmu_component *c = fmu_begin(component, FMU_SET_INTEGER);
    double real[CHUNK];
    size_t done;
    size_t i;
    if (!c || !check_all(c, vr, nvr, value, FM_INTEGER, may_be_set)) return fmi2Error;
    for (done = 0; done < nvr; done += chunk_at(done, nvr)) {
        fmi2Status status;
        for (i = 0; i < chunk_at(done, nvr); i++) real[i] = value[done + i];
        status = fmu_answer(c, fm_set(c->core, references(vr + done), chunk_at(done, nvr), real));
        if (after_setting(c, status) != fmi2OK) return status;
    }
    return fmi2OK;
}

/* All Booleans are constants. */
fmi2Status fmi2SetBoolean(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                          const fmi2Boolean value[])
{
    fmu_component *c = fmu_begin(component, FMU_SET_BOOLEAN);
    return c && check_all(c, vr, nvr, value, FM_BOOLEAN, may_be_set) ? fmi2OK : fmi2Error;
}

/* A model has no variables of type String. */
static fmi2Status no_strings(fmi2Component component, fmu_call call, size_t nvr)
{
    fmu_component *c = fmu_begin(component, call);
    if (!c) return fmi2Error;
    return nvr ? fmu_say(c, fmi2Error, "this FMU has no variable of type String") : fmi2OK;
}

fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                            fmi2String value[])
{
    (void)vr, (void)value;
    return no_strings(component, FMU_GET_STRING, nvr);
}

fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                         const fmi2String value[])
{
    (void)vr, (void)value;
    return no_strings(component, FMU_SET_STRING, nvr);
}

/* Derivatives ------------------------------------------------------------------------------------------- */

static int check_orders(fmu_component *c, const fmi2Integer *order, size_t nvr, fmi2Integer highest)
{
    size_t i;
    if (nvr > 0 && !order) {
        (void)fmu_say(c, fmi2Error, "order is NULL");
        return 0;
    }
    for (i = 0; i < nvr; i++) {
        if (order[i] >= 1 && order[i] <= highest) continue;
        (void)fmu_say(c, fmi2Error, "order %d is not among the orders 1 to %d", order[i], highest);
        return 0;
    }
    return 1;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    fmu_component *c = fmu_begin(component, FMU_SET_INPUT_DERIVATIVES);
    if (!c || !check_all(c, vr, nvr, value, FM_REAL, is_input)) return fmi2Error;
    if (!check_orders(c, order, nvr, 3)) return fmi2Error;
    if (nvr == 0) return fmi2OK;
    return fmu_answer(c, fm_set_input_derivatives(c->core, references(vr), nvr, orders(order), value));
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[])
{
    fmu_component *c = fmu_begin(component, FMU_GET_OUTPUT_DERIVATIVES);
    if (!c || !check_all(c, vr, nvr, value, FM_REAL, is_output)) return fmi2Error;
    if (!check_orders(c, order, nvr, 1)) return fmi2Error;
    if (nvr == 0) return fmi2OK;
    return fmu_answer(c, fm_get_output_derivatives(c->core, references(vr), nvr, orders(order), value));
}

/* Checked here as well, so that an invalid call does not trigger assembly. */
static int check_seeds(fmu_component *c, const fmi2Real *seed, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        if (isfinite(seed[i])) continue;
        (void)fmu_say(c, fmi2Error, "seed %lu of %lu is not finite", (unsigned long)i + 1, (unsigned long)count);
        return 0;
    }
    return 1;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference vUnknown_ref[],
                                        size_t nUnknown, const fmi2ValueReference vKnown_ref[], size_t nKnown,
                                        const fmi2Real dvKnown[], fmi2Real dvUnknown[])
{
    fmu_component *c = fmu_begin(component, FMU_DIRECTIONAL_DERIVATIVE);
    if (!c || !check_all(c, vUnknown_ref, nUnknown, dvUnknown, FM_REAL, is_output) ||
        !check_all(c, vKnown_ref, nKnown, dvKnown, FM_REAL, is_input) || !check_seeds(c, dvKnown, nKnown) ||
        fmu_assembled(c) != fmi2OK) {
        return fmi2Error;
    }
    if (nUnknown == 0) return fmi2OK;
    return fmu_answer(c, fm_directional_derivative(c->core, references(vUnknown_ref), nUnknown,
                                                   references(vKnown_ref), nKnown, dvKnown, dvUnknown));
}
