/* drift.h: functions of drift.c. */
#ifndef FM_DRIFT_H
#define FM_DRIFT_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_correct_drift(fm_instance *s, double *y, int near);
fm_status fm_close_cams(fm_instance *s);

FM_HIDDEN_END

#endif
