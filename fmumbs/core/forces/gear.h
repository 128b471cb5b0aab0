/* gear.h: functions of gear.c. */
#ifndef FM_GEAR_H
#define FM_GEAR_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_gears_place(fm_instance *s);
void fm_gears_derive(fm_instance *s);

FM_HIDDEN_END

#endif
