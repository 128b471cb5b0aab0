/* programs.h: functions of programs.c. */
#ifndef FM_PROGRAMS_H
#define FM_PROGRAMS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_programmed(const fm_instance *s, int32_t joint, double *position, double *rate);
int32_t fm_unmeasured_program(const fm_instance *s);

FM_HIDDEN_END

#endif
