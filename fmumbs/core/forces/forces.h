/* forces.h: functions of forces.c. */
#ifndef FM_FORCES_H
#define FM_FORCES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_has_forces(const fm_image *m);
void fm_apply_forces(fm_instance *s, const double *load);
void fm_apply_responses(fm_instance *s, const double *load);
void fm_apply_modes(fm_instance *s, const double *y, const double *input, double *tau);

FM_HIDDEN_END

#endif
