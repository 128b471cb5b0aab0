/* assemble.c: assembly from the values that were set, or the reason why it fails. */
#include "assemble.h"

#include "../maths/vectors.h"
#include "../forces/cylinder.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../motion/linear_range.h"
#include "../tree/kinematics.h"
#include "../tree/positions.h"
#include "../tree/reversed.h"
#include "../forces/excitation.h"
#include "../forces/laws.h"
#include "../loops/constraints.h"
#include "../loops/cut_joints.h"
#include "../loops/delassus.h"
#include "../loops/programs.h"
#include "../loops/projection.h"
#include "../loops/turning_axes.h"
#include "../kernels/kernels.h"
#include "../motion/parameters.h"
#include "../motion/required.h"
#include "../motion/resolution.h"
#include "../motion/rules.h"
#include "../loops/reduced_choice.h"
#include "../assembly/assembly.h"
#include "../assembly/held_values.h"
#include "../assembly/internal_dynamics.h"
#include "../assembly/program_starts.h"
#include "../assembly/reach.h"
#include "../assembly/restarts.h"
#include "../assembly/scratch.h"
#include "../statics/equilibrium.h"
#include "../statics/pose.h"
#include "../statics/scratch.h"
#include "step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FM_BEYOND_STOP 1e-6 /* rad or lengths: a rounded start value may be beyond a stop by as much */

/* Sweeps at the present positions that record pivots, at rest and without loads. */
static void note_pivots(fm_instance *s)
{
    const fm_kernels *kernels = s->kernels;
    const int32_t planar = s->planar.used;
    s->kernels = &fm_kernels_checked;
    if (planar) (void)fm_planar_use(s, 0);
    memset(s->work.tau, 0, (size_t)s->image.n.speeds * sizeof(double));
    fm_run_orientations(s, s->y);
    fm_run_sweeps(s, s->y, s->work.tau, s->work.udot);
    s->kernels = kernels;
    if (planar) (void)fm_planar_use(s, 1);
    s->valid = FM_VALID_NOTHING;
}

/* Whether every free mode has inertia: pivots above round-off. From the leaves, whose errors would propagate inward. */
static fm_status check_pivots(fm_instance *s)
{
    note_pivots(s);
    for (int32_t i = s->image.n.links - 1; i >= 0; i--) {
        const fm_link *k = s->link + i;
        const double reciprocal = s->pivot[2 * i], compared = s->pivot[2 * i + 1];
        if (k->u < 0 || k->kind == FM_LINK_DRIVEN) continue;
        if ((reciprocal > 0.0 && isfinite(reciprocal) && reciprocal * compared < 1e14)) continue;
        const int32_t joint = s->image.link_joint[i];
        if (k->kind == FM_LINK_MODAL)
            return fm_say(s, FM_ERROR,
                          "the flexible body behind joint '%s': one of its modes has no inertia. Remove a mode, or "
                          "give the body more mass",
                          s->image.text + s->image.joint_name[joint]);
        return fm_say(s, FM_ERROR,
                      "joint '%s', mode %ld: this free mode has no inertia. Give the bodies that it carries an inertia "
                      "about that axis, or leave the mode out",
                      s->image.text + s->image.joint_name[joint], (long)(k->u - s->image.joint_u[joint] + 1));
    }
    return FM_OK;
}

/* Arbitrary positions: angles within a radian, translations within the model's length. */
static void scatter(const fm_instance *s, double *y)
{
    uint32_t seed = 12345u;
    for (int32_t i = 0; i < s->model.ny; i++) {
        seed = seed * 1664525u + 1013904223u;
        y[i] = i < s->image.n.positions ? s->scale[i] * ((double)(seed >> 8) / 8388608.0 - 1.0) : 0.0;
    }
    fm_normalise(s, y, NULL);
}

fm_status fm_do_check_inertia(fm_instance *s)
{
    memcpy(s->kept, s->state, s->model.state_doubles * sizeof(double));
    scatter(s, s->y);
    const fm_status status = check_pivots(s);
    memcpy(s->state, s->kept, s->model.state_doubles * sizeof(double));
    return status;
}

static fm_status is_turned_over(fm_instance *s, int32_t joint)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.rows; i++)
        if (m->row_joint[i] == joint && m->row_excitation[i] >= 0)
            return fm_say(
                s, FM_ERROR,
                "from these guesses program '%s' closes only with opposite axes, half a turn from its target. "
                "Move a q0 to nearer the target, or give it a transition",
                m->text + m->joint_name[m->excitation_joint[m->row_excitation[i]]]);
    return fm_say(s, FM_ERROR,
                  "from these guesses the loops close only with joint '%s' turned over: its axes on the two bodies "
                  "are opposite. Turn one of its frames over, or move a q0 of its loop",
                  m->text + m->joint_name[joint]);
}

