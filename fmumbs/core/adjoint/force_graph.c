/* force_graph.c: the force elements, by the equations of their files in forces/: for each of FM_FORCE_ELEMENTS a
 * function with its class's name, build_spring, which adds the nodes of element i. 0: it is not covered, and
 * fm_uncovered has said so.
 */
#include "force_graph.h"

#include "../forces/cylinder.h"
#include "../image/joints.h"
#include "builder.h"
#include "contact_graph.h"
#include "law_graph.h"
#include "nodes.h"
#include "rope_graph.h"
#include "tree_graph.h"

static void apply_at(fm_builder *b, int32_t point, const fm_point_slots *p, int32_t force, int sign)
{
    fm_add_wrench(b, b->m->point_link[point], force, p->arm, FM_NO_SLOT, sign);
}

/* Two points and what is between them. */
typedef struct fm_pair_slots {
    int32_t P, Q;
    fm_point_slots p, q;
    int32_t line; /* from P to Q */
} fm_pair_slots;

static fm_pair_slots build_pair(fm_builder *b, int32_t P, int32_t Q, fm_line_slots *out)
{
    const fm_image *m = b->m;
    fm_pair_slots pair = {P, Q, fm_build_point(b, m->point_link[P], m->point_r + 3 * P),
                          fm_build_point(b, m->point_link[Q], m->point_r + 3 * Q), 0};
    pair.line = fm_add_node(b, FM_DO_SUBTRACT, pair.q.r, pair.p.r, 0);
    const int32_t rate = fm_add_node(b, FM_DO_SUBTRACT, pair.q.v, pair.p.v, 0);
    out->length = fm_add_node(b, FM_DO_LENGTH, pair.line, 0, 0);
    out->speed = fm_add_node(b, FM_DO_QUOTIENT, fm_add_node(b, FM_DO_DOT, pair.line, rate, 0), out->length, 0);
    return pair;
}

/* A force along the line, which acts on P towards Q if `sign` is 1, and the opposite on Q; what acts is subtracted from
 * what the links take. */
static void apply_along(fm_builder *b, const fm_pair_slots *pair, int32_t length, int32_t size, int sign)
{
    const int32_t force = fm_add_node(b, FM_DO_SCALE, fm_add_node(b, FM_DO_QUOTIENT, size, length, 0), pair->line, 0);
    apply_at(b, pair->P, &pair->p, force, -sign);
    apply_at(b, pair->Q, &pair->q, force, sign);
}

static int build_spring(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    fm_line_slots *at = b->spring + i;
    const fm_pair_slots pair = build_pair(b, m->spring_P[i], m->spring_Q[i], at);
    const int32_t stretch = fm_add_node(b, FM_DO_DIFFERENCE, at->length, leaf->spring_free_length + i, 0);
    int32_t pull = fm_add_node(b, FM_DO_PRODUCT, leaf->spring_stiffness + i, stretch, 0);
    pull = fm_add_node(b, FM_DO_ADD_PRODUCT, pull, leaf->spring_damping + i, at->speed);
    for (int32_t j = 0; j < m->n.laws; j++)
        if (m->law_spring[j] == i) pull = fm_add_node(b, FM_DO_SUM, pull, fm_build_law(b, j, at->length, at->speed), 0);
    apply_along(b, &pair, at->length, pull, 1);
    b->pull[i] = pull;
    return 1;
}

static int build_load(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const int32_t P = m->load_P[i], link = m->point_link[P];
    if (link < 0) return 1;
    const fm_point_slots p = fm_build_point(b, link, m->point_r + 3 * P);
    int32_t force = b->g->leaf.load + 6 * i, torque = force + 3;
    if (m->load_axes[i] == FM_POINT_AXES) {
        const int32_t R = fm_axes_of_point(b, P);
        force = fm_add_node(b, FM_DO_CARRY, R, force, 0);
        torque = fm_add_node(b, FM_DO_CARRY, R, torque, 0);
    }
    fm_add_wrench(b, link, force, p.arm, torque, -1);
    return 1;
}

