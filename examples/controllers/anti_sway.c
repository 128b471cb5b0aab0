/* State feedback for a crane's trolley, an FMI 2.0 co-simulation FMU written by hand: no code of fmumbs in it.

   force = k_x (desired - x) - k_v v - k_angle angle - k_rate rate, once a communication step; desired goes from 0 to
   `distance` in `time` by a polynomial of order five. The force that a step has computed holds until the next. */

#include <stdlib.h>
#include <string.h>

#include "fmi2Functions.h"

#define GUID "{5e0f7a3c-0f43-4d13-9b5e-6d1c8f0a2b41}"

enum { X, V, ANGLE, RATE, DISTANCE, TIME, K_X, K_V, K_ANGLE, K_RATE, FORCE, DESIRED, COUNT };

typedef struct {
    double value[COUNT];
} controller;

static void compute(controller *c, double t)
{
    double *u = c->value, s = t / u[TIME];
    if (s > 1) s = 1;
    u[DESIRED] = u[DISTANCE] * s * s * s * (10 - 15 * s + 6 * s * s);
    u[FORCE] = u[K_X] * (u[DESIRED] - u[X]) - u[K_V] * u[V] - u[K_ANGLE] * u[ANGLE] - u[K_RATE] * u[RATE];
}

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}
const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)name, (void)resources, (void)functions, (void)visible, (void)logging;
    if (type != fmi2CoSimulation || strcmp(guid, GUID)) return NULL;
    controller *c = calloc(1, sizeof *c);
    if (c) c->value[DISTANCE] = c->value[TIME] = 1;
    return c;
}

void fmi2FreeInstance(fmi2Component c)
{
    free(c);
}

fmi2Status fmi2Reset(fmi2Component c)
{
    memset(c, 0, sizeof(controller));
    ((controller *)c)->value[DISTANCE] = ((controller *)c)->value[TIME] = 1;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerant, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stops, fmi2Real stop)
{
    (void)c, (void)tolerant, (void)tolerance, (void)start, (void)stops, (void)stop;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    return (void)c, fmi2OK;
}
fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    return compute(c, 0), fmi2OK;
}
fmi2Status fmi2Terminate(fmi2Component c)
{
    return (void)c, fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Real value[])
{
    for (size_t i = 0; i < n; i++) {
        if (r[i] >= COUNT) return fmi2Error;
        value[i] = ((controller *)c)->value[r[i]];
    }
    return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Real value[])
{
    for (size_t i = 0; i < n; i++) {
        if (r[i] >= FORCE) return fmi2Error;
        ((controller *)c)->value[r[i]] = value[i];
    }
    return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real step, fmi2Boolean keep)
{
    (void)step, (void)keep;
    return compute(c, t), fmi2OK;
}

/* What it does not have: other types, states, derivatives of inputs and outputs, steps that go on in the background. */

#define NONE(function, parameters, unused) \
  fmi2Status function parameters { return unused, fmi2Error; }
#define GET(type) (fmi2Component c, const fmi2ValueReference r[], size_t n, type value[])
#define SET(type) (fmi2Component c, const fmi2ValueReference r[], size_t n, const type value[])
#define ALL (void)c, (void)r, (void)n, (void)value

NONE(fmi2GetInteger, GET(fmi2Integer), ALL)
NONE(fmi2GetBoolean, GET(fmi2Boolean), ALL)
NONE(fmi2GetString, GET(fmi2String), ALL)
NONE(fmi2SetInteger, SET(fmi2Integer), ALL)
NONE(fmi2SetBoolean, SET(fmi2Boolean), ALL)
NONE(fmi2SetString, SET(fmi2String), ALL)
NONE(fmi2GetFMUstate, (fmi2Component c, fmi2FMUstate *r), ((void)c, (void)r))
NONE(fmi2SetFMUstate, (fmi2Component c, fmi2FMUstate r), ((void)c, (void)r))
NONE(fmi2FreeFMUstate, (fmi2Component c, fmi2FMUstate *r), ((void)c, (void)r))
NONE(fmi2SerializedFMUstateSize, (fmi2Component c, fmi2FMUstate r, size_t *n), ((void)c, (void)r, (void)n))
NONE(fmi2SerializeFMUstate, (fmi2Component c, fmi2FMUstate r, fmi2Byte value[], size_t n), ALL)
NONE(fmi2DeSerializeFMUstate, (fmi2Component c, const fmi2Byte r[], size_t n, fmi2FMUstate *value), ALL)
NONE(fmi2GetDirectionalDerivative,
     (fmi2Component c, const fmi2ValueReference z[], size_t m, const fmi2ValueReference r[], size_t n,
      const fmi2Real dr[], fmi2Real value[]),
     ((void)z, (void)m, (void)dr, ALL))
NONE(fmi2SetRealInputDerivatives,
     (fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer order[], const fmi2Real value[]),
     ((void)order, ALL))
NONE(fmi2GetRealOutputDerivatives,
     (fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer order[], fmi2Real value[]),
     ((void)order, ALL))
NONE(fmi2CancelStep, (fmi2Component c), (void)c)
NONE(fmi2GetStatus, (fmi2Component c, const fmi2StatusKind r, fmi2Status *value), ((void)c, (void)r, (void)value))
NONE(fmi2GetRealStatus, (fmi2Component c, const fmi2StatusKind r, fmi2Real *value), ((void)c, (void)r, (void)value))
NONE(fmi2GetIntegerStatus, (fmi2Component c, const fmi2StatusKind r, fmi2Integer *value),
     ((void)c, (void)r, (void)value))
NONE(fmi2GetBooleanStatus, (fmi2Component c, const fmi2StatusKind r, fmi2Boolean *value),
     ((void)c, (void)r, (void)value))
NONE(fmi2GetStringStatus, (fmi2Component c, const fmi2StatusKind r, fmi2String *value), ((void)c, (void)r, (void)value))

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[])
{
    return (void)c, (void)on, (void)n, (void)names, fmi2OK;
}
