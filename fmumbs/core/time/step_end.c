/* step_end.c: the end of an integration step: switches of force laws, and the projection onto the constraints. */
#include "step_end.h"

#include "../instance/host.h"
#include "../instance/instance.h"
#include "../tree/positions.h"
#include "../forces/excitation.h"
#include "../forces/inputs.h"
#include "../forces/laws.h"
#include "../forces/sides.h"
#include "../loops/cut_joints.h"
#include "../loops/loop_rank.h"
#include "../loops/projection.h"
#include "../loops/turning_axes.h"
#include "../motion/law_modes.h"
#include "../motion/normal_forces.h"
#include "../motion/resolution.h"
#include "../motion/scratch.h"
#include "../motion/sticking.h"
#include "../motion/tangent.h"
#include "../assembly/drift.h"
#include "broad_phase.h"
#include "scratch.h"
#include "stages.h"
#include "switches.h"

#include <math.h>
#include <string.h>

#define FM_EXPLAINED 100.0 /* times the allowed error: the largest change by a correction */
#define FM_SLOPE_KEPT 0.01 /* times the allowed error: a correction up to this leaves the slope as it is */
#define FM_LEAP 0.1 /* relative to the largest velocity: the largest change by a correction after a fixed step */
/* of the run's longest step: shorter ones may approach a pole. At a distance t from one rates grow as 1/t, and steps
 * shrink as t^2, below any such part: it only spares most other steps the search for poles beside them */
#define FM_SHORT 0.1
#define FM_AT_ONCE 1e-7 /* of the time in which the mechanism moves: closer switches of laws are simultaneous */

/* Chooses the modes of the force laws at time t and state y. 0: none are found. */
int fm_choose_law_modes(fm_instance *s, double t, double *y)
{
    const int moved = fm_laws_choose(s, t, y, 1);
    if (moved > 0) s->clock[FM_FRESH] = 0.0;
    return moved >= 0;
}

/* Counts a law's switch at time t. 0: more than a hundred are simultaneous. The flights of a series of impacts are not,
 * down to 1 - e of such a time, where it ends (motion/impacts.c). */
static int note_switch(fm_instance *s, int32_t law, double t)
{
    double *clock = s->clock;
    const int hard = s->image.law_hard[law];
    const double rate = hard ? clock[FM_RATE] : s->work.rate, left = hard ? 1.0 - s->law_restitution[law] : 1.0;
    clock[FM_FLURRY] = (t - clock[FM_SWITCHED]) * rate <= left * FM_AT_ONCE ? clock[FM_FLURRY] + 1.0 : 0.0;
    clock[FM_SWITCHED] = t;
    if (clock[FM_FLURRY] < 100.0 + 2.0 * s->image.n.laws) return 1;
    s->laws.fault = law;
    return 0;
}

/* Whether the velocity of a law that slides is at a bound: programs and loops can bring it there without passing it. */
int fm_any_law_rests(fm_instance *s, const double *y)
{
    if (s->model.acting == 0) return 0;
    fm_laws_place(s, y);
    for (int32_t i = 0; i < s->model.acting; i++) {
        double x, v, bound = 0.0;
        fm_law_at(s, i, y, &x, &v);
        if (fm_law_bound(s, i, x, v, v, &bound)) return 1;
    }
    return 0;
}

/* Updates the modes of the force laws after a step. If one switched within it, the head is moved back to that moment,
 * or, if the looks for switches ran out, to the time that was looked through; the dense output of the whole step is
 * kept and used up to there. 0: the step fails. */
static int stop(fm_instance *s)
{
    double t = s->clock[FM_TIME_HEAD];
    fm_laws_keep(s);
    const int32_t law = s->laws.watching == 0 ? -1 : fm_laws_switch(s, &t, s->integrator->trial);
    if (t < s->clock[FM_TIME_HEAD]) {
        memcpy(s->head, s->integrator->trial, (size_t)s->model.ny * sizeof(double));
        s->clock[FM_TIME_HEAD] = t;
        s->clock[FM_FRESH] = 0.0;
    }
    if (law >= 0) {
        if (s->clock[FM_IMPLICIT] != 0.0) s->clock[FM_H] = 0.0; /* as at a start */
        if (!note_switch(s, law, t)) return 0;
        if (fm_law_strikes(s, law, s->head) && !fm_correct_drift(s, s->head, 1)) return 0;
    } else if (fm_any_law_sticks(s) || fm_any_law_rests(s, s->head)) {
        fm_laws_note(s, s->head);
    } else {
        return 1;
    }
    return fm_choose_law_modes(s, t, s->head);
}

/* The same, looking at the laws alone that may have switched. */
int fm_stop_at_switch(fm_instance *s)
{
    if (s->image.n.laws == 0) return 1;
    fm_watch_near_laws(s);
    const int found = stop(s);
    fm_watch_all_laws(s);
    return found;
}

/* Counts the turns of ropes about pulleys to the end y of a step at time t. 0: one went too far in it, or left its
 * pulley. */
