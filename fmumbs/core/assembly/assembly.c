/* assembly.c: closes the loops, possibly from distant guesses, by the smallest change in a kinematic norm.
 *
 * With J the constraint Jacobian and W the diagonal matrix of squared units (1 rad or the model's length; zero for a
 * held coordinate),
 *     dq = -W J' K^-1 c,   du = -W J' K^-1 c',   K = J W J'.
 * K has the blocks of the Delassus matrix, so delassus.c factors it and loop_rank.c chooses rows. A held coordinate of
 * a cut joint is one more row. held_values.c decides which coordinates are held.
 */
#include "assembly.h"

#include "../maths/trigonometry.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../tree/positions.h"
#include "../tree/rate.h"
#include "../tree/reversed.h"
#include "../loops/constraints.h"
#include "../loops/jacobian.h"
#include "../loops/loop_rank.h"
#include "../loops/delassus.h"
#include "../loops/projection.h"
#include "../loops/cut_joints.h"
#include "../loops/velocity_rows.h"
#include "../motion/crossings.h"
#include "scratch.h"
#include "units.h"

#include <math.h>
#include <string.h>

/* Most Newton steps from a guess. Each reduces the sum of squares, so they would end by themselves, but perhaps after
 * millions. Of 18000 closings of drawn mechanisms that succeeded 12 took more than 50 steps, the longest 361; what ends
 * here has not converged, and the loops are closed from elsewhere (restarts.c) or the gap is named. */
#define FM_CLOSINGS 400
#define FM_BRIEF 12 /* steps in which a brief attempt must halve the sum of squares */
#define FM_LEAST_DECREASE 1e-5 /* fraction by which a step must reduce the sum of squares */
#define FM_SOFT 1e-6 /* smallest and largest regularisation */
#define FM_SOFTEST 1e3
#define FM_LARGEST_TURN 0.5 /* [rad]: largest rotation in a step */
/* distance [rad], or relative to the model's length, at which the rank nearby is determined */
#define FM_RANK_NEARBY 0.03
#define FM_PIVOTS_NEARBY 0.3 /* and at which pivots are, if they differ by FM_UNEVEN there */
#define FM_UNEVEN 1.5
#define FM_ON_BRANCH 1e-6 /* a start closer to a branch (in states, or relative to the largest velocity) is on it */

/* Rows ---------------------------------------------------------------------------------------------------------- */

static int32_t variable_of(const fm_image *m, int32_t row)
{
    return m->joint_u[m->row_joint[row]] + m->row_part[row];
}

/* Whether a row applies: a prescribed start value only while its coordinate is held, a program's not while the
 * mechanism starts off its path. */
int fm_row_counts(const fm_instance *s, int32_t row)
{
    const int32_t mode = s->image.row_excitation[row];
    if (s->loop.placing && fm_is_rate_row(&s->image, row)) return 0;
    if (s->assembly->released && mode >= 0 &&
        (s->assembly->released == FM_RELEASE_ALL || s->image.excitation_transition[mode] > 0.0))
        return 0;
    if (s->image.row_kind[row] == FM_ROW_GIVEN) return s->assembly->hold[variable_of(&s->image, row)] > 0;
    return !fm_row_rests(s, row);
}

static void row_at(fm_instance *s, int32_t i, fm_ends *ends, fm_constraint *out)
{
    if (s->image.row_kind[i] != FM_ROW_GIVEN) {
        fm_constraint_at(s, i, 0, ends, out);
        return;
    }
    fm_cut_joint_row(s, s->image.row_joint[i], s->image.row_part[i], out);
    out->c[1] -= s->image.cut_start_u[variable_of(&s->image, i) - s->image.n.speeds];
    if (!fm_row_counts(s, i)) out->c[0] = out->c[1] = 0.0;
}

/* The largest violation of positions (level 0) or velocities (1), in rad or model's lengths; `merit`: half the sum of
 * squares. Requires world kinematics. */
static double violation(fm_instance *s, int level, double *merit)
{
    double worst = 0.0;
    fm_ends ends = {.joint = -1};
    *merit = 0.0;
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        fm_constraint one;
        if (!fm_row_counts(s, i)) continue;
        row_at(s, i, &ends, &one);
        const double off = fabs(one.c[level]) / fm_row_unit(s, i, &one);
        worst = off > worst || isnan(off) ? off : worst;
        *merit += 0.5 * off * off;
    }
    return worst;
}

