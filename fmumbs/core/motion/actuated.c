/* actuated.c: the forces of chosen inputs, the actuators, that make the motion which is given.
 *
 *     M udot + h - Q = J' lambda + B tau,   Q without the actuators' forces:
 * with the columns of B as further rows beside those of the loops, [J; B'] = L Q in units of the coordinates
 * (maths/reflections.c), from which lambda and tau follow. What is left of the forces beside Q' no actuator can exert.
 * The rows are those that the assembly chose; one that depends on those before it in this position alone is left out.
 * Modes of flexible bodies count as actuators, whose forces are what the motion takes of them.
 */
#include "actuated.h"

#include "../forces/wrenches.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../image/joints.h"
#include "../image/kinds.h"
#include "../loops/constraints.h"
#include "../loops/jacobian.h"
#include "../loops/reduced.h"
#include "../maths/reflections.h"
#include "../maths/vectors.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

/* of a row of length one: a smaller part beside those before it is none. */
#define FM_ALMOST_NONE 1e-9
/* Of 1 rad or the model's length, and of the fastest velocity and acceleration, by which a motion may miss the loops;
 * of the largest force, what actuators may leave. A motion that is given comes from a run, by default of this
 * tolerance, or from numbers of single precision, 16 times finer. */
#define FM_MISSED 1e-6

/* Where in tau, or after it in the loads, the force of an actuator is stored; -1: the variable is none. */
static int32_t place_of(const fm_image *m, int32_t i)
{
    if (m->variable_kind[i] == FM_R_DRIVE) return -1; /* drives of excited modes exert what they must */
    return fm_required_place(m, m->variable_kind[i], m->variable_object[i], m->variable_component[i]);
}

/* The number of forces that an image asks for. `direct`: those of all coordinates of a tree, which follow alone. */
int32_t fm_actuators(const fm_image *m, int32_t *direct)
{
    int32_t count = 0, own = 0, apart = 0;
    for (int32_t i = 0; i < m->n.variables; i++) {
        const int32_t place = place_of(m, i);
        count += place >= 0;
        apart += place >= m->n.speeds;
        own += (place >= 0 && place < m->n.speeds) || m->variable_kind[i] == FM_R_DRIVE;
    }
    *direct = m->n.rows == 0 && apart == 0 && own == m->n.speeds;
    return count;
}

/* Lists the actuators. */
void fm_find_actuators(fm_instance *s)
{
    int32_t count = 0;
    for (int32_t i = 0; s->model.inverse && i < s->image.n.variables; i++) {
        const int32_t place = place_of(&s->image, i);
        if (place >= 0) s->actuated->place[count++] = place;
    }
    for (int32_t u = 0; s->model.acts && u < s->image.n.speeds; u++) s->actuated->all[u] = u;
}

static double *force_of(const fm_instance *s, int32_t actuator)
{
    const int32_t place = s->actuated->place[actuator], modes = s->image.n.modes;
    return place < modes ? s->tau + place : s->load + (place - modes);
}

/* Sets the forces of all actuators: to those found, or to zero, which they are but within an evaluation. Returns
 * whether some act on links, not on modes of the tree alone. */
int fm_set_actuators(fm_instance *s, int found)
{
    int apart = 0;
    for (int32_t k = 0; k < s->model.actuators; k++) {
        *force_of(s, k) = found ? s->actuated->force[k] : 0.0;
        apart = apart || s->actuated->place[k] >= s->image.n.speeds;
    }
    return apart;
}

/* The generalised forces of an actuator's unit force, in terms of links. */
static void make_column(fm_instance *s, int32_t actuator, double *column)
{
    const fm_image *m = &s->image;
    const int32_t place = s->actuated->place[actuator];
    const size_t size = (size_t)m->n.speeds * sizeof *column;
    fm_constraint one;
    memset(column, 0, size);
    if (place < m->n.speeds) {
        column[place] = 1.0;
        memmove(column, fm_linked_forces(s, column), size);
        return;
    }
    if (place < m->n.modes) {
        fm_cut_mode_row(s, fm_joint_of_mode(m, place), place, column);
        return;
    }
    const int32_t load = (place - m->n.modes) / 6, part = (place - m->n.modes) % 6, point = m->load_P[load];
    const int32_t link = m->point_link[point];
    double unit[6] = {0.0}, *axis = unit + part / 3 * 3, turned[3];
    if (link < 0) return;
    unit[part] = 1.0;
    if (m->load_axes[load] == FM_POINT_AXES) {
        rotate_out(m->point_R + 9 * point, axis, turned);
        rotate_out(s->world[link].R, turned, axis);
    }
    memset(&one, 0, sizeof one);
    memcpy(one.force, unit, sizeof one.force), memcpy(one.torque, unit + 3, sizeof one.torque);
    rotate_out(s->world[link].R, m->point_r + 3 * point, one.r);
    for (int j = 0; j < 3; j++) one.r[j] += s->world[link].r[j];
    (void)fm_wrench_along(s, -1, link, &one, column, NULL);
}

