/* output_graph.c: outputs of the interface: motion, forces of springs, reactions, energy. */
#include "output_graph.h"

#include "../image/joints.h"
#include "../image/kinds.h"
#include "../maths/rotations.h"
#include "builder.h"
#include "contact_graph.h"
#include "cut_graph.h"
#include "general_graph.h"
#include "matrix_graph.h"
#include "nodes.h"
#include "tree_graph.h"
#include "wrench_graph.h"

#include <math.h>

/* The motion of a point fixed in a link. */
static int32_t motion_at(fm_builder *b, int32_t kind, int32_t link, const double *at)
{
    const int accelerates = kind == FM_B_A || kind == FM_P_A;
    const fm_point_slots p = fm_build_point(b, link, at);
    if (accelerates) return fm_add_node(b, FM_DO_ADD, p.a, b->g->leaf.gravity, 0);
    return kind == FM_B_R || kind == FM_P_R ? p.r : p.v;
}

static int32_t body_at(fm_builder *b, int32_t kind, int32_t body)
{
    const fm_image *m = b->m;
    const int32_t link = m->body_link[body];
    double q[4];
    if (kind == FM_B_W) return b->link[link].w;
    if (kind == FM_B_ALPHA) return b->link[link].alpha;
    if (kind != FM_B_QUAT) return motion_at(b, kind, link, m->body_r + 3 * body);
    fm_quaternion_of(m->body_R + 9 * body, q);
    const int32_t own = fm_constant(b, q, 4);
    if (link < 0) return own;
    const int32_t unit = fm_add_node(b, FM_DO_QUATERNION, b->link[link].R, b->g->leaf.quaternion + 4 * link, own);
    return b->link[link].size == FM_NO_SLOT ? unit : fm_add_node(b, FM_DO_STRETCH, b->link[link].size, unit, 0);
}

/* The first position, velocity or acceleration of a variable of a cut joint, of which `part` is one. */
static int32_t cut_at(fm_builder *b, int32_t kind, int32_t joint, int32_t part)
{
    const fm_cut_output *cut = b->cut + joint;
    const int32_t place = fm_kinds[kind].place, mode = fm_mode_of(b->m, kind, joint, part) - b->m->joint_u[joint];
    if (cut->p == FM_NO_SLOT) return FM_NO_SLOT;
    if (place == FM_AT_SPEED) return cut->u + mode - part;
    if (place == FM_AT_ACCELERATION) return fm_build_cut_acceleration(b, joint) + mode - part;
    return cut->p + (place == FM_AT_QUATERNION && b->m->joint_kind[joint] == FM_JOINT_FREE ? 3 : 0);
}

/* Removes the part that acts on the free modes (motion/reactions.c); 0: joints of several screws are not covered. */
static int remove_free_modes(fm_builder *b, int32_t joint, fm_wrench_slots *w)
{
    const fm_image *m = b->m;
    const int32_t last = m->joint_last[joint], kind = m->joint_kind[joint], link = m->link_kind[last];
    if (kind == FM_JOINT_SPHERICAL || kind == FM_JOINT_FREE) w->torque = b->zero;
    if (kind == FM_JOINT_FREE) w->force = b->zero;
    if (kind != FM_JOINT_SCALAR) return kind != FM_JOINT_NONHOLONOMIC;
    if (m->joint_first[joint] < last) return 0;
    if (link == FM_LINK_DRIVEN) return 1;
    const double pitch = link == FM_LINK_SCREW ? m->link_screw[6 * last + 2] : link == FM_LINK_PRISMATIC ? 0.0 : 1.0;
    const double slide = link == FM_LINK_SCREW ? m->link_screw[6 * last + 5] : 0.0;
    const int32_t axis = b->link[last].axis;
    if (pitch == 0.0) {
        w->force = fm_build_across(b, w->force, axis);
        return 1;
    }
    w->torque = fm_build_across(b, w->torque, axis);
    if (slide == 0.0) return 1;
    const int32_t along = fm_times_constant(b, -slide / pitch, fm_add_node(b, FM_DO_DOT, axis, w->force, 0));
    w->torque = fm_add_node(b, FM_DO_ADD_SCALED, w->torque, along, axis);
    return 1;
}

