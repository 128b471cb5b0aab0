/* hosted.c: integration by the host, which the core offers its continuous states, their rates, event indicators and
 * what ends a step.
 *
 * Between two events the right-hand side is smooth: every force law stays in its mode and every path in the piece that
 * the last event chose. One indicator a law is positive as long as its mode is right: the distances from the bounds of
 * its piece, or, if it sticks, of its force from the bounds of its range, each relative to its own unit. s->head is the
 * state at the last completed step or event, to which a failure returns. The continuous states are the elements of y
 * that follow no path; the others are their paths' at every time. Rates contain a pull to the constraints
 * (motion/pull.c), so that the loops of a host that asks for no corrections stay closed. Of an image with independent
 * states these alone are continuous states: the others follow when something is asked for (motion/independent.c).
 */
#include "hosted.h"

#include "../assembly/drift.h"
#include "../forces/cylinder.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../tree/rate.h"
#include "../forces/excitation.h"
#include "../forces/inputs.h"
#include "../forces/laws.h"
#include "../forces/missed.h"
#include "../loops/cut_joints.h"
#include "../loops/loop_rank.h"
#include "../loops/scratch.h"
#include "../motion/correct.h"
#include "../motion/independent.h"
#include "../motion/law_modes.h"
#include "../motion/law_rates.h"
#include "../motion/linear_range.h"
#include "../motion/normal_forces.h"
#include "../motion/pull.h"
#include "../motion/rates.h"
#include "../motion/rules.h"
#include "../motion/scratch.h"
#include "../motion/sticking.h"
#include "failures.h"
#include "scratch.h"
#include "stages.h"
#include "step_end.h"

#include <math.h>
#include <string.h>

#define FM_DRIFT_KEPT 10.0 /* times the allowed error: what a pull leaves of a host that integrates as accurately */
#define FM_REACHED 1e-9 /* of its time: an announced event this near has come */
#define FM_BEYOND 1e-12 /* of a range: a force that is further outside does not hold any more */

static fm_status refuse_unless_ready(fm_instance *s)
{
    if (fm_check_assembled(s) != FM_OK) return FM_ERROR;
    if (s->clock[FM_HOSTED] == 0.0)
        return fm_say(s, FM_ERROR, "integration by the host has not begun: update the events first");
    return FM_OK;
}

/* Lists the continuous states. */
void fm_find_states(fm_instance *s)
{
    const fm_image *m = &s->image;
    s->hosted.states = 0;
    for (int32_t i = 0; i < s->model.ny; i++) s->hosted.state[i] = 0;
    for (int32_t i = 0; i < m->n.excitations; i++) {
        if (m->excitation_kind[i] != FM_EXCITED_BY_PATH) continue;
        s->hosted.state[m->excitation_p[i]] = s->hosted.state[m->n.positions + m->excitation_u[i]] = -1;
    }
    for (int32_t i = 0; i < s->model.ny; i++) {
        if (s->model.inverse) s->hosted.state[i] = -1; /* its motion is an input */
        if (fm_is_dependent(s, i)) s->hosted.state[i] = -1;
        if (s->hosted.state[i] < 0) continue;
        s->hosted.place[s->hosted.states] = i;
        s->hosted.state[i] = s->hosted.states++;
    }
}

/* Uses the modes and pieces of the last event. */
static void begin(fm_instance *s)
{
    s->laws.use = s->law_mode;
    s->laws.fault = -1;
    fm_forget_failures(s);
    s->integrator->far = s->laws.resolved = 0.0;
    s->singular->was_near = 0;
    fm_begin_normal_forces(s);
    (void)fm_begin_smooth(s, s->clock[FM_EVENT]);
}

static fm_status end(fm_instance *s, fm_status status)
{
    s->laws.use = s->laws.now;
    s->valid = FM_VALID_NOTHING;
    fm_end_smooth(s);
    return status;
}

