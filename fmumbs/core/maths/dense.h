/* dense.h: functions of dense.c. */
#ifndef FM_DENSE_MATHS_H
#define FM_DENSE_MATHS_H

#include "hidden.h"

#include <stdint.h>

FM_HIDDEN_BEGIN

double fm_dense_factor(double *A, int32_t n, int32_t stride, int32_t *order);
void fm_dense_solve(const double *L, int32_t n, int32_t stride, const int32_t *order, double *x);

FM_HIDDEN_END

#endif
