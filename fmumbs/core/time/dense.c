/* dense.c: the dense output of the integrator's last step. */
#include "dense.h"

#include "../instance/instance.h"
#include "../tree/positions.h"
#include "../forces/excitation.h"

#include <math.h>

/* How many terms the scheme's dense output has. */
static int32_t terms_of(const fm_instance *s)
{
    static const int32_t terms[] = {
#define S(number, id, name, order, fixed, stages, count, method, purpose) count,
        FM_SCHEMES(S)
#undef S
    };
    return terms[(int32_t)s->options[FM_OPTION_SCHEME]];
}

/* How far the first n elements of y get from the start of the last step within it, at most: x, x (1 - x) and their
 * products are at most 1, 1/4 and powers of this. */
void fm_dense_reach(const fm_instance *s, int32_t n, double *reach)
{
    const int32_t ny = s->model.ny, terms = terms_of(s);
    const double *r = s->dense;
    for (int32_t i = 0; i < n; i++) reach[i] = fabs(r[ny + i]);
    double most = 1.0;
    for (int32_t k = 2; k < terms; k++) {
        if (k % 2 == 0) most *= 0.25;
        for (int32_t i = 0; i < n; i++) reach[i] += most * fabs(r[k * ny + i]);
    }
}

/* The dense output of the integrator's last step, at time t: r0 + x (r1 + (1 - x) (r2 + x (r3 + (1 - x) (r4 + ...))))
 * of as many terms as the scheme has. */
void fm_dense(const fm_instance *s, double t, double *y)
{
    const int32_t ny = s->model.ny, last = terms_of(s) - 1;
    const double tail = s->clock[FM_TIME_TAIL];
    const double x = (t - tail) / (s->clock[FM_TIME_DENSE] - tail), rest = 1.0 - x, *r = s->dense;
    for (int32_t i = 0; i < ny; i++) {
        double sum = r[last * ny + i];
        for (int32_t k = last - 1; k >= 0; k--) sum = r[k * ny + i] + (k % 2 == 0 ? x : rest) * sum;
        y[i] = sum;
    }
    (void)fm_normalise(s, y, NULL);
    fm_follow_paths(s, t, y);
}
