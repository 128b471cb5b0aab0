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
#include "../image/joints.h"
#include "../motion/pull.h"
#include "../motion/scratch.h"
#include "../motion/sticking.h"
#include "../time/hosted.h"
#include "conditions.h"
#include "continuous.h"
#include "exact_following.h"
#include "exact_places.h"
#include "exact_plan.h"
#include "exact_pull.h"
#include "exact_response.h"
#include "update.h"
#include "values.h"

#include <math.h>
#include <string.h>

/* Whether the graph has derivatives of an unknown, after fm_exact_fits: not of rates that pull to a branch. */
int fm_exact_covers(fm_instance *s, uint32_t unknown)
{
    const int branch = s->graph->to_branch && fm_beyond(s, unknown, NULL) == FM_BEYOND_RATE;
    return !branch && fm_place_of_unknown(s, unknown) != FM_NO_SLOT;
}

/* What unknowns need of the graph. */
typedef struct fm_reach {
    int32_t nodes, values; /* how many of the first ones have values, and how many these are */
    int32_t computed;      /* how many of the first ones compute unknowns; 0: all of these are leaves */
} fm_reach;

/* The nodes that forces and rows are made of, and those up to the one that computes the unknown with the last place. */
static fm_reach reach_to(const fm_graph *g, int32_t last)
{
    fm_reach reach = {g->conditions, g->before_outputs, 0};
    int32_t end = g->nodes;
    if (last < g->leaf.end) return reach;
    while (reach.computed < end) {
        const int32_t middle = reach.computed + (end - reach.computed) / 2;
        if (g->node[middle].out > last) end = middle;
        else reach.computed = middle + 1;
    }
    if (last < g->before_outputs) return reach;
    reach.nodes = end;
    reach.values = end < g->nodes ? g->node[end].out : g->values;
    return reach;
}

static fm_reach reach_of(fm_instance *s, const uint32_t *unknown, size_t unknowns)
{
    int32_t last = FM_NO_SLOT;
    for (size_t i = 0; i < unknowns; i++) {
        const int32_t at = fm_place_of_unknown(s, unknown[i]);
        last = at > last ? at : last;
    }
    return reach_to(s->graph, last);
}

static int is_any_rate(fm_instance *s, const uint32_t *unknown, size_t unknowns)
{
    for (size_t i = 0; i < unknowns; i++)
        if (fm_beyond(s, unknown[i], NULL) == FM_BEYOND_RATE) return 1;
    return 0;
}

/* Values of so many nodes at the present state, or, `planned`, of those of the plan, and the conditions, unless they
 * are there already. 0: the multipliers or the conditions' numbers are not those of their rows, and no others. */
static int prepare(fm_instance *s, int32_t nodes, int planned)
{
    fm_graph *g = s->graph;
    if ((s->valid & FM_VALID_GRAPH) != 0 && (g->valued >= nodes || (planned && g->plan.valued))) return 1;
    fm_update(s, nodes > g->conditions ? FM_VALID_MOTION | FM_VALID_QUATERNIONS : FM_VALID_MOTION);
    if (s->loop.near_singular || s->singular->on_branch || s->following->pins > 0) return 0;
    g->to_branch = fm_pulls_to_branch(s, fm_exact_pull(s));
    fm_graph_load(s, planned ? g->plan.cuts : g->cuts);
    if (!fm_list_conditions(s)) return 0;
    g->plan.valued = planned;
    g->valued = planned ? 0 : nodes;
    if (planned) fm_plan_values(s);
    else fm_graph_values(s, 0, nodes);
    if (!planned && !fm_make_conditions(s)) return 0;
    s->valid |= FM_VALID_GRAPH;
    return 1;
}

/* Whether the graph has derivatives of any of the unknowns by all that the seeds move. */
int fm_exact_fits(fm_instance *s, const fm_seeds *along, const uint32_t *unknown, size_t unknowns)
{
    size_t covered = 0;
    if (!s->graph->built) return 0;
    for (size_t i = 0; i < along->knowns; i++)
        if (along->seed[i] != 0.0 && fm_place_of_known(s, along->known[i]).at == FM_NO_SLOT) return 0;
    if (!prepare(s, reach_of(s, unknown, unknowns).nodes, 0)) return 0;
    for (size_t i = 0; i < unknowns; i++) covered += fm_exact_covers(s, unknown[i]) != 0;
    return covered > 0;
}

