/* host.h: functions of host.c. */
#ifndef FM_HOST_H
#define FM_HOST_H

#include "instance.h"

FM_HIDDEN_BEGIN

void fm_enter(fm_instance *s);
fm_status fm_leave(const fm_instance *s, fm_status status);
int fm_ask_host(fm_instance *s);
int fm_is_watched(const fm_instance *s);
double fm_show_host(fm_instance *s, double end, int event);

FM_HIDDEN_END

#endif
