/* parameters.h: functions of parameters.c. */
#ifndef FM_PARAMETERS_H
#define FM_PARAMETERS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_derive(fm_instance *s);

FM_HIDDEN_END

#endif