/* Closes the loops at independent states, or parameters of cams, that were set, before anything is asked for there. */
fm_status fm_settle(fm_instance *s)
{
    if (s->clock[FM_LOOPS_OPEN] == 0.0 || s->clock[FM_ASSEMBLED] == 0.0) return FM_OK;
    if (s->clock[FM_HOSTED] == 0.0) return fm_has_cams(&s->image) ? fm_close_cams(s) : FM_OK;
    if (!fm_has_independent(s)) return FM_OK;
    fm_keep_pieces(s);
    const fm_status status = fm_close_independent(s);
    fm_end_smooth(s);
    return status;
}

/* The present state, or its time, was set: loops are open, if dependent states follow. */
void fm_note_set(fm_instance *s)
{
    if (fm_has_independent(s) && s->clock[FM_HOSTED] != 0.0) s->clock[FM_LOOPS_OPEN] = 1.0;
}

/* Makes the present state the one to which a failure returns, and the start values of a new assembly. */
static void keep_present(fm_instance *s)
{
    const size_t bytes = (size_t)s->model.ny * sizeof(double);
    memcpy(s->head, s->y, bytes);
    memcpy(s->guess, s->y, bytes);
    memcpy(s->base, s->y, bytes);
    fm_note_rate(s, s->y + s->image.n.positions, s->clock[FM_TIME] - s->clock[FM_TIME_HEAD]);
    s->clock[FM_TIME_HEAD] = s->clock[FM_TIME_TAIL] = s->clock[FM_TIME];
    s->clock[FM_MOVED] = 1.0;
    fm_note_closed(s);
}

/* Takes over from fm_assemble or fm_step at the present state. */
static void take_over(fm_instance *s)
{
    fm_laws_resume(s);
    s->clock[FM_HOSTED] = 1.0;
    s->clock[FM_AHEAD] = s->clock[FM_TAYLOR_ON] = 0.0;
    keep_present(s);
}

/* Stores velocities from which the laws came to y: of one that slides, the nearest in its piece. */
static void note_origins(fm_instance *s, const double *y)
{
    int32_t piece;
    fm_laws_note(s, y);
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        if (!fm_law_slides(s, i, &piece) || piece < 0) continue;
        const double *range = fm_law_range(&s->image, piece);
        s->laws.v[i] = fmin(fmax(s->laws.v[i], range[2]), range[3]);
    }
}

/* The rates of y, the present state, or why there are none. */
static fm_status make_rates(fm_instance *s, double *rates)
{
    const double t = s->clock[FM_TIME];
    fm_rates(s, t, s->y, rates);
    const int pulled = s->clock[FM_HOSTED] == 0.0 || fm_pull(s, t, s->y, rates);
    if (s->friction->jammed >= 0) return fm_jammed(s, t);
    if (s->realised->lost) return fm_drives_failed(s, t);
    if (!pulled) return fm_branch_lost(s, t);
    if (fm_all_finite(rates, s->model.ny)) return FM_OK;
    return fm_say(s, FM_DISCARD, "at t = %.9g s the rates of the continuous states are not finite: take a shorter step",
                  t);
}

