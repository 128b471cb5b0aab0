/* tangent.h: functions of tangent.c. */
#ifndef FM_TANGENT_H
#define FM_TANGENT_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_passed_tangent(fm_instance *s, double t, double h, const double *y, const double *end);

FM_HIDDEN_END

#endif
