/* structure.h: functions of structure.c. */
#ifndef FM_STRUCTURE_H
#define FM_STRUCTURE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_derive_structure(fm_instance *s);

FM_HIDDEN_END

#endif
