/* general_graph.h: functions of general_graph.c. */
#ifndef FM_GENERAL_GRAPH_H
#define FM_GENERAL_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

int32_t fm_place_of_screw(const fm_image *m, int32_t general, int32_t screw);
void fm_build_general(fm_builder *b, int32_t i);
void fm_build_general_forces(fm_builder *b, int32_t i);

FM_HIDDEN_END

#endif
