/* decay.h: functions of decay.c. */
#ifndef FM_DECAY_H
#define FM_DECAY_H

#include "hidden.h"

FM_HIDDEN_BEGIN

double fm_decay(double x);
double fm_logarithm(double x);
double fm_odd_power(double x, double m);

FM_HIDDEN_END

#endif
