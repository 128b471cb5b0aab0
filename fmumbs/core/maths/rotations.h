/* rotations.h: functions of rotations.c. */
#ifndef FM_ROTATIONS_H
#define FM_ROTATIONS_H

#include "hidden.h"

#include <stdint.h>

FM_HIDDEN_BEGIN

void fm_multiply_quaternions(const double *a, const double *b, double out[4]);
void fm_quaternion_of(const double *R, double q[4]);
void fm_rotate_quaternion(const double v[3], double q[4]);
void fm_rotation_vector(const double *q, double out[3]);
double fm_turn_series(double x, double *slope);
void fm_change_of_vector(const double *t, double sign, const double *v, double *out);
void fm_rotation_about(const double a[3], double angle, double R[9]);
void fm_rotation_of(const double *q, double R[9]);
void fm_across(const double axis[3], double out[3]);
int fm_is_rotation(const double *R);
double fm_with_turns(double angle, double near);
#define FM_EULER_CODES 54 /* sequences are from 1 to this; not all of them exist */
#define FM_EULER_XYZ (1 + 3 * 1 + 9 * 2) /* turns about x, y, z, each about the axes that the last one left */

int fm_euler_axes(int32_t sequence, int32_t axis[3], int32_t *about_fixed);
void fm_euler_angles(const double R[9], int32_t sequence, double out[4]);

FM_HIDDEN_END

#endif
