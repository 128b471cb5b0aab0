/* fuzz.h: shared by the fuzz targets, which are ordinary libFuzzer targets; driver.c runs them without it.
 *
 * They use the core through fmumbs.h only, and the FMU through the standard's functions. The offsets of checksums in
 * images and saved states are found by trial on valid bytes, so that no layout is duplicated here.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "images.h"
#include "image/schemes.h"

#include <float.h>

#undef CHECK /* with a stack trace, which the sanitizer prints */
#define CHECK(fact)                                                              \
    do {                                                                         \
        if (!(fact)) {                                                           \
            (void)fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #fact); \
            abort();                                                             \
        }                                                                        \
    } while (0)

#define MOST_IMAGES 128
#define SOME 12 /* outputs whose derivatives are requested */
#define ENOUGH 1000000 /* allocations */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* For driver.c: gives it the initial inputs; in `text`, statistics of how deep the cases went. */
void fuzz_seeds(void (*add)(const uint8_t *data, size_t size));
void fuzz_report(char *text, size_t capacity);

/* Memory of the core and of the FMI functions, which build.mk redirects here: how much is allocated, and how many
 * allocations are left before they fail. */
static size_t live, allocations_left = ENOUGH;

void *scarce_malloc(size_t size);
void *scarce_calloc(size_t n, size_t size);
void *scarce_realloc(void *memory, size_t size);
void scarce_free(void *memory);

void *scarce_calloc(size_t n, size_t size)
{
    void *memory = allocations_left > 0 ? calloc(n, size) : NULL;
    allocations_left -= allocations_left > 0;
    live += memory != NULL;
    return memory;
}

void *scarce_malloc(size_t size)
{
    void *memory = allocations_left > 0 ? malloc(size) : NULL;
    allocations_left -= allocations_left > 0;
    live += memory != NULL;
    return memory;
}

void *scarce_realloc(void *memory, size_t size)
{
    void *moved = allocations_left > 0 ? realloc(memory, size) : NULL;
    allocations_left -= allocations_left > 0;
    live += memory == NULL && moved != NULL;
    return moved;
}

void scarce_free(void *memory)
{
    live -= memory != NULL;
    free(memory);
}

/* A checksum at [at, at + 8) of all bytes from `from` on, and the offset of the size; 0: none. */
typedef struct seal {
    size_t at, from, size;
} seal;

static inline uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static inline seal find_seal(const unsigned char *good, size_t size)
{
    const size_t end = size < 512 ? size : 512;
    seal found = {0, 0, 0};
    for (size_t at = 8; at + 8 <= end; at += 8) {
        if (word_at(good + at) == size) found.size = at;
        for (size_t from = at + 8; from <= end && found.at == 0; from += 8) {
            if (word_at(good + at) != fm_checksum(good + from, size - from)) continue;
            found.at = at;
            found.from = from;
        }
        if (found.at != 0) break;
    }
    CHECK(found.at != 0);
    return found;
}

/* A copy in memory of exactly its size, with a valid checksum if there is room for one. */
static inline unsigned char *sealed(const seal *s, const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size + (size == 0));
    CHECK(bytes != NULL);
    if (size > 0) memcpy(bytes, data, size);
    if (size < s->from) return bytes;
    const uint64_t total = size, sum = fm_checksum(bytes + s->from, size - s->from);
    if (s->size != 0) memcpy(bytes + s->size, &total, sizeof total);
    memcpy(bytes + s->at, &sum, sizeof sum);
    return bytes;
}

/* The images in build/images; returns their number. */
static inline size_t read_images(image *found)
{
    char name[80];
    size_t count = 0;
    FILE *list = fopen(FOLDER "list.txt", "r");
    if (list == NULL) {
        (void)fprintf(stderr, "there is no " FOLDER "list.txt: python tests/core/write_images.py writes it\n");
        exit(2);
    }
    while (count < MOST_IMAGES && fscanf(list, "%79s", name) == 1) {
        found[count++] = read_image(name);
    }
    (void)fclose(list);
    CHECK(count > 0);
    return count;
}

static inline unsigned char *saved(const fm_instance *s)
{
    unsigned char *state = allocate(fm_state_size(s), 1);
    CHECK(fm_state_save(s, state, fm_state_size(s)) == FM_OK);
    return state;
}

