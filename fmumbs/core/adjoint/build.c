/* build.c: builds a graph on the heap, once, when an instance opens. */
#include "build.h"

#include "../image/joints.h"
#include "builder.h"
#include "force_graph.h"
#include "nodes.h"
#include "output_graph.h"
#include "row_graph.h"
#include "tree_graph.h"

#include <stdlib.h>
#include <string.h>

static void place_leaves(fm_builder *b)
{
    const fm_model *m = b->model;
    fm_leaves *leaf = &b->g->leaf;
#define L(name, array, numbers) leaf->name = fm_place_numbers(b, numbers);
    FM_LEAVES(L)
#undef L
    leaf->hosted = fm_place_numbers(b, 1);
    leaf->end = b->g->values;
}

static void place_ground(fm_builder *b)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3] = {0.0, 0.0, 0.0};
    fm_link_slots *ground = b->link - 1;
    b->identity = fm_constant(b, identity, 9);
    b->zero = fm_constant(b, zero, 3);
    memset(ground, 0xff, sizeof *ground);
    ground->R = b->identity;
    ground->r = ground->w = ground->v = ground->alpha = b->zero;
    ground->a = fm_add_node(b, FM_DO_SUBTRACT, b->zero, b->g->leaf.gravity, 0);
}

/* What the whole model must not have. */
static int covers(fm_builder *b)
{
    const fm_image *m = b->m;
    if (b->model->inverse) return fm_uncovered(b, "inverse dynamics", -1);
    if (b->model->reduced) return fm_uncovered(b, "dynamics=\"copcod\"", -1);
    if (m->n.dependent_u > 0) return fm_uncovered(b, "independent states", -1);
    if (m->n.laws > 0) return fm_uncovered(b, "force law", m->law_name[0]);
    if (m->n.frictions > 0) return fm_uncovered(b, "friction", m->friction_name[0]);
    return 1;
}

/* The arrays of fm_graph beside its nodes and values; 0: no memory. */
static int open_arrays(fm_graph *g, const fm_model *m)
{
#define A(type, name, count) g->name = (count) > 0 ? malloc((size_t)(count) * sizeof *g->name) : NULL;
    FM_GRAPH_ARRAYS(A)
#undef A
    int fits = (g->residual != NULL || m->n.speeds == 0) && (g->acceleration != NULL || m->n.speeds == 0) &&
               (g->rate != NULL || m->n.positions == 0) && (g->row != NULL || m->n.rows == 0) &&
               (g->bare != NULL || m->n.modes == m->n.speeds) && (g->output != NULL || m->n.variables == 0) &&
               (g->reacts != NULL || m->n.variables == 0) && (g->known != NULL || m->n.variables == 0);
    if (!fits) return 0;
    for (int32_t i = 0; i < m->n.speeds; i++) g->residual[i] = g->acceleration[i] = FM_NO_SLOT;
    for (int32_t i = 0; i < m->n.modes - m->n.speeds; i++) g->bare[i] = 1;
    for (int32_t i = 0; i < m->n.positions; i++) g->rate[i] = FM_NO_SLOT;
    for (int32_t i = 0; i < 3 * m->n.rows; i++) g->row[i] = FM_NO_SLOT;
    for (int32_t i = 0; i < m->n.variables; i++) g->output[i] = g->known[i] = FM_NO_SLOT, g->reacts[i] = 0;
    return 1;
}

void fm_free_graph(fm_graph *g)
{
#define A(type, name, count) free(g->name);
    FM_GRAPH_ARRAYS(A)
#undef A
}

/* Builds the graph of a model; fm_free_graph frees its arrays. Where the model is not covered, g->why says why, and
 * there is none. 0: no memory. */
int fm_build_graph(const fm_image *m, const fm_model *model, fm_graph *g)
{
    fm_builder b;
    memset(&b, 0, sizeof b);
    memset(g, 0, sizeof *g);
    b.m = m, b.model = model, b.g = g;
    fm_link_slots *slots = malloc(((size_t)m->n.links + 1) * sizeof *slots);
    b.spring = malloc(((size_t)m->n.springs + 1) * sizeof *b.spring);
    b.cut = malloc(((size_t)m->n.joints + 1) * sizeof *b.cut);
    if (b.cut != NULL) memset(b.cut, 0xff, ((size_t)m->n.joints + 1) * sizeof *b.cut);
    b.failed = slots == NULL || b.spring == NULL || b.cut == NULL || !open_arrays(g, model);
    if (!b.failed) {
        b.link = slots + 1;
        place_leaves(&b);
        place_ground(&b);
        g->built = covers(&b) && fm_build_links(&b) && fm_build_forces(&b) && fm_build_rows(&b);
        if (g->built) {
            fm_build_bodies(&b);
            fm_build_residuals(&b);
            g->dynamics = g->nodes;
            fm_build_outputs(&b);
        }
    }
    free(slots), free(b.spring), free(b.cut);
    if (b.failed || !g->built) {
        char why[sizeof g->why];
        memcpy(why, g->why, sizeof why);
        fm_free_graph(g);
        memset(g, 0, sizeof *g);
        memcpy(g->why, why, sizeof why);
    }
    return !b.failed;
}
