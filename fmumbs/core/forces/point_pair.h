/* point_pair.h: functions of point_pair.c. */
#ifndef FM_POINT_PAIR_H
#define FM_POINT_PAIR_H

#include "../instance/instance.h"
#include "elements.h"

FM_HIDDEN_BEGIN

void fm_find_sides(const double line[3], double side[2][3]);
fm_direction fm_direction_at(const int32_t links[2], const double r_F[3], const double r_M[3], const double along[3],
                             double k, double d);
void fm_pull_together(fm_instance *s, int32_t P, int32_t Q, const double direction[3], double force);
int fm_pair_directions(const fm_instance *s, int32_t P, int32_t Q, const double line[3], double k, double d,
                       double across, fm_direction at[FM_DIRECTIONS]);

FM_HIDDEN_END

#endif