/* Which loop cannot be closed, and the remaining gap. */
static fm_status cannot_close(fm_instance *s)
{
    char names[200];
    double gap, unit;
    const fm_image *m = &s->image;
    int held = 0;
    if (m->n.excitations > 0) fm_nearest_to(s, s->assembly->given, s->y);
    const int32_t worst = fm_worst_row(s, 0, &gap, &unit), coupling = m->row_coupling[worst];
    for (int32_t i = 0; i < m->n.joints; i++) held += m->joint_held[i];
    fm_loop_names(s, worst, names, sizeof names);
    const int32_t over = fm_turned_over(s);
    if (over >= 0 && gap <= 1e3 * unit * fm_closed_within(s)) return is_turned_over(s, over);
    const int32_t program = m->row_excitation[worst] >= 0 ? fm_nearest_gap(s, s->assembly->given, s->y, &gap) : -1;
    if (program >= 0)
        return fm_say(s, FM_ERROR,
                      "the path of program '%s' is out of reach: nearest gap %.3g %s at t = %.9g s. Move the path, "
                      "lengthen a body, or move a q0 to where it is reached",
                      m->text + m->joint_name[program], gap,
                      fm_row_turns(m, m->excitation_row[m->joint_excitation[program]]) ? "rad" : "m",
                      s->clock[FM_TIME]);
    return fm_say(s, FM_ERROR,
                  "the %s cannot close: nearest gap %.3g %s at '%s'. Change %s, or move a q0 of its joints to "
                  "where it closes%s",
                  names, gap, fm_row_turns(m, worst) ? "rad" : "m", m->text + m->joint_name[m->row_joint[worst]],
                  coupling >= 0 ? "its offset" : "a length", held ? ", or hold fewer of them" : "");
}

/* Positions are consistent, velocities conflict. */
static fm_status cannot_move(fm_instance *s)
{
    char names[200];
    double gap, unit;
    const int32_t worst = fm_worst_row(s, 1, &gap, &unit);
    fm_loop_names(s, worst, names, sizeof names);
    return fm_say(
        s, FM_ERROR,
        "the %s closes, but its start velocities conflict: nearest gap %.3g %s at '%s'. Change a u0 that is held, or "
        "hold fewer of them",
        names, gap, fm_row_turns(&s->image, worst) ? "rad/s" : "m/s",
        s->image.text + s->image.joint_name[s->image.row_joint[worst]]);
}

/* Refuses a start where the mechanism has extra instantaneous mobility: accelerations are undetermined there. */
static fm_status check_rank(fm_instance *s)
{
    const int32_t rank = fm_active_rows(s);
    char names[200];
    for (int way = 0; way < 2; way++) {
        int32_t row;
        const int32_t nearby = fm_rank_nearby(s, s->y, way, &row);
        if (nearby <= rank) continue;
        if (fm_assemble_on_branch(s, s->y)) return FM_OK;
        fm_loop_names(s, row, names, sizeof names);
        return fm_say(s, FM_ERROR,
                      "the loops are singular at the start: %ld constraint rows are independent there and %ld nearby, "
                      "so that the motion branches (%s, for one), and the start velocity lies along none of the "
                      "branches. Move a q0 by "
                      "a few degrees, or give all joints of the loop velocities along one",
                      (long)rank, (long)nearby, names);
    }
    return FM_OK;
}

/* Refuses start values that are not resolved. */
static fm_status check_resolution(fm_instance *s)
{
    double value = 0.0;
    int32_t slides = 0;
    const int32_t joint = fm_unresolved(s, s->y, &value, &slides);
    const char *unit = slides ? "m" : "rad";
    if (joint < 0) return FM_OK;
    return fm_say(s, FM_ERROR, "joint '%s' starts at %.9g %s, where numbers are %.3g %s apart. Start nearer to zero%s",
                  s->image.text + s->image.joint_name[joint], value, unit, fm_spacing(value), unit,
                  slides ? "" : ", or leave out whole turns");
}

/* Refuses a start where a joint is at the limit of its coordinates. */
static fm_status check_coordinates(fm_instance *s)
{
    fm_run_orientations(s, s->y);
    fm_make_world(s, s->y);
    const int32_t lost = s->image.n.cut_positions > 0 ? fm_follow_cut_joints(s) : -1,
                  joint = lost < 0 ? fm_starts_at_limit(s, s->y) : lost;
    if (joint < 0) return FM_OK;
    return fm_say(s, FM_ERROR,
                  "joint '%s' starts at the limit of its coordinates: %s. Move its q0, or take a joint with a ball "
                  "(fm.Spherical, fm.Free), which has no limit",
                  s->image.text + s->image.joint_name[joint], fm_limit_of(s, joint));
}

