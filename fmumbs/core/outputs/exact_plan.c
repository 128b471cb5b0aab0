/* exact_plan.c: which nodes adjoints by parameters and inputs alone need.
 *
 * A node has adjoints if it follows from one of the knowns. Of the others no adjoint is asked for, above all of the
 * motion of links, and values are needed only of those that adjoints are made of, and of what these follow from.
 * Gravity is in the accelerations of links alone, and drops out of their differences. A plan is kept until it is asked
 * for other knowns, as rows of a Jacobian come with the same ones.
 */
#include "exact_plan.h"

#include "../adjoint/graph.h"
#include "../instance/instance.h"
#include "exact_places.h"

#include <string.h>

typedef struct range {
    int32_t at, numbers;
} range;

/* What a node reads. */
typedef struct reads {
    range range[12];
    int32_t count;
} reads;

static const int32_t numbers_of[][4] = {
#define O(id, numbers, a, b, c) {numbers, a, b, c},
    FM_OPERATIONS(O)
#undef O
};

static void add(reads *r, int32_t at, int32_t numbers)
{
    if (numbers > 0) r->range[r->count++] = (range){at, numbers};
}

static int is_of_frame(const fm_node *n)
{
    return n->operation == FM_DO_OF_MODES || n->operation == FM_DO_ON_MODES;
}

/* Of the flexible body of a node. */
static int32_t body_of(const fm_instance *s, const fm_node *n)
{
    const fm_image *m = &s->image;
    if (n->operation == FM_DO_STRESS) return m->gauge_modal[n->k];
    return is_of_frame(n) ? m->link_modal[m->frame_link[n->k < 0 ? ~n->k : n->k]] : n->k;
}

static int32_t shapes_of(const fm_instance *s, int32_t body)
{
    return s->image.modal_shapes[body] + s->image.modal_seconds[body];
}

/* How many numbers an operand of a node has. */
static int32_t count_of(const fm_instance *s, const fm_node *n, int operand)
{
    const int32_t numbers = numbers_of[n->operation][1 + operand], size = n->k < 0 ? -n->k : n->k;
    switch (numbers) {
    case FM_EACH_SHAPE: return shapes_of(s, body_of(s, n));
    case FM_EACH_SCREW: return size;
    case FM_EACH_ENTRY: return size * size;
    case FM_EACH_POSITION: return s->image.joint_np[n->k];
    case FM_EACH_SPEED: return s->image.joint_nu[n->k];
    default: return numbers;
    }
}

/* The coordinates of a flexible body, their rates and accelerations. */
static void add_shapes(const fm_instance *s, int32_t body, reads *r)
{
    const fm_image *m = &s->image;
    const int32_t link = m->modal_link[body], modes = m->modal_shapes[body];
    if (s->graph->shapes[body] != FM_NO_SLOT) add(r, s->graph->shapes[body], 3 * shapes_of(s, body));
    add(r, s->graph->leaf.y + m->link_p[link], modes);
    add(r, s->graph->leaf.y + m->n.positions + m->link_u[link], modes);
    add(r, s->graph->leaf.udot + m->link_u[link], modes);
}

/* Of a link: how it turns. */
static void add_turning(const fm_motion_places *k, reads *r)
{
    add(r, k->R, 9), add(r, k->w, 3), add(r, k->alpha, 3);
}

static void add_motion(const fm_motion_places *k, reads *r)
{
    add_turning(k, r);
    add(r, k->r, 3), add(r, k->v, 3), add(r, k->a, 3);
}

static reads reads_of(const fm_instance *s, const fm_node *n)
{
    const fm_image *m = &s->image;
    const fm_leaves *leaf = &s->graph->leaf;
    const fm_motion_places *motion = s->graph->motion;
    reads r = {.count = 0};
    add(&r, n->a, count_of(s, n, 0)), add(&r, n->b, count_of(s, n, 1)), add(&r, n->c, count_of(s, n, 2));
    switch ((fm_operation)n->operation) {
    case FM_DO_JOINT: add_motion(motion + n->k, &r); break;
    case FM_DO_POINT: add_motion(motion + 1 + n->k, &r); break;
    case FM_DO_CARRIED: add_turning(motion + 1 + n->k, &r); break;
    case FM_DO_BODY:
        add_motion(motion + 1 + m->body_link[n->k], &r);
        add(&r, leaf->mass + n->k, 1), add(&r, leaf->inertia + 6 * n->k, 6);
        break;
    case FM_DO_RESIDUAL:
        add(&r, leaf->stiffness + m->link_u[n->k], 1), add(&r, leaf->damping + m->link_u[n->k], 1);
        add(&r, leaf->rest + m->link_u[n->k], 1), add(&r, leaf->y + m->link_p[n->k], 1);
        add(&r, leaf->y + m->n.positions + m->link_u[n->k], 1);
        break;
    case FM_DO_SHAPE_FORCES:
    case FM_DO_FLEXIBLE:
    case FM_DO_FLEXIBLE_ENERGY: add_shapes(s, n->k, &r); break;
    default: break;
    }
    return r;
}

