/* exact.c: exact directional derivatives and adjoints, by the graph of inverse dynamics (adjoint/graph.h).
 *
 * With the residual R(x, u', lambda) = M u' + h - Q - J' lambda of velocity variables and the rows C = c'', a change of
 * what x holds, positions, velocities, inputs and parameters, changes accelerations and multipliers by
 *     M du' - J' dlambda = -dR,   J du' = -dC,
 * dR and dC at constant u' and lambda: tangents of the graph, then one response of the core to forces (response.c). The
 * matrix is symmetric but for a sign, so that the derivatives of w' u' by all of x are, with one response (y, m) to the
 * forces w,
 *     -y' dR/dx + m' dC/dx,
 * one sweep of adjoints. Nothing of the kernels is differentiated, and the cost does not depend on how many numbers x
 * has. What outputs add to w' u' goes through their own nodes first.
 */
#include "exact.h"

#include "../adjoint/graph.h"
#include "../adjoint/leaves.h"
#include "../adjoint/operations.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../forces/excitation.h"
#include "../loops/multipliers.h"
#include "../loops/projection.h"
#include "../maths/vectors.h"
#include "../motion/pull.h"
#include "../motion/scratch.h"
#include "../time/hosted.h"
#include "../tree/positions.h"
#include "continuous.h"
#include "exact_places.h"
#include "response.h"
#include "update.h"
#include "values.h"

#include <math.h>
#include <string.h>

/* Whether the multipliers at the present state are those of its rows, and no others. */
static int is_regular(fm_instance *s)
{
    fm_update(s, FM_VALID_MOTION);
    return !s->loop.near_singular && !s->singular->on_branch;
}

/* Whether the graph has these derivatives. */
int fm_exact_fits(fm_instance *s, const fm_seeds *along, const uint32_t *unknown, size_t unknowns)
{
    if (!s->graph->built || fm_bare_and_forced(s)) return 0;
    for (size_t i = 0; i < along->knowns; i++)
        if (along->seed[i] != 0.0 && fm_place_of_known(s, along->known[i]) == FM_NO_SLOT &&
            !fm_without_effect(s, along->known[i]))
            return 0;
    for (size_t i = 0; i < unknowns; i++)
        if (fm_place_of_unknown(s, unknown[i]) == FM_NO_SLOT) return 0;
    return is_regular(s);
}

/* Values of the nodes at the present state, `all` of them or without those of outputs. */
static void run_values(fm_instance *s, int all)
{
    fm_update(s, all ? FM_VALID_MOTION | FM_VALID_QUATERNIONS : FM_VALID_MOTION);
    fm_graph_load(s);
    fm_graph_values(s->graph, 0, all ? s->graph->nodes : s->graph->dynamics);
}

/* Whether an unknown is more than a leaf, so that values of outputs count. */
static int is_any_output(fm_instance *s, const uint32_t *unknown, size_t unknowns)
{
    for (size_t i = 0; i < unknowns; i++)
        if (fm_place_of_unknown(s, unknown[i]) >= s->graph->leaf.end) return 1;
    return 0;
}

/* The factors of a row's value and its derivatives in the equation of the multipliers. */
static void weights_of_rows(const fm_instance *s, double weight[3])
{
    for (int level = 0; level < 3; level++) {
        double c[3] = {0.0, 0.0, 0.0};
        c[level] = 1.0;
        weight[level] = 0.0 - fm_wanted_of_row(s, c);
    }
}

/* The a of the pull under a host's integration, else 0. */
static double pull_of(const fm_instance *s)
{
    return s->clock[FM_HOSTED] != 0.0 && s->image.n.rows > 0 ? fm_pull_of_loops(s, s->y) : 0.0;
}

static void clear_forces(fm_instance *s)
{
    memset(s->work.seed, 0, (size_t)(s->image.n.modes + 6 * s->image.n.loads) * sizeof(double));
}

/* The response of accelerations, in work.udot, and multipliers to the forces in work.seed. */
static void respond(fm_instance *s)
{
    fm_respond_by_motion(s, s->work.seed, s->work.seed + s->image.n.modes);
    s->valid &= FM_VALID_LAWS;
}

/* loop.change: the smallest change of velocity variables that changes the rows by what their tangents make, with a
 * weight for each level. */
static void answer_rows(fm_instance *s, const double weight[3])
{
    const fm_graph *g = s->graph;
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        s->loop.rhs[i] = 0.0;
        for (int level = 0; level < 3; level++)
            if (g->row[3 * i + level] != FM_NO_SLOT)
                s->loop.rhs[i] -= weight[level] * g->tangent[g->row[3 * i + level]];
    }
    fm_smallest_change(s);
}

