/* cut_joints.h: functions of cut_joints.c. */
#ifndef FM_CUT_JOINTS_H
#define FM_CUT_JOINTS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_cut_joint_coordinates(const fm_instance *s, int32_t joint, int moving, fm_coordinates *out);
void fm_cut_joint_row(const fm_instance *s, int32_t joint, int32_t part, fm_constraint *out);
double fm_cut_joint_angle(const fm_instance *s, int32_t joint);
void fm_follow_cut_joints(fm_instance *s);
int fm_cut_joints_forced(const fm_instance *s, const double *tau);
void fm_apply_cut_joints(fm_instance *s, const double *tau, int laws);
double fm_cut_joint_energy(const fm_instance *s);

FM_HIDDEN_END

#endif
