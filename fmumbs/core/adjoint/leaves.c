/* leaves.c: the leaves of a graph: what it reads of the instance. */
#include "leaves.h"

#include "../forces/laws.h"
#include "../instance/instance.h"
#include "graph.h"

#include <string.h>

/* The piece of each law that slides; of those that stick there is none. */
static void choose_pieces(fm_instance *s)
{
    fm_graph *g = s->graph;
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        int32_t piece = -1, below;
        double x, v;
        if (!fm_law_sticks(s, i, &piece, &below, &v)) {
            g->value[g->leaf.held + i] = 0.0;
            fm_law_at(s, i, s->y, &x, &v);
            if (!fm_law_slides(s, i, &piece)) piece = fm_law_piece(&s->image, i, x, v, 0);
        } else {
            piece = -1;
        }
        g->node[g->law[i]].k = piece;
    }
}

/* Copies the leaves at the present state; accelerations and multipliers must be those of it. */
void fm_graph_load(fm_instance *s)
{
    const fm_model *m = &s->model;
    fm_graph *g = s->graph;
#define L(name, array, numbers)                                                                                        \
    if ((numbers) > 0) memcpy(g->value + g->leaf.name, s->array, (size_t)(numbers) * sizeof *g->value);
    FM_LEAVES(L)
#undef L
    g->value[g->leaf.hosted] = s->clock[FM_HOSTED];
    if (m->n.laws > 0) choose_pieces(s);
}

/* The place of a number of the state among the values; FM_NO_SLOT: the graph does not read it. */
int32_t fm_graph_place(const fm_instance *s, const double *stored)
{
    const fm_model *m = &s->model;
    const fm_leaves *leaf = &s->graph->leaf;
#define L(name, array, numbers)                                                                                        \
    if (stored >= s->array && stored < s->array + (numbers)) return leaf->name + (int32_t)(stored - s->array);
    FM_STORED_LEAVES(L)
#undef L
    return FM_NO_SLOT;
}
