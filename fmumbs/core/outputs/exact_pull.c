/* exact_pull.c: tangents and adjoints of the pull to the constraints (motion/pull.c), on and off these.
 *
 * A level of the pull is the change z of velocity variables, with multipliers mu, of
 *     M z - J' mu = 0,   J z = -a c,
 * c the rows' values or their rates: z moves positions for the former and adds to accelerations for the latter. With
 * the residual R = M u' + h - Q - J' lambda and the second derivatives C = J u' + .. of the rows,
 *     M dz - J' dmu = -dP,   J dz = -da c - a dc - dS,
 *     s P = R(u' + s z, lambda + s mu) - R(u', lambda),   s S = C(u' + s z) - C(u'),
 * whatever s is: it makes s z as large as accelerations are, so that little is rounded. Their tangents are those of the
 * graph at these accelerations less those at the present ones, and the derivatives of w' z, with one response (y, m) to
 * the forces w, are -y' dP + m' (da c + a dc + dS): sweeps of adjoints there and here.
 */
#include "exact_pull.h"

#include "../adjoint/graph.h"
#include "../adjoint/operations.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../loops/projection.h"
#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../motion/independent.h"
#include "../motion/pull.h"
#include "../tree/positions.h"
#include "exact_response.h"

#include <math.h>
#include <string.h>

/* The a of the pull under a host's integration, else 0. */
double fm_exact_pull(const fm_instance *s)
{
    return s->clock[FM_HOSTED] != 0.0 && s->image.n.rows > 0 && !fm_has_independent(s) ? fm_pull_of_loops(s, s->y)
                                                                                       : 0.0;
}

/* Velocity variables and multipliers of a level in an array for both. */
static double *of_level(const fm_instance *s, double *both, int level)
{
    return both + (size_t)level * (size_t)(s->image.n.speeds + s->image.n.rows);
}

/* The value of a row, or its rate. */
static double row_at(const fm_graph *g, const double *values, int32_t row, int level)
{
    const int32_t at = g->row[3 * row + level];
    return at == FM_NO_SLOT ? 0.0 : values[at];
}

/* The largest of velocity variables in units of the coordinates. */
static double largest(const fm_instance *s, const double *u)
{
    double most = 0.0;
    for (int32_t i = 0; i < s->image.n.speeds; i++) most = fmax(most, fabs(u[i]) / s->scale[s->image.n.positions + i]);
    return most;
}

/* graph.pull: z and mu of a level. Returns s; 0: z is round-off. */
static double find_pull(fm_instance *s, double a, int level)
{
    fm_graph *g = s->graph;
    double *z = of_level(s, g->pull, level);
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.rhs[i] = -a * row_at(g, g->value, i, level);
    fm_exact_change(s);
    memcpy(z, s->loop.change, (size_t)s->image.n.speeds * sizeof *z);
    memcpy(z + s->image.n.speeds, s->loop.lambda, (size_t)s->image.n.rows * sizeof *z);
    const double size = largest(s, z), least = fm_round_off(s) * (level == 0 ? a : a * a);
    return size > least ? (a * a + largest(s, g->acceleration_now)) / size : 0.0;
}

/* Values of the dynamics at accelerations and multipliers with `much` of a level's pull more. */
static void evaluate_pulled(fm_instance *s, int level, double much)
{
    fm_graph *g = s->graph;
    const double *z = of_level(s, g->pull, level), *mu = z + s->image.n.speeds;
    for (int32_t u = 0; u < s->image.n.speeds; u++) g->value[g->leaf.udot + u] = g->acceleration_now[u] + much * z[u];
    for (int32_t i = 0; i < s->image.n.rows; i++) g->value[g->leaf.lambda + i] = g->multiplier_now[i] + much * mu[i];
    fm_graph_values(s, 0, g->dynamics);
}

/* Values at the present accelerations again, which the next derivative at this state finds. */
static void return_values(fm_instance *s)
{
    fm_graph *g = s->graph;
    if (!(g->much[0] > 0.0 || g->much[1] > 0.0)) return;
    memcpy(g->value + g->leaf.udot, g->acceleration_now, (size_t)s->image.n.speeds * sizeof(double));
    memcpy(g->value + g->leaf.lambda, g->multiplier_now, (size_t)s->image.n.rows * sizeof(double));
    fm_graph_values(s, 0, g->dynamics);
}

/* Keeps what the present values and tangents of the dynamics are, without those of accelerations and multipliers. */
void fm_exact_begin_pull(fm_instance *s)
{
    fm_graph *g = s->graph;
    double *kept = g->unpulled;
    memcpy(g->acceleration_now, g->value + g->leaf.udot, (size_t)s->image.n.speeds * sizeof(double));
    memcpy(g->multiplier_now, g->value + g->leaf.lambda, (size_t)s->image.n.rows * sizeof(double));
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        *kept++ = g->residual[u] == FM_NO_SLOT ? 0.0 : g->tangent[g->residual[u]];
    for (int32_t i = 0; i < s->image.n.rows; i++) *kept++ = row_at(g, g->tangent, i, 2);
}

