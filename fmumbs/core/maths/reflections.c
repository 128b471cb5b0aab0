/* reflections.c: rows in terms of orthonormal ones, J = L Q, by sparse Householder reflections.
 *
 * Reflection H_q = 1 - beta v v' leaves of row q, after those before it, one entry on a coordinate of its own, the
 * pivot, H_q .. H_0 J' = [L' at the pivots; 0 elsewhere], so that with H = H_0 .. H_q the columns of H at the pivots
 * are Q', and those at the other coordinates N: J N = 0, with both orthonormal. Q and N are never formed; a reflection
 * has entries for the coordinates that its row, and those that it shares coordinates with, act on. A row of L has
 * entries for the reflections that its coordinates lead to: the first that acts on each, and for every reflection the
 * `next` row that took up what was left of it (the elimination tree of J J').
 */
#include "reflections.h"

#include <math.h>
#include <string.h>

#define FM_NOWHERE -1

/* No rows; `excited` coordinates, as many as `count`, are zero in all that will come. */
void fm_reflect_begin(fm_reflections *r, const int32_t *excited, int32_t count)
{
    r->rank = 0;
    for (int32_t n = 0; n < r->speeds; n++) r->first[n] = FM_NOWHERE, r->taken[n] = 0;
    for (int32_t n = 0; n < count; n++) r->taken[excited[n]] = 1;
}

static void reflect(const fm_reflections *r, int32_t q, double *x)
{
    const double *v = r->v + (size_t)q * (size_t)r->speeds;
    const int32_t *at = r->at + (size_t)q * (size_t)r->speeds, count = r->count[q];
    double along = 0.0;
    for (int32_t e = 0; e < count; e++) along += v[e] * x[at[e]];
    along *= r->beta[q];
    for (int32_t e = 0; e < count; e++) x[at[e]] -= along * v[e];
}

/* Lists the coordinates where x is not zero, for the reflection of the present row, and in r->reached the reflections
 * that act on them first. Returns how many. */
static int32_t begin_row(fm_reflections *r, const double *x, const int32_t *path, int32_t length)
{
    const int32_t row = r->rank;
    int32_t *at = r->at + (size_t)row * (size_t)r->speeds, count = 0, reached = 0;
    for (int32_t e = 0; e < length; e++) {
        const int32_t n = path[e];
        if (x[n] == 0.0 || r->listed[n]) continue;
        if (r->first[n] < 0) r->first[n] = row;
        int32_t known = 0;
        while (known < reached && r->reached[known] != r->first[n]) known++;
        if (known == reached && r->first[n] < row) r->reached[reached++] = r->first[n];
        r->listed[n] = 1, at[count++] = n;
    }
    r->count[row] = count;
    return reached;
}

/* The first of the reflections that the present row reaches, which goes on to the next there; r->rank: no more. */
static int32_t next_reached(fm_reflections *r, int32_t count)
{
    int32_t first = r->rank;
    for (int32_t e = 0; e < count; e++) first = r->reached[e] < first ? r->reached[e] : first;
    if (first == r->rank) return first;
    if (r->next[first] < 0) r->next[first] = r->rank;
    for (int32_t e = 0; e < count; e++)
        if (r->reached[e] == first) r->reached[e] = r->next[first];
    return first;
}

/* Applies reflection q to the present row, and lists the coordinates that it brings in. */
static void pass_reflection(fm_reflections *r, int32_t q, double *x)
{
    const int32_t row = r->rank, *from = r->at + (size_t)q * (size_t)r->speeds;
    int32_t *at = r->at + (size_t)row * (size_t)r->speeds, count = r->count[row];
    reflect(r, q, x);
    for (int32_t e = 0; e < r->count[q]; e++)
        if (!r->listed[from[e]]) r->listed[from[e]] = 1, at[count++] = from[e];
    r->count[row] = count;
}

/* The reflection of the present row, of which x has what is left at the listed coordinates: only the largest entry
 * stays, and becomes positive. Clears x. Returns the square. */
