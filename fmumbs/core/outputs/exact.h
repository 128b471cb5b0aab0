/* exact.h: functions of exact.c. */
#ifndef FM_EXACT_H
#define FM_EXACT_H

#include "differences.h"

FM_HIDDEN_BEGIN

int fm_exact_covers(fm_instance *s, uint32_t unknown);
int fm_exact_fits(fm_instance *s, const fm_seeds *along, const uint32_t *unknown, size_t unknowns);
int fm_exact_forward(fm_instance *s, const fm_seeds *along, const uint32_t *unknown, size_t unknowns, double *result);
fm_status fm_do_adjoint_derivative(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                   size_t knowns, const double *seed, double *result);

FM_HIDDEN_END

#endif
