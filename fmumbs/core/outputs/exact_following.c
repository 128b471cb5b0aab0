/* exact_following.c: independent states (motion/independent.c): the tangents of the states that follow from them, and
 * the transposed.
 *
 * With the rows c(p), c'(p, u), and what follows changing along velocity variables,
 *     J_d dp_d = -dc,   J_d du_d = -dc',
 * dc at constant p_d, dc' then at constant u_d: tangents of the graph, one pass for each. Backwards u_d comes first.
 */
#include "exact_following.h"

#include "../adjoint/graph.h"
#include "../adjoint/operations.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../motion/independent.h"
#include "../tree/positions.h"
#include "exact_response.h"

#include <string.h>

/* From tangents of the independent states to those of all. 0: the system is singular. */
int fm_exact_follow(fm_instance *s)
{
    fm_graph *g = s->graph;
    const int32_t np = s->image.n.positions, speeds = s->image.n.speeds;
    double *moved = s->hosted.pulled, *rate = moved + s->model.ny, *change = s->loop.change;
    if (!fm_has_independent(s) || s->clock[FM_HOSTED] == 0.0) return 1;
    for (int level = 0; level < 2; level++) {
        fm_graph_tangents(s, 0, g->dynamics);
        for (int32_t i = 0; i < s->image.n.rows; i++)
            s->loop.rhs[i] = g->row[3 * i + level] == FM_NO_SLOT ? 0.0 : g->tangent[g->row[3 * i + level]];
        if (!fm_following_change(s, level, s->loop.rhs, change)) return 0;
        if (level == 1) {
            for (int32_t u = 0; u < speeds; u++) g->tangent[g->leaf.y + np + u] += change[u];
            continue;
        }
        memcpy(moved, s->y, (size_t)np * sizeof *moved);
        memcpy(moved + np, change, (size_t)speeds * sizeof *moved);
        fm_position_rates(s, moved, rate);
        for (int32_t i = 0; i < np; i++) g->tangent[g->leaf.y + i] += rate[i];
    }
    return 1;
}

/* From adjoints of all states to those of the independent ones. 0: the system is singular. */
int fm_exact_follow_back(fm_instance *s)
{
    fm_graph *g = s->graph;
    const int32_t np = s->image.n.positions, speeds = s->image.n.speeds;
    if (!fm_has_independent(s) || s->clock[FM_HOSTED] == 0.0) return 1;
    for (int level = 1; level >= 0; level--) {
        const double *toward = g->adjoint + g->leaf.y;
        if (level == 0) fm_exact_force_by_positions(s, toward);
        else memcpy(s->work.seed, toward + np, (size_t)speeds * sizeof *s->work.seed);
        if (!fm_following_back(s, level, s->work.seed, s->loop.rhs)) return 0;
        memset(g->adjoint + g->leaf.end, 0, (size_t)(g->before_outputs - g->leaf.end) * sizeof *g->adjoint);
        for (int32_t i = 0; i < s->image.n.rows; i++)
            if (g->row[3 * i + level] != FM_NO_SLOT) g->adjoint[g->row[3 * i + level]] += s->loop.rhs[i];
        fm_graph_adjoints(s, 0, g->dynamics);
    }
    return 1;
}
