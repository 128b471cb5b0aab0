/* restarts.c: closes the loops from elsewhere where Newton's method ends at a minimum of the gap, or turns a joint
 * over.
 *
 * The gap may have a minimum although the loops close: with a small gap left if the motion turns back nearby, with any
 * gap if the guesses are distant. And rows f . g = 0 make axes parallel, but not which way they point: a joint is
 * turned over if its rows hold with opposite axes. Restarts come in opposite pairs at increasing distance, first from
 * the minimum if its gap is small, then from the guesses.
 */
#include "restarts.h"

#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/positions.h"
#include "../loops/cut_joints.h"
#include "assembly.h"
#include "scratch.h"
#include "units.h"

#include <math.h>
#include <string.h>

#define FM_SMALL_GAP 0.03 /* relative to the length: a gap of a motion that turns back nearby */
/* distance of the first pair from the minimum [rad], or relative to the length; of the next: twice */
#define FM_BESIDE_MINIMUM 5e-3
#define FM_FROM_MINIMUM 12
#define FM_RESTART_DISTANCE 0.12 /* distance of the first pair from the guesses; of the next: as much more */
#define FM_FROM_GUESSES 32

/* A row's vectors f and g in world axes. */
static void row_vectors(const fm_instance *s, int32_t row, double f[3], double g[3])
{
    const fm_image *m = &s->image;
    const int32_t F = m->joint_F_link[m->row_joint[row]], M = m->joint_M_link[m->row_joint[row]];
    if (F < 0) memcpy(f, m->row_f + 3 * row, 3 * sizeof *f);
    else rotate_out(s->world[F].R, m->row_f + 3 * row, f);
    if (M < 0) memcpy(g, m->row_g + 3 * row, 3 * sizeof *g);
    else rotate_out(s->world[M].R, m->row_g + 3 * row, g);
}

/* Whether the joint of `count` perpendicular rows from `row` is turned over. Two rows have one g, the axis, and f
 * across it; three compare x of F with y and z of M, and y of F with z of M. */
static int turns_over(const fm_instance *s, int32_t row, int32_t count)
{
    double f[3][3], g[3][3], axis[3];
    for (int32_t i = 0; i < count; i++) row_vectors(s, row + i, f[i], g[i]);
    if (count == 2) {
        cross(f[0], f[1], axis);
        return dot(axis, g[0]) < 0.0;
    }
    cross(g[0], g[1], axis);
    return dot(f[0], axis) < 0.0 || dot(f[2], g[0]) < 0.0;
}

/* A joint that is turned over, or -1; programs off whose path the mechanism starts are not. Requires world kinematics.
 */
int32_t fm_turned_over(const fm_instance *s)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0, count; i < m->n.rows; i += count > 0 ? count : 1) {
        for (count = 0; i + count < m->n.rows && m->row_joint[i + count] == m->row_joint[i]; count++)
            if (m->row_kind[i + count] != FM_ROW_PERPENDICULAR) break;
        if (count >= 2 && fm_row_counts(s, i) && turns_over(s, i, count)) return m->row_joint[i];
    }
    return -1;
}

/* Closes the loops from the positions y, with no joint turned over. */
int fm_assemble_upright(fm_instance *s, double *y)
{
    return fm_assemble_positions(s, y) && fm_turned_over(s) < 0;
}

/* Makes y positions at a distance from `origin`, in the n-th direction. */
void fm_move_away(fm_instance *s, double *y, const double *origin, int n, double distance)
{
    const double away = n % 2 ? -distance : distance;
    for (int32_t x = 0; x < fm_placed(s); x++) {
        const int moves = !fm_is_of_cut_joint(s, x) && fm_unit_in_loop(s, x) && s->assembly->hold[x] <= FM_FREE;
        s->loop.change[x] = moves ? away * sqrt(s->loop.weight[x]) * fm_sin(1.0 + (double)(n / 2) + 2.4 * x) : 0.0;
    }
    memcpy(y, origin, (size_t)s->image.n.positions * sizeof *y);
    fm_move_positions(s, y, s->loop.change);
    (void)fm_normalise(s, y, NULL);
}

/* Closes the loops from there. */
static int close_away(fm_instance *s, double *y, const double *origin, int n, double distance)
{
    fm_move_away(s, y, origin, n, distance);
    return fm_assemble_upright(s, y);
}

/* Closes the loops from near the minimum of the gap at y, then from near assembly.given. 0: y is not changed. */
int fm_assemble_again(fm_instance *s, double *y)
{
    double *nearest = s->assembly->from;
    const size_t size = (size_t)s->image.n.positions * sizeof *y, cuts = (size_t)s->image.n.cut_positions * sizeof *y;
    int closed = 0;
    memcpy(nearest, y, size);
    fm_assembly_place(s, y);
    (void)fm_follow_cut_joints(s);
    const int small = fm_assembly_gap(s) <= FM_SMALL_GAP && fm_turned_over(s) < 0;
    s->assembly->brief = 1;
    for (int n = 0; small && !closed && n < FM_FROM_MINIMUM; n++)
        closed = close_away(s, y, nearest, n, FM_BESIDE_MINIMUM * (double)(1 << n / 2));
    for (int n = 0; !closed && n < FM_FROM_GUESSES; n++) {
        if (cuts > 0) memcpy(s->cut_p, s->image.cut_start, cuts);
        closed = close_away(s, y, s->assembly->given, n, FM_RESTART_DISTANCE * (double)(1 + n / 2));
    }
    s->assembly->brief = 0;
    if (closed) return 1;
    memcpy(y, nearest, size);
    fm_assembly_place(s, y);
    return 0;
}
