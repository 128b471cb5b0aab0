/* pull.c: the pull to the constraints in the rates of a host that integrates itself.
 *
 * Where a host corrects no drift, violations c and c' = J u + c_t of positions and velocities decay as exp(-a t) if
 *     pdot = Y1 (u - a M^-1 J' K^-1 c),   udot = udot_0 - a M^-1 J' K^-1 c',
 * since then d c / dt = c' - a c and d c' / dt = -a c'. Consistent states have the rates of the mechanism. A quaternion
 * comes to its unit norm by a (1 - q'q) q / 2. a^2 = g / L + the mean square of the velocities of the joints in loops,
 * or of the ball, in units of 1 rad and the model's length L: it follows from the state alone, and scales with the unit
 * of time.
 *
 * Near a singular position a row is c = x w, x along the branch and w away from it (crossings.c): with c alone pulled,
 * w grows as 1/x, w' as 1/x^2. There, while a pivot is worn, rates are those of the nearest state on the branch, and
 * the whole state is pulled to that, b = 4 a times as fast as its distance: w' = -b w + e, e' = -b e. Worn are roots of
 * pivots below 0.3, which the mechanism passes in about 0.6 / a: that leaves a tenth of w.
 */
#include "pull.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "../maths/vectors.h"
#include "../loops/projection.h"
#include "crossings.h"
#include "independent.h"
#include "scratch.h"
#include "../tree/positions.h"
#include "../tree/rate.h"

#include <math.h>
#include <string.h>

#define FM_PASSED 4.0 /* b / a */
/* [rad], or relative to the length, velocities to a or the largest one: the largest change to the state on a branch,
 * since other branches are at an angle, and the zone ends at 0.3 */
#define FM_BESIDE 0.1

/* a [1/s], for the mean square of velocities. */
static double rate_of(const fm_instance *s, double square)
{
    return sqrt(sqrt(dot(s->gravity, s->gravity)) / s->image.length[0] + square);
}

/* Whether velocity variable j of link i counts in the mean square. */
static int counts(const fm_instance *s, int32_t i, int32_t j)
{
    return s->in_loop[i] && s->order[s->image.n.positions + j] == 1;
}

/* The sum of the squares of the velocities u of the joints in loops, and how many there are. */
static double sum_in_loops(const fm_instance *s, const double *u, int32_t *count)
{
    const double *unit = s->scale + s->image.n.positions;
    double sum = 0.0;
    *count = 0;
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        for (int32_t j = k->u; k->u >= 0 && j < k->u + fm_link_speeds(&s->image, i); j++) {
            if (!counts(s, i, j)) continue;
            sum += (u[j] / unit[j]) * (u[j] / unit[j]);
            (*count)++;
        }
    }
    return sum;
}

/* Their mean square. */
static double square_in_loops(const fm_instance *s, const double *u)
{
    int32_t count;
    const double sum = sum_in_loops(s, u, &count);
    return count > 0 ? sum / count : 0.0;
}

/* The derivatives of the a of loops, at the present state, by velocity variables and gravity. */
void fm_pull_slopes(const fm_instance *s, double a, double *by_u, double by_gravity[3])
{
    const double *u = s->y + s->image.n.positions, *unit = s->scale + s->image.n.positions;
    const double weight = sqrt(dot(s->gravity, s->gravity));
    int32_t count;
    (void)sum_in_loops(s, u, &count);
    memset(by_u, 0, (size_t)s->image.n.speeds * sizeof *by_u);
    for (int j = 0; j < 3; j++)
        by_gravity[j] = weight > 0.0 ? 0.5 * s->gravity[j] / (weight * s->image.length[0] * a) : 0.0;
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        for (int32_t j = k->u; k->u >= 0 && j < k->u + fm_link_speeds(&s->image, i); j++)
            if (counts(s, i, j)) by_u[j] = u[j] / (unit[j] * unit[j] * count * a);
    }
}

/* loop.change: -a times the smallest change that satisfies the rows of a level. */
static void change_of(fm_instance *s, double a, int level)
{
    (void)fm_loop_gap(s, level);
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.rhs[i] = -a * s->loop.c[3 * i + level];
    fm_smallest_change(s);
}

static void pull_loops(fm_instance *s, const double *y, double a, double *rates)
{
    const size_t bytes = (size_t)s->image.n.speeds * sizeof(double);
    double *moved = s->hosted.pulled, *u = moved + s->image.n.positions, *more = moved + s->model.ny;
    change_of(s, a, 1);
    for (int32_t i = 0; i < s->image.n.speeds; i++) rates[s->image.n.positions + i] += s->loop.change[i];
    change_of(s, a, 0);
    memcpy(moved, y, (size_t)s->image.n.positions * sizeof *moved);
    memcpy(u, s->loop.change, bytes);
    memset(more, 0, (size_t)s->image.n.positions * sizeof *more);
    fm_position_rates(s, moved, more);
    for (int32_t i = 0; i < s->image.n.positions; i++) rates[i] += more[i];
}

/* Whether y and the state on the branch are as near as those of one branch. */
static int is_beside_branch(const fm_instance *s, const double *y, double a)
{
    const double fastest = fmax(a, fm_fastest(s, y + s->image.n.positions));
    for (int32_t i = 0; i < s->model.bristles; i++)
        if (!(fabs(s->singular->y[i] - y[i]) <= FM_BESIDE * s->scale[i] * (fm_is_speed(s, i) ? fastest : 1.0)))
            return 0;
    return 1;
}

/* Near a singular position. 0: no state on the branch is near. */
static int pull_to_branch(fm_instance *s, double t, const double *y, double a, double *rates)
{
    const double b = FM_PASSED * a;
    const double *branch = s->singular->y;
    if (!s->singular->interpolated && !fm_rates_on_branch(s, t, y, rates + s->image.n.positions)) return 0;
    if (!is_beside_branch(s, y, a)) return 0;
    for (int32_t i = 0; i < s->model.ny; i++) rates[i] += b * (branch[i] - y[i]);
    return 1;
}

/* The a of loops at y; 0: they are not pulled. */
double fm_pull_of_loops(const fm_instance *s, const double *y)
{
    const int loops = s->plan.blocks > 0 && !fm_has_independent(s) &&
                      s->closure[FM_CLOSURE_CORRECTION] == (double)FM_CORRECT_DIRECTLY;
    return loops ? rate_of(s, square_in_loops(s, y + s->image.n.positions)) : 0.0;
}

/* Whether the last evaluation was so near a singular position that states are pulled to a branch. */
int fm_pulls_to_branch(const fm_instance *s, double a)
{
    return a > 0.0 && (s->loop.worn || s->loop.near_singular);
}

/* Adds the pull to the rates at time t and y, after an evaluation there. 0: the loops are too far open for it. */
int fm_pull(fm_instance *s, double t, const double *y, double *rates)
{
    const double *u = y + s->image.n.positions, loops = fm_pull_of_loops(s, y);
    if (fm_pulls_to_branch(s, loops)) return pull_to_branch(s, t, y, loops, rates);
    for (int32_t i = 0; i < s->model.balls; i++) {
        const fm_link *k = s->link + s->ball_link[i];
        const double *q = y + k->p, a = rate_of(s, dot(u + k->u, u + k->u) / 3.0);
        const double short_of = 1.0 - ((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
        for (int j = 0; j < 4; j++) rates[k->p + j] += 0.5 * a * short_of * q[j];
    }
    if (loops > 0.0) pull_loops(s, y, loops, rates);
    return 1;
}
