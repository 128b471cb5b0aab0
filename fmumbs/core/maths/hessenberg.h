/* hessenberg.h: functions of hessenberg.c. */
#ifndef FM_HESSENBERG_H
#define FM_HESSENBERG_H

#include <stdint.h>

#include "hidden.h"

FM_HIDDEN_BEGIN

int fm_least_eigenvalue(double *a, int32_t n, double *least);
void fm_eigenvector_near(double *a, int32_t n, double value, double *vector);

FM_HIDDEN_END

#endif
