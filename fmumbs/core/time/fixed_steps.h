/* fixed_steps.h: functions of fixed_steps.c. */
#ifndef FM_FIXED_STEPS_H
#define FM_FIXED_STEPS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_fixed_steps(fm_instance *s, double t_end);

FM_HIDDEN_END

#endif
