/* flexible_graph.c: floating frames of flexible bodies and the frames that move with their modes, by the equations of
 * tree/modal.c and bend.c, in world axes.
 *
 * A frame with the rotation vector t and the displacement from the floating frame d, both linear in the modes, turns
 * with s = R T(t) t' relative to it, R the floating frame's axes, and T(t) t' has the rate T(t) t'' + T' t'. The frame
 * by which a body hangs is that of the parent link, from which the floating frame's motion follows.
 */
#include "flexible_graph.h"

#include "../maths/vectors.h"
#include "builder.h"
#include "nodes.h"

/* Where the coordinates of all shapes of a body, their rates and their accelerations are among the values. */
typedef struct shapes {
    int32_t q, rate, second, count;
} shapes;

static shapes shapes_of(fm_builder *b, int32_t body)
{
    const fm_image *m = b->m;
    const int32_t link = m->modal_link[body], all = m->modal_shapes[body] + m->modal_seconds[body];
    const shapes modes = {b->g->leaf.y + m->link_p[link], b->g->leaf.y + m->n.positions + m->link_u[link],
                          b->g->leaf.udot + m->link_u[link], all};
    if (m->modal_seconds[body] == 0) return modes;
    if (b->g->shapes[body] == FM_NO_SLOT)
        b->g->shapes[body] = fm_add_part(b, FM_DO_SHAPES, modes.q, modes.rate, modes.second, body, 3 * all);
    const int32_t at = b->g->shapes[body];
    return (shapes){at, at + all, at + 2 * all, all};
}

/* What a frame's modes make of coordinates: translations, or a rotation vector. */
static int32_t of_modes(fm_builder *b, int32_t frame, int rotation, int32_t at)
{
    return fm_add_part(b, FM_DO_OF_MODES, at, 0, 0, rotation ? ~frame : frame, 3);
}

/* c_k of a frame's rotation vector (operations.c). */
static int32_t stumpff(fm_builder *b, const fm_link_slots *f, int32_t k)
{
    return fm_add_part(b, FM_DO_STUMPFF, f->x, 0, 0, k, 1);
}

/* T(t) v = v + c_2 t x v + c_3 t x (t x v) */
static int32_t turn(fm_builder *b, const fm_link_slots *f, int32_t v)
{
    const int32_t once = fm_add_node(b, FM_DO_CROSS, f->theta, v, 0);
    const int32_t twice = fm_add_node(b, FM_DO_CROSS, f->theta, once, 0);
    return fm_add_node(b, FM_DO_ADD_SCALED, fm_add_node(b, FM_DO_ADD_SCALED, v, f->c2, once), f->c3, twice);
}

/* T(t)' v */
static int32_t turn_back(fm_builder *b, const fm_link_slots *f, int32_t v)
{
    const int32_t once = fm_add_node(b, FM_DO_CROSS, v, f->theta, 0);
    const int32_t twice = fm_add_node(b, FM_DO_CROSS, once, f->theta, 0);
    return fm_add_node(b, FM_DO_ADD_SCALED, fm_add_node(b, FM_DO_ADD_SCALED, v, f->c2, once), f->c3, twice);
}

/* T' t' at the rate t' of t: (t . t') ((2 c_4 - c_3) t x t' + (3 c_5 - c_4) t x (t x t')) + c_3 t' x (t x t'). */
static int32_t drift(fm_builder *b, const fm_link_slots *f, int32_t rate)
{
    const int32_t once = fm_add_node(b, FM_DO_CROSS, f->theta, rate, 0);
    const int32_t twice = fm_add_node(b, FM_DO_CROSS, f->theta, once, 0);
    const int32_t third = fm_add_node(b, FM_DO_CROSS, rate, once, 0);
    const int32_t along = fm_add_node(b, FM_DO_DOT, f->theta, rate, 0);
    const int32_t c4 = stumpff(b, f, 4), c5 = stumpff(b, f, 5);
    const int32_t by_once = fm_add_node(b, FM_DO_DIFFERENCE, fm_times_constant(b, 2.0, c4), f->c3, 0);
    const int32_t by_twice = fm_add_node(b, FM_DO_DIFFERENCE, fm_times_constant(b, 3.0, c5), c4, 0);
    int32_t sum = fm_add_node(b, FM_DO_SCALE, fm_add_node(b, FM_DO_PRODUCT, along, by_once, 0), once, 0);
    sum = fm_add_node(b, FM_DO_ADD_SCALED, sum, fm_add_node(b, FM_DO_PRODUCT, along, by_twice, 0), twice);
    return fm_add_node(b, FM_DO_ADD_SCALED, sum, f->c3, third);
}

