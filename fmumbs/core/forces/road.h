/* road.h: functions of road.c. */
#ifndef FM_ROAD_H
#define FM_ROAD_H

#include "../image/image.h"

FM_HIDDEN_BEGIN

/* What lies over a road, in the road's axes: a centre c, and the ellipsoid |half^-1 R' (p - c)| = 1 about it. */
typedef struct fm_over_road {
    double c[3], R[9], half[3];
} fm_over_road;

/* Of a road at some x: z', z'', and f' (road.c) of an ellipsoid over it. */
typedef struct fm_road_slopes {
    double slope, bend, rate;
} fm_road_slopes;

void fm_reach_against(const double n[3], const double half[3], const double R[9], double out[3]);
void fm_road_below(const fm_image *m, int32_t road, const fm_over_road *body, double foot[3], double n[3]);
fm_road_slopes fm_road_slopes_at(const fm_image *m, int32_t road, const fm_over_road *body, double x);

FM_HIDDEN_END

#endif
