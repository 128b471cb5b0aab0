/* elements.c: the links that force elements act between, as one sequence of pairs, where a side of a rope acts between
 * any two of those that it touches; and the elements with own states. */
#include "elements.h"

#include "../instance/instance.h"

#include <string.h>

/* How many elements may have own states. */
int32_t fm_count_stateful(const fm_image *m)
{
    int32_t count = 0;
#define O(id, one, all) count += fm_##one##_element.states != NULL ? m->n.all : 0;
    FM_FORCE_ELEMENTS(O)
#undef O
    return count;
}

/* The own states of one of them at y, by its number among all; returns how many it has. Requires work.control. */
int fm_own_states_of(const fm_instance *s, int32_t number, const double *y, fm_own_states *own)
{
    memset(own, 0, sizeof *own);
#define O(id, one, all)                                                                                                \
    if (fm_##one##_element.states != NULL) {                                                                           \
        if (number >= 0 && number < s->image.n.all) return fm_##one##_element.states(s, number, y, own);               \
        number -= s->image.n.all;                                                                                      \
    }
    FM_FORCE_ELEMENTS(O)
#undef O
    return 0;
}

static void rates_of(const fm_force_element *element, const fm_instance *s, int32_t i, const double *y, double *ydot)
{
    fm_own_states own;
    if (element->rests != NULL && element->rests(s, i, ydot)) return;
    memset(&own, 0, sizeof own);
    const int count = element->states(s, i, y, &own);
    for (int j = 0; j < count; j++) ydot[own.first + j] = own.rate[j];
}

/* The rates of the own states at y, after an evaluation there. */
void fm_own_rates(const fm_instance *s, const double *y, double *ydot)
{
    if (s->model.stateful == 0) return;
#define O(id, one, all) \
    for (int32_t i = 0; fm_##one##_element.states != NULL && i < s->image.n.all; i++) \
        rates_of(&fm_##one##_element, s, i, y, ydot);
    FM_FORCE_ELEMENTS(O)
#undef O
}

/* How many things a side of a rope touches, its points and discs. */
static int32_t touched(const fm_image *m, int32_t side)
{
    const int32_t first = m->side_via[side], last = first + m->side_vias[side] - 1;
    return m->side_vias[side] + (m->via_pulley[first] >= 0) + (m->via_pulley[last] >= 0);
}

/* The link of one of these. */
static int32_t touched_link(const fm_image *m, int32_t side, int32_t k)
{
    const int32_t first = m->side_via[side], last = first + m->side_vias[side] - 1, beyond = k - m->side_vias[side];
    if (beyond < 0) return m->point_link[m->via_point[first + k]];
    return m->point_link[m->pulley_disc[m->via_pulley[beyond == 0 && m->via_pulley[first] >= 0 ? first : last]]];
}

/* In how many directions elements resist, at most: one for the stretch of each side of a rope. */
int32_t fm_count_directions(const fm_image *m)
{
    int32_t count = m->n.sides;
#define O(id, one, all) count += fm_##one##_element.links != NULL ? FM_DIRECTIONS * m->n.all : 0;
    FM_FORCE_ELEMENTS(O)
#undef O
    return count;
}

/* How many pairs of links elements act between. */
int32_t fm_count_pairs(const fm_image *m)
{
    int32_t count = 0;
#define O(id, one, all) count += fm_##one##_element.links != NULL ? m->n.all : 0;
    FM_FORCE_ELEMENTS(O)
#undef O
    for (int32_t i = 0; i < m->n.sides; i++) count += touched(m, i) * (touched(m, i) - 1) / 2;
    return count;
}

/* The links of one of them (-1: ground), by its number among all. */
void fm_pair_links(const fm_image *m, int32_t pair, int32_t links[2])
{
    links[0] = links[1] = -1;
#define O(id, one, all)                                                                                                \
    if (fm_##one##_element.links != NULL) {                                                                            \
        if (pair >= 0 && pair < m->n.all) fm_##one##_element.links(m, pair, links);                                    \
        pair -= m->n.all;                                                                                              \
    }
    FM_FORCE_ELEMENTS(O)
#undef O
    for (int32_t i = 0; i < m->n.sides && pair >= 0; i++)
        for (int32_t a = 1; a < touched(m, i); a++)
            for (int32_t b = 0; b < a; b++)
                if (pair-- == 0) links[0] = touched_link(m, i, a), links[1] = touched_link(m, i, b);
}