/* Computes world kinematics at y. */
void fm_assembly_place(fm_instance *s, const double *y)
{
    fm_run_orientations(s, y);
    fm_make_world(s, y);
}

/* Computes J, and the upper bound of each row's contribution to K. Requires world kinematics. */
void fm_assembly_rows(fm_instance *s)
{
    fm_ends ends = {.joint = -1};
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        const fm_block *k = s->plan.block + b;
        const int32_t *path = s->plan.path + k->path;
        for (int32_t r = 0; r < k->rows; r++) {
            const int32_t i = k->first + r;
            const size_t at = k->y + (size_t)r * (size_t)k->length;
            fm_constraint one;
            row_at(s, i, &ends, &one);
            memcpy(s->loop.c + 3 * i, one.c, sizeof one.c);
            s->assembly->unit[i] = fm_row_unit(s, i, &one);
            s->assembly->bound[i] = fm_row_along(s, i, &one, s->loop.row, s->loop.weight);
            if (s->image.row_kind[i] != FM_ROW_COUPLED) fm_from_links(s, s->loop.row);
            for (int32_t e = 0; e < k->length; e++) {
                s->loop.y[at + (size_t)e] = s->loop.row[path[e]];
                s->loop.row[path[e]] = 0.0;
            }
        }
    }
}

/* Applies the weights for the held coordinates; all rows that apply become active. */
static void weigh_rows(fm_instance *s)
{
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        fm_block *k = s->plan.block + b;
        const int32_t *path = s->plan.path + k->path;
        for (int32_t r = 0; r < k->rows; r++) {
            const size_t at = k->y + (size_t)r * (size_t)k->length;
            s->loop.bound[k->first + r] = fm_row_counts(s, k->first + r) ? s->assembly->bound[k->first + r] : 0.0;
            for (int32_t e = 0; e < k->length; e++)
                s->loop.z[at + (size_t)e] =
                    s->assembly->hold[path[e]] > 0 ? 0.0 : s->loop.weight[path[e]] * s->loop.y[at + (size_t)e];
        }
        k->used = k->rows;
        for (int32_t r = 0; r < k->rows; r++) k->use[r] = r;
    }
}

/* The number of independent rows with the held coordinates. Requires fm_assembly_rows. */
int32_t fm_assembly_rank(fm_instance *s, double least)
{
    weigh_rows(s);
    fm_choose_rows(s, least);
    return fm_active_rows(s);
}

static double square_unit(const fm_instance *s, int32_t row)
{
    return s->assembly->unit[row] * s->assembly->unit[row];
}

/* Makes all rows active and adds `part` times the largest bound to the diagonal of K, both for rows in 1 rad or the
 * model's length, so that the change is a descent direction. */
static void soften(fm_instance *s, double part)
{
    const int32_t n = s->image.n.rows;
    double most = 0.0;
    for (int32_t i = 0; i < n; i++) most = fmax(most, s->loop.bound[i] / square_unit(s, i));
    for (int32_t i = 0; i < n; i++) s->row_active[i] = s->loop.bound[i] > 0.0 ? 1.0 : 0.0;
    fm_use_rows(s);
    fm_make_delassus(s);
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        const fm_block *k = s->plan.block + b;
        for (int32_t q = 0; q < k->used; q++) {
            const int32_t i = k->first + k->use[q];
            const double more = part * most * square_unit(s, i);
            s->loop.L[k->L + (size_t)(q * (k->used + 1))] += more;
            s->loop.diagonal[i] += more;
        }
    }
}

/* The smallest change of positions (level 0) or velocities (1) that satisfies the rows, in loop.change; with rows whose
 * pivots exceed `least`, or, if `soft` > 0, with all rows, regularised. 0: K is singular. */
