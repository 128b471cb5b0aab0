/* touch.h: functions of touch.c. */
#ifndef FM_TOUCH_H
#define FM_TOUCH_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_passed_touch(fm_instance *s, double t, double h, const double *y, const double *end);

FM_HIDDEN_END

#endif
