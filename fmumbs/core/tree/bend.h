/* bend.h: functions of bend.c. */
#ifndef FM_BEND_H
#define FM_BEND_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_bend_structure(fm_instance *s);
double fm_bend_second(const fm_modal *b, int32_t a, const double *rates);
void fm_bend_moved(const fm_bend *f, const fm_modal *b, const double *q, double out[6]);
void fm_bend_seconds(const fm_bend *f, const fm_modal *b, const double *rates, double out[6]);
void fm_bend_place(fm_instance *s, int32_t frame, const fm_modal *b);
void fm_bend_axes(const fm_bend *f, double sign, double E[9]);
void fm_bend_quaternion(const double theta[3], double sign, double q[4]);
void fm_bend_drift(const fm_bend *f, const fm_modal *b, const double *rates, double out[3]);

FM_HIDDEN_END

#endif
