/* failures.c: steps that fail or that the host interrupts: the state they leave, and their message. */
#include "failures.h"

#include "../instance/host.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../forces/cylinder.h"
#include "../forces/inputs.h"
#include "../forces/laws.h"
#include "../forces/sides.h"
#include "../loops/constraints.h"
#include "../loops/projection.h"
#include "../loops/scratch.h"
#include "../loops/turning_axes.h"
#include "../motion/resolution.h"
#include "../motion/scratch.h"
#include "../motion/singular.h"
#include "../assembly/drives.h"
#include "../assembly/internal_dynamics.h"
#include "../assembly/reach.h"
#include "headway.h"
#include "scratch.h"

#include <string.h>

#define FM_NEAR_LIMIT 0.05 /* [rad]: so near its limit, a joint is the reason for steps that become too small */
#define FM_NEARLY_EMPTY 0.5 /* of its dead volume, so beyond the stroke: why steps became too small */
#define FM_WORK 4e5 /* evaluations, weighted by links and rows, between two questions to the host */

/* What ends a step beside a law: none of it, so far. */
void fm_forget_failures(fm_instance *s)
{
    s->singular->tangent_row = s->integrator->lost = s->integrator->rope = s->integrator->left = -1;
}

/* Makes the integrator's last state the present one. */
void fm_fall_back(fm_instance *s)
{
    s->clock[FM_TIME] = s->clock[FM_TIME_HEAD];
    memcpy(s->y, s->head, (size_t)s->model.ny * sizeof(double));
    s->clock[FM_AHEAD] = s->clock[FM_H] = 0.0;
}

/* The present state is y, where a law stopped the step. */
fm_status fm_step_failed_by_law(fm_instance *s, double t_end)
{
    const int32_t laws = s->image.n.laws, fault = s->laws.fault;
    const char *what, *name = fm_law_carrier(s,
                                             fault < laws   ? fault
                                             : fault > laws ? (fault - laws - 1) % laws
                                                            : 0,
                                             &what);
    if (fault == laws)
        return fm_say(
            s, FM_DISCARD,
            "the step to t = %.9g s failed: at t = %.9g s more than %d force laws jump with a velocity at the same "
            "time. Give some of them a steep slope there in place of the jump",
            t_end, s->clock[FM_TIME], FM_STICKING);
    if (fault > 3 * laws)
        return fm_say(s, FM_DISCARD,
                      "the step to t = %.9g s failed: at t = %.9g s the impulses of stop '%s' of %s '%s' and of others "
                      "that are touched with it were not found, since they differ by less than round-off. Give some of "
                      "them a stiffness in place of the restitution",
                      t_end, s->clock[FM_TIME], s->image.text + s->image.law_name[fault - 3 * laws - 1], what, name);
    if (fault > 2 * laws)
        return fm_say(s, FM_DISCARD,
                      "the step to t = %.9g s failed: at t = %.9g s nothing can leave stop '%s' of %s '%s', which no "
                      "impulse slows "
                      "down: the mechanism is locked there, or a program drives it on. Let the motion end before the "
                      "stop, or give "
                      "it a stiffness",
                      t_end, s->clock[FM_TIME], s->image.text + s->image.law_name[fault - 2 * laws - 1], what, name);
    if (fault > laws)
        return fm_say(
            s, FM_DISCARD,
            "the step to t = %.9g s failed: at t = %.9g s it cannot be decided which force laws stick, that of %s '%s' "
            "and others. Give some of them a steep slope in place of the jump",
            t_end, s->clock[FM_TIME], what, name);
    return fm_say(
        s, FM_DISCARD,
        "the step to t = %.9g s failed: at t = %.9g s the force law of %s '%s' switches back and forth without "
        "end. Give it a steep slope in place of the jump",
        t_end, s->clock[FM_TIME], what, name);
}

