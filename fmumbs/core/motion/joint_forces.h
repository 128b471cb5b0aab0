/* joint_forces.h: functions of joint_forces.c. */
#ifndef FM_JOINT_FORCES_H
#define FM_JOINT_FORCES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_make_joint_forces(fm_instance *s, const double *udot);

FM_HIDDEN_END

#endif
