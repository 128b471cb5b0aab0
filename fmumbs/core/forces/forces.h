/* forces.h: functions of forces.c. */
#ifndef FM_FORCES_H
#define FM_FORCES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_has_forces(const fm_image *m);
void fm_apply_wrench(fm_instance *s, int32_t link, const double at[3], const double wrench[6], double sign);
void fm_apply_forces(fm_instance *s, const double *load, int springs);
void fm_apply_modes(fm_instance *s, const double *y, const double *input, double *tau);

FM_HIDDEN_END

#endif
