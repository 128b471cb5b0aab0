/* leaves.c: the leaves of a graph: what it reads of the instance. */
#include "leaves.h"

#include "../instance/instance.h"
#include "graph.h"

#include <string.h>

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
