/* master.h: an FMU importer's side, of fuzz_calls.c and fuzz_calls3.c: models, arguments generated from an input, and
 * serialised states. */
#ifndef MASTER_H
#define MASTER_H

#include "fuzz.h"

#include <sys/stat.h>
#include <unistd.h>

#define RESOURCES "build/fuzz/resources"
#define LARGEST 35000 /* bytes of an image: an importer cannot interrupt the search for equilibria of larger ones */
#define SLAVES 2
#define STATES 3
#define MOST_STATES 64 /* of which a step of Model Exchange is made */

typedef struct model {
    image file;
    char guid[64], folder[1200], uri[1300];
    uint32_t count, scheme, step, equilibrium;
    size_t continuous, indicators; /* continuous states and event indicators of Model Exchange */
    uint32_t *of[4]; /* inputs, parameters, states, outputs */
    uint8_t *length; /* of the array that begins at a reference (fm_array_length) */
    size_t number[4];
} model;

typedef struct draws {
    const uint8_t *at, *end;
} draws;

static model models[MOST_IMAGES];
static size_t model_count;
static int verbose; /* FUZZ_VERBOSE is set: choices and messages are printed */

/* The models -------------------------------------------------------------------------------------------- */

/* Its variables, and a folder with a link to it like an FMU's resources. */
static void describe(model *m, const char *here)
{
    fm_instance *s = open_image(&m->file);
    m->count = fm_variable_count(s);
    for (int i = 0; i < 4; i++) m->of[i] = allocate(m->count, sizeof *m->of[i]);
    m->length = allocate(m->count, sizeof *m->length);
    for (uint32_t i = 0; i < m->count; i++) {
        fm_variable_info v;
        CHECK(fm_variable(s, i, &v) == FM_OK);
        const int list = v.causality == FM_INPUT ? 0 : v.causality == FM_PARAMETER ? 1 : v.state ? 2 : 3;
        m->of[list][m->number[list]++] = i;
        m->length[i] = (uint8_t)fm_array_length(s, i);
    }
    m->scheme = (uint32_t)solver_variable(s, "solver.scheme");
    m->step = (uint32_t)solver_variable(s, "solver.step");
    m->equilibrium = (uint32_t)solver_variable(s, "solver.equilibrium");
    m->continuous = (size_t)fm_continuous_count(s);
    m->indicators = (size_t)fm_indicator_count(s);
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

/* The number of elements of the array that begins at any reference. */
static inline size_t length_at(const model *m, uint32_t reference)
{
    return reference < m->count ? m->length[reference] : 1;
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

static uint32_t reference(draws *t, const model *m)
{
    const unsigned list = next(t);
    if (list < 16) return (uint32_t)(list % 2 ? m->count + list / 2 : UINT32_MAX - list);
    if (list < 64) return next(t) % m->count;
    const size_t n = m->number[list % 4];
    return n > 0 ? m->of[list % 4][(next(t) + 256 * next(t)) % n] : 0;
}

/* n references and values, in memory of exactly their size; sometimes NULL. */
typedef struct arrays {
    size_t n;
    uint32_t *vr;
    double *real;
    int32_t *integer;
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
        const int32_t few = (int32_t)(next(t) % 5) - 1;
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

/* The target ------------------------------------------------------------------------------------------- */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static image images[MOST_IMAGES];
    char here[1000];
    (void)argc;
    (void)argv;
    CHECK(getcwd(here, sizeof here) != NULL);
    verbose = getenv("FUZZ_VERBOSE") != NULL;
    const size_t count = read_images(images);
    for (size_t i = 0; i < count; i++) {
        if (images[i].size > LARGEST) continue;
        models[model_count].file = images[i];
        describe(models + model_count++, here);
    }
    return 0;
}

/* Random bytes are useful sequences. */
void fuzz_seeds(void (*add)(const uint8_t *data, size_t size))
{
    uint8_t data[400];
    uint64_t seed = 88172645463325252u;
    for (int n = 0; n < 16; n++) {
        for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)any_below(&seed, 256);
        add(data, sizeof data);
    }
}

/* FNV-1a, the checksum of a serialised state; 0 if it is not found. */
static size_t outer_seal(const unsigned char *bytes, size_t size, uint64_t *sum)
{
    for (size_t at = 0; at + 8 <= size && at < 64; at += 8) {
        *sum = 14695981039346656037u;
        for (size_t i = at + 8; i < size; i++) *sum = (*sum ^ bytes[i]) * 1099511628211u;
        if (word_at(bytes + at) == *sum) return at;
    }
    return 0;
}

/* Changes the serialised state, and updates both checksums or not. */
static void damage(draws *t, unsigned char *bytes, size_t size)
{
    uint64_t sum;
    if (!bytes || size < 200) return;
    const size_t outer = outer_seal(bytes, size, &sum);
    if (outer == 0) return;
    const seal inner = find_seal(bytes, size);
    for (unsigned n = next(t) % 4; n > 0; n--) {
        const size_t at = (next(t) + 256 * next(t)) % (size - 8) & ~(size_t)7;
        const double value = one_in(t, 4) ? number(t) : extreme_number(t);
        memcpy(bytes + at, &value, sizeof value);
    }
    if (one_in(t, 4)) return;
    sum = fm_checksum(bytes + inner.from, size - inner.from);
    memcpy(bytes + inner.at, &sum, sizeof sum);
    sum = 14695981039346656037u;
    for (size_t i = outer + 8; i < size; i++) sum = (sum ^ bytes[i]) * 1099511628211u;
    memcpy(bytes + outer, &sum, sizeof sum);
}

#endif
