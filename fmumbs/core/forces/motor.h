/* motor.h: functions of motor.c. */
#ifndef FM_MOTOR_H
#define FM_MOTOR_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_motors_derive(fm_instance *s);

FM_HIDDEN_END

#endif
