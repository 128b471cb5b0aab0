/* tree_graph.h: functions of tree_graph.c. */
#ifndef FM_TREE_GRAPH_H
#define FM_TREE_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

void fm_keep_motion(fm_builder *b, int32_t i);
void fm_find_screw(const fm_image *m, int32_t i, double *turn, double *slide);
int fm_build_links(fm_builder *b);
void fm_build_bodies(fm_builder *b);
void fm_build_residuals(fm_builder *b);
int32_t fm_axes_of_point(fm_builder *b, int32_t point);
fm_point_slots fm_build_point(fm_builder *b, int32_t link, const double *at);

FM_HIDDEN_END

#endif
