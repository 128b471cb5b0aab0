/* exact_response.c: how accelerations and multipliers respond to changes of the residuals and rows of a graph, and the
 * transposed: what is solved between its sweeps (exact.c).
 */
#include "exact_response.h"

#include "../adjoint/graph.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../loops/multipliers.h"
#include "../loops/projection.h"
#include "../loops/reduced.h"
#include "../maths/vectors.h"
#include "../tree/positions.h"
#include "response.h"

#include <string.h>

/* The smallest change of velocities that changes the rows by loop.rhs, and its multipliers. */
void fm_exact_change(fm_instance *s)
{
    if (s->reduced.used) fm_reduced_answer(s);
    else fm_smallest_change(s);
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

/* No forces in work.seed. */
void fm_exact_clear_forces(fm_instance *s)
{
    memset(s->work.seed, 0, (size_t)s->image.n.speeds * sizeof(double));
}

/* The response of accelerations, in work.udot, and multipliers to the forces in work.seed. */
static void respond(fm_instance *s)
{
    fm_respond_by_motion(s, s->work.seed);
    s->valid &= FM_VALID_LAWS_AND_GRAPH;
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
    fm_exact_change(s);
}

/* Tangents of accelerations and multipliers. */
void fm_exact_solve(fm_instance *s)
{
    fm_graph *g = s->graph;
    const int32_t speeds = s->image.n.speeds, rows = s->image.n.rows;
    double weight[3];
    fm_exact_clear_forces(s);
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
void fm_exact_force_by_positions(fm_instance *s, const double *toward)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind != FM_LINK_SPHERICAL) {
            for (int32_t j = 0; j < fm_link_speeds(&s->image, i); j++) s->work.seed[k->u + j] = toward[k->p + j];
            continue;
        }
        const double *q = s->y + k->p, *w = toward + k->p;
        double x[3];
        cross(w + 1, q + 1, x);
        for (int j = 0; j < 3; j++) s->work.seed[k->u + j] = 0.5 * ((q[0] * w[1 + j] - q[1 + j] * w[0]) + x[j]);
    }
}

/* The response of accelerations, in work.udot, and multipliers to the forces in work.seed; those on modes whose
 * acceleration is given do nothing. */
void fm_exact_respond(fm_instance *s)
{
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        if (s->graph->residual[u] == FM_NO_SLOT) s->work.seed[u] = 0.0;
    respond(s);
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
    if (any) fm_exact_change(s);
    return any;
}

/* From the adjoints of accelerations and multipliers those of the residuals and the rows. */
void fm_exact_solve_back(fm_instance *s)
{
    fm_graph *g = s->graph;
    double weight[3];
    fm_exact_clear_forces(s);
    memcpy(s->work.seed, g->adjoint + g->leaf.udot, (size_t)s->image.n.speeds * sizeof(double));
    fm_exact_respond(s);
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        if (g->residual[u] != FM_NO_SLOT) g->adjoint[g->residual[u]] -= s->work.udot[u];
    weights_of_rows(s, weight);
    add_to_rows(s, weight);
    if (!balance_rows(s)) return;
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        if (g->residual[u] != FM_NO_SLOT) g->adjoint[g->residual[u]] -= s->loop.change[u];
    add_to_rows(s, weight);
}
