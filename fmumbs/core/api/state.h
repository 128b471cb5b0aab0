/* state.h: functions of state.c. */
#ifndef FM_STATE_H
#define FM_STATE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_do_state_load(fm_instance *s, const void *bytes, size_t size);

FM_HIDDEN_END

#endif
