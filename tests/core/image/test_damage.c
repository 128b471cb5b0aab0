/* test_damage.c: no byte string can harm the core. Damaged images are refused; if the damage results in another valid
 * image, it runs, and stays within its memory.
 *
 * The checksum detects every accidental change, so it is recomputed after the damage to reach the checks of sizes,
 * offsets and indices behind it.
 */
#include "images.h"
#include "image/table.h"

#define HEADER 64
#define SIZE_AT 16
#define HASH_AT 24
#define CHECKSUM_AT 56
#define STEP 1e-3    /* [s] one Runge-Kutta step: its length does not depend on the damage */
#define FLIPS 400    /* random ones for each image */
#define TINY 3000    /* bytes: a body or two */
#define MIDDLE 30000 /* bytes: a dozen bodies */

static void seal(unsigned char *bytes, size_t size)
{
    const uint64_t total = size, sum = fm_checksum(bytes + HEADER, size - HEADER);
    memcpy(bytes + SIZE_AT, &total, sizeof total);
    memcpy(bytes + CHECKSUM_AT, &sum, sizeof sum);
}

static void read_names(const fm_instance *s)
{
    char name[64];
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        fm_variable_info info;
        CHECK(fm_variable(s, i, &info) == FM_OK);
        (void)fm_variable_name(s, i, name, sizeof name);
    }
}

static void read_derivatives(fm_instance *s)
{
    const size_t count = fm_variable_count(s);
    uint32_t *input = allocate(count, sizeof *input), *output = allocate(count, sizeof *output);
    double *seed = allocate(count, sizeof *seed), *result = allocate(count, sizeof *result);
    const size_t inputs = references(s, FM_INPUT, input), outputs = references(s, FM_OUTPUT, output);
    const int32_t first = 1;
    for (size_t i = 0; i < inputs; i++) seed[i] = 1.0;
    CHECK(fm_directional_derivative(s, output, outputs, input, inputs, seed, result) == FM_OK);
    if (outputs > 0) (void)fm_get_output_derivatives(s, output + outputs / 2, 1, &first, result);
    if (inputs > 0) CHECK(fm_set_input_derivatives(s, input, 1, &first, seed) == FM_OK);
    free(input);
    free(output);
    free(seed);
    free(result);
}

/* Everything that can be done with an instance; results are arbitrary, but every call must return. */
static void use(fm_instance *s)
{
    const size_t size = fm_state_size(s);
    unsigned char *state = allocate(size, 1);
    read_names(s);
    if (choose(s, 1.0, STEP, 1e-6) && fm_assemble(s, 0.0) == FM_OK) {
        read_derivatives(s);
        (void)fm_step(s, STEP);
    }
    free(all_values(s));
    CHECK(fm_state_save(s, state, size) == FM_OK && fm_state_load(s, state, size) == FM_OK);
    CHECK(fm_reset(s) == FM_OK);
    free(state);
}

static void try_sealed(unsigned char *bytes, size_t size)
{
    seal(bytes, size);
    fm_instance *s = open_bytes(bytes, size);
    if (s == NULL) return;
    use(s);
    fm_close(s);
}

static void refuse(const unsigned char *bytes, size_t size)
{
    CHECK(open_bytes(bytes, size) == NULL);
}

static unsigned char *copy_of(const image *one, size_t more)
{
    unsigned char *bytes = allocate(one->size + more, 1);
    memcpy(bytes, one->bytes, one->size);
    return bytes;
}

/* One bit anywhere, with the checksum unchanged. The hash only identifies the image. */
static void check_accidents(const image *one)
{
    unsigned char *bytes = copy_of(one, 8);
    const size_t few = one->size < SMALL ? each_of(5) : 97;
    for (size_t i = walked % few; i < one->size; i += few) {
        if (i >= HASH_AT && i < CHECKSUM_AT) continue;
        bytes[i] ^= (unsigned char)(1u << (i % 8));
        refuse(bytes, one->size);
        bytes[i] ^= (unsigned char)(1u << (i % 8));
    }
    refuse(bytes, one->size + 8);
    free(bytes);
    refuse(NULL, 0);
}

/* Truncated or extended, with a consistent header. Each copy has memory of its own size, so that the sanitizer detects
 * reads beyond it. */
static void check_lengths(const image *one)
{
    const size_t stride = one->size < SMALL ? 1 : 1 + one->size / 500;
    for (size_t cut = 0; cut < one->size; cut += stride) {
        unsigned char *bytes = malloc(cut + (cut == 0));
        CHECK(bytes != NULL);
        memcpy(bytes, one->bytes, cut);
        refuse(bytes, cut);
        if (cut >= HEADER) {
            seal(bytes, cut);
            refuse(bytes, cut);
        }
        free(bytes);
    }
    unsigned char *bytes = copy_of(one, 16);
    seal(bytes, one->size + 16);
    refuse(bytes, one->size + 16);
    free(bytes);
}

/* Every word replaced by an index, a size or half of a number that is wrong in its own way; in large images one of
 * these at random. */