/* Checks that the saved state equals `before`, which is freed. */
static inline void check_unchanged(const fm_instance *s, unsigned char *before)
{
    unsigned char *after = saved(s);
    CHECK(memcmp(before, after, fm_state_size(s)) == 0);
    free(before);
    free(after);
}

/* Checks that a refusal gives a reason and changes nothing. */
static inline fm_status checked(const fm_instance *s, fm_status status, unsigned char *before)
{
    CHECK(status == FM_OK || fm_message(s)[0] != 0);
    if (status == FM_ERROR) check_unchanged(s, before);
    else free(before);
    return status;
}

/* Checks that outputs have not changed. */
static inline void check_values(fm_instance *s, const double *before)
{
    double *now = all_values(s);
    int others = 0;
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        char name[200] = "";
        if (same_value(before[i], now[i])) continue;
        (void)fm_variable_name(s, i, name, sizeof name);
        (void)fprintf(stderr, "%s was %.17g, is %.17g\n", name, before[i], now[i]);
        others++;
    }
    CHECK(others == 0);
    free(now);
}

/* Whether all states are finite. */
static inline int has_finite_states(fm_instance *s)
{
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        fm_variable_info info;
        double value;
        CHECK(fm_variable(s, i, &info) == FM_OK);
        if (!info.state) continue;
        CHECK(fm_get(s, &i, 1, &value) == FM_OK);
        if (!isfinite(value)) return 0;
    }
    return 1;
}

/* The error-controlled integrator stops when its steps reach the round-off of the time. So a step from a late time
 * takes few steps, whatever is integrated. */
#define LATE 1e12 /* [s] */

static inline double few_steps(double t)
{
    return 800.0 * DBL_EPSILON * fabs(t);
}

/* Whether a scheme takes equal steps; 0 for what is not the number of one. */
static inline int has_fixed_steps(double scheme)
{
    return scheme >= 0.0 && scheme < FM_SCHEME_COUNT && fm_scheme_at((uint32_t)scheme)->fixed;
}

/* The time, zero where it is subnormal, as it is within a call. */
static inline double regular_time(double t)
{
    return fabs(t) < DBL_MIN ? 0.0 : t;
}

/* Steps to t_end. The result is that time, or an earlier one; its states are finite, unless a forged state has others.
 */
static inline fm_status step(fm_instance *s, double t_end, int forged)
{
    const double from = regular_time(fm_time(s)), end = regular_time(t_end);
    const int finite = !forged && has_finite_states(s);
    const fm_status status = checked(s, fm_step(s, t_end), saved(s));
    const double now = regular_time(fm_time(s));
    if (status == FM_OK) CHECK(now == end);
    if (status == FM_DISCARD) CHECK(now == from || (now > from && now < end)); /* a refused step has not moved */
    CHECK(!finite || has_finite_states(s));
    return status;
}

/* Reads everything, at every instruction set: the same values. */
static inline void read_values(fm_instance *s)
{
    const int32_t best = fm_level_best();
    double *first = all_values(s);
    for (int32_t level = 0; level <= best; level++) {
        CHECK(fm_level_use(s, level) == FM_OK);
        check_values(s, first);
    }
    free(first);
}

/* The constraint rows, if there are any, in memory of exactly their size. */
static inline void read_jacobian(fm_instance *s)
{
    const size_t size = fm_jacobian(s, NULL, 0);
    double *J = malloc(size * sizeof *J + (size == 0));
    CHECK(J != NULL && fm_jacobian(s, J, size) == size);
    free(J);
}

/* Derivatives with respect to all inputs, and to time; they change nothing. */
static inline void read_derivatives(fm_instance *s)
{
    const size_t count = fm_variable_count(s);
    uint32_t *input = allocate(count, sizeof *input), *output = allocate(count, sizeof *output);
    double *seed = allocate(count, sizeof *seed), *result = allocate(count, sizeof *result);
    const size_t inputs = references(s, FM_INPUT, input), outputs = references(s, FM_OUTPUT, output);
    const int32_t first = 1;
    unsigned char *before = saved(s);
    for (size_t i = 0; i < inputs; i++) seed[i] = 1.0;
    CHECK(fm_directional_derivative(s, output, outputs, input, inputs, seed, result) == FM_OK);
    for (size_t i = 0; i < outputs; i += 1 + outputs / SOME)
        (void)fm_get_output_derivatives(s, output + i, 1, &first, result);
    read_jacobian(s);
    check_unchanged(s, before);
    free(input);
    free(output);
    free(seed);
    free(result);
}

#endif
