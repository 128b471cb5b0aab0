/* tree_graph.c: the motion of links, the forces of bodies, and the residuals of the velocity variables.
 *
 * From the roots to the leaves, all in world axes, e a joint's axis, l the arm from the parent's origin,
 *     w = w_p + e u,   alpha = alpha_p + e u' + w_p x e u,   a = a_p + alpha_p x l + w_p x (w_p x l),
 * with gravity subtracted from a; and from the leaves to the roots the wrench that each link takes, of which e is the
 * residual: M u' + h - Q - J' lambda, in terms of the velocity variables (tree/inverse.c). Axes and signs are those of
 * links; a ball that is traversed from M to F has its velocities in axes that are fixed in the parent (reversed.c).
 */
#include "tree_graph.h"

#include "../image/joints.h"
#include "../maths/vectors.h"
#include "builder.h"
#include "flexible_graph.h"
#include "general_graph.h"
#include "matrix_graph.h"
#include "nodes.h"

#include <string.h>

static int is_zero(const double v[3])
{
    return v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0;
}

static int is_identity(const double R[9])
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    return memcmp(R, identity, sizeof identity) == 0;
}

static int32_t add_vector(fm_builder *b, int32_t a, int32_t c)
{
    return a == b->zero ? c : fm_add_node(b, FM_DO_ADD, a, c, 0);
}

/* A frame that is fixed in another. */
static int32_t placed(fm_builder *b, int32_t R, const double *R0)
{
    return is_identity(R0) ? R : fm_add_node(b, FM_DO_PLACE, R, 0, fm_constant(b, R0, 9));
}

/* The motion of a link's origin as of its parent's body, at its arm. */
static void move_origin(fm_builder *b, fm_link_slots *k, const fm_link_slots *p)
{
    k->r = p->r, k->v = p->v, k->a = p->a;
    if (k->arm == FM_NO_SLOT) return;
    k->r = add_vector(b, p->r, k->arm);
    if (p->w == b->zero) return;
    const int32_t turned = fm_add_node(b, FM_DO_CROSS, p->w, k->arm, 0);
    k->v = add_vector(b, p->v, turned);
    k->a = fm_add_node(b, FM_DO_ADD_CROSS, fm_add_node(b, FM_DO_ADD_CROSS, p->a, p->alpha, k->arm), p->w, turned);
}

/* How far a joint of one freedom turns and slides by a unit of its coordinate. */
void fm_find_screw(const fm_image *m, int32_t i, double *turn, double *slide)
{
    const int32_t kind = m->link_kind[i];
    const int screw = kind == FM_LINK_SCREW || kind == FM_LINK_DRIVEN;
    *turn = screw ? m->link_screw[6 * i + 2] : kind <= FM_LINK_REVOLUTE ? 1.0 : 0.0;
    *slide = screw ? m->link_screw[6 * i + 5] : kind == FM_LINK_PRISMATIC ? 1.0 : 0.0;
}

/* A joint of one freedom: a turn and a slide along its axis. */
static void build_screw(fm_builder *b, int32_t i, fm_link_slots *k)
{
    const fm_image *m = b->m;
    const int32_t rate = b->g->leaf.y + m->n.positions + m->link_u[i], second = b->g->acceleration[m->link_u[i]];
    const int32_t at =
        fm_add_part(b, FM_DO_JOINT, rate, b->g->leaf.y + m->link_p[i], second, 1 + m->link_parent[i], FM_JOINT_NUMBERS);
    if (b->failed) return;
    double *numbers = b->g->value + at;
    memcpy(numbers + FM_JOINT_R0, m->link_R + 9 * i, 9 * sizeof *numbers);
    memcpy(numbers + FM_JOINT_AT, m->link_r + 3 * i, 3 * sizeof *numbers);
    fm_find_screw(m, i, numbers + FM_JOINT_TURN, numbers + FM_JOINT_SLIDE);
    numbers[FM_JOINT_SIGN] = m->link_sign[i], numbers[FM_JOINT_ABOUT] = fm_link_axis(m->link_kind[i]);
    numbers[FM_JOINT_TURNS] = !is_identity(numbers + FM_JOINT_R0);
    k->R = at + FM_MOTION_R, k->r = at + FM_MOTION_PLACE;
    k->w = at + FM_MOTION_W, k->v = at + FM_MOTION_V;
    k->alpha = at + FM_MOTION_ALPHA, k->a = at + FM_MOTION_A;
    k->axis = at + FM_JOINT_AXIS, k->arm = at + FM_JOINT_ARM;
}

