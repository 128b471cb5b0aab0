/* realised.c: programs that named drives realise, in place of the ideal forces along their rows (servo constraints).
 *
 * With J = [J_c; P], J_c of the loops and of ideal programs, and P of the programs that drives realise,
 *     M udot = h + J_c' mu + B u,   J udot = -c''_0,
 * B a column of zeros and a one for each drive, as many as P has rows. With K and the multipliers lambda of ideal rows,
 *     x = K^-1 J M^-1 B,   A u = lambda_p,   A = x_p,   mu = lambda_c - x_c u:
 * a unit force of a drive saves the ideal multipliers x, and together the drives save all of those of P. In the arrays
 * of multipliers u stands in the rows of P.
 *
 * A = S P M_c^-1 B, with S the inverse of P M_c^-1 P' and M_c^-1 the response with the loops closed. Where it is
 * singular the drives do not determine the programmed accelerations. Its determinant keeps the sign that it has at the
 * start, else the motion passed such a position: the evaluation fails. With R beside M in the implicit scheme
 * (motion/stiffness.c) the sign has no such meaning.
 */
#include "realised.h"

#include "../maths/dense.h"
#include "../instance/instance.h"
#include "../maths/products.h"
#include "constraints.h"
#include "delassus.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

#define FM_BLOCKED 1e-13 /* a drive whose response beside the loops is this part of that without them has none */

/* Lists the rows that drives realise, and the drives' links. */
void fm_find_drives(fm_instance *s)
{
    const fm_image *m = &s->image;
    s->realised->count = 0;
    for (int32_t i = 0; i < m->n.excitations; i++) {
        const int32_t u = m->excitation_drive[i], at = s->realised->count;
        if (u < 0) continue;
        s->realised->row[at] = m->excitation_row[i];
        for (int32_t k = 0; k < m->n.links; k++)
            if (m->link_u[k] == u) s->realised->link[at] = k;
        s->realised->count++;
    }
}

int fm_is_realised(const fm_image *m, int32_t row)
{
    return m->row_excitation[row] >= 0 && m->excitation_drive[m->row_excitation[row]] >= 0;
}

/* The second derivatives J M^-1 f of the rows, for z the innovations of f divided by the pivots. */
void fm_row_accelerations(const fm_instance *s, const double *z, double *r)
{
    memset(r, 0, (size_t)s->image.n.rows * sizeof *r);
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        const int32_t *path = s->plan.path + b->path;
        for (int32_t q = 0; q < b->used; q++) {
            const double *y = s->loop.y + b->y + (size_t)b->use[q] * (size_t)b->length;
            for (int32_t e = 0; e < b->length; e++) r[b->first + b->use[q]] += y[e] * z[path[e]];
        }
    }
}

/* The columns of the drives. Requires fm_make_rows. */
void fm_place_drives(fm_instance *s)
{
    const size_t nu = (size_t)s->image.n.speeds, rows = (size_t)s->image.n.rows;
    for (int32_t j = 0; j < s->realised->count; j++) {
        double *y = s->realised->y + (size_t)j * nu, *z = s->realised->z + (size_t)j * nu;
        memset(y, 0, nu * sizeof *y);
        fm_pass_force(s, s->realised->link[j], 0, 1.0, y, NULL);
        for (size_t i = 0; i < nu; i++) z[i] = y[i] * s->loop.pivot[i];
        fm_row_accelerations(s, z, s->realised->r + (size_t)j * rows);
    }
}

/* Whether the drives have the effect that they had at the start, given the sign of its determinant. */
int fm_judge_drives(fm_instance *s, double sign)
{
    const int passed = s->stiff.time == 0.0 && sign * s->drive_side[0] < 0.0;
    if (sign == 0.0 || passed) s->realised->lost = 1;
    return sign != 0.0 && !passed;
}

/* Replaces multipliers of ideal rows by those of the drives. Requires L. */
void fm_replace_ideal(fm_instance *s, double *lambda)
{
    const int32_t count = s->realised->count, rows = s->image.n.rows;
    double *u = s->realised->u;
    for (int32_t j = 0; j < count; j++) u[j] = lambda[s->realised->row[j]];
    fm_dense_solve(s->realised->L, count, count, s->realised->order, u);
    for (int32_t j = 0; j < count; j++) {
        const double *x = s->realised->x + (size_t)j * (size_t)rows;
        for (int32_t i = 0; i < rows; i++) lambda[i] -= x[i] * u[j];
    }
    for (int32_t j = 0; j < count; j++) lambda[s->realised->row[j]] = u[j];
}

/* Replaces the multipliers of ideal rows by those of the drives. Requires K's factor. 0: the drives have no effect. */
int fm_realise(fm_instance *s)
{
    const int32_t count = s->realised->count, rows = s->image.n.rows;
    if (count == 0) return 1;
    for (int32_t j = 0; j < count; j++) {
        double *x = s->realised->x + (size_t)j * (size_t)rows;
        fm_solve_delassus(s, s->realised->r + (size_t)j * (size_t)rows, x);
        for (int32_t i = 0; i < count; i++) s->realised->A[i * count + j] = x[s->realised->row[i]];
    }
    memcpy(s->realised->L, s->realised->A, (size_t)(count * count) * sizeof *s->realised->L);
    if (!fm_judge_drives(s, fm_dense_factor(s->realised->L, count, count, s->realised->order))) return 0;
    fm_replace_ideal(s, s->loop.lambda);
    return 1;
}

