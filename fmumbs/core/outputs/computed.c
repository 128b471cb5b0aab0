/* computed.c: values of variables that are computed, not stored. A component of a vector costs nearly as much as all of
 * them, so that vectors are computed as a whole. */
#include "computed.h"

#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../image/joints.h"
#include "../image/kinds.h"
#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../forces/elements.h"
#include "../forces/excitation.h"
#include "../forces/laws.h"
#include "../loops/constraints.h"
#include "../loops/cut_joints.h"
#include "../loops/multipliers.h"
#include "../loops/programs.h"
#include "../motion/friction.h"
#include "../motion/law_modes.h"
#include "../motion/law_rates.h"
#include "../motion/reactions.h"
#include "../motion/scratch.h"
#include "energy.h"

#include <math.h>
#include <string.h>

/* A coordinate of a cut joint, or its time derivatives: computed, not states. */
int fm_is_cut_motion(const fm_image *m, int32_t kind, int32_t object)
{
    const int32_t place = fm_kinds[kind].place;
    return fm_kinds[kind].owner == FM_JOINT && place >= FM_AT_POSITION && place <= FM_AT_ACCELERATION &&
           fm_is_cut_joint(m, object);
}

/* Coordinates of a cut joint, or their time derivatives. */
static void cut_motion(const fm_instance *s, int32_t kind, int32_t joint, int32_t part, int32_t count, double *out)
{
    const fm_image *m = &s->image;
    const int loose = m->joint_kind[joint] == FM_JOINT_FREE;
    fm_coordinates at;
    const int32_t place = fm_kinds[kind].place;
    fm_cut_joint_coordinates(s, joint, place == FM_AT_ACCELERATION, &at);
    const int32_t mode = fm_mode_of(m, kind, joint, part) - m->joint_u[joint];
    const double *from = place == FM_AT_POSITION     ? at.p + part
                         : place == FM_AT_QUATERNION ? at.p + part + (loose ? 3 : 0)
                         : place == FM_AT_SPEED      ? at.u + mode
                                                     : at.udot + mode;
    memcpy(out, from, (size_t)count * sizeof *out);
}

/* The largest violation of positions (level 0) or velocities (1), in the rows' own units. */
static double largest_gap(fm_instance *s, int level)
{
    double most = 0.0;
    (void)fm_violation(s, level);
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        const double off = fabs(s->loop.c[3 * i + level]);
        most = off > most || isnan(off) ? off : most;
    }
    return most;
}

/* Torque (or force, if `force`) across a joint at M, in F's axes. */
static void joint_wrench(const fm_instance *s, int32_t joint, int32_t force, int constraint, double out[3])
{
    const fm_image *m = &s->image;
    const int32_t last = m->joint_last[joint], before = m->joint_F_link[joint];
    double wrench[6], world[3], axes[3];
    if (fm_is_cut_joint(m, joint)) {
        fm_loop_wrench(s, joint, wrench, wrench + 3);
        for (int i = 0; s->work.cuts && !constraint && i < 6; i++) wrench[i] += s->work.cut_wrench[6 * joint + i];
        memcpy(world, wrench + 3 * force, sizeof world);
    } else {
        fm_joint_wrench(s, joint, wrench);
        if (constraint) fm_remove_free_modes(s, joint, wrench);
        for (int i = 0; i < 3; i++) world[i] = row_of(s->world[last].R, i, wrench + 3 * force);
    }
    memcpy(axes, world, sizeof axes);
    if (before >= 0) {
        const double *R = s->world[before].R;
        for (int i = 0; i < 3; i++) axes[i] = R[i] * world[0] + R[3 + i] * world[1] + R[6 + i] * world[2];
    }
    const double *F = m->joint_F + 9 * joint;
    for (int i = 0; i < 3; i++) out[i] = F[i] * axes[0] + F[3 + i] * axes[1] + F[6 + i] * axes[2];
}

static void body_values(const fm_instance *s, int32_t kind, int32_t body, double *out)
{
    const int32_t link = s->image.body_link[body];
    const fm_world *w = s->world + link;
    const double *at = s->image.body_r + 3 * body;
    double arm[3], turned[3];
    switch (kind) {
    case FM_B_W: memcpy(out, w->w, sizeof w->w); return;
    case FM_B_ALPHA: rotate_out(w->R, s->motion[link].alpha, out); return;
    case FM_B_A: fm_acceleration(s, link, at, out); return;
    case FM_B_QUAT: fm_body_quaternion(s, body, out); return;
    default: break;
    }
    rotate_out(w->R, at, arm);
    cross(w->w, arm, turned);
    if (kind == FM_B_R)
        for (int i = 0; i < 3; i++) out[i] = w->r[i] + arm[i];
    else
        for (int i = 0; i < 3; i++) out[i] = w->v[i] + turned[i];
}

