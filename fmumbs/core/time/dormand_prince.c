/* dormand_prince.c: trial steps by Dormand-Prince 5(4), their error and their dense output.
 *
 * J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19; dense output and step size control as in Hairer,
 * Norsett, Wanner, Solving Ordinary Differential Equations I, II.6 and II.4.
 */
#include "explicit.h"
#include "scheme.h"
#include "scratch.h"
#include "stages.h"

#include <math.h>

#define STAGES FM_STAGES_OF_DORMAND_PRINCE

static const double A[STAGES][STAGES - 1] = {
    {0.0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
};
static const double C[STAGES] = {0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0};
static const double E[STAGES] = {71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0,
                                 -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};
static const double D[STAGES] = {-12715105075.0 / 11282082432.0,  0.0,
                                 87487479700.0 / 32700410799.0,   -10690763975.0 / 1880347072.0,
                                 701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
                                 69997945.0 / 29380423.0};

/* h times how much slopes change between the last two stages, over how much the states do: about h |lambda| of the
 * stiff parts where these limit the step, then near 3.3 (Hairer, Wanner, II, IV.2). */
static double stiffness(const fm_instance *s)
{
    double slopes = 0.0, states = 0.0;
    for (int32_t i = 0; i < s->model.ny; i++) {
        const double w = 1.0 / fm_weight(s, i, fabs(s->head[i]));
        double sum = A[STAGES - 1][STAGES - 2] * fm_stage(s, STAGES - 2)[i];
        for (int j = 0; j < STAGES - 2; j++) sum += (A[STAGES - 1][j] - A[STAGES - 2][j]) * fm_stage(s, j)[i];
        const double state = w * sum, slope = w * (fm_stage(s, STAGES - 1)[i] - fm_stage(s, STAGES - 2)[i]);
        slopes += slope * slope, states += state * state;
    }
    return states > 0.0 ? sqrt(slopes / states) : 0.0;
}

/* One trial step of length h from the head; returns its error, NaN if the state is not finite. */
static double trial(fm_instance *s, double t, double h, int rejected)
{
    (void)rejected;
    if (!fm_explicit_stages(s, t, h, A[0], STAGES - 1, C, STAGES - 1)) return NAN;
    if (fm_scheme_of(s)->pair[0] != NULL) s->integrator->stiff = stiffness(s);
    return fm_explicit_error(s, h, E, STAGES - 1);
}

static void keep(fm_instance *s, double h, int within)
{
    const int32_t ny = s->model.ny;
    const double *next = s->integrator->trial;
    double *r = s->dense;
    (void)within;
    for (int32_t i = 0; i < ny; i++) {
        double sum = 0.0, diff = next[i] - s->head[i], bend = h * s->slope[i] - diff;
        for (int j = 0; j < STAGES; j++) sum += D[j] * fm_stage(s, j)[i];
        r[i] = s->head[i];
        r[ny + i] = diff;
        r[2 * ny + i] = bend;
        r[3 * ny + i] = (diff - h * fm_stage(s, 6)[i]) - bend;
        r[4 * ny + i] = h * sum;
    }
}

const fm_scheme fm_scheme_dopri5 = {
    .trial = trial,
    .keep = keep,
    .factor = fm_explicit_factor,
    .root = fm_fifth_root,
    .last = STAGES - 1,
};