static int build_rope(fm_builder *b, int32_t i)
{
    for (int32_t k = 0; k < b->m->rope_sides[i]; k++) fm_build_side(b, b->m->rope_side[i] + k);
    return 1;
}

static int build_actuator(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    fm_line_slots *at = b->actuator + i;
    const fm_pair_slots pair = build_pair(b, m->actuator_P[i], m->actuator_Q[i], at);
    apply_along(b, &pair, at->length, b->g->leaf.control + m->actuator_force[i], -1);
    return 1;
}

/* The torque on its joint, the rate of its current, and its rotor's inertia at the joint. */
/* The torque that the gear of a motor passes on: c of motor.c times it, and what it holds while its law sticks. */
static int32_t passed_on(fm_builder *b, int32_t i, int32_t torque)
{
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t law = b->m->motor_loss_law[i], e = leaf->motor_efficiency + i;
    if (law < 0) return torque;
    int32_t c = fm_add_node(b, FM_DO_DIFFERENCE, fm_number(b, 1.0),
                            fm_add_node(b, FM_DO_SUM, leaf->driving + i, leaf->driven + i, 0), 0);
    c = fm_add_node(b, FM_DO_ADD_PRODUCT, c, leaf->driving + i, e);
    c = fm_add_node(b, FM_DO_SUM, c, fm_add_node(b, FM_DO_QUOTIENT, leaf->driven + i, e, 0), 0);
    const int32_t passed = fm_add_node(b, FM_DO_ADD_PRODUCT, leaf->held + law, c, torque);
    b->g->unknown[law] = leaf->held + law;
    b->law[law] = fm_add_node(b, FM_DO_DIFFERENCE, passed, torque, 0);
    return passed;
}

/* The first of two numbers unless the current of a motor is held at its limit, else the second one. */
static int32_t unless_held(fm_builder *b, int32_t i, int32_t one, int32_t other)
{
    if (b->m->motor_current_law[i] < 0) return one;
    const int32_t held = fm_add_node(b, FM_DO_ABSOLUTE, b->g->leaf.curbed + i, 0, 0);
    return fm_add_node(b, FM_DO_ADD_PRODUCT, one, held, fm_add_node(b, FM_DO_DIFFERENCE, other, one, 0));
}

static int build_motor(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t u = m->motor_u[i], state = b->model->bristles + m->motor_state[i], R = leaf->motor_resistance + i;
    const int32_t gear = leaf->motor_gear + i, square = fm_add_node(b, FM_DO_PRODUCT, gear, gear, 0);
    const int32_t strength = fm_add_node(b, FM_DO_PRODUCT, gear, leaf->motor_constant + i, 0);
    const int32_t back = fm_add_node(b, FM_DO_PRODUCT, strength, leaf->y + m->n.positions + u, 0);
    fm_motor_slots *at = b->motor + i;
    at->voltage = fm_add_node(b, FM_DO_LIMIT, leaf->control + m->motor_voltage[i], leaf->motor_voltage_limit + i, 0);
    int32_t drop = fm_add_node(b, FM_DO_DIFFERENCE, at->voltage, back, 0);
    if (m->motor_state[i] < 0) {
        const int32_t most = fm_add_node(b, FM_DO_PRODUCT, leaf->curbed + i, leaf->motor_current_limit + i, 0);
        at->current = unless_held(b, i, fm_add_node(b, FM_DO_QUOTIENT, drop, R, 0), most);
    } else {
        at->current = leaf->y + state;
        drop = fm_add_node(b, FM_DO_DIFFERENCE, drop, fm_add_node(b, FM_DO_PRODUCT, R, at->current, 0), 0);
        drop = fm_add_node(b, FM_DO_QUOTIENT, drop, leaf->motor_inductance + i, 0);
        b->g->rate[state] = unless_held(b, i, drop, fm_number(b, 0.0));
    }
    at->voltage = unless_held(b, i, at->voltage, fm_add_node(b, FM_DO_ADD_PRODUCT, back, R, at->current));
    at->torque = passed_on(b, i, fm_add_node(b, FM_DO_PRODUCT, strength, at->current, 0));
    b->applied[u] = fm_add_node(b, FM_DO_SUM, b->applied[u], at->torque, 0);
    b->rotor[u] = fm_add_node(b, FM_DO_ADD_PRODUCT, b->rotor[u], square, leaf->motor_rotor_inertia + i);
    return 1;
}

