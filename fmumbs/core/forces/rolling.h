/* rolling.h: functions of rolling.c. */
#ifndef FM_ROLLING_H
#define FM_ROLLING_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

enum { FM_ROLLING, FM_DRILLING, FM_PARTS };

/* What a spot presses: where, along the normal to A, and how fast A turns in B, in world axes; 0 of an open one. */
typedef struct fm_pressed {
    double at[3], n[3], turn[3], normal;
} fm_pressed;

/* In world axes: what w and z have of each part, its M, and how far |T| is beyond its limit. */
typedef struct fm_turned {
    double w[FM_PARTS][3], z[FM_PARTS][3], M[FM_PARTS][3], beyond[FM_PARTS];
    int slips[FM_PARTS];
} fm_turned;

fm_turned fm_turned_at(const fm_instance *s, int32_t i, const fm_pressed *at, const double *y);
void fm_roll_watch(const fm_instance *s, int32_t i, const fm_pressed *at, const double *y, double *out);
void fm_roll_trap(const fm_instance *s, int32_t i, const fm_pressed *at, double *y, int back);

FM_HIDDEN_END

#endif
