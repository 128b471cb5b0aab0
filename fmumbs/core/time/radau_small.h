/* radau_small.h: functions of radau_small.c. */
#ifndef FM_RADAU_SMALL_H
#define FM_RADAU_SMALL_H

#include "../instance/instance.h"
#include "scratch.h"

FM_HIDDEN_BEGIN

fm_iteration fm_small_begin(const fm_instance *s);
void fm_small_iterate(fm_instance *s, double t, double h, int first);
void fm_small_filter(fm_instance *s, double g, const double *r, double *error);

FM_HIDDEN_END

#endif
