/* held_values.c: assembly of the start: which of the given positions and velocities are held, and the values of all
 * others.
 *
 * A coordinate that depends on a loop or coupling is a guess unless it is held. As many as are independent of the loops
 * and of each other are held, in this order: values set to something other than the model's; the shapes of flexible
 * bodies, which deform only if nothing else can yield; values given by the model; each in the model's order of joints.
 * Sets of independent coordinates are a matroid, so the greedy choice in this order is optimal; it proceeds by
 * bisection, since usually all of a half can be held. The values of one joint have equal rank: if only some can be
 * held, those with the largest leverage on the remaining degrees of freedom are, so that values that are consistent to
 * some digits change by little more than their rounding.
 *
 * Positions: first the loops are closed with the model's own values. Then the values that were set are approached in
 * small steps with the loops closed, so that the mechanism stays on its branch; if not all of them can be held, the
 * loops are closed from the guesses themselves. Values that cannot be reached become guesses. Velocities are a linear
 * problem.
 */
#include "held_values.h"

#include "../maths/rotations.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../tree/positions.h"
#include "../tree/rate.h"
#include "../loops/constraints.h"
#include "../loops/loop_rank.h"
#include "../loops/delassus.h"
#include "../motion/evaluation.h"
#include "assembly.h"
#include "drives.h"
#include "nearest.h"
#include "restarts.h"
#include "scratch.h"
#include "units.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Most failing attempts to hold values; the remaining ones become guesses, and a StartWarning names those that change.
 * Bisection finds each of n values that cannot be held in 1 + log2(n) attempts; drawn mechanisms failed at most 17
 * times. */
#define FM_ATTEMPTS 48
#define FM_PATIENT 12 /* most failing attempts that may proceed step by step */
/* factor by which the leverage of a later coordinate of a joint has to exceed an earlier one's */
#define FM_CLEARLY 1.1
#define FM_STIFFER 1e4 /* by how much the softest mode of a flexible body counts as stiffer than a joint */
#define FM_LONGEST_MOVE 0.2 /* [rad], or relative to the length: longest step of a coordinate towards its value */
#define FM_JUMP 0.5 /* the same: another coordinate that moves further in one step has left the branch */
#define FM_HALVED 1e-3 /* fraction of the longest step below which it is given up */
#define FM_STEPS_THERE 400 /* most steps */
#define FM_FITTING 1e-6 /* relative to the largest acceleration: allowed mismatch of the paths of dependent drives */

/* Coordinates --------------------------------------------------------------------------------------------------- */

/* The squared frequency of a mode of a flexible body by itself. */
static double squared_frequency(const fm_image *m, int32_t body, int32_t mode)
{
    const int32_t pair = m->modal_pair[body] + mode * (m->modal_shapes[body] + m->modal_seconds[body] + 1);
    return fabs(m->pair_stiffness[pair]) / (fabs(m->pair_mass[pair]) + DBL_MIN);
}

/* The smallest squared frequency of the modes of flexible bodies. */
static double softest(const fm_image *m)
{
    double least = INFINITY;
    for (int32_t i = 0; i < m->n.links; i++)
        for (int32_t j = 0, n = m->link_kind[i] == FM_LINK_MODAL ? fm_link_speeds(m, i) : 0; j < n; j++) {
            const double square = squared_frequency(m, m->link_modal[i], j);
            if (square > 0.0) least = fmin(least, square);
        }
    return least;
}