static double make_reflection(fm_reflections *r, double *x)
{
    const int32_t row = r->rank;
    double *v = r->v + (size_t)row * (size_t)r->speeds, square = 0.0, others = 0.0;
    int32_t *at = r->at + (size_t)row * (size_t)r->speeds, count = 0, most = 0;
    for (int32_t e = 0; e < r->count[row]; e++) {
        const int32_t n = at[e];
        r->listed[n] = 0;
        if (x[n] == 0.0) continue;
        v[count] = x[n], square += x[n] * x[n], x[n] = 0.0;
        if (fabs(v[count]) > fabs(v[most])) most = count;
        at[count++] = n;
    }
    r->beta[row] = 0.0, r->count[row] = 0, r->pivot[row] = FM_NOWHERE, r->next[row] = FM_NOWHERE;
    if (!(square > 0.0)) return 0.0;
    const double over = 1.0 / sqrt(square);
    for (int32_t e = 0; e < count; e++) v[e] *= over, others += e == most ? 0.0 : v[e] * v[e];
    v[most] = v[most] > 0.0 ? -others / (v[most] + 1.0) : v[most] - 1.0; /* v - 1, without its round-off */
    r->pivot[row] = at[most], r->taken[at[most]] = 1;
    if (others + v[most] * v[most] > 0.0) r->beta[row] = 2.0 / (others + v[most] * v[most]), r->count[row] = count;
    return square;
}

/* Adds the row x, which is zero but on its path and becomes zero: its entries of L left of the diagonal, and its
 * reflection. Returns the square of what is left of it beside the rows before. */
double fm_reflect_row(fm_reflections *r, double *x, const int32_t *path, int32_t length)
{
    const int32_t row = r->rank;
    double *l = r->L + (size_t)row * (size_t)r->rows;
    memset(l, 0, (size_t)row * sizeof *l);
    const int32_t reached = begin_row(r, x, path, length);
    for (int32_t q = next_reached(r, reached); q < row; q = next_reached(r, reached)) {
        pass_reflection(r, q, x);
        if (r->pivot[q] >= 0) l[q] = x[r->pivot[q]], x[r->pivot[q]] = 0.0;
    }
    const double left = make_reflection(r, x);
    r->rank++;
    return left;
}

/* Removes the last row. */
void fm_reflect_drop(fm_reflections *r)
{
    const int32_t row = --r->rank;
    if (r->pivot[row] >= 0) r->taken[r->pivot[row]] = 0;
    for (int32_t q = 0; q < row; q++) r->next[q] = r->next[q] == row ? FM_NOWHERE : r->next[q];
    for (int32_t n = 0; n < r->speeds; n++) r->first[n] = r->first[n] == row ? FM_NOWHERE : r->first[n];
}

/* x <- H' x. */
void fm_reflect_to(const fm_reflections *r, double *x)
{
    for (int32_t q = 0; q < r->rank; q++) reflect(r, q, x);
}

/* x <- H x. */
void fm_reflect_back(const fm_reflections *r, double *x)
{
    for (int32_t q = r->rank - 1; q >= 0; q--) reflect(r, q, x);
}

/* A <- H' A, for a square matrix; `part`: a row, overwritten. */
void fm_reflect_columns(const fm_reflections *r, double *A, double *part)
{
    const size_t nu = (size_t)r->speeds;
    for (int32_t q = 0; q < r->rank; q++) {
        const double *v = r->v + (size_t)q * nu;
        const int32_t *at = r->at + (size_t)q * nu;
        memset(part, 0, nu * sizeof *part);
        for (int32_t e = 0; e < r->count[q]; e++)
            for (size_t n = 0; n < nu; n++) part[n] += v[e] * A[(size_t)at[e] * nu + n];
        for (int32_t e = 0; e < r->count[q]; e++)
            for (size_t n = 0; n < nu; n++) A[(size_t)at[e] * nu + n] -= r->beta[q] * v[e] * part[n];
    }
}

