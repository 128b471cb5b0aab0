/* stiffness.h: functions of stiffness.c. */
#ifndef FM_STIFFNESS_H
#define FM_STIFFNESS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_stiff_place(fm_instance *s, const double *y);
void fm_stiff_force(fm_instance *s, double g, const double *a, const double *b, double *out);
void fm_stiff_apply(const fm_instance *s, double *tau);
void fm_stiff_begin(fm_instance *s, double g);
void fm_stiff_end(fm_instance *s);

FM_HIDDEN_END

#endif
