/* wrenches.h: functions of wrenches.c. */
#ifndef FM_WRENCHES_H
#define FM_WRENCHES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_apply_in_link(fm_instance *s, int32_t point, const double f[3], const double t[3]);
void fm_apply_at_point(fm_instance *s, int32_t point, const double force[3], const double torque[3]);
void fm_apply_wrench(fm_instance *s, int32_t link, const double at[3], const double wrench[6], double sign);

FM_HIDDEN_END

#endif