fm_status fm_do_update_events(fm_instance *s, fm_events *events)
{
    const double t = s->clock[FM_TIME];
    double *before = s->integrator->trial;
    const int begun = s->clock[FM_HOSTED] != 0.0;
    if (fm_check_assembled(s) != FM_OK) return FM_ERROR;
    if (fm_check_rules(s, FM_DISCARD) != FM_OK) return FM_DISCARD;
    if (!begun) take_over(s);
    memcpy(before, s->y, (size_t)s->model.ny * sizeof(double));
    s->clock[FM_EVENT] = t;
    begin(s);
    if (s->work.step_until - t <= FM_REACHED * fabs(t)) { /* the announced event */
        s->clock[FM_EVENT] = s->work.step_until;
        begin(s);
    }
    if (begun && s->image.n.rows > 0) { /* the factor of the correction is that of the state, whatever came before */
        const fm_status status = make_rates(s, s->hosted.rates);
        if (status != FM_OK) return end(s, status);
    }
    if (begun && !fm_correct_hosted(s, t, s->y)) return end(s, fm_step_failed(s, t));
    note_origins(s, s->y);
    if (s->image.n.laws > 0 && fm_laws_choose(s, t, s->y, 1) < 0) return end(s, fm_step_failed_by_law(s, t));
    fm_laws_keep(s);
    events->changed = memcmp(before, s->y, (size_t)s->model.ny * sizeof(double)) != 0;
    events->next = s->work.step_until;
    keep_present(s);
    const fm_status closed = fm_has_independent(s) ? fm_close_independent(s) : FM_OK;
    return end(s, closed == FM_OK || begun ? closed : FM_ERROR);
}

fm_status fm_do_set_continuous(fm_instance *s, double t, const double *x)
{
    if (refuse_unless_ready(s) != FM_OK) return FM_ERROR;
    if (!isfinite(t) || (x != NULL && !fm_all_finite(x, s->hosted.states)))
        return fm_say(s, FM_ERROR, "the time or a continuous state is not finite");
    int same = t == s->clock[FM_TIME];
    for (int32_t i = 0; x != NULL && i < s->hosted.states; i++) {
        same = same && s->y[s->hosted.place[i]] == x[i];
        s->y[s->hosted.place[i]] = x[i];
    }
    s->clock[FM_TIME] = t;
    s->valid = FM_VALID_NOTHING;
    fm_keep_pieces(s);
    fm_follow_paths(s, t, s->y);
    fm_end_smooth(s);
    if (!same) fm_note_set(s);
    return FM_OK;
}

fm_status fm_do_set_tree_state(fm_instance *s, const double *y)
{
    if (refuse_unless_ready(s) != FM_OK) return FM_ERROR;
    if (!fm_all_finite(y, s->model.ny)) return fm_say(s, FM_ERROR, "a number of the tree state is not finite");
    memcpy(s->y, y, (size_t)s->model.ny * sizeof *y);
    s->valid = FM_VALID_NOTHING;
    fm_note_closed(s);
    return FM_OK;
}

/* Until fm_end_smooth, paths stay in the pieces of the last event, if the host integrates. */
void fm_keep_pieces(fm_instance *s)
{
    if (s->clock[FM_HOSTED] != 0.0) (void)fm_begin_smooth(s, s->clock[FM_EVENT]);
}

/* Writes hosted.rates: those of y in the modes and pieces of the last event, or, if the core integrates, in the present
 * ones. */
fm_status fm_present_rates(fm_instance *s)
{
    s->work.evaluations = 0.0;
    if (s->clock[FM_HOSTED] != 0.0) {
        begin(s);
        return end(s, make_rates(s, s->hosted.rates));
    }
    if (!(s->valid & FM_VALID_LAWS)) fm_laws_present(s);
    fm_begin_normal_forces(s);
    return make_rates(s, s->hosted.rates);
}

/* Writes hosted.rates and follows cut joints. */
static fm_status follow_rates(fm_instance *s)
{
    if (refuse_unless_ready(s) != FM_OK) return FM_ERROR;
    const double t = s->clock[FM_TIME];
    const fm_status status = fm_present_rates(s);
    s->clock[FM_EVALUATIONS] += s->work.evaluations;
    if (status == FM_OK && t > s->clock[FM_FOLLOWED] && s->image.n.cut_positions > 0) {
        s->work.time = t; /* so that hosts that complete no steps count the turns of cut joints */
        fm_place_links(s, s->y);
        (void)fm_follow_cut_joints(s);
    }
    if (status == FM_OK && !s->loop.worn) fm_watch_rows(s, s->y); /* pivots that grow, by which others are small */
    return status;
}