/* Called once: lists the variables in the model's order of joints, with their links and the weights of the norm. */
void fm_assembly_structure(fm_instance *s)
{
    const fm_image *m = &s->image;
    int32_t *joint = s->assembly->hold, *next = s->assembly->list; /* of each variable: joint; of each joint: start */
    const double soft = softest(m);
    for (int32_t i = 0; i < m->n.links; i++)
        for (int32_t j = 0, speeds = fm_link_speeds(m, i); j < speeds; j++) {
            const int32_t u = m->link_u[i] + j;
            const double length = m->mode_linear[u] ? m->length[0] : 1.0;
            s->assembly->link[u] = i, joint[u] = m->link_joint[i];
            s->loop.weight[u] = length * length;
            if (m->link_kind[i] != FM_LINK_MODAL) continue;
            s->loop.weight[u] /= 1.0 + FM_STIFFER * squared_frequency(m, m->link_modal[i], j) / soft;
        }
    for (int32_t i = 0; i < m->n.generals; i++)
        for (int32_t j = 0; j < m->general_rows[i]; j++) {
            const int32_t x = fm_screw_variable(m, s->general[i].link, j);
            s->assembly->link[x] = m->general_link[i];
            s->loop.weight[x] = s->general[i].unit[j] * s->general[i].unit[j];
        }
    for (int32_t i = 0; i < m->n.joints; i++)
        for (int32_t j = 0; fm_is_cut_joint(m, i) && j < m->joint_nu[i]; j++)
            s->assembly->link[m->joint_u[i] + j] = joint[m->joint_u[i] + j] = i;
    for (int32_t i = 0; i < m->n.joints; i++) next[i] = 0;
    for (int32_t u = 0; u < m->n.modes; u++) next[m->joint_order[joint[u]]]++;
    for (int32_t i = 0, sum = 0; i < m->n.joints; i++) {
        const int32_t count = next[i];
        next[i] = sum, sum += count;
    }
    for (int32_t u = 0; u < m->n.modes; u++) s->assembly->order[next[m->joint_order[joint[u]]]++] = u;
    memset(joint, 0, (size_t)m->n.modes * sizeof *joint);
}

/* Priority of a unit: 0, it was set; 1, it belongs to a flexible body; 2, given by the model; 3, only a guess. */
static int priority_of(const fm_instance *s, int level, int32_t u)
{
    if (fm_is_set(s, level, u)) return 0;
    if (!fm_is_of_cut_joint(s, u) && s->link[s->assembly->link[u]].kind == FM_LINK_MODAL) return 1;
    return fm_is_given(s, level, u) ? 2 : 3;
}

/* Lists the units that should be held, by priority, in assembly.list. */
static int32_t list_units(fm_instance *s, int level)
{
    int32_t count = 0;
    for (int priority = 0; priority < 3; priority++)
        for (int32_t i = 0; i < s->image.n.modes; i++) {
            const int32_t u = s->assembly->order[i];
            if (fm_unit_modes(s, level, u) == 0 || !fm_unit_in_loop(s, u) || s->assembly->hold[u] != FM_FREE) continue;
            if (priority_of(s, level, u) == priority) s->assembly->list[count++] = u;
        }
    return count;
}

/* Independent coordinates
 * ---------------------------------------------------------------------------------------------- */

static int32_t rank_with_held(fm_instance *s)
{
    int32_t own = 0;
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (s->image.row_kind[i] == FM_ROW_GIVEN)
            own += s->assembly->hold[s->image.joint_u[s->image.row_joint[i]] + s->image.row_part[i]] == FM_CHOSEN;
    return fm_assembly_rank(s, FM_INDEPENDENT) - own;
}

/* The smallest leverage among a unit's variables, each given those before it. Requires K's factor, and restores it. */
static double leverage_of(fm_instance *s, int level, int32_t u)
{
    const int32_t size = fm_unit_size(s, level, u);
    double least = fm_leverage(s, fm_unit_variable(s, level, u, 0));
    for (int32_t j = 1; j < size && least > 0.0; j++) {
        s->assembly->hold[fm_unit_variable(s, level, u, j - 1)] = FM_CHOSEN;
        (void)fm_assembly_rank(s, FM_INDEPENDENT);
        least = fm_factor_delassus(s) ? fmin(least, fm_leverage(s, fm_unit_variable(s, level, u, j))) : 0.0;
    }
    if (size == 1) return least;
    fm_hold_unit(s, level, u, FM_FREE);
    (void)fm_assembly_rank(s, FM_INDEPENDENT);
    return fm_factor_delassus(s) ? least : 0.0;
}

