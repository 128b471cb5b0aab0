/* fuzz_images.c: an input is a model image, used as it is and then with a valid checksum. An image that can be opened
 * is assembled, stepped by both integrators, read, differentiated, saved, loaded and reset. */
#include "fuzz.h"

#define SPAN 1e-3 /* [s] */
#define PATIENT 1 /* how often the host is asked before it interrupts the search for an equilibrium */

static image images[MOST_IMAGES];
static size_t count;
static seal header;
static unsigned long opened, assembled, stepped, stood;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    count = read_images(images);
    header = find_seal(images[0].bytes, images[0].size);
    return 0;
}

void fuzz_seeds(void (*add)(const uint8_t *data, size_t size))
{
    for (size_t i = 0; i < count; i++) add(images[i].bytes, images[i].size);
}

void fuzz_report(char *text, size_t capacity)
{
    (void)snprintf(text, capacity, "%lu opened, %lu assembled, %lu in equilibrium, %lu steps", opened, assembled, stood,
                   stepped);
}

static void read_names(const fm_instance *s)
{
    char name[64];
    fm_variable_info info;
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        CHECK(fm_variable(s, i, &info) == FM_OK && info.unit != NULL);
        (void)fm_variable_name(s, i, name, sizeof name);
    }
    CHECK(strlen(fm_guid(s)) == 38);
}

static void run(fm_instance *s, double scheme, double t, double span)
{
    if (!choose(s, scheme, 0.4 * span, 1e-6)) return; /* the image has lost these variables */
    if (checked(s, fm_assemble(s, t), saved(s)) != FM_OK) return;
    assembled++;
    for (int i = 1; i <= 2; i++) stepped += step(s, t + i * span, 0) == FM_OK;
    read_values(s);
}

static int is_tired(void *left)
{
    return (*(int *)left)-- <= 0;
}

/* A start in equilibrium, and the tangent there. */
static void stand(fm_instance *s)
{
    int left = PATIENT;
    const int64_t found = solver_variable(s, "solver.equilibrium");
    const uint32_t reference = (uint32_t)found;
    const double on = 1.0, off = 0.0;
    if (found < 0 || fm_set(s, &reference, 1, &on) != FM_OK) return;
    fm_interrupt(s, is_tired, &left);
    if (checked(s, fm_assemble(s, 0.0), saved(s)) == FM_OK) {
        const size_t n = (size_t)fm_speed_count(s);
        double *v = allocate(2 * n + 1, sizeof *v);
        for (size_t j = 0; j < n; j++) v[j] = sin((double)j);
        (void)checked(s, fm_tangent(s, 1e-6, v, v + n), saved(s));
        (void)checked(s, fm_flexibility(s, v, v + n), saved(s));
        stood++;
        free(v);
    }
    fm_interrupt(s, NULL, NULL);
    read_values(s);
    (void)fm_set(s, &reference, 1, &off);
}

static void use(fm_instance *s, int stands)
{
    unsigned char *fresh = saved(s);
    double *first = all_values(s);
    read_names(s);
    (void)checked(s, fm_check_inertia(s), saved(s));
    CHECK(fm_evaluate(s, 1) == FM_OK);
    run(s, 1.0, 0.0, SPAN);
    read_derivatives(s);
    run(s, 2.0, LATE, few_steps(LATE));
    run(s, 4.0, LATE, few_steps(LATE));
    run(s, 0.0, LATE, few_steps(LATE));
    if (stands) stand(s);
    unsigned char *late = saved(s);
    CHECK(fm_state_load(s, late, fm_state_size(s)) == FM_OK);
    check_unchanged(s, late);
    CHECK(fm_reset(s) == FM_OK);
    check_unchanged(s, fresh);
    check_values(s, first);
    free(first);
}

static int try_image(const uint8_t *data, size_t size, int stands)
{
    fm_instance *s = open_bytes(data, size);
    if (s == NULL) return 0;
    opened++;
    use(s, stands);
    fm_close(s);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    allocations_left = ENOUGH;
    const int stands = size > 0 && data[size - 1] % 8 + data[size / 2] % 8 == 0; /* a few: searches take long */
    if (try_image(data, size, stands)) return 0;
    unsigned char *bytes = sealed(&header, data, size);
    (void)try_image(bytes, size, stands);
    free(bytes);
    return 0;
}
