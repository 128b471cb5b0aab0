/* decay.c: the exponential exp(-x) for x >= 0, the natural logarithm and powers, the same bits everywhere.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2, ln 2 as a sum of two numbers, the first of which has 32 bits, so that its
 * products with n are exact; exp(-r) by its power series, whose remainder is below 1e-17. x = 2^n m with m between
 * sqrt(1/2) and sqrt(2); ln m = 2 artanh z, z = (m - 1)/(m + 1), by its power series, whose remainder is below 1e-18.
 */
#include "decay.h"

#include <math.h>

#define FM_DECAY_TERMS 14
#define FM_LOGARITHM_TERMS 25 /* highest power of z, odd */

double fm_decay(double x)
{
    static const double high = 6.93147180369123816490e-01, low = 1.90821492927058770002e-10,
                        per = 1.44269504088896338700;
    if (!(x < 745.0)) return isnan(x) ? x : 0.0;
    const double n = floor(x * per + 0.5), r = (x - n * high) - n * low;
    double sum = 1.0;
    for (int i = FM_DECAY_TERMS; i > 0; i--) sum = 1.0 - (r / i) * sum;
    return ldexp(sum, -(int)n);
}

double fm_logarithm(double x)
{
    int n;
    if (!(x > 0.0) || !isfinite(x)) return NAN;
    double m = frexp(x, &n), sum = 0.0;
    if (m < 0.70710678118654752) m *= 2.0, n--;
    const double z = (m - 1.0) / (m + 1.0), zz = z * z;
    for (int i = FM_LOGARITHM_TERMS; i > 0; i -= 2) sum = sum * zz + 1.0 / i;
    return n * 0.69314718055994531 + 2.0 * z * sum;
}

/* x^m, odd in x. */
double fm_odd_power(double x, double m)
{
    const double size = fabs(x);
    if (m == 1.0) return x;
    if (m == 1.5) return x * sqrt(size);
    if (!(size > 0.0)) return 0.0;
    const double z = m * fm_logarithm(size), grown = z < 0.0 ? fm_decay(-z) : 1.0 / fm_decay(z);
    return x < 0.0 ? -grown : grown;
}
