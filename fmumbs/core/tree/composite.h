/* composite.h: functions of composite.c. */
#ifndef FM_COMPOSITE_H
#define FM_COMPOSITE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_composite_mass(fm_instance *s);
void fm_composite_mass_in_world(fm_instance *s);

FM_HIDDEN_END

#endif
