/* host.c: runs FMU binaries on the platform for which it is compiled and prints what they answered.
 *
 *     host run JOBS [LOCALE]           each job once, in a locale
 *     host modes JOBS                  each job in each of the floating-point modes below
 *     host again JOBS TIMES            the first job with several instances, loaded and unloaded many times
 *
 * A job: a line with the library; one with the URI of the resources; GUID, number of steps and step [s]; and lists of
 * value references, each after its length: outputs, inputs, tunable parameters, Integers that may be set, Booleans.
 * Lines of a run:
 *
 *     mode NUMBER         begins a floating-point mode
 *     job RESOURCES       begins a job
 *     values BITS ...     of the outputs after initialization and after each step: 16 digits for each number
 *     slopes BITS ...     directional derivatives of the outputs by the inputs, and the outputs' own derivatives
 *     whole NUMBER ...    Integers and Booleans
 *     log STATUS TEXT     what the logger received
 *     WORD                "restored": another instance repeats the second half from a serialised state, to the bit;
 * "failed": a step under huge inputs ended with an error; "repeated": the half repeats after it; "refused": a step
 * backwards in time is refused; "reset": the first step repeats after fmi2Reset
 *
 * Whatever else fails ends with exit code 1 and the name of the call. Each call is checked to keep the floating-point
 * mode.
 */
#include "fmi2FunctionTypes.h"

#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what)
{
    (void)fprintf(stderr, "host: %s\n", what);
    exit(1);
}

/* Libraries, handles and memory ------------------------------------------------------------------------------------ */

#ifdef _WIN32
#include <windows.h>

typedef HMODULE library;

static library opened(const char *path)
{
    wchar_t wide[2048];
    return MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 2048) > 0 ? LoadLibraryW(wide) : NULL;
}

static void *function(library from, const char *name)
{
    return (void *)(uintptr_t)GetProcAddress(from, name);
}
static int closed(library from)
{
    return FreeLibrary(from) && GetModuleHandleW(L"fmumbs.dll") == NULL;
}

static long handles(void)
{
    DWORD count = 0;
    (void)GetProcessHandleCount(GetCurrentProcess(), &count);
    return (long)count;
}

/* Bytes that are allocated. */
static long allocated(void)
{
    PROCESS_HEAP_ENTRY block = {0};
    long sum = 0;
    while (HeapWalk(GetProcessHeap(), &block)) sum += block.wFlags & PROCESS_HEAP_ENTRY_BUSY ? (long)block.cbData : 0;
    return sum;
}

#else
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>

typedef void *library;

static library opened(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
static void *function(library from, const char *name)
{
    return dlsym(from, name);
}

/* Whether it is gone, too. */
static int closed(library from)
{
    char line[4096];
    int there = dlclose(from);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) there |= strstr(line, "/fmumbs.so") != NULL;
    if (maps != NULL) (void)fclose(maps);
    return !there;
}

static long handles(void)
{
    long count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) fail("/proc/self/fd");
    while (readdir(folder) != NULL) count++;
    (void)closedir(folder);
    return count;
}

static long allocated(void)
{
    return (long)mallinfo().uordblks + (long)mallinfo().hblkhd;
}
#endif

/* Floating-point modes --------------------------------------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
/* MXCSR: the default; the other roundings; flush to zero and denormals are zero; flags; traps for invalid operations,
 * division by zero and overflow; all traps. */
