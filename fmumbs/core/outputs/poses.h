/* poses.h: functions of poses.c. */
#ifndef FM_POSES_H
#define FM_POSES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

size_t fm_do_poses(fm_instance *s, double *poses, size_t capacity);

FM_HIDDEN_END

#endif
