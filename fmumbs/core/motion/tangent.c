/* tangent.c: singular positions at which branches of the motion share a tangent.
 *
 * Where two branches cross, the square root of a row's pivot in K is proportional to |x|, x along the branch
 * (crossings.c), and the velocity identifies the branch. Where they touch, a row is c = (w - a x^2) (w - b x^2): the
 * root is proportional to x^2, both branches have the same velocity, and the motion can continue along either. So the
 * simulation ends there.
 *
 * Steps may pass over such a position. After each step that came near a singular one, a root that decreases at the
 * start of the step and increases at its end has a minimum in between. If it vanishes there, its values at +-d and +-2
 * d are compared: twice as large at 2 d means that branches cross, four times that they touch.
 */
#include "tangent.h"

#include "../instance/instance.h"
#include "../tree/positions.h"
#include "../tree/rate.h"
#include "../forces/excitation.h"
#include "../loops/projection.h"
#include "scratch.h"
#include "singular.h"

#include <math.h>
#include <string.h>

/* fraction of the step by which the search extends beyond both ends; or FM_LEAST_SEARCHED, if larger: */
#define FM_SEARCHED_BEYOND 0.05
#define FM_LEAST_SEARCHED 1e-3 /* [rad], or relative to the length */
#define FM_NARROWINGS (FM_LOOKED_AT - 2) /* golden-section steps to locate the minimum */
/* [rad], or relative to the length, plus ten tolerances: branches further apart do not touch */
#define FM_TOUCH_GAP 1e-5
/* d [rad], or relative to the length: branches that cross at smaller angles touch as well */
#define FM_CROSSING_ANGLE 0.02
#define FM_QUADRATIC 2.8 /* threshold between 2 and 4 */

/* A step from y to `end`, of length h [s]. */
typedef struct fm_stretch {
    const double *y, *end;
    double t, h;
    double beyond; /* fraction of h by which the search extends beyond both ends */
} fm_stretch;

/* The velocities at a fraction of the step. */
static void speeds_at(const fm_instance *s, const fm_stretch *w, double part, double *u)
{
    const double *first = w->y + s->image.n.positions, *last = w->end + s->image.n.positions;
    for (int32_t i = 0; i < s->image.n.speeds; i++) u[i] = first[i] + part * (last[i] - first[i]);
}

/* The state at a fraction of the step, extrapolated from its nearer end, in singular.y; not on the constraints. */
static void state_at(fm_instance *s, const fm_stretch *w, double part)
{
    const int32_t positions = s->image.n.positions;
    const double *from = part < 0.5 ? w->y : w->end, ahead = part < 0.5 ? part : part - 1.0;
    memcpy(s->singular->y, from, (size_t)s->model.ny * sizeof *from);
    fm_place_loops(s, from, 0);
    for (int32_t i = 0; i < s->image.n.speeds; i++) {
        const double bend = w->end[positions + i] - w->y[positions + i];
        s->loop.change[i] = ahead * w->h * (from[positions + i] + 0.5 * ahead * bend);
    }
    fm_move_positions(s, s->singular->y, s->loop.change);
    (void)fm_normalise(s, s->singular->y, NULL);
    fm_follow_paths(s, w->t + part * w->h, s->singular->y);
    speeds_at(s, w, part, s->singular->y + positions);
}

/* A row's root at a fraction of the step, on the constraints; leaves K's factor there. */
static double root_at(fm_instance *s, const fm_stretch *w, double part, int32_t row)
{
    state_at(s, w, part);
    if (!fm_singular_factor(s, s->singular->y, s->singular->root)) return INFINITY;
    (void)fm_project(s, s->singular->y, 0);
    return fm_singular_measure(s, s->singular->y, s->singular->root) ? s->singular->root[row] : INFINITY;
}

/* The same, from what the first search of the step has found at the fractions at which it looked: rows that become
 * dependent together are sought in the same places. */
static double known_root(fm_instance *s, const fm_stretch *w, double part, int32_t row)
{
    const size_t rows = (size_t)s->image.n.rows;
    fm_singular *at = s->singular;
    for (int32_t n = 0; n < at->parts; n++)
        if (at->part[n] == part) return at->part_root[(size_t)n * rows + (size_t)row];
    const double root = root_at(s, w, part, row);
    if (root < INFINITY && at->parts < FM_LOOKED_AT) {
        at->part[at->parts] = part;
        memcpy(at->part_root + (size_t)at->parts++ * rows, at->root, rows * sizeof *at->root);
    }
    return root;
}

/* The fraction at which a row's root is smallest. */
static double find_least(fm_instance *s, const fm_stretch *w, int32_t row)
{
    const double golden = 0.6180339887498949;
    double low = -w->beyond, high = 1.0 + w->beyond;
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = known_root(s, w, left, row), at_right = known_root(s, w, right, row);
    for (int n = 0; n < FM_NARROWINGS; n++) {
        if (at_left < at_right) {
            high = right, right = left, at_right = at_left;
            at_left = known_root(s, w, left = high - golden * (high - low), row);
        } else {
            low = left, left = right, at_left = at_right;
            at_right = known_root(s, w, right = low + golden * (high - low), row);
        }
    }
    return 0.5 * (low + high);
}

