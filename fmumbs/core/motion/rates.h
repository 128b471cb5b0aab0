/* rates.h: functions of rates.c. */
#ifndef FM_RATES_H
#define FM_RATES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_rates(fm_instance *s, double t, const double *y, double *ydot);
void fm_stiff_accelerations(fm_instance *s, double t, const double *y, double g, double *udot);
void fm_stiff_again(fm_instance *s, double t, const double *y, double g, const double *force, double *udot);

FM_HIDDEN_END

#endif
