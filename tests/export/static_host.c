/* static_host.c: steps two FMUs by turns and prints all that they compute, in digits that show every bit.
 *
 *   host MODE STEPS STEP  GUID PLACE COUNT  GUID PLACE COUNT
 *
 * MODE: cs2, cs3 or me2; PLACE: of resources/, "-" for none; COUNT: the variables 0 to COUNT - 1 are outputs of type
 * Real and printed. Compiled with FIRST and SECOND, two names, it calls FMUs that are linked statically; without them
 * PLACE is a folder with fmumbs.so, which it loads, and resources/.
 */
#include "fmi2Functions.h"
#include "fmi3Functions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS(C)                                                                                                       \
    C(fmi2Instantiate)                                                                                                 \
    C(fmi2SetupExperiment)                                                                                             \
    C(fmi2EnterInitializationMode)                                                                                     \
    C(fmi2ExitInitializationMode)                                                                                      \
    C(fmi2GetReal)                                                                                                     \
    C(fmi2DoStep)                                                                                                      \
    C(fmi2NewDiscreteStates)                                                                                           \
    C(fmi2EnterContinuousTimeMode)                                                                                     \
    C(fmi2SetTime)                                                                                                     \
    C(fmi2GetContinuousStates)                                                                                         \
    C(fmi2SetContinuousStates)                                                                                         \
    C(fmi2GetDerivatives)                                                                                              \
    C(fmi2FreeInstance)                                                                                                \
    C(fmi3InstantiateCoSimulation)                                                                                     \
    C(fmi3EnterInitializationMode)                                                                                     \
    C(fmi3ExitInitializationMode)                                                                                      \
    C(fmi3GetFloat64)                                                                                                  \
    C(fmi3DoStep)                                                                                                      \
    C(fmi3FreeInstance)

typedef struct functions {
#define C(name) name##TYPE *name;
    CALLS(C)
#undef C
} functions;

#ifdef FIRST
#define JOINED(a, b) a##_##b
#define OF(a, b) JOINED(a, b)
#define C(name) extern name##TYPE OF(FIRST, name), OF(SECOND, name);
CALLS(C)
#undef C
#define C(name) OF(FIRST, name),
static const functions first = {CALLS(C)};
#undef C
#define C(name) OF(SECOND, name),
static const functions second = {CALLS(C)};
#undef C
#else
#include <dlfcn.h>

static functions load(const char *folder)
{
    char path[1000];
    functions found;
    void *library;
    (void)snprintf(path, sizeof path, "%s/fmumbs.so", folder);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) exit((fputs(dlerror(), stderr), 3));
#define C(name) *(void **)&found.name = dlsym(library, #name);
    CALLS(C)
#undef C
    return found;
}
#endif

enum { MOST = 4000 };

typedef struct unit {
    functions call;
    void *instance;
    const char *guid, *place;
    unsigned reference[MOST];
    size_t count;
    double value[MOST], state[MOST], rate[MOST];
} unit;

static void log2(void *environment, fmi2String name, fmi2Status status, fmi2String category, fmi2String text, ...)
{
    (void)environment, (void)status, (void)category;
    fprintf(stderr, "%s: %s\n", name, text);
}

static void log3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String text)
{
    (void)environment, (void)status, (void)category;
    fprintf(stderr, "%s\n", text);
}

static void need(int fine, const char *what)
{
    if (!fine) exit((fprintf(stderr, "%s failed\n", what), 2));
}

static const fmi2CallbackFunctions callbacks = {log2, calloc, free, NULL, NULL};

