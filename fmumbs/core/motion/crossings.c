/* crossings.c: motion through singular positions at which branches cross, by interpolation.
 *
 * Where two branches of the motion cross, a row is c = x w near the crossing: x along the branch, w away from it. Its
 * pivot in K is proportional to x^2, so K^-1 amplifies round-off in c into errors of w, w' and w'' that grow as 1/x,
 * 1/x^2 and 1/x^3, although the motion along the branch, w = 0, is smooth. So nothing is solved near x = 0. Instead the
 * state is moved along its velocity to FM_NODES regular positions s = X, 2 X, ... on either side, which are projected
 * onto the branch:
 *     q(s) = the positions of the branch nearest to Q(s), Q quadratic;  u(s) = the velocities of the branch nearest to
 * u. Positions, velocities and accelerations at these nodes are smooth functions of s, even if the multipliers are not,
 * and their interpolation at s = 0 is the result. Its error is of order X^12. It depends on the state alone.
 *
 * A position is near a singular one if the square root of a pivot, which is proportional to |x|, is less than a quarter
 * of its mean at s = X and s = -X, that is |x| < X / 2. If the interpolated positions violate the constraints, the
 * branches do not cross: the mechanism turns sharply from one to the other, and the usual formulation applies.
 */
#include "crossings.h"

#include "../instance/instance.h"
#include "../tree/positions.h"
#include "../loops/delassus.h"
#include "../loops/multipliers.h"
#include "../loops/projection.h"
#include "../loops/reduced.h"
#include "../loops/scratch.h"
#include "evaluation.h"
#include "scratch.h"
#include "singular.h"

#include <math.h>
#include <string.h>

#define FM_REACH (FM_NODES / 2)
#define FM_WIDEST 0.03 /* first X [rad], or relative to the length; then smaller by FM_NARROWING */
#define FM_NARROWING 0.7
#define FM_CLEAR_NODE 0.4 /* relative to a pivot's root at s = X: a node below this is near a singular position */
#define FM_REGULARISED 1e-4 /* fraction of former pivots, added to K so that only regular directions are corrected */
#define FM_SMOOTH 2e-11 /* largest effect of the outermost nodes on states [rad], or relative to length or speed */
#define FM_SMOOTH_RATE 1e-6 /* and on accelerations, relative to the largest at a node, or the squared velocity */
#define FM_REFINEMENTS 8 /* most refinements of the multipliers */
#define FM_NODE_NOISE 1e-14 /* times X^-3, relative to accelerations: their round-off across the branch at the nodes */
#define FM_MISSING 1e-6 /* of what multipliers have to add: if more is missing, no finite multipliers exist */
/* part of the multipliers that FM_NODE_NOISE, ten times what was measured, may explain */
#define FM_MOST_EXPLAINED 1e-4
#define FM_CROSSING 1e-10 /* relative to the length: gap below which branches cross */

/* Weights of interpolation at s = 0 from +-X, +-2 X, ...; the same without the outermost nodes. */
static const double weight[FM_REACH] = {6.0 / 7.0, -15.0 / 28.0, 5.0 / 21.0, -1.0 / 14.0, 1.0 / 77.0, -1.0 / 924.0};
static const double fewer[FM_REACH] = {5.0 / 6.0, -10.0 / 21.0, 5.0 / 28.0, -5.0 / 126.0, 1.0 / 252.0, 0.0};

static double *node(const fm_instance *s, int n)
{
    return s->singular->node + (size_t)n * (size_t)s->model.ny;
}

/* Node n is at s = place(n) X. */
static double place(int n)
{
    const int far = n / 2 + 1;
    return n % 2 == 0 ? far : -far;
}

static double *roots(const fm_instance *s, int n)
{
    return s->singular->root + (size_t)(n + 1) * (size_t)s->image.n.rows;
}

