/* singular.c: singular positions, at which a constraint row becomes dependent on the others: how near one is, which
 * part of the mechanism is singular there, and in which direction that moves.
 *
 * The square root of a row's pivot in K measures the distance: where two branches of the motion cross it is
 * proportional to the distance x along the branch (crossings.c), where they share a tangent to x^2 (tangent.c).
 */
#include "singular.h"

#include "../instance/instance.h"
#include "../loops/projection.h"
#include "../tree/rate.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

#define FM_STANDING 1e-9      /* of the mechanism's rate: slower velocities do not define a direction */
#define FM_SINGULAR_PIVOT 1e-12    /* fraction of a former pivot below which a position is singular */

static double pivot_of(const fm_instance *s, const fm_block *b, int32_t q)
{
    if (s->reduced.used) return s->reduced.pivot[b->first + b->use[q]];
    return 1.0 / s->loop.L[b->L + (size_t)(q * (b->used + 1))];
}

/* The square roots of the pivots of all active rows. Requires K's factor. */
void fm_singular_roots(const fm_instance *s, double *out)
{
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t q = 0; q < b->used; q++) out[b->first + b->use[q]] = sqrt(pivot_of(s, b, q));
    }
}

static int measure(fm_instance *s, const double *y, int (*factor)(fm_instance *, const double *), double *out)
{
    s->loop.softening = FM_TIE;
    fm_place_loops(s, y, 0);
    const int fits = factor(s, y);
    s->loop.softening = 0.0;
    if (fits) fm_singular_roots(s, out);
    return fits;
}

/* Places the links at y, and takes the roots of the pivots there. */
int fm_singular_measure(fm_instance *s, const double *y, double *out)
{
    return measure(s, y, fm_loop_pivots, out);
}

/* The same with the factor for corrections. */
int fm_singular_factor(fm_instance *s, const double *y, double *out)
{
    return measure(s, y, fm_factor_loops, out);
}

/* Labels the moving coordinates on a block's paths. */
static void label_block(fm_instance *s, const fm_block *b, int32_t label)
{
    for (int32_t e = b->path; e < b->path + b->length; e++)
        if (s->in_loop[s->plan.link[e]]) s->singular->label[s->plan.path[e]] = label;
}

/* The label of the moving coordinates on a block's paths, 0: none; `all`: 0 as well if some have none. Labels belong to
 * separate parts of the mechanism, so that a block has one. */
int32_t fm_singular_label(const fm_instance *s, const fm_block *b, int all)
{
    int32_t label = 0, bare = 0;
    for (int32_t e = b->path; e < b->path + b->length; e++) {
        if (!s->in_loop[s->plan.link[e]]) continue;
        const int32_t own = s->singular->label[s->plan.path[e]];
        if (own > 0) label = own;
        else bare = 1;
    }
    return all && bare ? 0 : label;
}

static void label_part(fm_instance *s, const fm_block *from, int32_t label)
{
    label_block(s, from, label);
    for (int more = 1, back = 0; more; back = !back) { /* every pass but the last labels another block */
        more = 0;
        for (int32_t n = 0; n < s->plan.blocks; n++) {
            const fm_block *b = s->plan.block + (back ? s->plan.blocks - 1 - n : n);
            if (fm_singular_label(s, b, 0) != label || fm_singular_label(s, b, 1) == label) continue;
            label_block(s, b, label);
            more = 1;
        }
    }
}

/* The direction in which a part of the mechanism is moved: its velocity, scaled so that the fastest coordinate has 1.
 * 0: it is at rest. */
static int scale_direction(fm_instance *s, const double *u, int32_t label)
{
    const double *least = s->scale + s->image.n.positions;
    double fastest = 0.0;
    for (int32_t i = 0; i < s->image.n.speeds; i++)
        if (s->singular->label[i] == label) fastest = fmax(fastest, fabs(u[i]) / least[i]);
    if (!(fastest > FM_STANDING * fmax(fm_rate_of(s, u), s->clock[FM_RATE])) || !isfinite(fastest)) return 0;
    for (int32_t i = 0; i < s->image.n.speeds; i++)
        if (s->singular->label[i] == label) s->singular->direction[i] = u[i] / fastest;
    return 1;
}

/* Finds the parts of the mechanism whose rows have small pivots, and their directions. Requires K's factor. 0: none, or
 * at rest. */
int fm_singular_direction(fm_instance *s, const double *u)
{
    const double narrow = s->reduced.used ? FM_NARROW_REDUCED : FM_NARROW;
    int32_t label = 0;
    memset(s->singular->label, 0, (size_t)s->image.n.speeds * sizeof *s->singular->label);
    memset(s->singular->direction, 0, (size_t)s->image.n.speeds * sizeof *s->singular->direction);
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t q = 0; q < b->used; q++) {
            const int32_t i = b->first + b->use[q];
            if (!(pivot_of(s, b, q) < narrow * s->row_pivot[i])) continue;
            if (fm_singular_label(s, b, 0) > 0) continue;
            label_part(s, b, ++label);
            if (!scale_direction(s, u, label)) return 0;
        }
    }
    return label > 0;
}

fm_singular_kept fm_singular_begin(fm_instance *s)
{
    return (fm_singular_kept){s->clock[FM_CORRECTED], s->clock[FM_ITERATED]};
}

void fm_singular_end(fm_instance *s, fm_singular_kept kept)
{
    s->clock[FM_CORRECTED] = kept.corrected, s->clock[FM_ITERATED] = kept.iterated;
    s->loop.near_singular = 2; /* the factor is not that at y */
}

/* Whether the mechanism is at rest at a singular position: the branch on which it continues is then undetermined. */
int fm_rests_singular(fm_instance *s, const double *y)
{
    int singular = 0;
    if (!fm_singular_measure(s, y, s->singular->root) || fm_singular_direction(s, y + s->image.n.positions)) return 0;
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (s->row_active[i] > 0.0)
            singular = singular || s->singular->root[i] * s->singular->root[i] < FM_SINGULAR_PIVOT * s->row_pivot[i];
    return singular;
}

/* The block that a row belongs to. */
const fm_block *fm_block_of(const fm_instance *s, int32_t row)
{
    const fm_block *b = s->plan.block;
    while (row < b->first || row >= b->first + b->rows) b++;
    return b;
}

/* The row whose pivot at y is smallest relative to its former value, -1: none is small; and the joint of its loop in
 * the tree that moves most in the additional motion possible there. */
int32_t fm_singular_row(fm_instance *s, const double *y, int32_t *joint)
{
    int32_t row = -1, link = -1;
    double least = FM_NARROW, most = 0.0;
    if (s->plan.blocks == 0 || !fm_singular_factor(s, y, s->singular->root)) return -1;
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        const double root = s->singular->root[i], part = root * root / s->row_pivot[i];
        if (s->row_active[i] > 0.0 && part < least) row = i, least = part;
    }
    if (row < 0) return -1;
    memset(s->loop.rhs, 0, (size_t)s->image.n.rows * sizeof *s->loop.rhs);
    s->loop.rhs[row] = 1.0;
    fm_smallest_change(s);
    const fm_block *b = fm_block_of(s, row);
    for (int32_t e = b->path; e < b->path + b->length; e++) {
        const int32_t u = s->plan.path[e];
        const double part = fabs(s->loop.change[u]) / s->scale[s->image.n.positions + u];
        if (s->in_loop[s->plan.link[e]] && part > most) link = s->plan.link[e], most = part;
    }
    *joint = link < 0 ? s->image.row_joint[row] : s->image.link_joint[link];
    return row;
}
