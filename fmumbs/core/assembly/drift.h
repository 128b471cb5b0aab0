/* drift.h: functions of drift.c. */
#ifndef FM_DRIFT_H
#define FM_DRIFT_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_correct_drift(fm_instance *s, double *y, int near);

FM_HIDDEN_END

#endif
