/* nodes.c: adds numbers and nodes to a graph while it is built, on the heap. */
#include "nodes.h"

#include "../maths/text.h"
#include "builder.h"

#include <stdlib.h>
#include <string.h>

#define FM_MOST_SLOTS 100000000 /* of a graph: more is no mechanism */

static const int32_t numbers_of[] = {
#define O(id, numbers, ...) numbers,
    FM_OPERATIONS(O)
#undef O
};

/* Room for `more` further elements of an array; 0: no memory. */
static int make_room(void **array, size_t *room, size_t used, size_t more, size_t size)
{
    if (used + more <= *room) return 1;
    const size_t wider = 2 * (used + more) + 64;
    void *moved = wider < FM_MOST_SLOTS ? realloc(*array, wider * size) : NULL;
    if (moved == NULL) return 0;
    *array = moved, *room = wider;
    return 1;
}

/* The place of new numbers, which are zero. */
int32_t fm_place_numbers(fm_builder *b, int32_t count)
{
    fm_graph *g = b->g;
    void *values = g->value;
    b->failed |= !make_room(&values, &b->value_room, (size_t)g->values, (size_t)count, sizeof *g->value);
    g->value = values;
    if (b->failed) return 0;
    const int32_t at = g->values;
    memset(g->value + at, 0, (size_t)count * sizeof *g->value);
    g->values += count;
    return at;
}

int32_t fm_constant(fm_builder *b, const double *numbers, int32_t count)
{
    const int32_t at = fm_place_numbers(b, count);
    if (!b->failed) memcpy(b->g->value + at, numbers, (size_t)count * sizeof *numbers);
    return at;
}

int32_t fm_number(fm_builder *b, double number)
{
    return fm_constant(b, &number, 1);
}

/* Adds a node with the operands a, c, d (the first one for none); returns the place of its result. */
int32_t fm_add_node(fm_builder *b, fm_operation operation, int32_t a, int32_t c, int32_t d)
{
    return fm_add_part(b, operation, a, c, d, 0, numbers_of[operation]);
}

/* The same of part k of something, with a result of so many numbers. */
int32_t fm_add_part(fm_builder *b, fm_operation operation, int32_t a, int32_t c, int32_t d, int32_t k, int32_t numbers)
{
    fm_graph *g = b->g;
    void *nodes = g->node;
    b->failed |= !make_room(&nodes, &b->node_room, (size_t)g->nodes, 1, sizeof *g->node);
    g->node = nodes;
    const int32_t out = fm_place_numbers(b, numbers);
    if (b->failed) return 0;
    const fm_node node = {(int32_t)operation, out, a, c, d, k};
    g->node[g->nodes++] = node;
    return out;
}

/* Says that the graph does not cover a model because of an element, with the place of its name in the text. */
int fm_uncovered(fm_builder *b, const char *what, int32_t name)
{
    (void)fm_print(b->g->why, sizeof b->g->why, "%s %s", what, name >= 0 ? b->m->text + name : "");
    return 0;
}

/* A vector that is fixed in a rotated frame. */
int32_t fm_carry(fm_builder *b, int32_t R, const double *in)
{
    if (R == b->identity) return fm_constant(b, in, 3);
    return fm_add_node(b, FM_DO_CARRY, R, fm_constant(b, in, 3), 0);
}

/* A number times a constant. */
int32_t fm_times_constant(fm_builder *b, double factor, int32_t number)
{
    return factor == 1.0 ? number : fm_add_node(b, FM_DO_PRODUCT, fm_number(b, factor), number, 0);
}

/* What a link takes so far, a torque and a force. */
int32_t fm_wrench_of(const fm_builder *b, const fm_link_slots *k)
{
    return k->wrench == FM_NO_SLOT ? b->zero : k->wrench;
}

/* Adds a force at an arm from a link's origin, and a torque, to what it takes, or, sign -1, subtracts them. */
void fm_add_wrench(fm_builder *b, int32_t link, int32_t force, int32_t arm, int32_t torque, int sign)
{
    if (link < 0) return;
    fm_link_slots *k = b->link + link;
    if (torque != FM_NO_SLOT) k->wrench = fm_add_part(b, FM_DO_ADD_TORQUE, fm_wrench_of(b, k), torque, 0, sign, 6);
    if (force == FM_NO_SLOT) return;
    k->wrench = fm_add_part(b, FM_DO_ADD_FORCE, fm_wrench_of(b, k), force, arm == FM_NO_SLOT ? b->zero : arm, sign, 6);
}

/* Adds what a link takes to what its parent does. */
void fm_pass_wrench(fm_builder *b, const fm_link_slots *k, int32_t parent)
{
    if (parent < 0 || k->wrench == FM_NO_SLOT) return;
    fm_link_slots *p = b->link + parent;
    p->wrench =
        fm_add_node(b, FM_DO_ADD_WRENCH, fm_wrench_of(b, p), k->wrench, k->arm == FM_NO_SLOT ? b->zero : k->arm);
}
