/* own_states.c: the own states of force elements, such as the current of a motor, beside the bristles of friction.
 *
 * States x have rates x' = f(x, v, inputs), and the element has a force F(x, v) along one velocity variable v. In the
 * implicit scheme they are condensed as bristles are (friction.c): of the system (I - g J) d = r the part of x is
 *
 *     d_x = E (r_x + g B d_v),   E = (I - g A)^-1,   A = dx'/dx,   B = dx'/dv,
 *
 * so that with C = dF/dx the variable has the damping -g C E B beside the element's own, and feels x + g E r_x.
 */
#include "own_states.h"

#include "../forces/elements.h"
#include "../forces/inputs.h"
#include "../instance/instance.h"
#include "scratch.h"

#include <string.h>

/* The rates of the own states at y, after an evaluation there. */
void fm_own_rates(const fm_instance *s, const double *y, double *ydot)
{
    fm_own_states own;
    for (int32_t n = 0; n < s->model.stateful; n++) {
        const int count = fm_own_states_of(s, n, y, &own);
        for (int j = 0; j < count; j++) ydot[own.first + j] = own.rate[j];
    }
}

/* What work.control_seed changes of the rate of a state; 0 for one that is no own state. */
double fm_own_rate_seed(const fm_instance *s, int32_t state)
{
    fm_own_states own;
    for (int32_t n = 0; n < s->model.stateful; n++) {
        const int count = fm_own_states_of(s, n, s->y, &own);
        if (count > 0 && state >= own.first && state < own.first + count) return own.seed[state - own.first];
    }
    return 0.0;
}

/* Makes the own states those whose rates are zero at the positions and velocities of y. Requires work.control. */
void fm_own_settle(const fm_instance *s, double *y)
{
    fm_own_states own;
    for (int32_t n = 0; n < s->model.stateful; n++) {
        const int count = fm_own_states_of(s, n, y, &own);
        for (int j = 0; j < count; j++) y[own.first + j] = own.settled[j];
    }
}

/* What the error control takes as small. */
void fm_own_derive(fm_instance *s)
{
    fm_own_states own;
    for (int32_t n = 0; n < s->model.stateful; n++) {
        const int count = fm_own_states_of(s, n, s->y, &own);
        for (int j = 0; j < count; j++) s->scale[own.first + j] = own.nominal[j];
    }
}

/* The implicit scheme --------------------------------------------------------------------------------------------- */

/* x <- E x. */
static void relax(const fm_own_states *own, int count, double g, double x[FM_OWN_STATES])
{
    for (int j = 0; j < count; j++) x[j] /= 1.0 - g * own->A[j];
}

/* Prepares a stage at time t and y, g its time, after friction has: the damping of the modes; the rates of the own
 * states, if wanted. */
void fm_own_stage(fm_instance *s, double t, const double *y, double g, double *rates)
{
    fm_own_states own;
    if (s->model.stateful == 0) return;
    fm_controls_at(s, t);
    if (s->image.n.frictions == 0) memcpy(s->stiff.D, s->implicit->base, (size_t)s->image.n.speeds * sizeof(double));
    for (int32_t n = 0; n < s->model.stateful; n++) {
        double x[FM_OWN_STATES];
        const int count = fm_own_states_of(s, n, y, &own);
        memcpy(x, own.B, sizeof x);
        relax(&own, count, g, x);
        s->stiff.D[own.u] += own.damping;
        for (int j = 0; j < count; j++) s->stiff.D[own.u] -= g * own.C[j] * x[j];
    }
    if (rates != NULL) fm_own_rates(s, y, rates);
}

/* r_x <- x' - k_x, and the states of a stage to x + g E r_x. */
void fm_own_relax(const fm_instance *s, double g, const double *k, double *r, double *y)
{
    fm_own_states own;
    for (int32_t n = 0; n < s->model.stateful; n++) {
        double x[FM_OWN_STATES];
        const int count = fm_own_states_of(s, n, y, &own);
        for (int j = 0; j < count; j++) x[j] = r[own.first + j] -= k[own.first + j];
        relax(&own, count, g, x);
        for (int j = 0; j < count; j++) y[own.first + j] += g * x[j];
    }
}

/* Adds to the forces f what g E r_x more of the states would exert on the modes at y. */
void fm_own_push(const fm_instance *s, double g, const double *y, const double *r, double *f)
{
    fm_own_states own;
    for (int32_t n = 0; n < s->model.stateful; n++) {
        double x[FM_OWN_STATES];
        const int count = fm_own_states_of(s, n, y, &own);
        for (int j = 0; j < count; j++) x[j] = r[own.first + j];
        relax(&own, count, g, x);
        for (int j = 0; j < count; j++) f[own.u] += own.C[j] * (g * x[j]);
    }
}

/* r_x <- E (r_x + g B d_v); `change`: a state of the stage with d_v as velocities. */
void fm_own_follow(const fm_instance *s, double g, const double *change, double *r)
{
    fm_own_states own;
    for (int32_t n = 0; n < s->model.stateful; n++) {
        double x[FM_OWN_STATES];
        const int count = fm_own_states_of(s, n, change, &own);
        for (int j = 0; j < count; j++) x[j] = r[own.first + j] + g * own.B[j] * change[s->image.n.positions + own.u];
        relax(&own, count, g, x);
        for (int j = 0; j < count; j++) r[own.first + j] = x[j];
    }
}
