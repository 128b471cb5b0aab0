/* test_calls.c: every function of fmumbs.h on every image, with valid and invalid arguments. */
#include "images.h"
#include "image/schemes.h"

#define STEP 0.01 /* [s] */
#define STEPS 10

static void check_descriptions(const fm_instance *s)
{
    char name[200];
    fm_variable_info info;
    const uint32_t count = fm_variable_count(s);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(fm_variable(s, i, &info) == FM_OK);
        CHECK(fm_kind((uint32_t)info.kind) != NULL && info.unit != NULL);
        const size_t length = fm_variable_name(s, i, name, sizeof name);
        CHECK(length > 0 && length == strlen(name));
        CHECK(fm_variable_name(s, i, name, 2) == length && strlen(name) == 1);
        CHECK(fm_variable_name(s, i, NULL, 0) == length);
    }
    const uint32_t beyond = /* time, states, their rates, event indicators */
        count + 1 + 2 * (uint32_t)fm_continuous_count(s) + (uint32_t)fm_indicator_count(s);
    for (uint32_t i = count; i < beyond; i++) CHECK(fm_variable(s, i, &info) == FM_OK);
    CHECK(fm_variable(s, beyond, &info) == FM_ERROR);
    CHECK(fm_variable_name(s, beyond, name, sizeof name) == 0 && name[0] == 0);
    CHECK(fm_kind(fm_kind_count()) == NULL && fm_array(fm_array_count()) == NULL);
    CHECK(strlen(fm_guid(s)) == 38);
}

static void check_refusal(fm_instance *s, uint32_t reference, double value)
{
    CHECK(fm_set(s, &reference, 1, &value) == FM_ERROR);
    CHECK(fm_message(s)[0] != 0);
}

/* Stored variables accept their own value and refuse NaN; computed ones cannot be set. */
static void check_setting(fm_instance *s)
{
    double *before = all_values(s);
    const uint32_t count = fm_variable_count(s);
    for (uint32_t i = 0; i < count; i++) {
        fm_variable_info info;
        CHECK(fm_variable(s, i, &info) == FM_OK);
        check_refusal(s, i, NAN);
        check_refusal(s, i, -INFINITY);
        if (info.causality == FM_LOCAL || (info.causality == FM_OUTPUT && !info.state)) check_refusal(s, i, before[i]);
        else CHECK(fm_set(s, &i, 1, before + i) == FM_OK);
    }
    check_refusal(s, count, 0.0);
    check_refusal(s, UINT32_MAX, 0.0);
    double *after = all_values(s);
    CHECK(same_bits(s, before, after));
    free(before);
    free(after);
}

static void push(fm_instance *s, double force)
{
    uint32_t *input = allocate(fm_variable_count(s), sizeof *input);
    const size_t inputs = references(s, FM_INPUT, input);
    for (size_t i = 0; i < inputs; i++) CHECK(fm_set(s, input + i, 1, &force) == FM_OK);
    free(input);
}

static void check_finite(fm_instance *s)
{
    double *value = all_values(s);
    for (uint32_t i = 0; i < fm_variable_count(s); i++) CHECK(isfinite(value[i]));
    free(value);
}

static void check_motion(fm_instance *s, double scheme)
{
    CHECK(fm_reset(s) == FM_OK);
    CHECK(fm_step(s, STEP) == FM_ERROR); /* not assembled */
    CHECK(choose(s, scheme, 0.1 * STEP, 1e-6));
    CHECK(fm_assemble(s, NAN) == FM_ERROR);
    CHECK(fm_assemble(s, 0.0) == FM_OK);
    check_finite(s);
    for (int i = 1; i <= STEPS; i++) {
        push(s, 0.1 * (i / 3)); /* sometimes the same as before */
        CHECK(fm_step(s, i * STEP) == FM_OK);
        CHECK(fm_time(s) == i * STEP);
        check_finite(s);
    }
    CHECK(fm_step(s, STEPS * STEP) == FM_OK); /* a step of length zero */
    CHECK(fm_step(s, 0.0) == FM_ERROR && fm_step(s, NAN) == FM_ERROR && fm_step(s, INFINITY) == FM_ERROR);
    CHECK(fm_time(s) == STEPS * STEP);
    CHECK(fm_evaluate(s, 3) == FM_OK);
}

static void check_input_derivatives(fm_instance *s)
{
    uint32_t *input = allocate(fm_variable_count(s), sizeof *input);
    const size_t inputs = references(s, FM_INPUT, input);
    const double t = fm_time(s), slope = 0.1, none = NAN;
    for (int32_t order = 0; order <= 4; order++)
        for (size_t i = 0; i < inputs; i++) {
            const fm_status expected = order >= 1 && order <= 3 ? FM_OK : FM_ERROR;
            CHECK(fm_set_input_derivatives(s, input + i, 1, &order, &slope) == expected);
            CHECK(fm_set_input_derivatives(s, input + i, 1, &order, &none) == FM_ERROR);
        }
    for (int i = 1; i <= 2; i++) CHECK(fm_step(s, t + i * STEP) == FM_OK);
    check_finite(s);
    free(input);
}

static void check_output_derivatives(fm_instance *s)
{
    double *before = all_values(s), rate;
    for (uint32_t i = 0; i <= fm_variable_count(s); i++) {
        fm_variable_info info;
        const int32_t first = 1, second = 2;
        const int good = fm_variable(s, i, &info) == FM_OK && info.causality == FM_OUTPUT && info.type == FM_REAL;
        CHECK(fm_get_output_derivatives(s, &i, 1, &second, &rate) == FM_ERROR);
        CHECK(fm_get_output_derivatives(s, &i, 1, &first, &rate) == (good ? FM_OK : FM_ERROR));
        CHECK(!good || isfinite(rate));
    }
    double *after = all_values(s);
    CHECK(same_bits(s, before, after));
    free(before);
    free(after);
}

