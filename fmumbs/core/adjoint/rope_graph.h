/* rope_graph.h: functions of rope_graph.c. */
#ifndef FM_ROPE_GRAPH_H
#define FM_ROPE_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

void fm_build_side(fm_builder *b, int32_t side);

FM_HIDDEN_END

#endif
