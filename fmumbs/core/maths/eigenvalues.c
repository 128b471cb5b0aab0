/* eigenvalues.c: the eigenvalues of a general real matrix.
 *
 * Balanced by powers of two, reduced to Hessenberg form by elimination, then iterated by Francis' double shifts (Golub
 * and Van Loan, Matrix Computations, 7.4 and 7.5; Wilkinson and Reinsch, Handbook for Automatic Computation II/14 and
 * II/15).
 */
#include "eigenvalues.h"

#include <float.h>
#include <math.h>

#define AT(i, j) A[(int64_t)(i) * n + (j)]
#define FM_FRANCIS 60 /* most double steps for one eigenvalue */

/* Scales rows and columns to similar sizes, without round-off. Every pass but the last takes a twentieth from some row
 * and its column together, so that passes end: at the least sum, or where blocks that others do not feed have vanished.
 */
static void balance(double *A, int32_t n)
{
    for (int done = 0; !done;) {
        done = 1;
        for (int32_t i = 0; i < n; i++) {
            double row = 0.0, column = 0.0, f = 1.0;
            for (int32_t j = 0; j < n; j++)
                if (j != i) row += fabs(AT(i, j)), column += fabs(AT(j, i));
            if (!(row > 0.0 && column > 0.0 && row < 1e300 && column < 1e300)) continue;
            const double sum = row + column;
            for (double c = column; c < 0.5 * row; c *= 4.0) f *= 2.0, column *= 4.0;
            for (double c = column; c >= 2.0 * row; c /= 4.0) f /= 2.0, column /= 4.0;
            if (!((column + row) / f < 0.95 * sum)) continue;
            done = 0;
            for (int32_t j = 0; j < n; j++) AT(i, j) /= f;
            for (int32_t j = 0; j < n; j++) AT(j, i) *= f;
        }
    }
}

static void make_hessenberg(double *A, int32_t n)
{
    for (int32_t m = 1; m < n - 1; m++) {
        int32_t best = m;
        for (int32_t i = m; i < n; i++)
            if (fabs(AT(i, m - 1)) > fabs(AT(best, m - 1))) best = i;
        const double pivot = AT(best, m - 1);
        if (pivot == 0.0) continue;
        for (int32_t j = m - 1; best != m && j < n; j++) {
            const double kept = AT(best, j);
            AT(best, j) = AT(m, j), AT(m, j) = kept;
        }
        for (int32_t j = 0; best != m && j < n; j++) {
            const double kept = AT(j, best);
            AT(j, best) = AT(j, m), AT(j, m) = kept;
        }
        for (int32_t i = m + 1; i < n; i++) {
            const double part = AT(i, m - 1) / pivot;
            if (part == 0.0) continue;
            for (int32_t j = m; j < n; j++) AT(i, j) -= part * AT(m, j);
            for (int32_t j = 0; j < n; j++) AT(j, m) += part * AT(j, i);
        }
        for (int32_t i = m + 1; i < n; i++) AT(i, m - 1) = 0.0;
    }
}

/* The eigenvalues of the last two rows of an isolated block. */
static void take_pair(const double *A, int32_t n, int32_t hi, double shift, double *re, double *im)
{
    const double y = AT(hi - 1, hi - 1), x = AT(hi, hi), w = AT(hi, hi - 1) * AT(hi - 1, hi);
    const double p = 0.5 * (y - x), q = p * p + w, z = sqrt(fabs(q));
    if (q >= 0.0) {
        const double far = p < 0.0 ? p - z : p + z;
        re[hi - 1] = re[hi] = x + shift + far;
        if (far != 0.0) re[hi] = x + shift - w / far;
        im[hi - 1] = im[hi] = 0.0;
    } else {
        re[hi - 1] = re[hi] = x + shift + p;
        im[hi - 1] = z, im[hi] = -z;
    }
}

