/* compliances.h: functions of compliances.c. */
#ifndef FM_COMPLIANCES_H
#define FM_COMPLIANCES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

#define FM_STIFF_ABOVE 0.4 /* rho over the least inertia that opposes: below it, an element is not stiff */

void fm_compliances_find(fm_instance *s, int which, const double *y, double g, double least);
void fm_compliances_place(fm_instance *s, int which, int source, double t, const double *y, double g,
                          const double *udot);
void fm_compliances_renew(fm_instance *s, int which);
void fm_compliances_apply(fm_instance *s, int which, const double *moved, double *x);

FM_HIDDEN_END

#endif
