/* poles.h: functions of poles.c. */
#ifndef FM_POLES_H
#define FM_POLES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_pole_between(const fm_instance *s, const fm_general *link, const double *from, const double *to);
int fm_pole_within(const fm_instance *s, const fm_general *link, const double *at, double angle, double part);

FM_HIDDEN_END

#endif