/* A wrench of a joint, in F's axes. */
static int32_t wrench_at(fm_builder *b, int32_t kind, int32_t joint)
{
    const fm_image *m = b->m;
    const int constraint = kind == FM_J_REACTION_F || kind == FM_J_REACTION_T;
    const int32_t *applied = b->cut[joint].applied;
    fm_wrench_slots w = fm_build_wrench(b, joint);
    if (!constraint && applied[0] != FM_NO_SLOT) w.torque = fm_add_node(b, FM_DO_ADD, w.torque, applied[0], 0);
    if (!constraint && applied[1] != FM_NO_SLOT) w.force = fm_add_node(b, FM_DO_ADD, w.force, applied[1], 0);
    if (constraint && !fm_is_cut_joint(m, joint) && !remove_free_modes(b, joint, &w)) return FM_NO_SLOT;
    const int32_t R =
        fm_add_node(b, FM_DO_PLACE, b->link[m->joint_F_link[joint]].R, 0, fm_constant(b, m->joint_F + 9 * joint, 9));
    return fm_add_node(b, FM_DO_BACK, R, kind == FM_J_REACTION_F || kind == FM_J_WRENCH_F ? w.force : w.torque, 0);
}

/* The target of a program, and the mechanism's coordinate, where rows have it (loops/programs.c); 0: they have not. */
static int program_slots(fm_builder *b, int32_t one, int32_t *target, int32_t *position)
{
    const fm_image *m = b->m;
    const int32_t row = m->excitation_row[one], eta = b->g->leaf.y + m->excitation_p[one];
    *target = m->excitation_kind[one] == FM_EXCITED_BY_PATH ? fm_number(b, 0.0) : eta;
    if (row < 0 || m->row_kind[row] == FM_ROW_PERPENDICULAR) return 0;
    *position = fm_add_node(b, FM_DO_SUM, eta, b->g->row[3 * row + m->row_part[row]], 0);
    return 1;
}

static int32_t program_at(fm_builder *b, int32_t kind, int32_t joint, int32_t part)
{
    int32_t target, position;
    const int known = program_slots(b, b->m->joint_excitation[joint] + part, &target, &position);
    return kind == FM_J_TARGET ? target : known ? position : FM_NO_SLOT;
}

/* What a coupling exerts on a coordinate. */
static int32_t coupling_at(fm_builder *b, int32_t coupling, int32_t term)
{
    const fm_image *m = b->m;
    int32_t sum = fm_number(b, 0.0);
    const int32_t ratio = b->ratio[m->coupling_first[coupling] + term];
    for (int32_t i = 0; i < m->n.rows; i++)
        if (m->row_coupling[i] == coupling) sum = fm_add_node(b, FM_DO_ADD_PRODUCT, sum, ratio, b->g->leaf.lambda + i);
    return sum;
}

/* The drive of a joint's only mode, which need not be that of its last link: locked modes may follow. */
static int32_t drive_at(fm_builder *b, int32_t joint)
{
    const fm_image *m = b->m;
    const int32_t row = m->joint_excited[joint] > 0 ? m->excitation_row[m->joint_excitation[joint]] : -1;
    if (m->joint_nu[joint] != 1 || m->n.couplings > 0) return FM_NO_SLOT;
    if (row >= 0 && fm_is_programmed_length(m, row)) return b->g->leaf.lambda + row;
    int32_t moving = m->joint_first[joint];
    while (moving < m->joint_last[joint] && m->link_u[moving] < 0) moving++;
    if (m->link_kind[moving] == FM_LINK_GENERAL) return FM_NO_SLOT;
    const fm_link_slots *last = b->link + m->joint_last[joint], *k = b->link + moving;
    const int32_t force = fm_wrench_of(b, last) + 3;
    const int32_t arm = fm_add_node(b, FM_DO_SUBTRACT, last->r, k->r, 0);
    const int32_t moment =
        fm_add_node(b, FM_DO_ADD, fm_wrench_of(b, last), fm_add_node(b, FM_DO_CROSS, arm, force, 0), 0);
    const int32_t turn = fm_add_node(b, FM_DO_DOT, k->axis, moment, 0);
    const int32_t push = fm_add_node(b, FM_DO_DOT, k->axis, force, 0);
    double pitch, slide;
    fm_find_screw(m, moving, &pitch, &slide);
    return fm_add_node(b, FM_DO_SUM, fm_times_constant(b, pitch, turn), fm_times_constant(b, slide, push), 0);
}

