/* matrix_graph.h: functions of matrix_graph.c. */
#ifndef FM_MATRIX_GRAPH_H
#define FM_MATRIX_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

int32_t fm_build_ball_resistance(fm_builder *b, int32_t i);
void fm_build_matrices(fm_builder *b);

FM_HIDDEN_END

#endif