int fm_follow_ropes(fm_instance *s, double t, const double *y)
{
    if (s->image.n.pulleys == 0) return 1;
    s->integrator->rope = fm_ropes_follow(s, y);
    fm_controls_at(s, t);
    s->integrator->left = fm_rope_lifts(s, y);
    return s->integrator->rope < 0 && s->integrator->left < 0;
}

/* Whether there are constraints or coordinates of cut joints. */
static int has_cut_joints(const fm_instance *s)
{
    return s->image.n.rows + s->image.n.cut_positions > 0;
}

/* Whether states are projected onto the constraints. */
static int is_corrected(const fm_instance *s)
{
    return s->image.n.rows > 0 && s->closure[FM_CLOSURE_CORRECTION] == (double)FM_CORRECT_DIRECTLY;
}

/* Projects the end of a step from the head to `arrival` onto the constraints. 0: this fails, or changes the state far
 * more than the step's error explains, as when it jumps to another branch of the motion. */
int fm_correct_trial(fm_instance *s, double arrival)
{
    const int32_t ny = s->model.ny;
    if (!is_corrected(s)) return 1;
    memcpy(s->integrator->step_end, s->integrator->trial, (size_t)ny * sizeof(double));
    (void)fm_normalise(s, s->integrator->step_end, NULL);
    fm_follow_paths(s, arrival, s->integrator->step_end);
    memcpy(s->integrator->step_corrected, s->integrator->step_end, (size_t)ny * sizeof(double));
    if (!fm_correct_drift(s, s->integrator->step_corrected, 1)) return 0;
    for (int32_t i = 0; i < ny; i++) {
        const double at = s->integrator->step_corrected[i], moved = fabs(at - s->integrator->step_end[i]);
        if (moved != 0.0 && !(moved <= FM_EXPLAINED * (fm_weight(s, i, fabs(at)) +
                                                       s->closure[FM_CLOSURE_TOLERANCE] * fm_unit_of(s, i))))
            return 0;
    }
    return 1;
}

/* Whether a step from y to `end` passed a position where branches of the motion share a tangent. */
static int comes_to_tangent(fm_instance *s, double t, double arrival, const double *y, const double *end)
{
    if (fm_laws_struck(s)) return 0; /* velocities jumped */
    return (s->singular->was_near || s->loop.near_singular) && fm_passed_tangent(s, t, arrival - t, y, end);
}

/* Makes the start of the last step the head again, with the modes of the force laws there. Returns 0. */
int fm_back_to_start(fm_instance *s)
{
    const size_t laws = (size_t)s->image.n.laws;
    memcpy(s->head, s->dense, (size_t)s->model.ny * sizeof(double));
    s->clock[FM_TIME_HEAD] = s->clock[FM_TIME_TAIL];
    memcpy(s->law_mode, s->law_last, 2 * laws * sizeof(double));
    memcpy(s->law_struck, s->law_struck_last, FM_STRUCK * laws * sizeof(double));
    return 0;
}

/* Makes the end of a step the position from which the coordinates of cut joints are followed. 0: a joint has none, came
 * to the limit of its coordinates, or so far that they are not resolved. beside: whether to ask for poles beside the
 * end, too. Requires placed links if there are cut joints. */
static int follow_joints(fm_instance *s, double t, const double *before, const double *after, int beside)
{
    s->work.time = t;
    s->integrator->lost = fm_unresolved(s, after, &s->integrator->far, &s->integrator->far_slides);
    if (s->integrator->lost < 0)
        s->integrator->far = 0.0, s->integrator->lost = fm_passes_limit(s, before, after, beside);
    if (s->integrator->lost < 0 && has_cut_joints(s)) s->integrator->lost = fm_follow_cut_joints(s);
    return s->integrator->lost < 0;
}

/* Projects the new head onto the constraints and adapts the dense output to it. 0: fails. */
int fm_correct_head(fm_instance *s)
{
    const int32_t ny = s->model.ny;
    const size_t bytes = (size_t)ny * sizeof(double);
    const int beside = s->clock[FM_TIME_HEAD] - s->clock[FM_TIME_TAIL] < FM_SHORT * s->clock[FM_LONGEST];
    if (!has_cut_joints(s))
        return follow_joints(s, s->clock[FM_TIME_HEAD], s->dense, s->head, beside) || fm_back_to_start(s);
    const int cut_short = s->clock[FM_TIME_HEAD] < s->clock[FM_TIME_DENSE];
    memcpy(s->integrator->trial, s->head, bytes);
    if (is_corrected(s) && s->image.n.laws == 0 && memcmp(s->head, s->integrator->step_end, bytes) == 0) {
        memcpy(s->head, s->integrator->step_corrected, bytes);
    } else if (!fm_correct_drift(s, s->head, 1)) {
        return fm_back_to_start(s);
    }
    if (!follow_joints(s, s->clock[FM_TIME_HEAD], s->dense, s->head, beside)) return fm_back_to_start(s);
    fm_watch_rows(s, s->head);
    if (comes_to_tangent(s, s->clock[FM_TIME_TAIL], s->clock[FM_TIME_HEAD], s->dense, s->head))
        return fm_back_to_start(s);
    if (memcmp(s->integrator->trial, s->head, (size_t)ny * sizeof(double)) == 0) return 1;
    double most = 0.0;
    for (int32_t i = 0; i < ny && !cut_short; i++) {
        const double moved =
            s->head[i] - s->integrator->trial[i]; /* a cubic with zero slope at the start of the step */
        s->dense[ny + i] += moved;
        s->dense[2 * ny + i] -= moved;
        most = fmax(most, fabs(moved) / fm_weight(s, i, fabs(s->head[i])));
    }
    if (!(most <= FM_SLOPE_KEPT) || s->loop.near_singular) s->clock[FM_FRESH] = 0.0;
    return 1;
}

