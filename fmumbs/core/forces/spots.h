/* spots.h: functions of spots.c. */
#ifndef FM_SPOTS_H
#define FM_SPOTS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_spot_is_in(const fm_instance *s, int32_t i, int which, double x);
int fm_spot_is_open(const fm_instance *s, int32_t i);
void fm_spot_axes(const fm_instance *s, int32_t i, double R[9]);

FM_HIDDEN_END

#endif
