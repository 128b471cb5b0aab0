/* fuzz_images.c: an input is a model image, used as it is and then with a valid checksum. An image that can be opened
 * is assembled, stepped by both integrators, read, differentiated, saved, loaded and reset. */
#include "fuzz.h"

#define LARGEST 16000 /* bytes of an image: larger ones take longer and reach nothing new */
#define SPAN 1e-3 /* [s] */

static image images[MOST_IMAGES];
static size_t count;
static seal header;
static unsigned long opened, assembled, stepped;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    count = read_images(images, LARGEST);
    header = find_seal(images[0].bytes, images[0].size);
    return 0;
}

void fuzz_seeds(void (*add)(const uint8_t *data, size_t size))
{
    for (size_t i = 0; i < count; i++) add(images[i].bytes, images[i].size);
}

void fuzz_report(char *text, size_t capacity)
{
    (void)snprintf(text, capacity, "%lu opened, %lu assembled, %lu steps", opened, assembled, stepped);
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

static void use(fm_instance *s)
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
    unsigned char *late = saved(s);
    CHECK(fm_state_load(s, late, fm_state_size(s)) == FM_OK);
    check_unchanged(s, late);
    CHECK(fm_reset(s) == FM_OK);
    check_unchanged(s, fresh);
    check_values(s, first);
    free(first);
}

static int try_image(const uint8_t *data, size_t size)
{
    fm_instance *s = open_bytes(data, size);
    if (s == NULL) return 0;
    opened++;
    use(s);
    fm_close(s);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    allocations_left = ENOUGH;
    if (try_image(data, size)) return 0;
    unsigned char *bytes = sealed(&header, data, size);
    (void)try_image(bytes, size);
    free(bytes);
    return 0;
}
