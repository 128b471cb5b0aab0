/* step_end.h: functions of step_end.c. */
#ifndef FM_STEP_END_H
#define FM_STEP_END_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_choose_law_modes(fm_instance *s, double t, double *y);
int fm_stop_at_switch(fm_instance *s);
int fm_correct_trial(fm_instance *s, double arrival);
int fm_correct_head(fm_instance *s);
int fm_correct_fixed(fm_instance *s, double t, double h);

FM_HIDDEN_END

#endif