/* k->axis: the axes of its velocities. */
static void build_ball(fm_builder *b, int32_t i, fm_link_slots *k, const fm_link_slots *p)
{
    const fm_image *m = b->m;
    const int32_t u = b->g->leaf.y + m->n.positions + m->link_u[i], udot = b->g->acceleration[m->link_u[i]];
    const int reversed = m->joint_reversed[m->link_joint[i]] != 0;
    double turn[10];
    memcpy(turn, m->link_R + 9 * i, 9 * sizeof *turn);
    turn[9] = reversed ? -1.0 : 1.0;
    k->R = fm_add_node(b, FM_DO_BALL, p->R, b->g->leaf.y + m->link_p[i], fm_constant(b, turn, 10));
    const int32_t size = fm_add_node(b, FM_DO_SIZE, b->g->leaf.y + m->link_p[i], 0, 0);
    k->size = p->size == FM_NO_SLOT ? size : fm_add_node(b, FM_DO_PRODUCT, p->size, size, 0);
    k->axis = reversed ? placed(b, p->R, turn) : k->R;
    const int32_t spin = fm_add_node(b, FM_DO_CARRY, k->axis, u, 0),
                  more = fm_add_node(b, FM_DO_CARRY, k->axis, udot, 0);
    move_origin(b, k, p);
    k->w = reversed ? fm_add_node(b, FM_DO_SUBTRACT, p->w, spin, 0) : add_vector(b, p->w, spin);
    k->alpha = reversed ? fm_add_node(b, FM_DO_SUBTRACT, p->alpha, more, 0) : add_vector(b, p->alpha, more);
    /* w_p x spin, spin = w - w_p */
    if (p->w != b->zero) k->alpha = fm_add_node(b, FM_DO_ADD_CROSS, k->alpha, p->w, k->w);
}

/* The acceleration of a mode that an input or a path gives. */
static int32_t given_acceleration(fm_builder *b, int32_t excitation)
{
    const fm_image *m = b->m;
    const int32_t u = m->excitation_u[excitation], input = b->g->leaf.tau + u;
    const int32_t q = b->g->leaf.y + m->excitation_p[excitation], speed = b->g->leaf.y + m->n.positions + u;
    const double omega = m->excitation_cutoff[excitation];
    if (m->excitation_kind[excitation] == FM_EXCITED_BY_ACCELERATION) return input;
    if (m->excitation_kind[excitation] == FM_EXCITED_BY_PATH) return b->g->leaf.udot + u;
    const int32_t off = fm_times_constant(b, omega, fm_add_node(b, FM_DO_DIFFERENCE, input, q, 0));
    return fm_times_constant(b, omega, fm_add_node(b, FM_DO_DIFFERENCE, off, fm_times_constant(b, 2.0, speed), 0));
}

static int32_t link_position(fm_builder *b, int32_t i)
{
    return b->g->leaf.y + b->m->link_p[i];
}

/* q (0, w) / 2, and under a host's integration the pull to unit length (motion/pull.c). */
static int32_t quaternion_rate(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const int32_t w = b->g->leaf.y + m->n.positions + m->link_u[i], gravity = b->g->leaf.gravity;
    const int32_t weight = fm_add_node(b, FM_DO_ROOT, fm_add_node(b, FM_DO_DOT, gravity, gravity, 0), 0, 0);
    const int32_t square = fm_times_constant(b, 1.0 / 3.0, fm_add_node(b, FM_DO_DOT, w, w, 0));
    const int32_t sum = fm_add_node(b, FM_DO_SUM, fm_times_constant(b, 1.0 / m->length[0], weight), square, 0);
    const int32_t pull = fm_add_node(b, FM_DO_PRODUCT, b->g->leaf.hosted, fm_add_node(b, FM_DO_ROOT, sum, 0, 0), 0);
    return fm_add_node(b, FM_DO_QUATERNION_RATE, link_position(b, i), w, pull);
}

