/* levels.c: runs model images on every level of the kernels, for the platform for which it is compiled.
 *
 *     levels LIST    a line for each image: its file
 *
 * Prints "best N", the best level; and for each image, scheme and level a line "FILE SCHEME LEVEL STATUS HASH", the
 * hash of all variables' bits at the start and after steps by that scheme.
 */
#include "fmumbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2, NAMES = 64 };

static const int schemes[] = {0, 1, 2}; /* dopri5, rk4, radau */
static const double step = 0.02;

static void *allocated(size_t bytes)
{
    void *here = malloc(bytes + 1);
    if (here == NULL) exit(2);
    return here;
}

static unsigned char *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        (void)fprintf(stderr, "levels: cannot read %s\n", path);
        exit(2);
    }
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = allocated(*size);
    if (fread(bytes, 1, *size, file) != *size) exit(2);
    (void)fclose(file);
    return bytes;
}

static uint32_t variable(const fm_instance *s, const char *wanted)
{
    char name[NAMES];
    for (uint32_t i = 0; i < fm_variable_count(s); i++)
        if (fm_variable_name(s, i, name, sizeof name) < sizeof name && strcmp(name, wanted) == 0) return i;
    return 0;
}

/* FNV-1a, of the bits of all variables. */
static uint64_t hashed(fm_instance *s, uint64_t hash)
{
    const uint32_t count = fm_variable_count(s);
    for (uint32_t i = 0; i < count; i++) {
        double value = 0.0;
        uint64_t bits;
        (void)fm_get(s, &i, 1, &value);
        memcpy(&bits, &value, sizeof bits);
        for (int k = 0; k < 8; k++) hash = (hash ^ ((bits >> 8 * k) & 255u)) * UINT64_C(1099511628211);
    }
    return hash;
}

static void run(const char *path, const unsigned char *bytes, size_t size, int scheme, int32_t level)
{
    char message[1000] = "";
    fm_instance *s = NULL;
    const double number = scheme;
    uint64_t hash = UINT64_C(14695981039346656037);
    if (fm_open(bytes, size, &s, message, sizeof message) != FM_OK || fm_level_use(s, level) != FM_OK) {
        (void)fprintf(stderr, "levels: %s: %s\n", path, s == NULL ? message : fm_message(s));
        exit(2);
    }
    const uint32_t at = variable(s, "solver.scheme");
    (void)fm_set(s, &at, 1, &number);
    int status = (int)fm_assemble(s, 0.0);
    hash = hashed(s, hash);
    for (int i = 1; i <= STEPS && status == FM_OK; i++) {
        status = (int)fm_step(s, i * step);
        hash = hashed(s, hash);
    }
    (void)printf("%s %d %d %d %016" PRIx64 "\n", path, scheme, (int)level, status, hash);
    fm_close(s);
}

int main(int count, char **argument)
{
    char path[2048];
    FILE *list = count == 2 ? fopen(argument[1], "r") : NULL;
    if (list == NULL) return 2;
    (void)printf("best %d\n", (int)fm_level_best());
    while (fgets(path, sizeof path, list) != NULL) {
        size_t size;
        path[strcspn(path, "\r\n")] = 0;
        unsigned char *bytes = contents(path, &size);
        for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
            for (int32_t level = 0; level <= fm_level_best(); level++) run(path, bytes, size, schemes[i], level);
        free(bytes);
    }
    (void)fclose(list);
    return 0;
}
