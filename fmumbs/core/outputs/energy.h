/* energy.h: functions of energy.c. */
#ifndef FM_ENERGY_H
#define FM_ENERGY_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_energy(fm_instance *s);

FM_HIDDEN_END

#endif
