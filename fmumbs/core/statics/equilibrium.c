/* equilibrium.c: a static equilibrium near the present positions.
 *
 * Newton's method, -dF/dq d = F (balance.c), is taken as long as each correction is short and the next one by the same
 * tangent smaller: the natural test of P. Deuflhard, Newton Methods for Nonlinear Problems (2011), section 3.3, which
 * no scaling of the forces or coordinates changes. It then ends near the start. If not, a descent (descent.c) follows
 * to the bottom of the valley in which the start is, where Newton's method goes on. At last Newton's steps are
 * shortened until they pass the test, wherever that leads.
 *
 * Newton's method may climb: to a ridge, where the equilibrium is unstable, or over it. Then the descent is made as
 * well, and of both equilibria the one nearer to the start is taken. So from near a stable equilibrium that one is
 * found, and from near an unstable one that.
 *
 * Where there are point springs or loops, and no more velocity variables than a Krylov space has directions, all of
 * this is tried once more with the matrix (matrix.c), whose factor keeps digits that stiffnesses of many decades take
 * from F.
 *
 * Whatever ends without an equilibrium, by the number of its steps or of all evaluations too, ends with an error that
 * says so.
 */
#include "equilibrium.h"

#include "../instance/instance.h"
#include "../instance/message.h"
#include "../tree/positions.h"
#include "../loops/delassus.h"
#include "../forces/contact.h"
#include "../forces/inputs.h"
#include "../motion/own_states.h"
#include "../outputs/start_changes.h"
#include "../time/failures.h"
#include "balance.h"
#include "descent.h"
#include "krylov.h"
#include "pose.h"
#include "scratch.h"
#include "stability.h"
#include "stops.h"

#include <math.h>
#include <string.h>

#define FM_CLOSE 1e-9       /* [rad], or lengths: the last correction, ... */
#define FM_CLOSER 1e-14     /* ... or that after it: forces of many stiff elements need the digits */
#define FM_LONGEST_STEP 0.5 /* [rad], or lengths: largest step of a coordinate */
#define FM_SHORTEST (1.0 / 256.0) /* of a step */
#define FM_NEWTON_STEPS 40
/* twice what the longest of random searches takes (tests/core/statics/test_bounds.py) */
#define FM_MOST_EVALUATIONS 20000.0
/* ... and by matrices, with as many evaluations beside each as its corrections and tests take: */
#define FM_MOST_TANGENTS 100.0
#define FM_EVALUATIONS_BESIDE 20.0
#define FM_EXACTLY 1e-8    /* relative tolerances of linear systems: for a correction, and for the next one's size */
#define FM_ROUGHLY 1e-3
#define FM_ZERO_PIVOT 1e-9 /* a smaller pivot, relative to the largest, is none */
#define FM_MOST_UNBALANCED 1e-6 /* [rad], or lengths: what may be left of F in directions without a stiffness */
/* a smaller eigenvalue of -dF/dq is none: of a squared frequency over gravity over length; ... */
#define FM_INDIFFERENT 1e-7
#define FM_WEIGHTLESS 1e-10     /* ... without gravity; */
#define FM_ZERO_STIFFNESS 1e-11 /* ... or relative to the largest */

typedef enum method { NEWTON, BY_DESCENT, NEWTON_FROM_AFAR, METHODS } method;

/* Methods ---------------------------------------------------------------------------------------------------------- */

/* From statics.now the longest part of statics.change that passes the natural test, to statics.next. 0: none does;
 * `after`: the size of the next correction. */
