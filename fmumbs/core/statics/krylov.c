/* krylov.c: linear systems of the tangent of the balance of forces, by restarted GMRES (Y. Saad, M. H. Schultz, SIAM J.
 * Sci. Stat. Comput. 7 (1986) 856), without a matrix: each direction takes two evaluations.
 *
 * In a mechanism of at most FM_KRYLOV velocity variables the first space is all of it, and its solution exact. Where
 * the tangent is singular the space ends before the right-hand side is met; what is left of this is in
 * statics.unsolved.
 */
#include "krylov.h"

#include "../instance/instance.h"
#include "../maths/hessenberg.h"
#include "../maths/products.h"
#include "../time/failures.h"
#include "balance.h"
#include "matrix.h"
#include "scratch.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FM_RESTARTS 6
#define FM_ENDS 1e-8 /* of a product: what is left of it across a space that contains it */

/* Takes from w what the first `count` directions of a space have of it, which is added up in h; the rest gets length
 * one. Returns the size that it had. */
double fm_orthogonalise(const double *space, int32_t count, int32_t n, double *w, double *h)
{
    for (int32_t i = 0; i < count; i++) h[i] = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < count; i++) {
            const double *v = space + (size_t)i * (size_t)n, along = fm_product(w, v, n);
            for (int32_t u = 0; u < n; u++) w[u] -= along * v[u];
            h[i] += along;
        }
    const double size = fm_norm(w, n);
    for (int32_t u = 0; size > 0.0 && u < n; u++) w[u] /= size;
    return size;
}

static double *direction(const fm_instance *s, int32_t j)
{
    return s->statics->space + (size_t)j * (size_t)s->image.n.speeds;
}

static double *column(const fm_instance *s, int32_t j)
{
    return s->statics->H + (size_t)j * (size_t)(s->statics->room + 1);
}

/* Adds the product of direction j to the space. Returns the size of what is new in it, 0 where that is round-off, -1
 * where it is not finite or the host wants to stop. */
static double extend(fm_instance *s, double mu, int32_t j)
{
    const int32_t n = s->image.n.speeds;
    double *w = direction(s, j + 1), *h = column(s, j);
    if (fm_step_interrupted(s) || !fm_balance_product(s, mu, direction(s, j), w)) return -1.0;
    const double whole = fm_norm(w, n), size = fm_orthogonalise(s->statics->space, j + 1, n, w, h);
    if (!isfinite(size)) return -1.0;
    return size > FM_ENDS * whole && j + 1 < n ? size : 0.0;
}

/* A Krylov space of -dF/dq from x, which the loops allow: its map in statics.H, not reduced. Returns its dimension, 0
 * if it is not found. */
int32_t fm_krylov_space(fm_instance *s, const double *x)
{
    const int32_t n = s->image.n.speeds;
    const double whole = fm_norm(x, n);
    double size = 1.0;
    int32_t j = 0;
    for (int32_t u = 0; u < n; u++) direction(s, 0)[u] = x[u] / whole;
    for (; j < s->statics->room && size > 0.0; j++) {
        size = extend(s, 0.0, j);
        if (size < 0.0) return 0;
        column(s, j)[j + 1] = size;
    }
    return j;
}

/* Turns column j, which ends with `size`, into one of a triangle, and the right-hand side with it. */
static void reduce(fm_instance *s, int32_t j, double size)
{
    double *h = column(s, j), *turn = s->statics->turn, *left = s->statics->left;
    for (int32_t i = 0; i < j; i++) {
        const double a = h[i], b = h[i + 1];
        h[i] = turn[2 * i] * a + turn[2 * i + 1] * b;
        h[i + 1] = turn[2 * i] * b - turn[2 * i + 1] * a;
    }
    const double r = sqrt(h[j] * h[j] + size * size);
    turn[2 * j] = r > 0.0 ? h[j] / r : 1.0, turn[2 * j + 1] = r > 0.0 ? size / r : 0.0;
    h[j] = r;
    left[j + 1] = -turn[2 * j + 1] * left[j];
    left[j] = turn[2 * j] * left[j];
}