static void start(unit *u, const char *mode)
{
    char uri[1000];
    const char *place = NULL;
    if (strcmp(u->place, "-") != 0) {
        (void)snprintf(uri, sizeof uri, mode[2] == '2' ? "file://%s/resources" : "%s/resources/", u->place);
        place = uri;
    }
    if (mode[2] == '3') {
        u->instance =
            u->call.fmi3InstantiateCoSimulation("unit", u->guid, place, 0, 0, 0, 0, NULL, 0, NULL, log3, NULL);
        need(u->instance && u->call.fmi3EnterInitializationMode(u->instance, 0, 0.0, 0.0, 0, 0.0) == fmi3OK, "start");
        need(u->call.fmi3ExitInitializationMode(u->instance) == fmi3OK, "initialisation");
        return;
    }
    u->instance = u->call.fmi2Instantiate("unit", mode[0] == 'c' ? fmi2CoSimulation : fmi2ModelExchange, u->guid, place,
                                          &callbacks, 0, 0);
    need(u->instance && u->call.fmi2SetupExperiment(u->instance, 0, 0.0, 0.0, 0, 0.0) == fmi2OK, "start");
    need(u->call.fmi2EnterInitializationMode(u->instance) == fmi2OK, "initialisation");
    need(u->call.fmi2ExitInitializationMode(u->instance) == fmi2OK, "initialisation");
    if (mode[0] == 'm') {
        fmi2EventInfo info;
        need(u->call.fmi2NewDiscreteStates(u->instance, &info) == fmi2OK, "events");
        need(u->call.fmi2EnterContinuousTimeMode(u->instance) == fmi2OK, "continuous time");
    }
}

/* The number of continuous states: the most that the FMU takes. */
static size_t states(unit *u)
{
    size_t n = MOST;
    while (n > 0 && u->call.fmi2GetContinuousStates(u->instance, u->state, n) != fmi2OK) n--;
    return n;
}

static void step(unit *u, const char *mode, double t, double h, size_t n)
{
    if (mode[2] == '3') {
        fmi3Boolean event, ended, early;
        double at;
        need(u->call.fmi3DoStep(u->instance, t, h, 1, &event, &ended, &early, &at) == fmi3OK, "fmi3DoStep");
    } else if (mode[0] == 'c') {
        need(u->call.fmi2DoStep(u->instance, t, h, 1) == fmi2OK, "fmi2DoStep");
    } else {
        need(u->call.fmi2GetDerivatives(u->instance, u->rate, n) == fmi2OK, "fmi2GetDerivatives");
        need(u->call.fmi2GetContinuousStates(u->instance, u->state, n) == fmi2OK, "fmi2GetContinuousStates");
        for (size_t i = 0; i < n; i++) u->state[i] += h * u->rate[i];
        need(u->call.fmi2SetTime(u->instance, t + h) == fmi2OK, "fmi2SetTime");
        need(u->call.fmi2SetContinuousStates(u->instance, u->state, n) == fmi2OK, "fmi2SetContinuousStates");
    }
}

static void print(unit *u, const char *mode)
{
    if (mode[2] == '3')
        need(u->call.fmi3GetFloat64(u->instance, u->reference, u->count, u->value, u->count) == fmi3OK, "values");
    else need(u->call.fmi2GetReal(u->instance, u->reference, u->count, u->value) == fmi2OK, "values");
    for (size_t i = 0; i < u->count; i++) printf("%a ", u->value[i]);
    printf("\n");
}

int main(int count, char **argument)
{
    static unit units[2];
    const char *mode = argument[1];
    const int steps = count > 2 ? atoi(argument[2]) : 0;
    const double h = count > 3 ? atof(argument[3]) : 0.0;
    size_t n[2] = {0, 0};
    if (count < 10) return 4;
    for (int i = 0; i < 2; i++) {
        unit *u = units + i;
        char *list = argument[6 + 3 * i];
        u->guid = argument[4 + 3 * i], u->place = argument[5 + 3 * i];
        for (char *one = strtok(list, ","); one; one = strtok(NULL, ","))
            u->reference[u->count++] = (unsigned)atol(one);
#ifdef FIRST
        u->call = i == 0 ? first : second;
#else
        u->call = load(u->place);
#endif
        start(u, mode);
        if (mode[0] == 'm') n[i] = states(u);
    }
    for (int k = 0; k < steps; k++) {
        for (int i = 0; i < 2; i++) {
            print(units + i, mode);
            step(units + i, mode, h * k, h, n[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        print(units + i, mode);
        if (mode[2] == '3') units[i].call.fmi3FreeInstance(units[i].instance);
        else units[i].call.fmi2FreeInstance(units[i].instance);
    }
    return 0;
}
