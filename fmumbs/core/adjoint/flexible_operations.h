/* flexible_operations.h: functions of flexible_operations.c. */
#ifndef FM_FLEXIBLE_OPERATIONS_H
#define FM_FLEXIBLE_OPERATIONS_H

#include "graph.h"

FM_HIDDEN_BEGIN

void fm_flexible_value(const fm_instance *s, const fm_node *n, double *v);
void fm_flexible_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t);
void fm_flexible_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d);

FM_HIDDEN_END

#endif
