/* projection.c: projects positions and velocities onto the constraints by the smallest change in the mass norm,
 *     dq = -M^-1 J' K^-1 c,   du = -M^-1 J' K^-1 c'.
 */
#include "projection.h"

#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../tree/positions.h"
#include "../tree/rate.h"
#include "../tree/reversed.h"
#include "constraints.h"
#include "delassus.h"
#include "multipliers.h"
#include "planar_loops.h"
#include "reduced.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FM_ROW_SHARE 0.4 /* fraction of the tolerance for each row, so that a joint's rows together stay below it */
#define FM_LEADS 0.05 /* a correction is efficient if it leaves less than this fraction of the violation */
/* velocities below are zero: violations by their round-off are subnormal */
#define FM_NO_DIGITS (DBL_MIN / DBL_EPSILON)
#define FM_COARSE 1e-5 /* largest FM_DEPENDENT while the loops are open: it increases with the squared gap */

/* How far the mechanism reaches from the world's origin, in its lengths, at least one. Requires placed links. */
double fm_extent(const fm_instance *s)
{
    double extent = s->image.length[0];
    if (s->planar.used) extent = fmax(extent, fm_planar_extent(s));
    for (int32_t i = 0; i < s->image.n.links && !s->planar.used; i++)
        for (int j = 0; j < 3 && !fm_is_rate_target(s, i); j++) extent = fmax(extent, fabs(s->world[i].r[j]));
    return extent / s->image.length[0];
}

/* Round-off in violations of positions, of 1 rad or the model's length. Requires placed links. */
double fm_round_off(const fm_instance *s)
{
    return 64.0 * DBL_EPSILON * fm_extent(s);
}

/* The violation of positions below which loops are closed, of 1 rad or the model's length. */
double fm_closed_within(const fm_instance *s)
{
    const double least = fm_round_off(s), wanted = FM_ROW_SHARE * s->closure[FM_CLOSURE_TOLERANCE];
    return wanted > least ? wanted : least;
}

/* Round-off in violations of a loop of many joints: each adds that of its origin. */
double fm_longest_round_off(const fm_instance *s)
{
    int32_t joints = 16; /* that fm_round_off counts */
    for (int32_t b = 0; b < s->plan.blocks; b++)
        joints = s->plan.block[b].length > joints ? s->plan.block[b].length : joints;
    return fm_round_off(s) * joints / 16.0;
}

/* The violation that corrections of velocities of this rate may leave: ten times the one of positions, since rows that
 * are redundant with the loops closed vanish only so far. */
double fm_velocities_within(const fm_instance *s, double rate)
{
    return 10.0 * fmax(fm_closed_within(s), fm_longest_round_off(s)) * rate + FM_NO_DIGITS;
}

/* The pivot below which rows count as dependent while the loops are open: rows that are dependent only with the loops
 * closed then have pivots of the order of the squared gap. */
double fm_coarse(double gap)
{
    const double square = gap * gap;
    return square < FM_DEPENDENT ? FM_DEPENDENT : square < FM_COARSE ? square : FM_COARSE;
}

/* Places the links at y; with `level` 1 only velocities have changed. In space as well, if coordinates of cut joints
 * that have no rows in the plane follow from that. */
void fm_place_loops(fm_instance *s, const double *y, int level)
{
    if (level == 0) fm_run_orientations(s, y);
    else fm_run_speeds(s, y);
    if (level == 0 && s->planar.used) s->kernels->plane_place(s, y);
    if (s->planar.used) s->kernels->plane_world(s, y);
    if (!s->planar.used || s->planar.free_cuts > 0) fm_make_world(s, y);
}

static int factor(fm_instance *s, const double *y)
{
    if (s->planar.used) return s->kernels->plane_factor(s, y);
    if (s->reduced.used) return fm_reduced_factor(s, y);
    memset(s->work.tau, 0, (size_t)s->image.n.speeds * sizeof(double));
    fm_run_sweeps(s, y, s->work.tau, s->loop.change);
    fm_make_rows(s, 0, 0);
    fm_make_delassus(s);
    return fm_factor_delassus(s);
}

/* Factors K at y. Requires placed links. 0: it is singular. */
int fm_factor_loops(fm_instance *s, const double *y)
{
    return s->loop.factored = factor(s, y);
}

/* The pivots of the rows at y alone, where these come without the rest of the factor. */
int fm_loop_pivots(fm_instance *s, const double *y)
{
    return s->reduced.used ? fm_reduced_rows(s, 0) : fm_factor_loops(s, y);
}

/* The largest violation of a level, in rad or model's lengths; all of them, in the rows' units, in s->loop.c. Requires
 * placed links. */
