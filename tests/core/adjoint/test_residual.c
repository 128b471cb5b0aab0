/* test_residual.c: the graph of exact derivatives says the same as the core: at its accelerations and multipliers the
 * residuals of inverse dynamics vanish, and so do the second derivatives of the constraints.
 */
#include "images.h"

#include "adjoint/graph.h"
#include "adjoint/leaves.h"
#include "adjoint/operations.h"
#include "instance/instance.h"
#include "outputs/update.h"

#define ROUND_OFF 1e-8 /* of the largest number that a graph computes: those of stiff springs are large */

static fm_instance *open_with_derivatives(const image *one)
{
    char message[300] = "";
    fm_instance *s = NULL;
    CHECK(fm_open_with_derivatives(one->bytes, one->size, &s, message, sizeof message) == FM_OK);
    return s;
}

static double largest_of(const double *values, int32_t count)
{
    double most = 1.0;
    for (int32_t i = 0; i < count; i++) most = fmax(most, fabs(values[i]));
    return most;
}

static void check_balance(fm_instance *s)
{
    const fm_graph *g = s->graph;
    fm_update(s, FM_VALID_MOTION);
    if (s->loop.near_singular) return;
    fm_graph_load(s, g->cuts);
    fm_graph_values(s, 0, g->nodes);
    const double most = largest_of(g->value, g->values);
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        CHECK(g->residual[u] < 0 || !(fabs(g->value[g->residual[u]]) > ROUND_OFF * most));
    for (int32_t i = 0; i < s->image.n.rows; i++)
        CHECK(g->row[3 * i] < 0 || !(s->row_active[i] > 0.0) ||
              !(fabs(g->value[g->row[3 * i + 2]]) > ROUND_OFF * most));
}

/* Every adjoint of one output; what has none is refused. */
static void sweep(fm_instance *s)
{
    const size_t count = fm_variable_count(s);
    const double seed = 1.0;
    double *result = allocate(count, sizeof *result);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k += 7) (void)fm_adjoint_derivative(s, &i, 1, &k, 1, &seed, result);
    free(result);
}

static void check_residual(const image *one)
{
    fm_instance *s = open_with_derivatives(one);
    char why[200] = "";
    const int covered = s->graph->built;
    CHECK(covered == (s->graph->why[0] == 0));
    CHECK(fm_has_adjoint(s, why, sizeof why) ? covered : why[0] != 0);
    if (covered && fm_assemble(s, 0.0) == FM_OK) {
        check_balance(s);
        if (one->size < SMALL) sweep(s);
        (void)fm_step(s, 0.01);
        check_balance(s);
    }
    fm_close(s);
}

int main(void)
{
    return walk(check_residual, EVERY);
}