static void add_to(fm_builder *b, int32_t *sum, double factor, int32_t one, int32_t other)
{
    *sum = fm_add_node(b, FM_DO_ADD_PRODUCT, *sum, fm_times_constant(b, factor, one), other);
}

static void add_energy_of_body(fm_builder *b, int32_t i, int32_t *sum)
{
    const fm_image *m = b->m;
    const fm_link_slots *k = b->link + m->body_link[i];
    const fm_leaves *leaf = &b->g->leaf;
    double centre[3];
    const double *R = m->body_R + 9 * i, *c = m->com + 3 * i, *r = m->body_r + 3 * i;
    for (int j = 0; j < 3; j++) centre[j] = r[j] + ((R[3 * j] * c[0] + R[3 * j + 1] * c[1]) + R[3 * j + 2] * c[2]);
    const fm_point_slots p = fm_build_point(b, m->body_link[i], centre);
    const int32_t axes = fm_add_node(b, FM_DO_PLACE, k->R, 0, fm_constant(b, R, 9));
    const int32_t spin = fm_add_node(b, FM_DO_INERTIA, axes, k->w, leaf->inertia + 6 * i);
    add_to(b, sum, 0.5, leaf->mass + i, fm_add_node(b, FM_DO_DOT, p.v, p.v, 0));
    add_to(b, sum, 0.5, fm_add_node(b, FM_DO_DOT, spin, k->w, 0), fm_number(b, 1.0));
    add_to(b, sum, -1.0, leaf->mass + i, fm_add_node(b, FM_DO_DOT, leaf->gravity, p.r, 0));
}

static void add_energy_of_spring(fm_builder *b, int32_t stiffness, int32_t length, int32_t rest, int32_t *sum)
{
    const int32_t stretch = fm_add_node(b, FM_DO_DIFFERENCE, length, rest, 0);
    add_to(b, sum, 0.5, stiffness, fm_add_node(b, FM_DO_PRODUCT, stretch, stretch, 0));
}

static void add_energy_of_joint(fm_builder *b, int32_t i, int32_t *sum)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t u = m->link_u[i], q = leaf->y + m->link_p[i], speed = leaf->y + m->n.positions + u;
    const int32_t joint = m->link_joint[i];
    if (u < 0 || m->link_kind[i] >= FM_LINK_MODAL) return;
    if (m->link_kind[i] == FM_LINK_GENERAL) {
        const int32_t g = m->link_general[i], first = m->general_screw[g];
        for (int32_t k = 0; k < m->general_screws[g]; k++)
            add_energy_of_spring(b, leaf->screw_stiffness + first + k,
                                 leaf->y + m->link_p[i] + fm_place_of_screw(m, g, k), leaf->screw_rest + first + k,
                                 sum);
        return;
    }
    if (m->link_kind[i] != FM_LINK_SPHERICAL) {
        add_energy_of_spring(b, leaf->stiffness + u, q, leaf->rest + u, sum);
        if (m->link_kind[i] == FM_LINK_SCREW)
            add_to(b, sum, 0.5, b->rotor[u], fm_add_node(b, FM_DO_PRODUCT, speed, speed, 0));
        return;
    }
    add_to(b, sum, 0.5, fm_build_ball_energy(b, joint, u, q), fm_number(b, 1.0));
}

