/* dop853.h: functions of dop853.c. */
#ifndef FM_DOP853_H
#define FM_DOP853_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

#define FM_DOP853_LAST 12 /* the stage at the end of the step */

double fm_dop853_try(fm_instance *s, double t, double h);
double fm_dop853_within(fm_instance *s, double t, double h);
void fm_dop853_keep(fm_instance *s, double h, const double *next, int all);

FM_HIDDEN_END

#endif
