/* cholesky.c: symmetric positive definite systems, A = L' L from the last row to the first, with reciprocals on L's
 * diagonal.
 *
 * In this order the factor of a matrix over the joints of a tree, in which a joint comes after those that carry it, has
 * entries only where one carries the other.
 */
#include "cholesky.h"

#include "products.h"

#include <math.h>
#include <stddef.h>

/* Factors the lower triangle of A in place, n rows `stride` apart. 0: it is not positive definite. */
int fm_cholesky_factor(double *A, int32_t n, int32_t stride)
{
    for (int32_t k = n - 1; k >= 0; k--) {
        double *L = A + (size_t)k * (size_t)stride;
        if (!(L[k] > 0.0)) return 0;
        L[k] = 1.0 / sqrt(L[k]);
        for (int32_t i = 0; i < k; i++) L[i] *= L[k];
        for (int32_t i = 0; i < k; i++)
            if (L[i] != 0.0) fm_add_times(A + (size_t)i * (size_t)stride, -L[i], L, i + 1);
    }
    return 1;
}

/* x <- A^-1 x by that factor. */
void fm_cholesky_solve(const double *A, int32_t n, int32_t stride, double *x)
{
    for (int32_t j = n - 1; j >= 0; j--) {
        const double *L = A + (size_t)j * (size_t)stride;
        x[j] *= L[j];
        fm_add_times(x, -x[j], L, j);
    }
    for (int32_t j = 0; j < n; j++) {
        const double *L = A + (size_t)j * (size_t)stride;
        x[j] = (x[j] - fm_product_in_four(L, x, j)) * L[j];
    }
}
