/* quadruple.h: stands before the core as one file (quadruple.py) and makes each `double` of it a number of 113 bits.
 *
 * What the C library declares with doubles is declared before; sine and cosine are the library's.
 */
#ifndef QUADRUPLE_H
#define QUADRUPLE_H
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fenv.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <limits.h>

typedef double binary64;
typedef _Float128 binary128 __attribute__((aligned(8))); /* as the core aligns its arrays */
#define double binary128

#define fabs fabsf128
#define sqrt sqrtf128
#define sin sinf128
#define cos cosf128
#define tan tanf128
#define asin asinf128
#define acos acosf128
#define atan atanf128
#define atan2 atan2f128
#define exp expf128
#define expm1 expm1f128
#define log logf128
#define log1p log1pf128
#define pow powf128
#define cbrt cbrtf128
#define hypot hypotf128
#define floor floorf128
#define ceil ceilf128
#define trunc truncf128
#define rint rintf128
#define nearbyint nearbyintf128
#define round roundf128
#define fmod fmodf128
#define remainder remainderf128
#define fmax fmaxf128
#define fmin fminf128
#define copysign copysignf128
#define ldexp ldexpf128
#define frexp frexpf128
#define scalbn scalbnf128
#define nextafter nextafterf128
#define logb logbf128
#define ilogb ilogbf128
#define lround lroundf128
#define cosh coshf128
#define sinh sinhf128
#define tanh tanhf128
#undef HUGE_VAL
#define HUGE_VAL HUGE_VAL_F128

#define FM_LARGE HUGE_VAL

static inline double fm_reduced_angle(double angle, double *turns)
{
    *turns = 0;
    return angle;
}

static inline void fm_cos_and_sin(double angle, double *cosine, double *sine)
{
    *cosine = cosf128(angle), *sine = sinf128(angle);
}

static inline void fm_cos_sin_near(double y, uint64_t quadrant, double *cosine, double *sine)
{
    (void)quadrant;
    fm_cos_and_sin(y, cosine, sine);
}

static inline double fm_cos(double angle)
{
    return cosf128(angle);
}

static inline double fm_sin(double angle)
{
    return sinf128(angle);
}

static inline double fm_atan2(double y, double x)
{
    return atan2f128(y, x);
}

#endif