/* Adds the solution in the first `count` directions to x; `least`: of a pivot over the largest; smaller ones add
 * nothing, or, if it is negative, count as its size. Returns the part of the right-hand side that those were for. */
static double solve_triangle(fm_instance *s, int32_t count, double least, double *x)
{
    double *y = s->statics->left, largest = 0.0, dropped = 0.0;
    for (int32_t j = 0; j < count; j++) largest = fmax(largest, fabs(column(s, j)[j]));
    for (int32_t j = count - 1; j >= 0; j--) {
        const double pivot = column(s, j)[j];
        const int small = !(fabs(pivot) > fabs(least) * largest);
        if (small && least >= 0.0) dropped += y[j] * y[j], y[j] = 0.0;
        else if (small) y[j] = largest > 0.0 ? y[j] / (fabs(least) * largest) : y[j] / fabs(least);
        else y[j] /= pivot;
        for (int32_t i = 0; i < j; i++) y[i] -= column(s, j)[i] * y[j];
    }
    for (int32_t j = 0; j < count; j++) {
        const double *v = direction(s, j);
        for (int32_t u = 0; u < s->image.n.speeds; u++) x[u] += y[j] * v[u];
    }
    return dropped;
}

/* Solves (mu - dF/dq) x = b at the base to a relative tolerance, for b and x that the loops allow; for `least` see
 * solve_triangle. What remains of b is left in statics.unsolved. 0: it is not finite, or
 * the host wants to stop. */
int fm_krylov(fm_instance *s, double mu, const double *b, double tolerance, double least, double *x)
{
    const int32_t n = s->image.n.speeds, room = s->statics->room;
    const double whole = fm_norm(b, n);
    memset(x, 0, (size_t)n * sizeof *x);
    s->statics->unsolved = whole;
    if (!(whole > 0.0)) return whole == 0.0;
    if (s->statics->by_matrix) return fm_matrix_solve(s, mu, b, least, x);
    for (int cycle = 0; cycle < FM_RESTARTS; cycle++) {
        double *r = direction(s, 0), size = 1.0;
        int32_t j = 0;
        if (cycle == 0) memcpy(r, b, (size_t)n * sizeof *r);
        else if (!fm_balance_product(s, mu, x, r)) return 0;
        for (int32_t u = 0; cycle > 0 && u < n; u++) r[u] = b[u] - r[u];
        const double before = fm_norm(r, n);
        s->statics->unsolved = before;
        if (!isfinite(before)) return 0;
        if (before <= tolerance * whole) return 1;
        for (int32_t u = 0; u < n; u++) r[u] /= before;
        s->statics->left[0] = before;
        for (; j < room && size > 0.0; j++) {
            size = extend(s, mu, j);
            if (size < 0.0) return 0;
            memcpy(s->statics->raw + (size_t)j * (size_t)room, column(s, j), ((size_t)j + 1) * sizeof(double));
            if (j + 1 < room) s->statics->raw[(size_t)j * (size_t)room + (size_t)j + 1] = size;
            reduce(s, j, size);
            if (fabs(s->statics->left[j + 1]) <= tolerance * whole) size = 0.0;
        }
        s->statics->raw_count = j;
        const double open = s->statics->left[j], dropped = solve_triangle(s, j, least, x);
        s->statics->unsolved = sqrt(open * open + dropped);
        if (size == 0.0 || s->statics->unsolved > 0.999 * before) break; /* all that there is to find */
    }
    return isfinite(fm_norm(x, n));
}

/* The least real part of the eigenvalues of mu - dF/dq that the last system's space has; of a matrix mu or -mu, as it
 * has negative pivots or none. NAN: it is not found. */
double fm_krylov_curvature(fm_instance *s, double mu)
{
    const int32_t count = s->statics->raw_count, room = s->statics->room;
    double *a = s->statics->small, least;
    if (s->statics->by_matrix) return s->statics->negative > 0 ? -mu - DBL_MIN : mu + DBL_MIN;
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < count; j++)
            a[i * count + j] = i <= j + 1 ? s->statics->raw[(size_t)j * (size_t)room + (size_t)i] : 0.0;
    return fm_least_eigenvalue(a, count, &least) ? least : NAN;
}
