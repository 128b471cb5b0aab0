/* law_rates.h: functions of law_rates.c. */
#ifndef FM_LAW_RATES_H
#define FM_LAW_RATES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_law_mode_rate(const fm_instance *s, int32_t law, const double *udot);
double fm_line_acceleration(const fm_instance *s, int32_t spring);
double fm_law_trial(const fm_instance *s, int32_t law);
double fm_law_along(const fm_instance *s, int32_t law, double force);
void fm_law_rates(fm_instance *s, const fm_evaluation *how, int32_t count, double *rates, double *udot);
double fm_law_response(fm_instance *s, const fm_evaluation *how, int32_t count, int32_t i, double *rates, double *udot,
                       const double *without);

FM_HIDDEN_END

#endif
