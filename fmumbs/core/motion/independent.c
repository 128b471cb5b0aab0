/* independent.c: closes the loops at the independent states that a host sets.
 *
 * Positions p_d and velocities u_d that follow (dependent_p, dependent_u of the image) solve
 *     c(p) = 0,   J u + c_t = 0
 * with the independent ones held. Newton's method goes from the last closed state to these in parts, each so short that
 * its first step moves no coordinate far and each further one leaves at most FM_SHRINKS: so it stays on the branch on
 * which it was, and what is found does not depend on the way to round-off. Rows are scaled to length one, coordinates
 * to 1 rad or the model's length; a pivot below FM_INDEPENDENT is that of a singular position of the independent
 * states.
 *
 * Unknowns of positions are changes along velocity variables, of an orientation all three of its ball. Components of a
 * quaternion that are independent beside others that follow are pinned by rows of their own.
 */
#include "independent.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../maths/lu.h"
#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "../loops/constraints.h"
#include "../loops/jacobian.h"
#include "../loops/velocity_rows.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

#define FM_FAR 0.3 /* [rad], or of the model's length: the longest first step of a part */
#define FM_SHRINKS 0.25 /* most of a step that the next one may have */
#define FM_LAST_STEP 1e-8 /* after such a step its square is left */
#define FM_MOST_CLOSING 12 /* steps */
#define FM_LEAST_PART 1e-4 /* of the way */

/* Marks the elements of y that follow. */
static void mark(const fm_image *m, int32_t *follows)
{
    for (int32_t i = 0; i < m->n.dependent_p; i++) follows[m->dependent_p[i]] = FM_FOLLOWS;
    for (int32_t i = 0; i < m->n.dependent_u; i++) follows[m->n.positions + m->dependent_u[i]] = FM_FOLLOWS;
}

/* Whether one of `count` positions from the first one on follows. */
static int any_follows(const fm_image *m, int32_t first, int32_t count)
{
    int any = 0;
    for (int32_t i = 0; i < m->n.dependent_p; i++)
        any = any || (m->dependent_p[i] >= first && m->dependent_p[i] < first + count);
    return any;
}

/* The most unknowns that are solved for at once. */
size_t fm_count_following(const fm_image *m)
{
    size_t positions = (size_t)m->n.dependent_p;
    for (int32_t i = 0; i < m->n.links; i++)
        if (m->link_kind[i] == FM_LINK_SPHERICAL && any_follows(m, m->link_p[i], 4)) positions += 3;
    return positions > (size_t)m->n.dependent_u ? positions : (size_t)m->n.dependent_u;
}

int fm_has_independent(const fm_instance *s)
{
    return s->image.n.dependent_p + s->image.n.dependent_u > 0;
}

/* Whether an element of y follows from independent states. */
int fm_is_dependent(const fm_instance *s, int32_t i)
{
    return fm_has_independent(s) && s->following->follows[i] == FM_FOLLOWS;
}

static void add_unknown(fm_following *f, int32_t column, int32_t place, int turn)
{
    f->column[f->unknowns] = column, f->place[f->unknowns] = place, f->turn[f->unknowns++] = turn;
}

static void add_pin(fm_following *f, const fm_link *ball, int32_t at)
{
    f->pin[f->pins++] = (fm_pin){ball->u, ball->p, at};
    f->follows[at] = FM_IS_PINNED;
}

/* Lists the unknowns, and the elements of y that follow in `follows`. */
void fm_find_following(fm_instance *s)
{
    fm_following *f = s->following;
    const fm_image *m = &s->image;
    f->unknowns = f->pins = 0;
    if (!fm_has_independent(s)) return;
    memset(f->follows, 0, (size_t)s->model.ny * sizeof *f->follows);
    mark(m, f->follows);
    for (int32_t i = 0; i < m->n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind != FM_LINK_SPHERICAL) {
            for (int32_t j = 0; j < fm_link_positions(m, i); j++)
                if (f->follows[k->p + j] == FM_FOLLOWS) add_unknown(f, k->u + j, k->p + j, 0);
            continue;
        }
        if (!any_follows(m, k->p, 4)) continue;
        for (int32_t j = 0; j < 3; j++) add_unknown(f, k->u + j, k->p, j + 1);
        for (int32_t j = 0; j < 4; j++)
            if (f->follows[k->p + j] == FM_IS_FREE) add_pin(f, k, k->p + j);
    }
}

/* The present state is closed. */
void fm_note_closed(fm_instance *s)
{
    s->clock[FM_LOOPS_OPEN] = 0.0;
    if (fm_has_independent(s)) memcpy(s->closed, s->y, (size_t)s->model.ny * sizeof *s->y);
}

/* Row n of the system: the coefficients of `columns`, from those of all velocity variables in f->row, and the
 * right-hand side, over the length of the row. */
