/* test_allocation.c: only fm_open and fm_close use the heap. */
#include "images.h"
#include "image/schemes.h"

/* From the address sanitizer's <sanitizer/allocator_interface.h>, which gcc does not install. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

#define STEP 0.01 /* [s] */
#define STOP 0.1  /* [s] */

static long touches; /* calls of malloc and free */
static int failed;   /* steps */
static int stood;    /* starts in equilibrium */

static void count_malloc(const volatile void *at, size_t size)
{
    (void)at;
    (void)size;
    touches++;
}

static void count_free(const volatile void *at)
{
    if (at != NULL) touches++;
}

#define LARGE 400 /* velocities, with which a search for an equilibrium takes its time */

/* Memory of the test itself, allocated before allocations are counted. */
typedef struct room {
    uint32_t *input, *output;
    size_t inputs, outputs;
    double *value, *found;
    int32_t *order;
    unsigned char *state;
} room;

static room make_room(const fm_instance *s)
{
    const size_t count = fm_variable_count(s), speeds = (size_t)fm_speed_count(s) + 1;
    room r = {allocate(count, sizeof *r.input),
              allocate(count, sizeof *r.output),
              0,
              0,
              allocate(count + speeds, sizeof *r.value),
              allocate(speeds, sizeof *r.found),
              allocate(count, sizeof *r.order),
              allocate(fm_state_size(s), 1)};
    r.inputs = references(s, FM_INPUT, r.input);
    r.outputs = references(s, FM_OUTPUT, r.output);
    for (size_t i = 0; i < count; i++) r.order[i] = 1;
    return r;
}

static void free_room(room *r)
{
    free(r->input);
    free(r->output);
    free(r->value);
    free(r->found);
    free(r->order);
    free(r->state);
}

static void use(fm_instance *s, const room *r, double scheme)
{
    const size_t size = fm_state_size(s);
    char name[100];
    CHECK(fm_reset(s) == FM_OK && choose(s, scheme, 0.1 * STEP, 1e-6) && fm_assemble(s, 0.0) == FM_OK);
    for (int i = 1; i <= 3; i++) {
        for (size_t j = 0; j < r->inputs; j++) r->value[j] = 0.1 * i;
        CHECK(fm_set(s, r->input, r->inputs, r->value) == FM_OK);
        CHECK(fm_set_input_derivatives(s, r->input, r->inputs, r->order, r->value) == FM_OK);
        CHECK(fm_step(s, i * STEP) == FM_OK);
        CHECK(fm_get(s, r->output, r->outputs, r->value) == FM_OK);
    }
    CHECK(fm_step(s, 0.0) == FM_ERROR); /* with a message */
    CHECK(fm_directional_derivative(s, r->output, r->outputs, r->input, r->inputs, r->value, r->value) == FM_OK);
    CHECK(fm_get_output_derivatives(s, r->output, 1, r->order, r->value) == FM_OK);
    CHECK(fm_state_save(s, r->state, size) == FM_OK && fm_state_load(s, r->state, size) == FM_OK);
    CHECK(fm_evaluate(s, 2) == FM_OK && fm_level_use(s, 0) == FM_OK);
    CHECK(fm_step(s, STOP) == FM_OK);
    for (uint32_t i = 0; i < fm_variable_count(s); i++) (void)fm_variable_name(s, i, name, sizeof name);
    (void)fm_guid(s);
}

/* A start in equilibrium, if there is one, and the tangent where it starts. */
static void stand(fm_instance *s, const room *r)
{
    const double on = 1.0;
    const uint32_t reference = (uint32_t)solver_variable(s, "solver.equilibrium");
    CHECK(fm_reset(s) == FM_OK && fm_set(s, &reference, 1, &on) == FM_OK);
    if (fm_assemble(s, 0.0) != FM_OK) {
        CHECK(fm_message(s)[0] != 0);
        return;
    }
    for (int32_t i = 0; i < fm_speed_count(s); i++) r->value[i] = 1.0;
    CHECK(fm_tangent(s, 1e-6, r->value, r->found) == FM_OK && fm_flexibility(s, r->value, r->found) == FM_OK);
    const fm_status status = fm_step(s, STEP); /* a ring of rods hangs folded, where branches cross */
    CHECK(status == FM_OK || strstr(fm_message(s), "singular position") != NULL);
    stood++;
}

/* A step that fails, with a message, since its inputs are too large. They differ: equal torques on all pins of a plane
 * loop do no work. */
static void fail(fm_instance *s, const room *r)
{
    CHECK(fm_reset(s) == FM_OK && choose(s, 0.0, STEP, 1e-3) && fm_assemble(s, 0.0) == FM_OK);
    for (size_t i = 0; i < r->inputs; i++) r->value[i] = 1e308 / (double)(i + 1);
    CHECK(fm_set(s, r->input, r->inputs, r->value) == FM_OK);
    CHECK(fm_step(s, 1.0) == FM_DISCARD && fm_message(s)[0] != 0);
    failed++;
}

static void check_heap(const image *one)
{
    const long before = touches;
    fm_instance *s = open_image(one);
    CHECK(touches > before); /* the hooks work */
    room r = make_room(s);
    const long taken = touches;
    for (size_t scheme = turn(3); scheme < FM_SCHEME_COUNT; scheme += each_of(3)) use(s, &r, (double)scheme);
    if (fm_speed_count(s) < LARGE) stand(s, &r);
    if (r.inputs > 0) fail(s, &r);
    CHECK(touches == taken);
    free_room(&r);
    fm_close(s);
}

int main(void)
{
    CHECK(__sanitizer_install_malloc_and_free_hooks(count_malloc, count_free) > 0);
    const int status = walk(check_heap, EVERY);
    CHECK(failed > 0 && stood > 5);
    return status;
}
