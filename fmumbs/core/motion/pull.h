/* pull.h: functions of pull.c. */
#ifndef FM_PULL_H
#define FM_PULL_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_pull(fm_instance *s, const double *y, double *rates);

FM_HIDDEN_END

#endif
