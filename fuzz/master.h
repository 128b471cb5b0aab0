/* master.h: fuzz_calls.c's side as an FMU importer: models, arguments generated from an input, a logger, and memory
 * functions that must not be called. */
#ifndef MASTER_H
#define MASTER_H

#include "fuzz.h"

#include "fmi/fmi2Functions.h"

#include <sys/stat.h>
#include <unistd.h>

#define RESOURCES "build/fuzz/resources"
#define LARGEST 35000 /* bytes of an image: an importer cannot interrupt the search for equilibria of larger ones */
#define SLAVES 2
#define STATES 3

typedef struct model {
    image file;
    char guid[64], folder[1200], uri[1300];
    uint32_t count, scheme, step, equilibrium;
    uint32_t *of[4]; /* inputs, parameters, states, outputs */
    size_t number[4];
} model;

typedef enum phase { NONE, INSTANTIATED, SET_UP, INITIALIZING, RUNNING, TERMINATED } phase;

typedef struct slave {
    const model *m;
    fmi2Component c;
    fmi2CallbackFunctions functions;
    phase at;
    int wild; /* 1: a value was set that may make the motion stiff */
    double start;
    fmi2FMUstate state[STATES];
    phase state_at[STATES];
    fmi2Byte *bytes;
    size_t size;
    phase bytes_at;
} slave;

typedef struct draws {
    const uint8_t *at, *end;
} draws;

static model models[MOST_IMAGES];
static size_t model_count;
static slave slaves[SLAVES];
static int verbose; /* FUZZ_VERBOSE is set: choices and messages are printed */

/* The models -------------------------------------------------------------------------------------------- */

/* Its variables, and a folder with a link to it like an FMU's resources. */
static void describe(model *m, const char *here)
{
    fm_instance *s = open_image(&m->file);
    m->count = fm_variable_count(s);
    for (int i = 0; i < 4; i++) m->of[i] = allocate(m->count, sizeof *m->of[i]);
    for (uint32_t i = 0; i < m->count; i++) {
        fm_variable_info v;
        CHECK(fm_variable(s, i, &v) == FM_OK);
        const int list = v.causality == FM_INPUT ? 0 : v.causality == FM_PARAMETER ? 1 : v.state ? 2 : 3;
        m->of[list][m->number[list]++] = i;
    }
    m->scheme = (uint32_t)solver_variable(s, "solver.scheme");
    m->step = (uint32_t)solver_variable(s, "solver.step");
    m->equilibrium = (uint32_t)solver_variable(s, "solver.equilibrium");
    (void)snprintf(m->guid, sizeof m->guid, "%s", fm_guid(s));
    fm_close(s);
    char link[1400], target[200];
    (void)snprintf(m->folder, sizeof m->folder, RESOURCES "/%s", m->file.name);
    (void)snprintf(link, sizeof link, "%s/model.fmb", m->folder);
    (void)snprintf(target, sizeof target, "../../../images/%s", m->file.name);
    (void)mkdir("build/fuzz", 0777);
    (void)mkdir(RESOURCES, 0777);
    (void)mkdir(m->folder, 0777);
    (void)symlink(target, link);
    (void)snprintf(m->uri, sizeof m->uri, "file://%s/%s", here, m->folder);
}

/* Arguments --------------------------------------------------------------------------------------------- */

static unsigned next(draws *t)
{
    return t->at < t->end ? *t->at++ : 0;
}

/* True once in `n` cases, from the input. */
static int one_in(draws *t, unsigned n)
{
    return next(t) % n == n - 1;
}

static double extreme_number(draws *t)
{
    static const double extreme[] = {NAN,    INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 1e300, 1e-300,
                                     5e-324, 1e12,     -1e12,     1e-9,    1e9,      -0.0};
    return extreme[next(t) % (sizeof extreme / sizeof *extreme)];
}

