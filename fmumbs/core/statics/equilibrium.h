/* equilibrium.h: functions of equilibrium.c. */
#ifndef FM_EQUILIBRIUM_H
#define FM_EQUILIBRIUM_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_find_equilibrium(fm_instance *s);

FM_HIDDEN_END

#endif