/* A double step on rows lo to hi with the shifts x, y, w. */
static void francis(double *A, int32_t n, int32_t lo, int32_t hi, double x, double y, double w)
{
    int32_t m = hi - 2;
    double p = 0.0, q = 0.0, r = 0.0;
    for (;; m--) { /* two small elements in a row may be skipped */
        const double z = AT(m, m), a = x - z, b = y - z;
        p = (a * b - w) / AT(m + 1, m) + AT(m, m + 1), q = AT(m + 1, m + 1) - z - a - b, r = AT(m + 2, m + 1);
        const double size = fabs(p) + fabs(q) + fabs(r);
        p /= size, q /= size, r /= size;
        if (m == lo) break;
        const double u = fabs(AT(m, m - 1)) * (fabs(q) + fabs(r));
        if (u <= DBL_EPSILON * fabs(p) * (fabs(AT(m - 1, m - 1)) + fabs(z) + fabs(AT(m + 1, m + 1)))) break;
    }
    for (int32_t i = m + 2; i <= hi; i++) {
        AT(i, i - 2) = 0.0;
        if (i > m + 2) AT(i, i - 3) = 0.0;
    }
    for (int32_t k = m; k < hi; k++) {
        const int last = k == hi - 1;
        double size = 1.0;
        if (k > m) {
            p = AT(k, k - 1), q = AT(k + 1, k - 1), r = last ? 0.0 : AT(k + 2, k - 1);
            size = fabs(p) + fabs(q) + fabs(r);
            if (size == 0.0) continue;
            p /= size, q /= size, r /= size;
        }
        const double norm = p < 0.0 ? -sqrt(p * p + q * q + r * r) : sqrt(p * p + q * q + r * r);
        if (k > m) AT(k, k - 1) = -norm * size;
        else if (lo != m) AT(k, k - 1) = -AT(k, k - 1);
        p += norm;
        const double a = p / norm, b = q / norm, c = r / norm;
        q /= p, r /= p;
        for (int32_t j = k; j < n; j++) {
            double along = AT(k, j) + q * AT(k + 1, j);
            if (!last) along += r * AT(k + 2, j), AT(k + 2, j) -= along * c;
            AT(k + 1, j) -= along * b, AT(k, j) -= along * a;
        }
        const int32_t until = hi < k + 3 ? hi : k + 3;
        for (int32_t i = 0; i <= until; i++) {
            double along = a * AT(i, k) + b * AT(i, k + 1);
            if (!last) along += c * AT(i, k + 2), AT(i, k + 2) -= along * r;
            AT(i, k + 1) -= along * q, AT(i, k) -= along;
        }
    }
}

/* The eigenvalues re + i im of the n by n matrix A, stored by rows, which is overwritten. 0: A is not finite, or the
 * iteration does not converge. */
int fm_eigenvalues(double *A, int32_t n, double *re, double *im)
{
    double norm = 0.0, shift = 0.0;
    for (int64_t i = 0; i < (int64_t)n * n; i++) norm += fabs(A[i]);
    if (!isfinite(norm)) return 0;
    balance(A, n);
    make_hessenberg(A, n);
    norm = 0.0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i > 0 ? i - 1 : 0; j < n; j++) norm += fabs(AT(i, j));
    for (int32_t hi = n - 1, rounds = 0; hi >= 0;) {
        int32_t lo = hi;
        for (; lo > 0; lo--) {
            const double size = fabs(AT(lo - 1, lo - 1)) + fabs(AT(lo, lo));
            if (fabs(AT(lo, lo - 1)) <= DBL_EPSILON * (size == 0.0 ? norm : size)) break;
        }
        if (lo > 0) AT(lo, lo - 1) = 0.0;
        if (lo == hi) {
            re[hi] = AT(hi, hi) + shift, im[hi] = 0.0;
            hi--, rounds = 0;
            continue;
        }
        if (lo == hi - 1) {
            take_pair(A, n, hi, shift, re, im);
            hi -= 2, rounds = 0;
            continue;
        }
        if (rounds == FM_FRANCIS) return 0;
        double x = AT(hi, hi), y = AT(hi - 1, hi - 1), w = AT(hi, hi - 1) * AT(hi - 1, hi);
        if (rounds == 10 || rounds == 20 || rounds == 40) { /* an exceptional shift */
            const double s = fabs(AT(hi, hi - 1)) + fabs(AT(hi - 1, hi - 2));
            shift += x;
            for (int32_t i = 0; i <= hi; i++) AT(i, i) -= x;
            x = y = 0.75 * s, w = -0.4375 * s * s;
        }
        rounds++;
        francis(A, n, lo, hi, x, y, w);
    }
    return 1;
}
