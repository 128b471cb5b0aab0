/* cut_graph.h: functions of cut_graph.c. */
#ifndef FM_CUT_GRAPH_H
#define FM_CUT_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

void fm_build_cut_motion(fm_builder *b, int32_t joint, fm_moving between);
int32_t fm_build_cut_acceleration(fm_builder *b, int32_t joint);
void fm_build_cut_forces(fm_builder *b, int32_t joint);

FM_HIDDEN_END

#endif
