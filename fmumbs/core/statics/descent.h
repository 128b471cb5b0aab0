/* descent.h: functions of descent.c. */
#ifndef FM_DESCENT_H
#define FM_DESCENT_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_descend(fm_instance *s);

FM_HIDDEN_END

#endif
