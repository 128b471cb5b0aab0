/* contact.h: functions of contact.c. */
#ifndef FM_CONTACT_H
#define FM_CONTACT_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_spot_watch(const fm_instance *s, int32_t law, const double *y, double *v);
void fm_spots_trap(fm_instance *s, double *y, int back);

FM_HIDDEN_END

#endif
