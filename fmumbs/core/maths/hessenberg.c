/* hessenberg.c: the leftmost eigenvalue of a small upper Hessenberg matrix, by the QR algorithm with Francis's double
 * shifts (G. H. Golub, C. F. Van Loan, Matrix Computations (2013), section 7.5), and its eigenvector by inverse
 * iteration.
 *
 * Matrices are stored by rows, n numbers each.
 */
#include "hessenberg.h"

#include <float.h>
#include <math.h>

#define FM_SWEEPS 60 /* for an eigenvalue, or a pair of them */

/* The first row of the last block that does not decouple, but for what is below the round-off of the matrix; sets what
 * decouples it to zero. */
static int32_t begin_of_block(double *a, int32_t n, int32_t last, double norm)
{
    int32_t l = last;
    for (; l > 0; l--) {
        const double size = fabs(a[(l - 1) * n + l - 1]) + fabs(a[l * n + l]);
        if (fabs(a[l * n + l - 1]) <= DBL_EPSILON * (size + norm)) break;
    }
    if (l > 0) a[l * n + l - 1] = 0.0;
    return l;
}

/* Reflects v to the first axis: v becomes the reflector's vector, of the square 2 / factor. */
static double reflector(double *v, int32_t count)
{
    double square = 0.0;
    for (int32_t i = 0; i < count; i++) square += v[i] * v[i];
    const double size = sqrt(square);
    if (!(size > 0.0)) return 0.0;
    v[0] += v[0] < 0.0 ? -size : size;
    square = 0.0;
    for (int32_t i = 0; i < count; i++) square += v[i] * v[i];
    return 2.0 / square;
}

/* Applies a reflector of `count` numbers at row and column k to the block from `first` to `last`. */
static void reflect(double *a, int32_t n, int32_t k, const double *v, int32_t count, double factor, int32_t first,
                    int32_t last)
{
    const int32_t below = k + 3 < last ? k + 3 : last;
    for (int32_t j = k > first ? k - 1 : first; j <= last; j++) {
        double along = 0.0;
        for (int32_t i = 0; i < count; i++) along += v[i] * a[(k + i) * n + j];
        for (int32_t i = 0; i < count; i++) a[(k + i) * n + j] -= factor * along * v[i];
    }
    for (int32_t i = first; i <= below; i++) {
        double along = 0.0;
        for (int32_t j = 0; j < count; j++) along += v[j] * a[i * n + k + j];
        for (int32_t j = 0; j < count; j++) a[i * n + k + j] -= factor * along * v[j];
    }
}

/* One implicit double QR step whose shifts are the eigenvalues of a matrix with x and y on its diagonal and the product
 * w of the two entries beside it. From differences, so that a matrix near a multiple of the identity converges as well.
 */
static void sweep(double *a, int32_t n, int32_t first, int32_t last, double x, double y, double w)
{
    const double *r = a + first * n + first;
    double v[3] = {((x - r[0]) * (y - r[0]) - w) / r[n] + r[1], (r[n + 1] - x) - (y - r[0]),
                   first + 2 <= last ? r[2 * n + 1] : 0.0};
    for (int32_t k = first; k < last; k++) {
        const int32_t count = k + 2 <= last ? 3 : 2;
        for (int32_t i = 0; k > first && i < count; i++) v[i] = a[(k + i) * n + k - 1];
        const double factor = reflector(v, count);
        reflect(a, n, k, v, count, factor, first, last);
        for (int32_t i = 1; k > first && i < count; i++) a[(k + i) * n + k - 1] = 0.0;
    }
}

/* The least real part of the eigenvalues of a, which is lost. 0: they are not found. */
int fm_least_eigenvalue(double *a, int32_t n, double *least)
{
    double norm = 0.0;
    int tries = 0;
    *least = INFINITY;
    for (int32_t i = 0; i < n * n; i++) norm += fabs(a[i]) / n;
    if (!isfinite(norm)) return 0;
    for (int32_t last = n - 1; last >= 0;) {
        const int32_t first = begin_of_block(a, n, last, norm);
        const double *corner = a + last * n + last;
        if (first == last) {
            *least = fmin(*least, corner[0]);
            last--, tries = 0;
            continue;
        }
        const double half = 0.5 * (corner[-n - 1] - corner[0]), square = half * half + corner[-1] * corner[-n];
        const double middle = 0.5 * (corner[-n - 1] + corner[0]);
        if (first == last - 1) {
            *least = fmin(*least, middle - (square > 0.0 ? sqrt(square) : 0.0));
            last -= 2, tries = 0;
            continue;
        }
        if (++tries > FM_SWEEPS) return 0;
        const double odd = fabs(corner[-1]) + fabs(corner[-n - 2]); /* now and then other shifts, which end a circle */
        if (tries % 10 == 0)
            sweep(a, n, first, last, corner[0] + 0.75 * odd, corner[0] + 0.75 * odd, -0.4375 * odd * odd);
        else sweep(a, n, first, last, corner[0], corner[-n - 1], corner[-1] * corner[-n]);
    }
    return 1;
}

/* Eliminates below the diagonal of a - value, with pivots, in a right-hand side as well, and solves for it. */
static void solve(double *a, int32_t n, double least, double *x)
{
    for (int32_t k = 0; k < n; k++) {
        double *row = a + k * n, *next = row + n;
        if (k + 1 < n && fabs(next[k]) > fabs(row[k])) {
            for (int32_t j = k; j < n; j++) {
                const double kept = row[j];
                row[j] = next[j], next[j] = kept;
            }
            const double kept = x[k];
            x[k] = x[k + 1], x[k + 1] = kept;
        }
        if (fabs(row[k]) < least) row[k] = least;
        if (k + 1 == n) break;
        const double part = next[k] / row[k];
        for (int32_t j = k; j < n; j++) next[j] -= part * row[j];
        x[k + 1] -= part * x[k];
    }
    for (int32_t k = n - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < n; j++) x[k] -= a[k * n + j] * x[j];
        x[k] /= a[k * n + k];
    }
}

/* A vector of length one near the eigenvector of an eigenvalue of a, which is lost; `vector` is where it begins. */
void fm_eigenvector_near(double *a, int32_t n, double value, double *vector)
{
    double norm = 0.0, largest = 0.0, square = 0.0;
    for (int32_t i = 0; i < n * n; i++) norm = fmax(norm, fabs(a[i]));
    for (int32_t i = 0; i < n; i++) a[i * n + i] -= value;
    solve(a, n, DBL_EPSILON * (norm > 0.0 ? norm : 1.0), vector);
    for (int32_t i = 0; i < n; i++) largest = fmax(largest, fabs(vector[i]));
    for (int32_t i = 0; i < n; i++) vector[i] /= largest, square += vector[i] * vector[i];
    for (int32_t i = 0; i < n; i++) vector[i] /= sqrt(square);
}
