/* program_starts.h: functions of program_starts.c. */
#ifndef FM_PROGRAM_STARTS_H
#define FM_PROGRAM_STARTS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_reset_fades(fm_instance *s, double t, double *y);
int fm_any_transition(const fm_instance *s);
int fm_start_off_path(fm_instance *s, double t, double *y);

FM_HIDDEN_END

#endif
