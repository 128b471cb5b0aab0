/* own_states.c: the own states of force elements, such as the current of a motor, beside the bristles of friction.
 *
 * States x have rates x' = f(x, v, inputs), and the element has a force F(x, v) along one velocity variable v. In the
 * implicit scheme they are condensed as bristles are (friction.c): of the system (I - g J) d = r the part of x is
 *
 *     d_x = E (r_x + g B d_v),   E = (I - g A)^-1,   A = dx'/dx,   B = dx'/dv,
 *
 * so that with C = dF/dx the variable has the damping -g C E B beside the element's own, and feels x + g E r_x. What
 * acts along a line resists there as a direction of compliances.c instead.
 */
#include "own_states.h"

#include "../forces/elements.h"
#include "../forces/inputs.h"
#include "../instance/instance.h"
#include "../loops/jacobian.h"
#include "../maths/vectors.h"
#include "../forces/point_pair.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "scratch.h"

#include <string.h>

/* What work.control_seed changes of the rates of the own states, in work.own_seed; bristles have zero there. */
void fm_own_seed(fm_instance *s)
{
    fm_own_states own;
    for (int32_t n = 0; n < s->model.stateful; n++) {
        const int count = fm_own_states_of(s, n, s->y, &own);
        for (int j = 0; j < count; j++) s->work.own_seed[own.first + j - s->model.bristles] = own.seed[j];
    }
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

/* World kinematics of y, where own states act along lines. */
static void place(fm_instance *s, const double *y)
{
    if (s->image.n.cylinders == 0 && s->image.n.spots == 0) return;
    fm_run_orientations(s, y);
    fm_make_world(s, y);
}

/* x <- E x of three states. */
static void relax_three(const fm_own_states *own, double g, double x[FM_OWN_STATES])
{
    double column[3][3], across[3][3];
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) column[k][j] = (j == k ? 1.0 : 0.0) - g * own->A[j][k];
    for (int k = 0; k < 3; k++) cross(column[(k + 1) % 3], column[(k + 2) % 3], across[k]);
    const double size = dot(column[0], across[0]), right[3] = {x[0], x[1], x[2]};
    for (int k = 0; k < 3; k++) x[k] = dot(across[k], right) / size;
}

/* x <- E x. */
static void relax(const fm_own_states *own, int count, double g, double x[FM_OWN_STATES])
{
    const double a = 1.0 - g * own->A[0][0], d = 1.0 - g * own->A[1][1], b = -g * own->A[0][1], c = -g * own->A[1][0];
    if (count == 1) x[0] /= a;
    if (count > 2 && (b != 0.0 || own->A[0][2] != 0.0 || own->A[1][2] != 0.0)) relax_three(own, g, x);
    else
        for (int j = 0; j < count && count > 2; j++) x[j] /= 1.0 - g * own->A[j][j];
    if (count != 2) return;
    const double first = (d * x[0] - b * x[1]) / (a * d - b * c);
    x[1] = (a * x[1] - c * x[0]) / (a * d - b * c), x[0] = first;
}

/* Keeps A and B of a stage, for fm_own_follow. */
static void keep_slopes(fm_instance *s, const fm_own_states *own, int count)
{
    double *to = s->implicit->own_slopes + (FM_OWN_STATES + 1) * (own->first - s->model.bristles);
    for (int j = 0; j < count; j++, to += FM_OWN_STATES + 1) {
        memcpy(to, own->A[j], sizeof own->A[j]);
        to[FM_OWN_STATES] = own->B[j];
    }
}

static void slopes_of_stage(const fm_instance *s, fm_own_states *own, int count)
{
    const double *from = s->implicit->own_slopes + (FM_OWN_STATES + 1) * (own->first - s->model.bristles);
    for (int j = 0; j < count; j++, from += FM_OWN_STATES + 1) {
        memcpy(own->A[j], from, sizeof own->A[j]);
        own->B[j] = from[FM_OWN_STATES];
    }
}

/* Prepares a stage at time t and y, g its time, after friction has: the damping of the modes; the rates of the own
 * states, if wanted. */
void fm_own_stage(fm_instance *s, double t, const double *y, double g, double *rates)
{
    fm_own_states own;
    if (s->model.stateful == 0) return;
    fm_controls_at(s, t);
    place(s, y);
    if (s->image.n.frictions == 0) memcpy(s->stiff.D, s->implicit->base, (size_t)s->image.n.speeds * sizeof(double));
    for (int32_t n = 0; n < s->model.stateful; n++) {
        double x[FM_OWN_STATES];
        const int count = fm_own_states_of(s, n, y, &own);
        memcpy(x, own.B, sizeof x);
        relax(&own, count, g, x);
        if (own.follows) keep_slopes(s, &own, count);
        if (own.u < 0) continue;
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

/* Adds a force along the line of own states to the forces f. */
static void push_along(fm_instance *s, const fm_own_states *own, double force, double *f)
{
    double line[3], rate, *J = s->implicit->along;
    fm_direction at[FM_DIRECTIONS];
    (void)fm_line(s, own->P, own->Q, line, &rate);
    if (fm_pair_directions(s, own->P, own->Q, line, 1.0, 0.0, 0.0, at) == 0) return;
    memset(J, 0, (size_t)s->image.n.speeds * sizeof *J);
    (void)fm_wrench_along(s, -1, at->M, &at->on_M, J, NULL);
    (void)fm_wrench_along(s, at->F, -1, &at->on_F, J, NULL);
    fm_from_links(s, J);
    for (int32_t u = 0; u < s->image.n.speeds; u++) f[u] += force * J[u];
}

/* Adds to the forces f what g E r_x more of the states would exert at y, where fm_own_stage was. */
void fm_own_push(fm_instance *s, double g, const double *y, const double *r, double *f)
{
    fm_own_states own;
    for (int32_t n = 0; n < s->model.stateful; n++) {
        double x[FM_OWN_STATES];
        const int count = fm_own_states_of(s, n, y, &own);
        for (int j = 0; j < count; j++) x[j] = r[own.first + j];
        relax(&own, count, g, x);
        if (own.u >= 0)
            for (int j = 0; j < count; j++) f[own.u] += own.C[j] * (g * x[j]);
        else if (own.P >= 0) push_along(s, &own, own.C[0] * (g * x[0]) + own.C[1] * (g * x[1]), f);
    }
}

/* r_x <- E (r_x + g B d_v); `change`: a state of the stage with d_v, of rates, as velocities. */
void fm_own_follow(fm_instance *s, double g, const double *change, double *r)
{
    fm_own_states own;
    if (s->model.stateful == 0) return;
    place(s, change);
    for (int32_t n = 0; n < s->model.stateful; n++) {
        double x[FM_OWN_STATES];
        const int count = fm_own_states_of(s, n, change, &own);
        if (own.follows) slopes_of_stage(s, &own, count);
        for (int j = 0; j < count; j++) x[j] = r[own.first + j] + g * own.B[j] * own.along[j];
        relax(&own, count, g, x);
        for (int j = 0; j < count; j++) r[own.first + j] = x[j];
    }
}
