/* loop_rank.c: selects independent rows: the rank of K, and a set of rows that makes it well conditioned.
 *
 * K is eliminated in its order; in each block the largest pivot, relative to the upper bound of its diagonal entry,
 * comes first. The remainder of a row after the rows before it is at least its remainder after all others. So a row
 * with almost no remainder is redundant; one with a large remainder is chosen; between these two, the remainder after
 * all chosen rows decides, largest first.
 *
 * Far from the position of the choice other rows may be better, and the active ones may become dependent. So each
 * factor of K is monitored, and after a step that ended with a pivot far below its former value the inactive rows
 * compete with those whose pivots have decreased.
 */
#include "loop_rank.h"

#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "constraints.h"
#include "delassus.h"
#include "projection.h"
#include "reduced_choice.h"

#include <math.h>
#include <string.h>

#define FM_CLEAR 1e-4 /* a pivot above this fraction of its upper bound is clearly independent */

/* The reciprocal of the q-th active row's pivot. Requires K's factor. */
static double over_pivot(const fm_instance *s, const fm_block *b, int32_t q)
{
    return s->loop.L[b->L + (size_t)(q * (b->used + 1))];
}

/* K's diagonal entry of a row. */
static double diagonal(const fm_instance *s, const fm_block *b, int32_t r)
{
    const size_t at = b->y + (size_t)r * (size_t)b->length;
    double sum = 0.0;
    for (int32_t e = 0; e < b->length; e++) sum += s->loop.y[at + (size_t)e] * s->loop.z[at + (size_t)e];
    return sum;
}

/* Whether a row by itself exceeds `least`; rows across the plane of a planar mechanism do not. */
static int can_be_used(const fm_instance *s, const fm_block *b, int32_t r, double least)
{
    const int32_t i = b->first + r;
    if (!(s->loop.bound[i] > 0.0)) return 0;
    return diagonal(s, b, r) / s->loop.bound[i] > least;
}

static void swap(double *a, double *b)
{
    const double was = *a;
    *a = *b, *b = was;
}

/* Exchanges two active rows of a block in its part of K; what earlier blocks have of it is not needed any more. */
static void exchange(fm_instance *s, fm_block *b, int32_t one, int32_t other)
{
    const int32_t count = b->used, row = b->use[one];
    double *own = s->loop.L + b->L;
    b->use[one] = b->use[other];
    b->use[other] = row;
    for (int32_t q = 0; q < count; q++) swap(own + one * count + q, own + other * count + q);
    for (int32_t q = 0; q < count; q++) swap(own + q * count + one, own + q * count + other);
    for (const fm_meeting *e = s->plan.meeting + b->below, *end = e + b->belows; e < end; e++)
        for (int32_t q = 0; q < s->plan.block[e->block].used; q++)
            swap(s->loop.L + e->L + q * count + one, s->loop.L + e->L + q * count + other);
}

/* Keeps the first rows of a block. */
static void keep_first(fm_instance *s, fm_block *b, int32_t taken)
{
    const int32_t count = b->used;
    for (int32_t q = 0; q < taken; q++)
        for (int32_t p = 0; p < taken; p++)
            s->loop.L[b->L + (size_t)(q * taken + p)] = s->loop.L[b->L + (size_t)(q * count + p)];
    for (const fm_meeting *e = s->plan.meeting + b->below, *end = e + b->belows; e < end; e++)
        for (int32_t q = 0; q < s->plan.block[e->block].used; q++)
            for (int32_t p = 0; p < taken; p++)
                s->loop.L[e->L + (size_t)(q * taken + p)] = s->loop.L[e->L + (size_t)(q * count + p)];
    b->used = taken;
}

/* Chooses rows of a block as long as their pivots are clear, and computes its diagonal block of the factor. The other
 * rows remain doubtful, with row_active -1, or are redundant. */
static void choose_rows(fm_instance *s, fm_block *b, double least, double clear)
{
    const int32_t count = b->used;
    double *L = s->loop.L + b->L;
    int32_t taken = 0;
    for (; taken < count; taken++) {
        int32_t best = -1;
        double largest = 0.0;
        for (int32_t q = taken; q < count; q++) {
            const int32_t i = b->first + b->use[q];
            const double left = L[q * (count + 1)] / s->loop.bound[i];
            s->row_active[i] = left > least ? -1.0 : 0.0;
            if (left > largest) best = q, largest = left;
        }
        if (!(largest > clear)) break;
        exchange(s, b, best, taken);
        s->row_active[b->first + b->use[taken]] = 1.0;
        const double over = 1.0 / L[taken * (count + 1)];
        L[taken * (count + 1)] = over;
        for (int32_t q = taken + 1; q < count; q++) {
            const double x = L[q * count + taken] * over;
            for (int32_t p = taken + 1; p <= q; p++) L[q * count + p] -= x * L[p * count + taken];
            for (int32_t p = taken + 1; p < q; p++) L[p * count + q] = L[q * count + p];
        }
    }
    keep_first(s, b, taken);
}

