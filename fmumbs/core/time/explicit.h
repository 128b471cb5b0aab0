/* explicit.h: functions of explicit.c. */
#ifndef FM_EXPLICIT_H
#define FM_EXPLICIT_H

#include "scheme.h"

FM_HIDDEN_BEGIN

void fm_explicit_stage(fm_instance *s, double t, double h, const double *a, double c, int j, double *y);
int fm_explicit_stages(fm_instance *s, double t, double h, const double *A, int width, const double *c, int last);
double fm_explicit_error(const fm_instance *s, double h, const double *e, int last);
double fm_explicit_factor(const fm_instance *s, const fm_scheme *scheme, double h, double error);
void fm_chained_stages(fm_instance *s, double t, double h, const double *node, int count);

FM_HIDDEN_END

#endif
