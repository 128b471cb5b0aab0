/* positions.h: functions of positions.c. */
#ifndef FM_POSITIONS_H
#define FM_POSITIONS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_position_rates(const fm_instance *s, const double *y, double *pdot);
void fm_move_positions(const fm_instance *s, double *y, const double *change);
void fm_stop(const fm_instance *s, const double *from, double *to);
int fm_normalise(const fm_instance *s, double *y, double *slope);

void fm_speeds_of(const fm_instance *s, const double *y, const double *rates, double *u);

FM_HIDDEN_END

#endif