static int make_change(fm_instance *s, int level, double least, double soft)
{
    fm_assembly_rows(s);
    weigh_rows(s);
    if (soft > 0.0) soften(s, soft);
    else fm_choose_rows(s, least);
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.rhs[i] = -s->loop.c[3 * i + level];
    if (!fm_factor_delassus(s)) return 0;
    fm_solve_delassus(s, s->loop.rhs, s->loop.lambda);
    memset(s->loop.change, 0, (size_t)fm_placed(s) * sizeof *s->loop.change);
    for (int32_t b = 0; b < s->plan.blocks; b++)
        for (int32_t q = 0; q < s->plan.block[b].used; q++) {
            const int32_t r = s->plan.block[b].use[q];
            fm_add_response(s, s->plan.block + b, r, s->loop.lambda[s->plan.block[b].first + r]);
        }
    s->clock[FM_ITERATED] += 1.0;
    return 1;
}

/* Positions ------------------------------------------------------------------------------------------------------- */

/* Whether a row's violation is a length. */
static int is_length(const fm_image *m, int32_t row)
{
    switch (m->row_kind[row]) {
    case FM_ROW_ALONG:
    case FM_ROW_ALONG_M:
    case FM_ROW_DISTANCE:
    case FM_ROW_SCREW: return 1;
    case FM_ROW_GIVEN: return m->mode_linear[variable_of(m, row)];
    case FM_ROW_COUPLED: return m->mode_linear[m->link_u[m->term_link[m->coupling_first[m->row_coupling[row]]]]];
    default: return 0;
    }
}

static int slides(const fm_instance *s, int32_t x)
{
    if (x < s->image.n.modes) return s->image.mode_linear[x];
    const fm_general *g = s->general + s->link[s->assembly->link[x]].nth;
    int32_t k = 0;
    while (fm_screw_variable(&s->image, g->link, g->place[k]) != x) k++;
    return s->image.screw_pitch[g->first + k] == 0.0;
}

/* Limits the step to half a radian, and to the model's length or the largest gap, if that is more: a joint may slide
 * many times as far as bodies are large. Requires the violations of make_change. */
static void shorten(fm_instance *s)
{
    double most = 1.0, farthest = s->image.length[0];
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (fm_row_counts(s, i) && is_length(&s->image, i)) farthest = fmax(farthest, fabs(s->loop.c[3 * i]));
    for (int32_t x = 0; x < fm_placed(s); x++) {
        const double part = fabs(s->loop.change[x]) / (slides(s, x) ? farthest : FM_LARGEST_TURN);
        most = part > most ? part : most;
    }
    for (int32_t x = 0; x < fm_placed(s); x++) s->loop.change[x] /= most;
}

/* Applies the change. 0: the violation does not decrease enough, y is restored. */
static int try_change(fm_instance *s, double *y, double before)
{
    double *kept = s->work.probe, merit;
    const size_t size = (size_t)s->image.n.positions * sizeof *kept;
    memcpy(kept, y, size);
    fm_move_positions(s, y, s->loop.change);
    (void)fm_normalise(s, y, NULL);
    fm_assembly_place(s, y);
    (void)violation(s, 0, &merit);
    if (merit < (1.0 - FM_LEAST_DECREASE) * before) return 1;
    memcpy(y, kept, size);
    fm_assembly_place(s, y);
    return 0;
}

/* The violation that may be left where no step reduces it: round-off, and at a singular position that of rows whose
 * pivots, which grow with the gap, are those of dependent ones. */
static double left_over(const fm_instance *s)
{
    return fmax(fm_longest_round_off(s), FM_DEPENDENT * fm_extent(s));
}

static int close_positions(fm_instance *s, double *y)
{
    double soft = 0.0, merit, hoped = INFINITY;
    for (int n = 0; n < FM_CLOSINGS; n++) {
        fm_assembly_place(s, y);
        (void)fm_follow_cut_joints(s);
        const double worst = violation(s, 0, &merit), enough = fm_closed_within(s);
        if (worst <= enough) return 1;
        if (!isfinite(worst)) return 0;
        if (s->assembly->brief && n % FM_BRIEF == 0) { /* one of many attempts: abandon it early */
            if (!(merit < hoped)) return 0;
            hoped = 0.5 * merit;
        }
        for (;;) {
            if (make_change(s, 0, fm_coarse(worst), soft)) {
                shorten(s);
                if (try_change(s, y, merit)) break;
            }
            if (worst <= left_over(s)) return 1;
            soft = soft > 0.0 ? 10.0 * soft : FM_SOFT;
            if (soft > FM_SOFTEST) return 0;
        }
        soft = soft > FM_SOFT ? 0.1 * soft : 0.0;
    }
    return 0;
}

