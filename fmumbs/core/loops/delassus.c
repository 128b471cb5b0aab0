/* delassus.c: the Delassus matrix of the constraint rows, its factor, and solutions with it.
 *
 * With the innovations of the rows' multipliers in the free modes (constraints.c)
 *     K = J M^-1 J' = sum over the modes of (phi'w_i) (phi'w_j) / D.
 * K and its factor, K = L D L', are stored in blocks, each for the active rows of one cut joint side by side, in an
 * order with little fill-in (loop_plan.c): L D below the diagonal, 1 / D on it.
 */
#include "delassus.h"

#include "../maths/rows.h"
#include "../instance/instance.h"
#include "constraints.h"

#include <string.h>

#define FM_SINGULAR 1e-14 /* fraction of a diagonal entry of K below which a pivot counts as zero */

/* The free modes in world axes and the reciprocals of their pivots, in loop.phi and loop.pivot. Requires world
 * kinematics. */
void fm_make_pivots(fm_instance *s)
{
    double *out = s->loop.pivot;
    fm_world_modes(s);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind == FM_LINK_SPHERICAL)
            for (int j = 0; j < 3; j++) out[k->u + j] = s->ball[k->nth].factor[j];
        else if (k->kind == FM_LINK_GENERAL)
            for (int32_t j = 0; j < s->general[k->nth].speeds; j++)
                out[k->u + j] = j < s->general[k->nth].free ? s->general[k->nth].D[j] : 0.0;
        else if (k->kind == FM_LINK_MODAL)
            for (int32_t j = 0; j < fm_modal_of(s, i)->n; j++) out[k->u + j] = fm_modal_of(s, i)->D[j];
        else out[k->u] = s->projected[i].D;
    }
}

/* Lists the active rows, block by block. */
void fm_use_rows(fm_instance *s)
{
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        fm_block *k = s->plan.block + b;
        k->used = 0;
        for (int32_t r = 0; r < k->rows; r++)
            if (s->row_active[k->first + r] > 0.0 &&
                !(s->planar.used && s->planar.row[k->first + r].kind == FM_ROW_KINDS))
                k->use[k->used++] = r;
    }
}

/* The innovations of row i, in loop.row. */
static void pass_row(fm_instance *s, int32_t i, const fm_constraint *c, double *most)
{
    if (fm_row_rests(s, i)) return;
    if (s->image.row_kind[i] == FM_ROW_COUPLED) {
        fm_pass_coupling(s, i, s->loop.row, most);
        return;
    }
    fm_pass_loop(s, s->image.row_joint[i], c, s->loop.row, most);
}

static void use_all(fm_instance *s)
{
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        fm_block *k = s->plan.block + b;
        k->used = k->rows;
        for (int32_t r = 0; r < k->rows; r++) k->use[r] = r;
    }
}

/* Active rows at the present world kinematics, and their innovations; `choose`: all rows, with upper bounds of K's
 * diagonal. */
void fm_make_rows(fm_instance *s, int moving, int choose)
{
    const double *pivot = s->loop.pivot;
    fm_ends ends = {.joint = -1};
    if (choose) use_all(s);
    fm_make_pivots(s);
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        const fm_block *k = s->plan.block + b;
        const int32_t *path = s->plan.path + k->path;
        for (int32_t n = 0; n < k->used; n++) {
            const int32_t i = k->first + k->use[n];
            const size_t at = k->y + (size_t)k->use[n] * (size_t)k->length;
            fm_constraint one;
            fm_constraint_at(s, i, moving, &ends, &one);
            memcpy(s->loop.c + 3 * i, one.c, sizeof one.c);
            memcpy(s->loop.wrench + 6 * i, one.torque, sizeof one.torque);
            memcpy(s->loop.wrench + 6 * i + 3, one.force, sizeof one.force);
            s->loop.bound[i] = 0.0;
            pass_row(s, i, &one, choose ? s->loop.bound + i : NULL);
            for (int32_t e = 0; e < k->length; e++) {
                double *y = s->loop.row + path[e];
                s->loop.y[at + (size_t)e] = *y;
                s->loop.z[at + (size_t)e] = *y * pivot[path[e]];
                *y = 0.0;
            }
        }
    }
}