static void check_directional_derivatives(fm_instance *s)
{
    const size_t count = fm_variable_count(s);
    uint32_t *input = allocate(count, sizeof *input), *output = allocate(count, sizeof *output);
    double *seed = allocate(count, sizeof *seed), *result = allocate(count, sizeof *result);
    const size_t inputs = references(s, FM_INPUT, input), outputs = references(s, FM_OUTPUT, output);
    for (size_t i = 0; i < inputs; i++) seed[i] = 1.0 + (double)i;
    double *before = all_values(s);
    CHECK(fm_directional_derivative(s, output, outputs, input, inputs, seed, result) == FM_OK);
    for (size_t i = 0; i < outputs; i++) CHECK(isfinite(result[i]));
    CHECK(fm_directional_derivative(s, output, outputs, input, 0, seed, result) == FM_OK);
    for (size_t i = 0; i < outputs; i++) CHECK(result[i] == 0.0);
    const uint32_t none = UINT32_MAX;
    CHECK(fm_directional_derivative(s, output, 1, &none, 1, seed, result) == FM_ERROR);
    CHECK(fm_directional_derivative(s, &none, 1, output, 0, seed, result) == FM_ERROR);
    if (inputs > 0) {
        CHECK(fm_directional_derivative(s, input, 1, input, 1, seed, result) == FM_ERROR);
        seed[0] = INFINITY;
        CHECK(fm_directional_derivative(s, output, 1, input, 1, seed, result) == FM_ERROR);
    }
    double *after = all_values(s);
    CHECK(same_bits(s, before, after));
    free(before);
    free(after);
    free(input);
    free(output);
    free(seed);
    free(result);
}

static void check_levels(fm_instance *s)
{
    CHECK(fm_level_use(s, -1) == FM_ERROR && fm_level_use(s, fm_level_best() + 1) == FM_ERROR);
    CHECK(fm_level_use(s, 0) == FM_OK);
    double *plain = all_values(s);
    for (int32_t level = 1; level <= fm_level_best(); level++) {
        CHECK(fm_level_use(s, level) == FM_OK);
        double *value = all_values(s);
        CHECK(same_bits(s, plain, value));
        free(value);
    }
    free(plain);
}

/* What motions require, at the present positions: finite, symmetric, and the state's outputs have the same bits after.
 */
static void check_requirements(fm_instance *s)
{
    static const double origin[3] = {0.0, 0.0, 0.0};
    const size_t np = fm_positions(s, NULL, 0), nu = (size_t)fm_speed_count(s);
    double *x = allocate(np + nu + 1, sizeof *x), *none = allocate(nu + 1, sizeof *none), *before = all_values(s);
    double *forces = allocate(nu + 1, sizeof *forces), *M = allocate(nu * nu + 1, sizeof *M), momenta[10];
    double *J = allocate(6 * nu + 1, sizeof *J);
    fm_positions(s, x, np);
    for (size_t u = 0; u < nu; u++) x[np + u] = 0.3;
    const fm_status applied = fm_required_forces(s, 1, 1, x, x + np, none, forces); /* unless friction loads itself */
    for (size_t u = 0; applied == FM_OK && u < nu; u++) CHECK(isfinite(forces[u]));
    CHECK(fm_required_forces(s, 1, 0, x, x + np, none, forces) == FM_OK);
    CHECK(fm_mass_matrix(s, 1, x, M) == FM_OK && fm_momenta(s, 1, x, x + np, momenta) == FM_OK);
    for (size_t u = 0; u < nu; u++) CHECK(isfinite(forces[u]) && M[u * nu + u] >= 0.0 && M[u] == M[u * nu]);
    CHECK(fm_point_jacobian(s, 1, x, 0, origin, J) == FM_OK && fm_point_jacobian(s, 1, x, -1, origin, J) == FM_OK);
    CHECK(fm_point_jacobian(s, 1, x, -2, origin, J) == FM_ERROR);
    const size_t size = fm_violations(s, NULL, 0);
    double *c = allocate(size + 1, sizeof *c), *after = all_values(s);
    CHECK(fm_violations(s, c, size) == size);
    for (size_t i = 0; i < size; i++) CHECK(fabs(c[i]) < 1e-3);
    CHECK(same_bits(s, before, after));
    x[0] = NAN;
    CHECK(fm_required_forces(s, 1, 1, x, x + np, none, forces) == FM_ERROR);
    CHECK(fm_mass_matrix(s, 1, x, M) == FM_ERROR && fm_momenta(s, 1, x, x + np, momenta) == FM_ERROR);
    free(x), free(none), free(forces), free(M), free(J), free(before), free(after), free(c);
}

static void check_calls(const image *one)
{
    fm_instance *s = open_image(one);
    check_descriptions(s);
    check_finite(s);
    check_setting(s);
    for (size_t scheme = turn(3); scheme < FM_SCHEME_COUNT; scheme += each_of(3)) {
        check_motion(s, (double)scheme);
        check_setting(s);
        CHECK(fm_assemble(s, fm_time(s)) == FM_OK); /* start values were set */
        check_input_derivatives(s);
        check_output_derivatives(s);
        check_directional_derivatives(s);
        check_levels(s);
    }
    check_requirements(s);
    fm_close(s);
    fm_close(NULL);
}

int main(void)
{
    return walk(check_calls, EVERY);
}