/* The springs of the modes of a cut joint. */
static void add_energy_of_cut(fm_builder *b, int32_t j, int32_t *sum)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    int32_t at = m->joint_u[j], p = b->cut[j].p;
    if (p == FM_NO_SLOT) return;
    for (int32_t k = m->joint_mode[j]; k < m->joint_mode[j] + m->joint_modes[j]; k++) {
        if (m->cut_kind[k] == FM_CUT_BALL) {
            add_to(b, sum, 0.5, fm_build_ball_energy(b, j, at, p), fm_number(b, 1.0));
            at += 3, p += 4;
        } else if (m->cut_kind[k] == FM_CUT_SCREW) {
            add_energy_of_spring(b, leaf->stiffness + at, p, leaf->rest + at, sum);
            at++, p++;
        }
    }
}

/* The springs between the modes of bushings, those on rotation vectors, and those of cut joints. */
static void add_energy_between_modes(fm_builder *b, int32_t j, int32_t *sum)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t u = m->joint_u[j], p = fm_is_cut_joint(m, j) ? b->cut[j].p : leaf->y + m->joint_p[j];
    if (fm_is_cut_joint(m, j)) add_energy_of_cut(b, j, sum);
    for (int32_t i = m->joint_bends[j], k = 0; i >= 0 && k < 3; k++) { /* in place of the angles' */
        const int32_t mode = u + i + k, angle = fm_add_node(b, FM_DO_DIFFERENCE, p + i + k, leaf->rest + mode, 0);
        const int32_t bent = fm_add_node(b, FM_DO_DIFFERENCE, b->bent[j] + k, leaf->rest + mode, 0);
        add_to(b, sum, 0.5, leaf->stiffness + mode, fm_add_node(b, FM_DO_PRODUCT, bent, bent, 0));
        add_to(b, sum, -0.5, leaf->stiffness + mode, fm_add_node(b, FM_DO_PRODUCT, angle, angle, 0));
    }
    for (int32_t c = m->joint_coupled[j];
         m->joint_kind[j] == FM_JOINT_SCALAR && c < m->joint_coupled[j] + m->joint_couplings[j]; c++) {
        int32_t away[2];
        for (int way = 0; way < 2; way++) {
            const int32_t mode = m->coupled_modes[2 * c + way];
            away[way] = fm_add_node(b, FM_DO_DIFFERENCE, p + mode, leaf->rest + u + mode, 0);
        }
        add_to(b, sum, 1.0, leaf->coupled_stiffness + c, fm_add_node(b, FM_DO_PRODUCT, away[0], away[1], 0));
    }
}

/* What the modes of a flexible body add. */
static void add_energy_of_modes(fm_builder *b, int32_t i, int32_t *sum)
{
    const fm_link_slots *k = b->link + b->m->modal_link[i];
    const int32_t w = fm_add_node(b, FM_DO_BACK, k->R, k->w, 0), v = fm_add_node(b, FM_DO_BACK, k->R, k->v, 0);
    const int32_t gravity = fm_add_node(b, FM_DO_BACK, k->R, b->g->leaf.gravity, 0);
    *sum = fm_add_node(b, FM_DO_SUM, *sum, fm_add_part(b, FM_DO_FLEXIBLE_ENERGY, w, v, gravity, i, 1), 0);
}

static void add_energy_of_side(fm_builder *b, int32_t i, int32_t *sum)
{
    const fm_side_slots *at = b->side + i;
    const int32_t stretch = fm_add_node(b, FM_DO_DIFFERENCE, at->length, at->own, 0);
    const int32_t pulled = fm_add_node(b, FM_DO_POSITIVE, stretch, 0, 0);
    const int32_t square = fm_add_node(b, FM_DO_PRODUCT, pulled, pulled, 0);
    add_to(b, sum, 0.5, b->g->leaf.rope_stiffness + b->m->side_rope[i],
           fm_add_node(b, FM_DO_QUOTIENT, square, at->own, 0));
}