/* K of a block with itself (`e` NULL) or with a later one: `rows` of the later by `columns`. */
FM_INLINE void meet(const fm_instance *s, const fm_block *a, const fm_meeting *e, const int rows, const int columns)
{
    const int32_t whole[3] = {0, 0, a->length}, *run = e == NULL ? whole : s->plan.run + 3 * e->run;
    const fm_block *b = e == NULL ? a : s->plan.block + e->block;
    const double *y[FM_JOINT_MODES], *z[FM_JOINT_MODES];
    double sums[FM_JOINT_MODES * FM_JOINT_MODES] = {0.0}, *L = s->loop.L + (e == NULL ? a->L : e->L);
    for (int p = 0; p < columns; p++) y[p] = s->loop.y + a->y + (size_t)a->use[p] * (size_t)a->length;
    for (int q = 0; q < rows; q++) z[q] = s->loop.z + b->y + (size_t)b->use[q] * (size_t)b->length;
    for (int32_t runs = e == NULL ? 1 : e->runs; runs > 0; runs--, run += 3)
        for (int32_t i = 0; i < run[2]; i++)
            for (int q = 0; q < rows; q++)
                for (int p = 0; p < columns; p++) sums[q * columns + p] += y[p][run[0] + i] * z[q][run[1] + i];
    for (int q = 0; q < rows; q++)
        for (int p = 0; p < columns; p++) L[q * columns + p] = sums[q * columns + p];
}

/* K of the active rows, from their innovations. */
void fm_make_delassus(fm_instance *s)
{
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *a = s->plan.block + n;
        if (a->used == 2) meet(s, a, NULL, 2, 2);
        else meet(s, a, NULL, a->used, a->used);
        for (int32_t q = 0; q < a->used; q++)
            s->loop.diagonal[a->first + a->use[q]] = s->loop.L[a->L + (size_t)(q * (a->used + 1))];
        for (const fm_meeting *e = s->plan.meeting + a->below, *end = e + a->belows; e < end; e++) {
            const int32_t used = s->plan.block[e->block].used;
            if (a->used == 2 && used == 2) meet(s, a, e, 2, 2);
            else meet(s, a, e, used, a->used);
        }
    }
}

/* Factors a diagonal block. 0: it is not positive definite. */
FM_INLINE int factor_block(fm_instance *s, const fm_block *a, const int rows)
{
    double *L = s->loop.L + a->L;
    for (int q = 0; q < rows; q++) {
        double *at = L + q * rows, *pivot = at + q;
        for (int p = 0; p <= q; p++)
            for (int n = 0; n < p; n++) at[p] -= at[n] * (L[p * rows + n] * L[n * (rows + 1)]);
        const int32_t i = a->first + a->use[q];
        if (!(*pivot > FM_SINGULAR * s->loop.diagonal[i])) return 0;
        if (*pivot < FM_WORN * s->row_pivot[i]) {
            s->loop.worn = 1;
            if (*pivot < FM_NARROW * s->row_pivot[i]) s->loop.near_singular = 1;
        }
        *pivot = 1.0 / *pivot;
    }
    return 1;
}

/* Subtracts the contribution of a column from the block `to` of `of_c` later rows, `of_b` columns: x, the column's rows
 * there, by `scaled`, those of the columns over the pivots. */
FM_INLINE void subtract(const double *scaled, const double *x, double *to, const int columns, const int of_b,
                        const int of_c)
{
    for (int q = 0; q < of_c; q++)
        for (int p = 0; p < of_b; p++) {
            double sum = 0.0;
            for (int n = 0; n < columns; n++) sum += x[q * columns + n] * scaled[p * columns + n];
            to[q * of_b + p] -= sum;
        }
}

/* The same of a column of two and two columns, for two rows at once. */
FM_INLINE void subtract_pairs(const double *scaled, const double *x, double *to)
{
    const double first[4] = {scaled[0], scaled[2], scaled[0], scaled[2]}, by_first[4] = {x[0], x[0], x[2], x[2]};
    const double second[4] = {scaled[1], scaled[3], scaled[1], scaled[3]}, by_second[4] = {x[1], x[1], x[3], x[3]};
    const fm_row sum = fm_add(fm_splat(0.0), fm_times(fm_row_all(by_first), fm_row_all(first)));
    fm_row_store(to, fm_subtract(fm_row_load(to), fm_add(sum, fm_times(fm_row_all(by_second), fm_row_all(second)))));
}