static fm_status failed_at_tangent(fm_instance *s, double t_end)
{
    char names[200];
    fm_loop_names(s, s->singular->tangent_row, names, sizeof names);
    return fm_say(
        s, FM_DISCARD,
        "the step to t = %.9g s failed: at t = %.9g s the %s reaches a singular position at which branches of its "
        "motion share a tangent, so that the velocity does not determine how it continues. Hold joint '%s' there "
        "with a drive or a spring, or change a length so that the branches stay apart",
        t_end, s->singular->tangent_time, names, s->image.text + s->image.joint_name[s->singular->tangent_joint]);
}

/* Whether a program left the reach of the mechanism, and says so. */
static int left_reach(fm_instance *s, double t_end)
{
    double when, gap;
    const double *y = s->y;
    int32_t programs = 0;
    for (int32_t i = 0; i < s->image.n.excitations; i++) programs += s->image.excitation_row[i] >= 0;
    const int32_t joint = programs > 0 ? fm_out_of_reach(s, s->clock[FM_TIME], y, &when, &gap) : -1;
    if (joint < 0) return 0;
    const int turns = !s->image.mode_linear[s->image.joint_u[joint]];
    const int follows = s->image.excitation_kind[s->image.joint_excitation[joint]] == FM_EXCITED_BY_PATH;
    (void)fm_say(s, FM_DISCARD,
                 "the step to t = %.9g s failed at t = %.9g s: the %s of program '%s' %s: nearest gap %.3g %s at "
                 "t = %.6g s, where it is largest. Move the %s, or lengthen a body",
                 t_end, s->clock[FM_TIME], follows ? "path" : "target", s->image.text + s->image.joint_name[joint],
                 follows ? "is out of reach" : "goes out of reach if its input stays", gap, turns ? "rad" : "m", when,
                 follows ? "path" : "input");
    return 1;
}

/* A joint whose friction has no normal force at the present state. */
fm_status fm_jammed(fm_instance *s, double t_end)
{
    return fm_say(
        s, FM_DISCARD,
        "the step to t = %.9g s failed: at t = %.9g s joint '%s' jams: no normal force of its friction agrees with the "
        "reaction that it causes. Lower the coefficients of friction, or give the joint a longer guide or a smaller "
        "radius",
        t_end, s->clock[FM_TIME], s->image.text + s->image.joint_name[s->image.friction_joint[s->friction->jammed]]);
}

/* Drives without effect on the programs that they realise. */
fm_status fm_drives_failed(fm_instance *s, double t_end)
{
    char names[160];
    fm_name_realised(s, names, sizeof names);
    return fm_say(
        s, FM_DISCARD,
        "the step to t = %.9g s failed: at t = %.9g s the drives lose their effect on what they realise (%s). Move the "
        "path away from there, or leave drives= out for ideal forces",
        t_end, s->clock[FM_TIME], names);
}

/* A joint whose coordinates end at the present state. */
static fm_status lost_coordinates(fm_instance *s, double t_end, int32_t joint)
{
    const char *name = s->image.text + s->image.joint_name[joint];
    const double far = s->integrator->far;
    const char *unit = s->integrator->far_slides ? "m" : "rad";
    if (far != 0.0)
        return fm_say(s, FM_DISCARD,
                      "the step to t = %.9g s failed: after t = %.9g s joint '%s' is at %.9g %s, where numbers are "
                      "%.3g %s apart. Start nearer to zero, or make the motion slower or shorter",
                      t_end, s->clock[FM_TIME], name, far, unit, fm_spacing(far), unit);
    return fm_say(
        s, FM_DISCARD,
        "the step to t = %.9g s failed: at t = %.9g s joint '%s' comes to the limit of its coordinates: %s. Stiffen or "
        "stop it before, or take a joint with a ball (fm.Spherical, fm.Free), which has no limit",
        t_end, s->clock[FM_TIME], name, fm_limit_of(s, joint));
}

