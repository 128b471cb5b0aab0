/* products.h: products of long vectors. Sums are in a fixed order. */
#ifndef FM_PRODUCTS_H
#define FM_PRODUCTS_H

#include <stdint.h>

static inline double fm_product(const double *a, const double *b, int32_t n)
{
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* In four sums, which do not wait for one another. */
static inline double fm_product_in_four(const double *a, const double *b, int32_t n)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int32_t j = 0; j < 4; j++) sum[j] += a[i + j] * b[i + j];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* a += f b */
static inline void fm_add_times(double *a, double f, const double *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++) a[i] += f * b[i];
}

#endif