/* M <- H' M H, for a symmetric matrix: with w = beta M v and u = w - (beta v'w/2) v, M - v u' - u v'. `part` as above.
 */
void fm_reflect_both(const fm_reflections *r, double *M, double *part)
{
    const size_t nu = (size_t)r->speeds;
    for (int32_t q = 0; q < r->rank; q++) {
        const double *v = r->v + (size_t)q * nu, beta = r->beta[q];
        const int32_t *at = r->at + (size_t)q * nu, count = r->count[q];
        double along = 0.0;
        int32_t *list = r->listed, listed = 0;
        if (count == 0) continue;
        memset(part, 0, nu * sizeof *part);
        for (int32_t e = 0; e < count; e++) {
            const double *row = M + (size_t)at[e] * nu, f = beta * v[e];
            for (size_t n = 0; n < nu; n++) part[n] += f * row[n];
        }
        for (int32_t e = 0; e < count; e++) along += 0.5 * beta * v[e] * part[at[e]];
        for (int32_t e = 0; e < count; e++) part[at[e]] -= along * v[e];
        for (int32_t n = 0; n < r->speeds; n++)
            if (part[n] != 0.0) list[listed++] = n;
        for (int32_t e = 0; e < count; e++) {
            double *row = M + (size_t)at[e] * nu;
            for (int32_t k = 0; k < listed; k++) row[list[k]] -= v[e] * part[list[k]];
            for (int32_t o = 0; o < count; o++) row[at[o]] -= part[at[e]] * v[o];
        }
        for (int32_t e = 0; e < count; e++) {
            const double *row = M + (size_t)at[e] * nu;
            for (int32_t k = 0; k < listed; k++) M[(size_t)list[k] * nu + (size_t)at[e]] = row[list[k]];
            for (int32_t o = 0; o < count; o++) M[(size_t)at[o] * nu + (size_t)at[e]] = row[at[o]];
        }
    }
    memset(r->listed, 0, nu * sizeof *r->listed);
}

/* out = J' lambda; lambda: of the rows in their order. */
void fm_reflect_multiply(const fm_reflections *r, const double *lambda, double *out)
{
    memset(out, 0, (size_t)r->speeds * sizeof *out);
    for (int32_t p = 0; p < r->rank; p++)
        for (int32_t q = p; r->pivot[p] >= 0 && q < r->rank; q++)
            out[r->pivot[p]] += r->L[(size_t)q * (size_t)r->rows + (size_t)p] * lambda[q];
    fm_reflect_back(r, out);
}

/* The lambda of J' lambda = force, as far as that has a solution. Overwrites the force. */
void fm_reflect_solve(const fm_reflections *r, double *force, double *lambda)
{
    const size_t rows = (size_t)r->rows;
    fm_reflect_to(r, force);
    for (int32_t q = r->rank - 1; q >= 0; q--) {
        lambda[q] = r->pivot[q] < 0 ? 0.0 : force[r->pivot[q]];
        for (int32_t p = q + 1; p < r->rank; p++) lambda[q] -= r->L[(size_t)p * rows + (size_t)q] * lambda[p];
        lambda[q] /= r->L[(size_t)q * rows + (size_t)q];
    }
}

/* The sign of det [Q; N']. */
double fm_reflect_sign(const fm_reflections *r, const int32_t *excited, int32_t count)
{
    double sign = 1.0;
    for (int32_t q = 0; q < r->rank; q++) { /* how many coordinates, or later pivots, come before it */
        int32_t before = r->pivot[q];
        if (before < 0) return 0.0;
        for (int32_t n = 0; n < count; n++) before -= excited[n] < r->pivot[q];
        for (int32_t p = 0; p < q; p++) before -= r->pivot[p] < r->pivot[q];
        if ((before % 2 != 0) != (r->beta[q] != 0.0)) sign = -sign;
    }
    return sign;
}
