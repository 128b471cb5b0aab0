/* contact.h: functions of contact.c. */
#ifndef FM_CONTACT_H
#define FM_CONTACT_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

#define FM_SPOT_LAWS 3 /* of a spot, at most */

int fm_spot_laws(const fm_image *m, int32_t i);
void fm_spot_watch(const fm_instance *s, int32_t i, int first, int laws, const double *y, double *at);
int fm_spot_is_open(const fm_instance *s, int32_t i);
double fm_spot_apart(const fm_instance *s, int32_t i, double arm[2]);
int fm_spots_let_go(const fm_instance *s, double *y);
void fm_spots_trap(fm_instance *s, double *y, int back);

FM_HIDDEN_END

#endif
