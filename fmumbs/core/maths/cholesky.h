/* cholesky.h: functions of cholesky.c. */
#ifndef FM_CHOLESKY_H
#define FM_CHOLESKY_H

#include "hidden.h"

#include <stdint.h>

FM_HIDDEN_BEGIN

int fm_cholesky_factor(double *A, int32_t n, int32_t stride);
void fm_cholesky_solve(const double *A, int32_t n, int32_t stride, double *x);

FM_HIDDEN_END

#endif