/* The two nodes next to y, along its velocity; not yet on the branch. */
static int begin_nodes(fm_instance *s, const double *y, double X)
{
    for (int n = 0; n < 2; n++) {
        memcpy(node(s, n), y, (size_t)s->model.ny * sizeof *y);
        fm_place_loops(s, y, 0);
        for (int32_t i = 0; i < s->image.n.speeds; i++) s->loop.change[i] = place(n) * X * s->singular->direction[i];
        fm_move_positions(s, node(s, n), s->loop.change);
        (void)fm_normalise(s, node(s, n), NULL);
        if (!fm_singular_measure(s, node(s, n), roots(s, n))) return 0;
    }
    return 1;
}

/* Projects node n onto the branch. 0: fails. */
static int project(fm_instance *s, int n)
{
    double *y = node(s, n);
    return fm_singular_factor(s, y, roots(s, n)) && fm_project(s, y, 0) && fm_singular_factor(s, y, roots(s, n)) &&
           fm_project(s, y, 1);
}

/* The initial guess of node n, by the polynomial through y and the previous pairs of nodes: all nodes lie on one smooth
 * curve. */
static void guess_node(fm_instance *s, const double *y, int n)
{
    const int known = n - n % 2;
    double *at = node(s, n);
    memcpy(at, y, (size_t)s->model.ny * sizeof *y);
    for (int j = 0; j < known; j++) {
        double part = place(n) / place(j);
        for (int i = 0; i < known; i++)
            if (i != j) part *= (place(n) - place(i)) / (place(j) - place(i));
        const double *other = node(s, j);
        for (int32_t i = 0; i < s->image.n.positions; i++) at[i] += part * (other[i] - y[i]);
    }
    (void)fm_normalise(s, at, NULL);
}

/* Computes all nodes on the branch, starting from the first two. */
static int more_nodes(fm_instance *s, const double *y)
{
    for (int n = 0; n < FM_NODES; n++) {
        if (n >= 2) guess_node(s, y, n);
        if (!project(s, n)) return 0;
    }
    return 1;
}

/* Whether a row is nearly singular at y, compared with the two nearest nodes; if so, all nodes must be far from
 * singular. */
static int is_near(const fm_instance *s)
{
    const size_t rows = (size_t)s->image.n.rows;
    const double *root = s->singular->root;
    int near = 0;
    for (size_t i = 0; i < rows; i++)
        if (s->row_active[i] > 0.0) near = near || root[i] < 0.25 * (root[rows + i] + root[2 * rows + i]);
    return near;
}

static int are_clear(const fm_instance *s)
{
    const size_t rows = (size_t)s->image.n.rows;
    const double *root = s->singular->root;
    for (size_t i = 0; i < rows; i++) {
        const double mean = 0.5 * (root[rows + i] + root[2 * rows + i]);
        if (!(s->row_active[i] > 0.0) || !(root[i] < 0.5 * mean)) continue;
        for (size_t n = 1; n <= FM_NODES; n++)
            if (root[n * rows + i] < FM_CLEAR_NODE * mean) return 0;
    }
    return 1;
}

/* The interpolated change of element i of y, with the weights `part`. */
static double interpolate(const fm_instance *s, const double *y, int32_t i, const double *part)
{
    double sum = 0.0;
    for (int n = FM_NODES; n-- > 0;) sum += part[n / 2] * (node(s, n)[i] - y[i]);
    return sum;
}