/* Marks of what follows: from gravity alone, or from any other known. */
enum { FM_BY_GRAVITY = 1, FM_BY_OTHERS = 2 };

static int any_of(const unsigned char *mark, range r)
{
    int any = 0;
    for (int32_t j = 0; j < r.numbers; j++) any |= mark[r.at + j];
    return any;
}

static int any_read(const unsigned char *mark, const reads *r)
{
    int any = 0;
    for (int32_t i = 0; i < r->count; i++) any |= any_of(mark, r->range[i]);
    return any;
}

static void mark(unsigned char *marks, int32_t at, int32_t numbers, int as)
{
    for (int32_t j = 0; j < numbers; j++) marks[at + j] |= (unsigned char)as;
}

static void need(fm_graph *g, int32_t at, int32_t numbers)
{
    mark(g->needed, at, numbers, 1);
}

static void need_all(fm_graph *g, const reads *r)
{
    for (int32_t i = 0; i < r->count; i++) need(g, r->range[i].at, r->range[i].numbers);
}

/* How many numbers node i computes; of some all up to the next node's. */
static int32_t results_of(const fm_graph *g, int32_t i)
{
    const fm_node *n = g->node + i;
    const int32_t numbers = numbers_of[n->operation][0];
    return numbers > 0 ? numbers : (i + 1 < g->dynamics ? g->node[i + 1].out : g->before_outputs) - n->out;
}

/* Whether a place follows from a known. */
static int follows(const fm_graph *g, int32_t at, int32_t numbers)
{
    return any_of(g->follows, (range){at, numbers}) != 0;
}

/* Whether of all that a node reads the acceleration of a link alone follows from knowns. */
static int is_still(const fm_graph *g, const reads *r, int32_t acceleration)
{
    for (int32_t i = 0; i < r->count; i++)
        if (r->range[i].at != acceleration && any_of(g->follows, r->range[i]) != 0) return 0;
    return 1;
}

/* The same of a body, whose wrench so far, mass and inertia may follow, too. */
static int is_still_body(const fm_graph *g, const fm_node *n, const fm_motion_places *k)
{
    return !follows(g, n->a, 9) && !follows(g, n->c, 3) && !follows(g, k->R, 9) && !follows(g, k->w, 3) &&
           !follows(g, k->alpha, 3);
}

/* The node whose adjoints do the same where what it stands on does not follow from the knowns. */
static fm_node lean_of(const fm_instance *s, const fm_node *n, const reads *r)
{
    const fm_graph *g = s->graph;
    fm_node lean = *n;
    switch ((fm_operation)n->operation) {
    case FM_DO_JOINT:
        if (is_still(g, r, g->motion[n->k].a)) lean.operation = FM_DO_STILL_JOINT;
        break;
    case FM_DO_POINT:
        if (is_still(g, r, g->motion[1 + n->k].a)) lean.operation = FM_DO_STILL_POINT;
        break;
    case FM_DO_BODY:
        if (is_still_body(g, n, g->motion + 1 + s->image.body_link[n->k])) lean.operation = FM_DO_STILL_BODY;
        break;
    case FM_DO_ADD_WRENCH:
        if (!follows(g, n->c, 3)) lean.operation = FM_DO_STILL_WRENCH;
        break;
    case FM_DO_RESIDUAL:
        if (!follows(g, n->a, 3)) lean.operation = FM_DO_STILL_RESIDUAL;
        break;
    case FM_DO_CUT_WRENCH:
        if (!follows(g, n->a, count_of(s, n, 0))) lean.operation = FM_DO_STILL_CUT_WRENCH;
        break;
    default: break;
    }
    return lean;
}

/* Marks what a node computes that follows. The acceleration of a still point does by gravity alone, and only
 * differences read it, from which that drops out. */
static void mark_results(fm_graph *g, const fm_node *lean, int32_t numbers, int as)
{
    if (lean->operation == FM_DO_STILL_JOINT) mark(g->follows, lean->out + FM_MOTION_A, 3, as);
    else if (lean->operation != FM_DO_STILL_POINT) mark(g->follows, lean->out, numbers, as);
}

