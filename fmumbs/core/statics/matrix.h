/* matrix.h: functions of matrix.c. */
#ifndef FM_STATICS_MATRIX_H
#define FM_STATICS_MATRIX_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_matrix_solve(fm_instance *s, double mu, const double *b, double least, double *x);
int fm_matrix_departure(fm_instance *s, double *x);

FM_HIDDEN_END

#endif
