/* row_operations.h: functions of row_operations.c. */
#ifndef FM_ROW_OPERATIONS_H
#define FM_ROW_OPERATIONS_H

#include "graph.h"

FM_HIDDEN_BEGIN

void fm_row_value(const fm_instance *s, const fm_node *n, double *v);
void fm_row_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t);
void fm_row_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d);

FM_HIDDEN_END

#endif
