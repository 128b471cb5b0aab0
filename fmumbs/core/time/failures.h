/* failures.h: functions of failures.c. */
#ifndef FM_FAILURES_H
#define FM_FAILURES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_forget_failures(fm_instance *s);
void fm_fall_back(fm_instance *s);
fm_status fm_step_failed_by_law(fm_instance *s, double t_end);
fm_status fm_jammed(fm_instance *s, double t_end);
fm_status fm_drives_failed(fm_instance *s, double t_end);
int fm_near_limit(fm_instance *s, double t_end);
fm_status fm_branch_lost(fm_instance *s, double t);
fm_status fm_step_failed(fm_instance *s, double t_end);
fm_status fm_too_many_steps(fm_instance *s, double t_end, long accepted);
fm_status fm_no_headway(fm_instance *s, double t_end);
int fm_step_interrupted(fm_instance *s);
fm_status fm_say_interrupted(fm_instance *s, double t_end);

FM_HIDDEN_END

#endif
