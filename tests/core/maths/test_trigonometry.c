/* test_trigonometry.c: the core's own functions of angles against the C library's with more digits. */
#include "maths/trigonometry.h"

#include "images.h"

#include <float.h>
#include <math.h>

#define TURN 6.283185307179586

static uint64_t drawn = 88172645463325252u;

/* In [0, 1). */
static double draw(void)
{
    drawn ^= drawn << 13, drawn ^= drawn >> 7, drawn ^= drawn << 17;
    return (double)(drawn >> 11) * 0x1p-53;
}

/* The distance of a number from the exact one, in units of its last place. */
static double ulps(double found, long double exact)
{
    int exponent;
    (void)frexp((double)exact, &exponent);
    return (double)(fabsl((long double)found - exact) / ldexpl(1.0L, exponent - DBL_MANT_DIG));
}

static double worst_of(double angle)
{
    double cosine, sine;
    fm_cos_and_sin(angle, &cosine, &sine);
    CHECK(fm_cos(angle) == cosine && fm_sin(angle) == sine);
    return fmax(ulps(cosine, cosl((long double)angle)), ulps(sine, sinl((long double)angle)));
}

static void check_angles(void)
{
    double small = 0.0, large = 0.0, next = 0.0;
    for (int i = 0; i < 100000; i++) {
        small = fmax(small, worst_of((draw() - 0.5) * pow(10.0, 12.0 * draw() - 7.0)));
        large = fmax(large, worst_of((draw() - 0.5) * pow(10.0, 5.3 + 302.0 * draw())));
        const double near = nearbyint(exp(25.0 * draw())) * 0.25 * TURN; /* next to a zero */
        next = fmax(next, worst_of(near));
    }
    CHECK(small < 2.0 && large < 3.0 && next < 3.0);
    CHECK(worst_of(0x1.6ac5b262ca1ffp+849) < 3.0); /* the number nearest to a multiple of pi/2 */
    CHECK(worst_of(DBL_MAX) < 3.0 && worst_of(FM_LARGE) < 3.0 && worst_of(nextafter(FM_LARGE, 0.0)) < 2.0);
    CHECK(fm_sin(0.0) == 0.0 && fm_cos(0.0) == 1.0 && isnan(fm_sin(HUGE_VAL)) && isnan(fm_cos(nan(""))));
}

static void check_arcs(void)
{
    double worst = 0.0;
    for (int i = 0; i < 300000; i++) {
        const double y = (draw() - 0.5) * pow(10.0, 8.0 * draw() - 4.0),
                     x = (draw() - 0.5) * pow(10.0, 8.0 * draw() - 4.0);
        worst = fmax(worst, ulps(fm_atan2(y, x), atan2l((long double)y, (long double)x)));
        worst = fmax(
            worst, ulps(fm_atan2(y, y * 0.125 * (i % 9)), atan2l((long double)y, (long double)(y * 0.125 * (i % 9)))));
    }
    CHECK(worst < 2.0);
    const double some[] = {-2.0, -0.0, 0.0, 1.0, 1e300};
    for (int i = 0; i < 25; i++) { /* axes, and the signs of zeros, as in C99's annex F */
        const double y = some[i / 5], x = some[i % 5], found = fm_atan2(y, x), exact = atan2(y, x);
        CHECK(fabs(found - exact) <= 0x1p-51 * fabs(exact) && signbit(found) == signbit(exact));
    }
    CHECK(isnan(fm_atan2(nan(""), 1.0)) && isnan(fm_atan2(1.0, nan(""))) && isnan(fm_atan2(HUGE_VAL, 1.0)));
}

int main(void)
{
    check_angles();
    check_arcs();
    return 0;
}
