/* compliances.h: functions of compliances.c. */
#ifndef FM_COMPLIANCES_H
#define FM_COMPLIANCES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_compliances_find(fm_instance *s, int which, const double *y, double g);
void fm_compliances_place(fm_instance *s, int which, int source, double t, const double *y, double g,
                          const double *udot);
void fm_compliances_renew(fm_instance *s, int which);
void fm_compliances_apply(fm_instance *s, int which, const double *moved, double *x);

FM_HIDDEN_END

#endif