/* That of its current. */
static void add_energy_of_motor(fm_builder *b, int32_t i, int32_t *sum)
{
    const int32_t current = b->motor[i].current;
    if (b->m->motor_state[i] < 0) return;
    add_to(b, sum, 0.5, b->g->leaf.motor_inductance + i, fm_add_node(b, FM_DO_PRODUCT, current, current, 0));
}

/* That of the teeth, beyond the play. */
static void add_energy_of_gear(fm_builder *b, int32_t i, int32_t *sum)
{
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t away = fm_add_node(b, FM_DO_ABSOLUTE, b->gear[i].position, 0, 0);
    const int32_t over = fm_add_node(b, FM_DO_DIFFERENCE, away, fm_times_constant(b, 0.5, leaf->gear_backlash + i), 0);
    const int32_t pressed = fm_add_node(b, FM_DO_POSITIVE, over, 0, 0);
    add_to(b, sum, 0.5, leaf->gear_stiffness + i, fm_add_node(b, FM_DO_PRODUCT, pressed, pressed, 0));
}

/* That of its oil. */
static void add_energy_of_cylinder(fm_builder *b, int32_t i, int32_t *sum)
{
    const fm_cylinder_slots *at = b->cylinder + i;
    for (int j = 0; j < 2; j++)
        add_to(b, sum, 1.0, at->volume[j],
               fm_add_node(b, FM_DO_OIL, at->pressure[j], b->g->leaf.cylinder_bulk_modulus + i, 0));
}

static int32_t energy_at(fm_builder *b)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    int32_t sum = fm_number(b, 0.0);
    for (int32_t i = 0; i < m->n.bodies; i++)
        if (m->body_link[i] >= 0) add_energy_of_body(b, i, &sum);
    for (int32_t i = 0; i < m->n.links; i++) add_energy_of_joint(b, i, &sum);
    for (int32_t i = 0; i < m->n.springs; i++)
        add_energy_of_spring(b, leaf->spring_stiffness + i, b->spring[i].length, leaf->spring_free_length + i, &sum);
    for (int32_t i = 0; i < m->n.sides; i++) add_energy_of_side(b, i, &sum);
    for (int32_t i = 0; i < m->n.motors; i++) add_energy_of_motor(b, i, &sum);
    for (int32_t i = 0; i < m->n.gears; i++) add_energy_of_gear(b, i, &sum);
    for (int32_t i = 0; i < m->n.cylinders; i++) add_energy_of_cylinder(b, i, &sum);
    for (int32_t i = 0; i < m->n.spots; i++) sum = fm_add_node(b, FM_DO_SUM, sum, fm_spot_energy(b, i), 0);
    for (int32_t i = 0; i < m->n.rolls; i++) sum = fm_add_node(b, FM_DO_SUM, sum, fm_roll_energy(b, i), 0);
    for (int32_t j = 0; j < m->n.joints; j++) add_energy_between_modes(b, j, &sum);
    for (int32_t i = 0; i < m->n.modals; i++) add_energy_of_modes(b, i, &sum);
    return sum;
}

/* What the teeth of a gear give to the second coordinate. */
static int32_t geared_power(fm_builder *b, int32_t gear)
{
    const int32_t speed = b->g->leaf.y + b->m->n.positions + b->m->gear_u[gear];
    const int32_t turned = fm_add_node(b, FM_DO_PRODUCT, b->g->leaf.gear_ratio + gear, speed, 0);
    return fm_times_constant(b, -1.0, fm_add_node(b, FM_DO_PRODUCT, turned, b->gear[gear].force, 0));
}

/* An output of a side of a rope. */
static int32_t side_at(fm_builder *b, int32_t kind, int32_t side)
{
    const fm_side_slots *at = b->side + side;
    if (kind == FM_RO_TENSION) return at->tension;
    if (kind == FM_RO_PATH) return at->length;
    const int32_t loose = fm_add_node(b, FM_DO_DIFFERENCE, fm_number(b, 1.0), b->g->leaf.taut + side, 0);
    const int32_t over = fm_add_node(b, FM_DO_DIFFERENCE, at->own, at->length, 0);
    return fm_add_node(b, FM_DO_PRODUCT, loose, fm_add_node(b, FM_DO_POSITIVE, over, 0, 0), 0);
}