/* loop.rhs, loop.change: the change of z. */
static void follow(fm_instance *s, double a, double da, int level, double *change)
{
    fm_graph *g = s->graph;
    const double much = g->much[level] = find_pull(s, a, level), less = much > 0.0 ? 1.0 / much : 0.0;
    const int32_t speeds = s->image.n.speeds;
    memset(change, 0, (size_t)speeds * sizeof *change);
    if (much > 0.0) {
        evaluate_pulled(s, level, much);
        fm_graph_tangents(s, 0, g->dynamics);
        fm_exact_clear_forces(s);
        for (int32_t u = 0; u < speeds; u++)
            if (g->residual[u] != FM_NO_SLOT) s->work.seed[u] = less * (g->unpulled[u] - g->tangent[g->residual[u]]);
        fm_exact_respond(s);
        memcpy(change, s->work.udot, (size_t)speeds * sizeof *change);
    }
    for (int32_t i = 0; i < s->image.n.rows; i++)
        s->loop.rhs[i] = less * (g->unpulled[speeds + i] - row_at(g, g->tangent, i, 2)) -
                         (da * row_at(g, g->value, i, level) + a * row_at(g, g->tangent, i, level));
    fm_exact_change(s);
    for (int32_t u = 0; u < speeds; u++) change[u] += s->loop.change[u];
}

/* Adds factor q (0, w) / 2 for the balls. */
static void add_quaternion_rates(const fm_instance *s, double factor, const double *q, const double *w, double *to)
{
    for (int32_t i = 0; i < s->model.balls; i++) {
        const fm_link *k = s->link + s->ball_link[i];
        const double turning[4] = {0.0, w[k->u], w[k->u + 1], w[k->u + 2]};
        double rate[4];
        fm_multiply_quaternions(q + k->p, turning, rate);
        for (int j = 0; j < 4; j++) to[k->p + j] += 0.5 * factor * rate[j];
    }
}

/* hosted.pulled: the tangents of what the pull a adds to the rates of y; after fm_exact_begin_pull at tangents of the
 * leaves of the state. */
void fm_exact_pull_forward(fm_instance *s, double a)
{
    fm_graph *g = s->graph;
    const int32_t np = s->image.n.positions, speeds = s->image.n.speeds;
    double *more = s->hosted.pulled, *moved = more + s->model.ny, *slope = g->slope, by_gravity[3];
    fm_pull_slopes(s, a, slope, by_gravity);
    double da = dot(by_gravity, g->tangent + g->leaf.gravity);
    for (int32_t u = 0; u < speeds; u++) da += slope[u] * g->tangent[g->leaf.y + np + u];
    memset(more, 0, (size_t)s->model.ny * sizeof *more);
    memset(g->tangent + g->leaf.udot, 0, (size_t)(g->leaf.cut_now - g->leaf.udot) * sizeof *g->tangent);
    memcpy(moved, s->y, (size_t)np * sizeof *moved);
    follow(s, a, da, 0, moved + np);
    fm_position_rates(s, moved, more);
    add_quaternion_rates(s, 1.0, g->tangent + g->leaf.y, g->pull, more);
    follow(s, a, da, 1, more + np);
    return_values(s);
}

/* Adds `factor` times what moves a level against its pull to the adjoints of the residuals and the rows. */
static void add_turned(fm_instance *s, int level, double factor)
{
    fm_graph *g = s->graph;
    const double *y = of_level(s, g->pulling, level), *m = y + s->image.n.speeds;
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        if (g->residual[u] != FM_NO_SLOT) g->adjoint[g->residual[u]] -= factor * y[u];
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (g->row[3 * i + 2] != FM_NO_SLOT) g->adjoint[g->row[3 * i + 2]] += factor * m[i];
}

/* Adds the adjoints of a level, for the forces in work.seed, at the present accelerations; returns that of a. */
static double follow_back(fm_instance *s, double a, int level)
{
    fm_graph *g = s->graph;
    double *y = of_level(s, g->pulling, level), *m = y + s->image.n.speeds, by_a = 0.0;
    fm_exact_respond(s);
    memcpy(y, s->work.udot, (size_t)s->image.n.speeds * sizeof *y);
    memcpy(m, s->loop.lambda, (size_t)s->image.n.rows * sizeof *m);
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        by_a += m[i] * row_at(g, g->value, i, level);
        if (g->row[3 * i + level] != FM_NO_SLOT) g->adjoint[g->row[3 * i + level]] += a * m[i];
    }
    g->much[level] = find_pull(s, a, level);
    if (g->much[level] > 0.0) add_turned(s, level, -1.0 / g->much[level]);
    return by_a;
}

/* Adds the adjoints of the pull a at the present accelerations, before the sweep of the dynamics. */
void fm_exact_pull_back(fm_instance *s, double a)
{
    fm_graph *g = s->graph;
    const int32_t np = s->image.n.positions, speeds = s->image.n.speeds;
    double by_gravity[3], *to = g->adjoint + g->leaf.y;
    fm_exact_begin_pull(s);
    fm_exact_clear_forces(s);
    fm_exact_force_by_positions(s, s->hosted.toward);
    double by_a = follow_back(s, a, 0);
    fm_exact_clear_forces(s);
    memcpy(s->work.seed, s->hosted.toward + np, (size_t)speeds * sizeof(double));
    by_a += follow_back(s, a, 1);
    fm_pull_slopes(s, a, g->slope, by_gravity);
    for (int j = 0; j < 3; j++) g->adjoint[g->leaf.gravity + j] += by_a * by_gravity[j];
    for (int32_t u = 0; u < speeds; u++) to[np + u] += by_a * g->slope[u];
    add_quaternion_rates(s, -1.0, s->hosted.toward, g->pull, to);
}

/* Adds those at the accelerations that are pulled, after that sweep. */
void fm_exact_pull_back_further(fm_instance *s)
{
    fm_graph *g = s->graph;
    for (int level = 0; level < 2; level++) {
        if (!(g->much[level] > 0.0)) continue;
        memset(g->adjoint + g->leaf.end, 0, (size_t)(g->before_outputs - g->leaf.end) * sizeof *g->adjoint);
        add_turned(s, level, 1.0 / g->much[level]);
        evaluate_pulled(s, level, g->much[level]);
        fm_graph_adjoints(s, 0, g->dynamics);
    }
    return_values(s);
}