static void put_row(fm_instance *s, int32_t n, const int32_t *columns, int32_t count, double value)
{
    fm_following *f = s->following;
    const double *unit = s->scale + s->image.n.positions;
    double square = 0.0;
    for (int32_t u = 0; u < s->image.n.speeds; u++) square += (f->row[u] * unit[u]) * (f->row[u] * unit[u]);
    const double over = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
    for (int32_t j = 0; j < count; j++) f->A[n * count + j] = f->row[columns[j]] * unit[columns[j]] * over;
    f->x[n] = -value * over;
    f->one[n] = 1.0;
    f->over[n] = over;
}

/* Rows that hold the independent components of quaternions. */
static void put_pins(fm_instance *s)
{
    static const int32_t part[4][3] = {{1, 2, 3}, {0, 3, 2}, {3, 0, 1}, {2, 1, 0}};
    static const double sign[4][3] = {{-1.0, -1.0, -1.0}, {1.0, -1.0, 1.0}, {1.0, 1.0, -1.0}, {-1.0, 1.0, 1.0}};
    fm_following *f = s->following;
    for (int32_t i = 0; i < f->pins; i++) {
        const fm_pin *pin = f->pin + i;
        const int32_t k = pin->at - pin->p;
        memset(f->row, 0, (size_t)s->image.n.speeds * sizeof *f->row);
        for (int j = 0; j < 3; j++) f->row[pin->u + j] = 0.5 * sign[k][j] * s->y[pin->p + part[k][j]];
        put_row(s, i, f->column, f->unknowns, s->y[pin->at] - f->aim[pin->at]);
    }
}

/* The velocity variables of the unknowns of positions (level 0) or velocities (1); returns how many. */
static int32_t unknowns_of(const fm_instance *s, int level, const int32_t **columns)
{
    *columns = level == 0 ? s->following->column : s->image.dependent_u;
    return level == 0 ? s->following->unknowns : s->image.n.dependent_u;
}

/* The system at y for positions (level 0) or velocities (1), factored. 0: it is singular. */
static int make_system(fm_instance *s, int level)
{
    fm_following *f = s->following;
    const fm_image *m = &s->image;
    const int32_t *columns, count = unknowns_of(s, level, &columns);
    int32_t n = level == 0 ? f->pins : 0;
    fm_ends ends = {.joint = -1};
    fm_run_orientations(s, s->y);
    fm_make_world(s, s->y);
    s->work.time = s->clock[FM_TIME];
    s->work.evaluated = s->y;
    for (int32_t i = 0; i < m->n.rows; i++) {
        fm_constraint one;
        if (!(s->row_active[i] > 0.0) || (level == 0 && fm_is_rate_row(m, i))) continue;
        if (n == count) return 0;
        fm_constraint_at(s, i, 0, &ends, &one);
        memset(f->row, 0, (size_t)m->n.speeds * sizeof *f->row);
        fm_whole_row(s, i, &one, f->row);
        if (m->row_kind[i] != FM_ROW_COUPLED) fm_from_links(s, f->row);
        put_row(s, n++, columns, count, one.c[level]);
    }
    if (n < count) return 0;
    if (level == 0) put_pins(s);
    fm_lu_factor(f->A, count, f->one, f->exchanged);
    for (int32_t j = 0; j < count; j++)
        if (!(fabs(f->A[j * (count + 1)]) <= 1.0 / FM_INDEPENDENT)) return 0;
    fm_lu_solve(f->A, count, f->exchanged, f->x);
    return 1;
}

/* The largest of the unknowns; not finite if one is not. */
static double largest(const fm_following *f, int32_t count)
{
    double most = 0.0;
    for (int32_t j = 0; j < count; j++) most = fabs(f->x[j]) <= most ? most : fabs(f->x[j]);
    return most;
}

static void move(fm_instance *s)
{
    const fm_following *f = s->following;
    const double *unit = s->scale + s->image.n.positions;
    for (int32_t j = 0; j < f->unknowns; j++) {
        if (f->turn[j] == 0) s->y[f->place[j]] += f->x[j] * unit[f->column[j]];
        if (f->turn[j] != 1) continue;
        double *q = s->y + f->place[j], by[3];
        for (int i = 0; i < 3; i++) by[i] = f->x[j + i] * unit[f->column[j + i]];
        fm_rotate_quaternion(by, q);
        const double over = 1.0 / sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
        for (int i = 0; i < 4; i++) q[i] *= over;
    }
}

/* Newton's method for positions. 0: it does not converge at once, or the system is singular. */
static int solve_positions(fm_instance *s)
{
    double before = FM_FAR / FM_SHRINKS;
    for (int n = 0; n < FM_MOST_CLOSING; n++) {
        if (!make_system(s, 0)) return 0;
        const double size = largest(s->following, s->following->unknowns);
        if (!(size <= FM_SHRINKS * before)) return 0;
        move(s);
        if (size <= FM_LAST_STEP) return 1;
        before = size;
    }
    return 0;
}

