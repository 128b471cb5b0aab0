/* reactions.h: functions of reactions.c. */
#ifndef FM_REACTIONS_H
#define FM_REACTIONS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_joint_wrench(const fm_instance *s, int32_t joint, double wrench[6]);
double fm_drive(const fm_instance *s, int32_t joint, int32_t part);
void fm_remove_free_modes(const fm_instance *s, int32_t joint, double wrench[6]);

FM_HIDDEN_END

#endif
