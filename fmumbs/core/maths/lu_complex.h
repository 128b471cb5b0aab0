/* lu_complex.h: functions of lu_complex.c. */
#ifndef FM_LU_COMPLEX_H
#define FM_LU_COMPLEX_H

#include "hidden.h"

#include <stdint.h>

FM_HIDDEN_BEGIN

void fm_lu_complex_factor(double *re, double *im, int32_t n, double *unit, int32_t *exchanged);
void fm_lu_complex_solve(const double *re, const double *im, int32_t n, const int32_t *exchanged, double *x, double *y);

FM_HIDDEN_END

#endif
