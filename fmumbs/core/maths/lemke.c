/* lemke.c: linear complementarity problems w = q + M z, w >= 0, z >= 0, w z = 0, M positive semidefinite.
 *
 * C. E. Lemke, Management Science 11 (1965) 681: w = q + M z + z0, from the basis w, z0 enters until w >= 0; then the
 * complement of what left enters, until z0 leaves. The leaving variable is that of the lexicographically least ratio,
 * so that with exact numbers no basis comes twice, and the pivots end. For such M a ray, along which none leaves, means
 * that no z makes w >= 0 (R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, 1992, 4.4.12). A
 * basis that comes again is round-off, and ends the search: each is compared with the one at the last power of two of
 * pivots (R. P. Brent, BIT 20 (1980) 176).
 */
#include "lemke.h"

#include <math.h>
#include <string.h>

#define FM_PIVOT 1e-9 /* of a unit diagonal: smaller entries are round-off of a singular matrix */
#define FM_TIED 1e-12 /* ratios, and entries of rows beside them, that differ by less are equal */

/* The tableau: n rows of the columns of w, of z, of z0 and the right side. */
typedef struct tableau {
    double *t;
    int32_t n, width, *basis;
} tableau;

static double *row_of(const tableau *a, int32_t i)
{
    return a->t + (size_t)i * (size_t)a->width;
}

static void pivot(const tableau *a, int32_t row, int32_t column)
{
    double *r = row_of(a, row);
    const double by = 1.0 / r[column];
    for (int32_t j = 0; j < a->width; j++) r[j] *= by;
    r[column] = 1.0;
    for (int32_t i = 0; i < a->n; i++) {
        double *other = row_of(a, i), part = other[column];
        if (i == row || part == 0.0) continue;
        for (int32_t j = 0; j < a->width; j++) other[j] -= part * r[j];
        other[column] = 0.0;
    }
    a->basis[row] = column;
}

/* Whether row i has a lesser ratio than row k for a column; that of z0 where they are equal. */
static int comes_first(const tableau *a, int32_t i, int32_t k, int32_t column)
{
    const double *one = row_of(a, i), *other = row_of(a, k);
    const double ratio = one[a->width - 1] / one[column] - other[a->width - 1] / other[column];
    if (fabs(ratio) > FM_TIED) return ratio < 0.0;
    if (a->basis[k] == 2 * a->n) return 0;
    if (a->basis[i] == 2 * a->n) return 1;
    for (int32_t j = 0; j < a->n; j++) {
        const double step = one[j] / one[column] - other[j] / other[column];
        if (fabs(step) > FM_TIED) return step < 0.0;
    }
    return 0;
}

/* The row that leaves for a column, -1: none. */
static int32_t leaving(const tableau *a, int32_t column)
{
    int32_t found = -1;
    for (int32_t i = 0; i < a->n; i++)
        if (row_of(a, i)[column] > FM_PIVOT && (found < 0 || comes_first(a, i, found, column))) found = i;
    return found;
}

/* Which z are in the basis, as bits; with z0 there, it has one variable of each pair but one. */
static uint64_t basic(const tableau *a)
{
    uint64_t bits = 0;
    for (int32_t i = 0; i < a->n; i++)
        if (a->basis[i] >= a->n && a->basis[i] < 2 * a->n) bits |= (uint64_t)1 << (a->basis[i] - a->n);
    return bits;
}

/* z of w = q + M z, in units in which M has a unit diagonal and the entries of q are of the order of one. n: at most
 * 64. room: n rows of 2 n + 2 numbers; basis: n. */
fm_complementary fm_lemke(const double *M, const double *q, int32_t n, double *room, int32_t *basis, double *z)
{
    const tableau a = {room, n, 2 * n + 2, basis};
    int32_t least = -1;
    memset(z, 0, (size_t)n * sizeof *z);
    memset(room, 0, (size_t)n * (size_t)a.width * sizeof *room);
    for (int32_t i = 0; i < n; i++) {
        double *r = row_of(&a, i);
        r[i] = 1.0, r[2 * n] = -1.0, r[2 * n + 1] = q[i];
        for (int32_t j = 0; j < n; j++) r[n + j] = -M[i * n + j];
        basis[i] = i;
        if (q[i] < 0.0 && (least < 0 || q[i] < q[least])) least = i;
    }
    if (least < 0) return FM_COMPLEMENTARY;
    pivot(&a, least, 2 * n);
    uint64_t kept = basic(&a), power = 1;
    int32_t entering = n + least, kept_entering = entering;
    for (uint64_t count = 1;; count++) {
        const int32_t row = leaving(&a, entering), left = row < 0 ? -1 : basis[row];
        if (row < 0) return FM_NO_COMPLEMENTARY;
        pivot(&a, row, entering);
        if (left == 2 * n) break;
        entering = left < n ? left + n : left - n;
        if (entering == kept_entering && basic(&a) == kept) return FM_ROUND_OFF_GOES_ROUND;
        if (count < power) continue;
        kept = basic(&a), kept_entering = entering, power *= 2;
    }
    for (int32_t i = 0; i < n; i++)
        if (basis[i] >= n && basis[i] < 2 * n) z[basis[i] - n] = fmax(row_of(&a, i)[2 * n + 1], 0.0);
    return FM_COMPLEMENTARY;
}
