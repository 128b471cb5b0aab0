/* equilibrium.c: a static equilibrium near the present positions.
 *
 * Newton's method, -dF/dq d = F (balance.c), is taken as long as each correction is short and the next one by the same
 * tangent smaller: the natural test of P. Deuflhard, Newton Methods for Nonlinear Problems (2011), section 3.3, which no
 * scaling of the forces or coordinates changes. It then ends near the start. If not, gravity, loads and input forces are
 * applied in steps, each from the equilibrium of the one before. If that fails too, pseudo-transient continuation follows,
 * (mu - dF/dq) d = F: an implicit Euler scheme of dq/dt = F, whose steps lengthen as F falls, and are taken only if the
 * forces do work along them, so that it descends to a stable equilibrium; there Newton's method goes on. At last Newton's
 * steps are shortened until they pass the test, wherever that leads.
 *
 * Where there are point springs or loops, and no more velocity variables than a Krylov space has directions, all of this is
 * tried once more with the matrix (matrix.c), whose factor keeps digits that stiffnesses of many decades take from F.
 *
 * Every loop has a bound, and so has the number of evaluations in all.
 */
#include "equilibrium.h"

#include "../instance/instance.h"
#include "../instance/message.h"
#include "../loops/delassus.h"
#include "../motion/evaluation.h"
#include "../motion/parameters.h"
#include "../outputs/energy.h"
#include "../outputs/start_changes.h"
#include "../time/failures.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "balance.h"
#include "krylov.h"
#include "stability.h"

#include <math.h>
#include <string.h>

#define FM_CLOSE 1e-9         /* [rad], or lengths: the last correction, ... */
#define FM_CLOSER 1e-14       /* ... or that after it: forces of many stiff elements need the digits */
#define FM_LONGEST 0.5        /* [rad], or lengths: largest step of a coordinate */
#define FM_SHORTEST (1.0 / 256.0) /* of a step */
#define FM_NEWTON_STEPS 40
#define FM_LOAD_STEPS 60
#define FM_DESCENTS 400
#define FM_AT_REST 1e-4       /* [rad], or lengths: longest step of a descent that has arrived */
#define FM_MOST_EVALUATIONS 50000.0
#define FM_MOST_TANGENTS 100.0
#define FM_EXACTLY 1e-8       /* relative tolerances of linear systems: for a correction, and for the next one's size */
#define FM_ROUGHLY 1e-3
#define FM_SINGULAR 1e-9      /* a smaller pivot, relative to the largest, is none */
#define FM_UNBALANCED 1e-6    /* [rad], or lengths: what may be left of F in directions without a stiffness */
#define FM_INDIFFERENT 1e-7   /* a smaller eigenvalue of -dF/dq is none: of a squared frequency over gravity over length; ... */
#define FM_WEIGHTLESS 1e-10   /* ... without gravity; */
#define FM_NOISE 1e-11        /* ... or relative to the largest */

typedef enum method { NEWTON, IN_LOAD_STEPS, BY_DESCENT, NEWTON_FROM_AFAR, METHODS } method;

/* Whether the search has to stop. */
static int exhausted(fm_instance *s)
{
    return s->work.evaluations > s->statics.most || fm_step_interrupted(s);
}

/* Methods ---------------------------------------------------------------------------------------------------------- */

/* From statics.now the longest part of statics.change that passes the natural test, to statics.next. 0: none does; `after`: the
 * size of the next correction. */
static int shorten(fm_instance *s, double shortest, double *after)
{
    const int32_t n = s->image.n.speeds;
    const double *d = s->statics.change, before = fm_norm(d, n), longest = fm_largest(d, n);
    for (double part = longest > FM_LONGEST ? FM_LONGEST / longest : 1.0; part >= shortest; part *= 0.5) {
        fm_balance_move(s, s->statics.now, d, part, s->statics.next);
        *after = INFINITY;
        if (fm_balance_close(s, s->statics.next) && fm_balance_at(s, s->statics.next, s->statics.F) &&
            fm_balance_allow(s, s->statics.base, s->statics.F) &&
            fm_krylov(s, 0.0, s->statics.F, FM_ROUGHLY, FM_SINGULAR, s->statics.simplified))
            *after = fm_norm(s->statics.simplified, n);
        if (*after <= (1.0 - 0.25 * part) * before || (longest < FM_CLOSE && isfinite(*after))) return 1;
        if (exhausted(s)) return 0;
    }
    return 0;
}