/* result (unknowns) = (d unknown / d known) seed of the unknowns that are covered; requires fm_exact_fits. 0: one is
 * not finite. */
int fm_exact_forward(fm_instance *s, const fm_seeds *along, const uint32_t *unknown, size_t unknowns, double *result)
{
    fm_graph *g = s->graph;
    int fits = 1;
    const fm_reach reach = reach_of(s, unknown, unknowns);
    const double a = !g->to_branch && is_any_rate(s, unknown, unknowns) ? fm_exact_pull(s) : 0.0;
    memset(g->tangent, 0, (size_t)g->leaf.end * sizeof *g->tangent);
    for (size_t i = 0; i < along->knowns; i++) {
        if (along->seed[i] == 0.0) continue;
        const fm_known_place place = fm_place_of_known(s, along->known[i]);
        for (int32_t j = 0; j < place.numbers; j++) g->tangent[place.at + j] += along->seed[i];
    }
    if (!fm_exact_follow(s)) return 0;
    fm_graph_tangents(s, 0, g->dynamics);
    if (a > 0.0) fm_exact_begin_pull(s);
    fm_exact_solve(s);
    fm_conditions_follow(s);
    if (reach.computed > 0) fm_graph_tangents(s, 0, reach.computed);
    for (size_t i = 0; i < unknowns; i++)
        if (fm_exact_covers(s, unknown[i])) result[i] = g->tangent[fm_place_of_unknown(s, unknown[i])];
    if (a > 0.0) fm_exact_pull_forward(s, a);
    for (size_t i = 0; i < unknowns; i++) {
        int32_t at = 0;
        if (!fm_exact_covers(s, unknown[i])) continue;
        if (a > 0.0 && fm_beyond(s, unknown[i], &at) == FM_BEYOND_RATE) result[i] += s->hosted.pulled[at];
        fits &= isfinite(result[i]) != 0;
    }
    return fits;
}

/* graph.asked_place: the places of the first unknowns, as many as there is room for, unless they are there: those of
 * rates and states are always the same. */
static void find_unknowns(fm_instance *s, const uint32_t *unknown, size_t unknowns)
{
    fm_graph *g = s->graph;
    const int32_t count = unknowns < (size_t)g->room ? (int32_t)unknowns : g->room;
    const size_t bytes = (size_t)count * sizeof *unknown;
    if (g->fixed && g->unknowns == count && memcmp(g->asked, unknown, bytes) == 0) return;
    g->fixed = count > 0 && (size_t)count == unknowns, g->unknowns = count;
    for (int32_t i = 0; i < count; i++) {
        g->asked[i] = unknown[i];
        g->asked_place[i] = fm_place_of_unknown(s, unknown[i]);
        g->fixed &= unknown[i] >= (uint32_t)s->image.n.variables;
    }
}

static int32_t place_of(fm_instance *s, const uint32_t *unknown, size_t i)
{
    return i < (size_t)s->graph->unknowns ? s->graph->asked_place[i] : fm_place_of_unknown(s, unknown[i]);
}

/* Of an adjoint; *reach: what it needs of the graph. */
static fm_status check(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known, size_t knowns,
                       const double *seed, fm_reach *reach)
{
    int32_t last = FM_NO_SLOT;
    if (!s->graph->built)
        return fm_say(s, FM_ERROR, "there is no adjoint of this model: %s; take directional derivatives",
                      s->graph->why[0] != 0 ? s->graph->why : "it was opened without derivatives");
    find_unknowns(s, unknown, unknowns);
    for (size_t i = 0; i < unknowns; i++) {
        if (!isfinite(seed[i])) return fm_refuse_reference(s, unknown[i], "its seed must be a finite number");
        const int32_t at = place_of(s, unknown, i);
        if (at == FM_NO_SLOT)
            return fm_refuse_reference(s, unknown[i], "it has no adjoint; take a directional derivative");
        last = at > last ? at : last;
    }
    *reach = reach_to(s->graph, last);
    if (fm_is_plan_for(s, known, knowns)) return FM_OK;
    for (size_t i = 0; i < knowns; i++)
        if (fm_place_of_known(s, known[i]).at == FM_NO_SLOT)
            return fm_refuse_reference(s, known[i],
                                       "there is no adjoint with respect to it; take a directional derivative");
    return FM_OK;
}