static int shorten(fm_instance *s, double shortest, double *after)
{
    const int32_t n = s->image.n.speeds;
    const double *d = s->statics->change, before = fm_norm(d, n), longest = fm_largest(d, n);
    for (double part = longest > FM_LONGEST_STEP ? FM_LONGEST_STEP / longest : 1.0; part >= shortest; part *= 0.5) {
        fm_balance_move(s, s->statics->now, d, part, s->statics->next);
        *after = INFINITY;
        if (fm_balance_close(s, s->statics->next) && fm_balance_at(s, s->statics->next, s->statics->F) &&
            fm_balance_allow(s, s->statics->base, s->statics->F) &&
            fm_krylov(s, 0.0, s->statics->F, FM_ROUGHLY, FM_ZERO_PIVOT, s->statics->simplified))
            *after = fm_norm(s->statics->simplified, n);
        if (*after <= (1.0 - 0.25 * part) * before || (longest < FM_CLOSE && isfinite(*after))) return 1;
        if (fm_balance_exhausted(s)) return 0;
    }
    return 0;
}

/* Whether something touches at statics.now. */
static int touches(fm_instance *s)
{
    fm_pressed at;
    if (s->image.n.spots == 0 || !fm_balance_place(s, s->statics->now)) return 0;
    for (int32_t i = 0; i < s->image.n.spots; i++)
        if (fm_spot_pressed(s, i, &at)) return 1;
    return 0;
}

/* Newton's method from statics.now, with no shorter part of a step than `shortest`. Of bodies that touch,
 * and may slide aside, corrections need not be small where the forces balance. 0: it does not arrive. */
static int newton_by(fm_instance *s, double shortest)
{
    for (int i = 0; i < FM_NEWTON_STEPS && !fm_balance_exhausted(s); i++) {
        double after;
        if (!fm_balance_place(s, s->statics->now)) return 0;
        if (s->image.n.spots > 0 && fm_norm(s->statics->F, s->image.n.speeds) < FM_CLOSER && touches(s)) return 1;
        if (!fm_krylov(s, 0.0, s->statics->F, FM_EXACTLY, FM_ZERO_PIVOT, s->statics->change)) return 0;
        const double longest = fm_largest(s->statics->change, s->image.n.speeds), left = s->statics->unsolved;
        if (!(fm_krylov_curvature(s, 0.0) > 0.0)) s->statics->climbed = 1;
        if (!shorten(s, shortest, &after)) return 0;
        memcpy(s->statics->now, s->statics->next, (size_t)s->model.ny * sizeof(double));
        if (longest < FM_CLOSE || after < FM_CLOSER) return left <= FM_MOST_UNBALANCED;
    }
    return 0;
}

static int newton(fm_instance *s)
{
    return newton_by(s, 1.0);
}

static int newton_from_afar(fm_instance *s)
{
    return newton_by(s, FM_SHORTEST);
}

static int by_descent(fm_instance *s)
{
    return fm_descend(s) && newton_from_afar(s);
}

/* A method, then Newton's until the forces of stops are found. */
static int arrive(fm_instance *s, int (*by)(fm_instance *))
{
    for (int found = by(s); found; found = newton_from_afar(s)) {
        const double gap = fm_stops_push(s, s->statics->now), before = s->statics->stop_gap;
        if (!(gap > 1.0)) return 1;
        if (gap > FM_STOPS_LEFT * before && !fm_stops_stiffen(s)) return 0;
        s->statics->stop_gap = gap;
    }
    return 0;
}

/* Verdict ---------------------------------------------------------------------------------------------------------- */

/* The motion of the least eigenvalue of -dF/dq at statics.now, in statics.change, by inverse iteration; returns the
 * magnitude of that, NAN if it is not found. */
static double least_stiff(fm_instance *s)
{
    const int32_t n = s->image.n.speeds;
    double *x = s->statics->simplified, *d = s->statics->change, size = NAN;
    if (!fm_balance_place(s, s->statics->now)) return NAN;
    const int moves = fm_balance_seed(s, x);
    if (moves <= 0) return moves < 0 ? NAN : INFINITY;
    for (int i = 0; i < 3; i++) {
        const double before = fm_norm(x, n);
        if (!fm_krylov(s, 0.0, x, FM_ROUGHLY, -1e-14, d)) return NAN;
        size = fm_norm(d, n);
        if (!isfinite(size) || !(size > 0.0)) return NAN;
        for (int32_t u = 0; u < n; u++) x[u] = d[u] / size;
        size = before / size;
    }
    return size;
}

