/* elements.c: the force elements that act between two links, as one sequence of pairs. */
#include "elements.h"

#include "../instance/instance.h"

/* How many elements act between two links. */
int32_t fm_count_pairs(const fm_image *m)
{
    int32_t count = 0;
#define O(id, one, all) count += fm_##one##_element.links != NULL ? m->n.all : 0;
    FM_FORCE_ELEMENTS(O)
#undef O
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
}