/* Refuses a start where the angles of a program have no values of their own. */
static fm_status check_measured(fm_instance *s)
{
    fm_assembly_place(s, s->y);
    const int32_t joint = fm_unmeasured_program(s);
    if (joint < 0) return FM_OK;
    return fm_say(
        s, FM_ERROR,
        "program '%s' starts where its angles cannot be measured: at 90 degrees of the second one, the first and the "
        "third turn about one axis. Start it at another angle, or turn its point and its frame by 90 degrees",
        s->image.text + s->image.joint_name[joint]);
}

static fm_status assemble(fm_instance *s, double t)
{
    if (!isfinite(t)) return fm_say(s, FM_ERROR, "the start time is not finite");
    if (fm_check_time(s, t) != FM_OK) return FM_ERROR;
    copy(s->y, s->guess, s->model.ny);
    if (fm_check_quaternions(s, s->y) != FM_OK) return FM_ERROR;
    for (int32_t i = 0; i < 2 * s->image.n.laws; i++) s->law_mode[i] = s->law_last[i] = FM_UNKNOWN;
    for (int32_t i = 0; i < FM_STRUCK * s->image.n.laws; i++)
        s->law_struck[i] = s->law_struck_last[i] = i % FM_STRUCK == FM_STRUCK_RESTED ? -1.0 : 0.0;
    copy(s->cut_p, s->image.cut_start, s->image.n.cut_positions);
    for (int32_t i = 0; i < s->image.n.vias; i++) s->via_angle[i] = 0.0;
    for (int32_t i = 0; i < s->image.n.rows; i++) s->row_pivot[i] = 0.0;
    if (s->model.realised > 0) s->drive_side[0] = 0.0;
    (void)fm_normalise(s, s->y, NULL);
    if (check_resolution(s) != FM_OK) return FM_ERROR;
    s->clock[FM_TIME] = s->clock[FM_TIME_HEAD] = s->clock[FM_FOLLOWED] = s->work.time = t;
    s->clock[FM_AHEAD] = s->clock[FM_H] = s->clock[FM_FRESH] = s->clock[FM_HOSTED] = 0.0;
    s->clock[FM_LOOPS_OPEN] = 0.0;
    s->clock[FM_STEPS_DONE] = s->clock[FM_IMPLICIT_DONE] = s->clock[FM_EVALUATIONS] = s->clock[FM_STEPS_REJECTED] =
        s->clock[FM_CORRECTED] = s->clock[FM_ITERATED] = 0.0;
    s->clock[FM_IMPLICIT] = s->clock[FM_LONGEST] = s->clock[FM_RATE] = s->clock[FM_TURNING] = 0.0;
    s->clock[FM_NEAR] = s->clock[FM_LOST] = s->clock[FM_PAYS] = s->clock[FM_PROVED] = 0.0;
    s->clock[FM_ERROR_LAST] = 1e-4;
    s->valid = FM_VALID_NOTHING;
    fm_reset_fades(s, t, s->y);
    fm_follow_paths(s, t, s->y);
    char why[300];
    int levels = 2;
    if (fm_any_transition(s)) levels = s->assembly->closed = fm_start_off_path(s, t, s->y);
    if (s->image.n.rows > 0 && levels == 2) levels = fm_assemble_loops(s, s->y, why, sizeof why);
    s->assembly->closed = 0;
    if (levels < 0) return fm_say(s, FM_ERROR, "%s", why);
    if (levels == 0) return cannot_close(s);
    if (levels == 1) return cannot_move(s);
    if (s->image.n.rows > 0 && check_rank(s) != FM_OK) return FM_ERROR;
    if (check_coordinates(s) != FM_OK || check_measured(s) != FM_OK || check_pivots(s) != FM_OK) return FM_ERROR;
    s->clock[FM_ASSEMBLED] = 1.0;
    return FM_OK;
}

static fm_status assemble_in_space(fm_instance *s, double t)
{
    const int32_t planar = s->planar.used;
    if (planar) (void)fm_planar_use(s, 0); /* rows and pivots are judged by the spatial sweeps */
    const fm_status status = assemble(s, t);
    if (planar) (void)fm_planar_use(s, 1);
    return status;
}

