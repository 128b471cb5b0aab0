/* correct.c: positions and velocities onto the constraints after a step; a start is assembled in assembly.c.
 *
 * Positions and then velocities are corrected by the smallest change in the mass norm,
 *     dq = -M^-1 J' K^-1 c,   du = -M^-1 J' K^-1 c'.
 */
#include "loops.h"
#include "vectors.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FM_EACH 0.4         /* of the tolerance for each row: a joint's rows together then stay below it */
#define FM_CORRECTIONS 25   /* Newton steps of a correction */
#define FM_LEADS 0.05       /* a correction leads on that leaves less of the violation */
#define FM_COARSE 1e-5      /* FM_DEPENDENT while the loops are open, at most: it grows with the square of the gap */

/* A ball's quaternion after a turn by the vector v, in its own axes. */
void fm_turn_quaternion(const double v[3], double q[4])
{
    double angle = sqrt(dot(v, v)), half = 0.5 * angle;
    double factor = angle > 1e-8 ? sin(half) / angle : 0.5, c = cos(half), x[3], old[4];
    for (int j = 0; j < 3; j++) x[j] = factor * v[j];
    memcpy(old, q, sizeof old);
    q[0] = ((old[0] * c - old[1] * x[0]) - old[2] * x[1]) - old[3] * x[2];
    q[1] = ((old[0] * x[0] + old[1] * c) + old[2] * x[2]) - old[3] * x[1];
    q[2] = ((old[0] * x[1] + old[2] * c) + old[3] * x[0]) - old[1] * x[2];
    q[3] = ((old[0] * x[2] + old[3] * c) + old[1] * x[1]) - old[2] * x[0];
}

/* Moves positions by a change that is of the sort of velocities. */
void fm_move_positions(const fm_instance *s, double *y, const double *change)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind == FM_LINK_GENERAL) {
            const fm_general *g = s->general + k->general;
            double moved[FM_FREEDOMS];
            fm_general_rates(g, change + k->u, moved);
            for (int32_t j = 0; j < g->screws; j++) y[k->p + j] += moved[j];
            continue;
        }
        if (k->kind != FM_LINK_SPHERICAL) {
            for (int32_t j = 0; j < fm_link_positions(&s->image, i); j++) y[k->p + j] += change[k->u + j];
            continue;
        }
        fm_turn_quaternion(change + k->u, y + k->p);
    }
}

static void place_links(fm_instance *s, const double *y)
{
    fm_run_turns(s, y);
    fm_make_world(s, y);
}

/* How far off rows may be by round-off, the links being placed. */
double fm_round_off(const fm_instance *s)
{
    double extent = s->image.length[0];
    if (s->planar) extent = fmax(extent, fm_planar_extent(s));
    for (int32_t i = 0; i < s->image.n.links && !s->planar; i++)
        for (int j = 0; j < 3; j++) extent = fabs(s->world[i].r[j]) > extent ? fabs(s->world[i].r[j]) : extent;
    return 64.0 * DBL_EPSILON * extent;
}

/* Violations of positions below it are none. */
double fm_closed_within(const fm_instance *s)
{
    const double least = fm_round_off(s), wanted = FM_EACH * s->closure[1] * s->image.length[0];
    return wanted > least ? wanted : least;
}

/* Rows that depend on one another only where the loops are closed do so, while they are open, but for the square of
 * the gap. */
double fm_coarse(const fm_instance *s, double gap)
{
    const double part = gap / s->image.length[0], square = part * part;
    return square < FM_DEPENDENT ? FM_DEPENDENT : square < FM_COARSE ? square : FM_COARSE;
}

/* Corrections after a step ------------------------------------------------------------------------------------------- */

/* Places the links at y, of which only velocities are new if `level` is 1. */
void fm_place_loops(fm_instance *s, const double *y, int level)
{
    if (level == 0) fm_run_turns(s, y);
    if (level == 0 && s->planar) s->kernels->plane_place(s, y);
    if (s->planar) s->kernels->plane_world(s, y);
    else fm_make_world(s, y);
}

/* K's factor at y, where the links are placed. 0: it is singular. */
int fm_factor_loops(fm_instance *s, const double *y)
{
    if (s->planar) return s->kernels->plane_factor(s, y);
    memset(s->tau_now, 0, (size_t)s->image.n.speeds * sizeof(double));
    fm_run_sweeps(s, y, s->tau_now, s->loop_change);
    fm_make_rows(s, 0, 0);
    fm_make_K(s);
    return fm_factor_K(s);
}

/* The largest violation at a level, and all in s->loop_c; the links are placed. */
double fm_loop_gap(fm_instance *s, int level)
{
    return s->planar ? s->kernels->plane_violation(s, level) : fm_violation(s, level);
}

