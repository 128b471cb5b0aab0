/* forces.h: functions of forces.c. */
#ifndef FM_FORCES_H
#define FM_FORCES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_has_forces(const fm_image *m);
void fm_apply_forces(fm_instance *s, const double *load);
void fm_apply_responses(fm_instance *s, const double *load);
int fm_has_acts(const fm_image *m);
void fm_act_on_modes(fm_instance *s, const double *y, double *tau);
void fm_react_on_modes(fm_instance *s, double *tau);
void fm_apply_modes(fm_instance *s, const double *y, const double *input, double *tau);

FM_HIDDEN_END

#endif
