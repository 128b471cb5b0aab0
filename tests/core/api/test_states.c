/* test_states.c: a saved state continues bit for bit, in the same or another instance; all other bytes are refused. */
#include "images.h"
#include "image/schemes.h"

#define STEP 0.01 /* [s] */
#define CHECKSUM 24 /* offset of the checksum in a state, and of the bytes it covers */
#define VALUES 64
#define FORGERIES 20

static unsigned long singular; /* number of NaN values */

static unsigned char *save(const fm_instance *s)
{
    unsigned char *state = allocate(fm_state_size(s), 1);
    CHECK(fm_state_save(s, state, fm_state_size(s)) == FM_OK);
    return state;
}

static void advance(fm_instance *s, int steps)
{
    const double t = fm_time(s);
    for (int i = 1; i <= steps; i++) CHECK(fm_step(s, t + i * STEP) == FM_OK);
}

static void check_same_state(const fm_instance *a, const fm_instance *b)
{
    unsigned char *one = save(a), *other = save(b);
    CHECK(fm_state_size(a) == fm_state_size(b) && memcmp(one, other, fm_state_size(a)) == 0);
    free(one);
    free(other);
}

/* Input derivatives for the coming step are part of the state. */
static void bend_inputs(fm_instance *s)
{
    uint32_t *input = allocate(fm_variable_count(s), sizeof *input);
    const size_t inputs = references(s, FM_INPUT, input);
    const int32_t order = 2;
    const double bend = 3.0;
    for (size_t i = 0; i < inputs; i++) CHECK(fm_set_input_derivatives(s, input + i, 1, &order, &bend) == FM_OK);
    free(input);
}

static void check_continuation(const image *one, double scheme)
{
    fm_instance *s = open_image(one), *other = open_image(one);
    CHECK(choose(s, scheme, 0.1 * STEP, 1e-6) && fm_assemble(s, 0.0) == FM_OK);
    advance(s, 3);
    bend_inputs(s);
    unsigned char *state = save(s);
    double *then = all_values(s);
    advance(s, 5);
    CHECK(fm_state_load(other, state, fm_state_size(other)) == FM_OK);
    double *loaded = all_values(other);
    CHECK(same_bits(s, then, loaded));
    advance(other, 5);
    check_same_state(s, other);
    CHECK(fm_state_load(s, state, fm_state_size(s)) == FM_OK);
    advance(s, 5);
    check_same_state(s, other);
    free(state);
    free(then);
    free(loaded);
    fm_close(s);
    fm_close(other);
}

/* Resets to the initial state, bit for bit, after any history: other parameters, motion, a failed step. */
static void check_reset(const image *one)
{
    fm_instance *s = open_image(one), *fresh = open_image(one);
    CHECK(choose(s, 0.0, STEP, 1e-3) && fm_assemble(s, 0.0) == FM_OK);
    advance(s, 2);
    uint32_t *input = allocate(fm_variable_count(s), sizeof *input);
    const size_t inputs = references(s, FM_INPUT, input);
    for (size_t i = 0; i < inputs; i++) { /* different, since equal torques on all pins of a plane loop do no work */
        const double huge = 1e308 / (double)(i + 1);
        CHECK(fm_set(s, input + i, 1, &huge) == FM_OK);
    }
    CHECK(fm_step(s, 1.0) == (inputs > 0 ? FM_DISCARD : FM_OK));
    CHECK(fm_reset(s) == FM_OK);
    check_same_state(s, fresh);
    CHECK(fm_assemble(s, 0.0) == FM_OK && fm_assemble(fresh, 0.0) == FM_OK);
    advance(s, 3);
    advance(fresh, 3);
    check_same_state(s, fresh);
    double *value = all_values(s), *expected = all_values(fresh);
    CHECK(same_bits(s, value, expected));
    free(value);
    free(expected);
    free(input);
    fm_close(s);
    fm_close(fresh);
}

static void check_refused(fm_instance *s, const unsigned char *state, size_t size, const unsigned char *kept)
{
    CHECK(fm_state_load(s, state, size) == FM_ERROR && fm_message(s)[0] != 0);
    unsigned char *after = save(s);
    CHECK(memcmp(after, kept, fm_state_size(s)) == 0);
    free(after);
}

/* All bytes but the reserved ones are protected; other sizes are refused. */
static void check_damage(const image *one)
{
    fm_instance *s = open_image(one);
    CHECK(fm_assemble(s, 0.0) == FM_OK);
    const size_t size = fm_state_size(s);
    unsigned char *state = save(s), *kept = save(s);
    CHECK(fm_state_save(s, state, size - 1) == FM_ERROR);
    for (size_t i = turn(8); i < size; i += each_of(8)) {
        if (i >= 12 && i < 16) continue; /* reserved */
        state[i] ^= 0x10;
        check_refused(s, state, size, kept);
        state[i] ^= 0x10;
    }
    for (size_t cut = 0; cut < size; cut += 1 + cut / 16) check_refused(s, state, cut, kept);
    unsigned char *longer = allocate(size + 8, 1);
    memcpy(longer, state, size);
    check_refused(s, longer, size + 8, kept);
    free(longer);
    free(state);
    free(kept);
    fm_close(s);
}

/* All values; where a forged state says that parameters of cams were set, the loops may be too far open to close. */
static double *read_if_closed(fm_instance *s)
{
    const size_t count = fm_variable_count(s);
    double *value = allocate(count, sizeof *value);
    uint32_t *every = allocate(count, sizeof *every);
    const fm_status status = fm_get(s, every, references(s, -1, every), value);
    CHECK(status == FM_OK || (status == FM_DISCARD && strstr(fm_message(s), "parameter of a cam") != NULL));
    free(every);
    return value;
}