/* Marks the values that the adjoints of a node are made of. */
static void need_for_adjoints(fm_graph *g, const fm_node *lean, const reads *r, int32_t numbers)
{
    const int32_t a = lean->a, b = lean->b, c = lean->c;
    switch ((fm_operation)lean->operation) {
    case FM_DO_STILL_BODY: need(g, a, 9), need(g, lean->out + 6, FM_BODY_NUMBERS - 6); return;
    case FM_DO_STILL_WRENCH: need(g, c, 3); return;
    case FM_DO_STILL_RESIDUAL: need(g, a, 3); return;
    case FM_DO_STILL_CUT_WRENCH: need(g, a, r->range[0].numbers); return;
    case FM_DO_ADD_FORCE:
        if (follows(g, b, 3)) need(g, c, 3);
        if (follows(g, c, 3)) need(g, b, 3);
        return;
    case FM_DO_PRODUCT:
        if (follows(g, b, 1)) need(g, a, 1);
        if (follows(g, a, 1)) need(g, b, 1);
        return;
    case FM_DO_ADD_PRODUCT:
        if (follows(g, c, 1)) need(g, b, 1);
        if (follows(g, b, 1)) need(g, c, 1);
        return;
    case FM_DO_STILL_JOINT:
    case FM_DO_STILL_POINT:
    case FM_DO_ADD_TORQUE:
    case FM_DO_ADD:
    case FM_DO_SUBTRACT:
    case FM_DO_VECTOR:
    case FM_DO_PAIR:
    case FM_DO_SUM:
    case FM_DO_DIFFERENCE: return;
    default: need_all(g, r), need(g, lean->out, numbers); return;
    }
}

/* Lists the nodes with adjoints, and marks what these need. */
static void plan_adjoints(fm_instance *s)
{
    fm_graph *g = s->graph;
    fm_plan *p = &g->plan;
    for (int32_t i = 0; i < g->dynamics; i++) {
        const fm_node *n = g->node + i;
        const reads r = reads_of(s, n);
        const int as = any_read(g->follows, &r);
        if (as == 0 || (as == FM_BY_GRAVITY && n->operation == FM_DO_APART)) continue;
        const int32_t numbers = results_of(g, i);
        const fm_node lean = lean_of(s, n, &r);
        need_for_adjoints(g, &lean, &r, numbers);
        mark_results(g, &lean, numbers, as);
        g->lean_adjoint[p->adjoints++] = lean;
        if (i < p->computed) p->first = p->adjoints;
    }
}

/* Lists the nodes with values, the last one first, and puts them in order. */
static void plan_values(fm_instance *s)
{
    fm_graph *g = s->graph;
    fm_plan *p = &g->plan;
    int32_t first = g->dynamics;
    for (int32_t i = g->dynamics - 1; i >= 0; i--) {
        const fm_node *n = g->node + i;
        if (!any_of(g->needed, (range){n->out, results_of(g, i)})) continue;
        fm_node lean = *n;
        if (n->operation == FM_DO_BODY && !any_of(g->needed, (range){n->out, 6})) lean.operation = FM_DO_STILL_BODY;
        const reads r = reads_of(s, n);
        if (lean.operation == FM_DO_STILL_BODY) {
            const fm_motion_places *k = g->motion + 1 + s->image.body_link[n->k];
            need(g, n->a, 9), need(g, n->c, 3), need(g, k->R, 9);
            need(g, k->w, 3), need(g, k->alpha, 3), need(g, k->a, 3);
        } else {
            need_all(g, &r);
        }
        p->cuts |= n->operation == FM_DO_CUT_POSITION;
        g->lean_value[--first] = lean;
    }
    p->values = g->dynamics - first;
    memmove(g->lean_value, g->lean_value + first, (size_t)p->values * sizeof *g->lean_value);
}

/* Whether the plan is one of these knowns. */
int fm_is_plan_for(const fm_instance *s, const uint32_t *known, size_t knowns)
{
    const fm_graph *g = s->graph;
    return knowns > 0 && (size_t)g->plan.knowns == knowns && memcmp(g->planned, known, knowns * sizeof *known) == 0;
}

/* Makes the plan of the knowns, unless it is there; computed: up to which node unknowns are computed. 0: there is none,
 * as a known is of the state, by which links move. */
int fm_plan_for(fm_instance *s, const uint32_t *known, size_t knowns, int32_t computed)
{
    fm_graph *g = s->graph;
    fm_plan *p = &g->plan;
    if (knowns == 0 || knowns > (size_t)g->room || computed > g->dynamics) return 0;
    if (fm_is_plan_for(s, known, knowns) && p->computed == computed) return 1;
    for (size_t i = 0; i < knowns; i++) {
        const fm_known_place place = fm_place_of_known(s, known[i]);
        if (place.numbers > 0 && place.at < g->leaf.tau) return 0;
    }
    memset(p, 0, sizeof *p);
    memset(g->follows, 0, (size_t)g->before_outputs * sizeof *g->follows);
    memset(g->needed, 0, (size_t)g->before_outputs * sizeof *g->needed);
    p->knowns = (int32_t)knowns, p->computed = computed;
    memcpy(g->planned, known, knowns * sizeof *known);
    for (size_t i = 0; i < knowns; i++) {
        const fm_known_place place = g->planned_place[i] = fm_place_of_known(s, known[i]);
        const int gravity = place.at >= g->leaf.gravity && place.at < g->leaf.stiffness;
        mark(g->follows, place.at, place.numbers, gravity ? FM_BY_GRAVITY : FM_BY_OTHERS);
    }
    plan_adjoints(s);
    plan_values(s);
    return 1;
}
