/* reduced_choice.h: functions of reduced_choice.c. */
#ifndef FM_REDUCED_CHOICE_H
#define FM_REDUCED_CHOICE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_reduced_begin(fm_instance *s, const double *y);
void fm_reduced_watch(fm_instance *s, const double *y);

FM_HIDDEN_END

#endif
