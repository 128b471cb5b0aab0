/* reduced_choice.c: the rows in use of the reduced formulation (reduced.c), at the start and after steps.
 *
 * Assembly chooses the rows and leaves pivots of K; their part of what they are nearby is taken over for those of J J'.
 * After a step in which a row's pivot fell far below its former value, that row competes with those not in use by what
 * is left of each beside all others (loop_rank.c); the number of rows stays.
 */
#include "reduced_choice.h"

#include "../instance/instance.h"
#include "../maths/reflections.h"
#include "../tree/kinematics.h"
#include "../tree/positions.h"
#include "../tree/rate.h"
#include "../tree/reversed.h"
#include "constraints.h"
#include "delassus.h"
#include "jacobian.h"
#include "projection.h"
#include "reduced.h"

#include <math.h>
#include <string.h>

#define FM_BESIDE_START 0.03 /* [rad], or relative to the length: from a singular start to where pivots are regular */

static void place(fm_instance *s, const double *y)
{
    fm_run_orientations(s, y);
    fm_make_world(s, y);
}

/* Pivots of the rows at y on the constraints, with K's pivots in row_pivot. */
void fm_reduced_begin(fm_instance *s, const double *y)
{
    const int32_t np = s->image.n.positions, nu = s->image.n.speeds;
    double *part = s->reduced.b, *moved = s->work.probe;
    int regular = 1;
    s->reduced.used = 0;
    place(s, y);
    if (s->plan.blocks > 0) {
        regular = fm_factor_loops(s, y) && !s->loop.near_singular;
        for (int32_t n = 0; n < s->plan.blocks; n++) {
            const fm_block *b = s->plan.block + n;
            for (int32_t q = 0; regular && q < b->used; q++) {
                const int32_t i = b->first + b->use[q];
                part[i] = fmax(1.0, s->row_pivot[i] * s->loop.L[b->L + (size_t)(q * (b->used + 1))]);
            }
        }
    }
    s->reduced.used = 1;
    if (!regular) {
        memcpy(moved, y, (size_t)s->model.ny * sizeof *y);
        const double fastest = fm_fastest(s, y + np);
        for (int32_t i = 0; i < nu; i++)
            s->loop.change[i] = fastest > 0.0 ? FM_BESIDE_START / fastest * y[np + i] : 0.0;
        fm_move_positions(s, moved, s->loop.change);
        (void)fm_normalise(s, moved, NULL);
        place(s, moved);
    }
    (void)fm_reduced_rows(s, 0);
    for (int32_t q = 0; q < s->reduced.rows.rank; q++) {
        const int32_t i = s->reduced.row[q];
        s->row_pivot[i] = s->reduced.pivot[i] * (regular ? s->reduced.b[i] : 1.0);
    }
    s->loop.worn = s->loop.near_singular = 0;
    if (!regular) place(s, y);
}

/* The largest upper bound among rows of this kind of the same joint, beside which what is left of a row counts. */
static double size_of_kind(const fm_instance *s, int32_t row)
{
    double most = 0.0;
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (s->image.row_joint[i] == s->image.row_joint[row] && s->image.row_kind[i] == s->image.row_kind[row])
            most = fmax(most, s->loop.bound[i]);
    return most;
}

/* Adds the candidate with most left beside the rows in use, of which there is never more than when it was tried before.
 * 0: there is none. */
