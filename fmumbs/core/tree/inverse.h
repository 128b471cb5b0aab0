/* inverse.h: functions of inverse.c. */
#ifndef FM_INVERSE_H
#define FM_INVERSE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_inverse_place(fm_instance *s, const double *y);
void fm_inverse_accelerations(fm_instance *s, const double *udot, int moving);
void fm_inverse_forces(fm_instance *s, const double *udot, int moving, double *out);

FM_HIDDEN_END

#endif
