/* reach.h: functions of reach.c. */
#ifndef FM_REACH_H
#define FM_REACH_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_program_gap(const fm_instance *s, int32_t joint);
int32_t fm_nearest_gap(fm_instance *s, const double *origin, double *y, double *gap);
int32_t fm_out_of_reach(fm_instance *s, double t, const double *y, double *when, double *gap);

FM_HIDDEN_END

#endif
