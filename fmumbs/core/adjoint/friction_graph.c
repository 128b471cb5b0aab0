/* friction_graph.c: friction of joints with bristles, by the equations of motion/friction.c, and the normal forces that
 * are a function of the joint's own reaction, by those of motion/normal_forces.c: each a leaf, the unknown of a
 * condition.
 */
#include "friction_graph.h"

#include "../image/joints.h"
#include "../maths/vectors.h"
#include "builder.h"
#include "nodes.h"
#include "wrench_graph.h"

/* The norm of up to three numbers. */
static int32_t size_of(fm_builder *b, const int32_t *v, int32_t count)
{
    if (count == 1) return fm_add_node(b, FM_DO_ABSOLUTE, v[0], 0, 0);
    const int32_t third = count > 2 ? v[2] : b->zero;
    return fm_add_node(b, FM_DO_LENGTH, fm_add_node(b, FM_DO_VECTOR, v[0], v[1], third), 0, 0);
}

/* A parameter with what a control, if there is one, adds to it or multiplies it by; never below 0. */
static int32_t controlled(fm_builder *b, int32_t parameter, int32_t control, fm_operation with)
{
    if (control >= 0) parameter = fm_add_node(b, with, parameter, b->g->leaf.control + control, 0);
    return fm_add_node(b, FM_DO_POSITIVE, parameter, 0, 0);
}

/* The forces of a friction on its modes, whose rates are given, added to b->applied; the rates of its bristles. */
void fm_build_friction(fm_builder *b, int32_t i, const int32_t *rate)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t count = m->friction_count[i], bristles = b->model->bristles + m->friction_z[i];
    const int32_t z = leaf->y + bristles, stiffness = leaf->friction_stiffness + i;
    const int32_t kinetic = leaf->friction_kinetic + i, minus = fm_number(b, -1.0);
    int32_t v[3], deflection[3] = {z, z + 1, z + 2};
    for (int32_t k = 0; k < count; k++) v[k] = fm_times_constant(b, m->friction_arm[3 * i + k], rate[k]);
    const int32_t speed = size_of(b, v, count);
    const int32_t x = fm_add_node(b, FM_DO_QUOTIENT, speed, leaf->friction_stribeck + i, 0);
    const int32_t decay = fm_add_node(b, FM_DO_DECAY, fm_add_node(b, FM_DO_PRODUCT, x, x, 0), 0, 0);
    const int32_t over = fm_add_node(b, FM_DO_DIFFERENCE, leaf->friction_static + i, kinetic, 0);
    const int32_t most = fm_add_node(b, FM_DO_ADD_PRODUCT, kinetic, over, decay); /* g times the stiffness */
    const int32_t per_g = fm_add_node(b, FM_DO_QUOTIENT, stiffness, most, 0);
    const int32_t back = fm_add_node(b, FM_DO_PRODUCT, minus, fm_add_node(b, FM_DO_PRODUCT, speed, per_g, 0), 0);
    const int32_t factor = controlled(b, leaf->friction_scale + i, m->friction_scaled[i], FM_DO_PRODUCT);
    const int32_t pressed = controlled(b, leaf->friction_preload + i, m->friction_pressed[i], FM_DO_SUM);
    fm_friction_slots *out = b->friction + i;
    out->load = fm_add_node(b, FM_DO_SUM, pressed, leaf->own + i, 0);
    out->slip = fm_add_node(b, FM_DO_PRODUCT, size_of(b, deflection, count), per_g, 0);
    const int32_t press = fm_add_node(b, FM_DO_PRODUCT, factor, out->load, 0);
    for (int32_t k = 0; k < count; k++) {
        const int32_t u = m->friction_u[i] + k;
        const int32_t follow = b->g->rate[bristles + k] = fm_add_node(b, FM_DO_ADD_PRODUCT, v[k], back, z + k);
        int32_t mu = fm_add_node(b, FM_DO_PRODUCT, stiffness, z + k, 0);
        mu = fm_add_node(b, FM_DO_ADD_PRODUCT, mu, leaf->friction_damping + i, follow);
        mu = fm_add_node(b, FM_DO_ADD_PRODUCT, mu, leaf->friction_viscous + i, v[k]);
        out->force[k] = fm_times_constant(b, -m->friction_arm[3 * i + k], fm_add_node(b, FM_DO_PRODUCT, mu, press, 0));
        b->applied[u] = fm_add_node(b, FM_DO_SUM, b->applied[u], out->force[k], 0);
    }
}

/* Those of joints of the tree. */
void fm_build_frictions(fm_builder *b)
{
    const fm_image *m = b->m;
    for (int32_t i = 0; i < m->n.frictions; i++) {
        const int32_t rate = b->g->leaf.y + m->n.positions + m->friction_u[i];
        if (!fm_is_cut_joint(m, m->friction_joint[i]))
            fm_build_friction(b, i, (const int32_t[]){rate, rate + 1, rate + 2});
    }
}

/* The axis of a friction in world axes. */
static int32_t axis_of(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const int32_t joint = m->friction_joint[i], on_M = m->friction_on_M[i];
    double axis[3];
    rotate_out((on_M ? m->joint_M : m->joint_F) + 9 * joint, m->friction_axis + 3 * i, axis);
    return fm_carry(b, b->link[on_M ? m->joint_M_link[joint] : m->joint_F_link[joint]].R, axis);
}

/* h = a |f across| + b |f along| + c |t across| the axis. */
static int32_t reaction_of(fm_builder *b, int32_t i)
{
    const double *part = b->m->friction_own + 3 * i;
    const fm_wrench_slots w = fm_build_wrench(b, b->m->friction_joint[i]);
    const int32_t axis = axis_of(b, i);
    const int32_t along = fm_add_node(b, FM_DO_ABSOLUTE, fm_add_node(b, FM_DO_DOT, w.force, axis, 0), 0, 0);
    int32_t sum = fm_times_constant(b, part[1], along);
    const int32_t force = fm_add_node(b, FM_DO_LENGTH, fm_build_across(b, w.force, axis), 0, 0);
    sum = fm_add_node(b, FM_DO_ADD_PRODUCT, sum, fm_number(b, part[0]), force);
    const int32_t torque = fm_add_node(b, FM_DO_LENGTH, fm_build_across(b, w.torque, axis), 0, 0);
    return fm_add_node(b, FM_DO_ADD_PRODUCT, sum, fm_number(b, part[2]), torque);
}

/* The equations of own normal forces. */
int fm_build_reactions(fm_builder *b)
{
    const fm_image *m = b->m;
    for (int32_t i = 0; i < m->n.frictions; i++) {
        if (!fm_is_owned(m, i)) continue;
        b->g->unknown[m->n.laws + i] = b->g->leaf.own + i;
        b->g->equation[m->n.laws + i] = fm_add_node(b, FM_DO_DIFFERENCE, b->g->leaf.own + i, reaction_of(b, i), 0);
    }
    return 1;
}