/* choose_units for the units of one joint. */
static int32_t choose_of_joint(fm_instance *s, int level, int32_t *unit, int32_t count, int32_t rank, int32_t dof)
{
    for (; count > 0 && dof > 0; unit++, count--) {
        int32_t best = -1;
        double largest = 0.0;
        (void)fm_assembly_rank(s, FM_INDEPENDENT);
        if (!fm_factor_delassus(s)) return dof;
        for (int32_t i = 0; i < count; i++) {
            if (fm_unit_size(s, level, unit[i]) > dof) continue;
            const double leverage = leverage_of(s, level, unit[i]);
            if (leverage > FM_CLEARLY * largest) best = i, largest = leverage;
        }
        if (best < 0) return dof;
        const int32_t u = unit[best];
        for (; best > 0; best--) unit[best] = unit[best - 1]; /* the others keep their order */
        unit[0] = u;
        fm_hold_unit(s, level, u, FM_CHOSEN);
        if (rank_with_held(s) == rank) dof -= fm_unit_size(s, level, u);
        else fm_hold_unit(s, level, u, FM_FREE);
    }
    return dof;
}

/* Whether two units have equal rank, as those of one joint; the shapes of a flexible body keep their order. */
static int are_together(const fm_instance *s, int level, int32_t a, int32_t b)
{
    const int32_t priority = priority_of(s, level, a), cut = fm_is_of_cut_joint(s, a);
    if (a == b) return 1;
    if (priority == 1 || priority != priority_of(s, level, b) || cut != fm_is_of_cut_joint(s, b)) return 0;
    if (cut) return s->assembly->link[a] == s->assembly->link[b];
    return s->image.link_joint[s->assembly->link[a]] == s->image.link_joint[s->assembly->link[b]];
}

/* Holds those of `count` units that are independent of the loops and of the held ones; returns the remaining degrees of
 * freedom. */
static int32_t choose_units(fm_instance *s, int level, int32_t *unit, int32_t count, int32_t rank, int32_t dof)
{
    int32_t wanted = 0, half = count / 2;
    if (count == 0 || dof <= 0) return dof;
    for (int32_t i = 0; i < count; i++) wanted += fm_unit_size(s, level, unit[i]);
    if (wanted <= dof) {
        for (int32_t i = 0; i < count; i++) fm_hold_unit(s, level, unit[i], FM_CHOSEN);
        if (rank_with_held(s) == rank) return dof - wanted;
        for (int32_t i = 0; i < count; i++) fm_hold_unit(s, level, unit[i], FM_FREE);
    }
    if (count == 1) return dof;
    if (are_together(s, level, unit[0], unit[count - 1])) return choose_of_joint(s, level, unit, count, rank, dof);
    while (half > 0 && are_together(s, level, unit[half - 1], unit[half])) half--;
    for (half = half > 0 ? half : 1; are_together(s, level, unit[half - 1], unit[half]);) half++;
    dof = choose_units(s, level, unit, half, rank, dof);
    return choose_units(s, level, unit + half, count - half, rank, dof);
}

/* choose_units for all units in the list. Requires world kinematics. */
static void choose_independent(fm_instance *s, int level, int32_t count)
{
    fm_assembly_rows(s);
    const int32_t rank = rank_with_held(s);
    int32_t dof = -rank;
    for (int32_t x = 0; x < fm_placed(s); x++)
        dof += !fm_is_of_cut_joint(s, x) && fm_is_variable(s, level, x) && fm_unit_in_loop(s, x) &&
               s->assembly->hold[x] <= FM_FREE;
    (void)choose_units(s, level, s->assembly->list, count, rank, dof);
}

/* Positions -------------------------------------------------------------------------------------------------------- */

/* Closes the loops from the values in assembly.given with all held coordinates; `again`: with restarts if that
 * fails. 0: y is not changed. */
static int close_from_guess(fm_instance *s, double *y, int again)
{
    double *other = s->assembly->trial;
    const size_t cuts = (size_t)s->image.n.cut_positions * sizeof(double);
    memcpy(other, s->assembly->given, (size_t)s->model.ny * sizeof *other);
    if (cuts > 0) memcpy(s->assembly->cut_p, s->cut_p, cuts);
    if (cuts > 0) memcpy(s->cut_p, s->image.cut_start, cuts);
    if (fm_assemble_upright(s, other) || (again && fm_assemble_again(s, other))) {
        memcpy(y, other, (size_t)s->model.ny * sizeof *y);
        return 1;
    }
    if (cuts > 0) memcpy(s->cut_p, s->assembly->cut_p, cuts);
    return 0;
}

