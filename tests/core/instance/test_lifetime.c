/* test_lifetime.c: thousands of instances are opened and closed, one by one and together; the leak check at the end
 * finds remaining memory. */
#include "images.h"

#define OPENED 2000 /* of a small image; the total size of the images opened is about constant */
#define TOGETHER 8
#define STEP 0.01 /* [s] */

static void check_opening_and_closing(const image *one)
{
    const size_t times = one->size < SMALL ? OPENED : 1 + OPENED * SMALL / one->size / 4;
    for (size_t i = 0; i < times; i += each_of(4)) {
        fm_instance *s = open_image(one);
        if (i % 16 == 0) CHECK(fm_assemble(s, 0.0) == FM_OK && fm_step(s, STEP) == FM_OK);
        fm_close(s);
    }
}

/* A refused image leaks nothing either. */
static void check_refused(const image *one)
{
    char message[10];
    uint64_t seed = 1;
    fm_instance *s;
    for (size_t i = 0; i < OPENED; i += each_of(4)) {
        CHECK(fm_open(one->bytes, any_below(&seed, one->size), &s, message, sizeof message) == FM_ERROR);
        CHECK(s == NULL && strlen(message) == sizeof message - 1);
    }
    CHECK(fm_open(one->bytes, 0, &s, NULL, 0) == FM_ERROR && s == NULL);
}

/* Instances of one image are independent: each gives the results that it gives alone. */
static void check_side_by_side(const image *one)
{
    fm_instance *s[TOGETHER];
    for (int i = 0; i < TOGETHER; i++) {
        s[i] = open_image(one);
        CHECK(fm_assemble(s[i], 0.0) == FM_OK);
    }
    for (int n = 1; n < 2 * TOGETHER; n++) /* each starts later than the one before */
        for (int i = 0; i < TOGETHER; i++)
            if (n > i && n - i <= TOGETHER) CHECK(fm_step(s[i], STEP * (n - i)) == FM_OK);
    double *first = all_values(s[0]);
    for (int i = 0; i < TOGETHER; i++) {
        double *value = all_values(s[i]);
        CHECK(same_bits(s[i], first, value));
        free(value);
        fm_close(s[i]);
    }
    free(first);
}

static void check_lifetime(const image *one)
{
    check_opening_and_closing(one);
    check_refused(one);
    check_side_by_side(one);
}

int main(void)
{
    return walk(check_lifetime, EVERY);
}
