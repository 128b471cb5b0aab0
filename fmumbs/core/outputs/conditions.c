/* conditions.c: numbers that solve equations with the accelerations and multipliers (FM_CONDITIONS): forces of laws
 * that stick, normal forces by the joints' own reactions.
 *
 * With accelerations and multipliers w(x, z), z these numbers, and their equations g(x, w, z) = 0, the matrix is
 *     S = dg/dz + dg/dw dw/dz,   dz = -S^-1 (dg/dx + dg/dw dw/dx) dx;
 * a column of it takes one response and two passes over tangents. A function L(x, w, z) has by x, with dL/dz the whole
 * derivative by z, the derivative of L + p' g at constant z, S' p = -dL/dz.
 */
#include "conditions.h"

#include "../adjoint/graph.h"
#include "../adjoint/operations.h"
#include "../forces/laws.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../maths/lu.h"
#include "../motion/sticking.h"
#include "exact_response.h"

#include <math.h>
#include <string.h>

#define FM_LEAST_PIVOT 1e-10 /* least pivot, of the largest in its row: below it the numbers are not determined */

/* Of a column. */
static size_t width(const fm_instance *s)
{
    return (size_t)(s->image.n.speeds + s->image.n.rows);
}

/* Whether loops lock the n-th law that sticks, which then has no force that could change. */
static int is_locked_at_rest(const fm_instance *s, int32_t n, int32_t law)
{
    return s->laws.locked[n] == FM_LOCKED_AT_REST && s->laws.force[law] == 0.0;
}

/* Lists the conditions that hold at the present state. 0: a law that sticks has a force that loops do not leave open,
 * or there are too many. */
int fm_list_conditions(fm_instance *s)
{
    fm_graph *g = s->graph;
    int32_t above, below, stick = 0;
    double bound;
    g->actives = 0;
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        if (!fm_law_sticks(s, i, &above, &below, &bound)) continue;
        if (stick == FM_STICKING) return 0;
        const int32_t n = stick++;
        if (is_locked_at_rest(s, n, i)) continue;
        if (s->laws.locked[n] != FM_NOT_LOCKED) return 0;
        g->active[g->actives++] = i;
    }
    for (int32_t i = s->image.n.laws; i < FM_CONDITIONS(&s->model); i++)
        if (g->equation[i] != FM_NO_SLOT) g->active[g->actives++] = i;
    return 1;
}

/* The tangents of accelerations and multipliers, and the changes of the equations, that a unit of one number makes. */
static void make_column(fm_instance *s, int32_t k)
{
    fm_graph *g = s->graph;
    double *column = g->column + (size_t)k * width(s);
    memset(g->tangent, 0, (size_t)g->leaf.end * sizeof *g->tangent);
    g->tangent[g->unknown[g->active[k]]] = 1.0;
    fm_graph_tangents(s, 0, g->dynamics);
    fm_exact_solve(s);
    memcpy(column, g->tangent + g->leaf.udot, (size_t)s->image.n.speeds * sizeof *column);
    memcpy(column + s->image.n.speeds, g->tangent + g->leaf.lambda, (size_t)s->image.n.rows * sizeof *column);
    fm_graph_tangents(s, 0, g->conditions);
    for (int32_t i = 0; i < g->actives; i++) g->matrix[i * g->actives + k] = g->tangent[g->equation[g->active[i]]];
}

/* Whether the pivots of the factor are more than round-off of what is in g->off. */
static int is_independent(const fm_graph *g)
{
    for (int32_t k = 0; k < g->actives; k++)
        if (!(fabs(g->matrix[k * g->actives + k]) * g->off[k] * FM_LEAST_PIVOT < 1.0)) return 0;
    return 1;
}

/* Finds the factor of the matrix of the conditions, after fm_list_conditions; requires values of the graph. 0: they do
 * not determine their numbers. */
int fm_make_conditions(fm_instance *s)
{
    fm_graph *g = s->graph;
    const int32_t n = g->actives;
    if (n == 0) return 1;
    for (int32_t k = 0; k < n; k++) make_column(s, k);
    for (int32_t i = 0; i < n; i++) {
        double most = 0.0;
        for (int32_t k = 0; k < n; k++) most = fmax(most, fabs(g->matrix[i * n + k]));
        g->off[i] = most > 0.0 ? 1.0 / most : 0.0;
    }
    fm_lu_factor(g->matrix, n, g->off, g->exchanged);
    for (int32_t k = 0; k < n; k++) g->off[k] = g->off[k] > 0.0 ? 1.0 / g->off[k] : INFINITY;
    return is_independent(g);
}

/* From tangents of accelerations and multipliers at constant numbers to those with them; the numbers' own, too. */
void fm_conditions_follow(fm_instance *s)
{
    fm_graph *g = s->graph;
    const int32_t n = g->actives, speeds = s->image.n.speeds, rows = s->image.n.rows;
    if (n == 0) return;
    fm_graph_tangents(s, 0, g->conditions);
    for (int32_t i = 0; i < n; i++) g->off[i] = 0.0 - g->tangent[g->equation[g->active[i]]];
    fm_lu_solve(g->matrix, n, g->exchanged, g->off);
    for (int32_t k = 0; k < n; k++) {
        const double *column = g->column + (size_t)k * width(s);
        g->tangent[g->unknown[g->active[k]]] += g->off[k];
        for (int32_t u = 0; u < speeds; u++) g->tangent[g->leaf.udot + u] += g->off[k] * column[u];
        for (int32_t i = 0; i < rows; i++) g->tangent[g->leaf.lambda + i] += g->off[k] * column[speeds + i];
    }
}

/* Adds p' g to the function whose adjoints by the leaves are there. */
void fm_conditions_follow_back(fm_instance *s)
{
    fm_graph *g = s->graph;
    const int32_t n = g->actives, speeds = s->image.n.speeds, rows = s->image.n.rows;
    if (n == 0) return;
    for (int32_t k = 0; k < n; k++) {
        const double *column = g->column + (size_t)k * width(s);
        g->off[k] = 0.0 - g->adjoint[g->unknown[g->active[k]]];
        for (int32_t u = 0; u < speeds; u++) g->off[k] -= g->adjoint[g->leaf.udot + u] * column[u];
        for (int32_t i = 0; i < rows; i++) g->off[k] -= g->adjoint[g->leaf.lambda + i] * column[speeds + i];
    }
    fm_lu_solve_transposed(g->matrix, n, g->exchanged, g->off);
    for (int32_t i = 0; i < n; i++) g->adjoint[g->equation[g->active[i]]] += g->off[i];
    fm_graph_adjoints(s, 0, g->conditions);
    memset(g->adjoint + g->leaf.end, 0, (size_t)(g->before_outputs - g->leaf.end) * sizeof *g->adjoint);
}