static double number(draws *t)
{
    const unsigned kind = next(t);
    double value;
    uint8_t raw[8];
    if (kind % 4 != 0) return (double)(int8_t)next(t) / 16.0;
    if (kind % 8 == 0) return extreme_number(t);
    for (int i = 0; i < 8; i++) raw[i] = (uint8_t)next(t);
    memcpy(&value, raw, sizeof value);
    return value;
}

static int is_tame(double value)
{
    return value <= 8.0 && value >= 1.0 / 16.0; /* a negative damper adds energy */
}

static fmi2ValueReference reference(draws *t, const model *m)
{
    const unsigned list = next(t);
    if (list < 16) return (fmi2ValueReference)(list % 2 ? m->count + list / 2 : UINT32_MAX - list);
    if (list < 64) return next(t) % m->count;
    const size_t n = m->number[list % 4];
    return n > 0 ? m->of[list % 4][(next(t) + 256 * next(t)) % n] : 0;
}

/* n references and values, in memory of exactly their size; sometimes NULL. */
typedef struct arrays {
    size_t n;
    fmi2ValueReference *vr;
    fmi2Real *real;
    fmi2Integer *integer;
} arrays;

static void *memory(draws *t, size_t n, size_t width)
{
    if (one_in(t, 64)) return NULL;
    void *here = malloc(n * width + (n == 0));
    CHECK(here != NULL);
    return here;
}

static arrays make_arrays(draws *t, const model *m)
{
    const unsigned size = next(t);
    arrays a = {size < 8 ? 0 : size < 16 ? 65 + size : 1 + size % 5, NULL, NULL, NULL};
    a.vr = memory(t, a.n, sizeof *a.vr);
    a.real = memory(t, a.n, sizeof *a.real);
    a.integer = memory(t, a.n, sizeof *a.integer);
    for (size_t i = 0; i < a.n; i++) {
        const double value = number(t);
        if (a.vr) a.vr[i] = reference(t, m);
        if (a.real) a.real[i] = value;
        const fmi2Integer few = (fmi2Integer)(next(t) % 5) - 1;
        if (a.integer) a.integer[i] = !one_in(t, 8) ? few : few < 0 ? INT32_MIN : INT32_MAX - few;
    }
    return a;
}

static void free_arrays(arrays *a)
{
    free(a->vr);
    free(a->real);
    free(a->integer);
}

static const char *text(draws *t, char *buffer, size_t capacity)
{
    static const char alphabet[] = "/\\:%0fFeEilC|.#sn{}-";
    size_t n = 0;
    for (const size_t length = next(t) % capacity; n < length; n++) {
        const unsigned byte = next(t);
        buffer[n] = byte < 200 ? alphabet[byte % (sizeof alphabet - 1)] : (char)byte;
    }
    buffer[n] = 0;
    return buffer;
}

/* Callbacks ------------------------------------------------------------------------------------------------ */

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String message, ...)
{
    static const char *const known[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError"};
    char formatted[4096];
    int found = 0;
    CHECK(environment == slaves || environment == slaves + 1);
    CHECK(name != NULL && (int)status >= fmi2OK && status <= fmi2Error && message != NULL && message[0] != 0);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) found += strcmp(category, known[i]) == 0;
    CHECK(found == 1);
    CHECK(snprintf(formatted, sizeof formatted, message) > 0); /* it must be a format without arguments */
    if (verbose) (void)fprintf(stderr, "slave %d: %s\n", (int)(environment != slaves), formatted);
}

/* canNotUseMemoryManagementFunctions: they are never called. */
static void *give(size_t n, size_t size)
{
    CHECK(!"allocateMemory was called");
    (void)n, (void)size;
    return NULL;
}

static void take_back(void *memory)
{
    CHECK(!"freeMemory was called");
    (void)memory;
}

static void choose_functions(draws *t, slave *s)
{
    const unsigned kind = next(t) % 8;
    const fmi2CallbackFunctions all = {kind == 1 ? NULL : log_message, kind == 2 ? NULL : give,
                                       kind == 3 ? NULL : take_back, NULL, s};
    s->functions = all;
}

#endif
