/* lu.c: dense systems that are solved often: A = L U, with reciprocals of the pivots on the diagonal.
 *
 * A pivot that vanishes is no error: with row exchanges what comes of it is not finite; without them, for matrices that
 * are positive definite but for round-off, one that is not positive counts as infinite, and its unknown is zero.
 */
#include "lu.h"

#include <math.h>
#include <stddef.h>

/* Exchanges row k with the one of the largest entry times unit in column k below, which it returns. */
static int32_t exchange(double *A, int32_t n, int32_t k, double *unit)
{
    int32_t at = k;
    for (int32_t i = k + 1; i < n; i++) at = fabs(A[i * n + k]) * unit[i] > fabs(A[at * n + k]) * unit[at] ? i : at;
    if (at == k) return k;
    for (int32_t j = 0; j < n; j++) {
        const double x = A[k * n + j];
        A[k * n + j] = A[at * n + j], A[at * n + j] = x;
    }
    const double x = unit[k];
    unit[k] = unit[at], unit[at] = x;
    return at;
}

/* Factors the n by n matrix A in place; exchanged: (n,) the row that was exchanged with each, or NULL: none is; unit:
 * (n,) what makes entries of each row comparable with those of others, is exchanged with them. */
void fm_lu_factor(double *A, int32_t n, double *unit, int32_t *exchanged)
{
    for (int32_t k = 0; k < n; k++) {
        if (exchanged != NULL) exchanged[k] = exchange(A, n, k, unit);
        double *row = A + (size_t)k * (size_t)n;
        row[k] = exchanged != NULL || row[k] > 0.0 ? 1.0 / row[k] : 0.0;
        for (int32_t i = k + 1; i < n; i++) {
            double *at = A + (size_t)i * (size_t)n;
            const double part = at[k] *= row[k];
            for (int32_t j = k + 1; j < n; j++) at[j] -= part * row[j];
        }
    }
}

/* x <- A^-1 x by that factor. */
void fm_lu_solve(const double *LU, int32_t n, const int32_t *exchanged, double *x)
{
    for (int32_t k = 0; exchanged != NULL && k < n; k++) {
        const double value = x[exchanged[k]];
        x[exchanged[k]] = x[k], x[k] = value;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++) x[i] -= LU[(size_t)i * (size_t)n + (size_t)j] * x[j];
    for (int32_t i = n - 1; i >= 0; i--) {
        const double *row = LU + (size_t)i * (size_t)n;
        for (int32_t j = i + 1; j < n; j++) x[i] -= row[j] * x[j];
        x[i] *= row[i];
    }
}

/* x <- A'^-1 x by that factor, with row exchanges. */
void fm_lu_solve_transposed(const double *LU, int32_t n, const int32_t *exchanged, double *restrict x)
{
    for (int32_t i = 0; i < n; i++) {
        const double *restrict row = LU + (size_t)i * (size_t)n, part = x[i] *= row[i];
        for (int32_t j = i + 1; j < n; j++) x[j] -= part * row[j];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const double *restrict row = LU + (size_t)i * (size_t)n, part = x[i];
        for (int32_t j = 0; j < i; j++) x[j] -= part * row[j];
    }
    for (int32_t k = n - 1; k >= 0; k--) {
        const double value = x[exchanged[k]];
        x[exchanged[k]] = x[k], x[k] = value;
    }
}
