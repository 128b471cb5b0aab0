/* integrate.c: Dormand-Prince 5(4) with error control and dense output, and the classical Runge-Kutta 4.
 *
 * The error-controlled integrator may run ahead of the communication point. As long as nothing changes it continues
 * from there and the state is read from the dense output, so that results do not depend on the communication step.
 * After a change it returns to the communication point and takes equal steps to the end of the communication step, so
 * that no work is repeated. J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19; dense output and step size
 * control as in Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.6 and II.4.
 */
#include "integrate.h"

#include "../instance/host.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../tree/positions.h"
#include "../forces/excitation.h"
#include "../forces/laws.h"
#include "../loops/constraints.h"
#include "../loops/loop_rank.h"
#include "../loops/cut_joints.h"
#include "../motion/correct.h"
#include "../motion/sticking.h"
#include "../motion/law_modes.h"
#include "../motion/rates.h"
#include "../motion/singular.h"
#include "../motion/tangent.h"
#include "../assembly/drives.h"
#include "dense.h"
#include "switches.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FM_MOST_ACCEPTED 1000000 /* most integration steps in one fm_step with error control */
#define FM_EARLY 200 /* number of steps after which it is checked that the end can be reached at all: */
#define FM_HOPELESS 1e9 /* not if the rest is longer than this times what was covered */
#define FM_WORK 4e5 /* evaluations, weighted by links and rows, between two questions to the host */
#define FM_EXPLAINED 100.0 /* times the allowed error: the largest change by a correction */
#define FM_LEAP 0.1 /* relative to the largest velocity: the largest change by a correction after a fixed step */
#define FM_AT_ONCE 1e-7 /* [s]: switches of laws that are closer than this are simultaneous */
#define FM_FURTHER 10.0 /* factor by which the integrator may run ahead of what was requested */

