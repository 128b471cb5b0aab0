/* profile.h: functions of profile.c. */
#ifndef FM_PROFILE_H
#define FM_PROFILE_H

#include "../instance/instance.h"
#include "scratch.h"

FM_HIDDEN_BEGIN

int fm_find_profile(const fm_image *m, fm_profile *out);
void fm_split_profile(fm_profile *p, int32_t n);
void fm_free_profile(fm_profile *p);

FM_HIDDEN_END

#endif
