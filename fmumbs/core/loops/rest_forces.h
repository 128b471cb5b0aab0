/* rest_forces.h: functions of rest_forces.c. */
#ifndef FM_REST_FORCES_H
#define FM_REST_FORCES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_rest_forces(fm_instance *s, const double *y, const double *tau, double *out);
void fm_rest_impulses(fm_instance *s, const double *v, double *out);

FM_HIDDEN_END

#endif