/* Newton's method from statics.now, with no shorter part of a step than `shortest`. 0: it does not arrive. */
static int newton_by(fm_instance *s, double shortest)
{
    for (int i = 0; i < FM_NEWTON_STEPS && !exhausted(s); i++) {
        double after;
        if (!fm_balance_place(s, s->statics.now)) return 0;
        if (!fm_krylov(s, 0.0, s->statics.F, FM_EXACTLY, FM_SINGULAR, s->statics.change)) return 0;
        const double longest = fm_largest(s->statics.change, s->image.n.speeds), left = s->statics.unsolved;
        if (!shorten(s, shortest, &after)) return 0;
        memcpy(s->statics.now, s->statics.next, (size_t)s->model.ny * sizeof(double));
        if (longest < FM_CLOSE || after < FM_CLOSER) return left <= FM_UNBALANCED;
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

/* Gravity, inputs and loads at a share of what they are. */
static void load(fm_instance *s, double share)
{
    const double *gravity = s->kept + (s->gravity - s->state), *tau = s->kept + (s->tau - s->state);
    const double *loads = s->kept + (s->load - s->state);
    for (int j = 0; j < 3; j++) s->gravity[j] = share * gravity[j];
    for (int32_t u = 0; u < s->image.n.modes; u++) s->tau[u] = share * tau[u];
    for (int32_t i = 0; i < 6 * s->image.n.loads; i++) s->load[i] = share * loads[i];
    fm_derive(s);
}

static int in_load_steps(fm_instance *s)
{
    const size_t bytes = (size_t)s->model.ny * sizeof(double);
    double share = 0.0, step = 0.1;
    load(s, 0.0);
    if (!newton(s)) return 0;
    memcpy(s->statics.loaded, s->statics.now, bytes);
    for (int i = 0; i < FM_LOAD_STEPS && !exhausted(s); i++) {
        const double next = share + step < 1.0 ? share + step : 1.0;
        load(s, next);
        if (newton(s)) {
            memcpy(s->statics.loaded, s->statics.now, bytes);
            share = next, step *= 2.0;
            if (share == 1.0) return 1;
        } else {
            memcpy(s->statics.now, s->statics.loaded, bytes);
            step *= 0.25;
            if (!fm_balance_close(s, s->statics.now)) return 0;
        }
    }
    return 0;
}

/* The work of the forces at y along a displacement, over some positive number. By kinetic energies, of which M makes the
 * product: T(a + d) - T(a - d) = 2 a' M d, where the potential drops out. */
static double work_along(fm_instance *s, const double *y, const double *d)
{
    const int32_t np = s->image.n.positions, nu = s->image.n.speeds;
    double *a = s->statics.rate, energy[2], most = 0.0;
    fm_accelerations(s, s->clock[FM_TIME], y, a);
    for (int32_t u = 0; u < nu; u++) most = fmax(most, fabs(a[u]) / fm_balance_unit(s, u));
    const double far = fm_largest(d, nu), fast = 1.0 / s->statics.time;
    if (!(most > 0.0 && far > 0.0)) return 0.0;
    memcpy(s->y, y, (size_t)s->model.ny * sizeof *y);
    for (int way = 0; way < 2; way++) {
        for (int32_t u = 0; u < nu; u++)
            s->y[np + u] = fast * (a[u] / most + (way == 0 ? d[u] : -d[u]) * fm_balance_unit(s, u) / far);
        for (int32_t i = 0; i < s->image.n.excitations; i++) s->y[np + s->image.excitation_u[i]] = 0.0;
        s->planar.is_placed = 0;
        fm_run_orientations(s, s->y);
        fm_make_world(s, s->y);
        energy[way] = fm_energy(s);
    }
    return (energy[0] - energy[1]) * most;
}

/* One step of the continuation from statics.now, at most as long as allowed. 0: it is not taken. */
static int descend_once(fm_instance *s, double mu, double *longest)
{
    const double *d = s->statics.change;
    if (!fm_krylov(s, mu, s->statics.F, FM_ROUGHLY, 0.0, s->statics.change)) return 0;
    *longest = fm_largest(d, s->image.n.speeds);
    if (!(*longest <= FM_LONGEST)) return 0;
    fm_balance_move(s, s->statics.now, d, 1.0, s->statics.next);
    if (!fm_balance_close(s, s->statics.next)) return 0;
    const double first = work_along(s, s->statics.now, d), last = work_along(s, s->statics.next, d);
    return first > 0.0 && first + last >= 0.0;
}

static int by_descent(fm_instance *s)
{
    const int32_t n = s->image.n.speeds;
    if (!fm_balance_place(s, s->statics.now)) return 0;
    double before = fm_norm(s->statics.F, n), mu = 10.0 * before;
    for (int i = 0; i < FM_DESCENTS && !exhausted(s); i++) {
        double longest;
        if (!descend_once(s, mu, &longest)) {
            mu *= 4.0;
            if (!isfinite(mu) || !fm_balance_close(s, s->statics.now) || !fm_balance_place(s, s->statics.now)) return 0;
            continue;
        }
        memcpy(s->statics.now, s->statics.next, (size_t)s->model.ny * sizeof(double));
        if (longest < FM_AT_REST && mu < 1e-3) return newton_from_afar(s);
        if (!fm_balance_place(s, s->statics.now)) return 0;
        const double after = fm_norm(s->statics.F, n), rate = before > 0.0 ? after / before : 0.0;
        if (s->statics.by_matrix) mu *= longest < 0.5 * FM_LONGEST ? 0.2 : 1.0; /* the tangent is exact: as long as it leads */
        else mu *= rate < 0.2 ? 0.2 : rate > 2.0 ? 2.0 : rate;
        before = after;
    }
    return 0;
}

/* Verdict ---------------------------------------------------------------------------------------------------------- */

/* The motion of the least eigenvalue of -dF/dq at statics.now, in statics.change, by inverse iteration; returns the magnitude
 * of that, NAN if it is not found. */
static double least_stiff(fm_instance *s)
{
    const int32_t n = s->image.n.speeds;
    double *x = s->statics.simplified, *d = s->statics.change, size = NAN;
    if (!fm_balance_place(s, s->statics.now)) return NAN;
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

/* Refuses an indifferent equilibrium; of another one finds whether it is stable. */
static fm_status check_stiffness(fm_instance *s)
{
    char name[120];
    const double *g = s->gravity, weightless = g[0] * g[0] + g[1] * g[1] + g[2] * g[2] > 0.0 ? FM_INDIFFERENT : FM_WEIGHTLESS;
    const double least = least_stiff(s), noise = FM_NOISE * (s->statics.by_matrix ? 0.0 : fabs(s->statics.H[0])), counts = noise > weightless ? noise : weightless;
    s->statics.evaluations = s->work.evaluations;
    if (least > counts) {
        fm_find_departure(s, counts);
        return FM_OK;
    }
    fm_name_moving(s, s->statics.change, name, sizeof name);
    return fm_say(s, FM_ERROR,
                  "the equilibrium is indifferent: no force returns %s, the coordinate that moves most in its free mode. Add a "
                  "spring there, or replace the joint by a Weld", name);
}

/* Why there is no equilibrium: the motion that forces go on driving at the start. */
static fm_status none(fm_instance *s)
{
    const int32_t n = s->image.n.speeds;
    char name[120];
    double *left = s->statics.change, *product = s->statics.simplified;
    if (s->work.evaluations > s->statics.most)
        return fm_say(s, FM_ERROR, "no equilibrium was found near the start in %.0f evaluations. Give a start nearer to it",
                      s->statics.most);
    memset(left, 0, (size_t)n * sizeof *left);
    if (fm_balance_place(s, s->statics.now)) {
        if (fm_krylov(s, 0.0, s->statics.F, FM_EXACTLY, FM_SINGULAR, left) && s->statics.unsolved > FM_UNBALANCED &&
            fm_balance_product(s, 0.0, left, product)) {
            for (int32_t u = 0; u < n; u++) left[u] = s->statics.F[u] - product[u];
        } else memcpy(left, s->statics.F, (size_t)n * sizeof *left);
    }
    fm_name_moving(s, left, name, sizeof name);
    return fm_say(s, FM_ERROR,
                  "there is no equilibrium near the start: forces go on moving %s. Add a spring or a Weld there, or give a start "
                  "nearer to the equilibrium", name);
}

/* Search ------------------------------------------------------------------------------------------------------------ */

/* Back to the start, with all loads. */
static void begin_at_start(fm_instance *s)
{
    const size_t rows = (size_t)s->image.n.rows, cuts = (size_t)s->image.n.cut_positions;
    load(s, 1.0);
    memcpy(s->statics.now, s->statics.start, (size_t)s->model.ny * sizeof(double));
    memcpy(s->cut_p, s->statics.cut_p, cuts * sizeof(double));
    memcpy(s->row_active, s->statics.rows, rows * sizeof(double));
    memcpy(s->row_pivot, s->statics.rows + rows, rows * sizeof(double));
    fm_use_rows(s);
    s->loop.worn = s->loop.near_singular = 0;
}

static void note_start(fm_instance *s)
{
    const size_t rows = (size_t)s->image.n.rows, cuts = (size_t)s->image.n.cut_positions, np = (size_t)s->image.n.positions;
    memcpy(s->statics.start, s->y, np * sizeof(double));
    for (int32_t i = 0; i < s->image.n.frictions; i++) /* no bristle is deflected */
        memset(s->statics.start + s->image.friction_z[i], 0, (size_t)s->image.friction_count[i] * sizeof(double));
    memset(s->statics.start + np, 0, (size_t)s->image.n.speeds * sizeof(double));
    memcpy(s->statics.cut_p, s->cut_p, cuts * sizeof(double));
    memcpy(s->statics.rows, s->row_active, rows * sizeof(double));
    memcpy(s->statics.rows + rows, s->row_pivot, rows * sizeof(double));
}

/* The methods in turn, each from the start, beside `evaluations` more with FM_MOST_TANGENTS matrices. 0: none arrives. */
static int search(fm_instance *s, double evaluations)
{
    static int (*const methods[METHODS])(fm_instance *) = {newton, in_load_steps, by_descent, newton_from_afar};
    const double matrices = s->statics.by_matrix ? FM_MOST_TANGENTS * 2.0 * s->statics.profile.colours : 0.0;
    s->statics.most = s->work.evaluations + evaluations + matrices;
    for (s->statics.method = NEWTON; s->statics.method < METHODS; s->statics.method++) {
        begin_at_start(s);
        if (methods[s->statics.method](s)) return 1;
        if (exhausted(s)) break;
    }
    return 0;
}

/* Moves y, where the loops are closed, to an equilibrium, at rest. The inputs, loads and gravity are those of s->kept. */
fm_status fm_find_equilibrium(fm_instance *s)
{
    if (s->image.n.speeds == 0) return FM_OK;
    note_start(s);
    s->work.evaluations = 0.0;
    fm_balance_begin(s);
    begin_at_start(s);
    s->statics.method = NEWTON;
    const int moves = !fm_balance_place(s, s->statics.now) || fm_balance_seed(s, s->statics.simplified);
    int found = moves && search(s, FM_MOST_EVALUATIONS);
    if (moves && !found && !s->statics.by_matrix && s->statics.profile.n > 0 && !fm_step_interrupted(s)) {
        const int ended = !exhausted(s);
        s->statics.by_matrix = 1;
        found = search(s, 0.0);
        if (!found && ended) s->statics.by_matrix = 0, s->statics.most = INFINITY; /* why is told as without it */
    }
    if (!found) begin_at_start(s);
    const fm_status status = !moves ? FM_OK : found ? check_stiffness(s) : none(s);
    fm_balance_end(s);
    if (!found) s->statics.evaluations = s->work.evaluations;
    memcpy(s->y, s->statics.now, (size_t)s->model.ny * sizeof(double));
    return status;
}