/* fmax() would lose NaN. */
static double larger(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

/* The interpolated state, in singular.y. 0: more nodes would change it, or it violates the constraints. */
static int find_state(fm_instance *s, const double *y)
{
    const int32_t positions = s->image.n.positions;
    double fastest = 0.0;
    for (int32_t i = positions; i < s->model.bristles; i++) fastest = larger(fastest, fabs(y[i]) / s->scale[i]);
    for (int32_t i = 0; i < s->model.ny; i++) {
        const double change = interpolate(s, y, i, weight), scale = s->scale[i] * (fm_is_speed(s, i) ? fastest : 1.0);
        if (!(fabs(change - interpolate(s, y, i, fewer)) <= FM_SMOOTH * scale)) return 0;
        s->singular->y[i] = y[i] + change;
    }
    (void)fm_normalise(s, s->singular->y, NULL);
    fm_place_loops(s, s->singular->y, 0);
    return fm_loop_gap(s, 0) <= FM_CROSSING + fm_round_off(s);
}

/* Computes the nodes around y and the interpolated state; `factored`: K's factor is that at y. 0: y is not near a
 * singular position, or branches do not cross there. */
static int make_nodes(fm_instance *s, const double *y, int factored)
{
    double X = FM_WIDEST;
    if (factored) fm_singular_roots(s, s->singular->root);
    else if (!fm_singular_measure(s, y, s->singular->root)) return 0;
    if (!fm_singular_direction(s, y + s->image.n.positions)) return 0;
    for (int n = 0; n < FM_MOST_WIDTHS; n++, X *= FM_NARROWING) {
        if (!begin_nodes(s, y, X)) continue;
        if (!is_near(s)) return 0;
        if (!more_nodes(s, y) || !are_clear(s) || !find_state(s, y)) continue;
        s->singular->noise = FM_NODE_NOISE / (X * X * X);
        return 1;
    }
    return 0;
}

/* Drives lose their effect within the nodes: no accelerations pass them, and no further ones are tried in this fm_step.
 */
static int drives_reverse(fm_instance *s)
{
    s->realised->crossed = 1;
    s->realised->lost = 0;
    return 0;
}

/* Interpolates accelerations, and multipliers in loop.given_lambda, from those at the nodes; in the reduced form
 * multipliers only for outputs. 0: accelerations are not smooth. */
static int rates_at_nodes(fm_instance *s, double t, int for_outputs, double *udot)
{
    const int32_t speeds = s->image.n.speeds, rows = s->image.n.rows;
    const int32_t before = s->realised->lost;
    double *own = s->singular->udot, *less = own + speeds, *all = less + speeds, most = 0.0, off = 0.0;
    memset(all, 0, (size_t)speeds * sizeof *all);
    memset(less, 0, (size_t)speeds * sizeof *less);
    memset(s->loop.given_lambda, 0, (size_t)rows * sizeof *s->loop.given_lambda);
    for (int32_t i = s->image.n.positions; i < s->model.bristles;
         i++) { /* for a uniform motion without accelerations */
        const double speed = fabs(node(s, 0)[i]) / s->scale[i];
        most = larger(most, speed * speed);
    }
    for (int n = FM_NODES; n-- > 0;) {
        fm_accelerations(s, t, node(s, n), own);
        if (s->realised->lost > before) return drives_reverse(s);
        if (for_outputs && s->reduced.used) fm_reduced_multipliers(s);
        for (int32_t i = 0; i < speeds; i++) {
            all[i] += weight[n / 2] * own[i];
            less[i] += fewer[n / 2] * own[i];
            most = larger(most, fabs(own[i]) / s->scale[s->image.n.positions + i]);
        }
        for (int32_t i = 0; i < rows; i++) s->loop.given_lambda[i] += weight[n / 2] * s->loop.lambda[i];
    }
    for (int32_t i = 0; i < speeds; i++) off = larger(off, fabs(all[i] - less[i]) / s->scale[s->image.n.positions + i]);
    if (!(off <= FM_SMOOTH_RATE * most)) return 0;
    s->singular->relative_noise = s->singular->noise;
    s->singular->noise *= most;
    memcpy(udot, all, (size_t)speeds * sizeof *udot);
    return 1;
}

static int find_rates(fm_instance *s, double t, const double *y, int for_outputs, double *udot)
{
    if (s->realised->crossed) return 0;
    const fm_singular_kept kept = fm_singular_begin(s);
    int found = make_nodes(s, y, s->loop.near_singular == 1);
    if (found && s->realised->lost) s->realised->crossed = 1, found = 0; /* at y already */
    found = found && rates_at_nodes(s, t, for_outputs, udot);
    fm_singular_end(s, kept);
    return found;
}

/* The accelerations at y if it is near a singular position, where K has just been factored. 1: udot was replaced. */
int fm_singular_rates(fm_instance *s, double t, const double *y, double *udot)
{
    return find_rates(s, t, y, 0, udot);
}

/* The accelerations of the state nearest to y on its branch, singular.y, where that is regular. 0: it is not. */
int fm_rates_on_branch(fm_instance *s, double t, const double *y, double *udot)
{
    const fm_singular_kept kept = fm_singular_begin(s);
    memcpy(s->singular->y, y, (size_t)s->model.ny * sizeof *y);
    fm_place_loops(s, y, 0);
    const int found = fm_factor_loops(s, y) && fm_project(s, s->singular->y, 0) && fm_project(s, s->singular->y, 1);
    if (found) fm_accelerations(s, t, s->singular->y, udot);
    fm_singular_end(s, kept);
    return found;
}

/* The part of J udot that the multipliers have to produce, in loop.given_rhs. */
static void find_share(fm_instance *s, double t, const double *y, const double *udot)
{
    const int32_t positions = s->image.n.positions, speeds = s->image.n.speeds;
    double *at = s->singular->y, *without = s->singular->udot;
    s->loop.multipliers = FM_NO_MULTIPLIERS;
    fm_accelerations(s, t, y, without);
    s->loop.multipliers = FM_OWN_MULTIPLIERS;
    memcpy(at, y, (size_t)positions * sizeof *at);
    for (int32_t i = 0; i < speeds; i++) at[positions + i] = udot[i] - without[i];
    fm_place_loops(s, at, 0);
    (void)fm_loop_gap(s, 1);
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.given_rhs[i] = s->loop.c[3 * i + 1];
}

/* The largest error of udot; its elements in singular.udot. */
static double missing(const fm_instance *s, const double *udot)
{
    const double *least = s->scale + s->image.n.positions;
    double worst = 0.0;
    for (int32_t i = 0; i < s->image.n.speeds; i++) {
        s->singular->udot[i] = s->singular->found[i] - udot[i];
        worst = larger(worst, fabs(s->singular->udot[i]) / least[i]);
    }
    return worst;
}

/* Improves the multipliers so that their accelerations come closer to those found, in loop.given_lambda: a line search
 * along K^-1 J (error). K's smallest pivots are round-off here, but the effect of a multiplier is accurate. 0: as
 * accurate as the accelerations. */
static int refine(fm_instance *s, const double *y, const double *udot)
{
    const int32_t positions = s->image.n.positions, speeds = s->image.n.speeds, rows = s->image.n.rows;
    const double *least = s->scale + positions, *gap = s->singular->udot;
    double along = 0.0, square = 0.0;
    memcpy(s->loop.given_lambda, s->loop.lambda, (size_t)rows * sizeof *s->loop.lambda);
    if (!(missing(s, udot) > s->singular->noise)) return 0;
    memcpy(s->singular->y, y, (size_t)positions * sizeof *y);
    memcpy(s->singular->y + positions, gap, (size_t)speeds * sizeof *gap);
    fm_place_loops(s, s->singular->y, 0);
    (void)fm_loop_gap(s, 1);
    for (int32_t i = 0; i < rows; i++) s->loop.given_rhs[i] = s->loop.c[3 * i + 1];
    if (!fm_singular_factor(s, y, s->singular->root)) return 0;
    fm_solve_delassus(s, s->loop.given_rhs, s->loop.lambda);
    if (s->planar.used) s->kernels->plane_multiplier_response(s, s->loop.lambda, s->loop.change);
    else fm_multiplier_response(s, s->loop.lambda, s->loop.change);
    for (int32_t i = 0; i < speeds; i++) {
        const double change = s->loop.change[i] / least[i];
        along += gap[i] / least[i] * change, square += change * change;
    }
    for (int32_t i = 0; i < rows && square > 0.0; i++) s->loop.given_lambda[i] += along / square * s->loop.lambda[i];
    return 1;
}

/* Multipliers, in loop.given_lambda, that add the `share` of accelerations which those in singular.smooth do not
 * produce: they grow as share / x. 0: round-off in that share, divided by x, is too large a part of them. */
static int find_growing(fm_instance *s, double t, const double *y, double share, double *udot)
{
    double change = 0.0, all = 0.0;
    find_share(s, t, y, s->singular->found);
    s->loop.multipliers = FM_NEAR_MULTIPLIERS;
    fm_accelerations(s, t, y, udot);
    s->loop.multipliers = FM_KEPT_MULTIPLIERS;
    for (int n = 0; n < FM_REFINEMENTS && refine(s, y, udot); n++) fm_accelerations(s, t, y, udot);
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        const double unit = sqrt(s->row_pivot[i]); /* equal for forces and torques */
        change = larger(change, unit * fabs(s->loop.lambda[i] - s->singular->smooth[i]));
        all = larger(all, unit * fabs(s->loop.lambda[i]));
    }
    return missing(s, udot) <= FM_MISSING * share && s->singular->noise * change <= FM_MOST_EXPLAINED * share * all;
}

