/* nearest.c: of all configurations with the held values, the one nearest to the guesses.
 *
 * A given position that is not held is a guess. With the distance d of a coordinate from its guess, in radians or in
 * lengths of the model, the configuration with the least sum of d^2 is sought; coordinates whose values are not given
 * do not count. At fixed held values configurations are isolated, so Newton's method from one start finds one of them.
 * Each start has the guesses, and coordinates that are not given anywhere; these are first fitted to the guesses, which
 * do not yield (a least-squares problem, since the guesses alone do not close the loops), then the guesses yield and
 * the loops close. Every other start varies one loop of the best configuration alone, so that a mechanism of many loops
 * does not need all of them right at once. The search ends where the guesses nearly fit, or after many starts that led
 * nowhere else.
 */
#include "nearest.h"

#include "../maths/rotations.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../tree/positions.h"
#include "../loops/cut_joints.h"
#include "assembly.h"
#include "restarts.h"
#include "scratch.h"
#include "units.h"

#include <math.h>
#include <string.h>

#define FM_FITTING_GUESSES 0.01 /* root of the sum of d^2 within which no other configuration is sought */
#define FM_NEARER 0.999         /* factor by which another one must be nearer */
#define FM_IDLE_STARTS 32       /* most starts in a row that lead nowhere nearer */
#define FM_ANYWHERE 3.0         /* [rad], or in lengths: how far what is not given starts from its default */
#define FM_AROUND 0.3           /* and a guess from its value, in some starts */
static const double pi = 3.14159265358979323846;

/* Distance ----------------------------------------------------------------------------------------------------------
 */

/* Whether a unit's position is given, so that it holds or guesses. */
static int is_stated(const fm_instance *s, int32_t u)
{
    return fm_is_given(s, FM_POSITIONS, u) || fm_is_set(s, FM_POSITIONS, u);
}

static int is_guess(const fm_instance *s, int32_t u)
{
    return fm_unit_modes(s, FM_POSITIONS, u) > 0 && fm_unit_in_loop(s, u) && s->assembly->hold[u] <= FM_FREE &&
           is_stated(s, u);
}

