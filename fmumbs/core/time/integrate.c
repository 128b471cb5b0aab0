/* integrate.c: integration to the end of a communication step, with error control or in fixed steps (fixed_steps.c).
 *
 * The error-controlled integrator may run ahead of the communication point. As long as nothing changes it continues
 * from there and the state is read from the dense output, so that results do not depend on the communication step.
 * After a change it returns to the communication point and takes equal steps to the end of the communication step, so
 * that no work is repeated.
 */
#include "integrate.h"

#include "../forces/cylinder.h"
#include "../instance/host.h"
#include "../instance/instance.h"
#include "../motion/linear_range.h"
#include "../tree/positions.h"
#include "../tree/rate.h"
#include "../forces/excitation.h"
#include "../forces/laws.h"
#include "../loops/cut_joints.h"
#include "../loops/scratch.h"
#include "../motion/normal_forces.h"
#include "../motion/law_modes.h"
#include "../motion/rates.h"
#include "../motion/scratch.h"
#include "../assembly/drift.h"
#include "dense.h"
#include "failures.h"
#include "fixed_steps.h"
#include "headway.h"
#include "scheme.h"
#include "scratch.h"
#include "stages.h"
#include "step_end.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FM_EARLY 200 /* number of steps after which it is checked that the end can be reached at all: */
#define FM_HOPELESS 1e9 /* not if the rest is longer than this times what was covered */
#define FM_PATIENCE 3 /* successive rejected implicit steps of a mechanism with loops */
#define FM_FURTHER 10.0 /* factor by which the integrator may run ahead of what was requested */
#define FM_WORTH_IMPLICIT 6.0 /* the step of the implicit scheme that is worth its cost, over the explicit one's */
#define FM_PROMISING 2.0      /* one that may grow to it, */
#define FM_PROBATION 8.0      /* within so many steps */
#define FM_WORTH_EXPLICIT 0.5 /* that of the explicit scheme, over the implicit one's */
#define FM_WORTH_ITERATING 4  /* times: more, and the implicit one is not worth its cost */
/* evaluations of a step of the explicit one: its last stage is the first of the next step */
#define FM_EXPLICIT_COST ((double)(FM_STAGES_OF_DORMAND_PRINCE - 1))
#define FM_FULL_STEP 0.7      /* of such a step: one that is cut shorter says nothing */
#define FM_NEAR_UNSTABLE 1.25    /* of the explicit scheme's stability (3.3): the implicit one may be worth its cost */
#define FM_MOST_LOST 0.02     /* of all evaluations: what trying the other scheme may have cost before the next try */
#define FM_BEFORE_LIMIT 1e-3 /* of the longest step: how near to the limit of a joint's coordinates the run ends */

typedef enum advanced { STUCK, ADVANCED, REJECTED } advanced;

/* The scheme of the next step: of two, that of the last one. */
static const fm_scheme *next_scheme(const fm_instance *s)
{
    const fm_scheme *scheme = fm_scheme_of(s);
    return scheme->pair[0] == NULL ? scheme : scheme->pair[s->clock[FM_IMPLICIT] != 0.0];
}

/* Hairer's initial step size, in units of the time in which the mechanism moves, or begins to; where nothing does, of
 * what is to be covered. */
static double first_step(fm_instance *s, double t, double t_end)
{
    const int32_t ny = s->model.ny;
    const double begins = sqrt(fm_fastest(s, s->slope + s->image.n.positions)), moves = fmax(s->clock[FM_RATE], begins);
    const double unit = moves > 0.0 ? 1.0 / moves : t_end - t;
    double size = 0.0, rate = 0.0, bend = 0.0;
    s->work.rate = 1.0 / unit;
    for (int32_t i = 0; i < ny; i++) {
        double w = fm_weight(s, i, fabs(s->head[i])), a = fabs(s->head[i]) / w, b = unit * fabs(s->slope[i]) / w;
        size = a > size ? a : size;
        rate = b > rate ? b : rate;
    }
    double h = unit * (size < 1e-5 || rate < 1e-5 ? 1e-6 : 0.01 * (size / rate));
    for (int32_t i = 0; i < ny; i++) s->integrator->trial[i] = s->head[i] + h * s->slope[i];
    fm_rates(s, t + h, s->integrator->trial, fm_stage(s, 1));
    for (int32_t i = 0; i < ny; i++) {
        double b = unit * unit * fabs(fm_stage(s, 1)[i] - s->slope[i]) / fm_weight(s, i, fabs(s->head[i])) / h;
        bend = b > bend ? b : bend;
    }
    double most = rate > bend ? rate : bend;
    double other =
        most <= 1e-15 || !isfinite(most) ? fmax(h * 1e-3, unit * 1e-6) : unit * next_scheme(s)->root(0.01 / most);
    return 100.0 * h < other ? 100.0 * h : other;
}