static void check_words(const image *one)
{
    static const int32_t wrong[] = {-1, 0, 1, 2, 5, INT32_MAX, INT32_MIN, 0x7ff00000};
    const size_t ways = sizeof wrong / sizeof wrong[0], tries = one->size < TINY ? ways : 1;
    uint64_t seed = 362436069;
    unsigned char *bytes = copy_of(one, 0);
    for (size_t at = HEADER + 4 * turn(4); at + 4 <= one->size; at += 4 * each_of(4))
        for (size_t i = 0; i < tries; i++) {
            memcpy(bytes + at, wrong + (tries == ways ? i : any_below(&seed, ways)), 4);
            try_sealed(bytes, one->size);
            memcpy(bytes + at, one->bytes + at, 4);
        }
    free(bytes);
}

static void check_flips(const image *one)
{
    uint64_t seed = 88172645463325252u;
    unsigned char *bytes = copy_of(one, 0);
    for (size_t n = 0; n < FLIPS; n += each_of(4)) {
        const size_t flips = 1 + any_below(&seed, 3);
        for (size_t i = 0; i < flips; i++)
            bytes[HEADER + any_below(&seed, one->size - HEADER)] ^= (unsigned char)(1u << any_below(&seed, 8));
        try_sealed(bytes, one->size);
        memcpy(bytes, one->bytes, one->size);
    }
    free(bytes);
}

/* The offset of an array, from the layout in table.h. */
static void *find_array(unsigned char *bytes, const char *name, int32_t *rows)
{
    static const char *const size_name[] = {
#define S(size, meaning) #size,
        FM_SIZES(S)
#undef S
    };
    const size_t sizes = sizeof size_name / sizeof size_name[0];
    const int32_t *size = (const int32_t *)(const void *)(bytes + HEADER);
    size_t at = HEADER + ((sizes * 4 + 7) & ~(size_t)7);
    const char *section = "";
    for (uint32_t i = 0; i < fm_array_count(); i++) {
        const fm_array_info *array = fm_array(i);
        if (strcmp(section, array->section) != 0) at += 8;
        section = array->section;
        *rows = 0;
        for (size_t j = 0; j < sizes; j++)
            if (strcmp(size_name[j], array->rows) == 0) *rows = size[j];
        if (strcmp(array->name, name) == 0) return bytes + at;
        const size_t width = array->type == 'i' ? 4 : array->type == 'd' ? 8 : 1;
        at += ((size_t)*rows * (size_t)array->columns * width + 7) & ~(size_t)7;
    }
    return NULL;
}

/* Links that are not in depth-first order, with two interleaved chains: all indices are in bounds. */
static void check_order(const image *one)
{
    int32_t links;
    unsigned char *bytes = copy_of(one, 0);
    int32_t *parent = find_array(bytes, "link_parent", &links);
    int roots = 0;
    CHECK(parent != NULL);
    for (int32_t i = 0; i < links; i++) roots += parent[i] == -1;
    if (roots == links && links >= 4) { /* joints of one link each */
        for (int32_t i = 2; i < links; i++) parent[i] = i - 2;
        seal(bytes, one->size);
        refuse(bytes, one->size);
    }
    free(bytes);
}

/* A link that does not move has no variables, whatever its joint's data. */
static void check_fixed_links(const image *one)
{
    static const char *const names[] = {"link_p", "link_u"};
    unsigned char *bytes = copy_of(one, 0);
    for (int n = 0; n < 2; n++) {
        int32_t links;
        int32_t *variable = find_array(bytes, names[n], &links);
        CHECK(variable != NULL);
        for (int32_t i = 0; i < links; i++) {
            if (variable[i] != -1) continue;
            variable[i] = 0;
            seal(bytes, one->size);
            refuse(bytes, one->size);
            variable[i] = -1;
        }
    }
    free(bytes);
}

/* A path with a period so short that a step over all its pieces would not end. */
static void check_short_periods(const image *one)
{
    int32_t paths, pieces;
    int repeats = 0;
    unsigned char *bytes = copy_of(one, 0);
    double *period = find_array(bytes, "path_period", &paths), *time = find_array(bytes, "piece_time", &pieces);
    CHECK(period != NULL && time != NULL);
    for (int32_t i = 0; i < paths; i++)
        if (period[i] > 0.0) period[i] = 1e-7, repeats = 1;
    for (int32_t i = 0; i < pieces; i++) time[i] = 1e-12 * i;
    seal(bytes, one->size);
    fm_instance *s = repeats ? open_bytes(bytes, one->size) : NULL;
    CHECK(!repeats || s != NULL);
    if (s != NULL && fm_assemble(s, 0.0) == FM_OK) CHECK(fm_step(s, 10.0) == FM_ERROR);
    fm_close(s);
    free(bytes);
}

static void check_image(const image *one)
{
    check_accidents(one);
    check_lengths(one);
    check_order(one);
    check_fixed_links(one);
    check_short_periods(one);
    if (one->size < SMALL) check_words(one);
    if (one->size < MIDDLE) check_flips(one);
}

int main(void)
{
    return walk(check_image, EVERY);
}