/* Assembles at a state in place of what was set and given, which remains for the next assembly. */
static fm_status assemble_at(fm_instance *s, double t, const double *y)
{
    const int32_t ny = s->model.ny;
    const double *guess = s->kept + (s->guess - s->state), *base = s->kept + (s->base - s->state);
    const double moved = s->clock[FM_MOVED];
    copy(s->guess, y, ny);
    copy(s->base, y, ny);
    s->clock[FM_MOVED] = 1.0;
    const fm_status status = assemble_in_space(s, t);
    s->clock[FM_MOVED] = moved;
    copy(s->guess, guess, ny);
    copy(s->base, base, ny);
    return status;
}

/* Goes from the assembled start to the static equilibrium near it, and assembles there. */
static fm_status start_at_rest(fm_instance *s, double t)
{
    double gap;
    if (fm_find_equilibrium(s) != FM_OK) return FM_ERROR;
    const int32_t off = fm_released_gap(s, s->y, &gap);
    if (off >= 0)
        return fm_say(s, FM_ERROR,
                      "in the equilibrium with released programs '%s' is %.6g from its target. Give it a transition, "
                      "which fades that out, or hold the programs",
                      s->image.text + s->image.joint_name[off], gap);
    copy(s->statics->cut_p, s->cut_p, s->image.n.cut_positions);
    const fm_status status = assemble_at(s, t, s->y);
    copy(s->cut_p, s->statics->cut_p, s->image.n.cut_positions); /* angles keep the turns that they made */
    return status;
}

/* The motion of inverse dynamics is given: of loops, the rows that are independent there are chosen. */
static fm_status start_given(fm_instance *s, double t)
{
    if (!isfinite(t)) return fm_say(s, FM_ERROR, "the start time is not finite");
    if (s->model.acts && s->image.n.rows > 0) {
        copy(s->y, s->given, s->image.n.positions + s->image.n.speeds);
        if (assemble_at(s, t, s->y) != FM_OK) return FM_ERROR;
    }
    const fm_status status = fm_go_given(s, t);
    if (status == FM_OK) s->clock[FM_ASSEMBLED] = 1.0;
    return status;
}

/* Refuses a start beyond the end of a stop with a restitution, which no motion leads to. */
static fm_status check_stops(fm_instance *s)
{
    const fm_image *m = &s->image;
    if (m->n.laws > 0) fm_laws_place(s, s->y);
    for (int32_t i = 0; i < m->n.laws; i++) {
        double x, v;
        const char *what, *name = fm_law_carrier(s, i, &what);
        fm_law_at(s, i, s->y, &x, &v);
        const int32_t wall = fm_law_wall(s, i, x);
        if (wall < 0 || fm_beyond_wall(m, wall, x) <= FM_BEYOND_STOP * fm_law_unit(s, i)) continue;
        const double end = fm_law_range(m, wall)[fm_wall_sign(m, wall) > 0.0 ? 1 : 0];
        return fm_say(
            s, FM_ERROR,
            "%s '%s' starts at %.9g, beyond the end %.9g of stop '%s', where it cannot be. Start it in its range", what,
            name, x, end, m->text + m->law_name[i]);
    }
    return FM_OK;
}

/* The start of a motion that follows from forces. */
static fm_status start(fm_instance *s, double t)
{
    char why[500];
    fm_status status = assemble_in_space(s, t);
    if (status == FM_OK && s->options[FM_OPTION_EQUILIBRIUM] != 0.0) status = start_at_rest(s, t);
    if (status == FM_OK && !fm_drives_realise(s, t, s->y, why, sizeof why)) status = fm_say(s, FM_ERROR, "%s", why);
    if (status == FM_OK) status = check_stops(s);
    if (status == FM_OK && s->model.reduced) fm_reduced_begin(s, s->y);
    s->clock[FM_DEFORMED] = s->clock[FM_CAVITY] = s->clock[FM_PASSED_OVER] = 0.0;
    if (status != FM_OK) return status;
    fm_watch_deformation(s, t, s->y);
    fm_watch_cavitation(s, t, s->y);
    return status;
}

/* On failure all values remain as they were. */
fm_status fm_do_assemble(fm_instance *s, double t)
{
    memcpy(s->kept, s->state, s->model.state_doubles * sizeof(double));
    s->statics->growth = 0.0;
    s->statics->locks = 0;
    s->reduced.used = 0; /* assembly and statics are those of the sweeps */
    const fm_status status = s->model.inverse ? start_given(s, t) : start(s, t);
    s->reduced.used = s->model.reduced;
    if (status == FM_OK) return FM_OK;
    memcpy(s->state, s->kept, s->model.state_doubles * sizeof(double));
    fm_derive(s);
    s->valid = FM_VALID_NOTHING;
    return FM_ERROR;
}