/* The motion of a frame relative to the floating frame: in its axes d, in world axes s, d' and the rest of their rates.
 */
typedef struct relative {
    int32_t d, spin, rate, spin_rate, second;
} relative;

/* Keeps the rotation vector in the slots. */
static relative move_in_body(fm_builder *b, int32_t frame, int32_t floating, const double *start, fm_link_slots *f)
{
    const fm_image *m = b->m;
    const shapes of = shapes_of(b, m->link_modal[floating]);
    const int32_t q = of.q, u = of.rate, udot = of.second, R = b->link[floating].R;
    relative out;
    const int32_t rate = of_modes(b, frame, 1, u);
    f->theta = of_modes(b, frame, 1, q);
    f->x = fm_add_node(b, FM_DO_DOT, f->theta, f->theta, 0);
    f->c2 = stumpff(b, f, 2), f->c3 = stumpff(b, f, 3);
    const int32_t bent = fm_add_node(b, FM_DO_ADD, of_modes(b, frame, 0, q), fm_constant(b, start, 3), 0);
    const int32_t more = fm_add_node(b, FM_DO_ADD, turn(b, f, of_modes(b, frame, 1, udot)), drift(b, f, rate), 0);
    out.d = bent;
    out.spin = fm_add_node(b, FM_DO_CARRY, R, turn(b, f, rate), 0);
    out.rate = fm_add_node(b, FM_DO_CARRY, R, of_modes(b, frame, 0, u), 0);
    out.spin_rate = fm_add_node(b, FM_DO_CARRY, R, more, 0);
    out.second = fm_add_node(b, FM_DO_CARRY, R, of_modes(b, frame, 0, udot), 0);
    return out;
}

/* The velocity and the acceleration of a point at an arm in a link that moves there, relative to the link's origin's.
 */
static void move_point(fm_builder *b, const fm_link_slots *k, int32_t arm, const relative *in, int32_t *v, int32_t *a)
{
    const int32_t turned = fm_add_node(b, FM_DO_CROSS, k->w, arm, 0);
    const int32_t twice = fm_add_node(b, FM_DO_ADD_SCALED, turned, fm_number(b, 2.0), in->rate);
    *v = fm_add_node(b, FM_DO_ADD, turned, in->rate, 0);
    *a = fm_add_node(b, FM_DO_ADD_CROSS, fm_add_node(b, FM_DO_ADD_CROSS, in->second, k->alpha, arm), k->w, twice);
}

/* A link that moves with the modes of its parent. */
void fm_build_frame(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    fm_link_slots *k = b->link + i;
    const fm_link_slots *p = b->link + m->link_parent[i];
    const relative in = move_in_body(b, m->link_frame[i], m->link_parent[i], m->link_r + 3 * i, k);
    int32_t v, a;
    k->R = fm_add_part(b, FM_DO_ROTATE, p->R, k->theta, 0, 0, 9);
    k->arm = fm_add_node(b, FM_DO_CARRY, p->R, in.d, 0);
    k->r = fm_add_node(b, FM_DO_ADD, p->r, k->arm, 0);
    k->w = fm_add_node(b, FM_DO_ADD, p->w, in.spin, 0);
    k->alpha = fm_add_node(b, FM_DO_ADD_CROSS, fm_add_node(b, FM_DO_ADD, p->alpha, in.spin_rate, 0), p->w, in.spin);
    move_point(b, p, k->arm, &in, &v, &a);
    k->v = fm_add_node(b, FM_DO_ADD, p->v, v, 0), k->a = fm_add_node(b, FM_DO_ADD, p->a, a, 0);
}

