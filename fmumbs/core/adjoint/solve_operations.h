/* solve_operations.h: functions of solve_operations.c. */
#ifndef FM_SOLVE_OPERATIONS_H
#define FM_SOLVE_OPERATIONS_H

#include "graph.h"

FM_HIDDEN_BEGIN

void fm_solve_value(const fm_node *n, double *v);
void fm_solve_tangent(const fm_node *n, const double *v, double *t);
void fm_solve_adjoint(const fm_node *n, const double *v, double *d);

FM_HIDDEN_END

#endif
