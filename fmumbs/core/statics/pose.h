/* pose.h: functions of pose.c. */
#ifndef FM_POSE_H
#define FM_POSE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_pose_begin(fm_instance *s, const double *y);
void fm_pose_end(fm_instance *s);
void fm_note_locks(fm_instance *s, const double *y);
int32_t fm_released_gap(fm_instance *s, const double *y, double *gap);

FM_HIDDEN_END

#endif
