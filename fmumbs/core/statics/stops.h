/* stops.h: functions of stops.c. */
#ifndef FM_STOPS_H
#define FM_STOPS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

#define FM_STOPS_LEFT 0.1 /* of what is left at stops after a search: more asks for stiffer ones */

void fm_stops_begin(fm_instance *s);
void fm_stops_bear(fm_instance *s, const double *y);
double fm_stops_push(fm_instance *s, const double *y);
double fm_stops_room(fm_instance *s, const double *from, const double *to);
int fm_stops_stiffen(fm_instance *s);
void fm_stops_hold(fm_instance *s, int holds);

FM_HIDDEN_END

#endif
