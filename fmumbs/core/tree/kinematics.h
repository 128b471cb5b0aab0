/* kinematics.h: functions of kinematics.c. */
#ifndef FM_KINEMATICS_H
#define FM_KINEMATICS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_link_axes(const fm_instance *s, int32_t i, double R[9]);
void fm_make_world(fm_instance *s, const double *y);
void fm_point_place(const fm_instance *s, int32_t point, double r[3], double v[3]);
double fm_line(const fm_instance *s, int32_t P, int32_t Q, double direction[3], double *rate);
double fm_spring_line(const fm_instance *s, int32_t spring, double direction[3], double *rate);
void fm_frame_place(const fm_instance *s, int32_t link, const double *at, int moving, fm_place *p);
void fm_acceleration(const fm_instance *s, int32_t link, const double *at, double out[3]);
void fm_make_quaternions(fm_instance *s);
void fm_body_quaternion(const fm_instance *s, int32_t body, double q[4]);

FM_HIDDEN_END

#endif
