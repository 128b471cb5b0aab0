/* radau.h: functions of radau.c. */
#ifndef FM_RADAU_H
#define FM_RADAU_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_radau_try(fm_instance *s, double t, double h, int rejected, int *iterations);
void fm_radau_keep(fm_instance *s, double h);
double fm_radau_factor(const fm_instance *s, double h, double error, int iterations);

FM_HIDDEN_END

#endif
