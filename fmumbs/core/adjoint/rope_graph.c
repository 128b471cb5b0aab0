/* rope_graph.c: the sides of ropes, by the equations of forces/sides.c and forces/rope.c. */
#include "rope_graph.h"

#include "../forces/sides.h"
#include "builder.h"
#include "nodes.h"
#include "tree_graph.h"

static fm_point_slots point_of(fm_builder *b, int32_t point)
{
    return fm_build_point(b, b->m->point_link[point], b->m->point_r + 3 * point);
}

static void build_span(fm_builder *b, int32_t from)
{
    const fm_image *m = b->m;
    const int32_t to = from + 1, back = m->via_pulley[to] >= 0;
    const int32_t on = back ? to : from, pulley = m->via_pulley[on];
    const int32_t base = m->via_point[on], end = m->via_point[back ? from : to], link = m->point_link[base];
    const fm_point_slots p = point_of(b, base), q = point_of(b, end);
    const int32_t arm = fm_add_node(b, FM_DO_SUBTRACT, q.r, p.r, 0);
    int32_t v = fm_add_node(b, FM_DO_SUBTRACT, q.v, p.v, 0);
    fm_span_slots *at = b->span + from;
    at->end = m->point_link[end], at->r = q.r, at->arm = q.arm, at->base = link;
    if (pulley < 0) {
        at->length = fm_add_node(b, FM_DO_LENGTH, arm, 0, 0);
        at->slope =
            fm_add_node(b, FM_DO_SCALE, fm_add_node(b, FM_DO_QUOTIENT, fm_number(b, 1.0), at->length, 0), arm, 0);
    } else {
        const int32_t R = fm_axes_of_point(b, base), N = fm_add_node(b, FM_DO_BACK, R, arm, 0);
        at->length = fm_add_part(b, FM_DO_SPAN, N, b->g->leaf.pulley_radius + pulley, 0, on, 4);
        at->slope = fm_add_node(b, FM_DO_CARRY, R, at->length + 1, 0);
        v = fm_add_node(b, FM_DO_ADD_CROSS, v, arm, b->link[link].w);
    }
    at->rate = fm_add_node(b, FM_DO_DOT, at->slope, v, 0);
}

/* The unstretched length of a side, and its rate. */
static void build_own_length(fm_builder *b, int32_t side, fm_side_slots *out)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t rope = m->side_rope[side], winch = fm_winch_of(m, side), first = m->side_via[side];
    out->own = fm_times_constant(b, m->side_share[side] - (winch >= 0 ? 1.0 : 0.0), leaf->rope_length + rope);
    out->own_rate = b->zero;
    if (winch >= 0) out->own = fm_add_node(b, FM_DO_SUM, out->own, leaf->control + winch, 0);
    for (int32_t end = 0; end < 2; end++) {
        const int32_t via = end == 0 ? first : first + m->side_vias[side] - 1, pulley = m->via_pulley[via];
        if (pulley < 0) continue;
        const int32_t arm = fm_times_constant(b, m->via_turn[via], leaf->pulley_radius + pulley);
        const int32_t turned =
            fm_add_node(b, FM_DO_DIFFERENCE, leaf->y + m->pulley_p[pulley], fm_number(b, m->pulley_angle[pulley]), 0);
        out->own = fm_add_node(b, FM_DO_ADD_PRODUCT, out->own, arm, turned);
        out->own_rate =
            fm_add_node(b, FM_DO_ADD_PRODUCT, out->own_rate, arm, leaf->y + m->n.positions + m->pulley_u[pulley]);
    }
}

/* Its tension, and what a pulley takes beside it. */
static void build_tension(fm_builder *b, int32_t side, fm_side_slots *out)
{
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t rope = b->m->side_rope[side], taut = leaf->taut + side, EA = leaf->rope_stiffness + rope;
    const int32_t stretch = fm_add_node(b, FM_DO_DIFFERENCE, out->length, out->own, 0);
    const int32_t rate = fm_add_node(b, FM_DO_DIFFERENCE, out->rate, out->own_rate, 0);
    int32_t pull = fm_add_node(b, FM_DO_PRODUCT, EA, stretch, 0);
    pull = fm_add_node(b, FM_DO_ADD_PRODUCT, pull, leaf->rope_damping + rope, rate);
    out->tension = fm_add_node(b, FM_DO_PRODUCT, taut, fm_add_node(b, FM_DO_QUOTIENT, pull, out->own, 0), 0);
    const int32_t strain = fm_add_node(b, FM_DO_QUOTIENT, stretch, out->own, 0);
    const int32_t square = fm_add_node(b, FM_DO_PRODUCT, strain, strain, 0);
    const int32_t half = fm_times_constant(b, 0.5, fm_add_node(b, FM_DO_PRODUCT, EA, square, 0));
    out->winding = fm_add_node(b, FM_DO_PRODUCT, taut, half, 0);
}

/* A torque of a number about the axis of the pulley at `via`, on its disc, and the opposite on what carries it. */
static void turn_disc(fm_builder *b, int32_t via, int32_t pull)
{
    const fm_image *m = b->m;
    const int32_t pulley = m->via_pulley[via], point = m->via_point[via];
    static const double along[3] = {0.0, 0.0, 1.0};
    if (pulley < 0) return;
    const int32_t arm = fm_times_constant(b, m->via_turn[via], b->g->leaf.pulley_radius + pulley);
    const int32_t torque = fm_add_node(b, FM_DO_SCALE, fm_add_node(b, FM_DO_PRODUCT, arm, pull, 0),
                                       fm_carry(b, fm_axes_of_point(b, point), along), 0);
    fm_add_wrench(b, m->point_link[m->pulley_disc[pulley]], FM_NO_SLOT, FM_NO_SLOT, torque, -1);
    fm_add_wrench(b, m->point_link[point], FM_NO_SLOT, FM_NO_SLOT, torque, 1);
}

/* The tension along a span; what carries the pulley, or the point before, gets the opposite at the same place. */
static void pull_span(fm_builder *b, const fm_span_slots *at, int32_t tension)
{
    const int32_t force = fm_add_node(b, FM_DO_SCALE, tension, at->slope, 0);
    fm_add_wrench(b, at->end, force, at->arm, FM_NO_SLOT, 1);
    if (at->base < 0) return;
    fm_add_wrench(b, at->base, force, fm_add_node(b, FM_DO_SUBTRACT, at->r, b->link[at->base].r, 0), FM_NO_SLOT, -1);
}

void fm_build_side(fm_builder *b, int32_t side)
{
    const fm_image *m = b->m;
    const int32_t first = m->side_via[side], last = first + m->side_vias[side] - 1;
    fm_side_slots *out = b->side + side;
    out->length = out->rate = fm_number(b, 0.0);
    for (int32_t k = first; k < last; k++) {
        build_span(b, k);
        out->length = fm_add_node(b, FM_DO_SUM, out->length, b->span[k].length, 0);
        out->rate = fm_add_node(b, FM_DO_SUM, out->rate, b->span[k].rate, 0);
    }
    build_own_length(b, side, out);
    build_tension(b, side, out);
    for (int32_t k = first; k < last; k++) pull_span(b, b->span + k, out->tension);
    const int32_t wound = fm_add_node(b, FM_DO_SUM, out->tension, out->winding, 0);
    turn_disc(b, first, wound), turn_disc(b, last, wound);
}