/* The first coordinate less the ratio times the second one. */
static int32_t less_geared(fm_builder *b, int32_t gear, int32_t first, int32_t second)
{
    const int32_t turned = fm_add_node(b, FM_DO_PRODUCT, b->g->leaf.gear_ratio + gear, second, 0);
    return fm_add_node(b, FM_DO_DIFFERENCE, first, turned, 0);
}

/* With x its position, b the play, and on which flank its teeth are, 1, -1 or 0: the force on the first coordinate is
 * -flank k (flank x - b / 2), less d v while they are pressed further. */
static int build_gear(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t law = m->gear_law[i], u = m->law_u[law], other = m->gear_u[i], speeds = leaf->y + m->n.positions;
    const int32_t x = less_geared(b, i, leaf->y + m->law_p[law], leaf->y + m->gear_p[i]);
    const int32_t v = less_geared(b, i, speeds + u, speeds + other), flank = leaf->flank + i;
    fm_gear_slots *at = b->gear + i;
    at->position = fm_add_node(b, FM_DO_DIFFERENCE, x, leaf->gear_offset + i, 0);
    const int32_t over = fm_add_node(b, FM_DO_DIFFERENCE, fm_add_node(b, FM_DO_PRODUCT, flank, at->position, 0),
                                     fm_times_constant(b, 0.5, leaf->gear_backlash + i), 0);
    const int32_t spring = fm_add_node(b, FM_DO_PRODUCT, leaf->gear_stiffness + i, over, 0);
    const int32_t drag = fm_add_node(b, FM_DO_PRODUCT, leaf->gear_damping + i, v, 0);
    int32_t back = fm_add_node(b, FM_DO_PRODUCT, flank, spring, 0);
    back = fm_add_node(b, FM_DO_ADD_PRODUCT, back, leaf->pressed + i, drag);
    at->force = fm_times_constant(b, -1.0, back);
    b->applied[u] = fm_add_node(b, FM_DO_SUM, b->applied[u], at->force, 0);
    b->applied[other] = fm_add_node(b, FM_DO_ADD_PRODUCT, b->applied[other], leaf->gear_ratio + i, back);
    return 1;
}

/* The flow into a chamber of a cylinder with a valve that is so `wide`; fed: 1 from the supply, 0 from the tank. */
static int32_t valve_flow(fm_builder *b, int32_t i, int32_t wide, int32_t fed, int32_t pressure)
{
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t tank = leaf->cylinder_tank + i;
    const int32_t all = fm_add_node(b, FM_DO_DIFFERENCE, leaf->cylinder_supply + i, tank, 0);
    const int32_t drop =
        fm_add_node(b, FM_DO_DIFFERENCE, fm_add_node(b, FM_DO_ADD_PRODUCT, tank, fed, all), pressure, 0);
    const int32_t z = fm_add_node(b, FM_DO_QUOTIENT, drop, leaf->cylinder_rated_drop + i, 0);
    const int32_t square = fm_add_node(b, FM_DO_ADD_PRODUCT, fm_number(b, FM_LAMINAR * FM_LAMINAR), z, z);
    const int32_t root = fm_add_node(b, FM_DO_ROOT, fm_add_node(b, FM_DO_ROOT, square, 0, 0), 0, 0);
    const int32_t part = fm_add_node(b, FM_DO_PRODUCT, wide, leaf->cylinder_rated_flow + i, 0);
    return fm_add_node(b, FM_DO_PRODUCT, part, fm_add_node(b, FM_DO_QUOTIENT, z, root, 0), 0);
}

