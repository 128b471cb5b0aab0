/* rope_operations.h: functions of rope_operations.c. */
#ifndef FM_ROPE_OPERATIONS_H
#define FM_ROPE_OPERATIONS_H

#include "graph.h"

FM_HIDDEN_BEGIN

void fm_span_value(const fm_instance *s, const fm_node *n, double *v);
void fm_span_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t);
void fm_span_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d);

FM_HIDDEN_END

#endif
