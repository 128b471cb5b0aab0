/* matrix_graph.h: functions of matrix_graph.c. */
#ifndef FM_MATRIX_GRAPH_H
#define FM_MATRIX_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

int32_t fm_build_ball_energy(fm_builder *b, int32_t joint, int32_t u, int32_t q);
int32_t fm_build_ball_resistance(fm_builder *b, int32_t joint, int32_t u, int32_t q, int32_t speed);
void fm_build_matrix(fm_builder *b, int32_t joint, int32_t p, int32_t u);
void fm_build_matrices(fm_builder *b);

FM_HIDDEN_END

#endif
