/* fuzz_states.c: an input is a saved state, used as it is and then with a valid checksum. A state that can be loaded is
 * read, advanced, saved and assembled again. */
#include "fuzz.h"

#define SPAN 1e-3 /* [s] */
#define SLOWEST 10 /* most fixed steps at once */

static image images[MOST_IMAGES];
static fm_instance *instance[MOST_IMAGES];
static size_t count;
static seal header;
static unsigned long loaded, stepped;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    count = read_images(images);
    for (size_t i = 0; i < count; i++) instance[i] = open_image(images + i);
    unsigned char *good = saved(instance[0]);
    header = find_seal(good, fm_state_size(instance[0]));
    free(good);
    return 0;
}

static void bend_inputs(fm_instance *s)
{
    uint32_t *input = allocate(fm_variable_count(s), sizeof *input);
    const size_t inputs = references(s, FM_INPUT, input);
    const int32_t order = 2;
    const double bend = 3.0;
    for (size_t i = 0; i < inputs; i++) CHECK(fm_set_input_derivatives(s, input + i, 1, &order, &bend) == FM_OK);
    free(input);
}

static void add_state(fm_instance *s, void (*add)(const uint8_t *data, size_t size))
{
    unsigned char *state = saved(s);
    add(state, fm_state_size(s));
    free(state);
}

/* After opening, after assembly, between two steps of every integrator, with input derivatives. */
void fuzz_seeds(void (*add)(const uint8_t *data, size_t size))
{
    for (size_t i = 0; i < count; i++) {
        fm_instance *s = instance[i];
        for (int scheme = 0; scheme < FM_SCHEME_COUNT; scheme++) {
            const int fixed = has_fixed_steps(scheme);
            const double t = fixed ? 0.5 : LATE, span = fixed ? SPAN : few_steps(LATE);
            CHECK(fm_reset(s) == FM_OK);
            if (scheme == 0) add_state(s, add);
            if (!choose(s, scheme, 0.4 * span, 1e-6) || fm_assemble(s, t) != FM_OK) continue;
            (void)fm_step(s, t + span);
            add_state(s, add);
            bend_inputs(s);
            add_state(s, add);
        }
        CHECK(fm_reset(s) == FM_OK);
    }
}

void fuzz_report(char *text, size_t capacity)
{
    (void)snprintf(text, capacity, "%lu loaded, %lu steps", loaded, stepped);
}

static double value_of(fm_instance *s, const char *suffix)
{
    const int64_t found = solver_variable(s, suffix);
    const uint32_t reference = (uint32_t)found;
    double value = NAN;
    CHECK(found >= 0 && fm_get(s, &reference, 1, &value) == FM_OK);
    return value;
}

/* A few steps: the state selects the integrator. */
static void advance(fm_instance *s)
{
    const double t = fm_time(s);
    double span = few_steps(t);
    if (has_fixed_steps(value_of(s, "solver.scheme"))) {
        const double longest = SLOWEST * fabs(value_of(s, "solver.step"));
        span = SPAN < longest ? SPAN : longest;
    }
    for (int i = 1; i <= 2; i++) stepped += step(s, t + i * span, 1) == FM_OK;
}

static void use(fm_instance *s)
{
    unsigned char *before = saved(s);
    double *first = all_values(s);
    advance(s);
    read_values(s);
    read_derivatives(s);
    CHECK(fm_state_load(s, before, fm_state_size(s)) == FM_OK);
    check_unchanged(s, before);
    check_values(s, first); /* nothing computed in between remains in them */
    free(first);
    if (choose(s, 1.0, 0.4 * SPAN, 1e-6) && checked(s, fm_assemble(s, 0.0), saved(s)) == FM_OK) (void)step(s, SPAN, 1);
    CHECK(fm_reset(s) == FM_OK);
}

/* Images whose states have this size, or the first one. */
static void try_state(const uint8_t *data, size_t size)
{
    int tried = 0;
    for (size_t i = 0; i < count; i++) {
        fm_instance *s = instance[i];
        if (fm_state_size(s) != size && (tried || i + 1 < count)) continue;
        tried = 1;
        if (checked(s, fm_state_load(s, data, size), saved(s)) != FM_OK) continue;
        loaded++;
        use(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    allocations_left = ENOUGH;
    unsigned char *bytes = sealed(&header, data, size);
    if (size < header.from || memcmp(bytes, data, size) != 0) try_state(data, size);
    try_state(bytes, size);
    free(bytes);
    return 0;
}
