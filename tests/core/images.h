/* images.h: shared by the C tests, which run over the images that write_images.py wrote to build/images.
 *
 * They run under the address and undefined-behaviour sanitizers, which check more than the assertions do: a test may be
 * useful although it only calls functions.
 */
#ifndef IMAGES_H
#define IMAGES_H

#include "fmumbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "build/images/"
#define SMALL 7000 /* bytes: images of a few bodies, for tests that go through every byte */
#define EVERY ((size_t)-1)

typedef struct image {
    char name[80];
    unsigned char *bytes;
    size_t size;
} image;

static const char *current = "";
static size_t walked = 0; /* images before the current one */

/* Cases are many, and images too: each image takes one case in `few`, beginning with another than the image before it:
 *
 *     for (size_t i = turn(few); i < cases; i += each_of(few))
 *
 * With EVERY_CASE in the environment, as in `make test-all`, it takes all. */
static inline size_t each_of(size_t few)
{
    return getenv("EVERY_CASE") != NULL ? 1 : few;
}

static inline size_t turn(size_t few)
{
    return walked % each_of(few);
}

#define CHECK(fact)                                                                             \
    do {                                                                                        \
        if (!(fact)) {                                                                          \
            (void)fprintf(stderr, "%s:%d: %s: check failed: %s\n", __FILE__, __LINE__, current, #fact); \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

static inline void *allocate(size_t count, size_t size)
{
    void *here = calloc(count + 1, size);
    CHECK(here != NULL);
    return here;
}

static inline image read_image(const char *name)
{
    image found = {"", NULL, 0};
    char path[120];
    CHECK(strlen(name) < sizeof found.name);
    memcpy(found.name, name, strlen(name) + 1);
    (void)snprintf(path, sizeof path, FOLDER "%s", name);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    found.size = (size_t)ftell(file);
    rewind(file);
    found.bytes = allocate(found.size, 1);
    CHECK(fread(found.bytes, 1, found.size, file) == found.size);
    (void)fclose(file);
    return found;
}

/* Runs the test on every image of at most `largest` bytes; returns the result of main(). */
static inline int walk(void (*test)(const image *), size_t largest)
{
    char name[80];
    FILE *list = fopen(FOLDER "list.txt", "r");
    if (list == NULL) {
        (void)fprintf(stderr, "there is no " FOLDER "list.txt: python tests/core/write_images.py writes it\n");
        return 1;
    }
    while (fscanf(list, "%79s", name) == 1) {
        image one = read_image(name);
        current = one.name;
        if (one.size <= largest) {
            test(&one);
            walked++;
        }
        free(one.bytes);
    }
    (void)fclose(list);
    current = "";
    CHECK(walked > 0);
    return 0;
}

static inline fm_instance *open_bytes(const unsigned char *bytes, size_t size)
{
    char message[300] = "";
    fm_instance *s = NULL;
    fm_status status = fm_open(bytes, size, &s, message, sizeof message);
    CHECK((status == FM_OK) == (s != NULL) && (status == FM_OK || message[0] != 0));
    return s;
}

static inline fm_instance *open_image(const image *one)
{
    fm_instance *s = open_bytes(one->bytes, one->size);
    CHECK(s != NULL);
    return s;
}

/* 0, 1, ... for all variables of a causality, or for all variables if it is -1. */
static inline size_t references(const fm_instance *s, int32_t causality, uint32_t *reference)
{
    size_t count = 0;
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        fm_variable_info info;
        CHECK(fm_variable(s, i, &info) == FM_OK);
        if (causality < 0 || info.causality == causality) reference[count++] = i;
    }
    return count;
}

/* The variable solver.NAME; -1 if a damaged image has lost it. */
static inline int64_t solver_variable(const fm_instance *s, const char *suffix)
{
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        fm_variable_info info;
        CHECK(fm_variable(s, i, &info) == FM_OK);
        if (strcmp(fm_kind((uint32_t)info.kind)->suffix, suffix) == 0) return i;
    }
    return -1;
}

/* Sets the scheme (its number), step [s] and tolerance; 1 if they are accepted. */
static inline int choose(fm_instance *s, double scheme, double step, double tolerance)
{
    static const char *const suffix[3] = {"solver.scheme", "solver.step", "solver.tolerance"};
    const double value[3] = {scheme, step, tolerance};
    for (int i = 0; i < 3; i++) {
        int64_t found = solver_variable(s, suffix[i]);
        uint32_t reference = (uint32_t)found;
        if (found < 0 || fm_set(s, &reference, 1, value + i) != FM_OK) return 0;
    }
    return 1;
}

/* Sets all variables of this name that accept the value. */
static inline void set_every(fm_instance *s, const char *suffix, double value)
{
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        fm_variable_info info;
        CHECK(fm_variable(s, i, &info) == FM_OK);
        if (strcmp(fm_kind((uint32_t)info.kind)->suffix, suffix) == 0) (void)fm_set(s, &i, 1, &value);
    }
}

/* Values of all variables, in memory that the caller frees. */
static inline double *all_values(fm_instance *s)
{
    const size_t count = fm_variable_count(s);
    double *value = allocate(count, sizeof *value);
    uint32_t *every = allocate(count, sizeof *every);
    CHECK(fm_get(s, every, references(s, -1, every), value) == FM_OK);
    free(every);
    return value;
}

static inline int same_bits(const fm_instance *s, const double *a, const double *b)
{
    return memcmp(a, b, fm_variable_count(s) * sizeof *a) == 0;
}

/* Equal bits, or NaN on both sides. */
static inline int same_value(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* xorshift64: the same numbers in every run. */
static inline uint64_t any(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static inline size_t any_below(uint64_t *seed, size_t end)
{
    return (size_t)(any(seed) % end);
}

#endif