/* Three Euler angles and their margin. */
static void euler_values(const fm_instance *s, int32_t body, double out[4])
{
    double R[9];
    product(s->world[s->image.body_link[body]].R, s->image.body_R + 9 * body, R);
    fm_euler_angles(R, s->image.body_euler[body], out);
}

static void point_values(const fm_instance *s, int32_t kind, int32_t point, double out[3])
{
    double other[3];
    if (kind == FM_P_A) fm_acceleration(s, s->image.point_link[point], s->image.point_r + 3 * point, out);
    else if (kind == FM_P_R) fm_point_place(s, point, out, other);
    else fm_point_place(s, point, other, out);
}

/* The stress at a node of a flexible body, by its modes; then the equivalent one. */
static void stress_values(const fm_instance *s, int32_t gauge, double out[7])
{
    const fm_image *m = &s->image;
    const int32_t modal = m->gauge_modal[gauge];
    const double *row = m->gauge_stress + 6 * m->gauge_first[gauge], *q = s->y + m->link_p[m->modal_link[modal]];
    memset(out, 0, 7 * sizeof *out);
    for (int32_t k = 0; k < m->modal_shapes[modal]; k++)
        for (int j = 0; j < 6; j++) out[j] += q[k] * row[6 * k + j];
    const double apart[3] = {out[0] - out[1], out[1] - out[2], out[2] - out[0]};
    out[6] = sqrt(0.5 * dot(apart, apart) + 3.0 * dot(out + 3, out + 3));
}

/* An output of a force element; 0 of what is none. */
static double element_value(const fm_instance *s, int32_t kind, int32_t object, int32_t part)
{
    switch (fm_kinds[kind].owner) {
#define O(id, one, all) \
    case FM_##id: return fm_##one##_element.value != NULL ? fm_##one##_element.value(s, kind, object, part) : 0.0;
        FM_FORCE_ELEMENTS(O)
#undef O
    default: return 0.0;
    }
}

/* What the seeds of the inputs change of an output of a force element that follows its own inputs at once. */
double fm_element_seed(const fm_instance *s, int32_t kind, int32_t object, int32_t component)
{
    const int32_t part = component < 0 ? 0 : component;
    switch (fm_kinds[kind].owner) {
#define O(id, one, all) \
    case FM_##id: return fm_##one##_element.seed != NULL ? fm_##one##_element.seed(s, kind, object, part) : 0.0;
        FM_FORCE_ELEMENTS(O)
#undef O
    default: return 0.0;
    }
}

/* The target of a program, the position of the mechanism, or the distance between them. */
static void program_values(const fm_instance *s, int32_t kind, int32_t joint, double *out)
{
    const int32_t first = s->image.joint_excitation[joint];
    double position[FM_JOINT_MODES], rate[FM_JOINT_MODES], target[2], square = 0.0;
    if (kind != FM_J_TARGET) fm_programmed(s, joint, position, rate);
    for (int32_t i = 0; i < s->image.joint_excited[joint]; i++) {
        if (kind == FM_J_POSITION) {
            out[i] = position[i];
            continue;
        }
        fm_target(s, first + i, s->clock[FM_TIME], s->y, target);
        if (kind == FM_J_TARGET) out[i] = target[0];
        else square += (position[i] - target[0]) * (position[i] - target[0]);
    }
    if (kind == FM_J_VIOLATION) *out = sqrt(square);
}

/* All components of a vector. 0: its components are computed one by one. */
static int compute_whole(fm_instance *s, int32_t kind, int32_t object, double out[FM_WHOLE])
{
    switch (kind) {
    case FM_J_TARGET:
    case FM_J_POSITION:
    case FM_J_VIOLATION: program_values(s, kind, object, out); return 1;
    case FM_J_REACTION_F: joint_wrench(s, object, 1, 1, out); return 1;
    case FM_J_REACTION_T: joint_wrench(s, object, 0, 1, out); return 1;
    case FM_J_WRENCH_F: joint_wrench(s, object, 1, 0, out); return 1;
    case FM_J_WRENCH_T: joint_wrench(s, object, 0, 0, out); return 1;
    case FM_B_R:
    case FM_B_V:
    case FM_B_W:
    case FM_B_A:
    case FM_B_ALPHA:
    case FM_B_QUAT: body_values(s, kind, object, out); return 1;
    case FM_B_EULER: euler_values(s, object, out); return 1;
    case FM_P_R:
    case FM_P_V:
    case FM_P_A: point_values(s, kind, object, out); return 1;
    case FM_GA_STRESS: stress_values(s, object, out); return 1;
    default: return 0;
    }
}