/* The shortest step that time t can resolve: a few units in its last place. Nothing else limits the step size from
 * below, whatever the communication step; FM_MOST_ACCEPTED limits the number of steps. */
static double shortest(double t)
{
    return 2.0 * DBL_EPSILON * fabs(t);
}

/* The step size after an accepted step of h. If that was cut short, the earlier size is kept, unless the error is
 * large. Round-off in the times does not count as cutting short. */
static double wanted(const fm_instance *s, double h, double grown, double error, int rejected)
{
    const double before = s->clock[FM_H];
    if (rejected) return grown < h ? grown : h;
    return h < (1.0 - 1e-6) * before && grown < before && error <= 0.5 ? before : grown;
}

/* One trial by a scheme, or by that which stands in for it near singular positions, where accelerations have to be
 * those on the branch (fm_begins_on_branch); `scheme` becomes the one that made the trial. What stood in for the last
 * step is tried first: as long as it is near them, trials of the other one would be in vain. */
static double try_step(fm_instance *s, double t, double h, int rejected, const fm_scheme **scheme)
{
    const double *clock = s->clock;
    const fm_scheme *own = *scheme, *other = s->image.n.rows > 0 ? own->stand_in : NULL;
    const int stood_in = fm_scheme_of(s)->implicit && clock[FM_IMPLICIT] == 0.0 && clock[FM_STEPS_DONE] > 0.0;
    if (other != NULL && stood_in && rejected <= FM_PATIENCE) {
        const double error = other->trial(s, t, h, rejected);
        if (s->loop.near_singular || s->realised->lost) {
            *scheme = other;
            return error;
        }
    }
    if (other == NULL || rejected <= FM_PATIENCE) {
        const double error = own->trial(s, t, h, rejected);
        if (!(other != NULL && error <= 1.0 && s->loop.near_singular)) return error;
    }
    *scheme = other;
    return other->trial(s, t, h, rejected);
}

/* Whether a step to `arrival` is read within: at t_end, or for switches of laws. */
static int is_read_within(const fm_instance *s, double arrival, double t_end)
{
    return arrival > t_end || s->image.n.laws > 0;
}

/* Accepts the trial step from t: its dense output, its end and the slope there. */
static void accept(fm_instance *s, double t, double arrival, double t_end, const fm_scheme *scheme)
{
    const size_t bytes = (size_t)s->model.ny * sizeof(double);
    scheme->keep(s, arrival - t, is_read_within(s, arrival, t_end));
    fm_note_normal_forces(s);
    memcpy(s->head, s->integrator->trial, bytes);
    memcpy(s->slope, fm_stage(s, scheme->last), bytes);
    fm_note_rate(s, s->head + s->image.n.positions, arrival - t);
    (void)fm_normalise(s, s->head, s->slope);
    s->clock[FM_TIME_TAIL] = t;
    s->clock[FM_TIME_HEAD] = s->clock[FM_TIME_DENSE] = arrival;
    s->clock[FM_STEPS_DONE] += 1.0;
    s->clock[FM_IMPLICIT] = scheme->implicit;
    s->clock[FM_IMPLICIT_DONE] += scheme->implicit;
}

/* Takes one accepted step from the head to time `arrival`, or less far, but not less than `least`, unless this is 0.
 * Its length is the difference of the rounded times, so that states match their times at late times too. */
