/* reduced_drives.c: the reduced form where drives realise programs (realised.c): their forces drop out of it.
 *
 * With B' in place of the rows P that drives realise, [J_c; B'] = L Q and W as N follows from it, [J_c; B'] W = 0,
 *     udot = p + N z,   (W' M N) z = W' (g - M p):
 * accelerations obey all rows, and forces are those of the loops and of the drives alone. Coordinates are divided again in
 * every evaluation, by pivots; this changes udot by round-off only. From Q and L multipliers and drives follow for outputs,
 *     [J_c' B] (mu, u) = M udot - h - Q.
 * The sign of det(J M^-1 [J_c' B]), which must not change (realised.c), is that of det(W' M N) det[J; E_i] det[J_c; B'; E_k],
 * E_i and E_k the rows of ones that choose the independent coordinates of either.
 */
#include "reduced_drives.h"

#include "../maths/dense.h"
#include "../instance/instance.h"
#include "realised.h"

#include <math.h>
#include <string.h>

#define FM_NO_PART 1e-13 /* what is left of a row of length one below this is round-off */

static double product_of(const double *a, const double *b, int32_t n)
{
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static const double *units(const fm_instance *s)
{
    return s->scale + s->image.n.positions;
}

/* Row q of [J_c; B'], in units of the coordinates. */
static void make_row(const fm_instance *s, int32_t q, double *out)
{
    const size_t nu = (size_t)s->image.n.speeds;
    const int32_t row = s->reduced.row[q];
    memset(out, 0, nu * sizeof *out);
    if (fm_is_realised(&s->image, row)) {
        const int32_t u = s->image.excitation_drive[s->image.row_excitation[row]];
        out[u] = units(s)[u];
        return;
    }
    for (int32_t p = 0; p <= q; p++) {
        const double part = s->reduced.L[(size_t)q * (size_t)s->image.n.rows + (size_t)p];
        for (size_t n = 0; n < nu; n++) out[n] += part * s->reduced.Q[(size_t)p * nu + n];
    }
}

/* L and Q. 0: a drive has no effect beside the loops. */
static int make_rows(fm_instance *s)
{
    const int32_t nu = s->image.n.speeds, rows = s->image.n.rows;
    for (int32_t q = 0; q < s->reduced.rank; q++) {
        double *own = s->realised.Q + (size_t)q * (size_t)nu, *l = s->realised.triangle + (size_t)q * (size_t)rows;
        make_row(s, q, own);
        memset(l, 0, (size_t)rows * sizeof *l);
        const double size = sqrt(product_of(own, own, nu));
        for (int again = 0; again < 2; again++)
            for (int32_t p = 0; p < q; p++) {
                const double *other = s->realised.Q + (size_t)p * (size_t)nu, along = product_of(other, own, nu);
                for (int32_t n = 0; n < nu; n++) own[n] -= along * other[n];
                l[p] += along;
            }
        l[q] = sqrt(product_of(own, own, nu));
        if (!(l[q] > FM_NO_PART * size)) return 0;
        for (int32_t n = 0; n < nu; n++) own[n] /= l[q];
    }
    return 1;
}

/* The largest entry of G in a row without a dependent coordinate. */
static double find_pivot(const fm_instance *s, int32_t *row, int32_t *column)
{
    const int32_t nu = s->image.n.speeds;
    double most = 0.0;
    for (int32_t q = 0; q < s->reduced.rank; q++) {
        const double *G = s->realised.G + (size_t)q * (size_t)nu;
        if (s->realised.column[q] >= 0) continue;
        for (int32_t n = 0; n < nu; n++)
            if (!s->realised.taken[n] && fabs(G[n]) > most) most = fabs(G[n]), *row = q, *column = n;
    }
    return most;
}

/* Divides the coordinates: Q with unit columns in place of the dependent ones. 0: singular. */
static int divide(fm_instance *s)
{
    const int32_t nu = s->image.n.speeds;
    memcpy(s->realised.G, s->realised.Q, (size_t)s->reduced.rank * (size_t)nu * sizeof *s->realised.G);
    memset(s->realised.taken, 0, (size_t)nu * sizeof *s->realised.taken);
    for (int32_t n = 0; n < s->image.n.excitations; n++) s->realised.taken[s->image.excitation_u[n]] = 1;
    for (int32_t q = 0; q < s->reduced.rank; q++) s->realised.column[q] = -1;
    for (int32_t k = 0; k < s->reduced.rank; k++) {
        int32_t row = 0, column = 0;
        if (!(find_pivot(s, &row, &column) > 0.0)) return 0;
        double *own = s->realised.G + (size_t)row * (size_t)nu;
        const double pivot = own[column];
        for (int32_t n = 0; n < nu; n++) own[n] /= pivot;
        for (int32_t q = 0; q < s->reduced.rank; q++) {
            double *other = s->realised.G + (size_t)q * (size_t)nu;
            const double part = other[column];
            for (int32_t n = 0; q != row && part != 0.0 && n < nu; n++) other[n] -= part * own[n];
        }
        s->realised.column[row] = column;
        s->realised.taken[column] = 1;
    }
    return 1;
}

/* The columns of W, in units of the velocity variables. */
static void make_columns(fm_instance *s)
{
    const size_t nu = (size_t)s->image.n.speeds;
    double *W = s->realised.W;
    for (size_t own = 0; own < nu; own++) {
        if (s->realised.taken[own]) continue;
        memset(W, 0, nu * sizeof *W);
        W[own] = units(s)[own];
        for (int32_t q = 0; q < s->reduced.rank; q++) {
            const size_t n = (size_t)s->realised.column[q];
            W[n] = -units(s)[n] * s->realised.G[(size_t)q * nu + own];
        }
        W += nu;
    }
}

/* The sign of det[Q; E]: E chooses the coordinates that are not in `column`. 0: singular. */
static double side_of(fm_instance *s, const double *Q, const int32_t *column)
{
    const int32_t rank = s->reduced.rank, nu = s->image.n.speeds;
    double *square = s->realised.square, sign = 1.0;
    for (int32_t q = 0; q < rank; q++)
        if (column[q] < 0) return 0.0;
    for (int32_t p = 0; p < rank; p++)
        for (int32_t q = 0; q < rank; q++) square[p * rank + q] = Q[(size_t)p * (size_t)nu + (size_t)column[q]];
    for (int32_t q = 0; q < rank; q++) { /* how many coordinates, or later columns, come before it */
        int32_t before = column[q];
        for (int32_t n = 0; n < s->image.n.excitations; n++) before -= s->image.excitation_u[n] < column[q];
        for (int32_t p = 0; p < q; p++) before -= column[p] < column[q];
        if (before % 2 != 0) sign = -sign;
    }
    return sign * fm_dense_factor(square, rank, rank, s->realised.exchange);
}

/* W and the factor of W' M N, after M N. 0: the drives have no effect, or passed such a position. */
int fm_reduced_oppose(fm_instance *s)
{
    const int32_t nu = s->image.n.speeds, frees = s->reduced.frees;
    if (!make_rows(s) || !divide(s)) return 0;
    make_columns(s);
    for (int32_t i = 0; i < frees; i++)
        for (int32_t j = 0; j < frees; j++)
            s->realised.H[i * frees + j] =
                product_of(s->realised.W + (size_t)i * (size_t)nu, s->reduced.M + (size_t)j * (size_t)nu, nu);
    const double side = side_of(s, s->reduced.Q, s->reduced.column) * side_of(s, s->realised.Q, s->realised.column);
    const double sign = fm_dense_factor(s->realised.H, frees, frees, s->realised.exchange);
    return fm_judge_drives(s, side * sign);
}

/* z at the particular accelerations p under the forces g. */
void fm_reduced_drive(fm_instance *s, const double *g, const double *p, double *z)
{
    const int32_t nu = s->image.n.speeds, frees = s->reduced.frees;
    double *force = s->realised.force;
    for (int32_t n = 0; n < nu; n++) force[n] = g[n] - product_of(s->reduced.mass + (size_t)n * (size_t)nu, p, nu);
    for (int32_t i = 0; i < frees; i++) z[i] = product_of(s->realised.W + (size_t)i * (size_t)nu, force, nu);
    fm_dense_solve(s->realised.H, frees, frees, s->realised.exchange, z);
}
