/* leaves.h: functions of leaves.c. */
#ifndef FM_LEAVES_H
#define FM_LEAVES_H

#include "graph.h"

FM_HIDDEN_BEGIN

void fm_graph_load(fm_instance *s, int cuts);
int32_t fm_graph_place(const fm_instance *s, const double *stored);

FM_HIDDEN_END

#endif
