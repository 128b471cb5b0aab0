/* cut_operations.h: functions of cut_operations.c. */
#ifndef FM_CUT_OPERATIONS_H
#define FM_CUT_OPERATIONS_H

#include "graph.h"

FM_HIDDEN_BEGIN

void fm_cut_value(const fm_instance *s, const fm_node *n, double *v);
void fm_cut_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t);
void fm_cut_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d);

FM_HIDDEN_END

#endif
