/* force_graph.c: the force elements, by the equations of their files in forces/: for each of FM_FORCE_ELEMENTS a
 * function with its class's name, build_spring, which adds the nodes of element i. 0: it is not covered, and
 * fm_uncovered has said so.
 */
#include "force_graph.h"

#include "../image/joints.h"
#include "builder.h"
#include "law_graph.h"
#include "nodes.h"
#include "tree_graph.h"

static void apply_at(fm_builder *b, int32_t point, const fm_point_slots *p, int32_t force, int sign)
{
    fm_add_wrench(b, b->m->point_link[point], force, p->arm, FM_NO_SLOT, sign);
}

/* Its pull f e acts on P, the opposite on Q; what acts is subtracted from what the links take. */
static int build_spring(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t P = m->spring_P[i], Q = m->spring_Q[i];
    const fm_point_slots p = fm_build_point(b, m->point_link[P], m->point_r + 3 * P, 0);
    const fm_point_slots q = fm_build_point(b, m->point_link[Q], m->point_r + 3 * Q, 0);
    const int32_t line = fm_add_node(b, FM_DO_SUBTRACT, q.r, p.r, 0),
                  rate = fm_add_node(b, FM_DO_SUBTRACT, q.v, p.v, 0);
    const int32_t length = fm_add_node(b, FM_DO_LENGTH, line, 0, 0);
    const int32_t speed = fm_add_node(b, FM_DO_QUOTIENT, fm_add_node(b, FM_DO_DOT, line, rate, 0), length, 0);
    const int32_t stretch = fm_add_node(b, FM_DO_DIFFERENCE, length, leaf->spring_free_length + i, 0);
    int32_t pull = fm_add_node(b, FM_DO_PRODUCT, leaf->spring_stiffness + i, stretch, 0);
    pull = fm_add_node(b, FM_DO_ADD_PRODUCT, pull, leaf->spring_damping + i, speed);
    for (int32_t j = 0; j < m->n.laws; j++)
        if (m->law_spring[j] == i) pull = fm_add_node(b, FM_DO_SUM, pull, fm_build_law(b, j, length, speed), 0);
    const int32_t force = fm_add_node(b, FM_DO_SCALE, fm_add_node(b, FM_DO_QUOTIENT, pull, length, 0), line, 0);
    apply_at(b, P, &p, force, -1);
    apply_at(b, Q, &q, force, 1);
    b->spring[i].length = length, b->spring[i].pull = pull;
    return 1;
}

static int build_load(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const int32_t P = m->load_P[i], link = m->point_link[P];
    if (link < 0) return 1;
    const fm_point_slots p = fm_build_point(b, link, m->point_r + 3 * P, 0);
    int32_t force = b->g->leaf.load + 6 * i, torque = force + 3;
    if (m->load_axes[i] == FM_POINT_AXES) {
        const int32_t R = fm_add_node(b, FM_DO_PLACE, b->link[link].R, 0, fm_constant(b, m->point_R + 9 * P, 9));
        force = fm_add_node(b, FM_DO_CARRY, R, force, 0);
        torque = fm_add_node(b, FM_DO_CARRY, R, torque, 0);
    }
    fm_add_wrench(b, link, force, p.arm, torque, -1);
    return 1;
}

static int build_rope(fm_builder *b, int32_t i)
{
    return fm_uncovered(b, "rope", b->m->rope_name[i]);
}

static int build_actuator(fm_builder *b, int32_t i)
{
    return fm_uncovered(b, "actuator", b->m->actuator_name[i]);
}

static int build_motor(fm_builder *b, int32_t i)
{
    return fm_uncovered(b, "motor", b->m->motor_name[i]);
}

static int build_gear(fm_builder *b, int32_t i)
{
    return fm_uncovered(b, "gear", b->m->gear_name[i]);
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