fm_status fm_do_continuous_rates(fm_instance *s, double *rates)
{
    const fm_status status = follow_rates(s);
    for (int32_t i = 0; status == FM_OK && i < s->hosted.states; i++) rates[i] = s->hosted.rates[s->hosted.place[i]];
    return status;
}

fm_status fm_do_tree_rates(fm_instance *s, double *rates)
{
    const fm_status status = follow_rates(s);
    if (status == FM_OK) memcpy(rates, s->hosted.rates, (size_t)s->model.ny * sizeof *rates);
    return status;
}

/* How far x is inside the bounds of a piece's position, and v, relative to 1 rad or the model's length, and to these in
 * the time in which the mechanism moves; at most 1. `round`: 1 if round-off is inside, and the velocity
 * at which a mechanism rests without any; -1 if they are outside. */
static double margin_of_position(const fm_instance *s, int32_t law, int32_t piece, double x, double round)
{
    const double *range = fm_law_range(&s->image, piece), unit = fm_law_unit(s, law);
    return fmin(1.0, (fmin(x - range[0], range[1] - x) + round * fm_law_near_position(s, law, x)) / unit);
}

static double margin_of_velocity(const fm_instance *s, int32_t law, int32_t piece, double v, double round)
{
    const double *range = fm_law_range(&s->image, piece), unit = fm_law_unit(s, law) / fm_trial_time(s);
    return fmin(1.0, (fmin(v - range[2], range[3] - v) + round * fm_law_near(s, law, v)) / unit + round * FM_BEYOND);
}

static double margin_of_piece(const fm_instance *s, int32_t law, int32_t piece, double x, double v, double round)
{
    return fmin(margin_of_position(s, law, piece, x, round), margin_of_velocity(s, law, piece, v, round));
}

/* Of a law that slides in a piece, or, if that is -1, outside all of its pieces. */
static double margin_sliding(const fm_instance *s, int32_t law, int32_t piece, double x, double v)
{
    const fm_image *m = &s->image;
    double most = -1.0;
    if (piece >= 0) return margin_of_piece(s, law, piece, x, v, 1.0);
    for (int32_t i = m->law_first[law]; i < m->law_first[law] + m->law_count[law]; i++)
        most = fmax(most, margin_of_piece(s, law, i, x, v, -1.0));
    return -most;
}

/* Of a law that sticks between two pieces at a bound. */
static double margin_sticking(const fm_instance *s, int32_t law, const int32_t pieces[2], double x, double bound)
{
    double range[2], margin = 1.0;
    if (s->image.law_hard[law]) {
        const double pushes = (pieces[1] >= 0 ? 1.0 : -1.0) * fm_law_along(s, law, s->laws.force[law]);
        return fmin(margin, pushes / fm_law_trial(s, law) + FM_BEYOND);
    }
    fm_sticking_range(s, law, pieces, x, bound, s->law_breakaway[law], range);
    const double force = fm_law_along(s, law, s->laws.force[law]), size = fmax(fabs(range[0]), fabs(range[1]));
    for (int i = 0; i < 2; i++)
        if (pieces[i] >= 0) margin = fmin(margin, margin_of_position(s, law, pieces[i], x, 1.0));
    return fmin(margin, fmin(force - range[0], range[1] - force) / size + FM_BEYOND);
}

/* Writes hosted.indicators: those of y in the modes of the last event, or, if the core integrates, in the present ones.
 */
fm_status fm_present_indicators(fm_instance *s)
{
    fm_status status = FM_OK;
    if (s->clock[FM_HOSTED] != 0.0) begin(s);
    else if (!(s->valid & FM_VALID_LAWS)) fm_laws_present(s);
    fm_begin_normal_forces(s);
    fm_controls_at(s, s->clock[FM_TIME]);
    if (fm_any_law_sticks(s)) status = make_rates(s, s->laws.rates);
    fm_laws_place(s, s->y);
    fm_laws_look(s, s->y, s->laws.looks);
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        const double x = s->laws.looks[2 * i], v = s->laws.looks[2 * i + 1];
        int32_t pieces[2];
        double bound;
        if (fm_law_sticks(s, i, &pieces[0], &pieces[1], &bound))
            s->hosted.indicators[i] = margin_sticking(s, i, pieces, x, bound);
        else if (fm_law_slides(s, i, &pieces[0])) s->hosted.indicators[i] = margin_sliding(s, i, pieces[0], x, v);
        else s->hosted.indicators[i] = -1.0;
    }
    return end(s, status);
}

