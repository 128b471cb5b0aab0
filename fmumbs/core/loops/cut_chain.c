/* cut_chain.c: the product of modes of a cut joint, X_FM = X_1(s_1) X_2(s_2) ..., in F's axes, angular part first.
 */
#include "cut_chain.h"

#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"

#include <string.h>

/* Adds to the bias what a mode with direction a adds that moves at `rate`, with its translation so far rho. */
static void add_bias(const double *a, double turn, double slide, double rate, const double *rho, double w[3],
                     fm_chain *c)
{
    double spin[3], glide[3], x[3], y[3], z[3];
    for (int j = 0; j < 3; j++) spin[j] = a[j] * turn * rate, glide[j] = a[j] * slide * rate;
    cross(w, rho, x);
    cross(w, x, y);
    cross(c->bias, rho, x);
    cross(w, glide, z);
    for (int j = 0; j < 3; j++) c->bias[3 + j] += (x[j] + y[j]) + 2.0 * z[j];
    cross(w, spin, x);
    for (int j = 0; j < 3; j++) c->bias[j] += x[j], w[j] += spin[j];
}

/* Appends a mode with position q and velocity `rate`, w NULL: at rest. Its column is about its own origin, until
 * make_chain moves it to M. */
static void add_screw(const fm_image *m, int32_t mode, double q, double rate, double *w, fm_chain *c)
{
    const double turn = m->cut_turn[mode], slide = m->cut_slide[mode];
    double a[3], rho[3], more[9], R[9];
    rotate_out(c->R, m->cut_axis + 3 * mode, a);
    for (int j = 0; j < 3; j++) rho[j] = a[j] * slide * q;
    if (w != NULL) add_bias(a, turn, slide, rate, rho, w, c);
    for (int j = 0; j < 3; j++) c->r[j] += rho[j];
    if (turn != 0.0) {
        fm_rotation_about(m->cut_axis + 3 * mode, turn * q, more);
        product(c->R, more, R);
        memcpy(c->R, R, sizeof R);
    }
    if (m->cut_kind[mode] != FM_CUT_SCREW) return;
    for (int j = 0; j < 3; j++) c->phi[c->n][j] = a[j] * turn, c->phi[c->n][3 + j] = a[j] * slide;
    c->n++;
}

static void add_ball(const double *q, const double *u, double *w, fm_chain *c)
{
    double more[9], R[9], spin[3], x[3];
    fm_rotation_of(q, more);
    product(c->R, more, R);
    memcpy(c->R, R, sizeof R);
    if (w != NULL) {
        rotate_out(R, u, spin);
        cross(w, spin, x);
        for (int j = 0; j < 3; j++) c->bias[j] += x[j], w[j] += spin[j];
    }
    for (int k = 0; k < 3; k++, c->n++)
        for (int j = 0; j < 3; j++) c->phi[c->n][j] = R[3 * j + k], c->phi[c->n][3 + j] = 0.0;
}

/* The product at positions p and velocities u, NULL: at rest. */
void fm_make_chain(const fm_instance *s, int32_t joint, const double *p, const double *u, fm_chain *c)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const fm_image *m = &s->image;
    double spin[3] = {0.0, 0.0, 0.0}, *w = u == NULL ? NULL : spin, behind[FM_JOINT_MODES][3];
    memset(c, 0, sizeof *c);
    memcpy(c->R, identity, sizeof identity);
    for (int32_t k = m->joint_mode[joint]; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        const int32_t first = c->n;
        if (m->cut_kind[k] == FM_CUT_BALL) {
            add_ball(p, u == NULL ? NULL : u + first, w, c);
            p += 4;
        } else {
            const int free = m->cut_kind[k] == FM_CUT_SCREW;
            add_screw(m, k, free ? *p : m->cut_value[k], free && u != NULL ? u[first] : 0.0, w, c);
            p += free;
        }
        for (int32_t i = first; i < c->n; i++) memcpy(behind[i], c->r, sizeof c->r);
    }
    for (int32_t i = 0; i < c->n; i++) {
        double arm[3], add[3];
        for (int j = 0; j < 3; j++) arm[j] = c->r[j] - behind[i][j];
        cross(c->phi[i], arm, add);
        for (int j = 0; j < 3; j++) c->phi[i][3 + j] += add[j];
    }
}

/* The rotation vector and displacement from the product's pose of M to the actual one. */
void fm_chain_miss(const fm_chain *c, const double R[9], const double r[3], double out[6])
{
    double E[9], q[4];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            E[3 * i + j] = (R[3 * i] * c->R[3 * j] + R[3 * i + 1] * c->R[3 * j + 1]) + R[3 * i + 2] * c->R[3 * j + 2];
    fm_quaternion_of(E, q);
    fm_rotation_vector(q, out);
    for (int j = 0; j < 3; j++) out[3 + j] = r[j] - c->r[j];
}