static void place_rates(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const int32_t p = m->link_p[i], u = m->link_u[i];
    if (u < 0) return;
    if (m->link_kind[i] != FM_LINK_SPHERICAL) {
        for (int32_t j = 0; j < fm_link_speeds(m, i); j++) b->g->rate[p + j] = b->g->leaf.y + m->n.positions + u + j;
        return;
    }
    const int32_t at = quaternion_rate(b, i);
    for (int j = 0; j < 4; j++) b->g->rate[p + j] = at + j;
}

/* Where operations of links find the motion of one, -1 the ground. */
void fm_keep_motion(fm_builder *b, int32_t i)
{
    const fm_link_slots *k = b->link + i;
    const fm_motion_places at = {k->R, k->r, k->w, k->v, k->alpha, k->a};
    b->g->motion[1 + i] = at;
}

int fm_build_links(fm_builder *b)
{
    const fm_image *m = b->m;
    for (int32_t u = 0; u < m->n.speeds; u++) b->g->acceleration[u] = b->g->leaf.udot + u;
    for (int32_t i = 0; i < m->n.excitations; i++) b->g->acceleration[m->excitation_u[i]] = given_acceleration(b, i);
    for (int32_t i = 0; i < m->n.links; i++) {
        fm_link_slots *k = b->link + i;
        const fm_link_slots *p = b->link + m->link_parent[i];
        memset(k, 0xff, sizeof *k);
        const int general = m->link_kind[i] == FM_LINK_GENERAL;
        const int screw =
            !general && m->link_kind[i] < FM_LINK_MODAL && m->link_kind[i] != FM_LINK_SPHERICAL && m->link_u[i] >= 0;
        if (general && m->n.rows > 0)
            return fm_uncovered(b, "in a mechanism with loops the nonholonomic joint", m->joint_name[m->link_joint[i]]);
        if (!screw && !general && !is_zero(m->link_r + 3 * i)) k->arm = fm_carry(b, p->R, m->link_r + 3 * i);
        if (screw) build_screw(b, i, k);
        else if (general) fm_build_general(b, i);
        else if (m->link_kind[i] == FM_LINK_SPHERICAL) build_ball(b, i, k, p);
        else if (m->link_kind[i] == FM_LINK_FRAME) fm_build_frame(b, i);
        else if (m->link_kind[i] == FM_LINK_MODAL && m->link_frame[i] >= 0) fm_build_floating(b, i);
        else {
            k->R = placed(b, p->R, m->link_R + 9 * i);
            move_origin(b, k, p);
            k->w = p->w, k->alpha = p->alpha;
        }
        if (m->link_kind[i] != FM_LINK_SPHERICAL) k->size = p->size;
        fm_keep_motion(b, i);
        if (!general) place_rates(b, i);
    }
    return 1;
}

/* The inertial wrench of a body on its link. */
static void build_body(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    fm_link_slots *k = b->link + m->body_link[i];
    double centre[3];
    rotate_out(m->body_R + 9 * i, m->com + 3 * i, centre);
    for (int j = 0; j < 3; j++) centre[j] += m->body_r[3 * i + j];
    const int32_t axes = placed(b, k->R, m->body_R + 9 * i);
    k->wrench = fm_add_part(b, FM_DO_BODY, axes, fm_wrench_of(b, k), fm_constant(b, centre, 3), i, FM_BODY_NUMBERS);
}

void fm_build_bodies(fm_builder *b)
{
    for (int32_t i = 0; i < b->m->n.bodies; i++)
        if (b->m->body_link[i] >= 0) build_body(b, i);
    for (int32_t i = 0; i < b->m->n.modals; i++) fm_build_flexible(b, i);
}