/* Tangents of accelerations and multipliers. */
static void solve_forward(fm_instance *s)
{
    fm_graph *g = s->graph;
    const int32_t speeds = s->image.n.speeds, rows = s->image.n.rows;
    double weight[3];
    clear_forces(s);
    for (int32_t u = 0; u < speeds; u++) /* what a given acceleration changes is in the residuals of the others */
        if (g->residual[u] != FM_NO_SLOT) s->work.seed[u] = 0.0 - g->tangent[g->residual[u]];
    respond(s);
    memcpy(g->tangent + g->leaf.udot, s->work.udot, (size_t)speeds * sizeof *g->tangent);
    if (rows == 0) return;
    memcpy(g->tangent + g->leaf.lambda, s->loop.lambda, (size_t)rows * sizeof *g->tangent);
    weights_of_rows(s, weight);
    answer_rows(s, weight);
    for (int32_t u = 0; u < speeds; u++) g->tangent[g->leaf.udot + u] += s->loop.change[u];
    for (int32_t i = 0; i < rows; i++) g->tangent[g->leaf.lambda + i] += s->loop.lambda[i];
}

/* hosted.pulled: the tangents of what the pull a adds to the rates of y (motion/pull.c), on the constraints. */
static void pull_forward(fm_instance *s, double a)
{
    const int32_t np = s->image.n.positions, speeds = s->image.n.speeds;
    const double at_position[3] = {a, 0.0, 0.0}, at_velocity[3] = {0.0, a, 0.0};
    double *more = s->hosted.pulled, *moved = more + s->model.ny;
    memset(more, 0, (size_t)s->model.ny * sizeof *more);
    if (a == 0.0) return;
    answer_rows(s, at_position);
    memcpy(moved, s->y, (size_t)np * sizeof *moved);
    memcpy(moved + np, s->loop.change, (size_t)speeds * sizeof *moved);
    fm_position_rates(s, moved, more);
    answer_rows(s, at_velocity);
    memcpy(more + np, s->loop.change, (size_t)speeds * sizeof *more);
}

/* result (unknowns) = (d unknown / d known) seed; requires fm_exact_fits. 0: one is not finite. */
int fm_exact_forward(fm_instance *s, const fm_seeds *along, const uint32_t *unknown, size_t unknowns, double *result)
{
    fm_graph *g = s->graph;
    int fits = 1;
    const int all = is_any_output(s, unknown, unknowns);
    run_values(s, all);
    const double a = pull_of(s);
    memset(g->tangent, 0, (size_t)g->leaf.end * sizeof *g->tangent);
    for (size_t i = 0; i < along->knowns; i++) {
        if (along->seed[i] == 0.0 || fm_without_effect(s, along->known[i])) continue;
        double *at = g->tangent + fm_place_of_known(s, along->known[i]);
        for (int32_t j = 0; j < fm_numbers_of(s, along->known[i]); j++) at[j] += along->seed[i];
    }
    fm_graph_tangents(g, 0, g->dynamics);
    solve_forward(s);
    pull_forward(s, a);
    if (all) fm_graph_tangents(g, 0, g->nodes);
    for (size_t i = 0; i < unknowns; i++) {
        int32_t at = 0;
        result[i] = g->tangent[fm_place_of_unknown(s, unknown[i])];
        if (fm_beyond(s, unknown[i], &at) == FM_BEYOND_RATE) result[i] += s->hosted.pulled[at];
        fits &= isfinite(result[i]) != 0;
    }
    return fits;
}

static fm_status check(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known, size_t knowns,
                       const double *seed)
{
    if (!s->graph->built)
        return fm_say(s, FM_ERROR, "there is no adjoint of this model: %s; take directional derivatives",
                      s->graph->why[0] != 0 ? s->graph->why : "it was opened without derivatives");
    if (fm_bare_and_forced(s))
        return fm_say(s, FM_ERROR,
                      "there is no adjoint while a force acts along a mode of a joint that closes a loop; "
                      "take directional derivatives");
    for (size_t i = 0; i < unknowns; i++) {
        if (!isfinite(seed[i])) return fm_refuse_reference(s, unknown[i], "its seed must be a finite number");
        if (fm_place_of_unknown(s, unknown[i]) == FM_NO_SLOT)
            return fm_refuse_reference(s, unknown[i], "it has no adjoint; take a directional derivative");
    }
    for (size_t i = 0; i < knowns; i++)
        if (fm_place_of_known(s, known[i]) == FM_NO_SLOT && !fm_without_effect(s, known[i]))
            return fm_refuse_reference(s, known[i],
                                       "there is no adjoint with respect to it; take a directional derivative");
    return FM_OK;
}

/* The weights of the unknowns, all other adjoints zero; those of rates in hosted.toward too. */
static void seed_adjoints(fm_instance *s, const uint32_t *unknown, size_t unknowns, const double *seed)
{
    fm_graph *g = s->graph;
    memset(g->adjoint, 0, (size_t)g->values * sizeof *g->adjoint);
    memset(s->hosted.toward, 0, (size_t)s->model.ny * sizeof *g->adjoint);
    for (size_t i = 0; i < unknowns; i++) {
        int32_t rate = 0;
        if (fm_beyond(s, unknown[i], &rate) == FM_BEYOND_RATE) s->hosted.toward[rate] += seed[i];
        g->adjoint[fm_place_of_unknown(s, unknown[i])] += seed[i];
    }
}

