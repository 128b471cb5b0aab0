/* stability.h: functions of stability.c. */
#ifndef FM_STABILITY_H
#define FM_STABILITY_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_find_departure(fm_instance *s, double least);

FM_HIDDEN_END

#endif
