/* step_end.h: functions of step_end.c. */
#ifndef FM_STEP_END_H
#define FM_STEP_END_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_choose_law_modes(fm_instance *s, double t, double *y);
int fm_back_to_start(fm_instance *s);
int fm_stop_at_switch(fm_instance *s);
int fm_follow_ropes(fm_instance *s, double t, const double *y);
int fm_any_law_rests(fm_instance *s, const double *y);
int fm_correct_trial(fm_instance *s, double arrival);
int fm_correct_head(fm_instance *s);
int fm_correct_fixed(fm_instance *s, double t, double h);
int fm_correct_hosted(fm_instance *s, double t, double *y);
double fm_show_step_end(fm_instance *s, double t, double t_end, int event);

FM_HIDDEN_END

#endif