/* The weights of the unknowns, the other ones of so many adjoints zero. */
static void seed_adjoints(fm_instance *s, int32_t values, const uint32_t *unknown, size_t unknowns, const double *seed)
{
    fm_graph *g = s->graph;
    memset(g->adjoint, 0, (size_t)values * sizeof *g->adjoint);
    for (size_t i = 0; i < unknowns; i++) g->adjoint[place_of(s, unknown, i)] += seed[i];
}

/* hosted.toward: those of rates. */
static void seed_rates(fm_instance *s, const uint32_t *unknown, size_t unknowns, const double *seed)
{
    memset(s->hosted.toward, 0, (size_t)s->model.ny * sizeof *seed);
    for (size_t i = 0; i < unknowns; i++) {
        int32_t rate = 0;
        if (fm_beyond(s, unknown[i], &rate) == FM_BEYOND_RATE) s->hosted.toward[rate] += seed[i];
    }
}

/* Whether the plan has all that an adjoint needs: of leaves or rates alone, as what is computed may follow
 * accelerations, without a pull to constraints or states that follow, without conditions. */
static int is_planned(fm_instance *s, const fm_reach *reach, const uint32_t *known, size_t knowns)
{
    const fm_graph *g = s->graph;
    if (reach->computed > 0 && !g->fixed) return 0;
    if (reach->values > g->before_outputs || (s->clock[FM_HOSTED] != 0.0 && s->image.n.rows > 0)) return 0;
    fm_update(s, FM_VALID_LAWS);
    if (fm_any_law_sticks(s)) return 0;
    for (int32_t i = s->image.n.laws; i < FM_CONDITIONS(&s->model); i++)
        if (g->equation[i] != FM_NO_SLOT) return 0;
    return fm_plan_for(s, known, knowns, reach->computed);
}

fm_status fm_do_adjoint_derivative(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                   size_t knowns, const double *seed, double *result)
{
    fm_graph *g = s->graph;
    fm_reach reach = {0, 0, 0};
    if (check(s, unknown, unknowns, known, knowns, seed, &reach) != FM_OK) return FM_ERROR;
    fm_keep_pieces(s);
    const int planned = is_planned(s, &reach, known, knowns);
    if (!prepare(s, reach.nodes, planned) || (s->graph->to_branch && is_any_rate(s, unknown, unknowns))) {
        fm_end_smooth(s);
        return fm_say(
            s, FM_DISCARD,
            "there is no adjoint near a singular position, nor where forces of laws that stick are not unique");
    }
    const double a = is_any_rate(s, unknown, unknowns) ? fm_exact_pull(s) : 0.0;
    seed_adjoints(s, reach.values, unknown, unknowns, seed);
    if (a > 0.0) seed_rates(s, unknown, unknowns, seed);
    if (reach.computed > 0) {
        if (planned) fm_plan_adjoints(s, g->plan.first);
        else fm_graph_adjoints(s, 0, reach.computed);
        memset(g->adjoint + g->leaf.end, 0, (size_t)(g->before_outputs - g->leaf.end) * sizeof *g->adjoint);
    }
    fm_conditions_follow_back(s);
    fm_exact_solve_back(s);
    if (a > 0.0) fm_exact_pull_back(s, a);
    fm_end_smooth(s);
    if (planned) fm_plan_adjoints(s, g->plan.adjoints);
    else fm_graph_adjoints(s, 0, g->dynamics);
    if (a > 0.0) fm_exact_pull_back_further(s);
    if (!fm_exact_follow_back(s)) return fm_say(s, FM_DISCARD, "the independent states are singular here");
    for (size_t i = 0; i < knowns; i++) {
        const fm_known_place place = planned ? g->planned_place[i] : fm_place_of_known(s, known[i]);
        result[i] = 0.0;
        for (int32_t j = 0; j < place.numbers; j++) result[i] += g->adjoint[place.at + j];
        if (!isfinite(result[i])) return fm_say(s, FM_DISCARD, "a derivative is not finite at the present state");
    }
    return FM_OK;
}
