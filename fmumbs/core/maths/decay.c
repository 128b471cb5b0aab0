/* decay.c: the exponential exp(-x) for x >= 0, the same bits everywhere.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2, ln 2 as a sum of two numbers, the first of which has 32 bits, so that its
 * products with n are exact; exp(-r) by its power series, whose remainder is below 1e-17.
 */
#include "decay.h"

#include <math.h>

#define FM_DECAY_TERMS 14

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