/* The rows of the loops. */
static void add_loops(fm_instance *s)
{
    fm_actuated *a = s->actuated;
    fm_ends ends = {.joint = -1};
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        const fm_block *k = s->plan.block + b;
        for (int32_t n = 0; n < k->used; n++) {
            const int32_t at = a->rows.rank;
            const double square = fm_reduced_row(s, k, k->first + k->use[n], 1, &ends, s->loop.row);
            const double left = fm_reflect_row(&a->rows, s->loop.row, s->plan.path + k->path, k->length);
            a->rows.L[(size_t)at * ((size_t)a->rows.rows + 1)] = sqrt(left);
            a->row[at] = k->first + k->use[n];
            if (!(left > FM_ALMOST_NONE * FM_ALMOST_NONE * square)) fm_reflect_drop(&a->rows);
        }
    }
}

/* The row of an actuator. 0: it depends on those before it, and is left out. */
static int add_actuator(fm_instance *s, int32_t actuator)
{
    fm_actuated *a = s->actuated;
    const int32_t at = a->rows.rank;
    const double *unit = s->scale + s->image.n.positions;
    double *column = a->column, square = 0.0;
    make_column(s, actuator, column);
    for (int32_t n = 0; n < s->image.n.excitations; n++) column[s->image.excitation_u[n]] = 0.0;
    for (int32_t n = 0; n < s->image.n.speeds; n++) column[n] *= unit[n], square += column[n] * column[n];
    const double left = fm_reflect_row(&a->rows, column, a->all, s->image.n.speeds);
    a->rows.L[(size_t)at * ((size_t)a->rows.rows + 1)] = sqrt(left);
    a->row[at] = -1 - actuator;
    if (left > FM_ALMOST_NONE * FM_ALMOST_NONE * square) return 1;
    fm_reflect_drop(&a->rows);
    return 0;
}

/* Those of the actuators, then those of the flexible bodies' modes that these and the loops leave free. */
static void add_actuators(fm_instance *s)
{
    fm_actuated *a = s->actuated;
    for (int modal = 0; modal < 2; modal++)
        for (int32_t k = 0; k < s->model.actuators; k++) {
            const int of_body = a->place[k] < s->image.n.speeds && fm_joint_of_mode(&s->image, a->place[k]) < 0;
            if (of_body == modal && !add_actuator(s, k) && !modal && a->fault == FM_DETERMINED)
                a->fault = FM_NO_MOTION_OF_ITS_OWN, a->culprit = k;
        }
}

/* Notes the lowest level at which the motion opens the loops most: beside the length, and what moves fastest, could
 * fall, or be moved by the largest force. */
static void check_loops(fm_instance *s, double most)
{
    const int32_t np = s->image.n.positions;
    fm_actuated *a = s->actuated;
    fm_ends ends = {.joint = -1};
    const double length = s->image.length[0];
    double size[3] = {1.0, 0.0, 0.0}, worst[3] = {FM_MISSED, FM_MISSED, FM_MISSED};
    for (int32_t u = 0; u < s->image.n.speeds; u++) {
        size[1] = fmax(size[1], fabs(s->given[np + u]) / s->scale[np + u]);
        size[2] = fmax(size[2], fabs(s->work.udot[u]) / s->scale[np + u]);
    }
    size[2] = fmax(size[2], sqrt(dot(s->gravity, s->gravity)) / length);
    size[2] = fmax(size[2], most / (s->model.mass * length * length));
    size[1] = fmax(size[1], sqrt(size[2]));
    size[2] = fmax(size[2], size[1] * size[1]);
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        fm_constraint one;
        if (fm_row_rests(s, i)) continue;
        fm_constraint_at(s, i, 1, &ends, &one);
        for (int level = 0; level < 3; level++) {
            const double off = fabs(one.c[level]), part = off / (fm_row_unit(s, i, &one) * size[level]);
            if (off == 0.0 || part <= worst[level] || a->fault < FM_OPENS + level) continue;
            worst[level] = part, a->fault = FM_OPENS + level, a->culprit = i, a->amount = off;
        }
    }
}