/* A component of any other variable. */
static double compute_one(fm_instance *s, int32_t kind, int32_t object, int32_t part)
{
    const fm_image *m = &s->image;
    double rate, whole[7];
    int32_t above, below;
    if (fm_kinds[kind].place == FM_AT_ACCELERATION) return s->work.udot[fm_mode_of(m, kind, object, part)];
    if (fm_kinds[kind].place == FM_AT_MODAL_ACCELERATION) return s->work.udot[m->link_u[m->body_link[object]] + part];
    switch (kind) {
    case FM_R_TAU:
    case FM_R_F:
    case FM_R_DRIVE:
    case FM_R_B_F:
    case FM_R_L_FORCE:
    case FM_R_L_TORQUE: return s->work.required[fm_required_place(m, kind, object, part)];
    case FM_B_EULER_MARGIN: euler_values(s, object, whole); return whole[3];
    case FM_GA_MISES: stress_values(s, object, whole); return whole[6];
    case FM_J_DRIVE: return fm_drive(s, object, part);
    case FM_J_UNIQUE_F: return m->joint_unique[6 * object + part] == FM_UNIQUE;
    case FM_J_UNIQUE_T: return m->joint_unique[6 * object + 3 + part] == FM_UNIQUE;
    case FM_C_TAU: return fm_coupling_force(s, object, part);
    case FM_C_POWER:
        return fm_coupling_force(s, object, 0) *
               s->y[m->n.positions + m->link_u[m->term_link[m->coupling_first[object]]]];
    case FM_FR_FORCE: return fm_friction_force(s, object, part);
    case FM_FR_SLIP: return s->friction->slip[object];
    case FM_LAW_FORCE: return fm_law_force(s, object, s->y);
    case FM_LAW_SLIP: return !fm_law_sticks(s, object, &above, &below, &rate);
    case FM_LAW_CLOSED: {
        const int32_t wall = fm_law_closed(s, object);
        return wall < 0 ? 0.0 : -fm_wall_sign(m, wall);
    }
    case FM_LAW_IMPULSE: return fm_law_along(s, object, fm_law_struck(s, object)[FM_STRUCK_IMPULSE]);
    case FM_LAW_LOSS: return fm_law_struck(s, object)[FM_STRUCK_LOSS];
    case FM_LAW_RESTED: return fm_law_struck(s, object)[FM_STRUCK_RESTED];
    case FM_LAW_IMPACTS: return fm_law_struck(s, object)[FM_STRUCK_COUNT];
    case FM_FR_LOAD: return s->friction->load[object];
    case FM_DYNAMICS: return s->options[FM_OPTION_DYNAMICS];
    case FM_ENERGY: return fm_energy(s);
    case FM_POSITION_VIOLATION: return largest_gap(s, 0);
    case FM_VELOCITY_VIOLATION: return largest_gap(s, 1);
    case FM_CORRECTIONS: return s->clock[FM_CORRECTED];
    case FM_ITERATIONS: return s->clock[FM_ITERATED];
    case FM_STEPS: return s->clock[FM_STEPS_DONE];
    case FM_EVALUATED: return s->clock[FM_EVALUATIONS];
    case FM_IMPLICIT_STEPS: return s->clock[FM_IMPLICIT_DONE];
    case FM_REJECTED: return s->clock[FM_STEPS_REJECTED];
    default: return element_value(s, kind, object, part);
    }
}

/* `count` components from `part` on of a variable that is not stored; they lie in `room`, where it says. Requires the
 * results that fm_validity lists. */
const double *fm_compute(fm_instance *s, int32_t kind, int32_t object, int32_t part, int32_t count,
                         double room[FM_WHOLE])
{
    if (fm_is_cut_motion(&s->image, kind, object)) cut_motion(s, kind, object, part, count, room);
    else if (compute_whole(s, kind, object, room)) return room + part;
    else
        for (int32_t i = 0; i < count; i++) room[i] = compute_one(s, kind, object, part + i);
    return room;
}
