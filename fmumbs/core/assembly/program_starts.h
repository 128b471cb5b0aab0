/* program_starts.h: functions of program_starts.c. */
#ifndef FM_PROGRAM_STARTS_H
#define FM_PROGRAM_STARTS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_reset_fades(fm_instance *s, double t, double *y);
int32_t fm_out_of_reach(fm_instance *s, double t, const double *y, double *when, double *gap);
double fm_program_gap(const fm_instance *s, int32_t joint);
int fm_any_transition(const fm_instance *s);
int fm_start_off_path(fm_instance *s, double t, double *y);

FM_HIDDEN_END

#endif