/* Row r of block b of K, against all active rows, in loop.rhs. */
static void row_of_delassus(fm_instance *s, int32_t at, int32_t r)
{
    const fm_block *b = s->plan.block + at;
    const double *own = s->loop.y + b->y + (size_t)r * (size_t)b->length;
    memset(s->loop.rhs, 0, (size_t)s->image.n.rows * sizeof *s->loop.rhs);
    for (int32_t q = 0; q < b->used; q++) {
        const double *z = s->loop.z + b->y + (size_t)b->use[q] * (size_t)b->length;
        for (int32_t e = 0; e < b->length; e++) s->loop.rhs[b->first + b->use[q]] += own[e] * z[e];
    }
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *other = s->plan.block + n;
        for (const fm_meeting *e = s->plan.meeting + other->below, *end = e + other->belows; e < end; e++) {
            if (n != at && e->block != at) continue;
            const fm_block *to = n == at ? s->plan.block + e->block : other;
            const int mine = n == at ? 0 : 1; /* index of this row's path in a run */
            for (int32_t q = 0; q < to->used; q++) {
                const double *z = s->loop.z + to->y + (size_t)to->use[q] * (size_t)to->length;
                for (const int32_t *run = s->plan.run + 3 * e->run, *last = run + 3 * e->runs; run < last; run += 3)
                    for (int32_t j = 0; j < run[2]; j++)
                        s->loop.rhs[to->first + to->use[q]] += own[run[mine] + j] * z[run[1 - mine] + j];
            }
        }
    }
}

/* The remainder of a row after all active rows, relative to its upper bound. Requires their factor. */
static double left_after_all(fm_instance *s, int32_t at, int32_t r)
{
    const fm_block *b = s->plan.block + at;
    double left = diagonal(s, b, r);
    row_of_delassus(s, at, r);
    fm_solve_delassus(s, s->loop.rhs, s->loop.lambda);
    for (int32_t i = 0; i < s->image.n.rows; i++) left -= s->loop.rhs[i] * s->loop.lambda[i];
    return left / s->loop.bound[b->first + r];
}

/* J's column of a coordinate of the tree, times the square root of its weight. */
static void column_of_tree(fm_instance *s, int32_t u)
{
    const double scale = sqrt(s->loop.weight[u]);
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        const int32_t *path = s->plan.path + b->path;
        for (int32_t e = 0; e < b->length; e++) {
            if (path[e] != u) continue;
            for (int32_t q = 0; q < b->used; q++)
                s->loop.rhs[b->first + b->use[q]] =
                    scale * s->loop.y[b->y + (size_t)b->use[q] * (size_t)b->length + (size_t)e];
        }
    }
}

/* The same for a coordinate of a cut joint, whose row need not be active; returns that row's diagonal entry. */
static double column_of_cut(fm_instance *s, int32_t u)
{
    const fm_image *m = &s->image;
    const double length = m->mode_linear[u] ? m->length[0] : 1.0;
    for (int32_t n = 0; n < s->plan.blocks; n++)
        for (int32_t r = 0; r < s->plan.block[n].rows; r++) {
            const int32_t i = s->plan.block[n].first + r;
            if (m->row_kind[i] != FM_ROW_GIVEN || m->joint_u[m->row_joint[i]] + m->row_part[i] != u) continue;
            row_of_delassus(s, n, r);
            for (int32_t j = 0; j < m->n.rows; j++) s->loop.rhs[j] /= length;
            return diagonal(s, s->plan.block + n, r) / (length * length);
        }
    return 0.0;
}

/* The leverage of a coordinate that is not held: the largest square of its rate in a motion of norm 1 that satisfies
 * the active rows and the held coordinates. Almost 0: it depends on them. Requires K's factor with the weights of
 * assembly.c. */
double fm_leverage(fm_instance *s, int32_t u)
{
    double left = 1.0;
    memset(s->loop.rhs, 0, (size_t)s->image.n.rows * sizeof *s->loop.rhs);
    if (u < s->image.n.speeds || u >= s->image.n.modes) column_of_tree(s, u);
    else left = column_of_cut(s, u);
    fm_solve_delassus(s, s->loop.rhs, s->loop.lambda);
    for (int32_t i = 0; i < s->image.n.rows; i++) left -= s->loop.rhs[i] * s->loop.lambda[i];
    return left;
}

