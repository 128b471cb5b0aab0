/* update.c: computes the results that outputs at the present state need, in order and once only. */
#include "update.h"

#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../tree/planar.h"
#include "../tree/reversed.h"
#include "../forces/inputs.h"
#include "../loops/reduced.h"
#include "../motion/evaluation.h"
#include "../motion/law_modes.h"
#include "../motion/crossings.h"
#include "../motion/joint_forces.h"
#include "../motion/required.h"

static void update_world(fm_instance *s)
{
    fm_run_orientations(s, s->y);
    fm_make_world(s, s->y);
    if (s->image.n.ropes > 0 || s->image.n.cylinders > 0 || s->image.n.spots > 0) fm_controls_at(s, s->clock[FM_TIME]);
}

/* Those of the motion that is given. */
static void update_given(fm_instance *s, int32_t what)
{
    fm_require_given(s, what & ~(FM_VALID_WORLD | FM_VALID_QUATERNIONS));
    if (what & FM_VALID_WORLD) update_world(s);
    if (what & FM_VALID_QUATERNIONS) fm_make_quaternions(s);
    if (what & FM_VALID_JOINT_FORCES) fm_make_joint_forces(s, s->work.udot);
    s->valid |= what;
}

/* Computes those of the results `what` that are not up to date. */
void fm_update(fm_instance *s, int32_t what)
{
    if (what & FM_VALID_JOINT_FORCES) what |= FM_VALID_LINKS | FM_VALID_WORLD;
    if (what & FM_VALID_LINKS) what |= FM_VALID_MOTION;
    if (what & FM_VALID_MOTION) what |= FM_VALID_LAWS;
    what &= ~s->valid;
    if (s->model.inverse) {
        update_given(s, what);
        return;
    }
    s->work.time = s->clock[FM_TIME];
    if (what & FM_VALID_LAWS) fm_laws_present(s);
    if (what & FM_VALID_MOTION) {
        fm_accelerations(s, s->clock[FM_TIME], s->y, s->work.udot);
        if (s->reduced.used) fm_reduced_multipliers(s);
        if (s->loop.near_singular) fm_singular_present(s, s->clock[FM_TIME], s->y, s->work.udot);
    }
    if (what & FM_VALID_WORLD) update_world(s);
    if (what & FM_VALID_QUATERNIONS) fm_make_quaternions(s);
    if (what & FM_VALID_LINKS) fm_planar_expand(s);
    if (what & FM_VALID_JOINT_FORCES) fm_make_joint_forces(s, s->work.udot);
    s->valid |= what;
}
