/* dense.c: the dense output of the integrator's last step. */
#include "dense.h"

#include "../instance/instance.h"
#include "../tree/positions.h"
#include "../forces/excitation.h"

/* The dense output of the integrator's last step, at time t: r0 + x (r1 + (1 - x) (r2 + x (r3 + (1 - x) (r4 + ...))))
 * of as many terms as the scheme has. */
void fm_dense(const fm_instance *s, double t, double *y)
{
    static const int32_t terms[] = {
#define S(number, id, name, order, fixed, stages, count, method, purpose) count,
        FM_SCHEMES(S)
#undef S
    };
    const int32_t ny = s->model.ny, last = terms[(int32_t)s->options[FM_OPTION_SCHEME]] - 1;
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
