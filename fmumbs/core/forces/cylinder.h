/* cylinder.h: functions of cylinder.c. */
#ifndef FM_CYLINDER_H
#define FM_CYLINDER_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

#define FM_LAMINAR 1e-3 /* of the rated drop: below it a valve's flow is laminar */

double fm_cylinder_opening(const fm_instance *s, int32_t i, int *side, int *follows);
double fm_stored_by_oil(double p, double beta);
int32_t fm_cylinder_run_out(fm_instance *s, const double *y, double part);
void fm_watch_cavitation(fm_instance *s, double t, const double *y);
int fm_say_cavitation(const fm_instance *s, char *out, size_t capacity);
void fm_cylinders_trap(fm_instance *s, double *y, int back);

FM_HIDDEN_END

#endif
