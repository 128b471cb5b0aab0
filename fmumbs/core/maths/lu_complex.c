/* lu_complex.c: dense complex systems that are solved often, by A' = L U with row exchanges. Real and imaginary parts
 * are in arrays of their own, and solutions subtract rows of the factors, both for vector instructions.
 */
#include "lu_complex.h"

#include <math.h>
#include <stddef.h>

static void swap_rows(double *A, int32_t n, int32_t k, int32_t at)
{
    double *one = A + (size_t)k * (size_t)n, *other = A + (size_t)at * (size_t)n;
    for (int32_t j = 0; j < n; j++) {
        const double x = one[j];
        one[j] = other[j], other[j] = x;
    }
}

/* The row whose entry in column k, times its unit, is largest from there on. */
static int32_t pivot_of(const double *re, const double *im, const double *unit, int32_t n, int32_t k)
{
    int32_t at = k;
    double most = -1.0;
    for (int32_t i = k; i < n; i++) {
        const size_t place = (size_t)i * (size_t)n + (size_t)k;
        const double size = (fabs(re[place]) + fabs(im[place])) * unit[i];
        if (size > most) at = i, most = size;
    }
    return at;
}

/* p + i q -= (u + i v)(a + i b), numbers first to before n */
static void subtract(double u, double v, const double *restrict a, const double *restrict b, int32_t first, int32_t n,
                     double *restrict p, double *restrict q)
{
    for (int32_t j = first; j < n; j++) {
        p[j] -= u * a[j] - v * b[j];
        q[j] -= u * b[j] + v * a[j];
    }
}

/* Factors the n by n matrix A', given by its real and imaginary part, in place, with reciprocals of the pivots on the
 * diagonal; exchanged and unit as in fm_lu_factor. A pivot that vanishes makes what comes of it not finite. */
void fm_lu_complex_factor(double *re, double *im, int32_t n, double *unit, int32_t *exchanged)
{
    for (int32_t k = 0; k < n; k++) {
        const int32_t at = exchanged[k] = pivot_of(re, im, unit, n, k);
        const double own = unit[k];
        if (at != k) swap_rows(re, n, k, at), swap_rows(im, n, k, at);
        unit[k] = unit[at], unit[at] = own;
        double *a = re + (size_t)k * (size_t)n, *b = im + (size_t)k * (size_t)n;
        const double square = a[k] * a[k] + b[k] * b[k], x = a[k] / square, y = -b[k] / square;
        a[k] = x, b[k] = y;
        for (int32_t i = k + 1; i < n; i++) {
            double *p = re + (size_t)i * (size_t)n, *q = im + (size_t)i * (size_t)n;
            if (p[k] == 0.0 && q[k] == 0.0) continue;
            const double u = p[k] * x - q[k] * y, v = p[k] * y + q[k] * x;
            p[k] = u, q[k] = v;
            subtract(u, v, a, b, k + 1, n, p, q);
        }
    }
}

/* x + i y <- A^-1 (x + i y) by that factor. */
void fm_lu_complex_solve(const double *re, const double *im, int32_t n, const int32_t *exchanged, double *x, double *y)
{
    for (int32_t i = 0; i < n; i++) {
        const double *a = re + (size_t)i * (size_t)n, *b = im + (size_t)i * (size_t)n;
        const double u = x[i] * a[i] - y[i] * b[i], v = x[i] * b[i] + y[i] * a[i];
        x[i] = u, y[i] = v;
        subtract(u, v, a, b, i + 1, n, x, y);
    }
    for (int32_t i = n - 1; i >= 0; i--)
        subtract(x[i], y[i], re + (size_t)i * (size_t)n, im + (size_t)i * (size_t)n, 0, i, x, y);
    for (int32_t k = n - 1; k >= 0; k--) {
        const double p = x[exchanged[k]], q = y[exchanged[k]];
        x[exchanged[k]] = x[k], y[exchanged[k]] = y[k];
        x[k] = p, y[k] = q;
    }
}