static advanced advance(fm_instance *s, double arrival, double t_end, const fm_scheme *chosen, double least)
{
    double *clock = s->clock;
    /* each trial is shorter than the last, by a factor, until the time has no digits left */
    for (int rejected = 0;; rejected++) {
        const double t = clock[FM_TIME_HEAD];
        const double h = arrival - t;
        if (!isfinite(arrival)) return STUCK;
        const fm_scheme *scheme = chosen;
        fm_begin_normal_forces(s);
        fm_begin_rate(s, h);
        s->integrator->patience = least > 0.0 ? FM_WORTH_ITERATING : FM_MOST_ITERATED;
        double error = try_step(s, t, h, rejected, &scheme);
        if (error <= 1.0 && !fm_correct_trial(s, arrival)) error = INFINITY;
        if (error <= 1.0 && scheme->within != NULL && is_read_within(s, arrival, t_end)) {
            const double within = scheme->within(s, t, h);
            error = within <= 1.0 ? error : within;
        }
        const double factor = scheme->factor(s, scheme, h, error);
        if (error <= 1.0) {
            const double grown = h * factor;
            accept(s, t, arrival, t_end, scheme);
            clock[FM_ERROR_LAST] = error > 1e-4 ? error : 1e-4;
            clock[FM_H] = wanted(s, h, grown, error, rejected);
            if (!fm_stop_at_switch(s) || !fm_follow_ropes(s, clock[FM_TIME_HEAD], s->head)) return STUCK;
            fm_follow_paths(s, clock[FM_TIME_HEAD], s->head);
            if (clock[FM_TIME_HEAD] >= s->work.step_until) clock[FM_FRESH] = 0.0; /* a path has its next piece */
            return fm_correct_head(s) ? ADVANCED : STUCK;
        }
        clock[FM_STEPS_REJECTED] += 1.0;
        if (least > 0.0 && !(isfinite(error) && h * factor >= least)) return REJECTED;
        fm_rejected(s, scheme->implicit, error, arrival);
        if (fm_drives_block(s, error, arrival) || fm_loops_lock_drives(s, h)) return STUCK;
        const double last = arrival;
        clock[FM_H] = fmax(fm_before_loss(s, s->realised->lost ? h : h * factor), shortest(t));
        arrival = t + clock[FM_H];
        if (!(arrival < last && arrival > t)) return STUCK; /* it cannot be shorter */
    }
}

/* End of the next step: the goal, in equal steps, or as the controller chooses. */
static double next_arrival(fm_instance *s, double goal, double t_end)
{
    const double *clock = s->clock, t = clock[FM_TIME_HEAD], left = goal - t, least = shortest(t);
    /* far ahead, errors would be relative to larger values */
    const double furthest = FM_FURTHER * (t_end - clock[FM_TIME_TAIL]);
    const double wanted = fm_before_loss(s, clock[FM_H]);
    double h = wanted > least ? wanted : least;
    if (!(goal < INFINITY)) return t + (h < furthest ? h : furthest);
    const double steps = ceil(left / h - 1e-9);
    return steps > 1.0 ? t + left / steps : goal;
}

/* Evaluations in steps since the start. */
static double evaluated(const fm_instance *s)
{
    return s->clock[FM_EVALUATIONS] + s->work.evaluations;
}

/* Of a pair of schemes, tries a step of the other one than last, so much longer or shorter that for its cost it must
 * advance further to pass its error test; if it passes, the next steps are the other one's too. At the limit of its
 * stability the explicit one leaves of stiff parts what the implicit one's first steps have to damp: there a promising
 * step suffices, if the next ones grow to that length. */
static advanced try_other(fm_instance *s, const fm_scheme *const *pair, double goal, double t_end)
{
    double *clock = s->clock;
    const int implicit = next_scheme(s)->implicit;
    const double h = clock[FM_H], before = evaluated(s),
                 wanted = h * (implicit ? FM_WORTH_EXPLICIT : FM_WORTH_IMPLICIT);
    clock[FM_H] = wanted;
    const double arrival = next_arrival(s, goal, t_end);
    if (arrival - clock[FM_TIME_HEAD] < FM_FULL_STEP * wanted) {
        clock[FM_H] = h;
        return REJECTED;
    }
    const advanced how = advance(s, arrival, t_end, pair[!implicit], implicit ? wanted : FM_PROMISING * h);
    clock[FM_PAYS] = implicit || how == REJECTED ? 0.0 : wanted;
    clock[FM_PROVED] = 0.0;
    if (how != REJECTED) return how;
    clock[FM_LOST] += evaluated(s) - before;
    clock[FM_H] = h;
    return REJECTED;
}

/* A step of the implicit scheme on probation, which ends when its steps are worth their cost, or, with the explicit
 * one's step again, when they have not become so. */
static advanced prove(fm_instance *s, double goal, double t_end)
{
    double *clock = s->clock;
    const double explicit_step = clock[FM_PAYS] / FM_WORTH_IMPLICIT, before = evaluated(s), t = clock[FM_TIME_HEAD];
    const advanced how = advance(s, next_arrival(s, goal, t_end), t_end, next_scheme(s), 0.0);
    const double instead = FM_EXPLICIT_COST * (clock[FM_TIME_HEAD] - t) / explicit_step;
    clock[FM_LOST] = fmax(clock[FM_LOST] + (evaluated(s) - before) - instead, 0.0);
    clock[FM_PROVED] += 1.0;
    const int worth = clock[FM_H] >= clock[FM_PAYS];
    if (!worth && clock[FM_PROVED] < FM_PROBATION) return how;
    clock[FM_PAYS] = 0.0;
    if (!worth) clock[FM_H] = explicit_step, clock[FM_IMPLICIT] = 0.0;
    return how;
}

