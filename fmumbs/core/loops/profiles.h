/* profiles.h: functions of profiles.c. */
#ifndef FM_PROFILES_H
#define FM_PROFILES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_add_profile(const fm_instance *s, int32_t coupling, int32_t term, int moving, double c[3]);
double fm_ratio(const fm_instance *s, int32_t coupling, int32_t term);

FM_HIDDEN_END

#endif
