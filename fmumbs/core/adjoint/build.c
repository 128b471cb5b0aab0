/* build.c: builds a graph on the heap, once, when an instance opens. */
#include "build.h"

#include "../image/joints.h"
#include "builder.h"
#include "force_graph.h"
#include "friction_graph.h"
#include "law_graph.h"
#include "matrix_graph.h"
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
    leaf->taut = fm_place_numbers(b, m->n.sides);
    leaf->flank = fm_place_numbers(b, m->n.gears), leaf->pressed = fm_place_numbers(b, m->n.gears);
    leaf->feeds = fm_place_numbers(b, m->n.cylinders), leaf->follows = fm_place_numbers(b, m->n.cylinders);
    leaf->cut = fm_place_numbers(b, m->n.cylinders);
    leaf->curbed = fm_place_numbers(b, m->n.motors);
    leaf->driving = fm_place_numbers(b, m->n.motors), leaf->driven = fm_place_numbers(b, m->n.motors);
    leaf->touches = fm_place_numbers(b, m->n.spots), leaf->slips = fm_place_numbers(b, m->n.spots);
    leaf->rolls = fm_place_numbers(b, 2 * m->n.rolls);
    leaf->end = b->g->values;
}

static void place_ground(fm_builder *b)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    fm_link_slots *ground = b->link - 1;
    b->identity = fm_constant(b, identity, 9);
    b->zero = fm_constant(b, zero, 6);
    memset(ground, 0xff, sizeof *ground);
    ground->R = b->identity;
    ground->r = ground->w = ground->v = ground->alpha = b->zero;
    ground->a = fm_add_node(b, FM_DO_SUBTRACT, b->zero, b->g->leaf.gravity, 0);
    fm_keep_motion(b, -1);
}

/* What the whole model must not have. */
static int covers(fm_builder *b)
{
    const fm_image *m = b->m;
    if (b->model->inverse) return fm_uncovered(b, "inverse dynamics", -1);
    for (int32_t i = 0; i < m->n.excitations; i++)
        if (m->excitation_drive[i] >= 0)
            return fm_uncovered(b, "drives that realise the program of joint", m->joint_name[m->excitation_joint[i]]);
    return 1;
}

static void fill(int32_t *array, int32_t count, int32_t with)
{
    for (int32_t i = 0; i < count; i++) array[i] = with;
}

/* The arrays of fm_graph beside its nodes and values; 0: no memory. */
static int open_arrays(fm_graph *g, const fm_model *m)
{
    int fits = 1;
#define A(type, name, count)                                                     \
    if ((count) > 0) fits &= (g->name = malloc((size_t)(count) * sizeof *g->name)) != NULL;
    FM_GRAPH_ARRAYS(A)
#undef A
    if (!fits) return 0;
    fill(g->shapes, m->n.modals, FM_NO_SLOT);
    fill(g->residual, m->n.speeds, FM_NO_SLOT), fill(g->acceleration, m->n.speeds, FM_NO_SLOT);
    fill(g->rate, m->ny, FM_NO_SLOT), fill(g->row, 3 * m->n.rows, FM_NO_SLOT);
    fill(g->equation, FM_CONDITIONS(m), FM_NO_SLOT), fill(g->unknown, FM_CONDITIONS(m), FM_NO_SLOT);
    fill(g->output, m->n.variables, FM_NO_SLOT);
    for (int32_t i = 0; i < m->n.variables; i++) g->known[i].at = FM_NO_SLOT, g->known[i].numbers = 0;
    fill(g->reacts, m->n.variables, 0);
    return 1;
}

/* The arrays of fm_builder, whose places are none so far; 0: no memory. */
static int open_builder(fm_builder *b)
{
    const fm_image *m = b->m;
    int fits = 1;
#define A(type, name, count)                                                     \
    if ((count) > 0) {                                                           \
        fits &= (b->name = malloc((size_t)(count) * sizeof *b->name)) != NULL;   \
        if (b->name != NULL) memset(b->name, 0xff, (size_t)(count) * sizeof *b->name); \
    }
    FM_BUILDER_ARRAYS(A)
#undef A
    return fits;
}

static void close_builder(fm_builder *b)
{
#define A(type, name, count) free(b->name);
    FM_BUILDER_ARRAYS(A)
#undef A
}

void fm_free_graph(fm_graph *g)
{
#define A(type, name, count) free(g->name);
    FM_GRAPH_ARRAYS(A)
#undef A
}

/* Forces, rows and residuals; and the equations of laws that stick. */
static int build_dynamics(fm_builder *b)
{
    for (int32_t u = 0; u < b->m->n.modes; u++)
        b->applied[u] = b->g->leaf.tau + u, b->rotor[u] = b->g->leaf.rotor_inertia + u;
    fm_build_laws(b);
    fm_build_matrices(b);
    fm_build_frictions(b);
    if (!fm_build_forces(b) || !fm_build_rows(b)) return 0;
    fm_build_bodies(b);
    fm_build_residuals(b);
    b->g->dynamics = b->g->nodes;
    fm_build_sticking(b);
    return 1;
}

/* Builds the graph of a model; fm_free_graph frees its arrays. Where the model is not covered, g->why says why, and
 * there is none. 0: no memory. */
int fm_build_graph(const fm_image *m, const fm_model *model, fm_graph *g)
{
    fm_builder b;
    memset(&b, 0, sizeof b);
    memset(g, 0, sizeof *g);
    b.m = m, b.model = model, b.g = g;
    b.failed = !open_builder(&b) || !open_arrays(g, model);
    if (!b.failed) {
        b.link = b.links + 1;
        place_leaves(&b);
        place_ground(&b);
        g->room = m->n.variables + 2 * model->ny; /* as many as there are references, but for what is no derivative's */
        g->built = covers(&b) && fm_build_links(&b) && build_dynamics(&b) && fm_build_reactions(&b);
        g->conditions = g->nodes, g->before_outputs = g->values;
        if (g->built) fm_build_outputs(&b);
    }
    close_builder(&b);
    if (b.failed || !g->built) {
        char why[sizeof g->why];
        memcpy(why, g->why, sizeof why);
        fm_free_graph(g);
        memset(g, 0, sizeof *g);
        memcpy(g->why, why, sizeof why);
    }
    return !b.failed;
}