/* A step by one of a pair of schemes. The other one is tried as long as that has not cost much, the implicit one where
 * stability limits the steps. */
static advanced step_of_pair(fm_instance *s, const fm_scheme *const *pair, double goal, double t_end)
{
    double *clock = s->clock;
    const int implicit = clock[FM_IMPLICIT] != 0.0;
    advanced how = REJECTED;
    if (clock[FM_PAYS] > 0.0 && implicit) return prove(s, goal, t_end);
    if ((implicit || clock[FM_NEAR] != 0.0) && clock[FM_LOST] <= FM_MOST_LOST * evaluated(s))
        how = try_other(s, pair, goal, t_end);
    if (how == REJECTED) how = advance(s, next_arrival(s, goal, t_end), t_end, next_scheme(s), 0.0);
    clock[FM_NEAR] = clock[FM_IMPLICIT] == 0.0 && s->integrator->stiff > FM_NEAR_UNSTABLE;
    return how;
}

/* One step towards the goal, by the scheme of the options, or by that of a pair which suits. */
static int step_on(fm_instance *s, double goal, double t_end)
{
    const fm_scheme *const *pair = fm_scheme_of(s)->pair;
    if (pair[0] != NULL) return step_of_pair(s, pair, goal, t_end) == ADVANCED;
    return advance(s, next_arrival(s, goal, t_end), t_end, next_scheme(s), 0.0) == ADVANCED;
}

/* The state at t between two of the integrator's. 0: a loop cannot be closed there; the head then falls back to the
 * present. */
static int read_dense(fm_instance *s, double t)
{
    const size_t bytes = (size_t)s->model.ny * sizeof(double);
    memcpy(s->integrator->trial, s->y, bytes);
    fm_dense(s, t, s->y);
    s->work.time = t;
    if (s->image.n.rows == 0 || fm_correct_drift(s, s->y, 0)) return 1;
    memcpy(s->head, s->integrator->trial, bytes);
    s->clock[FM_TIME_HEAD] = s->clock[FM_TIME];
    return 0;
}

/* Whether the first steps covered so little that no number of steps could reach the end: the motion is unbounded. */
static int hopeless(const fm_instance *s, double start, double t_end)
{
    return t_end - s->clock[FM_TIME_HEAD] > FM_HOPELESS * (s->clock[FM_TIME_HEAD] - start);
}

/* Makes the head a place to go on from after a step from it that failed at its end. 0: no modes of force laws are
 * found.
 */
static int return_to_head(fm_instance *s)
{
    const double t = s->clock[FM_TIME_HEAD];
    fm_forget_failures(s);
    if (!fm_choose_law_modes(s, t, s->head)) return 0;
    fm_rates(s, t, s->head, s->slope);
    s->work.time = t;
    return fm_follow_cut_joints(s) < 0;
}

/* After a step that failed at its end: one to t_end, if what failed lies beyond it; halves of it, as long as a joint
 * comes to the limit of its coordinates, until the limit is located. */
static int step_short_of(fm_instance *s, double t_end)
{
    const int beyond = s->clock[FM_TIME_HEAD] > t_end;
    if (beyond) fm_back_to_start(s);
    const double t = s->clock[FM_TIME_HEAD], failed = s->clock[FM_TIME_DENSE] - t, left = t_end - t;
    const double least = fmin(left, fmax(FM_BEFORE_LIMIT * s->clock[FM_LONGEST], shortest(t)));
    double h = left < failed ? left : 0.5 * failed;
    if (beyond || (s->singular->tangent_row >= 0 && s->singular->tangent_time > t_end))
        return return_to_head(s) && advance(s, t_end, t_end, next_scheme(s), 0.0) == ADVANCED;
    for (; s->integrator->lost >= 0 && h >= least; h *= 0.5) {
        if (!return_to_head(s)) return 0;
        const advanced how = advance(s, t + h, t_end, next_scheme(s), 0.0);
        if (how == ADVANCED || s->integrator->lost < 0) return how == ADVANCED;
    }
    return 0;
}

/* Whether a force law or a path went over to its next piece at the head, the end of a step. */
static int is_event(fm_instance *s)
{
    return s->clock[FM_TIME_HEAD] >= fm_begin_smooth(s, s->clock[FM_TIME_TAIL]) || fm_laws_changed(s);
}

