/* switches.h: functions of switches.c. */
#ifndef FM_SWITCHES_H
#define FM_SWITCHES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int32_t fm_laws_switch(fm_instance *s, double *t, double *y);

FM_HIDDEN_END

#endif
