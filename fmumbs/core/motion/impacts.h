/* impacts.h: functions of impacts.c. */
#ifndef FM_IMPACTS_H
#define FM_IMPACTS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_apply_impulses(fm_instance *s, const fm_evaluation *how, int32_t n, const double *p, double *y);
int fm_impacts(fm_instance *s, const fm_evaluation *how, double *y);
int32_t fm_yielding_stop(const fm_instance *s, int32_t n);

FM_HIDDEN_END

#endif
