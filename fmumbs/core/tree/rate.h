/* rate.h: functions of rate.c. */
#ifndef FM_RATE_H
#define FM_RATE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_is_rate_target(const fm_instance *s, int32_t link);
double fm_fastest(const fm_instance *s, const double *u);

FM_HIDDEN_END

#endif
