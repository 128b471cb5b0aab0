/* dense.c: small dense systems that are not symmetric, by Gaussian elimination with row exchanges. */
#include "dense.h"

#include <math.h>

/* Factors the n by n matrix A, whose rows are `stride` apart, in place; order: (n,) the row that was exchanged with
 * each. Returns the sign of its determinant, 0: a pivot vanishes or is not finite. */
double fm_dense_factor(double *A, int32_t n, int32_t stride, int32_t *order)
{
    double sign = 1.0;
    for (int32_t k = 0; k < n; k++) {
        int32_t best = k;
        for (int32_t i = k + 1; i < n; i++)
            if (fabs(A[(int64_t)i * stride + k]) > fabs(A[(int64_t)best * stride + k])) best = i;
        order[k] = best;
        double *own = A + (int64_t)k * stride, *other = A + (int64_t)best * stride;
        for (int32_t j = 0; best != k && j < n; j++) {
            const double kept = own[j];
            own[j] = other[j], other[j] = kept;
        }
        if (best != k) sign = -sign;
        if (!(fabs(own[k]) > 0.0) || !isfinite(own[k])) return 0.0;
        if (own[k] < 0.0) sign = -sign;
        for (int32_t i = k + 1; i < n; i++) {
            double *row = A + (int64_t)i * stride;
            const double part = row[k] /= own[k];
            for (int32_t j = k + 1; j < n; j++) row[j] -= part * own[j];
        }
    }
    return sign;
}

/* x <- A^-1 x by that factor. */
void fm_dense_solve(const double *L, int32_t n, int32_t stride, const int32_t *order, double *x)
{
    for (int32_t k = 0; k < n; k++) {
        const double kept = x[k];
        x[k] = x[order[k]], x[order[k]] = kept;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++) x[i] -= L[(int64_t)i * stride + j] * x[j];
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < n; j++) x[i] -= L[(int64_t)i * stride + j] * x[j];
        x[i] /= L[(int64_t)i * stride + i];
    }
}
