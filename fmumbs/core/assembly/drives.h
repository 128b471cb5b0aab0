/* drives.h: functions of drives.c. */
#ifndef FM_DRIVES_H
#define FM_DRIVES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_name_drives(fm_instance *s, const double *y, int only_inputs, char *out, size_t capacity);

FM_HIDDEN_END

#endif