/* For outputs, after an evaluation at y, whose results are then in the links. Multipliers that stay finite are
 * interpolated; where these do not produce the accelerations, multipliers grow as 1/x. Where those are not certain, and
 * at the singular position itself, reactions and accelerations of links are NaN. */
void fm_singular_present(fm_instance *s, double t, const double *y, double *udot)
{
    const size_t rows = (size_t)s->image.n.rows;
    double *found = s->singular->found;
    if (!find_rates(s, t, y, 1, found)) {
        fm_accelerations(s, t, y, udot);
        if (s->reduced.used) fm_reduced_multipliers(s);
        return;
    }
    if (s->reduced.used) {
        fm_accelerations(s, t, y, udot);
        fm_reduced_show(s, found, s->loop.given_lambda, s->singular->relative_noise);
        memcpy(udot, found, (size_t)s->image.n.speeds * sizeof *udot);
        return;
    }
    memcpy(s->singular->smooth, s->loop.given_lambda, rows * sizeof *s->loop.given_lambda);
    s->loop.multipliers = FM_KEPT_MULTIPLIERS;
    fm_accelerations(s, t, y, udot);
    const double share = missing(s, udot);
    if (!(share <= s->singular->noise) && !find_growing(s, t, y, share, udot)) {
        for (size_t i = 0; i < rows; i++) s->loop.given_lambda[i] = s->row_active[i] > 0.0 ? NAN : 0.0;
        fm_accelerations(s, t, y, udot);
    }
    s->loop.multipliers = FM_OWN_MULTIPLIERS;
    memcpy(udot, found, (size_t)s->image.n.speeds * sizeof *udot);
}

/* Removes the constraint violations left by interpolation from singular.y, in regular directions. */
static void clean(fm_instance *s)
{
    double *y = s->singular->y;
    s->loop.softening = FM_REGULARISED;
    for (int level = 0; level < 2; level++)
        for (int n = 0; n < 2; n++) {
            if (level == 0 || n > 0) fm_place_loops(s, y, level);
            if (level == 0 && n == 0 && !fm_factor_loops(s, y)) break;
            (void)fm_loop_gap(s, level);
            fm_correct_once(s, y, level);
        }
    s->loop.softening = 0.0;
}

/* Moves y onto the branch if it is near a singular position; the links are then placed there. 0: it is not, y is
 * unchanged. */
int fm_singular_state(fm_instance *s, double *y)
{
    const fm_singular_kept kept = fm_singular_begin(s);
    const int found = make_nodes(s, y, 0);
    if (found) {
        clean(s);
        memcpy(y, s->singular->y, (size_t)s->model.ny * sizeof *y);
        fm_place_loops(s, y, 0);
    }
    fm_singular_end(s, kept);
    return found;
}
