/* correct.h: functions of correct.c. */
#ifndef FM_CORRECT_H
#define FM_CORRECT_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_place_links(fm_instance *s, const double *y);
int fm_correct(fm_instance *s, double *y, int near);

FM_HIDDEN_END

#endif