double fm_loop_gap(fm_instance *s, int level)
{
    return s->planar.used ? s->kernels->plane_violation(s, level) : fm_violation(s, level);
}

/* The smallest change in the mass norm that changes the rows by loop.rhs, in loop.change. Requires the factor. */
void fm_smallest_change(fm_instance *s)
{
    if (s->reduced.used) {
        fm_reduced_change(s, s->loop.change);
        return;
    }
    fm_solve_delassus(s, s->loop.rhs, s->loop.lambda);
    if (s->planar.used) s->kernels->plane_multiplier_response(s, s->loop.lambda, s->loop.change);
    else fm_multiplier_response(s, s->loop.lambda, s->loop.change);
}

/* One correction by the present factor, for the violations of a level in s->loop.c. */
void fm_correct_once(fm_instance *s, double *y, int level)
{
    double *u = y + s->image.n.positions;
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.rhs[i] = -s->loop.c[3 * i + level];
    fm_smallest_change(s);
    if (level == 0) {
        fm_move_positions(s, y, s->loop.change);
        (void)fm_normalise(s, y, NULL);
    } else {
        for (int32_t i = 0; i < s->image.n.speeds; i++) u[i] += s->loop.change[i];
    }
    s->clock[FM_ITERATED] += 1.0;
}

int32_t fm_active_rows(const fm_instance *s)
{
    int32_t count = 0;
    for (int32_t i = 0; i < s->image.n.rows; i++) count += s->row_active[i] > 0.0;
    return count;
}

/* Corrects the levels from `level` to `last_level`. K is that of the last evaluation, if `factored`, or of the last
 * factorisation, as long as that is efficient. `closely`: down to round-off, where a correction no longer halves the
 * violation, as near singular positions, where a small violation is a large change of the motion; a correction that
 * adds to a violation that was small enough is undone. Velocities count beside the largest that came, since those of a
 * mechanism that its loops lock are what is left of round-off. Where no velocities fit positions that were corrected
 * less closely, these are corrected closely, once. 0: more is left than round-off and redundant rows explain. Requires
 * placed links. */
int fm_correct_levels(fm_instance *s, double *y, int level, int last_level, int factored, int closely,
                      fm_factoring factoring)
{
    const int first = level;
    const double *u = y + s->image.n.positions;
    double before = INFINITY, closed = 0.0, enough = 0.0, rate = 0.0;
    int again = 0, moved = 1; /* positions, since `closed` was computed */
    for (int n = 0;; n++) {
        if (n > 0) fm_place_loops(s, y, level);
        moved = moved || (n > 0 && level == 0);
        double worst = fm_loop_gap(s, level);
        if (before <= enough && worst > before) {
            memcpy(y, s->loop.better, (size_t)s->model.ny * sizeof *y);
            fm_place_loops(s, y, level);
            worst = before;
        }
        if (level == 1) rate = fmax(rate, fm_rate_of(s, u));
        if (n == 0 || level == 1) {
            if (moved) closed = fm_closed_within(s), moved = 0;
            enough = closed * (level == 0 ? 1.0 : rate);
        }
        if (!isfinite(worst)) return 0;
        const int last = n == FM_MOST_CORRECTIONS, stuck = worst > 0.5 * before || last;
        const double rest = !stuck || worst <= enough ? enough
                            : level == 0              ? fm_longest_round_off(s)
                                                      : fm_velocities_within(s, rate);
        if (worst <= rest && (!closely || stuck || worst == 0.0)) {
            if (level == last_level) return 1;
            level = 1, n = -1, before = INFINITY;
            continue;
        }
        if (stuck && level > first && !again) {
            again = closely = 1;
            level = first, n = -1, before = INFINITY;
            continue;
        }
        if (last) return 0;
        if (!factored || (worst > enough && worst > FM_LEADS * before)) {
            const int found = factoring(s, y, level);
            if (found != FM_FACTORED) return found == FM_INTERPOLATED;
            factored = 1;
        }
        closely = closely || s->loop.near_singular;
        before = worst;
        if (worst <= enough) memcpy(s->loop.better, y, (size_t)s->model.ny * sizeof *y);
        fm_correct_once(s, y, level);
        s->clock[FM_CORRECTED] += n == 0 ? 1.0 : 0.0;
    }
}

static int factor_only(fm_instance *s, double *y, int level)
{
    (void)level;
    return fm_factor_loops(s, y) ? FM_FACTORED : FM_NO_FACTOR;
}

/* Projects a level of y down to round-off. Requires K's factor and placed links. 0: fails. */
int fm_project(fm_instance *s, double *y, int level)
{
    return fm_correct_levels(s, y, level, level, 1, 1, factor_only);
}
