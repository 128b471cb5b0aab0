/* law_graph.h: functions of law_graph.c. */
#ifndef FM_LAW_GRAPH_H
#define FM_LAW_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

void fm_build_laws(fm_builder *b);
int32_t fm_build_law(fm_builder *b, int32_t law, int32_t x, int32_t v);
void fm_build_sticking(fm_builder *b);

FM_HIDDEN_END

#endif