/* Moves the held coordinates in y a fraction of the way from assembly.from to assembly.given. */
static void move_held(const fm_instance *s, double part, double *y)
{
    for (int32_t u = 0; u < s->image.n.speeds; u++) {
        const fm_link *k = s->link + s->assembly->link[u];
        int32_t first;
        const int32_t count = fm_unit_positions(s, u, &first);
        const double *from = s->assembly->from + first, *to = s->assembly->given + first;
        double priority[4], v[3];
        if (s->assembly->hold[u] <= FM_FREE) continue;
        if (part >= 1.0) memcpy(y + first, to, (size_t)count * sizeof *y);
        else if (k->kind == FM_LINK_SPHERICAL) {
            const double back[4] = {from[0], -from[1], -from[2], -from[3]};
            fm_multiply_quaternions(back, to, priority);
            fm_rotation_vector(priority, v);
            for (int j = 0; j < 3; j++) v[j] *= part;
            memcpy(y + first, from, 4 * sizeof *y);
            fm_rotate_quaternion(v, y + first);
        } else {
            for (int32_t j = 0; j < count; j++) y[first + j] = from[j] + part * (to[j] - from[j]);
        }
    }
}

/* The largest difference between positions in loops, relative to their units. */
static double farthest(const fm_instance *s, const double *a, const double *b, int held)
{
    double most = 0.0;
    for (int32_t u = 0; u < s->image.n.speeds; u++) {
        int32_t first;
        const int32_t count = fm_unit_positions(s, u, &first);
        if (!fm_unit_in_loop(s, u) || (s->assembly->hold[u] > FM_FREE) != held) continue;
        for (int32_t j = first; j < first + count; j++) most = fmax(most, fabs(a[j] - b[j]) / s->scale[j]);
    }
    return most;
}

/* Moves the held coordinates from y, where the loops are closed, to assembly.given on the same branch. 0: fails, y is
 * not changed. */
static int follow(fm_instance *s, double *y)
{
    double *other = s->assembly->trial, *before = s->assembly->from + s->model.ny;
    const size_t size = (size_t)s->model.ny * sizeof *y, cuts = (size_t)s->image.n.cut_positions * sizeof(double);
    memcpy(s->assembly->from, y, size);
    memcpy(before, y, size);
    if (cuts > 0) memcpy(s->assembly->cut_p, s->cut_p, cuts);
    const double way = farthest(s, y, s->assembly->given, 1),
                 shortest = fmax(FM_LONGEST_MOVE / fmax(way, FM_LONGEST_MOVE), 1.0 / FM_STEPS_THERE);
    double done = 0.0, part = shortest;
    for (int n = 0; done < 1.0 && n < 3 * FM_STEPS_THERE; n++) {
        const double next = done + part > 1.0 - 1e-9 ? 1.0 : done + part;
        memcpy(other, before, size);
        move_held(s, next, other);
        if (fm_assemble_positions(s, other) && farthest(s, other, before, 0) <= FM_JUMP) {
            memcpy(before, other, size);
            done = next;
            part = fmin(2.0 * part, shortest);
            continue;
        }
        part *= 0.5;
        if (part < FM_HALVED * shortest) break;
    }
    if (done < 1.0) {
        if (cuts > 0) memcpy(s->cut_p, s->assembly->cut_p, cuts);
        return 0;
    }
    memcpy(y, before, size);
    return 1;
}

/* Holds those of `count` units that can reach their values with the loops closed. Returns the number that cannot. */
static int32_t reach_units(fm_instance *s, double *y, const int32_t *unit, int32_t count, int closed)
{
    if (count == 0) return 0;
    for (int32_t i = 0; i < count; i++) fm_hold_unit(s, FM_POSITIONS, unit[i], FM_CHOSEN);
    s->assembly->brief = 1;
    const int tried = s->assembly->failed < FM_ATTEMPTS, ways = s->assembly->failed < FM_PATIENT;
    int held = tried && (close_from_guess(s, y, 0) || (count == 1 && closed && ways && follow(s, y)));
    s->assembly->brief = 0;
    held = held || (ways && (count == 1 || s->assembly->failed == 0) && fm_search_nearest(s, y, 0));
    if (held) return 0;
    s->assembly->failed++;
    for (int32_t i = 0; i < count; i++) fm_hold_unit(s, FM_POSITIONS, unit[i], count == 1 ? FM_DROPPED : FM_FREE);
    if (count == 1) return 1;
    const int32_t failed = reach_units(s, y, unit, count / 2, closed);
    return failed + reach_units(s, y, unit + count / 2, count - count / 2, closed);
}

