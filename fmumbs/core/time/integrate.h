/* integrate.h: functions of integrate.c. */
#ifndef FM_INTEGRATE_H
#define FM_INTEGRATE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_integrate(fm_instance *s, double t_end);

FM_HIDDEN_END

#endif
