/* missed.h: functions of missed.c. */
#ifndef FM_MISSED_H
#define FM_MISSED_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_watch_contacts(fm_instance *s, double t, double span, const double *before, const double *after);
int fm_say_missed(const fm_instance *s, char *out, size_t capacity);

FM_HIDDEN_END

#endif