/* Subtracts the contributions of a factored block's column from those of a later block that it couples with, `e`. */
FM_INLINE void eliminate_from(fm_instance *s, const fm_meeting *e, const fm_meeting *end, const double *over,
                              const int columns, const int of_b)
{
    const fm_block *b = s->plan.block + e->block;
    const fm_meeting *to = s->plan.meeting + b->below;
    const double *w = s->loop.L + e->L;
    double scaled[FM_JOINT_MODES * FM_JOINT_MODES];
    const int pairs = columns == 2 && of_b == 2;
    for (int p = 0; p < of_b; p++)
        for (int n = 0; n < columns; n++) scaled[p * columns + n] = w[p * columns + n] * over[n];
    if (pairs) subtract_pairs(scaled, w, s->loop.L + b->L);
    else subtract(scaled, w, s->loop.L + b->L, columns, of_b, of_b);
    for (e++; e < end; e++, to++) {
        const int32_t of_c = s->plan.block[e->block].used;
        while (to->block != e->block) to++;
        if (pairs && of_c == 2) subtract_pairs(scaled, s->loop.L + e->L, s->loop.L + to->L);
        else subtract(scaled, s->loop.L + e->L, s->loop.L + to->L, columns, of_b, of_c);
    }
}

/* Subtracts the contributions of a factored block's column from the later blocks; in the plane blocks mostly have two
 * rows. */
FM_INLINE void eliminate(fm_instance *s, const fm_block *a, const int columns)
{
    const fm_meeting *first = s->plan.meeting + a->below, *end = first + a->belows;
    const double *own = s->loop.L + a->L;
    double over[FM_JOINT_MODES], unit[FM_JOINT_MODES * FM_JOINT_MODES];
    for (int n = 0; n < columns; n++) over[n] = own[n * (columns + 1)];
    for (int p = 0; p < columns; p++)
        for (int n = 0; n < p; n++) unit[p * columns + n] = own[p * columns + n] * over[n];
    for (const fm_meeting *e = first; e < end; e++) {
        double *at = s->loop.L + e->L;
        for (int32_t q = s->plan.block[e->block].used; q > 0; q--, at += columns)
            for (int p = 0; p < columns; p++)
                for (int n = 0; n < p; n++) at[p] -= at[n] * unit[p * columns + n];
    }
    for (const fm_meeting *e = first; e < end; e++) {
        const int32_t of_b = s->plan.block[e->block].used;
        if (columns == 2 && of_b == 2) eliminate_from(s, e, end, over, 2, 2);
        else eliminate_from(s, e, end, over, columns, of_b);
    }
}

void fm_eliminate(fm_instance *s, const fm_block *a)
{
    if (a->belows == 0 || a->used == 0) return;
    if (a->used == 2) eliminate(s, a, 2);
    else eliminate(s, a, a->used);
}

/* Forward substitution with a diagonal block; subtracts its contributions from the later blocks. */
FM_INLINE void solve_forth(const fm_instance *s, const fm_block *a, const double *b, double *x, const int rows)
{
    const double *L = s->loop.L + a->L;
    double *own = x + a->first, value[FM_JOINT_MODES];
    for (int q = 0; q < rows; q++) {
        const double *at = L + q * rows;
        value[q] = own[a->use[q]] + b[a->first + a->use[q]];
        for (int p = 0; p < q; p++) value[q] -= at[p] * value[p];
        own[a->use[q]] = value[q] *= at[q];
    }
    for (const fm_meeting *e = s->plan.meeting + a->below, *end = e + a->belows; e < end; e++) {
        const fm_block *c = s->plan.block + e->block;
        for (int32_t r = 0; r < c->used; r++) {
            const double *at = s->loop.L + e->L + r * rows;
            for (int p = 0; p < rows; p++) x[c->first + c->use[r]] -= at[p] * value[p];
        }
    }
}

FM_INLINE void solve_back(const fm_instance *s, const fm_block *a, double *x, const int rows)
{
    const double *L = s->loop.L + a->L;
    double *own = x + a->first, sums[FM_JOINT_MODES] = {0.0};
    for (const fm_meeting *e = s->plan.meeting + a->below, *end = e + a->belows; e < end; e++) {
        const fm_block *c = s->plan.block + e->block;
        for (int32_t r = 0; r < c->used; r++) {
            const double *at = s->loop.L + e->L + r * rows, value = x[c->first + c->use[r]];
            for (int p = 0; p < rows; p++) sums[p] += at[p] * value;
        }
    }
    for (int q = rows - 1; q >= 0; q--) {
        for (int p = q + 1; p < rows; p++) sums[q] += L[p * rows + q] * own[a->use[p]];
        own[a->use[q]] -= sums[q] * L[q * (rows + 1)];
    }
}