static const unsigned modes[] = {0x1F80, 0x3F80, 0x5F80, 0x7F80, 0x9FC0, 0x1FBF, 0x1900, 0x0000};
#ifdef __i386__ /* the x87's control word: precision of float, double; roundings; traps */
static const unsigned short x87[] = {0x037F, 0x007F, 0x027F, 0x0B7F, 0x0F7F, 0x077F, 0x0372, 0x0340};
#endif
static unsigned mode_now(void)
{
    return _mm_getcsr();
}
static void set_mode(unsigned mode)
{
    _mm_setcsr(mode);
}
#elif defined(__aarch64__)
/* FPCR: the default; the other roundings; flush to zero; default NaN; all traps, which many processors do not have. */
static const unsigned modes[] = {0, 0x400000, 0x800000, 0xC00000, 0x1000000, 0x2000000, 0x9F00};
static unsigned mode_now(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned)control;
}
static void set_mode(unsigned mode)
{
    const uint64_t control = mode;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#endif

static unsigned hostile, own;
static int which;

/* Into the mode of this run, and out of it with a check that the call kept it. */
static void enter(void)
{
#ifdef __i386__
    __asm__ volatile("fninit; fldcw %0" : : "m"(x87[which]));
#endif
    set_mode(hostile);
}

static void leave(const char *call)
{
    const unsigned found = mode_now();
    set_mode(own);
#ifdef __i386__
    unsigned short control, status;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    __asm__ volatile("fnstsw %0" : "=m"(status));
    __asm__ volatile("fninit");
    if (control != x87[which] || (status & 0x3F) != 0) fail(call);
#endif
    if (found != hostile) {
        (void)fprintf(stderr, "host: the floating-point mode was %x, is %x after %s\n", hostile, found, call);
        exit(1);
    }
}

/* hostile: what is read back, where a processor has not all of its bits. */
static void choose(int mode)
{
    own = mode_now();
    which = mode;
    set_mode(modes[mode]);
    hostile = mode_now();
    set_mode(own);
}

/* Jobs ---------------------------------------------------------------------------------------------------------------
 */

enum { MOST = 4000, PATH = 2048 };

typedef struct list {
    int count;
    fmi2ValueReference reference[MOST];
} list;

typedef struct job {
    char path[PATH], resources[PATH], guid[64];
    int steps;
    double step;
    list outputs, inputs, parameters, integers, booleans;
} job;

/* The next line without its end. 0: there is none. */
static int read_line(FILE *from, char *line)
{
    if (fgets(line, PATH, from) == NULL) return 0;
    line[strcspn(line, "\r\n")] = 0;
    return line[0] != 0;
}

static void read_list(FILE *from, list *l)
{
    if (fscanf(from, "%d", &l->count) != 1 || l->count < 0 || l->count > MOST)
        fail("a list has no length, or too much");
    for (int i = 0; i < l->count; i++)
        if (fscanf(from, "%u", &l->reference[i]) != 1) fail("value references are missing");
}

static int read_job(FILE *from, job *j)
{
    if (!read_line(from, j->path) || !read_line(from, j->resources)) return 0;
    if (fscanf(from, "%63s %d %lf", j->guid, &j->steps, &j->step) != 3) fail("a job is incomplete");
    read_list(from, &j->outputs);
    read_list(from, &j->inputs);
    read_list(from, &j->parameters);
    read_list(from, &j->integers);
    read_list(from, &j->booleans);
    for (int c = 0; c != '\n' && c != EOF;) c = fgetc(from);
    return 1;
}

/* FMUs
 * ------------------------------------------------------------------------------------------------------------------ */

#define FUNCTIONS(DO) \
    DO(GetVersion) DO(GetTypesPlatform) DO(Instantiate) DO(FreeInstance) DO(SetDebugLogging) DO(SetupExperiment) \
    DO(EnterInitializationMode) DO(ExitInitializationMode) DO(Terminate) DO(Reset) DO(GetReal) DO(GetInteger) \
    DO(GetBoolean) \
    DO(GetString) DO(SetReal) DO(SetInteger) DO(SetBoolean) DO(SetString) DO(GetFMUstate) DO(SetFMUstate) \
    DO(FreeFMUstate) \
    DO(SerializedFMUstateSize) DO(SerializeFMUstate) DO(DeSerializeFMUstate) DO(GetDirectionalDerivative) \
    DO(SetRealInputDerivatives) DO(GetRealOutputDerivatives) DO(DoStep) DO(CancelStep) DO(GetStatus) DO(GetRealStatus) \
    DO(GetIntegerStatus) DO(GetBooleanStatus) DO(GetStringStatus)

#define POINTER(name) fmi2##name##TYPE *name;
#define FIND(name) \
    if ((f.name = (fmi2##name##TYPE *)(uintptr_t)function(lib, "fmi2" #name)) == NULL) fail("fmi2" #name);

static struct {
    FUNCTIONS(POINTER)
} f;

/* What `call` computes beside the call itself would be done in the hostile mode: pass numbers that are ready. */
#define STATUS(status, call) do { enter(); (status) = (call); leave(#call); } while (0)
#define CALL(call) do { fmi2Status s_; STATUS(s_, call); if (s_ != fmi2OK) fail(#call); } while (0)

static void logged(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    const unsigned found = mode_now();
    va_list values;
    set_mode(own);
    if (found != hostile)
        (void)fprintf(stderr, "%x is %x: ", hostile, found),
            fail("the logger is called in another floating-point mode");
    (void)environment, (void)name, (void)category;
    (void)printf("log %d ", (int)status);
    va_start(values, message);
    (void)vprintf(message, values);
    va_end(values);
    (void)putchar('\n');
    set_mode(hostile);
}

static const fmi2CallbackFunctions callbacks = {logged, calloc, free, NULL, NULL};

static library load(const char *path)
{
    const library lib = opened(path);
    if (lib == NULL) fail("the library cannot be loaded");
    FUNCTIONS(FIND)
    return lib;
}

/* An instance in initialization mode. */
static fmi2Component begin(const job *j, const char *name)
{
    fmi2Component c;
    enter();
    c = f.Instantiate(name, fmi2CoSimulation, j->guid, j->resources, &callbacks, fmi2False, fmi2False);
    leave("fmi2Instantiate");
    if (c == NULL) fail("fmi2Instantiate");
    CALL(f.SetupExperiment(c, fmi2False, 0.0, 0.0, fmi2True, 1e6));
    CALL(f.EnterInitializationMode(c));
    return c;
}

static void print(const char *word, const double *value, int count)
{
    (void)printf("%s", word);
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, value + i, sizeof bits);
        (void)printf(" %016" PRIx64, bits);
    }
    (void)putchar('\n');
}

static void get(fmi2Component c, const list *l, double *value)
{
    memset(value, 0, MOST * sizeof *value);
    CALL(f.GetReal(c, l->reference, (size_t)l->count, value));
}

static void steps(fmi2Component c, const job *j, int from, int to, int shown)
{
    static double value[MOST];
    for (int i = from; i < to; i++) {
        const volatile double at = i * j->step; /* computed here */
        CALL(f.DoStep(c, at, j->step, fmi2False));
        if (shown) get(c, &j->outputs, value), print("values", value, j->outputs.count);
    }
}

static int same(fmi2Component c, const job *j, const double *expected)
{
    static double value[MOST];
    get(c, &j->outputs, value);
    return memcmp(value, expected, sizeof value) == 0;
}

static void say(const char *word, int fact)
{
    (void)printf("%s%s\n", fact ? "" : "not ", word);
}

static void set_inputs(fmi2Component c, const job *j, double size)
{
    static double value[MOST];
    for (int i = 0; i < j->inputs.count; i++) value[i] = size * (1 + i % 7);
    CALL(f.SetReal(c, j->inputs.reference, (size_t)j->inputs.count, value));
}

/* Each type is read and set to what was read, which Booleans and Strings refuse: none may be set. */
static void set_all_types(fmi2Component c, const job *j)
{
    static double value[MOST];
    static fmi2Integer whole[MOST], again[MOST];
    fmi2String text = "";
    fmi2Status status;
    get(c, &j->parameters, value);
    CALL(f.SetReal(c, j->parameters.reference, (size_t)j->parameters.count, value));
    CALL(f.GetInteger(c, j->integers.reference, (size_t)j->integers.count, whole));
    CALL(f.SetInteger(c, j->integers.reference, (size_t)j->integers.count, whole));
    CALL(f.GetInteger(c, j->integers.reference, (size_t)j->integers.count, again));
    if (memcmp(whole, again, (size_t)j->integers.count * sizeof *whole) != 0) fail("fmi2SetInteger");
    CALL(f.GetBoolean(c, j->booleans.reference, (size_t)j->booleans.count, again));
    (void)printf("whole");
    for (int i = 0; i < j->integers.count; i++) (void)printf(" %d", whole[i]);
    for (int i = 0; i < j->booleans.count; i++) (void)printf(" %d", again[i]);
    (void)putchar('\n');
    STATUS(status, f.SetBoolean(c, j->booleans.reference, j->booleans.count > 0, again));
    say("refused", (status == fmi2Error) == (j->booleans.count > 0));
    STATUS(status, f.SetString(c, j->outputs.reference, 1, &text));
    say("refused", status == fmi2Error);
    STATUS(status, f.GetString(c, j->outputs.reference, 1, &text));
    say("refused", status == fmi2Error);
}

static void slopes(fmi2Component c, const job *j)
{
    static double seed[MOST], slope[MOST];
    static fmi2Integer order[MOST];
    for (int i = 0; i < MOST; i++) seed[i] = 0.25 * (1 + i % 3), order[i] = 1;
    CALL(f.GetDirectionalDerivative(c, j->outputs.reference, (size_t)j->outputs.count, j->inputs.reference,
                                    (size_t)j->inputs.count, seed, slope));
    print("slopes", slope, j->outputs.count);
    CALL(f.GetRealOutputDerivatives(c, j->outputs.reference, (size_t)j->outputs.count, order, slope));
    print("slopes", slope, j->outputs.count);
}

/* A step under huge inputs, from which a state leads back. */
static void check_failure(fmi2Component c, const job *j, fmi2FMUstate state, const double *last)
{
    fmi2Status status;
    const int half = j->steps / 2;
    const volatile double at = half * j->step;
    CALL(f.SetFMUstate(c, state));
    if (j->inputs.count > 0) {
        set_inputs(c, j, 1e200);
        STATUS(status, f.DoStep(c, at, j->step, fmi2False));
        say("failed", status == fmi2Discard);
        CALL(f.SetFMUstate(c, state));
    }
    steps(c, j, half, j->steps, 0);
    say("repeated", same(c, j, last));
}

/* The second half by another instance. */
static void check_copy(const job *j, const fmi2Byte *bytes, size_t size, const double *last)
{
    fmi2Component c = begin(j, "copy");
    fmi2FMUstate state = NULL;
    CALL(f.DeSerializeFMUstate(c, bytes, size, &state));
    CALL(f.SetFMUstate(c, state));
    steps(c, j, j->steps / 2, j->steps, 0);
    say("restored", same(c, j, last));
    CALL(f.FreeFMUstate(c, &state));
    f.FreeInstance(c);
}

static void run(const job *j)
{
    static double first[MOST], last[MOST];
    const library lib = load(j->path);
    fmi2FMUstate state = NULL;
    fmi2Byte *bytes = NULL;
    fmi2Status status;
    size_t size = 0;
    const int half = j->steps / 2;
    const volatile double beyond = 1.0 + j->steps * j->step;
    fmi2Component c = begin(j, "first");
    set_inputs(c, j, 0.0078125);
    set_all_types(c, j);
    CALL(f.ExitInitializationMode(c));
    get(c, &j->outputs, first), print("values", first, j->outputs.count);
    steps(c, j, 0, half, 1);
    CALL(f.GetFMUstate(c, &state));
    CALL(f.SerializedFMUstateSize(c, state, &size));
    if ((bytes = malloc(size)) == NULL) fail("malloc");
    CALL(f.SerializeFMUstate(c, state, bytes, size));
    steps(c, j, half, j->steps, 1);
    get(c, &j->outputs, last);
    slopes(c, j);
    check_failure(c, j, state, last);
    check_copy(j, bytes, size, last);
    STATUS(status, f.DoStep(c, 0.123, -1.5, fmi2False));
    say("refused", status == fmi2Error);
    STATUS(status, f.DoStep(c, beyond, 0.25, fmi2False));
    say("refused", status == fmi2Error);
    CALL(f.Terminate(c));
    CALL(f.Reset(c));
    CALL(f.SetupExperiment(c, fmi2False, 0.0, 0.0, fmi2False, 0.0));
    CALL(f.EnterInitializationMode(c));
    set_inputs(c, j, 0.0078125);
    CALL(f.ExitInitializationMode(c));
    say("reset", same(c, j, first));
    CALL(f.FreeFMUstate(c, &state));
    free(bytes);
    f.FreeInstance(c);
    if (!closed(lib)) fail("the library cannot be unloaded");
}

/* Three instances in turn, of which the last is left to the others. */
static void use_several(const job *j)
{
    static double value[3][MOST];
    const library lib = load(j->path);
    fmi2Component c[3];
    for (int k = 0; k < 3; k++) {
        fmi2FMUstate state = NULL;
        c[k] = begin(j, "one of several");
        CALL(f.ExitInitializationMode(c[k]));
        CALL(f.GetFMUstate(c[k], &state)); /* freed with the instance */
    }
    for (int i = 0; i < j->steps; i++)
        for (int k = 0; k < 3; k++) steps(c[k], j, i, i + 1, 0);
    for (int k = 0; k < 3; k++) get(c[k], &j->outputs, value[k]), f.FreeInstance(c[k]);
    if (memcmp(value[0], value[1], sizeof *value) != 0 || memcmp(value[0], value[2], sizeof *value) != 0)
        fail("instances differ");
    if (!closed(lib)) fail("the library cannot be unloaded");
}

static void run_all(const char *file, int mode, const char *locale)
{
    static job j;
    FILE *jobs = fopen(file, "r");
    if (jobs == NULL) fail("the jobs cannot be read");
    choose(mode);
    while (read_job(jobs, &j)) {
        (void)printf("job %s\n", j.resources), (void)fflush(stdout);
        if (locale != NULL && setlocale(LC_ALL, locale) == NULL) fail("there is no such locale");
        if (locale != NULL && localeconv()->decimal_point[0] != ',') fail("the locale has no decimal comma");
        run(&j);
        (void)setlocale(LC_ALL, "C");
    }
    (void)fclose(jobs);
}

static void run_again(const char *file, int times)
{
    static job j;
    FILE *jobs = fopen(file, "r");
    long before[2] = {0, 0};
    if (jobs == NULL || !read_job(jobs, &j)) fail("there is no job");
    choose(0);
    for (int i = 0; i < times; i++) {
        use_several(&j);
        if (i == times / 2) before[0] = handles(), before[1] = allocated();
    }
    (void)printf("handles %ld bytes %ld\n", handles() - before[0], allocated() - before[1]);
    (void)fclose(jobs);
}

int main(int count, char **argument)
{
    if (count < 3) fail("usage: host run|modes|again JOBS ...");
    if (strcmp(argument[1], "again") == 0) {
        run_again(argument[2], atoi(argument[3]));
    } else if (strcmp(argument[1], "modes") == 0) {
        for (int i = 0; i < (int)(sizeof modes / sizeof *modes); i++)
            (void)printf("mode %d\n", i), run_all(argument[2], i, NULL);
    } else {
        run_all(argument[2], 0, count > 3 ? argument[3] : NULL);
    }
    return 0;
}
