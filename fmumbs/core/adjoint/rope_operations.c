/* rope_operations.c: the tangents and adjoints of a rope's span from a pulley (forces/sides.c).
 *
 * With rho = sqrt(x^2 + y^2), t = sqrt(rho^2 - r^2), s = sqrt(t^2 + h^2) and the angles phi of (x, y) and alpha of the
 * tangent's touch, l = s + r turn alpha = s + r (turn phi - acos(r / rho)) has the slopes
 *     l_rho = rho/s - r^2/(rho t),   l_phi = r turn,   l_h = h/s,   l_r = r/t - r/s + turn alpha,
 * and those of these, of which phi has l_phi,r = turn alone. Its derivatives along the radius, across it and along the
 * axis are those by (x, y, h): l_rho, l_phi / rho, l_h; and of second order l_rho,rho along twice, l_rho / rho across
 * twice, -l_phi / rho^2 of both.
 */
#include "rope_operations.h"

#include "../forces/sides.h"
#include "../instance/instance.h"
#include "../maths/vectors.h"

#include <math.h>

/* Derivatives of the length: H by N twice, by r, and by N and r. */
typedef struct span_slopes {
    double H[3][3], by_r, by_N_and_r[3];
} span_slopes;

static span_slopes slopes_of(const fm_instance *s, const fm_node *n, const double *v)
{
    const double *N = v + n->a, r = v[n->b], turn = s->image.via_turn[n->k], h = N[2];
    const double square = N[0] * N[0] + N[1] * N[1], rho = sqrt(square), t = sqrt(square - r * r);
    const double span = sqrt(t * t + h * h), cube = span * span * span, x = N[0] / rho, y = N[1] / rho;
    const double along = rho / span - r * r / (rho * t), across = r * turn / rho;
    const double twice = (1.0 / span - square / cube) + (r * r / (square * t) + r * r / (t * t * t));
    const double aside = -rho * h / cube, both = -across / rho, around = along / rho;
    const double by_r = r * rho / cube - (2.0 * r / (rho * t) + r * r * r / (rho * t * t * t)), turned = turn / rho;
    const double wrapped = v[n->out] - span; /* r turn alpha */
    const span_slopes d = {{{twice * x * x + around * y * y - 2.0 * both * x * y,
                             (twice - around) * x * y + both * (x * x - y * y), aside * x},
                            {(twice - around) * x * y + both * (x * x - y * y),
                             twice * y * y + around * x * x + 2.0 * both * x * y, aside * y},
                            {aside * x, aside * y, t * t / cube}},
                           (r / t - r / span) + wrapped / r,
                           {by_r * x - turned * y, by_r * y + turned * x, h * r / cube}};
    return d;
}

/* The change of the slope with that of N, and, as H is symmetric, of the adjoint. */
static void times_H(const span_slopes *d, const double *x, double *out)
{
    for (int j = 0; j < 3; j++) out[j] = dot(d->H[j], x);
}

void fm_span_value(const fm_instance *s, const fm_node *n, double *v)
{
    double angle = s->via_angle[n->k];
    v[n->out] = fm_span_to(v + n->a, v[n->b], s->image.via_turn[n->k], &angle, v + n->out + 1);
}

void fm_span_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t)
{
    const span_slopes d = slopes_of(s, n, v);
    const double *dN = t + n->a, dr = t[n->b];
    double *out = t + n->out;
    out[0] = dot(v + n->out + 1, dN) + d.by_r * dr;
    times_H(&d, dN, out + 1);
    for (int j = 0; j < 3; j++) out[1 + j] += d.by_N_and_r[j] * dr;
}

void fm_span_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const span_slopes of = slopes_of(s, n, v);
    const double *g = d + n->out;
    double x[3];
    times_H(&of, g + 1, x);
    for (int j = 0; j < 3; j++) d[n->a + j] += v[n->out + 1 + j] * g[0] + x[j];
    d[n->b] += of.by_r * g[0] + dot(of.by_N_and_r, g + 1);
}