fm_status fm_do_indicators(fm_instance *s, double *indicator)
{
    fm_status status = refuse_unless_ready(s);
    if (status != FM_OK || s->image.n.laws == 0) return status;
    status = fm_present_indicators(s);
    if (status == FM_OK) memcpy(indicator, s->hosted.indicators, (size_t)s->image.n.laws * sizeof *indicator);
    return status;
}

/* Whether laws that stick or rest at a bound would be in other modes from y on. */
static int are_modes_other(fm_instance *s, double t, double *y)
{
    const size_t bytes = 2 * (size_t)s->image.n.laws * sizeof(double);
    if (s->image.n.laws == 0) return 0;
    const int rests = fm_any_law_sticks(s) || fm_any_law_rests(s, y);
    for (int32_t i = 0; i < s->model.acting; i++)
        if (fm_law_strikes(s, i, y)) return 1;
    if (!rests) return 0;
    memcpy(s->laws.now, s->law_mode, bytes);
    note_origins(s, y);
    s->laws.use = s->laws.now;
    const int found = fm_laws_choose(s, t, y, 0) >= 0;
    s->laws.use = s->law_mode;
    return !found || memcmp(s->laws.now, s->law_mode, bytes) != 0;
}

/* Whether corrections to y are too large to wait for the next event. */
static int has_drifted(const fm_instance *s, const double *y)
{
    for (int32_t i = 0; i < s->model.ny; i++)
        if (!(fabs(y[i] - s->y[i]) <= FM_DRIFT_KEPT * fm_weight(s, i, fabs(y[i])))) return 1;
    return 0;
}

fm_status fm_do_completed_step(fm_instance *s, int32_t *event)
{
    const double t = s->clock[FM_TIME];
    double *corrected = s->integrator->trial;
    *event = 0;
    if (refuse_unless_ready(s) != FM_OK) return FM_ERROR;
    if (fm_settle(s) != FM_OK) {
        fm_fall_back(s);
        fm_note_closed(s);
        return FM_DISCARD;
    }
    s->work.evaluations = 0.0;
    begin(s);
    const fm_status status = make_rates(s, fm_stage(s, 0));
    s->clock[FM_EVALUATIONS] += s->work.evaluations;
    if (status != FM_OK) {
        fm_fall_back(s);
        fm_note_closed(s);
        return end(s, status);
    }
    fm_note_normal_forces(s);
    memcpy(corrected, s->y, (size_t)s->model.ny * sizeof(double));
    if (!fm_correct_hosted(s, t, corrected)) {
        const fm_status failed = fm_step_failed(s, t);
        fm_note_closed(s);
        return end(s, failed);
    }
    *event = has_drifted(s, corrected) || are_modes_other(s, t, corrected);
    s->clock[FM_STEPS_DONE] += 1.0;
    fm_watch_deformation(s, t, s->y);
    fm_watch_cavitation(s, t, s->y);
    fm_watch_contacts(s, t, t - s->clock[FM_TIME_HEAD], s->head, s->y);
    keep_present(s);
    return end(s, FM_OK);
}

/* Gives the integration back to fm_step. */
void fm_end_hosted(fm_instance *s)
{
    if (s->clock[FM_HOSTED] != 0.0) s->clock[FM_TIME_HEAD] = s->clock[FM_TIME];
    s->clock[FM_HOSTED] = 0.0;
}
