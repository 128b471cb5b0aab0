/* exact_following.h: functions of exact_following.c. */
#ifndef FM_EXACT_FOLLOWING_H
#define FM_EXACT_FOLLOWING_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_exact_follow(fm_instance *s);
int fm_exact_follow_back(fm_instance *s);

FM_HIDDEN_END

#endif
