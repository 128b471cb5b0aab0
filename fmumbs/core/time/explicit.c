/* explicit.c: stages and errors of the explicit schemes with error control. */
#include "explicit.h"

#include "../instance/instance.h"
#include "../loops/scratch.h"
#include "../motion/rates.h"
#include "../motion/scratch.h"
#include "scratch.h"
#include "stages.h"

#include <math.h>
#include <string.h>

/* Stage j >= 1 of a step of length h from the head, with the row a of the scheme and its node c; leaves the state of
 * the stage in y. Stage 0 is the slope at the head. */
void fm_explicit_stage(fm_instance *s, double t, double h, const double *a, double c, int j, double *y)
{
    const int32_t ny = s->model.ny;
    if (j == 1) memcpy(fm_stage(s, 0), s->slope, (size_t)ny * sizeof(double));
    for (int32_t i = 0; i < ny; i++) {
        double sum = 0.0;
        for (int k = 0; k < j; k++) sum += a[k] * fm_stage(s, k)[i];
        y[i] = s->head[i] + h * sum;
    }
    fm_rates(s, t + c * h, y, fm_stage(s, j));
}

/* Stages 1 to `last` of a step of length h from the head, by rows of A, each of this width, and the nodes c; leaves the
 * state of the last stage in integrator.trial. If they come near a singular position they begin again on the branch. 0:
 * at one of them drives have lost their effect, so that the others would not be finite. */
int fm_explicit_stages(fm_instance *s, double t, double h, const double *A, int width, const double *c, int last)
{
    for (int j = 1; j <= last; j++) {
        fm_explicit_stage(s, t, h, A + (j * width), c[j], j, s->integrator->trial);
        if (s->realised->lost) break;
        if (fm_begins_on_branch(s)) j = 0;
    }
    s->singular->was_near = s->singular->on_branch, s->singular->on_branch = 0;
    return !s->realised->lost;
}

/* The largest h times sum of e[j] stage[j], j <= last, relative to the allowed error; NaN if it is not finite. */
double fm_explicit_error(const fm_instance *s, double h, const double *e, int last)
{
    double worst = 0.0;
    for (int32_t i = 0; i < s->model.ny; i++) {
        double sum = 0.0, a = fabs(s->head[i]), b = fabs(s->integrator->trial[i]);
        for (int j = 0; j <= last; j++) sum += e[j] * fm_stage(s, j)[i];
        const double error = fabs(h * sum) / fm_weight(s, i, a > b ? a : b);
        worst = error > worst || isnan(error) ? error : worst;
        if (isnan(worst)) return worst;
    }
    return worst;
}

/* Factor for the step size after a step with this error: accepted, where control is proportional and integral with
 * exponents of three quarters and a quarter of that of `root`, or rejected. */
double fm_explicit_factor(const fm_instance *s, const fm_scheme *scheme, double h, double error)
{
    double (*const root)(double) = scheme->root;
    double factor;
    (void)h;
    if (error <= 1.0) {
        const double now = sqrt(sqrt(root(error > 1e-10 ? error : 1e-10))),
                     before = sqrt(sqrt(root(s->clock[FM_ERROR_LAST])));
        factor = 0.9 * before / (now * now * now);
    } else {
        factor = isnan(error) || isinf(error) ? 0.2 : 0.9 / root(error);
    }
    return factor > 10.0 ? 10.0 : factor < 0.2 ? 0.2 : factor;
}

/* So many stages of a step of h from the present state, of a scheme whose stages each continue from the one before, at
 * these nodes. If they come near a singular position they begin again on the branch. */
void fm_chained_stages(fm_instance *s, double t, double h, const double *node, int count)
{
    for (int j = 0; j < count; j++) {
        const double *slope = fm_stage(s, j > 0 ? j - 1 : 0);
        for (int32_t i = 0; i < s->model.ny; i++)
            s->integrator->trial[i] = j == 0 ? s->y[i] : s->y[i] + node[j] * h * slope[i];
        fm_rates(s, t + node[j] * h, s->integrator->trial, fm_stage(s, j));
        if (fm_begins_on_branch(s)) j = -1;
    }
    s->singular->was_near = s->singular->on_branch, s->singular->on_branch = 0;
}