static const double A[FM_STAGES][FM_STAGES - 1] = {
    {0.0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
};
static const double C[FM_STAGES] = {0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0};
static const double E[FM_STAGES] = {71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0,
                                    -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};
static const double D[FM_STAGES] = {-12715105075.0 / 11282082432.0, 0.0, 87487479700.0 / 32700410799.0,
                                    -10690763975.0 / 1880347072.0, 701980252875.0 / 199316789632.0,
                                    -1453857185.0 / 822651844.0, 69997945.0 / 29380423.0};

static int all_finite(const double *value, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (!isfinite(value[i])) return 0;
    return 1;
}

/* The allowed error of state variable i of magnitude |y|: relative, and absolute near zero: the tolerance in rad and
 * rad/s, or times the model's length in m and m/s. */
static double weight(const fm_instance *s, int32_t i, double size)
{
    const double least = s->scale[i];
    return s->options[FM_OPTION_TOLERANCE] * (size > least ? size : least);
}

/* y + h sum of coefficient[j] stage[j] */
static void combine(const fm_instance *s, const double *y, double h, const double *coefficient, int stages, double *out)
{
    const int32_t ny = s->model.ny;
    for (int32_t i = 0; i < ny; i++) {
        double sum = 0.0;
        for (int j = 0; j < stages; j++) sum += coefficient[j] * s->work.stage[(size_t)j * (size_t)ny + (size_t)i];
        out[i] = y[i] + h * sum;
    }
}

static double *stage(const fm_instance *s, int j)
{
    return s->work.stage + (size_t)j * (size_t)s->model.ny;
}

/* The fifth root of a positive number by frexp and Newton's method. (pow would require a recent C library.) */
static double fifth_root(double x)
{
    int exponent;
    double part = frexp(x, &exponent), root;
    while (exponent % 5 != 0) {
        part *= 0.5;
        exponent++;
    }
    root = 0.6 + 0.4 * part;
    for (int i = 0; i < 8; i++) root -= (root - part / ((root * root) * (root * root))) / 5.0;
    return ldexp(root, exponent / 5);
}

/* Hairer's initial step size. */
static double first_step(fm_instance *s, double t)
{
    const int32_t ny = s->model.ny;
    double size = 0.0, rate = 0.0, bend = 0.0;
    for (int32_t i = 0; i < ny; i++) {
        double w = weight(s, i, fabs(s->head[i])), a = fabs(s->head[i]) / w, b = fabs(s->slope[i]) / w;
        size = a > size ? a : size;
        rate = b > rate ? b : rate;
    }
    double h = size < 1e-5 || rate < 1e-5 ? 1e-6 : 0.01 * (size / rate);
    for (int32_t i = 0; i < ny; i++) s->work.trial[i] = s->head[i] + h * s->slope[i];
    fm_rates(s, t + h, s->work.trial, stage(s, 1));
    for (int32_t i = 0; i < ny; i++) {
        double b = fabs(stage(s, 1)[i] - s->slope[i]) / weight(s, i, fabs(s->head[i])) / h;
        bend = b > bend ? b : bend;
    }
    double most = rate > bend ? rate : bend;
    double other = most <= 1e-15 || !isfinite(most) ? (h * 1e-3 > 1e-6 ? h * 1e-3 : 1e-6) : fifth_root(0.01 / most);
    return 100.0 * h < other ? 100.0 * h : other;
}

static void keep_dense(fm_instance *s, double h, const double *next)
{
    const int32_t ny = s->model.ny;
    double *r = s->dense;
    for (int32_t i = 0; i < ny; i++) {
        double sum = 0.0, diff = next[i] - s->head[i], bend = h * s->slope[i] - diff;
        for (int j = 0; j < FM_STAGES; j++) sum += D[j] * stage(s, j)[i];
        r[i] = s->head[i];
        r[ny + i] = diff;
        r[2 * ny + i] = bend;
        r[3 * ny + i] = (diff - h * stage(s, 6)[i]) - bend;
        r[4 * ny + i] = h * sum;
    }
}

/* Whether a step that comes near a singular position restarts: there accelerations are those of the nearest state on
 * the branch, and the errors of the stages cancel only if this is so in the whole step. */
static int begins_on_branch(fm_instance *s)
{
    if (!s->loop.near_singular || s->singular.on_branch) return 0;
    s->singular.on_branch = 1;
    return 1;
}

/* One trial step of length h from the head; returns its error, NaN if the state is not finite. */
static double try_step(fm_instance *s, double t, double h)
{
    const int32_t ny = s->model.ny;
    double worst = 0.0;
    memcpy(stage(s, 0), s->slope, (size_t)ny * sizeof(double));
    for (int j = 1; j < FM_STAGES; j++) {
        combine(s, s->head, h, A[j], j, s->work.trial);
        fm_rates(s, t + C[j] * h, s->work.trial, stage(s, j));
        if (begins_on_branch(s)) j = 0;
    }
    s->singular.was_near = s->singular.on_branch, s->singular.on_branch = 0;
    for (int32_t i = 0; i < ny; i++) {
        double sum = 0.0, a = fabs(s->head[i]), b = fabs(s->work.trial[i]);
        for (int j = 0; j < FM_STAGES; j++) sum += E[j] * stage(s, j)[i];
        double error = fabs(h * sum) / weight(s, i, a > b ? a : b);
        worst = error > worst || isnan(error) ? error : worst;
        if (isnan(worst)) return worst;
    }
    return worst;
}

/* Factor for the next step size: proportional-integral control, exponents 3/20 and 1/20. */
static double controlled(double error, double last)
{
    double now = sqrt(sqrt(fifth_root(error))), before = sqrt(sqrt(fifth_root(last)));
    double factor = 0.9 * before / (now * now * now);
    return factor > 10.0 ? 10.0 : factor < 0.2 ? 0.2 : factor;
}

/* Chooses the modes of the force laws at time t and state y. 0: too many interact. */
static int choose_law_modes(fm_instance *s, double t, double *y)
{
    const int moved = fm_laws_choose(s, t, y, 1);
    if (moved > 0) s->clock[FM_FRESH] = 0.0;
    if (moved < 0) s->laws.fault = s->image.n.laws;
    return moved >= 0;
}

/* Counts a law's switch at time t. 0: more than a hundred are simultaneous. */
static int note_switch(fm_instance *s, int32_t law, double t)
{
    double *clock = s->clock;
    clock[FM_FLURRY] = t - clock[FM_SWITCHED] < FM_AT_ONCE ? clock[FM_FLURRY] + 1.0 : 0.0;
    clock[FM_SWITCHED] = t;
    if (clock[FM_FLURRY] < 100.0 + 2.0 * s->image.n.laws) return 1;
    s->laws.fault = law;
    return 0;
}

/* Updates the modes of the force laws after a step. If one switched within it, the head is moved back to that moment;
 * the dense output of the whole step is kept and used up to there. 0: the step fails. */
static int stop_at_switch(fm_instance *s)
{
    double t = s->clock[FM_TIME_HEAD];
    if (s->image.n.laws == 0) return 1;
    memcpy(s->law_last, s->law_mode, 2 * (size_t)s->image.n.laws * sizeof(double));
    const int32_t law = fm_laws_switch(s, &t, s->work.trial);
    if (law >= 0) {
        memcpy(s->head, s->work.trial, (size_t)s->model.ny * sizeof(double));
        s->clock[FM_TIME_HEAD] = t;
        s->clock[FM_FRESH] = 0.0;
        if (!note_switch(s, law, t)) return 0;
    } else if (fm_any_law_sticks(s)) {
        fm_laws_note(s, s->head);
    } else {
        return 1;
    }
    return choose_law_modes(s, t, s->head);
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
static int correct_trial(fm_instance *s, double arrival)
{
    const int32_t ny = s->model.ny;
    if (!is_corrected(s)) return 1;
    memcpy(s->work.step_end, s->work.trial, (size_t)ny * sizeof(double));
    (void)fm_normalise(s, s->work.step_end, NULL);
    fm_follow_paths(s, arrival, s->work.step_end);
    memcpy(s->work.step_corrected, s->work.step_end, (size_t)ny * sizeof(double));
    if (!fm_correct(s, s->work.step_corrected, 1)) return 0;
    for (int32_t i = 0; i < ny; i++) {
        const double at = s->work.step_corrected[i], moved = fabs(at - s->work.step_end[i]);
        if (!(moved <= FM_EXPLAINED * (weight(s, i, fabs(at)) + s->closure[FM_CLOSURE_TOLERANCE] * s->scale[i]))) return 0;
    }
    return 1;
}

/* Whether a correction after a fixed step changes a velocity by more than a fraction of the largest velocity and of the
 * step's own change. */
static int leaps(const fm_instance *s, const double *before, const double *after, double h)
{
    double moved = 0.0, fastest = 0.0;
    if (!is_corrected(s) || !s->loop.worn) return 0; /* branches meet only where pivots are small */
    for (int32_t i = s->image.n.positions; i < s->model.ny; i++) {
        const double size = fmax(fabs(before[i]), fabs(h * stage(s, 0)[i]));
        moved = fmax(moved, fabs(after[i] - before[i]) / s->scale[i]);
        fastest = fmax(fastest, size / s->scale[i]);
    }
    return moved > FM_LEAP * fastest + s->closure[FM_CLOSURE_TOLERANCE];
}

/* Whether a step from y to `end` passed a position where branches of the motion share a tangent. */
static int comes_to_tangent(fm_instance *s, double t, double arrival, const double *y, const double *end)
{
    return (s->singular.was_near || s->loop.near_singular) && fm_passed_tangent(s, t, arrival - t, y, end);
}

/* Projects the new head onto the constraints and adapts the dense output to it. 0: fails. */
static int correct_head(fm_instance *s)
{
    const int32_t ny = s->model.ny;
    const size_t bytes = (size_t)ny * sizeof(double);
    if (!has_cut_joints(s)) return 1;
    const int cut_short = s->clock[FM_TIME_HEAD] < s->clock[FM_TIME_DENSE];
    memcpy(s->work.trial, s->head, bytes);
    if (is_corrected(s) && s->image.n.laws == 0 && memcmp(s->head, s->work.step_end, bytes) == 0) {
        memcpy(s->head, s->work.step_corrected, bytes);
    } else if (!fm_correct(s, s->head, 1)) { /* back to the start of the step */
        memcpy(s->head, s->dense, bytes);
        s->clock[FM_TIME_HEAD] = s->clock[FM_TIME_TAIL];
        return 0;
    }
    s->work.time = s->clock[FM_TIME_HEAD];
    fm_follow_cut_joints(s);
    fm_watch_rows(s, s->head);
    if (comes_to_tangent(s, s->clock[FM_TIME_TAIL], s->clock[FM_TIME_HEAD], s->dense, s->head)) {
        memcpy(s->head, s->dense, bytes);
        s->clock[FM_TIME_HEAD] = s->clock[FM_TIME_TAIL];
        return 0;
    }
    if (memcmp(s->work.trial, s->head, (size_t)ny * sizeof(double)) == 0) return 1;
    for (int32_t i = 0; i < ny && !cut_short; i++) {
        const double moved = s->head[i] - s->work.trial[i]; /* a cubic with zero slope at the start of the step */
        s->dense[ny + i] += moved;
        s->dense[2 * ny + i] -= moved;
    }
    s->clock[FM_FRESH] = 0.0;
    return 1;
}

/* The shortest step that time t can resolve: a few units in its last place. Nothing else limits the step size from
 * below, whatever the communication step; FM_MOST_ACCEPTED limits the number of steps. */
static double shortest(double t)
{
    return 2.0 * DBL_EPSILON * fabs(t);
}

/* The step size after a step of h was rejected with this error at time t. */
static double shortened(double t, double h, double error)
{
    const double factor = isnan(error) || isinf(error) ? 0.2 : 0.9 / fifth_root(error), least = shortest(t);
    h *= factor < 0.2 ? 0.2 : factor;
    return h > least ? h : least;
}

/* The step size after an accepted step of h. If that was cut short, the earlier size is kept, unless the error is
 * large. Round-off in the times does not count as cutting short. */
static double wanted(const fm_instance *s, double h, double grown, double error, int rejected)
{
    const double before = s->clock[FM_H];
    if (rejected) return grown < h ? grown : h;
    return h < (1.0 - 1e-6) * before && grown < before && error <= 0.5 ? before : grown;
}

/* Takes one accepted step from the head to time `arrival`, or less far. Its length is the difference of the rounded
 * times, so that states match their times at late times too. 0: fails. */
static int advance(fm_instance *s, double arrival)
{
    double *clock = s->clock;
    for (int rejected = 0;; rejected = 1) {
        const double t = clock[FM_TIME_HEAD];
        const double h = arrival - t;
        if (!isfinite(arrival)) return 0;
        double error = try_step(s, t, h);
        if (error <= 1.0 && !correct_trial(s, arrival)) error = INFINITY;
        if (error <= 1.0) {
            const double grown = h * controlled(error > 1e-10 ? error : 1e-10, clock[FM_ERROR_LAST]);
            keep_dense(s, h, s->work.trial);
            memcpy(s->head, s->work.trial, (size_t)s->model.ny * sizeof(double));
            memcpy(s->slope, stage(s, 6), (size_t)s->model.ny * sizeof(double));
            (void)fm_normalise(s, s->head, s->slope);
            clock[FM_TIME_TAIL] = t;
            clock[FM_TIME_HEAD] = clock[FM_TIME_DENSE] = arrival;
            clock[FM_ERROR_LAST] = error > 1e-4 ? error : 1e-4;
            clock[FM_H] = wanted(s, h, grown, error, rejected);
            clock[FM_STEPS_DONE] += 1.0;
            if (!stop_at_switch(s)) return 0;
            fm_follow_paths(s, clock[FM_TIME_HEAD], s->head);
            if (clock[FM_TIME_HEAD] >= s->work.step_until) clock[FM_FRESH] = 0.0; /* a path has its next piece */
            return correct_head(s);
        }
        clock[FM_STEPS_REJECTED] += 1.0;
        const double last = arrival;
        clock[FM_H] = shortened(t, h, error);
        arrival = t + clock[FM_H];
        if (!(arrival < last && arrival > t)) return 0; /* it cannot be shorter */
    }
}

/* End of the next step: the goal, in equal steps, or as the controller chooses. */
static double next_arrival(const fm_instance *s, double goal, double t_end)
{
    const double *clock = s->clock, t = clock[FM_TIME_HEAD], left = goal - t, least = shortest(t);
    /* far ahead, errors would be relative to larger values */
    const double furthest = FM_FURTHER * (t_end - clock[FM_TIME_TAIL]);
    double h = clock[FM_H] > least ? clock[FM_H] : least;
    if (!(goal < INFINITY)) return t + (h < furthest ? h : furthest);
    const double steps = ceil(left / h - 1e-9);
    return steps > 1.0 ? t + left / steps : goal;
}

/* The state at t between two of the integrator's. 0: a loop cannot be closed there; the head then falls back to the
 * present. */
static int read_dense(fm_instance *s, double t)
{
    const size_t bytes = (size_t)s->model.ny * sizeof(double);
    memcpy(s->work.trial, s->y, bytes);
    fm_dense(s, t, s->y);
    s->work.time = t;
    if (s->image.n.rows == 0 || fm_correct(s, s->y, 0)) return 1;
    memcpy(s->head, s->work.trial, bytes);
    s->clock[FM_TIME_HEAD] = s->clock[FM_TIME];
    return 0;
}

/* The present state is y, where a law stopped the step. */
static fm_status stopped_by_law(fm_instance *s, double t_end)
{
    const char *what, *name = fm_law_carrier(s, s->laws.fault < s->image.n.laws ? s->laws.fault : 0, &what);
    if (s->laws.fault == s->image.n.laws)
        return fm_say(s, FM_DISCARD,
                      "the step to t = %.9g s failed: at t = %.9g s more than %d force laws jump with a velocity at the same "
                      "time. Give some of them a steep slope there in place of the jump",
                      t_end, s->clock[FM_TIME], FM_STICKING);
    return fm_say(s, FM_DISCARD,
                  "the step to t = %.9g s failed: at t = %.9g s the force law of %s '%s' switches back and forth without "
                  "end. Give it a steep slope in place of the jump",
                  t_end, s->clock[FM_TIME], what, name);
}

/* Makes the integrator's last state the present one. */
static void fall_back(fm_instance *s)
{
    s->clock[FM_TIME] = s->clock[FM_TIME_HEAD];
    memcpy(s->y, s->head, (size_t)s->model.ny * sizeof(double));
    s->clock[FM_AHEAD] = s->clock[FM_H] = 0.0;
}

static fm_status stopped_by_tangent(fm_instance *s, double t_end)
{
    char names[200];
    fm_loop_names(s, s->singular.tangent_row, names, sizeof names);
    return fm_say(s, FM_DISCARD,
                  "the step to t = %.9g s failed: at t = %.9g s the %s reaches a singular position at which branches of its "
                  "motion share a tangent, so that the velocity does not determine how it continues. Hold joint '%s' there "
                  "with a drive or a spring, or change a length so that the branches stay apart",
                  t_end, s->singular.tangent_time, names, s->image.text + s->image.joint_name[s->singular.tangent_joint]);
}

static fm_status stopped(fm_instance *s, double t_end)
{
    fall_back(s);
    char why[300];
    s->valid = FM_VALID_NOTHING;
    if (s->singular.tangent_row >= 0) return stopped_by_tangent(s, t_end);
    if (s->laws.fault >= 0) return stopped_by_law(s, t_end);
    if (fm_name_drives(s, s->y, 0, why, sizeof why))
        return fm_say(s, FM_DISCARD, "the step to t = %.9g s failed at t = %.9g s: %s", t_end, s->clock[FM_TIME], why);
    int32_t joint, row = s->image.n.rows > 0 ? fm_singular_row(s, s->y, &joint) : -1;
    if (row >= 0) {
        char names[200];
        fm_loop_names(s, row, names, sizeof names);
        return fm_say(s, FM_DISCARD,
                      "the step to t = %.9g s failed: at t = %.9g s the %s is at a singular position, from which the motion "
                      "can continue in more than one way, and its velocity does not determine which. Hold joint '%s' there with a "
                      "drive or a spring, or start with a velocity along one of them",
                      t_end, s->clock[FM_TIME], names, s->image.text + s->image.joint_name[joint]);
    }
    return fm_say(s, FM_DISCARD,
                  "the step to t = %.9g s failed: at t = %.9g s the step size became too small. The motion becomes "
                  "singular or unbounded there: check the inputs, stiffnesses and initial speeds",
                  t_end, s->clock[FM_TIME]);
}

static fm_status too_many(fm_instance *s, double t_end, long accepted)
{
    const double h = s->clock[FM_H];
    fall_back(s);
    return fm_say(s, FM_DISCARD,
                  "the step to t = %.9g s failed: %ld integration steps reached only t = %.9g s, the next is of %.3g s. "
                  "Continue from there in shorter communication steps, or soften the fastest motion",
                  t_end, accepted, s->clock[FM_TIME], h);
}

static fm_status no_modes(fm_instance *s, double t_end)
{
    s->laws.fault = s->image.n.laws;
    return stopped_by_law(s, t_end);
}

/* Whether the host wants the step to end. */
static int interrupted(fm_instance *s)
{
    if (s->host.worked < FM_WORK) return 0;
    s->host.worked = 0.0;
    return s->host.wanted != NULL && fm_ask_host(s);
}

static fm_status say_interrupted(fm_instance *s, double t_end)
{
    return fm_say(s, FM_DISCARD, "the step to t = %.9g s was interrupted at t = %.9g s", t_end, s->clock[FM_TIME]);
}

/* Whether the first steps covered so little that no number of steps could reach the end: the motion is unbounded. */
static int hopeless(const fm_instance *s, double start, double t_end)
{
    return t_end - s->clock[FM_TIME_HEAD] > FM_HOPELESS * (s->clock[FM_TIME_HEAD] - start);
}

/* Whether a step failed because of a tangent singularity beyond t_end; steps up to t_end are then possible. */
static int share_tangent_later(fm_instance *s, double t_end)
{
    if (s->singular.tangent_row < 0 || !(s->singular.tangent_time > t_end)) return 0;
    s->singular.tangent_row = -1;
    fm_rates(s, s->clock[FM_TIME_HEAD], s->head, s->slope);
    return 1;
}

static fm_status dormand_prince(fm_instance *s, double t_end)
{
    double *clock = s->clock;
    const int fresh_start = clock[FM_AHEAD] == 0.0;
    if (fresh_start) {
        memcpy(s->head, s->y, (size_t)s->model.ny * sizeof(double));
        const int begun = fm_laws_begin(s, s->head);
        clock[FM_TIME_HEAD] = clock[FM_TIME_TAIL] = clock[FM_TIME];
        if (!begun) return no_modes(s, t_end);
        clock[FM_FRESH] = 0.0;
        clock[FM_AHEAD] = 1.0;
    }
    const double start = clock[FM_TIME_HEAD];
    for (long accepted = 0; clock[FM_TIME_HEAD] < t_end; accepted++) {
        const double stop = fm_begin_smooth(s, clock[FM_TIME_HEAD]), goal = fresh_start && t_end < stop ? t_end : stop;
        if (clock[FM_FRESH] == 0.0) {
            fm_rates(s, clock[FM_TIME_HEAD], s->head, s->slope);
            if (!all_finite(s->slope, s->model.ny)) return stopped(s, t_end);
            clock[FM_FRESH] = 1.0;
        }
        if (!(clock[FM_H] > 0.0)) clock[FM_H] = first_step(s, clock[FM_TIME_HEAD]);
        if (accepted == FM_MOST_ACCEPTED || (accepted == FM_EARLY && hopeless(s, start, t_end)))
            return too_many(s, t_end, accepted);
        if (interrupted(s)) {
            fall_back(s);
            return say_interrupted(s, t_end);
        }
        if (!advance(s, next_arrival(s, goal, t_end)) && !(share_tangent_later(s, t_end) && advance(s, t_end))) return stopped(s, t_end);
    }
    if (clock[FM_TIME_HEAD] == t_end) memcpy(s->y, s->head, (size_t)s->model.ny * sizeof(double));
    else if (!read_dense(s, t_end)) return stopped(s, t_end);
    clock[FM_TIME] = t_end;
    return FM_OK;
}

/* Equal steps from `start` to `goal`, towards t_end. */
static fm_status runge_kutta_to(fm_instance *s, double start, double goal, double t_end)
{
    static const double node[4] = {0.0, 0.5, 0.5, 1.0};
    const int32_t ny = s->model.ny;
    const double span = goal - start;
    double steps = ceil(span / s->options[FM_OPTION_STEP] - 1e-9);
    steps = steps > 1.0 ? steps : 1.0;
    const double h = span / steps;
    for (double n = 0.0; n < steps; n += 1.0) {
        const double t = start + n * h;
        if (interrupted(s)) {
            s->clock[FM_TIME] = t;
            return say_interrupted(s, t_end);
        }
        if (s->image.n.laws > 0) fm_laws_note(s, s->y);
        for (int j = 0; j < 4; j++) {
            const double *slope = stage(s, j > 0 ? j - 1 : 0);
            for (int32_t i = 0; i < ny; i++) s->work.trial[i] = j == 0 ? s->y[i] : s->y[i] + node[j] * h * slope[i];
            fm_rates(s, t + node[j] * h, s->work.trial, stage(s, j));
            if (begins_on_branch(s)) j = -1;
        }
        s->singular.was_near = s->singular.on_branch, s->singular.on_branch = 0;
        for (int32_t i = 0; i < ny; i++) {
            double middle = stage(s, 1)[i] + stage(s, 2)[i];
            s->work.trial[i] = s->y[i] + h / 6.0 * ((stage(s, 0)[i] + stage(s, 3)[i]) + 2.0 * middle);
        }
        if (!all_finite(s->work.trial, ny) || !fm_normalise(s, s->work.trial, NULL)) {
            s->clock[FM_TIME] = t;
            return fm_say(s, FM_DISCARD,
                          "the step to t = %.9g s failed: at t = %.9g s the state is no longer finite. The fixed step "
                          "of %.3g s is too long for this motion: use a smaller solver.step, or solver.scheme 0",
                          t_end, t, h);
        }
        if (has_cut_joints(s)) memcpy(s->head, s->y, (size_t)ny * sizeof(double)); /* to restore after a failure */
        memcpy(s->y, s->work.trial, (size_t)ny * sizeof(double));
        fm_follow_paths(s, t + h, s->y);
        if (has_cut_joints(s)) {
            s->clock[FM_TIME_HEAD] = t;
            if (!fm_correct(s, s->y, 1) || leaps(s, s->work.trial, s->y, h)) return stopped(s, t_end);
            s->work.time = t + h;
            fm_follow_cut_joints(s);
            fm_watch_rows(s, s->y);
            if (comes_to_tangent(s, t, t + h, s->head, s->y)) return stopped(s, t_end);
        }
        s->clock[FM_STEPS_DONE] += 1.0;
        if (s->image.n.laws > 0 && !choose_law_modes(s, t + h, s->y)) {
            s->clock[FM_TIME] = t + h;
            return stopped_by_law(s, t_end);
        }
    }
    return FM_OK;
}

static fm_status runge_kutta(fm_instance *s, double t_end)
{
    if (!fm_laws_begin(s, s->y)) return no_modes(s, t_end);
    for (double t = s->clock[FM_TIME]; t < t_end;) {
        const double stop = fm_begin_smooth(s, t), goal = stop < t_end ? stop : t_end;
        fm_status status = runge_kutta_to(s, t, goal, t_end);
        if (status != FM_OK) return status;
        t = goal;
    }
    memcpy(s->law_last, s->law_mode, 2 * (size_t)s->image.n.laws * sizeof(double));
    s->clock[FM_TIME] = t_end;
    return FM_OK;
}

fm_status fm_integrate(fm_instance *s, double t_end)
{
    s->laws.use = s->law_mode;
    s->laws.fault = s->singular.tangent_row = -1;
    fm_status status = s->options[FM_OPTION_SCHEME] == (double)FM_RUNGE_KUTTA ? runge_kutta(s, t_end) : dormand_prince(s, t_end);
    s->laws.use = s->laws.now;
    s->valid = FM_VALID_NOTHING;
    fm_end_smooth(s);
    if (s->clock[FM_TAYLOR_ON] != 0.0) {
        s->clock[FM_TAYLOR_ON] = 0.0;
        s->clock[FM_AHEAD] = 0.0;
        memset(s->tau_taylor, 0, (size_t)s->image.n.modes * FM_TAYLOR * sizeof(double));
        memset(s->load_taylor, 0, (size_t)s->image.n.loads * 6 * FM_TAYLOR * sizeof(double));
    }
    return status;
}
