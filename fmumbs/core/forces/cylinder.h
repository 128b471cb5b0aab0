/* cylinder.h: functions of cylinder.c. */
#ifndef FM_CYLINDER_H
#define FM_CYLINDER_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int32_t fm_cylinder_run_out(fm_instance *s, const double *y, double part);
void fm_cylinders_trap(fm_instance *s, double *y, int back);

FM_HIDDEN_END

#endif
