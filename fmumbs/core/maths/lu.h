/* lu.h: functions of lu.c. */
#ifndef FM_LU_H
#define FM_LU_H

#include "hidden.h"

#include <stdint.h>

FM_HIDDEN_BEGIN

void fm_lu_factor(double *A, int32_t n, double *unit, int32_t *exchanged);
void fm_lu_solve_transposed(const double *LU, int32_t n, const int32_t *exchanged, double *restrict x);
void fm_lu_solve(const double *LU, int32_t n, const int32_t *exchanged, double *x);

FM_HIDDEN_END

#endif
