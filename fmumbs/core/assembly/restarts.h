/* restarts.h: functions of restarts.c. */
#ifndef FM_RESTARTS_H
#define FM_RESTARTS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_move_away(fm_instance *s, double *y, const double *origin, int n, double distance);
int32_t fm_turned_over(const fm_instance *s);
int fm_assemble_upright(fm_instance *s, double *y);
int fm_assemble_again(fm_instance *s, double *y);

FM_HIDDEN_END

#endif
