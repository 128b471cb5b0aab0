/* friction_graph.h: functions of friction_graph.c. */
#ifndef FM_FRICTION_GRAPH_H
#define FM_FRICTION_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

void fm_build_friction(fm_builder *b, int32_t i, const int32_t *rate);
void fm_build_frictions(fm_builder *b);
int fm_build_reactions(fm_builder *b);

FM_HIDDEN_END

#endif