/* Notes what of the forces, in terms of links after fm_reflect_solve, the actuators cannot exert. */
static void check_forces(fm_instance *s, double *left, double most)
{
    fm_actuated *a = s->actuated;
    double worst = FM_MISSED * most;
    if (a->fault != FM_DETERMINED) return;
    for (int32_t q = 0; q < a->rows.rank; q++)
        if (a->rows.pivot[q] >= 0) left[a->rows.pivot[q]] = 0.0;
    fm_reflect_back(&a->rows, left);
    for (int32_t n = 0; n < s->image.n.speeds; n++) {
        if (!(fabs(left[n]) > worst)) continue;
        worst = fabs(left[n]), a->fault = FM_LACKS_A_FORCE, a->culprit = n;
        a->amount = worst / s->scale[s->image.n.positions + n];
    }
}

/* The actuators' forces and the multipliers, which exert the forces that the motion takes of the tree, on the velocity
 * variables; after inverse dynamics at y. What does not fit is noted in actuated.fault. */
void fm_actuate(fm_instance *s, const double *y, const double *taken)
{
    const fm_image *m = &s->image;
    const double *unit = s->scale + m->n.positions, *linked;
    fm_actuated *a = s->actuated;
    double most = 0.0;
    a->fault = FM_DETERMINED;
    fm_make_world(s, y);
    s->work.accelerated = s->work.udot;
    linked = fm_linked_forces(s, taken);
    for (int32_t n = 0; n < m->n.speeds; n++) a->need[n] = linked[n] * unit[n];
    for (int32_t n = 0; n < m->n.excitations; n++) a->need[m->excitation_u[n]] = 0.0;
    for (int32_t n = 0; n < m->n.speeds; n++) most = fmax(most, fabs(a->need[n]));
    check_loops(s, most);
    fm_reflect_begin(&a->rows, m->excitation_u, m->n.excitations);
    add_loops(s);
    add_actuators(s);
    fm_reflect_solve(&a->rows, a->need, a->x);
    memset(s->loop.lambda, 0, (size_t)m->n.rows * sizeof *s->loop.lambda);
    for (int32_t k = 0; k < s->model.actuators; k++) a->force[k] = 0.0;
    for (int32_t q = 0; q < a->rows.rank; q++) {
        if (a->row[q] >= 0) s->loop.lambda[a->row[q]] = a->x[q];
        else a->force[-1 - a->row[q]] = a->x[q];
    }
    check_forces(s, a->need, most);
}

/* What a place in tau, or after it in the loads, belongs to. */
static const char *name_of(const fm_image *m, int32_t place)
{
    if (place >= m->n.modes) return m->text + m->load_name[(place - m->n.modes) / 6];
    const int32_t joint = fm_joint_of_mode(m, place);
    return joint < 0 ? "a flexible body" : m->text + m->joint_name[joint];
}

/* Says what of the motion does not fit. */
fm_status fm_check_actuated(fm_instance *s)
{
    static const char *const level[] = {"positions leave a gap of", "velocities open the loops, at",
                                        "accelerations open the loops, at"};
    static const char *const unit[2][3] = {{"m", "m/s", "m/s2"}, {"rad", "rad/s", "rad/s2"}};
    const fm_actuated *a = s->actuated;
    char name[200];
    if (a->fault == FM_DETERMINED) return FM_OK;
    if (a->fault == FM_NO_MOTION_OF_ITS_OWN)
        return fm_say(s, FM_ERROR,
                      "of %ld actuators that of '%s' moves nothing that the loops and those before it do not, so that "
                      "their forces are not determined. Leave it out, or name another",
                      (long)s->model.actuators, name_of(&s->image, a->place[a->culprit]));
    if (a->fault == FM_LACKS_A_FORCE)
        return fm_say(s, FM_ERROR,
                      "the actuators cannot make this motion: along '%s' a force of %.3g %s is missing. Name as many "
                      "as the mechanism has degrees of freedom",
                      name_of(&s->image, a->culprit), a->amount, s->image.mode_linear[a->culprit] ? "N" : "N.m");
    fm_loop_names(s, a->culprit, name, sizeof name);
    return fm_say(s, FM_ERROR, "these %s %.3g %s in the %s. Give a motion that closes it, such as that of a simulation",
                  level[a->fault - FM_OPENS], a->amount, unit[fm_row_turns(&s->image, a->culprit)][a->fault - FM_OPENS],
                  name);
}
