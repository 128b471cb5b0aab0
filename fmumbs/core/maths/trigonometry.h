/* trigonometry.h: sine, cosine, arc tangent and arc sine, the same bits with every compiler and C library.
 *
 * Sine and cosine: reduction by pi/2 in three parts, then minimax polynomials on [-pi/4, pi/4], without branches, so
 * that the kernels do it for many angles at once.
 */
#ifndef FM_TRIGONOMETRY_H
#define FM_TRIGONOMETRY_H

#include "hidden.h"

#include <stdint.h>
#include <string.h>

#define FM_LARGE 1.0e5 /* [rad]: from it on the reduction below is inexact; fm_cos_and_sin takes another */

/* What is left of an angle below FM_LARGE after the nearest multiple of pi/2, which the last bits of `turns` count. */
static inline double fm_reduced_angle(double angle, double *turns)
{
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer, in the last bits */
    *turns = angle * 0x1.45f306dc9c883p-1 + shift;
    const double k = *turns - shift;
    return ((angle - k * 0x1.921fb544p+0) - k * 0x1.0b4611a6p-34) - k * 0x1.3198a2e037073p-69;
}

/* cos and sin of y + quadrant pi/2, |y| <= pi/4; the last two bits of `quadrant` count. */
static inline void fm_cos_sin_near(double y, uint64_t quadrant, double *cosine, double *sine)
{
    double t = y * y, tt = t * t;
    double p = ((1.5915323212271400322e-10 * t - 2.505109250706138589e-8) * tt +
                (2.7557315911911159132e-6 * t - 0.00019841269836387346242)) *
                   tt +
               (0.0083333333333307006253 * t - 0.16666666666666664366);
    double sn = y + y * (t * p);
    double q = ((-1.1380876948155473109e-11 * t + 2.0876121658910872323e-9) * tt +
                (-2.7557317152467038025e-7 * t + 2.4801587298533455009e-5)) *
                   tt +
               (-0.0013888888888887242183 * t + 0.041666666666666665228);
    double half = 0.5 * t, top = 1.0 - half;
    double cn = top + (((1.0 - top) - half) + tt * q);
    uint64_t a, b;
    memcpy(&a, &sn, sizeof a), memcpy(&b, &cn, sizeof b);
    uint64_t swapped = (a ^ b) & (0 - (quadrant & 1)); /* swapped in odd quadrants */
    a ^= swapped ^ ((quadrant & 2) << 62);
    b ^= swapped ^ (((quadrant + 1) & 2) << 62);
    memcpy(sine, &a, sizeof a), memcpy(cosine, &b, sizeof b);
}

FM_HIDDEN_BEGIN

/* Of any angle [rad]; NaN unless it is finite. Within 2 ulp below FM_LARGE, 3 ulp beyond. */
void fm_cos_and_sin(double angle, double *cosine, double *sine);
double fm_cos(double angle);
double fm_sin(double angle);

/* Within 2 ulp; NaN unless both are finite. */
double fm_atan2(double y, double x);

FM_HIDDEN_END

#endif
