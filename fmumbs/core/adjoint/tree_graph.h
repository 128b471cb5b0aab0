/* tree_graph.h: functions of tree_graph.c. */
#ifndef FM_TREE_GRAPH_H
#define FM_TREE_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

int fm_build_links(fm_builder *b);
void fm_build_bodies(fm_builder *b);
void fm_build_residuals(fm_builder *b);
fm_point_slots fm_build_point(fm_builder *b, int32_t link, const double *at, int moving);

FM_HIDDEN_END

#endif