/* Random values with a valid checksum: whatever they are, the core stays within its memory. */
static void check_forgeries(const image *one)
{
    fm_instance *s = open_image(one);
    const size_t size = fm_state_size(s);
    uint64_t seed = 0x9e3779b97f4a7c15u;
    for (size_t n = 0; n < FORGERIES; n += each_of(4)) {
        CHECK(fm_reset(s) == FM_OK && fm_assemble(s, 0.0) == FM_OK);
        unsigned char *state = save(s);
        for (size_t i = VALUES; i < size; i++)
            if (any_below(&seed, 8) == 0) state[i] = (unsigned char)any(&seed);
        const uint64_t sum = fm_checksum(state + VALUES, size - VALUES);
        memcpy(state + CHECKSUM, &sum, sizeof sum);
        const fm_status status = fm_state_load(s, state, size);
        CHECK(status == FM_OK || fm_message(s)[0] != 0); /* invalid times are refused */
        free(read_if_closed(s));
        const fm_status evaluated = fm_evaluate(s, 1);
        CHECK(evaluated == FM_OK || (evaluated == FM_DISCARD && strstr(fm_message(s), "parameter of a cam") != NULL));
        if (choose(s, 1.0, STEP, 1e-6) && fm_assemble(s, 0.0) == FM_OK) (void)fm_step(s, STEP);
        free(state);
    }
    fm_close(s);
}

static int unreachable_late; /* number of images that cannot be assembled at such a late time */

/* The state's times, each made invalid: refused, or the step still ends. At such a late time the integrator needs few
 * steps, whatever its step size. */
static void check_forged_times(const image *one)
{
    static const double wrong[] = {NAN, -INFINITY, -1e300, 1e300, 0.0, 1.0};
    const double t = 1e12, end = t + 0.1;
    fm_instance *s = open_image(one);
    CHECK(choose(s, 0.0, STEP, 0.1));
    if (fm_assemble(s, t) != FM_OK) { /* an unbounded path is too far away by then */
        unreachable_late++;
        fm_close(s);
        return;
    }
    CHECK(fm_step(s, end) != FM_ERROR);
    const size_t size = fm_state_size(s), doubles = (size - VALUES) / sizeof(double),
                 ways = sizeof wrong / sizeof *wrong;
    unsigned char *good = save(s), *state = save(s);
    for (size_t n = turn(5); n < (doubles < 16 ? doubles : 16) * ways; n += each_of(5)) {
        memcpy(state, good, size);
        memcpy(state + VALUES + n / ways * sizeof(double), wrong + n % ways, sizeof(double));
        const uint64_t sum = fm_checksum(state + VALUES, size - VALUES);
        memcpy(state + CHECKSUM, &sum, sizeof sum);
        if (fm_state_load(s, state, size) != FM_OK) continue;
        const double now = fm_time(s);
        (void)fm_step(s, now + 1e-13 * fabs(now));
    }
    free(good);
    free(state);
    fm_close(s);
}

static void check_readings(fm_instance *s, const double *expected)
{
    double *value = all_values(s);
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        CHECK(same_value(value[i], expected[i]));
        singular += isnan(value[i]) != 0;
    }
    free(value);
}

/* Results depend on the state alone, even if links in a line or impossible inertias make accelerations undefined:
 * nothing computed earlier remains in them. */
static void check_memory(const image *one)
{
    fm_instance *s = open_image(one);
    for (int wrong = 0; wrong < 2; wrong++) {
        fm_instance *fresh = open_image(one);
        CHECK(fm_reset(s) == FM_OK && choose(s, 0.0, STEP, 1e-6) && fm_assemble(s, 0.0) == FM_OK);
        advance(s, 3);
        free(all_values(s));
        set_every(s, wrong ? "inertia" : "q", wrong ? -1e3 : 0.0); /* products of inertia */
        unsigned char *state = save(s);
        CHECK(fm_state_load(fresh, state, fm_state_size(s)) == FM_OK);
        double *expected = all_values(fresh);
        check_readings(s, expected);
        CHECK(fm_level_use(s, fm_level_best()) == FM_OK);
        check_readings(s, expected);
        free(expected);
        free(state);
        fm_close(fresh);
    }
    fm_close(s);
}

static void check_states(const image *one)
{
    check_memory(one);
    for (size_t scheme = turn(3); scheme < FM_SCHEME_COUNT; scheme += each_of(3))
        check_continuation(one, (double)scheme);
    check_reset(one);
    check_forgeries(one);
    check_forged_times(one);
    if (one->size < SMALL) check_damage(one);
}

/* A state of another image is refused, even if the size is the same. */
static void check_foreign(void)
{
    image one = read_image("pendulum.fmb"), other = read_image("double_pendulum.fmb");
    fm_instance *a = open_image(&one), *b = open_image(&other);
    unsigned char *state = save(a), *kept = save(b);
    check_refused(b, state, fm_state_size(a), kept);
    free(state);
    one.bytes[30] ^= 1; /* the hash, which identifies the image */
    fm_instance *renamed = open_image(&one);
    state = save(renamed);
    free(kept);
    kept = save(a);
    check_refused(a, state, fm_state_size(a), kept);
    free(state);
    free(kept);
    free(one.bytes);
    free(other.bytes);
    fm_close(a);
    fm_close(b);
    fm_close(renamed);
}

int main(void)
{
    check_foreign();
    const int status = walk(check_states, EVERY);
    CHECK(singular > 0);
    CHECK(unreachable_late <= 4);
    return status;
}
