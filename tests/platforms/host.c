/* host.c: runs the FMU binaries of a folder on the platform for which it is compiled, and prints what they computed.
 *
 *     host JOBS    for each job three lines: the library; the URI of the resources;
 *                  GUID STEPS STEP COUNT, and COUNT value references
 *
 * For each job it prints "job LIBRARY"; a line of COUNT numbers, as the 16 digits of their bits, for the start and after each
 * of the STEPS steps of STEP seconds; "restored" if the second half repeats to the bit from a state that was serialised; and
 * "refused" if a step backwards in time is refused. What failed ends with exit code 1 and the name of the call.
 */
#include "fmi2FunctionTypes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
typedef HMODULE library;
static library opened(const char *path)
{
    wchar_t wide[2048];
    return MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 2048) > 0 ? LoadLibraryW(wide) : NULL;
}
static void *function(library from, const char *name) { return (void *)(uintptr_t)GetProcAddress(from, name); }
static int closed(library from) { return FreeLibrary(from) != 0; }
#else
#include <dlfcn.h>
typedef void *library;
static library opened(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void *function(library from, const char *name) { return dlsym(from, name); }
static int closed(library from) { return dlclose(from) == 0; }
#endif

enum { MOST = 4000 };

static void fail(const char *what)
{
    (void)fprintf(stderr, "host: %s\n", what);
    exit(1);
}

static void logged(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    va_list values;
    (void)environment, (void)status;
    va_start(values, message);
    (void)fprintf(stderr, "%s [%s] ", name, category);
    (void)vfprintf(stderr, message, values);
    (void)fputc('\n', stderr);
    va_end(values);
}

typedef struct job {
    char path[2048], guid[64], resources[2048];
    int steps, count;
    double step;
    fmi2ValueReference reference[MOST];
} job;

/* The bits of all values, on one line. */
static void print(fmi2GetRealTYPE *get, fmi2Component c, const job *j, uint64_t *bits)
{
    static double value[MOST];
    if (get(c, j->reference, (size_t)j->count, value) != fmi2OK) fail("fmi2GetReal");
    memcpy(bits, value, (size_t)j->count * sizeof *value);
    for (int i = 0; i < j->count; i++) (void)printf("%016" PRIx64 "%c", bits[i], i + 1 < j->count ? ' ' : '\n');
}

#define FUNCTION(name) name##TYPE *name = (name##TYPE *)(uintptr_t)function(lib, #name); if (name == NULL) fail(#name)
#define CALL(call) do { if ((call) != fmi2OK) fail(#call); } while (0)

static void run(const job *j)
{
    static uint64_t last[MOST], again[MOST];
    static double value[MOST];
    const fmi2CallbackFunctions callbacks = {logged, calloc, free, NULL, NULL};
    const library lib = opened(j->path);
    if (lib == NULL) fail("the library cannot be loaded");
    FUNCTION(fmi2Instantiate);
    FUNCTION(fmi2SetupExperiment);
    FUNCTION(fmi2EnterInitializationMode);
    FUNCTION(fmi2ExitInitializationMode);
    FUNCTION(fmi2DoStep);
    FUNCTION(fmi2GetReal);
    FUNCTION(fmi2GetFMUstate);
    FUNCTION(fmi2SetFMUstate);
    FUNCTION(fmi2FreeFMUstate);
    FUNCTION(fmi2SerializedFMUstateSize);
    FUNCTION(fmi2SerializeFMUstate);
    FUNCTION(fmi2DeSerializeFMUstate);
    FUNCTION(fmi2Terminate);
    FUNCTION(fmi2FreeInstance);
    fmi2Component c = fmi2Instantiate("m", fmi2CoSimulation, j->guid, j->resources, &callbacks, fmi2False, fmi2False);
    if (c == NULL) fail("fmi2Instantiate");
    CALL(fmi2SetupExperiment(c, fmi2False, 0.0, 0.0, fmi2False, 0.0));
    CALL(fmi2EnterInitializationMode(c));
    CALL(fmi2ExitInitializationMode(c));
    print(fmi2GetReal, c, j, last);
    fmi2FMUstate state = NULL;
    fmi2Byte *bytes = NULL;
    size_t size = 0;
    for (int i = 0; i < j->steps; i++) {
        if (i == j->steps / 2) {
            CALL(fmi2GetFMUstate(c, &state));
            CALL(fmi2SerializedFMUstateSize(c, state, &size));
            if ((bytes = malloc(size)) == NULL) fail("malloc");
            CALL(fmi2SerializeFMUstate(c, state, bytes, size));
            CALL(fmi2FreeFMUstate(c, &state));
        }
        CALL(fmi2DoStep(c, i * j->step, j->step, fmi2False));
        print(fmi2GetReal, c, j, last);
    }
    CALL(fmi2DeSerializeFMUstate(c, bytes, size, &state));
    CALL(fmi2SetFMUstate(c, state));
    for (int i = j->steps / 2; i < j->steps; i++) CALL(fmi2DoStep(c, i * j->step, j->step, fmi2False));
    CALL(fmi2GetReal(c, j->reference, (size_t)j->count, value));
    memcpy(again, value, sizeof again);
    (void)puts(memcmp(again, last, (size_t)j->count * sizeof *last) == 0 ? "restored" : "not restored");
    (void)puts(fmi2DoStep(c, 0.0, -1.0, fmi2False) > fmi2Warning ? "refused" : "not refused");
    CALL(fmi2FreeFMUstate(c, &state));
    free(bytes);
    (void)fmi2Terminate(c);
    fmi2FreeInstance(c);
    if (!closed(lib)) fail("the library cannot be closed");
}

/* The next line without its end. 0: there is none. */
static int read_line(FILE *from, char *line, int size)
{
    if (fgets(line, size, from) == NULL) return 0;
    line[strcspn(line, "\r\n")] = 0;
    return line[0] != 0;
}

int main(int count, char **argument)
{
    static job j;
    FILE *jobs = count == 2 ? fopen(argument[1], "r") : NULL;
    if (jobs == NULL) fail("usage: host JOBS");
    while (read_line(jobs, j.path, sizeof j.path) && read_line(jobs, j.resources, sizeof j.resources)) {
        if (fscanf(jobs, "%63s %d %lf %d", j.guid, &j.steps, &j.step, &j.count) != 4) fail("a job is incomplete");
        if (j.count < 1 || j.count > MOST) fail("too many values");
        for (int i = 0; i < j.count; i++)
            if (fscanf(jobs, "%u", &j.reference[i]) != 1) fail("value references are missing");
        (void)fgetc(jobs);
        (void)printf("job %s\n", j.path);
        run(&j);
    }
    (void)fclose(jobs);
    return 0;
}
