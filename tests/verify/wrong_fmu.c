/* wrong_fmu.c: an FMU's binary that is wrong in one way, chosen by -DWRONG=way.
 *
 * It stands in front of a right one, real.so beside it, which it is linked to: the loader finds there what is not
 * defined here. INPUT and PARAMETER are value references, of the real input of the model and of a parameter.
 */
#define _GNU_SOURCE
#include "fmi/fmi2Functions.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

#define RESET_KEEPS_AN_INPUT                          0
#define LONG_STEPS_ARE_PUSHED                         1
#define SET_STATE_KEEPS_THE_INPUTS                    2
#define READ_STATE_LOSES_THE_INPUTS                   3
#define READ_STATE_IS_WRITTEN_OTHERWISE               4
#define INPUT_DERIVATIVES_ARE_IGNORED                 5
#define THIRD_INPUT_DERIVATIVES_ARE_IGNORED           6
#define SECOND_INPUT_DERIVATIVES_ARE_REFUSED          7
#define THIRD_INPUT_DERIVATIVES_BREAK                 8
#define STEPS_AFTER_THIRD_INPUT_DERIVATIVES_BREAK     9
#define DIRECTIONAL_DERIVATIVES_ARE_TOO_LARGE         10
#define SUMS_OF_DIRECTIONAL_DERIVATIVES_ARE_TOO_LARGE 11
#define OUTPUT_DERIVATIVES_ARE_TOO_LARGE              12
#define SECOND_INSTANCES_ARE_PUSHED                   13
#define VALUES_TURN_NOT_A_NUMBER                      14
#define CONSTANTS_ARE_INVERTED                        15
#define VALUES_ARE_OFF_BY_A_BIT                       16
#define PARAMETERS_START_ELSEWHERE                    17
#define DIRECTIONAL_DERIVATIVES_TURN_INFINITE         20
#define DIRECTIONAL_DERIVATIVES_TURN_NOT_A_NUMBER     21
#define OUTPUT_DERIVATIVES_TURN_INFINITE              22
#define OUTPUT_DERIVATIVES_TURN_NOT_A_NUMBER          23
#define STEPS_FAIL                                    19
#define STOP_TIMES_ARE_FORGOTTEN                      18
#define DIRECTIONAL_DERIVATIVES_AGE                   24
#define DECLARED_DERIVATIVES_ARE_TOO_LARGE            25

#define REAL(name) ((name##TYPE *)dlsym(RTLD_NEXT, #name))

static fmi2Status push(fmi2Component c, fmi2Real by)
{
    const fmi2ValueReference input = INPUT;
    fmi2Real value;
    fmi2Status status = REAL(fmi2GetReal)(c, &input, 1, &value);
    value += by;
    return status == fmi2OK ? REAL(fmi2SetReal)(c, &input, 1, &value) : status;
}

#if WRONG == RESET_KEEPS_AN_INPUT
fmi2Status fmi2Reset(fmi2Component c)
{
    const fmi2ValueReference parameter = PARAMETER;
    const fmi2Real value = 1.5;
    const fmi2Status status = REAL(fmi2Reset)(c);
    (void)push;
    return status == fmi2OK ? REAL(fmi2SetReal)(c, &parameter, 1, &value) : status;
}
#endif

#if WRONG == LONG_STEPS_ARE_PUSHED
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean none)
{
    const fmi2Real by = h > 1.2 * INTERVAL ? 0.1 : 0.0;
    fmi2Status status = push(c, by);
    if (status == fmi2OK) status = REAL(fmi2DoStep)(c, t, h, none);
    return status == fmi2OK ? push(c, -by) : status;
}
#endif

#if WRONG == SET_STATE_KEEPS_THE_INPUTS
static fmi2Component stepped;

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean none)
{
    stepped = c;
    return REAL(fmi2DoStep)(c, t, h, none);
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    const fmi2Status status = REAL(fmi2SetFMUstate)(c, state);
    return status == fmi2OK && stepped == c ? push(c, 0.1) : status;
}
#endif

#if WRONG == READ_STATE_LOSES_THE_INPUTS || WRONG == READ_STATE_IS_WRITTEN_OTHERWISE
static fmi2FMUstate read;

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    const fmi2Status status = REAL(fmi2DeSerializeFMUstate)(c, bytes, size, state);
    read = *state;
    return status;
}
#endif

#if WRONG == READ_STATE_LOSES_THE_INPUTS
fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    const fmi2Status status = REAL(fmi2SetFMUstate)(c, state);
    return status == fmi2OK && state == read ? push(c, 0.1) : status;
}
#endif

#if WRONG == READ_STATE_IS_WRITTEN_OTHERWISE
fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    const fmi2Status status = REAL(fmi2SerializeFMUstate)(c, state, bytes, size);
    if (state == read) bytes[size - 1] ^= 1;
    return status;
}
#endif

#if WRONG >= INPUT_DERIVATIVES_ARE_IGNORED && WRONG <= STEPS_AFTER_THIRD_INPUT_DERIVATIVES_BREAK
static int broken;

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    if (WRONG == INPUT_DERIVATIVES_ARE_IGNORED && order[0] == 1) return fmi2OK;
    if (WRONG == THIRD_INPUT_DERIVATIVES_ARE_IGNORED && order[0] == 3) return fmi2OK;
    if (WRONG == SECOND_INPUT_DERIVATIVES_ARE_REFUSED && order[0] == 2) return fmi2Error;
    if (WRONG == THIRD_INPUT_DERIVATIVES_BREAK && order[0] == 3) return fmi2Fatal;
    broken = WRONG == STEPS_AFTER_THIRD_INPUT_DERIVATIVES_BREAK && order[0] == 3;
    return REAL(fmi2SetRealInputDerivatives)(c, vr, n, order, value);
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean none)
{
    const fmi2Status status = broken ? fmi2Discard : REAL(fmi2DoStep)(c, t, h, none);
    broken = 0;
    return status;
}
#endif

