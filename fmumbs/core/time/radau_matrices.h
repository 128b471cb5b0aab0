/* radau_matrices.h: functions of radau_matrices.c. */
#ifndef FM_RADAU_MATRICES_H
#define FM_RADAU_MATRICES_H

#include "../instance/instance.h"
#include "scratch.h"

FM_HIDDEN_BEGIN

void fm_matrices_resist(fm_instance *s, int which, const double *y, double h);
void fm_matrices_weigh(fm_instance *s);
void fm_matrices_factor(fm_instance *s, double h);
void fm_matrices_solve(fm_instance *s, double h, double *v, double *q, double *z);
void fm_matrices_solve_real(const fm_instance *s, double g, double *v, const double *q, double *z);

FM_HIDDEN_END

#endif
