/* law_modes.h: functions of law_modes.c. */
#ifndef FM_LAW_MODES_H
#define FM_LAW_MODES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_laws_choose(fm_instance *s, double t, double *y, int move);
void fm_laws_present(fm_instance *s);
void fm_laws_resume(fm_instance *s);
int fm_laws_begin(fm_instance *s, double *y);

FM_HIDDEN_END

#endif
