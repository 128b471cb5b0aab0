/* evaluation.c: the accelerations at a time and state. */
#include "evaluation.h"

#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "../forces/excitation.h"
#include "../forces/forces.h"
#include "../forces/inputs.h"
#include "../forces/laws.h"
#include "../loops/multipliers.h"
#include "../loops/cut_joints.h"
#include "friction.h"
#include "normal_forces.h"
#include "../loops/reduced.h"
#include "../loops/rest_forces.h"
#include "scratch.h"
#include "sticking.h"
#include "stiffness.h"

#include <string.h>

/* udot for given generalised forces and applied wrenches. With loops, requires world kinematics of y. */
void fm_sweep_and_close(fm_instance *s, const double *y, const double *tau, double *udot)
{
    if (s->work.resting) {
        fm_rest_forces(s, y, tau, udot);
        return;
    }
    if (s->reduced.used) {
        fm_reduced_accelerations(s, y, tau, udot);
        return;
    }
    fm_run_sweeps(s, y, tau, udot);
    s->work.accelerated = udot;
    if (s->image.n.rows > 0) fm_close_loops(s, udot);
}

/* The generalised forces of a time and state, from inputs, springs, dampers, friction and laws, with the present forces
 * of sticking laws; wrenches of force elements are applied to the links. An input of an excited mode is among them. */
const double *fm_apply_all(fm_instance *s, double t, const double *y)
{
    const int32_t loads = 6 * s->image.n.loads;
    const double *tau = fm_inputs_at(s, t, s->tau, s->tau_taylor, s->image.n.modes, s->work.input);
    s->planar.in_place = s->planar.is_placed && memcmp(y, s->planar.placed, (size_t)s->model.ny * sizeof *y) == 0;
    if (!s->planar.in_place) fm_run_orientations(s, y);
    fm_controls_at(s, t);
    if (s->image.n.frictions > 0 && !s->work.still) {
        if (s->friction->on_cuts) fm_make_world(s, y);
        fm_friction_place(s, y);
        tau = fm_friction_add(s, tau);
    }
    s->work.cuts = fm_cut_joints_forced(s, tau);
    s->work.forced = s->model.forced || s->work.cuts;
    if (s->work.forced || (s->image.n.rows > 0 && !s->planar.used)) fm_make_world(s, y);
    if (s->work.forced) {
        const double *load = fm_inputs_at(s, t, s->load, s->load_taylor, loads, s->work.input + s->image.n.modes);
        fm_apply_forces(s, load);
        if (s->work.cuts) fm_apply_cut_joints(s, tau, 1);
    }
    if (s->model.resisted || s->image.n.laws > 0 || s->model.acted) {
        fm_apply_modes(s, y, tau, s->work.tau);
        if (s->image.n.laws > 0) fm_laws_on_modes(s, y, s->work.tau);
        if (s->model.acted) fm_act_on_modes(s, y, s->work.tau);
        tau = s->work.tau;
    }
    return tau;
}

/* udot at the time and state of an evaluation, with the present forces of sticking laws. */
static void accelerate_so(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const double t = how->t, *y = how->y;
    s->host.worked += s->image.n.links + s->image.n.rows;
    s->work.evaluations += 1.0;
    s->work.evaluated = y;
    s->work.time = t;
    const double *tau = fm_apply_all(s, t, y);
    if (s->model.excited) {
        const double *given = s->clock[FM_TAYLOR_ON] != 0.0 ? s->work.input : s->tau;
        if (tau != s->work.tau) memcpy(s->work.tau, tau, (size_t)s->image.n.speeds * sizeof(double));
        fm_excite(s, t, y, given, s->work.tau);
        for (int32_t i = 0; s->work.still && i < s->image.n.excitations; i++)
            s->work.tau[s->image.excitation_u[i]] = 0.0;
        tau = s->work.tau;
    }
    if (s->stiff.time > 0.0) {
        if (tau != s->work.tau) memcpy(s->work.tau, tau, (size_t)s->image.n.speeds * sizeof(double));
        fm_stiff_apply(s, s->work.tau);
        tau = s->work.tau;
    }
    fm_sweep_and_close(s, y, tau, udot);
    s->planar.in_place = 0;
}

fm_evaluation fm_evaluation_at(double t, const double *y)
{
    const fm_evaluation how = {accelerate_so, t, y, NULL, NULL};
    return how;
}

/* The same with sticking laws. */
static void accelerate_stuck(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const fm_evaluation free = fm_evaluation_at(how->t, how->y);
    if (fm_any_law_sticks(s)) fm_laws_stick(s, &free, udot);
    else accelerate_so(s, &free, udot);
}

/* The same with normal forces that are the joints' own. */
static void accelerate(fm_instance *s, double t, const double *y, int only_udot, double *udot)
{
    const fm_evaluation how = {accelerate_stuck, t, y, NULL, NULL};
    s->friction->apart = 0;
    if (fm_any_own_friction(s) && !s->work.still) fm_find_normal_forces(s, &how, only_udot, udot);
    else accelerate_stuck(s, &how, udot);
}

/* udot at time t, y = (p, u). Leaves the motion at y in the links. */
void fm_accelerations(fm_instance *s, double t, const double *y, double *udot)
{
    accelerate(s, t, y, 0, udot);
}

/* udot alone: accelerations of links and multipliers may be others. */
void fm_accelerations_alone(fm_instance *s, double t, const double *y, double *udot)
{
    accelerate(s, t, y, 1, udot);
}
