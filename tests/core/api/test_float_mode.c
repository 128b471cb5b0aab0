/* test_float_mode.c: every public call that computes restores the host's floating-point mode and flags and gives the
 * same bits in every mode; callbacks run in the host's mode. */
#include "images.h"
#include "image/schemes.h"

#include "maths/float_mode.h"

#define STEP 0.02 /* [s] */

#if defined(__SSE2__)
#if defined(FM_FLOAT_X87)
#define X87(status, control) ((uint64_t)(status) << 48 | (uint64_t)(control) << 32)
#else
#define X87(status, control) 0
#endif
/* The default mode; other rounding modes; flush to zero; flags; traps for invalid operations, division by zero and
 * overflow; all traps. The x87 likewise, with the precision of double and of float. */
static const fm_float_mode modes[] = {
    0x1F80 | X87(0, 0x37F),    0x3F80 | X87(0, 0x77F), 0x5F80 | X87(0, 0xB7F),
    0x7F80 | X87(0, 0xF7F),    0x9FC0 | X87(0, 0x27F), 0x1FBF | X87(63, 0x7F),
    0x9FC5 | X87(0x25, 0x37F), 0x1900 | X87(0, 0x372), 0x0040 | X87(0, 0x340),
};
#elif defined(__aarch64__)
static const fm_float_mode modes[] = {0, 0x400000, 0x800000, 0xC00000, 0x1000000, 0x1F00000000};
#else
static const fm_float_mode modes[] = {0};
#endif

static fm_float_mode own, host; /* the test's mode, and the one in which it calls */
static int asked;

/* Calls in the host's mode. */
#define IN_MODE(status, call)                        \
    do {                                             \
        fm_float_write(host);                        \
        (status) = (call);                           \
        const fm_float_mode after = fm_float_read(); \
        fm_float_write(own);                         \
        CHECK(after == host);                        \
    } while (0)

static int ask(void *context)
{
    const fm_float_mode now = fm_float_read();
    fm_float_write(own);
    CHECK(context == &asked && now == host);
    asked++;
    fm_float_write(host);
    return 0;
}

static void check_derivatives(fm_instance *s)
{
    const size_t count = fm_variable_count(s);
    uint32_t *input = allocate(count, sizeof *input), *output = allocate(count, sizeof *output);
    double *seed = allocate(count, sizeof *seed), *result = allocate(count, sizeof *result);
    int32_t *order = allocate(count, sizeof *order);
    const size_t inputs = references(s, FM_INPUT, input), outputs = references(s, FM_OUTPUT, output);
    fm_status status;
    for (size_t i = 0; i < count; i++) seed[i] = 0.3, order[i] = 1;
    IN_MODE(status, fm_get_output_derivatives(s, output, outputs, order, result));
    IN_MODE(status, fm_directional_derivative(s, output, outputs, input, inputs, seed, result));
    CHECK(status == FM_OK);
    const uint32_t none = UINT32_MAX;
    IN_MODE(status, fm_directional_derivative(s, output, 1, &none, 1, seed, result));
    CHECK(status == FM_ERROR);
    IN_MODE(status, fm_set(s, input, inputs, seed));
    CHECK(status == FM_OK);
    IN_MODE(status, fm_set_input_derivatives(s, input, inputs, order, seed));
    CHECK(status == FM_OK);
    free(input);
    free(output);
    free(seed);
    free(result);
    free(order);
}

/* All results at the end, after every kind of call in the host's mode. */
static void *run_all_calls(const image *one, double scheme, size_t *size)
{
    char message[300];
    fm_instance *s = NULL;
    fm_status status;
    size_t numbers;
    IN_MODE(status, fm_open(one->bytes, one->size / 2, &s, message, sizeof message));
    CHECK(status == FM_ERROR && s == NULL);
    IN_MODE(status, fm_open(one->bytes, one->size, &s, message, sizeof message));
    CHECK(status == FM_OK);
    IN_MODE(status, fm_check_inertia(s));
    IN_MODE(status, fm_step(s, STEP));
    CHECK(status == FM_ERROR); /* not assembled */
    CHECK(choose(s, scheme, 0.1 * STEP, 1e-6));
    IN_MODE(status, fm_assemble(s, 0.0));
    CHECK(status == FM_OK);
    IN_MODE(status, fm_step(s, STEP));
    CHECK(status == FM_OK);
    check_derivatives(s);
    IN_MODE(status, fm_step(s, 1.4 * STEP));
    CHECK(status == FM_OK);
    IN_MODE(status, fm_evaluate(s, 2));
    IN_MODE(status, fm_step(s, 0.5 * STEP));
    CHECK(status == FM_ERROR);
    *size = fm_state_size(s);
    numbers = fm_jacobian(s, NULL, 0);
    double *J = allocate(numbers, sizeof *J), *value = allocate(fm_variable_count(s), sizeof *value);
    uint32_t *every = allocate(fm_variable_count(s), sizeof *every);
    size_t found;
    IN_MODE(found, fm_jacobian(s, J, numbers));
    CHECK(found == numbers);
    IN_MODE(status, fm_get(s, every, references(s, -1, every), value));
    CHECK(status == FM_OK);
    unsigned char *bytes = allocate(*size + fm_variable_count(s) * sizeof *value + numbers * sizeof *J, 1);
    CHECK(fm_state_save(s, bytes, *size) == FM_OK);
    IN_MODE(status, fm_reset(s));
    IN_MODE(status, fm_state_load(s, bytes, *size));
    CHECK(status == FM_OK);
    memcpy(bytes + *size, value, fm_variable_count(s) * sizeof *value);
    *size += fm_variable_count(s) * sizeof *value;
    memcpy(bytes + *size, J, numbers * sizeof *J);
    *size += numbers * sizeof *J;
    free(J);
    free(value);
    free(every);
    fm_close(s);
    return bytes;
}

static void check_mode(const image *one)
{
    for (int scheme = 0; scheme < FM_SCHEME_COUNT; scheme++) {
        size_t size, first_size;
        host = modes[0];
        void *first = run_all_calls(one, scheme, &first_size);
        for (size_t i = 1; i < sizeof modes / sizeof *modes; i++) {
            host = modes[i];
            void *bytes = run_all_calls(one, scheme, &size);
            CHECK(size == first_size && memcmp(bytes, first, size) == 0);
            free(bytes);
        }
        free(first);
    }
}

/* In a long step. */
static void check_asking(const image *one)
{
    fm_status status;
    if (asked > 0) return;
    fm_instance *s = open_image(one);
    CHECK(choose(s, 1.0, 1e-3, 1e-6) && fm_assemble(s, 0.0) == FM_OK);
    fm_interrupt(s, ask, &asked);
    for (double t = 10.0; t < 1e4 && asked < 2; t += 10.0) {
        host = modes[(int)(0.1 * t) % (int)(sizeof modes / sizeof *modes)];
        IN_MODE(status, fm_step(s, t));
        CHECK(status == FM_OK);
    }
    CHECK(asked > 0);
    fm_close(s);
}

int main(void)
{
    own = fm_float_read();
    return walk(check_mode, SMALL) || walk(check_asking, SMALL);
}