/* Adds the multipliers of the last response, with a weight for each level, to the adjoints of the rows. */
static void add_to_rows(fm_instance *s, const double weight[3])
{
    fm_graph *g = s->graph;
    for (int32_t i = 0; i < s->image.n.rows; i++)
        for (int level = 0; level < 3; level++)
            if (g->row[3 * i + level] != FM_NO_SLOT)
                g->adjoint[g->row[3 * i + level]] += weight[level] * s->loop.lambda[i];
}

/* The forces by which the weights of the rates of positions act on velocity variables. */
static void force_by_positions(fm_instance *s, const double *toward)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind != FM_LINK_SPHERICAL) {
            s->work.seed[k->u] = toward[k->p];
            continue;
        }
        const double *q = s->y + k->p, *w = toward + k->p;
        double x[3];
        cross(w + 1, q + 1, x);
        for (int j = 0; j < 3; j++) s->work.seed[k->u + j] = 0.5 * ((q[0] * w[1 + j] - q[1 + j] * w[0]) + x[j]);
    }
}

/* The forces on modes whose acceleration is given do nothing. */
static void respond_free(fm_instance *s)
{
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        if (s->graph->residual[u] == FM_NO_SLOT) s->work.seed[u] = 0.0;
    respond(s);
}

/* Adds the adjoints of the pull a. */
static void pull_back(fm_instance *s, double a)
{
    const double at_position[3] = {a, 0.0, 0.0}, at_velocity[3] = {0.0, a, 0.0};
    if (a == 0.0) return;
    clear_forces(s);
    force_by_positions(s, s->hosted.toward);
    respond_free(s);
    add_to_rows(s, at_position);
    memcpy(s->work.seed, s->hosted.toward + s->image.n.positions, (size_t)s->image.n.speeds * sizeof(double));
    respond_free(s);
    add_to_rows(s, at_velocity);
}

/* loop.change and loop.lambda: the response to the adjoints of multipliers. 0: they are zero. */
static int balance_rows(fm_instance *s)
{
    const double *weight = s->graph->adjoint + s->graph->leaf.lambda;
    int any = 0;
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        s->loop.rhs[i] = 0.0 - weight[i];
        any |= weight[i] != 0.0;
    }
    if (any) fm_smallest_change(s);
    return any;
}

/* From the adjoints of accelerations and multipliers those of the residuals and the rows. */
static void solve_back(fm_instance *s)
{
    fm_graph *g = s->graph;
    double weight[3];
    clear_forces(s);
    memcpy(s->work.seed, g->adjoint + g->leaf.udot, (size_t)s->image.n.speeds * sizeof(double));
    respond_free(s);
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        if (g->residual[u] != FM_NO_SLOT) g->adjoint[g->residual[u]] -= s->work.udot[u];
    weights_of_rows(s, weight);
    add_to_rows(s, weight);
    if (!balance_rows(s)) return;
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        if (g->residual[u] != FM_NO_SLOT) g->adjoint[g->residual[u]] -= s->loop.change[u];
    add_to_rows(s, weight);
}

fm_status fm_do_adjoint_derivative(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                   size_t knowns, const double *seed, double *result)
{
    fm_graph *g = s->graph;
    if (check(s, unknown, unknowns, known, knowns, seed) != FM_OK) return FM_ERROR;
    fm_keep_pieces(s);
    if (!is_regular(s)) {
        fm_end_smooth(s);
        return fm_say(s, FM_DISCARD, "there is no adjoint near a singular position");
    }
    const int all = is_any_output(s, unknown, unknowns);
    run_values(s, all);
    const double a = pull_of(s);
    seed_adjoints(s, unknown, unknowns, seed);
    if (all) {
        fm_graph_adjoints(g, 0, g->nodes);
        memset(g->adjoint + g->leaf.end, 0, (size_t)(g->values - g->leaf.end) * sizeof *g->adjoint);
    }
    solve_back(s);
    pull_back(s, a);
    fm_end_smooth(s);
    fm_graph_adjoints(g, 0, g->dynamics);
    for (size_t i = 0; i < knowns; i++) {
        result[i] = 0.0;
        if (fm_without_effect(s, known[i])) continue;
        const double *at = g->adjoint + fm_place_of_known(s, known[i]);
        for (int32_t j = 0; j < fm_numbers_of(s, known[i]); j++) result[i] += at[j];
        if (!isfinite(result[i])) return fm_say(s, FM_DISCARD, "a derivative is not finite at the present state");
    }
    return FM_OK;
}