/* Backward substitution for the active rows of x. */
static void go_back(const fm_instance *s, double *x)
{
    for (const fm_block *first = s->plan.block, *a = first + s->plan.blocks; a-- > first;)
        if (a->used == 2) solve_back(s, a, x, 2);
        else solve_back(s, a, x, a->used);
}

static void go_forth(const fm_instance *s, const fm_block *a, const double *b, double *x)
{
    if (a->used == 2) solve_forth(s, a, b, x, 2);
    else solve_forth(s, a, b, x, a->used);
}

/* Solves K x = b for the active rows, zero elsewhere. Requires the factor. */
void fm_solve_delassus(const fm_instance *s, const double *b, double *x)
{
    for (int32_t i = 0; i < s->image.n.rows; i++) x[i] = 0.0;
    for (const fm_block *a = s->plan.block, *end = a + s->plan.blocks; a < end; a++) go_forth(s, a, b, x);
    go_back(s, x);
}

/* Adds what `force` on row r of a block changes to loop.change: in z, with the weights of the rows. */
void fm_add_response(fm_instance *s, const fm_block *b, int32_t r, double force)
{
    const double *z = s->loop.z + b->y + (size_t)r * (size_t)b->length;
    const int32_t *path = s->plan.path + b->path;
    for (int32_t e = 0; e < b->length; e++) s->loop.change[path[e]] += force * z[e];
}

/* b less K x. Requires K itself. */
void fm_subtract_product(const fm_instance *s, const double *x, double *b)
{
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *a = s->plan.block + n;
        for (int32_t q = 0; q < a->used; q++)
            for (int32_t p = 0; p < a->used; p++)
                b[a->first + a->use[q]] -= s->loop.L[a->L + (size_t)(q * a->used + p)] * x[a->first + a->use[p]];
        for (const fm_meeting *e = s->plan.meeting + a->below, *end = e + a->belows; e < end; e++) {
            const fm_block *c = s->plan.block + e->block;
            for (int32_t q = 0; q < c->used; q++)
                for (int32_t p = 0; p < a->used; p++) {
                    const double K = s->loop.L[e->L + (size_t)(q * a->used + p)];
                    b[c->first + c->use[q]] -= K * x[a->first + a->use[p]];
                    b[a->first + a->use[p]] -= K * x[c->first + c->use[q]];
                }
        }
    }
}

/* Factors K; if `x` is not NULL (and zero), also the forward substitution for `b`. 0: K is not positive definite. */
static int factor_and_go(fm_instance *s, const double *b, double *x)
{
    s->loop.worn = s->loop.near_singular = 0;
    for (const fm_block *a = s->plan.block, *end = a + s->plan.blocks; a < end; a++) {
        if (!(a->used == 2 ? factor_block(s, a, 2) : factor_block(s, a, a->used))) {
            s->loop.worn = 1, s->loop.near_singular = 2;
            return 0;
        }
        fm_eliminate(s, a);
        if (x != NULL) go_forth(s, a, b, x);
    }
    return 1;
}

/* Adds the fraction loop.softening of former pivots to K's diagonal. */
static void soften(fm_instance *s)
{
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t q = 0; q < b->used; q++)
            s->loop.L[b->L + (size_t)(q * (b->used + 1))] += s->loop.softening * s->row_pivot[b->first + b->use[q]];
    }
}

/* Factors K. 0: it is not positive definite. */
int fm_factor_delassus(fm_instance *s)
{
    if (s->loop.softening > 0.0) soften(s);
    return factor_and_go(s, NULL, NULL);
}

/* Factors K and solves K x = b. 0: K is not positive definite. */
int fm_factor_and_solve(fm_instance *s, const double *b, double *x)
{
    memset(x, 0, (size_t)s->image.n.rows * sizeof *x);
    if (!factor_and_go(s, b, x)) return 0;
    go_back(s, x);
    return 1;
}
