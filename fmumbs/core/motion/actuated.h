/* actuated.h: functions of actuated.c. */
#ifndef FM_ACTUATED_H
#define FM_ACTUATED_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int32_t fm_actuators(const fm_image *m, int32_t *direct);
void fm_find_actuators(fm_instance *s);
int fm_set_actuators(fm_instance *s, int found);
void fm_actuate(fm_instance *s, const double *y, const double *taken);
fm_status fm_check_actuated(fm_instance *s);

FM_HIDDEN_END

#endif
