/* runge_kutta.c: the classical Runge-Kutta method of order 4, in equal steps. */
#include "explicit.h"
#include "scheme.h"
#include "scratch.h"
#include "stages.h"

#include <math.h>

#define FM_MOVES 1e-5 /* [rad], or lengths: less is not judged */
#define STAGES FM_STAGES_OF_RUNGE_KUTTA

/* Whether a step of h from s->y is beyond the limit of stability, 2.8 over the highest frequency: the slopes of its
 * second and third stage then differ by up to twice the slopes of the first two, in a stable step by less. Near a
 * singular position slopes tell nothing about it; what fails there is found by the correction. */
static int is_too_long(const fm_instance *s, double h)
{
    const int32_t np = s->image.n.positions, nu = s->image.n.speeds;
    const double *first = fm_stage(s, 0) + np, *second = fm_stage(s, 1) + np, *third = fm_stage(s, 2) + np;
    double apart = 0.0, most = 0.0;
    for (int32_t u = 0; u < nu; u++) {
        const double unit = h * h / (s->image.mode_linear[u] ? s->image.length[0] : 1.0);
        apart = fmax(apart, unit * fabs(third[u] - second[u]));
        most = fmax(most, unit * fmax(fabs(first[u]), fabs(second[u])));
    }
    return apart > FM_MOVES && apart > 2.0 * most;
}

/* One step of h from the present state; its end in integrator.trial. 0: it is too long. */
static int step(fm_instance *s, double t, double h)
{
    static const double node[STAGES] = {0.0, 0.5, 0.5, 1.0};
    fm_chained_stages(s, t, h, node, STAGES);
    if (!s->loop.near_singular && is_too_long(s, h)) return 0;
    for (int32_t i = 0; i < s->model.ny; i++) {
        double middle = fm_stage(s, 1)[i] + fm_stage(s, 2)[i];
        s->integrator->trial[i] = s->y[i] + h / 6.0 * ((fm_stage(s, 0)[i] + fm_stage(s, 3)[i]) + 2.0 * middle);
    }
    return 1;
}

const fm_scheme fm_scheme_rk4 = {.step = step};