/* The largest difference of two velocities in a part of the mechanism. */
static double most_apart(const fm_instance *s, const double *a, const double *b, int32_t label)
{
    double most = 0.0;
    for (int32_t i = 0; i < s->image.n.speeds; i++)
        if (s->singular->label[i] == label) most = fmax(most, fabs(a[i] - b[i]) / s->scale[s->image.n.positions + i]);
    return most;
}

/* The sum of a row's roots at the times +-`time` from `at`, along its velocity, which changes by `bend` times its
 * change over the step; only one part of the mechanism is moved. */
static double roots_beside(fm_instance *s, const fm_stretch *w, double bend, double time, int32_t row, int32_t label)
{
    const int32_t positions = s->image.n.positions;
    const double *at = s->singular->node, *first = w->y + positions, *last = w->end + positions;
    double *y = s->singular->y, sum = 0.0;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double t = sign * time;
        memcpy(y, at, (size_t)s->model.ny * sizeof *y);
        fm_place_loops(s, y, 0);
        for (int32_t i = 0; i < s->image.n.speeds; i++) {
            const double u = at[positions + i] + 0.5 * t * bend * (last[i] - first[i]) / w->h;
            s->loop.change[i] = s->singular->label[i] == label ? t * u : 0.0;
        }
        fm_move_positions(s, y, s->loop.change);
        (void)fm_normalise(s, y, NULL);
        sum += fm_singular_measure(s, y, s->singular->root) ? s->singular->root[row] : NAN;
    }
    return sum;
}

/* Whether a row's root, `least` at singular.node, is quadratic in one direction from there. It is linear in all
 * directions where branches cross; where they touch it may vanish between them. */
static int is_quadratic(fm_instance *s, const fm_stretch *w, int32_t row, double least)
{
    const double gap = FM_TOUCH_GAP + 10.0 * s->options[FM_OPTION_TOLERANCE];
    if (!fm_singular_direction(s, s->singular->node + s->image.n.positions)) return 0;
    const int32_t label = fm_singular_label(s, fm_block_of(s, row), 0);
    memset(s->singular->udot, 0, (size_t)s->image.n.speeds * sizeof *s->singular->udot);
    const double speed = most_apart(s, s->singular->node + s->image.n.positions, s->singular->udot, label);
    if (!(speed > 0.0)) return 0;
    const double time = FM_CROSSING_ANGLE / speed;
    const double bend = most_apart(s, w->y + s->image.n.positions, w->end + s->image.n.positions, label) / w->h;
    const int ways = 2.0 * time * bend <= speed ? 2 : 1; /* otherwise it almost turns back within twice d */
    for (int way = 0; way < ways; way++) {
        const double near = roots_beside(s, w, way, time, row, label);
        const double far = roots_beside(s, w, way, 2.0 * time, row, label);
        if (far > FM_QUADRATIC * near && least <= gap * near / (2.0 * FM_CROSSING_ANGLE * FM_CROSSING_ANGLE)) return 1;
    }
    return 0;
}

/* Whether branches touch where the root of a row is smallest in the step. */
static int share_tangent(fm_instance *s, const fm_stretch *w, int32_t row)
{
    const double part = find_least(s, w, row), least = root_at(s, w, part, row);
    memcpy(s->singular->node, s->singular->y, (size_t)s->model.ny * sizeof *s->singular->y);
    if (!is_quadratic(s, w, row, least)) return 0;
    s->singular->tangent_time = w->t + part * w->h;
    s->singular->tangent_row = row;
    (void)fm_singular_row(s, s->singular->node, &s->singular->tangent_joint);
    return 1;
}

/* Marks the rows whose root decreases at the start of the step and increases at its end: 1 in loop.given_rhs. 0: none.
 */
static int find_candidates(fm_instance *s, const fm_stretch *w)
{
    const double part[4] = {-w->beyond, 0.0, 1.0, 1.0 + w->beyond};
    const int32_t rows = s->image.n.rows;
    const double *root = s->singular->root;
    int any = 0;
    for (int n = 0; n < 4; n++) {
        state_at(s, w, part[n]);
        if (!fm_singular_measure(s, s->singular->y, s->singular->root + (size_t)n * (size_t)rows)) return 0;
    }
    for (int32_t i = 0; i < rows; i++) {
        const int has = s->row_active[i] > 0.0 && root[i] > root[rows + i] && root[3 * rows + i] > root[2 * rows + i];
        s->loop.given_rhs[i] = has ? 1.0 : 0.0;
        any = any || has;
    }
    return any;
}

/* Whether an accepted step from y to `end`, which came near a singular position, passed one where branches touch. */
int fm_passed_tangent(fm_instance *s, double t, double h, const double *y, const double *end)
{
    const double fastest = fm_fastest(s, y + s->image.n.positions);
    const int32_t worn = s->loop.worn, narrow = s->loop.near_singular;
    int touch = 0;
    if (!(h > 0.0 && fastest > 0.0)) return 0;
    const fm_stretch w = {y, end, t, h, fmax(FM_SEARCHED_BEYOND, FM_LEAST_SEARCHED / (fastest * h))};
    const fm_singular_kept kept = fm_singular_begin(s);
    s->singular->parts = 0;
    if (find_candidates(s, &w))
        for (int32_t i = 0; i < s->image.n.rows && !touch; i++)
            touch = s->loop.given_rhs[i] > 0.0 && share_tangent(s, &w, i);
    fm_singular_end(s, kept);
    s->loop.worn = worn, s->loop.near_singular = narrow;
    s->planar.is_placed = 0;
    return touch;
}
