/* group.c: eliminates several degrees of freedom together from S and e.
 *
 * Besides a section's own S and e there are accelerations udot of some degrees of freedom, with the forces tau on them:
 *     [Lambda]   [S   U   ] [z   ]   [e]
 *     [tau   ] = [U'  S_qq] [udot] + [f].
 * With S_qq = L / D L' (unit lower L, D reciprocals) and g = S_qq^-1 (tau - f), eliminating udot gives
 *     S <- S - U S_qq^-1 U',   e <- e + U g,   udot = g - S_qq^-1 U' z.
 */
#include "group.h"

#include "../maths/vectors.h"

#include <math.h>
#include <string.h>

/* S v; of J and M only the upper triangles are read. */
void fm_articulated_times(const fm_articulated *c, const double *v, double *out)
{
    for (int i = 0; i < 3; i++) {
        double t = 0.0, f = 0.0;
        for (int j = 0; j < 3; j++) {
            const int a = i < j ? i : j, b = i < j ? j : i;
            t += c->J[a][b] * v[j] + c->H[i][j] * v[3 + j];
            f += c->H[j][i] * v[j] + c->M[a][b] * v[3 + j];
        }
        out[i] = t;
        out[3 + i] = f;
    }
}

/* x <- L^-1 x, x <- L^-T x */
static void forward(const fm_group *b, double *x)
{
    for (int32_t i = 0; i < b->n; i++)
        for (int32_t j = 0; j < i; j++) x[i] -= b->L[i * b->width + j] * x[j];
}

static void backward(const fm_group *b, double *x)
{
    for (int32_t i = b->n - 1; i >= 0; i--)
        for (int32_t j = i + 1; j < b->n; j++) x[i] -= b->L[j * b->width + i] * x[j];
}

/* Factors S_qq, given by its lower triangle in L, into L and D; records the pivot that is smallest relative to `most`,
 * which has an element for each degree of freedom. If a pivot is not positive, the results are NaN. */
void fm_group_factor(fm_group *b, const double *most, double note[2])
{
    note[0] = 1.0, note[1] = 0.0;
    for (int32_t i = 0; i < b->n; i++) {
        double *row = b->L + i * b->width;
        for (int32_t j = 0; j <= i; j++) {
            const double *other = b->L + j * b->width;
            double value = row[j];
            for (int32_t k = 0; k < j; k++) value -= row[k] * other[k] / b->D[k];
            if (j < i) row[j] = value * b->D[j];
            else b->D[i] = 1.0 / value;
        }
        if (!(b->D[i] > 0.0) || !(b->D[i] * most[i] <= note[0] * note[1])) note[0] = b->D[i], note[1] = most[i];
        if (note[0] > 0.0) continue;
        for (; i < b->n; i++) b->D[i] = NAN;
    }
}

/* Eliminates the degrees of freedom from S and e; x: tau - f. */
void fm_group_eliminate(fm_group *b, fm_articulated *c, double *x)
{
    double W[FM_BODY_MODES][6]; /* L^-1 U': S <- S - W' D W */
    forward(b, x);
    for (int32_t k = 0; k < b->n; k++) {
        double *w = W[k];
        memcpy(w, b->U[k], sizeof W[k]);
        for (int32_t j = 0; j < k; j++)
            for (int i = 0; i < 6; i++) w[i] -= b->L[k * b->width + j] * W[j][i];
        const double d = b->D[k], force = x[k] * d;
        for (int i = 0; i < 3; i++) {
            for (int j = i; j < 3; j++) c->J[i][j] -= w[i] * (w[j] * d), c->M[i][j] -= w[3 + i] * (w[3 + j] * d);
            for (int j = 0; j < 3; j++) c->H[i][j] -= w[i] * (w[3 + j] * d);
            c->n[i] += w[i] * force;
            c->f[i] += w[3 + i] * force;
        }
        x[k] = force;
    }
    backward(b, x);
    memcpy(b->g, x, (size_t)b->n * sizeof *x);
}

/* e <- e + S push, for an acceleration `push` that does not depend on the degrees of freedom. */
void fm_group_push(fm_articulated *c, const double push[6])
{
    double add[6];
    fm_articulated_times(c, push, add);
    for (int i = 0; i < 3; i++) c->n[i] += add[i], c->f[i] += add[3 + i];
}

/* udot from z. */
void fm_group_outward(const fm_group *b, const double z[6], double *udot)
{
    double x[FM_BODY_MODES];
    for (int32_t j = 0; j < b->n; j++) x[j] = -dot6(b->U[j], z);
    forward(b, x);
    for (int32_t j = 0; j < b->n; j++) x[j] *= b->D[j];
    backward(b, x);
    for (int32_t j = 0; j < b->n; j++) udot[j] = x[j] + b->g[j];
}

/* Propagates a wrench towards the root that exerts the forces x on the degrees of freedom; adds its innovations
 * (constraints.c). */
void fm_group_pass(const fm_group *b, double *x, double wrench[6], double *innovations)
{
    forward(b, x);
    for (int32_t j = 0; j < b->n; j++) {
        innovations[j] += x[j];
        x[j] *= b->D[j];
    }
    backward(b, x);
    for (int32_t j = 0; j < b->n; j++)
        for (int i = 0; i < 6; i++) wrench[i] -= b->U[j][i] * x[j];
}

/* Adds the effect of innovations, already divided by the pivots, to the parent-independent part of udot. */
void fm_group_add(fm_group *b, double *innovations)
{
    backward(b, innovations);
    for (int32_t j = 0; j < b->n; j++) b->g[j] += innovations[j];
}