/* Moves the taken units to the front of the list and frees them. Returns their number. */
static int32_t release(fm_instance *s, int32_t count)
{
    int32_t chosen = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t u = s->assembly->list[i];
        if (s->assembly->hold[u] != FM_CHOSEN) continue;
        fm_hold_unit(s, FM_POSITIONS, u, FM_FREE);
        s->assembly->list[chosen++] = u;
    }
    return chosen;
}

static int any_cut_given(const fm_instance *s, int level)
{
    for (int32_t u = s->image.n.speeds; u < s->image.n.modes; u++)
        if (fm_is_given(s, level, u)) return 1;
    return 0;
}

/* Closes the loops from assembly.given, holding as much as possible. `closed`: y is a closed state of the same
 * mechanism. */
static int hold_positions(fm_instance *s, double *y, int closed)
{
    fm_hold_fixed(s, 1, 1);
    if (close_from_guess(s, y, !closed)) closed = 1;
    else if (closed ? !follow(s, y) : !fm_search_nearest(s, y, 0)) {
        if (!closed) fm_assembly_place(s, s->assembly->from); /* the smallest gap, for the message */
        return 0;
    }
    (void)fm_search_nearest(s, y, 1);
    if (!any_cut_given(s, FM_POSITIONS) && farthest(s, y, s->assembly->given, 0) == 0.0) return 1;
    for (int failed = 1;
         failed;) { /* a value that cannot be reached allows others to be held; each pass drops one for good */
        const int32_t count = list_units(s, FM_POSITIONS);
        if (count == 0) break;
        fm_assembly_place(s, y);
        choose_independent(s, FM_POSITIONS, count);
        failed = reach_units(s, y, s->assembly->list, release(s, count), closed) > 0;
    }
    return fm_search_nearest(s, y, 1);
}

static int any_set(const fm_instance *s)
{
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        if (fm_unit_in_loop(s, u) && fm_is_set(s, FM_POSITIONS, u)) return 1;
    return 0;
}

/* Moves the values that were set to their targets, if all of them can be held: y then stays on its branch. */
static int follow_set(fm_instance *s, double *y)
{
    fm_hold_fixed(s, 1, 1);
    const int32_t count = list_units(s, FM_POSITIONS);
    fm_assembly_place(s, y);
    choose_independent(s, FM_POSITIONS, count);
    for (int32_t i = 0; i < count && fm_is_set(s, FM_POSITIONS, s->assembly->list[i]); i++)
        if (s->assembly->hold[s->assembly->list[i]] != FM_CHOSEN) return 0;
    return follow(s, y);
}

/* Puts the model's own values of all coordinates in loops into assembly.given; modes on paths take the path's. */
static void set_base(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    for (int32_t u = 0; u < m->n.speeds; u++) {
        int32_t first;
        const int32_t count = fm_unit_positions(s, u, &first);
        if (fm_unit_in_loop(s, u)) memcpy(s->assembly->given + first, s->base + first, (size_t)count * sizeof *y);
    }
    for (int32_t i = 0; i < m->n.excitations; i++)
        if (m->excitation_kind[i] == FM_EXCITED_BY_PATH) s->assembly->given[m->excitation_p[i]] = y[m->excitation_p[i]];
    (void)fm_normalise(s, s->assembly->given, NULL);
}

static int find_positions(fm_instance *s, double *y)
{
    const size_t size = (size_t)s->model.ny * sizeof *y;
    double *own = s->assembly->from + 2 * s->model.ny;
    s->assembly->failed = s->assembly->brief = 0;
    memcpy(s->assembly->given, y, size);
    if (!any_set(s) || s->assembly->closed) return hold_positions(s, y, 0);
    set_base(s, y);
    s->assembly->base = 1; /* ignore what was set */
    const int closed = hold_positions(s, own, 0);
    s->assembly->base = 0;
    memcpy(s->assembly->given, y, size);
    if (!closed) return hold_positions(s, y, 0);
    memcpy(y, own, (size_t)s->image.n.positions * sizeof *y);
    return follow_set(s, y) || hold_positions(s, y, 1);
}

