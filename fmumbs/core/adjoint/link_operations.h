/* link_operations.h: functions of link_operations.c. */
#ifndef FM_LINK_OPERATIONS_H
#define FM_LINK_OPERATIONS_H

#include "graph.h"

FM_HIDDEN_BEGIN

void fm_link_value(const fm_instance *s, const fm_node *n, double *v);
void fm_link_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t);
void fm_link_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d);

FM_HIDDEN_END

#endif