/* Assembles positions by general links' screws from now on, or velocities by their speeds. Returns which it was. */
int fm_use_screws(fm_instance *s, int use)
{
    const int before = s->loop.placing;
    s->loop.placing = use;
    if (use != before && s->image.n.generals > 0) {
        const fm_loop_plan other = s->assembly->plan;
        s->assembly->plan = s->plan, s->plan = other;
    }
    return before;
}

/* Projects positions onto the constraints. Rows are chosen at every step, and regularised as needed
 * (Levenberg-Marquardt). 0: the loops stay open, and y is where the violation is smallest. */
int fm_assemble_positions(fm_instance *s, double *y)
{
    const int before = fm_use_screws(s, 1), closed = close_positions(s, y);
    (void)fm_use_screws(s, before);
    return closed;
}

/* The largest violation of positions. Requires world kinematics. */
double fm_assembly_gap(fm_instance *s)
{
    double merit;
    return violation(s, 0, &merit);
}

/* Velocities ------------------------------------------------------------------------------------------------------ */

/* The violation below which velocities satisfy the constraints. */
static double fitting(const fm_instance *s, const double *y)
{
    return fm_closed_within(s) * fm_rate_of(s, y + s->image.n.positions);
}

/* Whether the velocities satisfy the constraints. Requires world kinematics. */
int fm_velocities_fit(fm_instance *s, const double *y)
{
    double merit;
    return violation(s, 1, &merit) <= fitting(s, y);
}

/* Projects velocities onto the constraints at y, a linear problem: each correction leaves round-off of the one before,
 * so they end where one does not halve the violation. 0: that is more than redundant rows and round-off explain, the
 * velocities conflict. */
int fm_assemble_velocities(fm_instance *s, double *y)
{
    double *u = y + s->image.n.positions, before = INFINITY, merit;
    for (int n = 0;; n++) {
        fm_assembly_place(s, y);
        const double worst = violation(s, 1, &merit);
        if (!isfinite(worst)) return 0;
        if (worst <= fitting(s, y)) return 1;
        if (worst > 0.5 * before) return worst <= fm_velocities_within(s, fm_rate_of(s, u));
        before = worst;
        if (!make_change(s, 1, FM_DEPENDENT, 0.0)) return 0;
        for (int32_t i = 0; i < s->image.n.speeds; i++) u[i] += s->loop.change[i];
        s->clock[FM_CORRECTED] += n == 0 ? 1.0 : 0.0;
    }
}

/* The active rows of the motion
 * ---------------------------------------------------------------------------------------- */

/* Chooses the active rows at y, where the loops are closed, by the Delassus matrix. Returns their number. */
int32_t fm_choose_at(fm_instance *s, const double *y)
{
    fm_assembly_place(s, y);
    (void)fm_follow_cut_joints(s);
    memset(s->work.tau, 0, (size_t)s->image.n.speeds * sizeof(double));
    fm_run_sweeps(s, y, s->work.tau, s->loop.change);
    fm_make_rows(s, 0, 1);
    fm_choose_rows(s, FM_DEPENDENT);
    return fm_active_rows(s);
}

/* Updates the pivots of the rows that are active at the start with those nearby, if they are larger. 1: they differ so
 * much that a singular position may be near. Requires K. */
static int note_nearby(fm_instance *s, const double *chosen)
{
    int uneven = 0;
    if (!fm_factor_delassus(s)) return 1;
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t q = 0; q < b->used; q++) {
            const int32_t i = b->first + b->use[q];
            const double pivot = 1.0 / s->loop.L[b->L + (size_t)(q * (b->used + 1))];
            if (!(chosen[i] > 0.0)) continue;
            uneven = uneven || pivot > FM_UNEVEN * s->row_pivot[i] || FM_UNEVEN * pivot < s->row_pivot[i];
            if (pivot > s->row_pivot[i]) s->row_pivot[i] = pivot;
        }
    }
    return uneven;
}