#if WRONG == DIRECTIONAL_DERIVATIVES_ARE_TOO_LARGE || WRONG == SUMS_OF_DIRECTIONAL_DERIVATIVES_ARE_TOO_LARGE || \
    WRONG == DIRECTIONAL_DERIVATIVES_TURN_INFINITE || WRONG == DIRECTIONAL_DERIVATIVES_TURN_NOT_A_NUMBER
fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t unknowns,
                                        const fmi2ValueReference known[], size_t knowns, const fmi2Real seed[],
                                        fmi2Real result[])
{
    const fmi2Status status = REAL(fmi2GetDirectionalDerivative)(c, unknown, unknowns, known, knowns, seed, result);
    const int wrong = WRONG == DIRECTIONAL_DERIVATIVES_ARE_TOO_LARGE || knowns > 1;
    for (size_t i = 0; wrong && i < unknowns; i++) result[i] *= 1.0001;
    for (size_t i = 0; i < unknowns; i++) {
        if (WRONG == DIRECTIONAL_DERIVATIVES_TURN_INFINITE && unknown[i] == UNDECLARED) result[i] = INFINITY;
        if (WRONG == DIRECTIONAL_DERIVATIVES_TURN_NOT_A_NUMBER && unknown[i] == UNDECLARED) result[i] = NAN;
    }
    return status;
}
#endif

#if WRONG == DIRECTIONAL_DERIVATIVES_AGE
static fmi2Component aged;

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    if (aged == c) aged = NULL;
    return REAL(fmi2EnterInitializationMode)(c);
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean none)
{
    aged = c;
    return REAL(fmi2DoStep)(c, t, h, none);
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t unknowns,
                                        const fmi2ValueReference known[], size_t knowns, const fmi2Real seed[],
                                        fmi2Real result[])
{
    const fmi2Status status = REAL(fmi2GetDirectionalDerivative)(c, unknown, unknowns, known, knowns, seed, result);
    for (size_t i = 0; aged == c && i < unknowns; i++) result[i] *= 1.0001;
    return status;
}
#endif

#if WRONG == OUTPUT_DERIVATIVES_ARE_TOO_LARGE || WRONG == OUTPUT_DERIVATIVES_TURN_INFINITE || \
    WRONG == OUTPUT_DERIVATIVES_TURN_NOT_A_NUMBER || WRONG == DECLARED_DERIVATIVES_ARE_TOO_LARGE
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[])
{
    const fmi2Status status = REAL(fmi2GetRealOutputDerivatives)(c, vr, n, order, value);
    for (size_t i = 0; i < n; i++) {
        if (WRONG == DECLARED_DERIVATIVES_ARE_TOO_LARGE) value[i] *= 1.0 + 1e-9;
        if (WRONG == DECLARED_DERIVATIVES_ARE_TOO_LARGE || vr[i] != UNDECLARED) continue;
        /* an output whose derivative is no variable */
        value[i] = WRONG == OUTPUT_DERIVATIVES_ARE_TOO_LARGE   ? 1.01 * value[i]
                   : WRONG == OUTPUT_DERIVATIVES_TURN_INFINITE ? INFINITY
                                                               : NAN;
    }
    return status;
}
#endif

#if WRONG == SECOND_INSTANCES_ARE_PUSHED
static int alive;

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    alive++;
    return REAL(fmi2Instantiate)(name, type, guid, resources, functions, visible, logging);
}

void fmi2FreeInstance(fmi2Component c)
{
    alive--;
    REAL(fmi2FreeInstance)(c);
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    const fmi2Status status = push(c, alive > 1 ? 1e-9 : 0.0);
    return status == fmi2OK ? REAL(fmi2ExitInitializationMode)(c) : status;
}
#endif

#if WRONG == PARAMETERS_START_ELSEWHERE
static fmi2Component starting;

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    starting = c;
    return REAL(fmi2EnterInitializationMode)(c);
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    starting = NULL;
    return REAL(fmi2ExitInitializationMode)(c);
}
#else
#define starting NULL
#endif

#if WRONG == VALUES_TURN_NOT_A_NUMBER || WRONG == VALUES_ARE_OFF_BY_A_BIT || WRONG == PARAMETERS_START_ELSEWHERE
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    const fmi2Status status = REAL(fmi2GetReal)(c, vr, n, value);
    for (size_t i = 0; i < n; i++) {
        if (WRONG == VALUES_TURN_NOT_A_NUMBER && vr[i] == UNDECLARED) value[i] = NAN;
        if (WRONG == VALUES_ARE_OFF_BY_A_BIT && vr[i] == UNDECLARED) value[i] = nextafter(value[i], 1e300);
        if (WRONG == PARAMETERS_START_ELSEWHERE && starting == c && vr[i] == PARAMETER) value[i] *= 1.001;
    }
    return status;
}
#endif

#if WRONG == CONSTANTS_ARE_INVERTED
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[])
{
    const fmi2Status status = REAL(fmi2GetBoolean)(c, vr, n, value);
    for (size_t i = 0; i < n; i++) value[i] = !value[i];
    return status;
}
#endif

#if WRONG == STEPS_FAIL
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean none)
{
    return t > 2.5 * INTERVAL ? fmi2Discard : REAL(fmi2DoStep)(c, t, h, none);
}
#endif

#if WRONG == STOP_TIMES_ARE_FORGOTTEN
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stop_defined, fmi2Real stop)
{
    (void)stop_defined;
    return REAL(fmi2SetupExperiment)(c, tolerance_defined, tolerance, start, fmi2False, stop);
}
#endif
