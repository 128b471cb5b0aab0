/* update.h: functions of update.c. */
#ifndef FM_UPDATE_H
#define FM_UPDATE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_update(fm_instance *s, int32_t what);

FM_HIDDEN_END

#endif
