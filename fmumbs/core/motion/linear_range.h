/* linear_range.h: functions of linear_range.c. */
#ifndef FM_LINEAR_RANGE_H
#define FM_LINEAR_RANGE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_watch_deformation(fm_instance *s, double t, const double *y);

FM_HIDDEN_END

#endif