/* Moves y along its velocity, closes the loops and chooses rows there. 0: it is at rest, or the loops do not close. */
static int go_nearby(fm_instance *s, double *y)
{
    const int32_t positions = s->image.n.positions, speeds = s->image.n.speeds;
    const double fastest = fm_fastest(s, y + positions);
    if (!(fastest > 0.0)) return 0;
    fm_assembly_place(s, y);
    for (int32_t i = 0; i < speeds; i++) s->loop.change[i] = FM_RANK_NEARBY / fastest * y[positions + i];
    fm_move_positions(s, y, s->loop.change);
    (void)fm_normalise(s, y, NULL);
    if (!fm_assemble_positions(s, y)) return 0;
    (void)fm_choose_at(s, y);
    return fm_factor_delassus(s);
}

/* Assembly at a singular position whose velocity lies along one of the branches that cross there: uses the rows that
 * are independent nearby. 0: the velocity does not lie along a branch, and nothing is changed. */
int fm_assemble_on_branch(fm_instance *s, double *y)
{
    const size_t bytes = (size_t)s->model.ny * sizeof *y, rows = (size_t)s->image.n.rows * sizeof *s->row_active;
    double *moved = s->assembly->moved, *at = s->head, *chosen = s->loop.kept, off = 0.0;
    memcpy(chosen, s->row_active, rows);
    memcpy(at, y, bytes);
    memcpy(moved, y, bytes);
    int fits = go_nearby(s, moved);
    if (fits) fm_note_pivots(s);
    fits = fits && fm_singular_state(s, at);
    for (int32_t i = 0; fits && i < s->model.ny; i++) {
        const double size = fabs(at[i] - y[i]) / s->scale[i];
        if (fm_is_speed(s, i)) off = fmax(off, size);
        else fits = size <= FM_ON_BRANCH;
    }
    fits = fits && off <= FM_ON_BRANCH * fm_fastest(s, y + s->image.n.positions);
    if (fits) memcpy(y, at, bytes);
    else memcpy(s->row_active, chosen, rows);
    fm_use_rows(s);
    fm_assembly_place(s, y);
    (void)fm_follow_cut_joints(s);
    return fits;
}

/* The number of independent rows a little further along a motion of the mechanism (one of two, chosen by `way`), and a
 * row that is independent only there. y and the active rows are not changed. */
int32_t fm_rank_nearby(fm_instance *s, const double *y, int way, int32_t *row)
{
    const int32_t positions = s->image.n.positions, speeds = s->image.n.speeds, rows = s->image.n.rows;
    double *moved = s->assembly->moved, *chosen = s->loop.kept, merit;
    const double own = fm_rate_of(s, y + positions),
                 rate = own > 0.0 ? own : 1.0; /* without one, that of no velocity counts */
    const double iterated = s->clock[FM_ITERATED], corrected = s->clock[FM_CORRECTED];
    int32_t rank = 0;
    memcpy(moved, y, (size_t)(positions + speeds) * sizeof *moved);
    memcpy(chosen, s->row_active, (size_t)rows * sizeof *chosen);
    for (int32_t i = 0; i < speeds; i++)
        moved[positions + i] = rate * s->scale[positions + i] * fm_sin(1.0 + (double)way + 2.4 * i);
    /* near a singular position inactive rows may be violated: only the direction matters */
    if (fm_assemble_velocities(s, moved) || violation(s, 1, &merit) <= FM_RANK_NEARBY * rate) {
        const double fastest = fm_fastest(s, moved + positions);
        for (int further = 0; further < 2; further++) {
            const double part = (further ? FM_PIVOTS_NEARBY : FM_RANK_NEARBY) / fastest;
            memcpy(moved, y, (size_t)positions * sizeof *moved);
            fm_assembly_place(s, moved);
            for (int32_t i = 0; i < speeds; i++) s->loop.change[i] = part * moved[positions + i];
            if (fastest > 1e-9 * rate) fm_move_positions(s, moved, s->loop.change);
            if (!fm_assemble_positions(s, moved)) break;
            const int32_t found = fm_choose_at(s, moved);
            if (!further) rank = found;
            if (!note_nearby(s, chosen)) break;
        }
    }
    for (*row = rows - 1; *row > 0 && !(s->row_active[*row] != 0.0 && chosen[*row] == 0.0);) --*row;
    memcpy(s->row_active, chosen, (size_t)rows * sizeof *chosen);
    fm_use_rows(s);
    fm_assembly_place(s, y);
    (void)fm_follow_cut_joints(s);
    s->clock[FM_ITERATED] = iterated, s->clock[FM_CORRECTED] = corrected;
    return rank;
}
