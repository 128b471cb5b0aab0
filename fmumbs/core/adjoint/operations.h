/* operations.h: functions of operations.c. */
#ifndef FM_OPERATIONS_H
#define FM_OPERATIONS_H

#include "graph.h"

FM_HIDDEN_BEGIN

void fm_graph_values(fm_instance *s, int32_t from, int32_t to);
void fm_plan_values(fm_instance *s);
void fm_plan_adjoints(fm_instance *s, int32_t to);
void fm_graph_tangents(fm_instance *s, int32_t from, int32_t to);
void fm_graph_adjoints(fm_instance *s, int32_t from, int32_t to);

FM_HIDDEN_END

#endif
