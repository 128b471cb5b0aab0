/* load.c: loads, a force and a torque on a link that the inputs set, in world axes. */
#include "elements.h"

#include "../instance/instance.h"
#include "wrenches.h"

static void apply(fm_instance *s, int32_t i, const double *load)
{
    fm_apply_at_point(s, s->image.load_P[i], load + 6 * i, load + 6 * i + 3);
}

const fm_force_element fm_load_element = {.apply = apply, .respond = apply};
