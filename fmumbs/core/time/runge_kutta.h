/* runge_kutta.h: functions of runge_kutta.c. */
#ifndef FM_RUNGE_KUTTA_H
#define FM_RUNGE_KUTTA_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_runge_kutta(fm_instance *s, double t_end);

FM_HIDDEN_END

#endif