/* The inverse of P M_c^-1 P', factored in realised.S. 0: singular. */
static int factor_ideal(fm_instance *s)
{
    const int32_t n = s->realised->count, rows = s->image.n.rows;
    for (int32_t j = 0; j < n; j++) {
        memset(s->loop.rhs, 0, (size_t)rows * sizeof *s->loop.rhs);
        s->loop.rhs[s->realised->row[j]] = 1.0;
        fm_solve_delassus(s, s->loop.rhs, s->realised->solved);
        for (int32_t i = 0; i < n; i++) s->realised->S[i * n + j] = s->realised->solved[s->realised->row[i]];
    }
    return fm_dense_factor(s->realised->S, n, n, s->realised->order) != 0.0;
}

/* G = P M_c^-1 B, rows and columns divided by the square roots of the diagonals of P M_c^-1 P' and B' M_c^-1 B. */
static void make_effects(fm_instance *s, double *G)
{
    const int32_t n = s->realised->count, rows = s->image.n.rows, nu = s->image.n.speeds;
    double *x = s->realised->u;
    for (int32_t j = 0; j < n; j++) {
        const double *y = s->realised->y + (size_t)j * (size_t)nu, *z = s->realised->z + (size_t)j * (size_t)nu;
        const size_t at = (size_t)j * (size_t)rows;
        const double alone = fm_product(z, y, nu);
        double own = alone - fm_product(s->realised->r + at, s->realised->x + at, rows);
        for (int32_t i = 0; i < n; i++) x[i] = s->realised->A[i * n + j];
        fm_dense_solve(s->realised->S, n, n, s->realised->order, x);
        for (int32_t i = 0; i < n; i++) own += s->realised->A[i * n + j] * x[i];
        for (int32_t i = 0; i < n; i++) G[i * n + j] = own > FM_BLOCKED * alone ? x[i] / sqrt(own) : 0.0;
    }
    for (int32_t i = 0; i < n; i++) {
        memset(x, 0, (size_t)n * sizeof *x);
        x[i] = 1.0;
        fm_dense_solve(s->realised->S, n, n, s->realised->order, x);
        for (int32_t j = 0; j < n; j++) G[i * n + j] /= sqrt(x[i]);
    }
}

/* The determinant of P M_c^-1 B, after an evaluation by the sweeps: it is smooth, also where the rows of P become
 * dependent, and zero where the drives lose their effect. */
double fm_drives_response(fm_instance *s)
{
    const int32_t n = s->realised->count;
    double *x = s->realised->u, *N = s->realised->L;
    if (!factor_ideal(s)) return 0.0;
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = 0; i < n; i++) x[i] = s->realised->A[i * n + j];
        fm_dense_solve(s->realised->S, n, n, s->realised->order, x);
        for (int32_t i = 0; i < n; i++) N[i * n + j] = x[i];
    }
    double determinant = fm_dense_factor(N, n, n, s->realised->order);
    for (int32_t i = 0; i < n; i++) determinant *= fabs(N[i * n + i]);
    return determinant;
}

/* How many programmed coordinates the drives determine, after an evaluation by the sweeps: the pivots of G above
 * `least`, the largest first. drive: the first without a pivot, -1: none. */
int32_t fm_drives_rank(fm_instance *s, double least, int32_t *drive)
{
    const int32_t n = s->realised->count;
    double *G = s->realised->L;
    int32_t *used = s->realised->order, rank = 0;
    *drive = 0;
    if (!factor_ideal(s)) return 0;
    make_effects(s, G);
    memset(used, 0, (size_t)n * sizeof *used); /* 1: row, 2: column, of a pivot */
    for (; rank < n; rank++) {
        int32_t row = 0, column = 0;
        double most = 0.0;
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++)
                if (!(used[i] & 1) && !(used[j] & 2) && fabs(G[i * n + j]) > most)
                    most = fabs(G[i * n + j]), row = i, column = j;
        if (!(most > least)) break;
        for (int32_t i = 0; i < n; i++) {
            const double part = (used[i] & 1) || i == row ? 0.0 : G[i * n + column] / G[row * n + column];
            for (int32_t j = 0; part != 0.0 && j < n; j++) G[i * n + j] -= part * G[row * n + j];
        }
        used[row] |= 1, used[column] |= 2;
    }
    for (*drive = -1; rank < n && *drive < n - 1;)
        if (!(used[++*drive] & 2)) break;
    return rank;
}

/* The sign of the drives' effect, after an evaluation by the sweeps. */
double fm_drives_side(fm_instance *s)
{
    const int32_t n = s->realised->count;
    memcpy(s->realised->L, s->realised->A, (size_t)(n * n) * sizeof *s->realised->L);
    return fm_dense_factor(s->realised->L, n, n, s->realised->order);
}

/* Adds the effect of the drives' forces, which stand among the multipliers, to x of every free mode. */
void fm_add_drives(const fm_instance *s, const double *lambda, double *x)
{
    const int32_t nu = s->image.n.speeds;
    for (int32_t j = 0; j < s->realised->count; j++) {
        const double force = lambda[s->realised->row[j]], *z = s->realised->z + (size_t)j * (size_t)nu;
        for (int32_t i = 0; i < nu; i++) x[i] += force * z[i];
    }
}