/* The upper bound of a row relative to those of its kind in its joint: small if it is satisfied identically, and its
 * remainder is then not reliable either. */
static double weight_of(const fm_instance *s, const fm_block *b, int32_t r)
{
    double most = 0.0;
    for (int32_t i = b->first; i < b->first + b->rows; i++)
        if (s->image.row_kind[i] == s->image.row_kind[b->first + r] && s->loop.bound[i] > most) most = s->loop.bound[i];
    return most > 0.0 ? s->loop.bound[b->first + r] / most : 0.0;
}

static int any_in_doubt(const fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (s->row_active[i] < 0.0) return 1;
    return 0;
}

/* The doubtful row with the largest remainder, -1: none is left. Those with almost none are redundant. */
static int32_t best_in_doubt(fm_instance *s, double least, int32_t *block)
{
    double largest = 0.0;
    int32_t best = -1;
    for (int32_t n = 0; n < s->plan.blocks; n++)
        for (int32_t r = 0; r < s->plan.block[n].rows; r++) {
            const int32_t i = s->plan.block[n].first + r;
            if (s->row_active[i] != -1.0) continue;
            const double left = s->loop.left[i];
            const double worth = left * weight_of(s, s->plan.block + n, r);
            if (!(left > least)) s->row_active[i] = 0.0;
            else if (worth > largest) best = i, largest = worth, *block = n;
        }
    return best;
}

/* Row i of block `at` is the k-th that is chosen with the present factor: takes what it determines from the remainders
 * of the doubtful rows, a step of the Cholesky decomposition of the Schur complement of the active ones. */
static void take_from_others(fm_instance *s, int32_t at, int32_t i, int32_t k)
{
    const size_t rows = (size_t)s->image.n.rows;
    const double own = sqrt(s->loop.left[i] * s->loop.bound[i]);
    double *column = s->loop.columns + (size_t)k * rows;
    row_of_delassus(s, at, i - s->plan.block[at].first);
    fm_solve_delassus(s, s->loop.rhs, s->loop.lambda);
    memset(s->loop.change, 0, (size_t)fm_placed(s) * sizeof *s->loop.change);
    fm_add_response(s, s->plan.block + at, i - s->plan.block[at].first, 1.0);
    for (int32_t n = 0; n < s->plan.blocks; n++)
        for (int32_t q = 0; q < s->plan.block[n].used; q++) {
            const int32_t r = s->plan.block[n].use[q];
            fm_add_response(s, s->plan.block + n, r, -s->loop.lambda[s->plan.block[n].first + r]);
        }
    for (int32_t n = 0; n < s->plan.blocks; n++)
        for (int32_t r = 0; r < s->plan.block[n].rows; r++) {
            const fm_block *b = s->plan.block + n;
            const int32_t j = b->first + r, *path = s->plan.path + b->path;
            const double *y = s->loop.y + b->y + (size_t)r * (size_t)b->length;
            double sum = 0.0;
            if (s->row_active[j] != -1.0) continue;
            for (int32_t e = 0; e < b->length; e++) sum += y[e] * s->loop.change[path[e]];
            for (int32_t q = 0; q < k; q++)
                sum -= s->loop.columns[(size_t)q * rows + (size_t)j] * s->loop.columns[(size_t)q * rows + (size_t)i];
            column[j] = sum / own;
            s->loop.left[j] -= column[j] * column[j] / s->loop.bound[j];
        }
}

/* Chooses doubtful rows, the one with the largest remainder first: at most `most`, and what one factor serves. Returns
 * how many; 0: no doubtful rows are left. */
static int32_t choose_doubtful(fm_instance *s, double least, int32_t most)
{
    const int32_t limit = most < FM_WITH_ONE_FACTOR ? most : FM_WITH_ONE_FACTOR;
    fm_use_rows(s);
    fm_make_delassus(s);
    if (!fm_factor_delassus(s)) return 0;
    for (int32_t n = 0; n < s->plan.blocks; n++)
        for (int32_t r = 0; r < s->plan.block[n].rows; r++) {
            const int32_t i = s->plan.block[n].first + r;
            if (s->row_active[i] == -1.0) s->loop.left[i] = left_after_all(s, n, r);
        }
    for (int32_t k = 0;; k++) {
        int32_t block = 0;
        const int32_t best = best_in_doubt(s, least, &block);
        if (best < 0) return k;
        s->row_active[best] = 1.0;
        if (k + 1 == limit) return limit;
        take_from_others(s, block, best, k);
    }
}

