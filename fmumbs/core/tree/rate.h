/* rate.h: functions of rate.c. */
#ifndef FM_RATE_H
#define FM_RATE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_is_rate_target(const fm_instance *s, int32_t link);
double fm_fastest(const fm_instance *s, const double *u);
double fm_rate_of(const fm_instance *s, const double *u);
double fm_nominal_rate(const fm_instance *s);
void fm_note_rate(fm_instance *s, const double *u, double h);
void fm_begin_rate(fm_instance *s, double h);
double fm_trial_time(const fm_instance *s);
double fm_trial_force(const fm_instance *s);

FM_HIDDEN_END

#endif