/* The square of the rotation from one orientation to another. */
static double turned(const double *from, const double *to)
{
    const double back[4] = {from[0], -from[1], -from[2], -from[3]};
    double turn[4], v[3];
    fm_multiply_quaternions(back, to, turn);
    fm_rotation_vector(turn, v);
    return (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
}

/* The square of a unit's distance from its guess. Requires world kinematics at y. */
static double square_of(const fm_instance *s, const double *y, int32_t u)
{
    const fm_image *m = &s->image;
    const double length = m->mode_linear[u] ? m->length[0] : 1.0;
    int32_t first, count = 1;
    if (fm_is_of_cut_joint(s, u)) {
        const int32_t joint = s->assembly->link[u];
        fm_coordinates at;
        const int ball = fm_cut_joint_part(m, joint, u - m->joint_u[joint], &first) >= 0;
        fm_cut_joint_coordinates(s, joint, 0, &at);
        const double *now = at.p + (first - m->joint_p[joint]), off = (now[0] - m->cut_start[first]) / length;
        return ball ? turned(m->cut_start + first, now) : off * off;
    }
    count = fm_unit_positions(s, u, &first);
    if (s->link[s->assembly->link[u]].kind == FM_LINK_SPHERICAL) return turned(s->assembly->given + first, y + first);
    double sum = 0.0;
    for (int32_t j = first; j < first + count; j++) {
        const double off = (y[j] - s->assembly->given[j]) / (count > 1 ? s->scale[j] : length);
        sum += off * off;
    }
    return sum;
}

/* The distance of y from the guesses; 0 if there are none. */
static double distance(fm_instance *s, const double *y)
{
    double sum = 0.0;
    fm_assembly_place(s, y);
    for (int32_t u = 0; u < s->image.n.modes; u++)
        if (is_guess(s, u)) sum += square_of(s, y, u);
    return sqrt(sum);
}

/* Starts ------------------------------------------------------------------------------------------------------------
 */

/* Whether whole turns of a coordinate are the same configuration: of a pin, unless a coupling counts its turns. */
static int is_periodic(const fm_instance *s, int32_t u)
{
    const int32_t link = s->assembly->link[u];
    if (s->link[link].kind > FM_LINK_REVOLUTE || s->link[link].slide != 0.0) return 0;
    for (int32_t i = 0; i < s->image.n.terms; i++)
        if (s->image.term_link[i] == link) return 0;
    return 1;
}

/* Removes whole turns that the iteration made away from the given values and defaults. */
static void unwind(const fm_instance *s, double *y)
{
    for (int32_t u = 0; u < s->image.n.speeds; u++) {
        if (!fm_unit_in_loop(s, u) || s->assembly->hold[u] > FM_FREE || !is_periodic(s, u)) continue;
        const int32_t p = s->link[s->assembly->link[u]].p;
        y[p] -= 2.0 * pi * floor((y[p] - s->assembly->given[p]) / (2.0 * pi) + 0.5);
    }
}

/* Marks what varies in a start: every coordinate, or only those of one loop. In s->loop.change. */
static void mark(fm_instance *s, int32_t block)
{
    const fm_block *b = s->plan.block + block;
    for (int32_t x = 0; x < fm_placed(s); x++) s->loop.change[x] = block < 0 ? 1.0 : 0.0;
    for (int32_t e = 0; block >= 0 && e < b->length; e++) s->loop.change[s->plan.path[b->path + e]] = 1.0;
}

/* Makes y the n-th start: of all loops around the guesses, or of one of them beside `best`. */
static void start_at(fm_instance *s, const double *best, int32_t n, uint32_t *seed, double *y)
{
    const int alone = n % 2 == 1 && best != NULL;
    memcpy(y, s->assembly->given, (size_t)s->model.ny * sizeof *y);
    mark(s, alone ? n / 2 % s->plan.blocks : -1);
    for (int32_t x = 0; x < fm_placed(s); x++) {
        if (fm_is_of_cut_joint(s, x) || !fm_is_variable(s, FM_POSITIONS, x)) continue;
        const int32_t unit = fm_unit_with(s, x);
        const int moves = s->loop.change[x] > 0.0, stated = is_stated(s, unit), held = s->assembly->hold[x] > FM_FREE;
        int32_t first;
        const int32_t count = fm_unit_positions(s, x < s->image.n.modes ? x : unit, &first);
        if (!moves && !held && fm_unit_in_loop(s, x)) memcpy(y + first, best + first, (size_t)count * sizeof *y);
        *seed = *seed * 1664525u + 1013904223u;
        const double part = (double)(*seed >> 8) / 8388608.0 - 1.0;
        const double size = n == 0 ? 0.0 : stated ? (n % 4 < 2 ? 0.0 : FM_AROUND) : FM_ANYWHERE;
        s->loop.change[x] = moves && !held && fm_unit_in_loop(s, x) ? size * part * sqrt(s->loop.weight[x]) : 0.0;
    }
    fm_move_positions(s, y, s->loop.change);
    (void)fm_normalise(s, y, NULL);
}

/* Holds the guesses, which no other unit then is, or frees them. */
static void hold_guesses(fm_instance *s, int hold)
{
    for (int32_t u = 0; hold && u < s->image.n.modes; u++)
        if (is_guess(s, u)) fm_hold_unit(s, FM_POSITIONS, u, FM_GUESSED);
    for (int32_t x = 0; !hold && x < fm_placed(s); x++)
        if (s->assembly->hold[x] == FM_GUESSED) s->assembly->hold[x] = FM_FREE;
}

/* Closes the loops from a start: what is not given yields first. */
static int close_from(fm_instance *s, double *y)
{
    const size_t cuts = (size_t)s->image.n.cut_positions * sizeof *y;
    if (cuts > 0) memcpy(s->cut_p, s->image.cut_start, cuts);
    hold_guesses(s, 1);
    (void)fm_assemble_positions(s, y);
    hold_guesses(s, 0);
    if (!fm_assemble_upright(s, y)) return 0;
    unwind(s, y);
    if (cuts > 0) memcpy(s->cut_p, s->image.cut_start, cuts);
    return fm_assemble_upright(s, y);
}

/* Moves y, where the loops are closed if `closed`, to the configuration with the held values that is nearest to the
 * guesses. 0: the loops are not closed, and no start closes them; y is not changed. */
int fm_search_nearest(fm_instance *s, double *y, int closed)
{
    const size_t size = (size_t)s->image.n.positions * sizeof *y, cuts = (size_t)s->image.n.cut_positions * sizeof *y;
    double *best = s->assembly->near, *other = s->assembly->near + s->model.ny, least = INFINITY;
    uint32_t seed = 12345u;
    const double first = distance(s, y);
    if (closed && first <= FM_FITTING_GUESSES) return 1;
    if (closed) least = first;
    memcpy(best, y, size);
    if (cuts > 0) memcpy(s->assembly->cut_near, s->cut_p, cuts);
    s->assembly->brief = 1;
    for (int32_t n = 0, idle = 0; idle < FM_IDLE_STARTS && !(least <= FM_FITTING_GUESSES); n++, idle++) {
        start_at(s, least < INFINITY ? best : NULL, n, &seed, other);
        if (!close_from(s, other)) continue;
        const double off = distance(s, other);
        if (!(off < FM_NEARER * least)) continue;
        least = off, idle = 0;
        memcpy(best, other, size);
        if (cuts > 0) memcpy(s->assembly->cut_near, s->cut_p, cuts);
    }
    s->assembly->brief = 0;
    memcpy(y, best, size);
    if (cuts > 0) memcpy(s->cut_p, s->assembly->cut_near, cuts);
    fm_assembly_place(s, y);
    return least < INFINITY;
}
