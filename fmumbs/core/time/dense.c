/* dense.c: the dense output of the integrator's last step. */
#include "dense.h"

#include "../instance/instance.h"
#include "../tree/positions.h"
#include "../forces/excitation.h"

/* The dense output of the integrator's last step, at time t. */
void fm_dense(const fm_instance *s, double t, double *y)
{
    const int32_t ny = s->model.ny;
    const double tail = s->clock[FM_TIME_TAIL];
    const double x = (t - tail) / (s->clock[FM_TIME_DENSE] - tail), rest = 1.0 - x, *r = s->dense;
    const int eighth = s->options[FM_OPTION_SCHEME] == (double)FM_DOP853;
    for (int32_t i = 0; i < ny; i++) {
        double last = r[4 * ny + i];
        if (eighth) last += x * (r[5 * ny + i] + rest * (r[6 * ny + i] + x * r[7 * ny + i]));
        y[i] = r[i] + x * (r[ny + i] + rest * (r[2 * ny + i] + x * (r[3 * ny + i] + rest * last)));
    }
    (void)fm_normalise(s, y, NULL);
    fm_follow_paths(s, t, y);
}
