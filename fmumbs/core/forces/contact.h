/* contact.h: functions of contact.c. */
#ifndef FM_CONTACT_H
#define FM_CONTACT_H

#include "rolling.h"
#include "spots.h"

FM_HIDDEN_BEGIN

int fm_spot_pressed(const fm_instance *s, int32_t i, fm_pressed *out);
int fm_spot_slips(const fm_instance *s, int32_t i);
void fm_spot_watch(const fm_instance *s, int32_t i, int first, int laws, const double *y, double *at);
double fm_spot_unit(const fm_instance *s, int which);
double fm_spot_apart(const fm_instance *s, int32_t i, double arm[2]);
int fm_spots_let_go(const fm_instance *s, double *y);
void fm_spots_trap(fm_instance *s, double *y, int back);

FM_HIDDEN_END

#endif
