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

/* a + b x c, of which b is zero on the ground. */
static int32_t add_cross_unless_ground(fm_builder *b, int32_t a, int32_t w, int32_t c)
{
    return w == b->zero ? a : fm_add_node(b, FM_DO_ADD_CROSS, a, w, c);
}

static int32_t add_vector(fm_builder *b, int32_t a, int32_t c)
{
    return a == b->zero ? c : fm_add_node(b, FM_DO_ADD, a, c, 0);
}

static int32_t add_scaled(fm_builder *b, int32_t a, int32_t factor, int32_t v)
{
    return a == b->zero ? fm_add_node(b, FM_DO_SCALE, factor, v, 0) : fm_add_node(b, FM_DO_ADD_SCALED, a, factor, v);
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

/* A joint of one freedom: a turn and a slide along its axis. */
static void build_screw(fm_builder *b, int32_t i, fm_link_slots *k, const fm_link_slots *p)
{
    const fm_image *m = b->m;
    const int32_t kind = m->link_kind[i], q = b->g->leaf.y + m->link_p[i], axis = fm_link_axis(kind);
    const int32_t u = b->g->leaf.y + m->n.positions + m->link_u[i], udot = b->g->acceleration[m->link_u[i]];
    const int screw = kind == FM_LINK_SCREW || kind == FM_LINK_DRIVEN;
    const double pitch = screw ? m->link_screw[6 * i + 2] : kind <= FM_LINK_REVOLUTE ? 1.0 : 0.0;
    const double slide = screw ? m->link_screw[6 * i + 5] : kind == FM_LINK_PRISMATIC ? 1.0 : 0.0;
    double turn[10], e[3] = {0.0, 0.0, 0.0};
    e[axis] = m->link_sign[i];
    memcpy(turn, m->link_R + 9 * i, 9 * sizeof *turn);
    turn[9] = m->link_sign[i] * pitch;
    if (pitch == 0.0) {
        k->R = placed(b, p->R, turn);
    } else {
        k->R = fm_add_node(b, FM_DO_TURN, p->R, q, fm_constant(b, turn, 10));
        if (!b->failed) b->g->node[b->g->nodes - 1].k = axis;
    }
    k->axis = fm_carry(b, k->R, e);
    if (slide != 0.0)
        k->arm = add_scaled(b, k->arm == FM_NO_SLOT ? b->zero : k->arm, fm_times_constant(b, slide, q), k->axis);
    move_origin(b, k, p);
    k->w = p->w, k->alpha = p->alpha;
    const int32_t turned = p->w == b->zero ? FM_NO_SLOT : fm_add_node(b, FM_DO_CROSS, p->w, k->axis, 0);
    if (pitch != 0.0) {
        const int32_t rate = fm_times_constant(b, pitch, u);
        k->w = add_scaled(b, p->w, rate, k->axis);
        k->alpha = add_scaled(b, p->alpha, fm_times_constant(b, pitch, udot), k->axis);
        if (turned != FM_NO_SLOT) k->alpha = fm_add_node(b, FM_DO_ADD_SCALED, k->alpha, rate, turned);
    }
    if (slide != 0.0) {
        k->v = add_scaled(b, k->v, fm_times_constant(b, slide, u), k->axis);
        k->a = fm_add_node(b, FM_DO_ADD_SCALED, k->a, fm_times_constant(b, slide, udot), k->axis);
        if (turned != FM_NO_SLOT)
            k->a = fm_add_node(b, FM_DO_ADD_SCALED, k->a, fm_times_constant(b, 2.0 * slide, u), turned);
    }
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

int fm_build_links(fm_builder *b)
{
    const fm_image *m = b->m;
    for (int32_t u = 0; u < m->n.speeds; u++) b->g->acceleration[u] = b->g->leaf.udot + u;
    for (int32_t i = 0; i < m->n.excitations; i++) b->g->acceleration[m->excitation_u[i]] = given_acceleration(b, i);
    for (int32_t i = 0; i < m->n.links; i++) {
        fm_link_slots *k = b->link + i;
        const fm_link_slots *p = b->link + m->link_parent[i];
        memset(k, 0xff, sizeof *k);
        if (m->link_kind[i] == FM_LINK_GENERAL)
            return fm_uncovered(b, "nonholonomic joint, or joint of several excited and free modes,",
                                m->joint_name[m->link_joint[i]]);
        if (!is_zero(m->link_r + 3 * i)) k->arm = fm_carry(b, p->R, m->link_r + 3 * i);
        if (m->link_kind[i] == FM_LINK_SPHERICAL) build_ball(b, i, k, p);
        else if (m->link_kind[i] == FM_LINK_FRAME) fm_build_frame(b, i);
        else if (m->link_kind[i] == FM_LINK_MODAL && m->link_frame[i] >= 0) fm_build_floating(b, i);
        else if (m->link_kind[i] < FM_LINK_MODAL && m->link_u[i] >= 0) build_screw(b, i, k, p);
        else {
            k->R = placed(b, p->R, m->link_R + 9 * i);
            move_origin(b, k, p);
            k->w = p->w, k->alpha = p->alpha;
        }
        if (m->link_kind[i] != FM_LINK_SPHERICAL) k->size = p->size;
        place_rates(b, i);
    }
    return 1;
}

/* The inertial wrench of a body on its link. */
static void build_body(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const int32_t mass = b->g->leaf.mass + i, inertia = b->g->leaf.inertia + 6 * i;
    const fm_link_slots k = b->link[m->body_link[i]];
    const int32_t axes = placed(b, k.R, m->body_R + 9 * i);
    double centre[3];
    rotate_out(m->body_R + 9 * i, m->com + 3 * i, centre);
    for (int j = 0; j < 3; j++) centre[j] += m->body_r[3 * i + j];
    int32_t arm = FM_NO_SLOT, a = k.a;
    if (!is_zero(centre)) {
        arm = fm_carry(b, k.R, centre);
        a = add_cross_unless_ground(b, a, k.alpha, arm);
        if (k.w != b->zero) a = fm_add_node(b, FM_DO_ADD_CROSS, a, k.w, fm_add_node(b, FM_DO_CROSS, k.w, arm, 0));
    }
    const int32_t force = fm_add_node(b, FM_DO_SCALE, mass, a, 0);
    int32_t torque = FM_NO_SLOT;
    if (k.alpha != b->zero) torque = fm_add_node(b, FM_DO_INERTIA, axes, k.alpha, inertia);
    if (torque != FM_NO_SLOT && k.w != b->zero)
        torque = fm_add_node(b, FM_DO_ADD_CROSS, torque, k.w, fm_add_node(b, FM_DO_INERTIA, axes, k.w, inertia));
    fm_add_wrench(b, m->body_link[i], force, arm, torque, 1);
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
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t kind = m->link_kind[i], u = m->link_u[i], speed = leaf->y + m->n.positions + u;
    const int screw = kind == FM_LINK_SCREW;
    const double pitch = screw ? m->link_screw[6 * i + 2] : kind <= FM_LINK_REVOLUTE ? 1.0 : 0.0;
    const double slide = screw ? m->link_screw[6 * i + 5] : kind == FM_LINK_PRISMATIC ? 1.0 : 0.0;
    const int32_t stretch = fm_add_node(b, FM_DO_DIFFERENCE, link_position(b, i), leaf->rest + u, 0);
    int32_t sum = fm_add_node(b, FM_DO_PRODUCT, leaf->stiffness + u, stretch, 0);
    sum = fm_add_node(b, FM_DO_ADD_PRODUCT, sum, leaf->damping + u, speed);
    sum = fm_add_node(b, FM_DO_DIFFERENCE, sum, b->applied[u], 0);
    if (screw) sum = fm_add_node(b, FM_DO_ADD_PRODUCT, sum, b->rotor[u], b->g->acceleration[u]);
    if (pitch != 0.0 && k->torque != FM_NO_SLOT)
        sum = fm_add_node(b, FM_DO_SUM, sum,
                          fm_times_constant(b, pitch, fm_add_node(b, FM_DO_DOT, k->axis, k->torque, 0)), 0);
    if (slide != 0.0 && k->force != FM_NO_SLOT)
        sum = fm_add_node(b, FM_DO_SUM, sum,
                          fm_times_constant(b, slide, fm_add_node(b, FM_DO_DOT, k->axis, k->force, 0)), 0);
    return sum;
}

static int32_t ball_residual(fm_builder *b, int32_t i, const fm_link_slots *k)
{
    const int reversed = b->m->joint_reversed[b->m->link_joint[i]] != 0;
    const int32_t u = b->m->link_u[i], *applied = b->applied + u, speed = b->g->leaf.y + b->m->n.positions + u;
    const int input = applied[0] == b->g->leaf.tau + u;
    const int32_t tau = input ? applied[0] : fm_add_node(b, FM_DO_VECTOR, applied[0], applied[1], applied[2]);
    const int32_t resisted = fm_build_ball_resistance(b, b->m->link_joint[i], u, link_position(b, i), speed);
    const int32_t sum = b->link[i].resisted = fm_add_node(b, FM_DO_SUBTRACT, resisted, tau, 0);
    if (k->torque == FM_NO_SLOT) return sum;
    return fm_add_node(b, reversed ? FM_DO_SUBTRACT : FM_DO_ADD, sum, fm_add_node(b, FM_DO_BACK, k->axis, k->torque, 0),
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
        } else if (m->link_kind[i] >= FM_LINK_MODAL) {
            fm_build_frame_forces(b, i);
            for (int32_t j = 0; u >= 0 && j < fm_link_speeds(m, i); j++) b->g->residual[u + j] = k->modes + j;
        } else if (u >= 0 && m->link_kind[i] != FM_LINK_DRIVEN) {
            const int32_t at = screw_residual(b, i, k), before = b->g->residual[u];
            b->g->residual[u] = before == FM_NO_SLOT ? at : fm_add_node(b, FM_DO_SUM, before, at, 0);
        }
        if (m->link_parent[i] >= 0) fm_add_wrench(b, m->link_parent[i], k->force, k->arm, k->torque, 1);
    }
}

/* The motion of a point that is fixed in a link, -1 the ground; `moving`: its acceleration too. */
fm_point_slots fm_build_point(fm_builder *b, int32_t link, const double *at, int moving)
{
    const fm_link_slots *k = b->link + link;
    fm_point_slots p = {k->r, k->v, k->a, FM_NO_SLOT};
    if (link < 0) {
        p.r = fm_constant(b, at, 3);
        return p;
    }
    if (is_zero(at)) return p;
    p.arm = fm_carry(b, k->R, at);
    p.r = add_vector(b, k->r, p.arm);
    if (k->w == b->zero) return p;
    const int32_t turned = fm_add_node(b, FM_DO_CROSS, k->w, p.arm, 0);
    p.v = add_vector(b, k->v, turned);
    if (moving)
        p.a = fm_add_node(b, FM_DO_ADD_CROSS, fm_add_node(b, FM_DO_ADD_CROSS, k->a, k->alpha, p.arm), k->w, turned);
    return p;
}
