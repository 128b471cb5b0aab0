/* trigonometry.c: sine and cosine of one angle of any size; arc tangent and arc sine.
 *
 * Beyond FM_LARGE an angle m 2^e with an integer m is reduced exactly (Payne and Hanek, Radian reduction for
 * trigonometric functions, 1983): of m 2^e (2/pi) / 4 only the fraction counts, so the bits of 2/pi from place e - 2 on
 * are enough; 192 of them leave more than 53 even next to a multiple of pi/2.
 *
 * The arc tangent of n/d in [0, 1], with c the nearest of 0, 1/8, ..., 1: atan c + atan u, u = (n - c d) / (d + c n),
 * of which |u| <= 1/16, by its power series, whose remainder is below 1e-18 of it.
 */
#include "trigonometry.h"

#include <math.h>

enum { WORDS = 6 };

static const double turn = 6.283185307179586;
static const double pi = 3.141592653589793;
static const double pi_rest = 1.2246467991473532e-16;

/* The fraction of a full turn that an angle of at least FM_LARGE has beyond `quadrant` quarters, in radians. */
static double reduced_by_words(uint64_t bits, uint64_t *quadrant)
{
    static const uint32_t two_by_pi[] = {
        0,          0,          0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041,
        0xFE5163AB, 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E,
        0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B,
        0x1FF897FF, 0xDE05980F, 0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D,
        0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046};
    const uint64_t m = (bits & 0xFFFFFFFFFFFFFu) | 0x10000000000000u, low = m & 0xFFFFFFFFu, high = m >> 32;
    const int from = (int)(bits >> 52) - 1075 - 2 + 64, word = from / 32, shift = from % 32;
    uint32_t part[WORDS], sum[WORDS];
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++)
        part[i] = (uint32_t)((((uint64_t)two_by_pi[word + i] << 32) | two_by_pi[word + i + 1]) >> (32 - shift));
    for (int i = WORDS; i-- > 0; carry >>= 32) carry += part[i] * low, sum[i] = (uint32_t)carry;
    carry = 0;
    for (int i = WORDS - 1; i-- > 0; carry >>= 32) carry += part[i + 1] * high + sum[i], sum[i] = (uint32_t)carry;
    *quadrant = (uint32_t)(sum[0] + 0x20000000u) >> 30;
    sum[0] -= (uint32_t)(*quadrant << 30);
    const int negative = (int)(sum[0] >> 31);
    carry = (uint64_t)negative;
    for (int i = WORDS; negative && i-- > 0; carry >>= 32) carry += ~sum[i], sum[i] = (uint32_t)carry;
    int first = 0;
    while (first < WORDS - 3 && sum[first] == 0) first++;
    const double size = (double)sum[first] * 0x1p64 + ((double)sum[first + 1] * 0x1p32 + (double)sum[first + 2]);
    return (negative ? -turn : turn) * ldexp(size, -32 * (first + 3));
}

void fm_cos_and_sin(double angle, double *cosine, double *sine)
{
    const double size = fabs(angle);
    uint64_t quadrant;
    double rest, turns;
    if (size < FM_LARGE) {
        rest = fm_reduced_angle(angle, &turns);
        memcpy(&quadrant, &turns, sizeof quadrant);
        fm_cos_sin_near(rest, quadrant, cosine, sine);
    } else if (isfinite(angle)) {
        uint64_t bits;
        memcpy(&bits, &size, sizeof bits);
        rest = reduced_by_words(bits, &quadrant);
        fm_cos_sin_near(rest, quadrant, cosine, sine);
        if (angle < 0.0) *sine = -*sine;
    } else {
        *cosine = *sine = angle - angle;
    }
}

double fm_cos(double angle)
{
    double cosine, sine;
    fm_cos_and_sin(angle, &cosine, &sine);
    return cosine;
}

double fm_sin(double angle)
{
    double cosine, sine;
    fm_cos_and_sin(angle, &cosine, &sine);
    return sine;
}

/* atan(n / d) for 0 <= n <= d, d > 0. */
static double in_octant(double n, double d)
{
    static const double at[9] = {0x0.0p+0,
                                 0x1.fd5ba9aac2f6ep-4,
                                 0x1.f5b75f92c80ddp-3,
                                 0x1.6f61941e4def1p-2,
                                 0x1.dac670561bb4fp-2,
                                 0x1.1e00babdefeb4p-1,
                                 0x1.4978fa3269ee1p-1,
                                 0x1.700a7c5784634p-1,
                                 0x1.921fb54442d18p-1};
    static const double at_rest[9] = {0x0.0p+0,
                                      -0x1.cd37686760c17p-59,
                                      0x1.8ab6e3cf7afbdp-57,
                                      -0x1.c63aae6f6e918p-56,
                                      0x1.a2b7f222f65e2p-56,
                                      -0x1.928df287a668fp-58,
                                      0x1.2419a87f2a458p-56,
                                      -0x1.8c34d25aadef6p-56,
                                      0x1.1a62633145c07p-55};
    const int k = (int)(8.0 * (n / d) + 0.5);
    const double c = 0.125 * k, u = (n - c * d) / (d + c * n), t = u * u;
    double sum = 1.0 / 15.0;
    for (int i = 13; i > 1; i -= 2) sum = 1.0 / i - t * sum;
    return at[k] + (u + (at_rest[k] - u * (t * sum)));
}

double fm_atan2(double y, double x)
{
    const double tall = fabs(y), wide = fabs(x), n = tall < wide ? tall : wide, d = tall < wide ? wide : tall;
    if (!isfinite(y) || !isfinite(x)) return (y - y) + (x - x);
    double angle = d > 0.0 ? in_octant(n, d) : 0.0;
    if (tall > wide) angle = 0.5 * pi - (angle - 0.5 * pi_rest);
    if (signbit(x)) angle = pi - (angle - pi_rest);
    return copysign(angle, y);
}
