/* road_operations.h: functions of road_operations.c. */
#ifndef FM_ROAD_OPERATIONS_H
#define FM_ROAD_OPERATIONS_H

#include "graph.h"

FM_HIDDEN_BEGIN

void fm_meeting_value(const fm_instance *s, const fm_node *n, double *v);
void fm_meeting_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t);
void fm_meeting_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d);

FM_HIDDEN_END

#endif
