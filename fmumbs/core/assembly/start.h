/* start.h: functions of start.c. */
#ifndef FM_START_H
#define FM_START_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_start_structure(fm_instance *s);
int fm_close_start(fm_instance *s, double *y, char *why, size_t capacity);

FM_HIDDEN_END

#endif
