/* reduced_drives.h: functions of reduced_drives.c. */
#ifndef FM_REDUCED_DRIVES_H
#define FM_REDUCED_DRIVES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_reduced_oppose(fm_instance *s);
void fm_reduced_drive(fm_instance *s, const double *g, const double *b, double *z);

FM_HIDDEN_END

#endif