/* Whether a joint is so near the limit of its coordinates that the step failed by it, and says so. */
int fm_near_limit(fm_instance *s, double t_end)
{
    const int32_t near = fm_nearest_limit(s, s->y, FM_NEAR_LIMIT);
    if (near >= 0) (void)lost_coordinates(s, t_end, near);
    return near >= 0;
}

/* A rope that went too far about a pulley in a step. */
static fm_status rope_went_round(fm_instance *s, double t_end)
{
    return fm_say(
        s, FM_DISCARD,
        "the step to t = %.9g s failed: after t = %.9g s rope '%s' goes more than a quarter turn about a pulley "
        "in one integration step, so that its turns cannot be counted. Give a shorter solver.step, or a smaller "
        "tolerance",
        t_end, s->clock[FM_TIME], s->image.text + s->image.rope_name[s->integrator->rope]);
}

/* A taut rope that left a pulley. */
static fm_status rope_lifted(fm_instance *s, double t_end)
{
    const int32_t pulley = s->integrator->left;
    return fm_say(s, FM_DISCARD,
                  "the step to t = %.9g s failed: at t = %.9g s rope '%s' lifts off its pulley on joint '%s'. Guide it "
                  "by points beside the pulley, or stop what draws it off",
                  t_end, s->clock[FM_TIME], fm_pulley_rope(&s->image, pulley), fm_pulley_joint(&s->image, pulley));
}

/* Whether a rope has no length left, and says so. */
static int rope_ran_out(fm_instance *s, double t_end)
{
    if (s->image.n.ropes == 0) return 0;
    fm_controls_at(s, s->clock[FM_TIME]);
    const int32_t rope = fm_rope_run_out(s, s->y);
    if (rope >= 0)
        (void)fm_say(s, FM_DISCARD,
                     "the step to t = %.9g s failed: at t = %.9g s a side of rope '%s' has no length left. Give a "
                     "longer one, or stop what takes it in",
                     t_end, s->clock[FM_TIME], s->image.text + s->image.rope_name[rope]);
    return rope >= 0;
}

/* Whether the piston of a cylinder is at the end of a chamber, and says so. */
static int cylinder_ran_out(fm_instance *s, double t_end)
{
    const int32_t cylinder = fm_cylinder_run_out(s, s->y, FM_NEARLY_EMPTY);
    if (cylinder >= 0)
        (void)fm_say(s, FM_DISCARD,
                     "the step to t = %.9g s failed: at t = %.9g s the piston of cylinder '%s' leaves a chamber no "
                     "volume. Give it a longer stroke or another closed_length, or stop it before",
                     t_end, s->clock[FM_TIME], s->image.text + s->image.cylinder_name[cylinder]);
    return cylinder >= 0;
}

/* Loops whose host let them open beside a singular position, so far that no branch of the motion is theirs. */
fm_status fm_branch_lost(fm_instance *s, double t)
{
    char names[200];
    int32_t joint = s->image.row_joint[0], row = fm_singular_row(s, s->y, &joint);
    fm_place_loops(s, s->y, 0);
    const double gap = fm_loop_gap(s, 0), rate = fm_loop_gap(s, 1);
    fm_loop_names(s, row < 0 ? 0 : row, names, sizeof names);
    return fm_say(
        s, FM_DISCARD,
        "at t = %.9g s the %s is open by %.3g rad or model's lengths and %.3g a second, beside a singular "
        "position, where no rates lead back to one of the ways on. Let the host complete its steps, give it a "
        "smaller tolerance, or hold joint '%s' there with a drive or a spring",
        t, names, gap, rate, s->image.text + s->image.joint_name[joint]);
}