/* Deactivates doubtful rows; computes K of the chosen ones. */
static void leave_doubtful(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.rows; i++) s->row_active[i] = s->row_active[i] == 1.0 ? 1.0 : 0.0;
    fm_use_rows(s);
    fm_make_delassus(s);
}

/* Chooses rows; requires all rows and their upper bounds. Computes K of the chosen ones. */
void fm_choose_rows(fm_instance *s, double least)
{
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t r = 0; r < b->rows; r++) s->row_active[b->first + r] = can_be_used(s, b, r, least) ? 1.0 : 0.0;
    }
    fm_use_rows(s);
    fm_make_delassus(s);
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        choose_rows(s, s->plan.block + n, least, FM_CLEAR);
        fm_eliminate(s, s->plan.block + n);
    }
    while (any_in_doubt(s) && choose_doubtful(s, least, s->image.n.rows) > 0) continue;
    leave_doubtful(s);
}

/* Stores the pivots of the active rows. Requires K's factor. */
void fm_note_pivots(fm_instance *s)
{
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t q = 0; q < b->used; q++) s->row_pivot[b->first + b->use[q]] = 1.0 / over_pivot(s, b, q);
    }
}

/* Updates the stored pivots that have grown, and those of rows that were inactive in `before`, if that is not NULL. */
static void note_growth(fm_instance *s, const double *before)
{
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t q = 0; q < b->used; q++) {
            const int32_t i = b->first + b->use[q];
            const double over = over_pivot(s, b, q);
            if (s->row_pivot[i] * over < 1.0 || (before != NULL && !(before[i] > 0.0))) s->row_pivot[i] = 1.0 / over;
        }
    }
}

/* Marks rows with decreased pivots, and inactive ones that could replace them, as doubtful. Returns the number of the
 * former, 0 if there is no replacement. */
static int32_t doubt_rows(fm_instance *s)
{
    int32_t worn = 0, idle = 0;
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t r = 0; r < b->rows; r++)
            if (s->row_active[b->first + r] == 0.0 && !fm_row_rests(s, b->first + r) &&
                !(s->planar.used && s->planar.row[b->first + r].kind == FM_ROW_KINDS))
                s->row_active[b->first + r] = -1.0, idle++;
        for (int32_t q = 0; q < b->used; q++) {
            const int32_t i = b->first + b->use[q];
            if (FM_WORN * s->row_pivot[i] * over_pivot(s, b, q) > 1.0) s->row_active[i] = -1.0, worn++;
        }
    }
    return idle > 0 ? worn : 0;
}

/* Checks the choice of rows after an accepted step that ended at y. The number of active rows never changes: a lower
 * rank there means a singular position, not a redundant row. */
void fm_watch_rows(fm_instance *s, const double *y)
{
    const size_t size = (size_t)s->image.n.rows * sizeof *s->row_active;
    const int32_t planar = s->planar.used;
    if (s->reduced.used) {
        fm_reduced_watch(s, y);
        return;
    }
    if (!s->loop.factored) return;     /* the last evaluation left K itself */
    if (s->loop.near_singular) return; /* all choices are bad there, or the factor belongs to another position */
    if (!s->loop.worn) {
        note_growth(s, NULL);
        return;
    }
    memcpy(s->loop.kept, s->row_active, size);
    int32_t missing = doubt_rows(s);
    if (missing > 0) {
        if (planar) (void)fm_planar_use(s, 0); /* rows are judged by the spatial sweeps */
        fm_run_orientations(s, y);
        fm_make_world(s, y);
        memset(s->work.tau, 0, (size_t)s->image.n.speeds * sizeof *s->work.tau);
        fm_run_sweeps(s, y, s->work.tau, s->loop.change);
        fm_make_rows(s, 0, 1);
        const double least = fm_coarse(fm_violation(s, 0));
        for (int32_t more = 1; missing > 0 && more > 0; missing -= more) more = choose_doubtful(s, least, missing);
        leave_doubtful(s);
        if (missing == 0 && fm_factor_delassus(s)) note_growth(s, s->loop.kept);
        else missing = -1;
        if (planar) (void)fm_planar_use(s, 1);
        s->planar.is_placed = 0;
        if (missing == 0) return;
    }
    memcpy(s->row_active, s->loop.kept, size);
    fm_use_rows(s);
}