/* Assembles the positions. 0: the loops stay open. */
static int assemble_positions(fm_instance *s, double *y)
{
    (void)fm_use_screws(s, 1);
    const int closed = find_positions(s, y);
    (void)fm_use_screws(s, 0);
    return closed;
}

/* Drives --------------------------------------------------------------------------------------------------------------
 */

/* Whether the accelerations of paths are compatible with the loops at y. Requires active rows. */
static int accelerations_fit(fm_instance *s, const double *y)
{
    double off = 0.0;
    fm_ends ends = {.joint = -1};
    fm_accelerations(s, s->clock[FM_TIME], y, s->loop.change);
    fm_assembly_place(s, y);
    const double rate = fm_rate_of(s, y + s->image.n.positions), most = rate * rate + fm_fastest(s, s->loop.change);
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        fm_constraint one;
        fm_constraint_at(s, i, 1, &ends, &one);
        off = fmax(off, fabs(one.c[2]) / fm_row_unit(s, i, &one));
    }
    return off <= FM_FITTING * most;
}

/* The same if the loops do not close, at a state where they close with the drives free. */
static int name_drives_apart(fm_instance *s, double *y, char *out, size_t capacity)
{
    if (s->image.n.excitations == 0) return 0;
    fm_hold_fixed(s, 0, 1);
    return close_from_guess(s, y, 1) && fm_name_drives(s, y, 0, out, capacity);
}

/* Assembles the velocities. 0: the fixed ones and the loops conflict. */
static int assemble_velocities(fm_instance *s, double *y)
{
    const int32_t positions = s->image.n.positions;
    memcpy(y + positions, s->assembly->given + positions, (size_t)s->image.n.speeds * sizeof *y);
    fm_hold_fixed(s, 1, 1);
    fm_assembly_place(s, y);
    if (any_cut_given(s, FM_VELOCITIES) || !fm_velocities_fit(s, y))
        choose_independent(s, FM_VELOCITIES, list_units(s, FM_VELOCITIES));
    return fm_assemble_velocities(s, y);
}

/* Makes y the state nearest to being closed that is found from `given`, with the drives where they are there. */
void fm_nearest_to(fm_instance *s, const double *given, double *y)
{
    memcpy(y, given, (size_t)s->model.ny * sizeof *y);
    fm_hold_fixed(s, 1, 1);
    (void)fm_assemble_positions(s, y);
    fm_hold_none(s);
}

/* Assembles y without the rows of the programs that fade out their starts. Returns how many of the two levels could be
 * closed. */
int fm_assemble_released(fm_instance *s, double *y)
{
    s->valid = FM_VALID_NOTHING;
    s->assembly->released = FM_RELEASE_FADING;
    const int levels = assemble_positions(s, y) ? 1 + assemble_velocities(s, y) : 0;
    fm_hold_none(s);
    s->assembly->released = FM_RELEASE_NONE;
    return levels;
}

/* Assembles y. Returns how many of the two levels, positions and velocities, could be closed; decides which of the
 * given values are held. -1: drives conflict, as `why` explains. */
int fm_assemble_loops(fm_instance *s, double *y, char *why, size_t capacity)
{
    s->valid = FM_VALID_NOTHING;
    int levels = assemble_positions(s, y);
    if (levels == 0 && name_drives_apart(s, y, why, capacity)) levels = -1;
    if (levels == 1) levels += assemble_velocities(s, y);
    if (levels > 0 && fm_name_drives(s, y, levels == 2, why, capacity)) levels = -1;
    fm_hold_none(s);
    if (levels < 2) return levels;
    (void)fm_choose_at(s, y);
    if (fm_factor_delassus(s)) fm_note_pivots(s);
    s->loop.worn = s->loop.near_singular = 0;
    if (fm_name_drives(s, y, 0, why, capacity) && !accelerations_fit(s, y)) return -1;
    return levels;
}

/* Changed start values
 * ------------------------------------------------------------------------------------------------- */
