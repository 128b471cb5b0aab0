/* open.h: functions of open.c. */
#ifndef FM_OPEN_H
#define FM_OPEN_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_do_open(const void *bytes, size_t size, int derivatives, fm_instance **out, char *message,
                     size_t capacity);
fm_status fm_do_reset(fm_instance *s);

FM_HIDDEN_END

#endif
