/* road_operations.c: the foot of an ellipsoid on a road and the normal there (forces/road.c), with their tangents and
 * adjoints.
 *
 * In B's axes, with c A's centre, p = c + r(n, R) where the ellipsoid is furthest against n, and w = (1, 0, z'),
 *     f(x) = w . (foot - p) = 0,   dx = (w . dc + (r x w - n x H w) . theta) / f',   H = dr/dn,
 * theta the turn of A in B; foot = (x, 0, z) and n move by w dx and -t z''/T^2 dx, t = w/T.
 */
#include "road_operations.h"

#include "../forces/road.h"
#include "../instance/instance.h"
#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "sums.h"

#include <math.h>

/* In world axes: by what x changes with A's centre and its turn; how foot and normal move with x. */
typedef struct meeting {
    double by_place[3], by_turn[3], foot[3], n[3];
} meeting;

static fm_over_road body_of(const fm_instance *s, const fm_node *n, const double *v)
{
    const double *R_B = v + n->a, *R_A = v + n->c;
    fm_over_road body;
    rotate_in(R_B, v + n->b, body.c);
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++)
            body.R[3 * j + k] = R_B[j] * R_A[k] + R_B[3 + j] * R_A[3 + k] + R_B[6 + j] * R_A[6 + k];
    for (int j = 0; j < 3; j++) body.half[j] = s->image.spot_half[3 * n->k + j];
    return body;
}

/* r x w - n x H w of an ellipsoid, H = -(Q - Qn Qn'/h^2)/h; 0 of a point. */
static void turned(const fm_over_road *body, const double n[3], const double w[3], double out[3])
{
    double r[3], in[3], Qw[3], Hw[3], x[3];
    fm_reach_against(n, body->half, body->R, r); /* -Qn/h */
    rotate_in(body->R, w, in);
    for (int j = 0; j < 3; j++) in[j] *= body->half[j] * body->half[j];
    rotate_out(body->R, in, Qw);
    const double h = -dot(n, r), along = dot(r, w);
    for (int j = 0; j < 3; j++) Hw[j] = h > 0.0 ? (r[j] * along - Qw[j]) / h : 0.0;
    cross(r, w, out);
    cross(n, Hw, x);
    for (int j = 0; j < 3; j++) out[j] -= x[j];
}

static meeting meeting_of(const fm_instance *s, const fm_node *n, const double *v)
{
    const fm_over_road body = body_of(s, n, v);
    const fm_road_slopes at = fm_road_slopes_at(&s->image, s->image.spot_road[n->k], &body, v[n->out + 6]);
    const double square = 1.0 + at.slope * at.slope, T = sqrt(square), w[3] = {1.0, 0.0, at.slope};
    const double normal[3] = {-at.slope / T, 0.0, 1.0 / T};
    double turn[3];
    meeting out;
    turned(&body, normal, w, turn);
    rotate_out(v + n->a, w, out.foot);
    rotate_out(v + n->a, turn, out.by_turn);
    for (int j = 0; j < 3; j++) {
        out.by_place[j] = out.foot[j] / at.rate, out.by_turn[j] /= at.rate;
        out.n[j] = -at.bend / (square * T) * out.foot[j];
    }
    return out;
}

void fm_meeting_value(const fm_instance *s, const fm_node *n, double *v)
{
    const fm_over_road body = body_of(s, n, v);
    double foot[3], normal[3], *out = v + n->out;
    fm_road_below(&s->image, s->image.spot_road[n->k], &body, foot, normal);
    out[6] = foot[0], foot[1] = 0.0;
    rotate_out(v + n->a, foot, out);
    rotate_out(v + n->a, normal, out + 3);
}

void fm_meeting_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t)
{
    const meeting of = meeting_of(s, n, v);
    const double *turn_B = t + n->a, *turn_A = t + n->c, *d = t + n->b;
    double x[3], *out = t + n->out;
    cross(v + n->b, turn_B, x);
    add_to(x, d);
    const double dx = dot(of.by_place, x) + (dot(of.by_turn, turn_A) - dot(of.by_turn, turn_B));
    for (int k = 0; k < 2; k++) {
        cross(turn_B, v + n->out + 3 * k, out + 3 * k);
        add_times(out + 3 * k, dx, k == 0 ? of.foot : of.n);
    }
    out[6] = dx;
}

void fm_meeting_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const meeting of = meeting_of(s, n, v);
    const double *g = d + n->out, by_x = dot(of.foot, g) + dot(of.n, g + 3);
    double *to_B = d + n->a, x[3];
    for (int k = 0; k < 2; k++) add_cross(to_B, v + n->out + 3 * k, g + 3 * k);
    add_times(d + n->b, by_x, of.by_place);
    cross(of.by_place, v + n->b, x);
    add_times(to_B, by_x, x);
    add_times(d + n->c, by_x, of.by_turn);
    add_times(to_B, -by_x, of.by_turn);
}
