/* conditions.h: functions of conditions.c. */
#ifndef FM_CONDITIONS_H
#define FM_CONDITIONS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_list_conditions(fm_instance *s);
int fm_make_conditions(fm_instance *s);
void fm_conditions_follow(fm_instance *s);
void fm_conditions_follow_back(fm_instance *s);

FM_HIDDEN_END

#endif