/* Refuses an indifferent equilibrium, but for bodies that touch, which may roll or slide aside; of another one finds
 * whether it is stable. */
static fm_status check_stiffness(fm_instance *s)
{
    char name[120];
    const double *g = s->gravity,
                 weightless = g[0] * g[0] + g[1] * g[1] + g[2] * g[2] > 0.0 ? FM_INDIFFERENT : FM_WEIGHTLESS;
    const double least = least_stiff(s),
                 noise = FM_ZERO_STIFFNESS * (s->statics->by_matrix ? 0.0 : fabs(s->statics->H[0])),
                 counts = noise > weightless ? noise : weightless;
    s->statics->evaluations = s->work.evaluations;
    if (least > counts || touches(s)) {
        fm_find_departure(s, counts);
        return FM_OK;
    }
    fm_name_moving(s, s->statics->change, name, sizeof name);
    return fm_say(
        s, FM_ERROR,
        "the equilibrium is indifferent: no force returns %s, the coordinate that moves most in its free mode. Add a "
        "spring there, or replace the joint by a Weld",
        name);
}

/* Whether forces at the start act along motions that nothing returns: those in statics.change; else all forces there.
 */
static int is_driven(fm_instance *s)
{
    const int32_t n = s->image.n.speeds;
    double *left = s->statics->change, *product = s->statics->simplified;
    memset(left, 0, (size_t)n * sizeof *left);
    if (!fm_balance_place(s, s->statics->now)) return 0;
    if (fm_krylov(s, 0.0, s->statics->F, FM_EXACTLY, FM_ZERO_PIVOT, left) &&
        s->statics->unsolved > FM_MOST_UNBALANCED && fm_balance_product(s, 0.0, left, product)) {
        for (int32_t u = 0; u < n; u++) left[u] = s->statics->F[u] - product[u];
        return 1;
    }
    memcpy(left, s->statics->F, (size_t)n * sizeof *left);
    return 0;
}

/* Why there is no equilibrium, or that none was found. */
static fm_status none(fm_instance *s)
{
    char name[120];
    const double taken = s->work.evaluations;
    if (s->host.stopped)
        return fm_say(s, FM_ERROR, "the search for an equilibrium was interrupted after %.0f evaluations", taken);
    const int driven = is_driven(s);
    fm_name_moving(s, s->statics->change, name, sizeof name);
    if (driven)
        return fm_say(
            s, FM_ERROR,
            "there is no equilibrium near the start: forces go on moving %s. Add a spring or a Weld there, or give a "
            "start nearer to the equilibrium",
            name);
    return fm_say(
        s, FM_ERROR,
        "no equilibrium was found near the start in %.0f evaluations: forces go on moving %s. Give a start nearer to "
        "it, or add a spring or a Weld there",
        taken, name);
}

/* Search ------------------------------------------------------------------------------------------------------------
 */

/* Back to the start. */
static void begin_at_start(fm_instance *s)
{
    const size_t rows = (size_t)s->image.n.rows, cuts = (size_t)s->image.n.cut_positions;
    s->statics->climbed = 0;
    fm_stops_begin(s);
    memcpy(s->statics->now, s->statics->start, (size_t)s->model.ny * sizeof(double));
    memcpy(s->cut_p, s->statics->cut_p, cuts * sizeof(double));
    memcpy(s->via_angle, s->statics->via_angle, (size_t)s->image.n.vias * sizeof(double));
    memcpy(s->row_active, s->statics->rows, rows * sizeof(double));
    memcpy(s->row_pivot, s->statics->rows + rows, rows * sizeof(double));
    fm_use_rows(s);
    s->loop.worn = s->loop.near_singular = 0;
}

