/* cut_joints.h: functions of cut_joints.c. */
#ifndef FM_CUT_JOINTS_H
#define FM_CUT_JOINTS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

/* A cut joint's coordinates, its free modes at M and their directions, and the motion of M relative to F; all in F's
 * axes. `miss`: rotation vector and displacement from the product of the modes to M. */
typedef struct fm_cut_motion {
    fm_coordinates at;
    fm_dual dual;
    double phi[FM_JOINT_MODES][6], miss[6], velocity[6], acceleration[6]; /* acceleration: less the modes' bias */
    double F[9], R[9];                                                    /* axes of F in the world, and of M in F */
} fm_cut_motion;

int fm_cut_joint_motion(const fm_instance *s, int32_t joint, int moving, fm_cut_motion *out);
void fm_cut_joint_coordinates(const fm_instance *s, int32_t joint, int moving, fm_coordinates *out);
void fm_cut_joint_row(const fm_instance *s, int32_t joint, int32_t part, fm_constraint *out);
double fm_cut_joint_angle(const fm_instance *s, int32_t joint);
int32_t fm_follow_cut_joints(fm_instance *s);
int fm_cut_joints_forced(const fm_instance *s, const double *tau);
void fm_apply_cut_joints(fm_instance *s, const double *tau, int laws);
double fm_cut_joint_energy(const fm_instance *s);

FM_HIDDEN_END

#endif