/* Shows the host the head. Returns when the present fm_step is to end. */
static double show_head(fm_instance *s, double t_end)
{
    const int event = is_event(s);
    memcpy(s->y, s->head, (size_t)s->model.ny * sizeof(double));
    return fm_show_step_end(s, s->clock[FM_TIME_HEAD], t_end, event);
}

static fm_status controlled_steps(fm_instance *s, double t_end)
{
    double *clock = s->clock;
    const int fresh_start = clock[FM_AHEAD] == 0.0;
    if (fresh_start) {
        memcpy(s->head, s->y, (size_t)s->model.ny * sizeof(double));
        const int begun = fm_laws_begin(s, s->head);
        clock[FM_TIME_HEAD] = clock[FM_TIME_TAIL] = clock[FM_TIME];
        if (!begun) return fm_step_failed_by_law(s, t_end);
        clock[FM_FRESH] = 0.0;
        clock[FM_AHEAD] = 1.0;
    }
    const double start = clock[FM_TIME_HEAD];
    for (long accepted = 0; clock[FM_TIME_HEAD] < t_end; accepted++) {
        if (fm_is_watched(s) && clock[FM_TIME_HEAD] > clock[FM_TIME]) {
            t_end = show_head(s, t_end);
            if (clock[FM_TIME_HEAD] == t_end) break;
        }
        const double stop = fm_begin_smooth(s, clock[FM_TIME_HEAD]), goal = fresh_start && t_end < stop ? t_end : stop;
        if (clock[FM_FRESH] == 0.0) {
            if (fm_any_law_hard(&s->image) && !fm_choose_law_modes(s, clock[FM_TIME_HEAD], s->head))
                return fm_step_failed(s, t_end); /* the next piece of a path may drive on a closed stop */
            fm_rates(s, clock[FM_TIME_HEAD], s->head, s->slope);
            if (!fm_all_finite(s->slope, s->model.ny)) return fm_step_failed(s, t_end);
            fm_note_rate(s, s->head + s->image.n.positions, 0.0);
            clock[FM_FRESH] = 1.0;
        }
        if (!(clock[FM_H] > 0.0)) clock[FM_H] = first_step(s, clock[FM_TIME_HEAD], t_end);
        if (accepted == FM_MOST_ACCEPTED || (accepted == FM_EARLY && hopeless(s, start, t_end)))
            return fm_too_many_steps(s, t_end, accepted);
        if (fm_step_interrupted(s)) {
            fm_fall_back(s);
            return fm_say_interrupted(s, t_end);
        }
        const double before = clock[FM_TIME_HEAD];
        if (!step_on(s, goal, t_end) && !step_short_of(s, t_end)) return fm_step_failed(s, t_end);
        fm_watch_deformation(s, clock[FM_TIME_HEAD], s->head);
        fm_watch_cavitation(s, clock[FM_TIME_HEAD], s->head);
        if (!fm_headway_made(s, before, t_end)) return fm_no_headway(s, t_end);
    }
    if (clock[FM_TIME_HEAD] == t_end) memcpy(s->y, s->head, (size_t)s->model.ny * sizeof(double));
    else if (!read_dense(s, t_end)) return fm_step_failed(s, t_end);
    clock[FM_TIME] = t_end;
    return FM_OK;
}

fm_status fm_integrate(fm_instance *s, double t_end)
{
    s->laws.use = s->law_mode;
    s->work.evaluations = 0.0;
    s->laws.fault = -1;
    fm_forget_failures(s);
    s->integrator->far = s->laws.resolved = 0.0;
    fm_begin_normal_forces(s);
    fm_headway_begin(s);
    const fm_status status = fm_scheme_of(s)->step != NULL ? fm_fixed_steps(s, t_end) : controlled_steps(s, t_end);
    s->laws.use = s->laws.now;
    s->clock[FM_EVALUATIONS] += s->work.evaluations;
    s->valid = FM_VALID_NOTHING;
    fm_end_smooth(s);
    if (s->clock[FM_TAYLOR_ON] != 0.0) {
        s->clock[FM_TAYLOR_ON] = 0.0;
        s->clock[FM_AHEAD] = 0.0;
        memset(s->tau_taylor, 0, (size_t)s->image.n.modes * FM_TAYLOR * sizeof(double));
        memset(s->load_taylor, 0, (size_t)s->image.n.loads * 6 * FM_TAYLOR * sizeof(double));
        memset(s->control_taylor, 0, (size_t)s->image.n.controls * FM_TAYLOR * sizeof(double));
    }
    return status;
}