/* What a joint of one freedom takes, less the input and its spring and damper. */
static int32_t screw_residual(fm_builder *b, int32_t i, const fm_link_slots *k)
{
    const fm_image *m = b->m;
    const int32_t u = m->link_u[i];
    const int32_t sum = fm_add_part(b, FM_DO_RESIDUAL, k->axis, fm_wrench_of(b, k), b->applied[u], i, 3);
    if (!b->failed) fm_find_screw(m, i, b->g->value + sum + 1, b->g->value + sum + 2);
    if (m->link_kind[i] != FM_LINK_SCREW) return sum;
    return fm_add_node(b, FM_DO_ADD_PRODUCT, sum, b->rotor[u], b->g->acceleration[u]);
}

static int32_t ball_residual(fm_builder *b, int32_t i, const fm_link_slots *k)
{
    const int reversed = b->m->joint_reversed[b->m->link_joint[i]] != 0;
    const int32_t u = b->m->link_u[i], *applied = b->applied + u, speed = b->g->leaf.y + b->m->n.positions + u;
    const int input = applied[0] == b->g->leaf.tau + u;
    const int32_t tau = input ? applied[0] : fm_add_node(b, FM_DO_VECTOR, applied[0], applied[1], applied[2]);
    const int32_t resisted = fm_build_ball_resistance(b, b->m->link_joint[i], u, link_position(b, i), speed);
    const int32_t sum = b->link[i].resisted = fm_add_node(b, FM_DO_SUBTRACT, resisted, tau, 0);
    if (k->wrench == FM_NO_SLOT) return sum;
    return fm_add_node(b, reversed ? FM_DO_SUBTRACT : FM_DO_ADD, sum, fm_add_node(b, FM_DO_BACK, k->axis, k->wrench, 0),
                       0);
}

/* From the leaves to the roots. Couplings of coordinates have their forces in g->residual already. */
void fm_build_residuals(fm_builder *b)
{
    const fm_image *m = b->m;
    for (int32_t i = m->n.links - 1; i >= 0; i--) {
        const fm_link_slots *k = b->link + i;
        const int32_t u = m->link_u[i];
        if (m->link_kind[i] == FM_LINK_SPHERICAL) {
            const int32_t at = ball_residual(b, i, k);
            for (int j = 0; j < 3; j++) b->g->residual[u + j] = at + j;
        } else if (m->link_kind[i] == FM_LINK_GENERAL) {
            fm_build_general_forces(b, i);
        } else if (m->link_kind[i] >= FM_LINK_MODAL) {
            fm_build_frame_forces(b, i);
            const int32_t forces = u >= 0 ? fm_forces_on_modes(b, i) : FM_NO_SLOT;
            for (int32_t j = 0; u >= 0 && j < fm_link_speeds(m, i); j++) b->g->residual[u + j] = forces + j;
        } else if (u >= 0 && m->link_kind[i] != FM_LINK_DRIVEN) {
            const int32_t at = screw_residual(b, i, k), before = b->g->residual[u];
            b->g->residual[u] = before == FM_NO_SLOT ? at : fm_add_node(b, FM_DO_SUM, before, at, 0);
        }
        fm_pass_wrench(b, k, m->link_parent[i]);
    }
}

/* The axes of a point of the image in the world. */
int32_t fm_axes_of_point(fm_builder *b, int32_t point)
{
    const fm_image *m = b->m;
    return fm_add_node(b, FM_DO_PLACE, b->link[m->point_link[point]].R, 0, fm_constant(b, m->point_R + 9 * point, 9));
}

/* The motion of a point that is fixed in a link, -1 the ground. */
fm_point_slots fm_build_point(fm_builder *b, int32_t link, const double *at)
{
    const fm_link_slots *k = b->link + link;
    fm_point_slots p = {k->r, k->v, k->a, FM_NO_SLOT};
    if (link < 0) {
        p.r = fm_constant(b, at, 3);
        return p;
    }
    if (is_zero(at)) return p;
    p.arm = fm_add_part(b, FM_DO_POINT, 0, fm_constant(b, at, 3), 0, link, 12);
    p.r = p.arm + FM_POINT_AT, p.v = p.r + 3, p.a = p.v + 3;
    return p;
}