/* A floating frame, of a body that hangs by one of its frames at p in it, which is the parent link's. */
void fm_build_floating(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    fm_link_slots *k = b->link + i;
    const fm_link_slots *p = b->link + m->link_parent[i];
    const double *start = m->modal_r + 3 * m->link_modal[i];
    const int32_t frame = m->link_frame[i], q = shapes_of(b, m->link_modal[i]).q;
    double at[3];
    int32_t v, a;
    k->theta = of_modes(b, frame, 1, q);
    const int32_t R0 = fm_add_node(b, FM_DO_PLACE, p->R, 0, fm_constant(b, m->link_R + 9 * i, 9));
    k->R = fm_add_part(b, FM_DO_ROTATE, R0, k->theta, 0, -1, 9);
    const relative in = move_in_body(b, frame, i, start, k);
    rotate_out(m->link_R + 9 * i, start, at);
    for (int j = 0; j < 3; j++) at[j] += m->link_r[3 * i + j];
    const int32_t to = fm_carry(b, p->R, at), back = fm_add_node(b, FM_DO_CARRY, k->R, in.d, 0);
    k->arm = fm_add_node(b, FM_DO_SUBTRACT, to, back, 0);
    k->r = fm_add_node(b, FM_DO_ADD, p->r, k->arm, 0);
    k->w = fm_add_node(b, FM_DO_SUBTRACT, p->w, in.spin, 0);
    const int32_t spun = fm_add_node(b, FM_DO_ADD_CROSS, in.spin_rate, k->w, in.spin);
    k->alpha = fm_add_node(b, FM_DO_SUBTRACT, p->alpha, spun, 0);
    move_point(b, k, back, &in, &v, &a);
    const int32_t turned = fm_add_node(b, FM_DO_CROSS, p->w, to, 0);
    k->v = fm_add_node(b, FM_DO_SUBTRACT, fm_add_node(b, FM_DO_ADD, p->v, turned, 0), v, 0);
    const int32_t parent =
        fm_add_node(b, FM_DO_ADD_CROSS, fm_add_node(b, FM_DO_ADD_CROSS, p->a, p->alpha, to), p->w, turned);
    k->a = fm_add_node(b, FM_DO_SUBTRACT, parent, a, 0);
}

static void add_to_modes(fm_builder *b, int32_t body, int32_t forces)
{
    fm_link_slots *k = b->link + b->m->modal_link[body];
    k->modes = k->modes == FM_NO_SLOT
                   ? forces
                   : fm_add_part(b, FM_DO_ADD_MODES, k->modes, forces, 0, body, shapes_of(b, body).count);
}

/* Those on the modes of a flexible body, with those on the shapes that follow them. */
int32_t fm_forces_on_modes(fm_builder *b, int32_t i)
{
    const int32_t body = b->m->link_modal[i], forces = b->link[i].modes;
    if (b->m->modal_seconds[body] == 0) return forces;
    return fm_add_part(b, FM_DO_SHAPE_FORCES, forces, 0, 0, body, b->m->modal_shapes[body]);
}

/* What the modes add to the inertial wrench of the body, and the forces on them. */
void fm_build_flexible(fm_builder *b, int32_t body)
{
    const int32_t link = b->m->modal_link[body], n = shapes_of(b, body).count;
    const fm_link_slots k = b->link[link];
    const int32_t w = fm_add_node(b, FM_DO_BACK, k.R, k.w, 0), alpha = fm_add_node(b, FM_DO_BACK, k.R, k.alpha, 0);
    const int32_t a = fm_add_node(b, FM_DO_BACK, k.R, k.a, 0);
    const int32_t out = fm_add_part(b, FM_DO_FLEXIBLE, w, alpha, a, body, 6 + n);
    const int32_t torque = fm_add_node(b, FM_DO_CARRY, k.R, out, 0);
    const int32_t force = fm_add_node(b, FM_DO_CARRY, k.R, out + 3, 0);
    fm_add_wrench(b, link, force, FM_NO_SLOT, torque, 1);
    add_to_modes(b, body, out + 6);
}

/* What the wrench that a frame's link takes, or the floating frame by which a body hangs, exerts on its modes. */
void fm_build_frame_forces(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const fm_link_slots *k = b->link + i;
    const int32_t body = m->link_modal[i], frame = m->link_frame[i], R = b->link[m->modal_link[body]].R;
    const int floats = m->link_kind[i] == FM_LINK_MODAL;
    if (frame < 0 || k->wrench == FM_NO_SLOT) return;
    const int32_t force = k->wrench + 3;
    int32_t torque = k->wrench;
    if (floats) { /* about the frame's origin in place of the floating frame's */
        const fm_link_slots *p = b->link + m->link_parent[i];
        double at[3];
        rotate_out(m->link_R + 9 * i, m->modal_r + 3 * body, at);
        for (int j = 0; j < 3; j++) at[j] += m->link_r[3 * i + j];
        const int32_t arm = fm_add_node(b, FM_DO_SUBTRACT, k->arm, fm_carry(b, p->R, at), 0);
        torque = fm_add_node(b, FM_DO_ADD_CROSS, torque, arm, force);
    }
    const int32_t moment = turn_back(b, k, fm_add_node(b, FM_DO_BACK, R, torque, 0));
    add_to_modes(b, body,
                 fm_add_part(b, FM_DO_ON_MODES, fm_add_node(b, FM_DO_BACK, R, force, 0), moment, 0,
                             floats ? ~frame : frame, shapes_of(b, body).count));
}
