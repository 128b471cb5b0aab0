/* wrench_graph.c: what joints transmit. */
#include "wrench_graph.h"

#include "../image/joints.h"
#include "builder.h"
#include "nodes.h"
#include "tree_graph.h"

static int32_t or_zero(const fm_builder *b, int32_t vector)
{
    return vector == FM_NO_SLOT ? b->zero : vector;
}

/* v without its part along a unit axis. */
int32_t fm_build_across(fm_builder *b, int32_t v, int32_t axis)
{
    return fm_add_node(b, FM_DO_SUBTRACT, v,
                       fm_add_node(b, FM_DO_SCALE, fm_add_node(b, FM_DO_DOT, axis, v, 0), axis, 0), 0);
}

/* The torque that a ball transmits, which is its own: that of its link is the same by the balance, as the difference of
 * the torques of all that it carries, which leaves their round-off. */
static int32_t ball_torque(fm_builder *b, int32_t joint, const fm_link_slots *k)
{
    const int32_t torque = fm_add_node(b, FM_DO_CARRY, k->axis, k->resisted, 0);
    return b->m->joint_reversed[joint] ? torque : fm_add_node(b, FM_DO_SUBTRACT, b->zero, torque, 0);
}

/* What F's body exerts on M's at M, world axes, of a joint of the tree. */
static fm_wrench_slots tree_wrench(fm_builder *b, int32_t joint)
{
    const fm_image *m = b->m;
    const fm_link_slots *k = b->link + m->joint_last[joint];
    fm_wrench_slots w = {fm_wrench_of(b, k) + 3, fm_wrench_of(b, k)};
    if (k->resisted != FM_NO_SLOT) w.torque = ball_torque(b, joint, k);
    if (!m->joint_reversed[joint]) return w;
    const fm_point_slots M = fm_build_point(b, m->joint_M_link[joint], m->joint_M_r + 3 * joint);
    const int32_t arm = fm_add_node(b, FM_DO_SUBTRACT, M.r, k->r, 0);
    w.torque = fm_add_node(b, FM_DO_SUBTRACT, fm_add_node(b, FM_DO_CROSS, arm, w.force, 0), w.torque, 0);
    w.force = fm_add_node(b, FM_DO_SUBTRACT, b->zero, w.force, 0);
    return w;
}

/* What F's body exerts on M's at M, world axes; of a joint that closes a loop by its rows alone. */
fm_wrench_slots fm_build_wrench(fm_builder *b, int32_t joint)
{
    if (!fm_is_cut_joint(b->m, joint)) return tree_wrench(b, joint);
    const fm_wrench_slots w = {or_zero(b, b->cut[joint].force), or_zero(b, b->cut[joint].torque)};
    return w;
}
