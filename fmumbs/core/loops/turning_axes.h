/* turning_axes.h: functions of turning_axes.c. */
#ifndef FM_TURNING_AXES_H
#define FM_TURNING_AXES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_turning_structure(fm_instance *s);
int32_t fm_starts_at_limit(const fm_instance *s, const double *y);
int32_t fm_passes_limit(const fm_instance *s, const double *before, const double *after, int beside);
const char *fm_limit_of(const fm_instance *s, int32_t joint);
int32_t fm_nearest_limit(const fm_instance *s, const double *y, double angle);

FM_HIDDEN_END

#endif