static void find_flows(fm_builder *b, int32_t i, fm_cylinder_slots *at)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    if (m->cylinder_opening[i] < 0) {
        at->flow[0] = leaf->control + m->cylinder_flow_A[i], at->flow[1] = leaf->control + m->cylinder_flow_B[i];
        return;
    }
    const int32_t wide =
        fm_add_node(b, FM_DO_ADD_PRODUCT, leaf->cut + i, leaf->follows + i, leaf->control + m->cylinder_opening[i]);
    const int32_t other = fm_add_node(b, FM_DO_DIFFERENCE, fm_number(b, 1.0), leaf->feeds + i, 0);
    at->flow[0] = valve_flow(b, i, wide, leaf->feeds + i, at->pressure[0]);
    at->flow[1] = valve_flow(b, i, wide, other, at->pressure[1]);
}

/* The pressures' rates. */
static void rate_pressures(fm_builder *b, int32_t i, const fm_cylinder_slots *at)
{
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t more = fm_add_node(b, FM_DO_DIFFERENCE, at->pressure[0], at->pressure[1], 0);
    const int32_t lost = fm_add_node(b, FM_DO_PRODUCT, leaf->cylinder_leakage + i, more, 0);
    const int32_t area[2] = {leaf->cylinder_area_A + i, leaf->cylinder_area_B + i};
    for (int j = 0; j < 2; j++) {
        const int32_t moved = fm_add_node(b, FM_DO_PRODUCT, area[j], at->line.speed, 0);
        const int32_t gained = fm_add_node(b, j == 0 ? FM_DO_DIFFERENCE : FM_DO_SUM, at->flow[j], moved, 0);
        const int32_t kept = fm_add_node(b, j == 0 ? FM_DO_DIFFERENCE : FM_DO_SUM, gained, lost, 0);
        const int32_t per = fm_add_node(b, FM_DO_QUOTIENT, leaf->cylinder_bulk_modulus + i, at->volume[j], 0);
        b->g->rate[b->model->bristles + b->m->cylinder_state[i] + j] = fm_add_node(b, FM_DO_PRODUCT, per, kept, 0);
    }
}

static int build_cylinder(fm_builder *b, int32_t i)
{
    const fm_leaves *leaf = &b->g->leaf;
    fm_cylinder_slots *at = b->cylinder + i;
    const int32_t area[2] = {leaf->cylinder_area_A + i, leaf->cylinder_area_B + i};
    const fm_pair_slots pair = build_pair(b, b->m->cylinder_P[i], b->m->cylinder_Q[i], &at->line);
    at->x = fm_add_node(b, FM_DO_DIFFERENCE, at->line.length, leaf->cylinder_closed_length + i, 0);
    const int32_t left = fm_add_node(b, FM_DO_DIFFERENCE, leaf->cylinder_stroke + i, at->x, 0);
    at->volume[0] = fm_add_node(b, FM_DO_ADD_PRODUCT, leaf->cylinder_dead_volume_A + i, area[0], at->x);
    at->volume[1] = fm_add_node(b, FM_DO_ADD_PRODUCT, leaf->cylinder_dead_volume_B + i, area[1], left);
    for (int j = 0; j < 2; j++) at->pressure[j] = leaf->y + b->model->bristles + b->m->cylinder_state[i] + j;
    at->force = fm_add_node(b, FM_DO_DIFFERENCE, fm_add_node(b, FM_DO_PRODUCT, area[0], at->pressure[0], 0),
                            fm_add_node(b, FM_DO_PRODUCT, area[1], at->pressure[1], 0), 0);
    apply_along(b, &pair, at->line.length, at->force, -1);
    find_flows(b, i, at);
    rate_pressures(b, i, at);
    return 1;
}

/* Its spots act. */
static int build_contact(fm_builder *b, int32_t i)
{
    (void)b, (void)i;
    return 1;
}

static int build_spot(fm_builder *b, int32_t i)
{
    fm_build_spot(b, i);
    return 1;
}

static int build_roll(fm_builder *b, int32_t i)
{
    fm_build_roll(b, i);
    return 1;
}

/* Forces on the links. */
int fm_build_forces(fm_builder *b)
{
    const fm_image *m = b->m;
#define O(id, one, all)                       \
    for (int32_t i = 0; i < m->n.all; i++)    \
        if (!build_##one(b, i)) return 0;
    FM_FORCE_ELEMENTS(O)
#undef O
    return 1;
}
