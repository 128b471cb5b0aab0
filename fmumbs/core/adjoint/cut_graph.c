/* cut_graph.c: coordinates of cut joints, and what inputs, springs, dampers and friction exert along their modes, by
 * the equations of loops/cut_joints.c. A joint that only turns about an axis has nodes of its own, any other the
 * operations of cut_operations.c.
 */
#include "cut_graph.h"

#include "../image/joints.h"
#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "builder.h"
#include "friction_graph.h"
#include "matrix_graph.h"
#include "nodes.h"

/* A vector of F's frame, or of M's, in world axes. */
static int32_t carried(fm_builder *b, int32_t joint, int on_M, const double *in)
{
    const fm_image *m = b->m;
    double out[3];
    rotate_out((on_M ? m->joint_M : m->joint_F) + 9 * joint, in, out);
    return fm_carry(b, b->link[on_M ? m->joint_M_link[joint] : m->joint_F_link[joint]].R, out);
}

/* The angle of a joint of one turning mode, in the turn of its last one. */
static int32_t build_angle(fm_builder *b, int32_t joint)
{
    const fm_image *m = b->m;
    const double *axis = m->cut_axis + 3 * m->joint_mode[joint];
    double e[3], across[3];
    fm_across(axis, e);
    cross(axis, e, across);
    const int32_t turned = carried(b, joint, 1, e);
    const int32_t cosine = fm_add_node(b, FM_DO_DOT, carried(b, joint, 0, e), turned, 0);
    const int32_t sine = fm_add_node(b, FM_DO_DOT, carried(b, joint, 0, across), turned, 0);
    return fm_add_node(b, FM_DO_ANGLE, sine, cosine, b->g->leaf.cut_p + m->joint_p[joint]);
}

/* The rate of a hinge. */
static void build_hinge(fm_builder *b, int32_t joint)
{
    const fm_image *m = b->m;
    fm_cut_output *cut = b->cut + joint;
    const fm_link_slots *F = b->link + m->joint_F_link[joint], *M = b->link + m->joint_M_link[joint];
    cut->along = carried(b, joint, 0, m->cut_axis + 3 * m->joint_mode[joint]);
    cut->spin = fm_add_node(b, FM_DO_SUBTRACT, M->w, F->w, 0);
    cut->u = fm_add_node(b, FM_DO_DOT, cut->along, cut->spin, 0);
}

static int32_t axes_of(fm_builder *b, int32_t link, const double *in_link)
{
    return fm_add_node(b, FM_DO_PLACE, b->link[link].R, 0, fm_constant(b, in_link, 9));
}

/* A relative motion as F sees it, in its axes, angular part first. */
static int32_t in_F(fm_builder *b, int32_t joint, int32_t turning, int32_t moving)
{
    const int32_t F = b->cut[joint].F;
    return fm_add_node(b, FM_DO_PAIR, fm_add_node(b, FM_DO_BACK, F, turning, 0),
                       fm_add_node(b, FM_DO_BACK, F, moving, 0), 0);
}

/* M's velocity relative to F, and its angular velocity, in world axes. */
static int32_t velocity_of(fm_builder *b, int32_t joint, int32_t *spin)
{
    const fm_image *m = b->m;
    const fm_moving d = b->cut[joint].between;
    const int32_t w = b->link[m->joint_F_link[joint]].w;
    *spin = fm_add_node(b, FM_DO_SUBTRACT, b->link[m->joint_M_link[joint]].w, w, 0);
    return fm_add_node(b, FM_DO_ADD_CROSS, d.rate, d.at, w);
}

/* The positions and velocities of a joint's modes; between: M's origin from F's. */
void fm_build_cut_motion(fm_builder *b, int32_t joint, fm_moving between)
{
    const fm_image *m = b->m;
    fm_cut_output *cut = b->cut + joint;
    int32_t spin;
    cut->between = between;
    if (m->joint_nu[joint] == 0) return;
    if (fm_is_pin(m, joint)) cut->p = build_angle(b, joint);
    if (fm_is_hinge(m, joint)) {
        build_hinge(b, joint);
        return;
    }
    cut->F = axes_of(b, m->joint_F_link[joint], m->joint_F + 9 * joint);
    cut->M = axes_of(b, m->joint_M_link[joint], m->joint_M + 9 * joint);
    if (!fm_is_pin(m, joint)) {
        b->g->cuts = 1;
        cut->place = fm_add_node(b, FM_DO_BACK, cut->F, between.at, 0);
        cut->p = fm_add_part(b, FM_DO_CUT_POSITION, cut->F, cut->M, cut->place, joint, m->joint_np[joint]);
    }
    const int32_t v = velocity_of(b, joint, &spin), motion = in_F(b, joint, spin, v);
    cut->u = fm_add_part(b, FM_DO_CUT_RATE, cut->p, 0, motion, joint, m->joint_nu[joint]);
}

