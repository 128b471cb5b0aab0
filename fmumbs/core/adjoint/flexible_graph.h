/* flexible_graph.h: functions of flexible_graph.c. */
#ifndef FM_FLEXIBLE_GRAPH_H
#define FM_FLEXIBLE_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

void fm_build_frame(fm_builder *b, int32_t i);
void fm_build_floating(fm_builder *b, int32_t i);
void fm_build_flexible(fm_builder *b, int32_t i);
int32_t fm_forces_on_modes(fm_builder *b, int32_t i);
void fm_build_frame_forces(fm_builder *b, int32_t i);

FM_HIDDEN_END

#endif
