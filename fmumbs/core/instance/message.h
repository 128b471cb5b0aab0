/* message.h: functions of message.c. */
#ifndef FM_MESSAGE_H
#define FM_MESSAGE_H

#include "instance.h"

FM_HIDDEN_BEGIN

fm_status fm_say(fm_instance *s, fm_status status, const char *format, ...);
fm_status fm_check_assembled(fm_instance *s);

FM_HIDDEN_END

#endif
