/* matrix_laws.h: functions of matrix_laws.c. */
#ifndef FM_MATRIX_LAWS_H
#define FM_MATRIX_LAWS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_ball_resist(const fm_instance *s, int32_t joint, int32_t mode, const double *p, const double *u,
                    double torque[3]);
double fm_ball_energy(const fm_instance *s, int32_t joint, int32_t mode, const double *p);

void fm_ball_stiffness(const fm_instance *s, int32_t joint, int32_t mode, const double *p, double out[3][3]);
int fm_resists_along(const fm_instance *s, int32_t joint);
double fm_coupled_resist(const fm_instance *s, int32_t joint, const double *p, const double *u, double *force);

FM_HIDDEN_END

#endif