/* Goes from the closed positions to those at which the independent ones are as in `goal`. */
static int close_positions(fm_instance *s)
{
    fm_following *f = s->following;
    const size_t bytes = (size_t)s->image.n.positions * sizeof(double);
    double done = 0.0, part = 1.0;
    memcpy(s->y, s->closed, bytes);
    while (done < 1.0) {
        const double end = part < 1.0 - done ? done + part : 1.0;
        memcpy(f->last, s->y, bytes);
        for (int32_t i = 0; i < s->image.n.positions; i++)
            f->aim[i] = end < 1.0 ? s->closed[i] + end * (f->goal[i] - s->closed[i]) : f->goal[i];
        for (int32_t i = 0; i < s->image.n.positions; i++)
            if (f->follows[i] == FM_IS_FREE) s->y[i] = f->aim[i];
        if (solve_positions(s)) {
            done = end, part *= 2.0;
            continue;
        }
        memcpy(s->y, f->last, bytes);
        part = 0.5 * (end - done);
        if (part < FM_LEAST_PART) return 0;
    }
    for (int32_t i = 0; i < f->pins; i++) s->y[f->pin[i].at] = f->goal[f->pin[i].at];
    return 1;
}

static int close_velocities(fm_instance *s)
{
    const int32_t count = s->image.n.dependent_u;
    double *u = s->y + s->image.n.positions;
    if (!make_system(s, 1) || !isfinite(largest(s->following, count))) return 0;
    for (int32_t j = 0; j < count; j++) {
        const int32_t at = s->image.dependent_u[j];
        u[at] += s->following->x[j] * s->scale[s->image.n.positions + at];
    }
    return 1;
}

/* The joint of the independent position that moves furthest from the closed state. */
static const char *name_moving(const fm_instance *s)
{
    const fm_following *f = s->following;
    int32_t of = 0;
    double most = -1.0;
    for (int32_t i = 0; i < s->image.n.links; i++)
        for (int32_t j = 0; s->link[i].u >= 0 && s->in_loop[i] && j < fm_link_positions(&s->image, i); j++) {
            const int32_t at = s->link[i].p + j;
            const double far = fabs(f->goal[at] - s->closed[at]) / s->scale[at];
            if (f->follows[at] != FM_FOLLOWS && far > most) most = far, of = i;
        }
    return s->image.text + s->image.joint_name[s->image.link_joint[of]];
}

/* Closes the loops at the independent states in y. FM_DISCARD: they cannot be closed there; y is as it was. */
fm_status fm_close_independent(fm_instance *s)
{
    fm_following *f = s->following;
    const size_t bytes = (size_t)s->model.ny * sizeof(double);
    memcpy(f->goal, s->y, bytes);
    const int fits = close_positions(s) && close_velocities(s);
    s->valid = FM_VALID_NOTHING;
    if (fits) {
        fm_note_closed(s);
        return FM_OK;
    }
    memcpy(s->y, f->goal, bytes);
    return fm_say(s, FM_DISCARD,
                  "at t = %.9g s the loops cannot be closed at the independent states, of which that of joint '%s' "
                  "moved furthest: they do not reach there, or become singular. Take a shorter step, or export the FMU "
                  "with the states of the tree (--states tree)",
                  s->clock[FM_TIME], name_moving(s));
}

/* Derivatives --------------------------------------------------------------------------------------------------------
 */

/* Row n of the last system, as a row of the model. */
static int32_t row_of_system(const fm_instance *s, int level, int32_t n)
{
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        if (!(s->row_active[i] > 0.0) || (level == 0 && fm_is_rate_row(&s->image, i))) continue;
        if (n-- == 0) return i;
    }
    return 0;
}

/* The changes of the velocity variables that follow, change (speeds), or of positions along these, which take back the
 * changes value (rows) of the rows' positions or velocities. 0: the system is singular, or has pins. */
int fm_following_change(fm_instance *s, int level, const double *value, double *change)
{
    fm_following *f = s->following;
    const int32_t *columns, count = unknowns_of(s, level, &columns);
    memset(change, 0, (size_t)s->image.n.speeds * sizeof *change);
    if (f->pins > 0 || !make_system(s, level)) return 0;
    for (int32_t n = 0; n < count; n++) f->x[n] = -f->over[n] * value[row_of_system(s, level, n)];
    fm_lu_solve(f->A, count, f->exchanged, f->x);
    for (int32_t j = 0; j < count; j++) change[columns[j]] = f->x[j] * s->scale[s->image.n.positions + columns[j]];
    return 1;
}

/* The transposed: what forces on velocity variables, force (speeds), make of the rows, value (rows). */
int fm_following_back(fm_instance *s, int level, const double *force, double *value)
{
    fm_following *f = s->following;
    const int32_t *columns, count = unknowns_of(s, level, &columns);
    memset(value, 0, (size_t)s->image.n.rows * sizeof *value);
    if (f->pins > 0 || !make_system(s, level)) return 0;
    for (int32_t j = 0; j < count; j++) f->x[j] = force[columns[j]] * s->scale[s->image.n.positions + columns[j]];
    fm_lu_solve_transposed(f->A, count, f->exchanged, f->x);
    for (int32_t n = 0; n < count; n++) value[row_of_system(s, level, n)] = -f->over[n] * f->x[n];
    return 1;
}