/* The accelerations of its modes. */
int32_t fm_build_cut_acceleration(fm_builder *b, int32_t joint)
{
    const fm_image *m = b->m;
    const fm_cut_output *cut = b->cut + joint;
    const fm_link_slots *F = b->link + m->joint_F_link[joint], *M = b->link + m->joint_M_link[joint];
    int32_t spin, a = cut->between.second;
    const int32_t v = velocity_of(b, joint, &spin);
    int32_t alpha = fm_add_node(b, FM_DO_SUBTRACT, M->alpha, F->alpha, 0);
    alpha = fm_add_node(b, FM_DO_ADD_CROSS, alpha, spin, F->w);
    if (cut->along != FM_NO_SLOT) return fm_add_node(b, FM_DO_DOT, cut->along, alpha, 0);
    a = fm_add_node(b, FM_DO_ADD_CROSS, a, cut->between.at, F->alpha);
    const int32_t carried_on =
        fm_add_node(b, FM_DO_ADD_SCALED, v, fm_number(b, 1.0), cut->between.rate); /* 2 v + w x d */
    a = fm_add_node(b, FM_DO_ADD_CROSS, a, carried_on, F->w);
    return fm_add_part(b, FM_DO_CUT_SECOND, cut->p, cut->u, in_F(b, joint, alpha, a), joint, m->joint_nu[joint]);
}

/* The forces along its modes, as numbers. */
static void forces_along(fm_builder *b, int32_t joint, int32_t *force)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    int32_t p = b->cut[joint].p, u = b->cut[joint].u, at = m->joint_u[joint];
    for (int32_t k = m->joint_mode[joint]; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        if (m->cut_kind[k] == FM_CUT_BALL) {
            const int32_t back = fm_build_ball_resistance(b, joint, at, p, u);
            for (int32_t j = 0; j < 3; j++)
                *force++ = fm_add_node(b, FM_DO_DIFFERENCE, b->applied[at + j], back + j, 0);
            at += 3, p += 4, u += 3;
        } else if (m->cut_kind[k] == FM_CUT_SCREW) {
            const int32_t away = fm_add_node(b, FM_DO_DIFFERENCE, p++, leaf->rest + at, 0);
            int32_t back = fm_add_node(b, FM_DO_PRODUCT, leaf->stiffness + at, away, 0);
            back = fm_add_node(b, FM_DO_ADD_PRODUCT, back, leaf->damping + at, u++);
            *force++ = fm_add_node(b, FM_DO_DIFFERENCE, b->applied[at++], back, 0);
        }
    }
}

/* What acts along its modes, as a torque and a force on M at M in world axes. */
void fm_build_cut_forces(fm_builder *b, int32_t joint)
{
    const fm_image *m = b->m;
    fm_cut_output *cut = b->cut + joint;
    int32_t force[6] = {b->zero, b->zero, b->zero, b->zero, b->zero, b->zero};
    if (cut->p == FM_NO_SLOT) return;
    for (int32_t i = 0; i < m->n.frictions; i++) {
        const int32_t u = cut->u + m->friction_u[i] - m->joint_u[joint];
        if (m->friction_joint[i] == joint) fm_build_friction(b, i, (const int32_t[]){u, u + 1, u + 2});
    }
    fm_build_matrix(b, joint, cut->p, cut->u);
    forces_along(b, joint, force);
    if (cut->along != FM_NO_SLOT) {
        cut->applied[0] = fm_add_node(b, FM_DO_SCALE, force[0], cut->along, 0);
        return;
    }
    const int32_t first = fm_add_node(b, FM_DO_VECTOR, force[0], force[1], force[2]);
    (void)fm_add_node(b, FM_DO_VECTOR, force[3], force[4], force[5]); /* behind the first ones */
    const int32_t wrench = fm_add_part(b, FM_DO_CUT_WRENCH, cut->p, first, 0, joint, 6);
    cut->applied[0] = fm_add_node(b, FM_DO_CARRY, cut->F, wrench, 0);
    cut->applied[1] = fm_add_node(b, FM_DO_CARRY, cut->F, wrench + 3, 0);
}