/* Whether a correction after a fixed step changes a velocity by more than a fraction of the largest velocity and of the
 * step's own change. */
static int leaps(const fm_instance *s, const double *before, const double *after, double h)
{
    double moved = 0.0, fastest = 0.0;
    if (!s->loop.worn) return 0; /* branches meet only where pivots are small */
    for (int32_t i = s->image.n.positions; i < s->model.bristles; i++) {
        const double size = fmax(fabs(before[i]), fabs(h * fm_stage(s, 0)[i]));
        moved = fmax(moved, fabs(after[i] - before[i]) / s->scale[i]);
        fastest = fmax(fastest, size / s->scale[i]);
    }
    return moved > FM_LEAP * fastest + s->closure[FM_CLOSURE_TOLERANCE] * s->clock[FM_RATE];
}

/* Whether a fixed step from the head to `end` passed a position where branches share a tangent; or the motion with the
 * step's first acceleration would have, since `end` may be on another branch. */
static int passes_tangent(fm_instance *s, double t, double h, const double *end)
{
    const int32_t positions = s->image.n.positions;
    const double *u = s->head + positions, *udot = fm_stage(s, 0) + positions;
    double *smooth = s->integrator->step_end;
    if (comes_to_tangent(s, t, t + h, s->head, end)) return 1;
    if (!s->singular->was_near && !s->loop.near_singular) return 0;
    memcpy(smooth, s->head, (size_t)s->model.ny * sizeof *smooth);
    fm_place_loops(s, smooth, 0);
    s->planar.is_placed = 0;
    for (int32_t i = 0; i < s->image.n.speeds; i++) {
        s->loop.change[i] = h * (u[i] + 0.5 * h * udot[i]);
        smooth[positions + i] += h * udot[i];
    }
    fm_move_positions(s, smooth, s->loop.change);
    (void)fm_normalise(s, smooth, NULL);
    fm_follow_paths(s, t + h, smooth);
    return comes_to_tangent(s, t, t + h, s->head, smooth);
}

/* Makes integrator.trial, the end of a fixed step of h from time t, the state, and projects it onto the constraints. 0:
 * fails; the head is then the start of the step. */
int fm_correct_fixed(fm_instance *s, double t, double h)
{
    const size_t bytes = (size_t)s->model.ny * sizeof(double);
    memcpy(s->head, s->y, bytes);
    memcpy(s->y, s->integrator->trial, bytes);
    fm_follow_paths(s, t + h, s->y);
    s->clock[FM_TIME_HEAD] = t;
    if (!fm_follow_ropes(s, t + h, s->y)) return 0;
    if (!has_cut_joints(s)) return follow_joints(s, t + h, s->head, s->y, 0);
    if (!fm_correct_drift(s, s->y, 1) || leaps(s, s->integrator->trial, s->y, h)) return 0;
    if (!follow_joints(s, t + h, s->head, s->y, 0)) return 0;
    fm_watch_rows(s, s->y);
    return !passes_tangent(s, t, h, s->y);
}

/* Projects the end y of a step that the host made from the head to time t onto the constraints. Requires an evaluation
 * there. 0: fails. */
int fm_correct_hosted(fm_instance *s, double t, double *y)
{
    (void)fm_normalise(s, y, NULL);
    fm_follow_paths(s, t, y);
    if (!fm_follow_ropes(s, t, y)) return 0;
    if (!has_cut_joints(s)) return follow_joints(s, t, s->head, y, 1);
    if (!fm_correct_drift(s, y, 1) || !follow_joints(s, t, s->head, y, 1)) return 0;
    fm_watch_rows(s, y);
    return !comes_to_tangent(s, s->clock[FM_TIME_HEAD], t, s->head, y);
}

/* Shows the host the present state, at time t within an fm_step to t_end, as the end of an fm_step there would leave
 * it. Returns when the present one is to end. */
double fm_show_step_end(fm_instance *s, double t, double t_end, int event)
{
    s->clock[FM_TIME] = t;
    s->laws.use = s->laws.now;
    s->valid = FM_VALID_NOTHING;
    fm_end_smooth(s);
    const double end = fm_show_host(s, t_end, event);
    s->laws.use = s->law_mode;
    fm_begin_normal_forces(s);
    return end;
}