/* (tension + winding) times the rate of the unstretched length, less tension times that of the length, of all sides. */
static int32_t rope_power(fm_builder *b, int32_t rope)
{
    int32_t sum = fm_number(b, 0.0);
    for (int32_t i = b->m->rope_side[rope]; i < b->m->rope_side[rope] + b->m->rope_sides[rope]; i++) {
        const fm_side_slots *at = b->side + i;
        add_to(b, &sum, -1.0, at->tension, at->rate);
        add_to(b, &sum, 1.0, fm_add_node(b, FM_DO_SUM, at->tension, at->winding, 0), at->own_rate);
    }
    return sum;
}

/* The stress at a node of a flexible body, or the equivalent one: the length of vectors of its parts. */
static int32_t stress_at(fm_builder *b, int32_t kind, int32_t gauge)
{
    const int32_t link = b->m->modal_link[b->m->gauge_modal[gauge]];
    const int32_t at = fm_add_part(b, FM_DO_STRESS, b->g->leaf.y + b->m->link_p[link], 0, 0, gauge, 6);
    if (kind == FM_GA_STRESS) return at;
    const int32_t xy = fm_add_node(b, FM_DO_DIFFERENCE, at, at + 1, 0);
    const int32_t yz = fm_add_node(b, FM_DO_DIFFERENCE, at + 1, at + 2, 0);
    const int32_t apart = fm_add_node(b, FM_DO_VECTOR, xy, yz, fm_add_node(b, FM_DO_DIFFERENCE, at + 2, at, 0));
    const int32_t normal = fm_times_constant(b, sqrt(0.5), fm_add_node(b, FM_DO_LENGTH, apart, 0, 0));
    const int32_t shear = fm_times_constant(b, sqrt(3.0), fm_add_node(b, FM_DO_LENGTH, at + 3, 0, 0));
    return fm_add_node(b, FM_DO_LENGTH, fm_add_node(b, FM_DO_VECTOR, normal, shear, fm_number(b, 0.0)), 0, 0);
}

/* The place of the first component of an output; FM_NO_SLOT: the graph has none. */
static int32_t place_of(fm_builder *b, int32_t kind, int32_t object)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    switch (kind) {
    case FM_J_REACTION_F:
    case FM_J_REACTION_T:
    case FM_J_WRENCH_F:
    case FM_J_WRENCH_T: return wrench_at(b, kind, object);
    case FM_J_DRIVE: return drive_at(b, object);
    case FM_B_R:
    case FM_B_V:
    case FM_B_A:
    case FM_B_W:
    case FM_B_ALPHA:
    case FM_B_QUAT: return body_at(b, kind, object);
    case FM_P_R:
    case FM_P_V:
    case FM_P_A: return motion_at(b, kind, m->point_link[object], m->point_r + 3 * object);
    case FM_GA_STRESS:
    case FM_GA_MISES: return stress_at(b, kind, object);
    case FM_S_LENGTH: return b->spring[object].length;
    case FM_S_F: return b->pull[object];
    case FM_LAW_FORCE: return b->law[object];
    case FM_LAW_SLIP: return fm_number(b, 0.0);
    case FM_FR_FORCE: return b->friction[object].force[0];
    case FM_FR_LOAD: return b->friction[object].load;
    case FM_FR_SLIP: return b->friction[object].slip;
    case FM_LAW_CLOSED:
    case FM_LAW_IMPULSE:
    case FM_LAW_LOSS:
    case FM_LAW_RESTED: return fm_number(b, 0.0); /* between impacts */
    case FM_A_LENGTH: return b->actuator[object].length;
    case FM_A_POWER:
        return fm_add_node(b, FM_DO_PRODUCT, leaf->control + m->actuator_force[object], b->actuator[object].speed, 0);
    case FM_M_CURRENT_AT_ONCE: return b->motor[object].current;
    case FM_M_TORQUE:
    case FM_M_TORQUE_LEFT: return b->motor[object].torque;
    case FM_M_POWER: return fm_add_node(b, FM_DO_PRODUCT, b->motor[object].voltage, b->motor[object].current, 0);
    case FM_T_POSITION: return b->gear[object].position;
    case FM_T_FORCE: return b->gear[object].force;
    case FM_T_POWER: return geared_power(b, object);
    case FM_CY_LENGTH: return b->cylinder[object].line.length;
    case FM_CY_POSITION: return b->cylinder[object].x;
    case FM_CY_FORCE: return b->cylinder[object].force;
    case FM_CY_POWER:
        return fm_add_node(b, FM_DO_PRODUCT, b->cylinder[object].force, b->cylinder[object].line.speed, 0);
    case FM_CY_CAVITATION: return fm_number(b, 0.0);
    case FM_CY_FLOW_A_OUT: return b->cylinder[object].flow[0];
    case FM_CY_FLOW_B_OUT: return b->cylinder[object].flow[1];
    case FM_RO_POWER: return rope_power(b, object);
    case FM_ENERGY: return energy_at(b);
    default: return FM_NO_SLOT;
    }
}

