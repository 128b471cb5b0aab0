/* law_graph.c: force laws by pieces, of joints and springs, by the equations of forces/laws.c.
 *
 * A law that slides has the force of its piece, a node that is changed with the piece (leaves.c). One that
 * sticks has a force that is a leaf: the unknown of a condition, that the rate of its velocity vanishes.
 */
#include "law_graph.h"

#include "../forces/laws.h"
#include "builder.h"
#include "nodes.h"
#include "tree_graph.h"

/* The force of a law at a position and a velocity; keeps it in b->law. */
int32_t fm_build_law(fm_builder *b, int32_t law, int32_t x, int32_t v)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t piece = fm_add_part(b, FM_DO_LAW, x, v, 0, law, 1);
    int32_t factor = leaf->law_scale + law;
    if (m->law_scaled[law] >= 0) factor = fm_add_node(b, FM_DO_PRODUCT, factor, leaf->control + m->law_scaled[law], 0);
    factor = fm_add_node(b, FM_DO_POSITIVE, factor, 0, 0);
    b->g->unknown[law] = leaf->held + law;
    return b->law[law] = fm_add_node(b, FM_DO_ADD_PRODUCT, leaf->held + law, factor, piece);
}

/* Those of joints, added to the forces on their modes. */
void fm_build_laws(fm_builder *b)
{
    const fm_image *m = b->m;
    for (int32_t i = 0; i < m->n.laws; i++) {
        const int32_t u = m->law_u[i];
        if (u < 0 || m->law_gear[i] >= 0 || m->law_motor[i] >= 0)
            continue; /* of a spring, a rope, a gear, a valve or a motor */
        const int32_t speed = b->g->leaf.y + m->n.positions + u;
        const int32_t force = fm_build_law(b, i, b->g->leaf.y + m->law_p[i], speed);
        b->applied[u] = fm_add_node(b, FM_DO_SUM, b->applied[u], force, 0);
    }
}

/* The second time derivative of a spring's length. */
static int32_t line_acceleration(fm_builder *b, int32_t spring)
{
    const fm_image *m = b->m;
    const int32_t P = m->spring_P[spring], Q = m->spring_Q[spring];
    const fm_point_slots p = fm_build_point(b, m->point_link[P], m->point_r + 3 * P);
    const fm_point_slots q = fm_build_point(b, m->point_link[Q], m->point_r + 3 * Q);
    const int32_t d = fm_add_node(b, FM_DO_SUBTRACT, q.r, p.r, 0), v = fm_add_node(b, FM_DO_SUBTRACT, q.v, p.v, 0);
    const int32_t a = fm_add_node(b, FM_DO_SUBTRACT, q.a, p.a, 0), length = fm_add_node(b, FM_DO_LENGTH, d, 0, 0);
    const int32_t rate = fm_add_node(b, FM_DO_QUOTIENT, fm_add_node(b, FM_DO_DOT, d, v, 0), length, 0);
    const int32_t sum =
        fm_add_node(b, FM_DO_SUM, fm_add_node(b, FM_DO_DOT, d, a, 0), fm_add_node(b, FM_DO_DOT, v, v, 0), 0);
    const int32_t square = fm_add_node(b, FM_DO_PRODUCT, rate, rate, 0);
    return fm_add_node(b, FM_DO_QUOTIENT, fm_add_node(b, FM_DO_DIFFERENCE, sum, square, 0), length, 0);
}

/* The equations of laws that stick. */
void fm_build_sticking(fm_builder *b)
{
    const fm_image *m = b->m;
    for (int32_t i = 0; i < m->n.laws; i++) {
        if (m->law_gear[i] >= 0 || (fm_law_watches(m, i) && !fm_law_is_loss(m, i))) continue; /* they never stick */
        b->g->equation[i] =
            m->law_spring[i] >= 0 ? line_acceleration(b, m->law_spring[i]) : b->g->acceleration[m->law_u[i]];
    }
}
