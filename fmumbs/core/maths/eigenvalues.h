/* eigenvalues.h: functions of eigenvalues.c. */
#ifndef FM_EIGENVALUES_H
#define FM_EIGENVALUES_H

#include "hidden.h"

#include <stdint.h>

FM_HIDDEN_BEGIN

int fm_eigenvalues(double *A, int32_t n, double *re, double *im);

FM_HIDDEN_END

#endif
