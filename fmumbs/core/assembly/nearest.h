/* nearest.h: functions of nearest.c. */
#ifndef FM_NEAREST_H
#define FM_NEAREST_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_search_nearest(fm_instance *s, double *y, int closed);

FM_HIDDEN_END

#endif
