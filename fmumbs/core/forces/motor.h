/* motor.h: functions of motor.c. */
#ifndef FM_MOTOR_H
#define FM_MOTOR_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_motor_watch(const fm_instance *s, int32_t law, const double *y, double *x, double *v);
int fm_motor_held(const fm_instance *s, int32_t motor);
double fm_motor_loss_seed(const fm_instance *s, int32_t motor, const double *control);
int fm_motors_curb(const fm_instance *s, double *y);
void fm_motors_derive(fm_instance *s);

FM_HIDDEN_END

#endif