fm_status fm_step_failed(fm_instance *s, double t_end)
{
    fm_fall_back(s);
    char why[300];
    s->valid = FM_VALID_NOTHING;
    if (s->singular->tangent_row >= 0) return failed_at_tangent(s, t_end);
    if (s->laws.fault >= 0) return fm_step_failed_by_law(s, t_end);
    if (s->integrator->lost >= 0) return lost_coordinates(s, t_end, s->integrator->lost);
    if (s->integrator->rope >= 0) return rope_went_round(s, t_end);
    if (s->integrator->left >= 0) return rope_lifted(s, t_end);
    if (s->friction->jammed >= 0) return fm_jammed(s, t_end);
    if (!s->realised->crossed && left_reach(s, t_end)) return FM_DISCARD;
    if (fm_drives_lost(s)) return fm_drives_failed(s, t_end);
    if (fm_name_drives(s, s->y, 0, why, sizeof why))
        return fm_say(s, FM_DISCARD, "the step to t = %.9g s failed at t = %.9g s: %s", t_end, s->clock[FM_TIME], why);
    int32_t joint, row = s->image.n.rows > 0 ? fm_singular_row(s, s->y, &joint) : -1;
    if (row >= 0) {
        char names[200];
        fm_loop_names(s, row, names, sizeof names);
        return fm_say(
            s, FM_DISCARD,
            "the step to t = %.9g s failed: at t = %.9g s the %s is at a singular position, from which the motion "
            "can continue in more than one way, and its velocity does not determine which. Hold joint '%s' there with "
            "a drive or a spring, or start with a velocity along one of them",
            t_end, s->clock[FM_TIME], names, s->image.text + s->image.joint_name[joint]);
    }
    if (rope_ran_out(s, t_end) || cylinder_ran_out(s, t_end) || fm_near_limit(s, t_end)) return FM_DISCARD;
    fm_print_known(s, why, sizeof why);
    return fm_say(s, FM_DISCARD,
                  "the step to t = %.9g s failed: at t = %.9g s the step size became too small: %s. The motion becomes "
                  "singular or unbounded there: check the inputs, stiffnesses and initial speeds",
                  t_end, s->clock[FM_TIME], why);
}

fm_status fm_too_many_steps(fm_instance *s, double t_end, long accepted)
{
    const double h = s->clock[FM_H];
    char known[200];
    fm_print_known(s, known, sizeof known);
    fm_fall_back(s);
    if (left_reach(s, t_end) || fm_near_limit(s, t_end)) return FM_DISCARD;
    return fm_say(
        s, FM_DISCARD,
        "the step to t = %.9g s failed: %ld integration steps reached only t = %.9g s, the next would be %.3g s; %s. "
        "Continue from there in shorter communication steps, or soften the fastest motion",
        t_end, accepted, s->clock[FM_TIME], h, known);
}

fm_status fm_no_headway(fm_instance *s, double t_end)
{
    char known[200];
    fm_print_known(s, known, sizeof known);
    fm_fall_back(s);
    if (!s->realised->crossed && left_reach(s, t_end)) return FM_DISCARD;
    if (fm_drives_lost(s)) return fm_drives_failed(s, t_end);
    if (fm_near_limit(s, t_end)) return FM_DISCARD;
    return fm_say(
        s, FM_DISCARD,
        "the step to t = %.9g s failed: at t = %.9g s it makes no headway: %d steps in a row were shorter than %.3g s; "
        "%s. Soften or damp what moves there, or loosen the tolerance",
        t_end, s->clock[FM_TIME], FM_MOST_SLOW, fm_slow_step(s, s->clock[FM_TIME], t_end), known);
}

/* Whether the host wants the present call to end: a step, or a search for an equilibrium. */
int fm_step_interrupted(fm_instance *s)
{
    if (s->host.stopped || s->host.worked < FM_WORK) return s->host.stopped;
    s->host.worked = 0.0;
    s->host.stopped = s->host.wanted != NULL && fm_ask_host(s);
    return s->host.stopped;
}

fm_status fm_say_interrupted(fm_instance *s, double t_end)
{
    return fm_say(s, FM_DISCARD, "the step to t = %.9g s was interrupted at t = %.9g s", t_end, s->clock[FM_TIME]);
}