static int add_best(fm_instance *s, double least)
{
    const fm_block *of_best = NULL;
    int32_t best = -1;
    double largest = 0.0;
    fm_ends ends = {.joint = -1};
    for (const fm_block *k = s->plan.block, *end = k + s->plan.blocks; k < end; k++)
        for (int32_t i = k->first; i < k->first + k->rows; i++) {
            if (s->row_active[i] != -1.0 || !(s->reduced.pivot[i] > largest * s->reduced.size[i])) continue;
            const int fits = fm_reduced_add_row(s, k, i, 0, &ends);
            fm_reflect_drop(&s->reduced.rows);
            if (!fits) continue;
            if (!(s->reduced.pivot[i] > least * s->loop.bound[i])) continue; /* an identity, apart from round-off */
            const double worth = s->reduced.pivot[i] / s->reduced.size[i];
            if (worth > largest) best = i, of_best = k, largest = worth;
        }
    if (best < 0) return 0;
    s->row_active[best] = 1.0;
    return fm_reduced_add_row(s, of_best, best, 0, &ends);
}

/* Marks rows with small pivots, and those not in use, as candidates, -1. Returns the number of the former; 0: nothing
 * can take their place. */
static int32_t doubt_rows(fm_instance *s)
{
    int32_t worn = 0, idle = 0;
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        if (s->row_active[i] > 0.0 && s->reduced.pivot[i] < FM_WORN * s->row_pivot[i]) s->row_active[i] = -1.0, worn++;
        else if (s->row_active[i] == 0.0 && !fm_row_rests(s, i)) s->row_active[i] = -1.0, idle++;
    }
    return idle > 0 ? worn : 0;
}

/* Upper bounds of the rows' squares, in loop.bound, and the largest of each kind; the candidates are not tried yet. */
static void measure_rows(fm_instance *s)
{
    const double *unit = s->scale + s->image.n.positions;
    fm_ends ends = {.joint = -1};
    for (int32_t n = 0; n < s->image.n.speeds; n++) s->reduced.part[n] = unit[n] * unit[n];
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        fm_constraint one;
        s->loop.bound[i] = 0.0;
        if (fm_row_rests(s, i)) continue;
        fm_constraint_at(s, i, 0, &ends, &one);
        s->loop.bound[i] = fm_row_along(s, i, &one, s->reduced.force, s->reduced.part);
    }
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        s->reduced.size[i] = size_of_kind(s, i);
        if (s->row_active[i] == -1.0) s->reduced.pivot[i] = INFINITY;
    }
}

/* Lets rows compete at y, where the links are placed. 0: nothing better is found, and the rows are as before. */
static int replace_rows(fm_instance *s)
{
    const size_t size = (size_t)s->image.n.rows * sizeof *s->row_active;
    memcpy(s->loop.kept, s->row_active, size);
    int32_t missing = doubt_rows(s);
    if (missing > 0) {
        const double least = fm_coarse(fm_violation(s, 0));
        measure_rows(s);
        fm_use_rows(s);
        (void)fm_reduced_rows(s, 0);
        while (missing > 0 && add_best(s, least)) missing--;
        for (int32_t i = 0; i < s->image.n.rows; i++) s->row_active[i] = s->row_active[i] == 1.0 ? 1.0 : 0.0;
        fm_use_rows(s);
        if (missing == 0 && fm_reduced_rows(s, 0)) return 1;
    }
    memcpy(s->row_active, s->loop.kept, size);
    fm_use_rows(s);
    return 0;
}

/* Updates the pivots that have grown, and those of rows that were not in use in `before`, if that is not NULL. */
static void note_growth(fm_instance *s, const double *before)
{
    for (int32_t q = 0; q < s->reduced.rows.rank; q++) {
        const int32_t i = s->reduced.row[q];
        if (s->row_pivot[i] < s->reduced.pivot[i] || (before != NULL && !(before[i] > 0.0)))
            s->row_pivot[i] = s->reduced.pivot[i];
    }
}

/* Checks the choice after an accepted step that ended at y. */
void fm_reduced_watch(fm_instance *s, const double *y)
{
    if (s->loop.near_singular) return;
    if (!s->loop.worn) {
        note_growth(s, NULL);
        return;
    }
    place(s, y);
    if (replace_rows(s)) note_growth(s, s->loop.kept);
    s->loop.worn = 1, s->loop.near_singular = 0; /* as the step left them */
}
