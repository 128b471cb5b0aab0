/* crossings.h: functions of crossings.c. */
#ifndef FM_CROSSINGS_H
#define FM_CROSSINGS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_singular_rates(fm_instance *s, double t, const double *y, double *udot);
int fm_rates_on_branch(fm_instance *s, double t, const double *y, double *udot);
void fm_singular_present(fm_instance *s, double t, const double *y, double *udot);
int fm_singular_state(fm_instance *s, double *y);

FM_HIDDEN_END

#endif
