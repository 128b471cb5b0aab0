/* pull.h: functions of pull.c. */
#ifndef FM_PULL_H
#define FM_PULL_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_pull_of_loops(const fm_instance *s, const double *y);
void fm_pull_slopes(const fm_instance *s, double a, double *by_u, double by_gravity[3]);
int fm_pulls_to_branch(const fm_instance *s, double a);
int fm_pull(fm_instance *s, double t, const double *y, double *rates);

FM_HIDDEN_END

#endif
