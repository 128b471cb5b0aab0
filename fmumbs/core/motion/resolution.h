/* resolution.h: functions of resolution.c. */
#ifndef FM_RESOLUTION_H
#define FM_RESOLUTION_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_spacing(double x);
int32_t fm_unresolved(const fm_instance *s, const double *y, double *value, int32_t *slides);

FM_HIDDEN_END

#endif
