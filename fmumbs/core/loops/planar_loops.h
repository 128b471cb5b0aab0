/* planar_loops.h: functions of planar_loops.c. */
#ifndef FM_PLANAR_LOOPS_H
#define FM_PLANAR_LOOPS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_planar_loops_structure(fm_instance *s);
void fm_planar_show(fm_instance *s, int32_t joint);
double fm_planar_angle(const fm_instance *s, int32_t joint, double *rate);
double fm_planar_extent(const fm_instance *s);

FM_HIDDEN_END

#endif
