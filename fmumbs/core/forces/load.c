/* load.c: loads, a force and a torque on a link that the inputs set, in world axes or in those of its point. */
#include "elements.h"

#include "../instance/instance.h"
#include "../maths/vectors.h"
#include "wrenches.h"

static void apply(fm_instance *s, int32_t i, const double *load)
{
    const double *force = load + 6 * i, *torque = force + 3, *R = s->image.point_R + 9 * s->image.load_P[i];
    double f[3], t[3];
    if (s->image.load_axes[i] == FM_WORLD_AXES) {
        fm_apply_at_point(s, s->image.load_P[i], force, torque);
        return;
    }
    rotate_out(R, force, f);
    rotate_out(R, torque, t);
    fm_apply_in_link(s, s->image.load_P[i], f, t);
}

const fm_force_element fm_load_element = {.apply = apply, .respond = apply};