void fm_build_outputs(fm_builder *b)
{
    const fm_image *m = b->m;
    int32_t kind = -1, object = -1, at = FM_NO_SLOT;
    for (int32_t v = 0; v < m->n.variables; v++) {
        const int32_t part = m->variable_component[v] < 0 ? 0 : m->variable_component[v];
        const int other = m->variable_kind[v] != kind || m->variable_object[v] != object;
        kind = m->variable_kind[v], object = m->variable_object[v];
        const int of_tree = fm_kinds[kind].owner != FM_JOINT || !fm_is_cut_joint(m, object);
        b->g->reacts[v] = m->n.rows > 0 && fm_kinds[kind].follows == FM_FOLLOWS_BALANCE;
        if (fm_kinds[kind].place == FM_AT_ACCELERATION && of_tree) {
            b->g->output[v] = b->g->acceleration[fm_mode_of(m, kind, object, part)];
            continue;
        }
        if (fm_kinds[kind].place == FM_AT_MODAL_ACCELERATION) {
            b->g->output[v] = b->g->acceleration[m->link_u[m->body_link[object]] + part];
            continue;
        }
        if (kind == FM_J_ETA || kind == FM_J_KAPPA) { /* of a mode that follows a path; the others are states */
            const int32_t one = m->joint_excitation[object] + part, u = m->n.positions + m->excitation_u[one];
            b->g->output[v] = b->g->leaf.y + (kind == FM_J_ETA ? m->excitation_p[one] : u);
            continue;
        }
        const int32_t place = fm_kinds[kind].place;
        const int moves = fm_kinds[kind].owner == FM_JOINT && place >= FM_AT_POSITION && place <= FM_AT_ACCELERATION;
        if (kind == FM_J_TARGET || kind == FM_J_POSITION || kind == FM_C_TAU) {
            b->g->output[v] = kind == FM_C_TAU ? coupling_at(b, object, part) : program_at(b, kind, object, part);
            continue;
        }
        if (kind == FM_RO_TENSION || kind == FM_RO_PATH || kind == FM_RO_SLACK) {
            b->g->output[v] = side_at(b, kind, m->rope_side[object] + part);
            continue;
        }
        if (fm_kinds[kind].owner == FM_CONTACT && place == FM_AT_NOWHERE) {
            b->g->output[v] = fm_contact_output(b, kind, object, part);
            continue;
        }
        if (other) at = moves && !of_tree ? cut_at(b, kind, object, part) : place_of(b, kind, object);
        if (at != FM_NO_SLOT) b->g->output[v] = kind == FM_FR_FORCE ? b->friction[object].force[part] : at + part;
    }
}
