/* realtime_host.c: steps an FMU that is linked statically, and prints what each step takes.
 *
 *   host GUID STEPS STEP START    (NAME, the FMU's, is defined; its file is compiled with malloc called host_malloc)
 *
 * First the stack of the initialisation [bytes] and its allocations; then, for each step from the time START on, its
 * basic blocks, its stack and its allocations. Blocks are counted where the FMU was compiled with GCC's
 * -fsanitize-coverage=trace-pc. The stack is painted before each call: what is no longer painted was used.
 */
#include "fmi2Functions.h"

#include <stdio.h>
#include <stdlib.h>

#define JOINED(a, b) a##_##b
#define OF(a, b) JOINED(a, b)
#define F(name) OF(NAME, name)
extern fmi2InstantiateTYPE F(fmi2Instantiate);
extern fmi2SetupExperimentTYPE F(fmi2SetupExperiment);
extern fmi2EnterInitializationModeTYPE F(fmi2EnterInitializationMode);
extern fmi2ExitInitializationModeTYPE F(fmi2ExitInitializationMode);
extern fmi2DoStepTYPE F(fmi2DoStep);
extern fmi2FreeInstanceTYPE F(fmi2FreeInstance);

enum { ROOM = 200000, PAINT = 0xA5 };

static unsigned long blocks, allocations;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

void *host_malloc(size_t size)
{
    allocations++;
    return malloc(size);
}

void *host_calloc(size_t count, size_t size)
{
    allocations++;
    return calloc(count, size);
}

void *host_realloc(void *old, size_t size)
{
    allocations++;
    return realloc(old, size);
}

void host_free(void *old)
{
    free(old);
}

static void report(void *environment, fmi2String name, fmi2Status status, fmi2String category, fmi2String text, ...)
{
    (void)environment, (void)status, (void)category;
    fprintf(stderr, "%s: %s\n", name, text);
}

static const fmi2CallbackFunctions callbacks = {report, calloc, free, NULL, NULL};
static fmi2Component instance;
static const char *guid;
static double now, width;
static int status;

static void open(void)
{
    instance = F(fmi2Instantiate)("unit", fmi2CoSimulation, guid, NULL, &callbacks, 0, 0);
    status = instance ? 0 : 1;
}

static void begin(void)
{
    status = F(fmi2SetupExperiment)(instance, 0, 0.0, 0.0, 0, 0.0) || F(fmi2EnterInitializationMode)(instance) ||
             F(fmi2ExitInitializationMode)(instance);
}

static void step(void)
{
    status = F(fmi2DoStep)(instance, now, width, 1);
}

static void paint(void)
{
    volatile unsigned char stack[ROOM];
    for (size_t i = 0; i < ROOM; i++) stack[i] = PAINT;
}

static size_t painted(void)
{
    volatile unsigned char stack[ROOM];
    size_t i = 0;
    while (i < ROOM && stack[i] == PAINT) i++;
    return i;
}

/* Calls work and prints what it took. */
static void measure(void (*work)(void))
{
    blocks = allocations = 0;
    paint();
    work();
    const unsigned long taken = blocks;
    printf("%lu %lu %lu\n", taken, (unsigned long)(ROOM - painted()), allocations);
    if (status != 0) exit(2);
}

int main(int count, char **argument)
{
    if (count < 4) return 4;
    guid = argument[1], width = atof(argument[3]);
    measure(open);
    measure(begin);
    for (int i = 0; i < atoi(argument[2]); i++) {
        now = i * width;
        measure(step);
    }
    F(fmi2FreeInstance)(instance);
    return 0;
}