/* One change by the factor that is there, against the violations of a level that are in s->loop_c. */
void fm_correct_once(fm_instance *s, double *y, int level)
{
    double *u = y + s->image.n.positions;
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop_rhs[i] = -s->loop_c[3 * i + level];
    fm_solve_K(s, s->loop_rhs, s->lambda);
    if (s->planar) s->kernels->plane_spread(s, s->lambda, s->loop_change);
    else fm_spread(s, s->lambda, s->loop_change);
    if (level == 0) {
        fm_move_positions(s, y, s->loop_change);
        (void)fm_normalise(s, y, NULL);
    } else {
        for (int32_t i = 0; i < s->image.n.speeds; i++) u[i] += s->loop_change[i];
    }
    s->clock[FM_ITERATED] += 1.0;
}

enum { FM_NO_FACTOR, FM_FACTORED, FM_BRIDGED };

/* K's factor at y, where violations of a level are in s->loop_c; or, near a singular position, y on its branch. */
static int factor_or_bridge(fm_instance *s, double *y, int level)
{
    const int fits = fm_factor_loops(s, y);
    if (!s->loop_narrow || s->bridging) return fits ? FM_FACTORED : FM_NO_FACTOR;
    if (fm_bridge_state(s, y)) return FM_BRIDGED;
    fm_place_loops(s, y, 0);
    if (!fm_factor_loops(s, y)) return FM_NO_FACTOR;
    (void)fm_loop_gap(s, level);
    return FM_FACTORED;
}

/* The levels from `level` to `last_level`. K is that of the last evaluation, if `factored`, or of where it was made last, as
 * long as that leads on. `closely`: as far as round-off lets it. */
static int correct_levels(fm_instance *s, double *y, int level, int last_level, int factored, int closely)
{
    double before = INFINITY, enough = 0.0;
    for (int n = 0;; n++) {
        if (level == 0 || n > 0) fm_place_loops(s, y, level);
        const double worst = fm_loop_gap(s, level);
        if (n == 0) enough = fm_closed_within(s) * (level == 0 ? 1.0 : 10.0);
        if (!isfinite(worst)) return 0;
        const int last = n == FM_CORRECTIONS, stuck = worst > 0.5 * before || last;
        if ((worst <= enough && (!closely || stuck || worst == 0.0)) || (stuck && worst < 1e3 * enough)) { /* or round-off */
            if (level == last_level) return 1;
            level = 1, n = -1, before = INFINITY;
            continue;
        }
        if (last) return 0;
        if (!factored || (worst > enough && worst > FM_LEADS * before)) {
            const int found = factor_or_bridge(s, y, level);
            if (found != FM_FACTORED) return found == FM_BRIDGED;
            factored = 1;
        }
        closely = closely || s->loop_worn;
        before = worst;
        fm_correct_once(s, y, level);
        s->clock[FM_CORRECTED] += n == 0 ? 1.0 : 0.0;
    }
}

/* A level of y as near to the constraints as round-off lets it; K's factor is there, and so are links if positions are on
 * them. 0: it does not get there. */
int fm_project(fm_instance *s, double *y, int level)
{
    return correct_levels(s, y, level, level, 1, 1);
}

/* Positions, then velocities, onto the constraints, unless they are kept there otherwise; `near`: the last evaluation was
 * near y. The links are then placed for fm_follow_cuts. 0: they cannot be reached from here. */
int fm_correct(fm_instance *s, double *y, int near)
{
    const int directly = s->closure[0] == (double)FM_CORRECT_DIRECTLY;
    s->valid = FM_VALID_NOTHING;
    if (s->loop.blocks == 0) { /* no joint that is cut forbids anything */
        place_links(s, y);
        return 1;
    }
    if (!directly && s->image.n.cut_positions == 0) return 1;
    if (directly && near && s->loop_narrow && fm_rests_singular(s, y)) return 0;
    if (directly && !(near && s->loop_narrow && fm_bridge_state(s, y))) {
        const int factored = near && !s->loop_narrow;
        s->bridged = 0;
        if (!correct_levels(s, y, 0, 1, factored, near && s->loop_worn)) return 0;
    }
    if (!directly) fm_place_loops(s, y, 0);
    if (s->planar) { /* the next evaluation need not place them, if it is of y */
        memcpy(s->placed, y, (size_t)s->model.ny * sizeof *y);
        s->is_placed = 1;
    }
    return 1;
}

int32_t fm_active_rows(const fm_instance *s)
{
    int32_t count = 0;
    for (int32_t i = 0; i < s->image.n.rows; i++) count += s->row_active[i] > 0.0;
    return count;
}

int32_t fm_mobility(const fm_instance *s)
{
    return s->image.n.speeds - s->image.n.excitations - fm_active_rows(s);
}

int32_t fm_excited(const fm_instance *s)
{
    return s->image.n.excitations;
}

size_t fm_active(const fm_instance *s, int32_t *active, size_t capacity)
{
    const size_t rows = (size_t)s->image.n.rows;
    for (size_t i = 0; i < rows && i < capacity; i++) active[i] = s->row_active[i] > 0.0;
    return rows;
}
