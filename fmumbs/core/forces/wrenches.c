/* wrenches.c: wrenches applied to links, at a point or at a position in the world. */
#include "wrenches.h"

#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"

#include <stddef.h>

/* Adds a force and a torque, in the axes of its link, at a point to the wrench applied to that. */
void fm_apply_in_link(fm_instance *s, int32_t point, const double f[3], const double t[3])
{
    const int32_t link = s->image.point_link[point];
    double moment[3];
    if (link < 0) return;
    cross(s->image.point_r + 3 * point, f, moment);
    for (int j = 0; j < 3; j++)
        s->work.applied[6 * link + j] += t[j] + moment[j], s->work.applied[6 * link + 3 + j] += f[j];
}

/* The same of a force and a torque (NULL for none) in world axes. */
void fm_apply_at_point(fm_instance *s, int32_t point, const double force[3], const double torque[3])
{
    const int32_t link = s->image.point_link[point];
    double f[3], t[3] = {0.0};
    if (link < 0) return;
    rotate_in(s->world[link].R, force, f);
    if (torque != NULL) rotate_in(s->world[link].R, torque, t);
    fm_apply_in_link(s, point, f, t);
}

/* Adds a wrench (world axes) at a position in the world. */
void fm_apply_wrench(fm_instance *s, int32_t link, const double at[3], const double wrench[6], double sign)
{
    double arm[3], moment[3], t[3], f[3];
    if (link < 0) return;
    for (int j = 0; j < 3; j++) arm[j] = at[j] - s->world[link].r[j];
    cross(arm, wrench + 3, moment);
    for (int j = 0; j < 3; j++) moment[j] += wrench[j];
    rotate_in(s->world[link].R, moment, t);
    rotate_in(s->world[link].R, wrench + 3, f);
    for (int j = 0; j < 3; j++)
        s->work.applied[6 * link + j] += sign * t[j], s->work.applied[6 * link + 3 + j] += sign * f[j];
}
