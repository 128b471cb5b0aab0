/* response.c: accelerations and joint wrenches due to a change of the inputs alone. */
#include "response.h"

#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../tree/planar.h"
#include "../tree/reversed.h"
#include "../tree/positions.h"
#include "../forces/forces.h"
#include "../forces/laws.h"
#include "../loops/cut_joints.h"
#include "../loops/reduced.h"
#include "../motion/evaluation.h"
#include "../motion/friction.h"
#include "../motion/normal_forces.h"
#include "../motion/scratch.h"
#include "../motion/sticking.h"
#include "../motion/joint_forces.h"

#include <string.h>

/* The response to seeds of the inputs: one sweep at rest, without gravity. */
static void respond_so(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const double *tau = how->tau;
    s->work.evaluated = how->y;
    fm_run_orientations(s, how->y);
    fm_make_world(s, how->y);
    fm_apply_responses(s, how->load);
    if (s->image.n.frictions > 0) tau = fm_friction_add_seed(s, tau);
    s->work.cuts = s->image.n.modes > s->image.n.speeds;
    s->work.forced = 1;
    fm_apply_cut_joints(s, tau, 0);
    if (s->image.n.laws > 0 || s->model.acted) {
        memcpy(s->work.tau, tau, (size_t)s->image.n.speeds * sizeof(double));
        fm_laws_on_modes(s, how->y, s->work.tau);
        if (s->model.acted) fm_react_on_modes(s, s->work.tau);
        tau = s->work.tau;
    }
    fm_sweep_and_close(s, how->y, tau, udot);
}

/* The same with sticking laws, which keep sticking. */
static void respond_stuck(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const fm_evaluation free = {respond_so, how->t, how->y, how->tau, how->load};
    if (fm_any_law_sticks(s)) fm_laws_stick(s, &free, udot);
    else respond_so(s, &free, udot);
}

/* The same at the present positions, in work.udot, with the multipliers. */
static void respond_at_rest(fm_instance *s, const double *tau, const double *load)
{
    fm_stop(s, s->y, s->work.probe);
    const fm_evaluation how = {respond_stuck, s->clock[FM_TIME], s->work.probe, tau, load};
    const double closure = s->closure[FM_CLOSURE_CORRECTION];
    s->closure[FM_CLOSURE_CORRECTION] = FM_CORRECT_NEVER; /* Baumgarte's terms are not part of the response */
    s->laws.off = FM_STICKING_LAWS;
    if (fm_any_own_friction(s)) fm_normal_forces_follow(s, &how, s->work.udot);
    else respond_stuck(s, &how, s->work.udot);
    s->laws.off = FM_ALL_LAWS;
    if (s->reduced.used) fm_reduced_multipliers(s);
    s->closure[FM_CLOSURE_CORRECTION] = closure;
}

/* Without gravity until weigh_again. */
static void float_free(fm_instance *s, double gravity[3])
{
    memcpy(gravity, s->gravity, 3 * sizeof *gravity);
    memset(s->gravity, 0, 3 * sizeof *gravity);
    fm_planar_weigh(s);
}

static void weigh_again(fm_instance *s, const double gravity[3])
{
    memcpy(s->gravity, gravity, 3 * sizeof *gravity);
    fm_planar_weigh(s);
}

/* The accelerations and wrenches due to seeds of the inputs; sticking laws keep sticking. */
void fm_respond(fm_instance *s, const double *tau, const double *load)
{
    double gravity[3];
    float_free(s, gravity);
    respond_at_rest(s, tau, load);
    fm_planar_expand(s);
    fm_make_joint_forces(s, s->work.udot);
    weigh_again(s, gravity);
}

/* The accelerations, in work.udot, and multipliers due to forces tau on velocity variables alone, by which no friction
 * and no force law changes: the response of masses and constraints, which is symmetric. The factor of the rows remains.
 */
void fm_respond_by_motion(fm_instance *s, const double *tau)
{
    double gravity[3];
    const double correction = s->closure[FM_CLOSURE_CORRECTION];
    float_free(s, gravity);
    fm_stop(s, s->y, s->work.probe);
    s->closure[FM_CLOSURE_CORRECTION] = FM_CORRECT_NEVER;
    s->work.evaluated = s->work.probe;
    fm_run_orientations(s, s->work.probe);
    if (s->image.n.rows > 0 && !s->planar.used) fm_make_world(s, s->work.probe);
    s->work.forced = s->work.cuts = 0;
    fm_sweep_and_close(s, s->work.probe, tau, s->work.udot);
    if (s->reduced.used) fm_reduced_multipliers(s);
    s->closure[FM_CLOSURE_CORRECTION] = correction;
    weigh_again(s, gravity);
}
