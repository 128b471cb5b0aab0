/* rope.h: functions of rope.c. */
#ifndef FM_ROPE_H
#define FM_ROPE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_rope_energy_seed(const fm_instance *s);

FM_HIDDEN_END

#endif