static void note_start(fm_instance *s)
{
    const size_t rows = (size_t)s->image.n.rows, cuts = (size_t)s->image.n.cut_positions;
    fm_stop(s, s->y, s->statics->start);
    for (int32_t i = 0; i < s->image.n.bristles; i++)
        if (s->image.bristle_friction[i] >= 0) s->statics->start[s->model.bristles + i] = 0.0;
    fm_controls_at(s, s->clock[FM_TIME]);
    fm_own_settle(s, s->statics->start);
    fm_balance_trap(s, s->statics->start, 0);
    memcpy(s->statics->cut_p, s->cut_p, cuts * sizeof(double));
    memcpy(s->statics->via_angle, s->via_angle, (size_t)s->image.n.vias * sizeof(double));
    memcpy(s->statics->rows, s->row_active, rows * sizeof(double));
    memcpy(s->statics->rows + rows, s->row_pivot, rows * sizeof(double));
}

/* The methods in turn, each from the start. 0: none arrives. */
static int search(fm_instance *s)
{
    static int (*const methods[METHODS])(fm_instance *) = {newton, by_descent, newton_from_afar};
    const double matrices = FM_MOST_TANGENTS * (2.0 * s->statics->profile.colours + FM_EVALUATIONS_BESIDE);
    s->statics->most = s->work.evaluations + (s->statics->by_matrix ? matrices : FM_MOST_EVALUATIONS);
    for (s->statics->method = NEWTON; s->statics->method < METHODS; s->statics->method++) {
        begin_at_start(s);
        if (arrive(s, methods[s->statics->method])) return 1;
        if (fm_balance_exhausted(s)) break;
    }
    return 0;
}

/* How far statics.now is from the start: the norm over all positions, angles in radians, translations in lengths. */
static double distance(const fm_instance *s)
{
    double sum = 0.0;
    for (int32_t i = 0; i < s->image.n.positions; i++) {
        const double off = (s->statics->now[i] - s->statics->start[i]) / s->scale[i];
        sum += off * off;
    }
    return sqrt(sum);
}

/* Where Newton's method went up, along a motion that departs, to an unstable equilibrium or to one beyond a ridge: the
 * one in which the descent from the start ends, if that is nearer. */
static fm_status prefer_nearer(fm_instance *s)
{
    const double far = distance(s), growth = s->statics->growth, taken = s->statics->evaluations;
    s->statics->method = BY_DESCENT;
    begin_at_start(s);
    if (arrive(s, by_descent) && distance(s) < far && check_stiffness(s) == FM_OK) return FM_OK;
    s->statics->method = NEWTON;
    s->statics->growth = growth;
    s->statics->evaluations = taken;
    s->statics->most = INFINITY; /* it arrived before */
    begin_at_start(s);
    return arrive(s, newton) ? FM_OK : none(s);
}

/* Moves y, where the loops are closed, to an equilibrium, at rest. The inputs, loads and gravity are those of s->kept.
 */
fm_status fm_find_equilibrium(fm_instance *s)
{
    if (s->image.n.speeds == 0) return FM_OK;
    fm_pose_begin(s, s->y);
    note_start(s);
    s->work.evaluations = 0.0;
    fm_balance_begin(s);
    begin_at_start(s);
    s->statics->method = NEWTON;
    const int moves = !fm_balance_place(s, s->statics->now) || fm_balance_seed(s, s->statics->simplified);
    int found = moves && search(s);
    if (moves && !found && !s->statics->by_matrix && s->statics->profile.n > 0 && !fm_step_interrupted(s)) {
        s->statics->by_matrix = 1;
        found = search(s);
        if (!found) s->statics->by_matrix = 0; /* why is told as without it */
    }
    if (!found) begin_at_start(s);
    fm_status status = !moves ? FM_OK : found ? check_stiffness(s) : none(s);
    if (found && status == FM_OK && s->statics->method == NEWTON && s->statics->climbed) status = prefer_nearer(s);
    if (status == FM_OK) fm_note_locks(s, s->statics->now);
    fm_balance_trap(s, s->statics->now, 1);
    fm_balance_end(s);
    fm_pose_end(s);
    if (!found) s->statics->evaluations = s->work.evaluations;
    memcpy(s->y, s->statics->now, (size_t)s->model.ny * sizeof(double));
    return status;
}
