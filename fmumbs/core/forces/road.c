/* road.c: where an ellipsoid is next to a road, whose height z(x) is a cubic spline, straight beyond its ends.
 *
 * With the normal n(x) = (-z', 0, 1)/T, T^2 = 1 + z'^2, and p(x) where the ellipsoid is furthest against n(x), they are
 * next to each other where p lies on the normal at (x, z):
 *
 *     f(x) = (x - p_x) + (z - p_z) z' = 0,   f' = T^2 (1 - rho kappa) + (z - p_z) z'',
 *
 * kappa = z''/T^3, and rho the ellipsoid's radius of curvature along the road there, t Q t/h - (t Q n)^2/h^3 with
 * Q = R half^2 R', h^2 = n Q n, t = (1, 0, z')/T. The search begins at the point of the road that is nearest to the
 * centre, the first found of several. That is the end for a sphere. The square of the distance is a polynomial on each
 * part of the road, so its Bezier values are a bound, and the changes of sign of their differences count its minima.
 * A part with several is halved. The halves together have no more changes of sign than the whole, five at most, so two
 * parts of a width are halved at most; and the values come to the polynomial as the square of the width, so that after
 * 26 halves they differ by round-off, and all of the part is as far away.
 */
#include "road.h"

#include "../maths/rotations.h"
#include "../maths/vectors.h"

#include <math.h>
#include <string.h>

enum { HALVINGS = 26 }; /* half the digits of a number */
#define FM_SAME_DISTANCE 4e-15 /* of a sum of 16 products, of their sizes: all values are the same */

/* Height, slope and second derivative at x. */
typedef struct height {
    double z, slope, bend;
} height;

/* A part of the road from a to b: Bezier values of its height. */
typedef struct part {
    double a, b, z[4];
} part;

/* From the centre of an ellipsoid to where it is furthest against n. */
void fm_reach_against(const double n[3], const double half[3], const double R[9], double out[3])
{
    double m[3], d[3], square = 0.0;
    rotate_in(R, n, m);
    for (int j = 0; j < 3; j++) d[j] = half[j] * half[j] * m[j], square += m[j] * d[j];
    const double scale = square > 0.0 ? -1.0 / sqrt(square) : 0.0;
    for (int j = 0; j < 3; j++) d[j] *= scale;
    rotate_out(R, d, out);
}

/* The interval between knots with x; -1 before the first, and that of the last knot beyond it. */
static int32_t interval_of(const fm_image *m, int32_t road, double x)
{
    const double *at = m->knot_x + m->road_knot[road];
    int32_t low = -1, high = m->road_knots[road]; /* at[low] <= x < at[high] */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (at[middle] <= x) low = middle;
        else high = middle;
    }
    return low;
}

static part part_of(const fm_image *m, int32_t road, int32_t interval)
{
    const int32_t i = m->road_knot[road] + interval;
    const double third = (m->knot_x[i + 1] - m->knot_x[i]) / 3.0;
    return (part){m->knot_x[i],
                  m->knot_x[i + 1],
                  {m->knot_z[i], m->knot_z[i] + third * m->knot_slope[i],
                   m->knot_z[i + 1] - third * m->knot_slope[i + 1], m->knot_z[i + 1]}};
}

static height height_in(const part *p, double x)
{
    const double w = p->b - p->a, t = (x - p->a) / w, u = 1.0 - t, *z = p->z;
    const double low = u * (u * z[0] + t * z[1]) + t * (u * z[1] + t * z[2]),
                 high = u * (u * z[1] + t * z[2]) + t * (u * z[2] + t * z[3]);
    const double first = z[2] - 2.0 * z[1] + z[0], last = z[3] - 2.0 * z[2] + z[1];
    return (height){u * low + t * high, 3.0 * (high - low) / w, 6.0 * (u * first + t * last) / (w * w)};
}

static height height_at(const fm_image *m, int32_t road, double x)
{
    const int32_t last = m->road_knots[road] - 1, interval = interval_of(m, road, x);
    if (interval < 0 || interval >= last) {
        const int32_t i = m->road_knot[road] + (interval < 0 ? 0 : last);
        return (height){m->knot_z[i] + m->knot_slope[i] * (x - m->knot_x[i]), m->knot_slope[i], 0.0};
    }
    const part p = part_of(m, road, interval);
    return height_in(&p, x);
}

/* The nearest point to the centre (x, z) so far, and the square of its distance. */
typedef struct search {
    double x, z, at, least;
} search;

static void look(search *of, double x, double z)
{
    const double square = (x - of->x) * (x - of->x) + (z - of->z) * (z - of->z);
    if (square < of->least) of->least = square, of->at = x;
}

/* Whether the square of the distance from the centre has one minimum on a part at most, or is the same on all of it, to
 * round-off: its Bezier values, of the degree 6, then fall and rise only once; `apart`: the lowest of them. */
static int is_simple(const search *of, const part *p, double *apart)
{
    static const double choose[4] = {1, 3, 3, 1}, out_of[7] = {1, 6, 15, 20, 15, 6, 1};
    double d[7] = {0.0}, highest, size = 0.0;
    int turns = 0, way = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const double x = p->a - of->x + i * (p->b - p->a) / 3.0, other = p->a - of->x + j * (p->b - p->a) / 3.0;
            d[i + j] += choose[i] * choose[j] / out_of[i + j] * (x * other + (p->z[i] - of->z) * (p->z[j] - of->z));
            size = fmax(size, x * x + (p->z[i] - of->z) * (p->z[i] - of->z));
        }
    *apart = highest = d[0];
    for (int k = 1; k < 7; k++) {
        const int next = d[k] > d[k - 1] ? 1 : -1;
        turns += way != 0 && next != way;
        way = next, *apart = fmin(*apart, d[k]), highest = fmax(highest, d[k]);
    }
    return turns <= 1 || highest - *apart <= FM_SAME_DISTANCE * size;
}

/* A function of x that rises through 0 in between, and its rate. */
typedef double (*rising)(void *of, double x, double *rate);

/* Where it is 0, between low, where it is below 0, and high, from x on: Newton's steps, or halves of the interval where
 * these do not halve their length, to the last bit. */
static double root_of(rising f, void *of, double low, double high, double x)
{
    for (double before = INFINITY;;) {
        double rate, next;
        const double now = f(of, x, &rate);
        if (now == 0.0) return x;
        if (now < 0.0) low = x;
        else high = x;
        next = x - now / rate;
        if (!(next > low && next < high) || !(2.0 * fabs(next - x) < before)) next = low + 0.5 * (high - low);
        before = fabs(next - x);
        if (!(next > low && next < high) || next == x) return x;
        x = next;
    }
}

/* A part of the road below a centre. */
typedef struct below {
    const search *of;
    const part *p;
} below;

/* f of the centre itself. */
static double slant(void *of, double x, double *rate)
{
    const below *it = of;
    const height at = height_in(it->p, x);
    *rate = 1.0 + at.slope * at.slope + (at.z - it->of->z) * at.bend;
    return (x - it->of->x) + (at.z - it->of->z) * at.slope;
}

/* The least distance on a part where it has one minimum. */
static void look_at_minimum(search *of, const part *p)
{
    below it = {of, p};
    double rate, x = fmin(fmax(of->x, p->a), p->b);
    if (slant(&it, p->a, &rate) >= 0.0) x = p->a;
    else if (slant(&it, p->b, &rate) <= 0.0) x = p->b;
    else x = root_of(slant, &it, p->a, p->b, x > p->a && x < p->b ? x : p->a + 0.5 * (p->b - p->a));
    look(of, x, height_in(p, x).z);
}

static void look_in(search *of, part p)
{
    const double least = ldexp(p.b - p.a, -HALVINGS);
    part left[HALVINGS + 2];
    int count = 0;
    left[count++] = p;
    while (count > 0) {
        double apart;
        p = left[--count];
        const double middle = p.a + 0.5 * (p.b - p.a), *z = p.z;
        const int simple = is_simple(of, &p, &apart);
        if (!(apart < of->least)) continue;
        if (simple || !(p.b - p.a > 1.5 * least)) {
            look_at_minimum(of, &p);
            continue;
        }
        const double inner = 0.5 * (z[1] + z[2]), l[2] = {0.5 * (z[0] + z[1]), 0.5 * (0.5 * (z[0] + z[1]) + inner)};
        const double h[2] = {0.5 * (inner + 0.5 * (z[2] + z[3])), 0.5 * (z[2] + z[3])}, top = 0.5 * (l[1] + h[0]);
        const part near = {p.a, middle, {z[0], l[0], l[1], top}}, far = {middle, p.b, {top, h[0], h[1], z[3]}};
        left[count++] = of->x < middle ? far : near;
        left[count++] = of->x < middle ? near : far;
    }
}

/* The straight road beyond an end: 0 the first knot, 1 the last. */
static void look_beyond(search *of, const fm_image *m, int32_t road, int end)
{
    const int32_t i = m->road_knot[road] + (end ? m->road_knots[road] - 1 : 0);
    const double slope = m->knot_slope[i], x = m->knot_x[i], z = m->knot_z[i];
    const double along = ((of->x - x) + (of->z - z) * slope) / (1.0 + slope * slope);
    if (end ? along > 0.0 : along < 0.0) look(of, x + along, z + slope * along);
}

/* The x of the road that is nearest to (x, z). */
static double nearest_to(const fm_image *m, int32_t road, double x, double z)
{
    const double *at = m->knot_x + m->road_knot[road];
    const int32_t last = m->road_knots[road] - 1, here = interval_of(m, road, x);
    search of = {x, z, x, INFINITY};
    look(&of, x, height_at(m, road, x).z);
    for (int32_t k = here < last ? here : last - 1; k >= -1; k--) {
        if (x > at[k + 1] && !((x - at[k + 1]) * (x - at[k + 1]) < of.least)) break;
        if (k >= 0) look_in(&of, part_of(m, road, k));
        else look_beyond(&of, m, road, 0);
    }
    for (int32_t k = here + 1; k <= last; k++) {
        if (k >= 0 && at[k] > x && !((at[k] - x) * (at[k] - x) < of.least)) break;
        if (k >= 0 && k < last) look_in(&of, part_of(m, road, k));
    }
    look_beyond(&of, m, road, 1);
    return of.at;
}

/* An ellipsoid over a road, and for some x the foot of it there, and the normal. */
typedef struct meeting {
    const fm_image *m;
    int32_t road;
    const fm_over_road *body;
    double foot[3], n[3];
} meeting;

static double tilt(void *of, double x, double *rate)
{
    meeting *it = of;
    const fm_over_road *body = it->body;
    const height at = height_at(it->m, it->road, x);
    const double T = sqrt(1.0 + at.slope * at.slope), t[3] = {1.0 / T, 0.0, at.slope / T};
    double reach[3], own_n[3], own_t[3], tQt = 0.0, tQn = 0.0, nQn = 0.0, rho = 0.0;
    it->n[0] = -at.slope / T, it->n[1] = 0.0, it->n[2] = 1.0 / T;
    fm_reach_against(it->n, body->half, body->R, reach);
    rotate_in(body->R, it->n, own_n);
    rotate_in(body->R, t, own_t);
    for (int j = 0; j < 3; j++) {
        const double square = body->half[j] * body->half[j];
        tQt += square * own_t[j] * own_t[j], tQn += square * own_t[j] * own_n[j], nQn += square * own_n[j] * own_n[j];
    }
    if (nQn > 0.0) rho = (tQt - tQn * tQn / nQn) / sqrt(nQn);
    it->foot[0] = x, it->foot[1] = body->c[1] + reach[1], it->foot[2] = at.z;
    const double above = at.z - (body->c[2] + reach[2]);
    *rate = T * T * (1.0 - rho * at.bend / (T * T * T)) + above * at.bend;
    return (x - (body->c[0] + reach[0])) + above * at.slope;
}

/* The foot of an ellipsoid on a road, and the normal there, in the road's axes. */
void fm_road_below(const fm_image *m, int32_t road, const fm_over_road *body, double foot[3], double n[3])
{
    meeting it = {.m = m, .road = road, .body = body};
    const double *half = body->half, size = fmax(half[0], fmax(half[1], half[2]));
    double rate, x = nearest_to(m, road, body->c[0], body->c[2]), f = tilt(&it, x, &rate), before = x;
    if (half[0] != half[1] || half[1] != half[2]) {
        const double way = f < 0.0 ? 1.0 : -1.0;
        for (double step = fmin(2.0 * fabs(f), size); way * f < 0.0; step *= 2.0) {
            before = x, x += way * step;
            f = tilt(&it, x, &rate);
        }
        if (f != 0.0) (void)tilt(&it, root_of(tilt, &it, fmin(before, x), fmax(before, x), x), &rate);
    }
    memcpy(foot, it.foot, sizeof it.foot);
    memcpy(n, it.n, sizeof it.n);
}

/* By how much the road and f change with x. */
fm_road_slopes fm_road_slopes_at(const fm_image *m, int32_t road, const fm_over_road *body, double x)
{
    meeting it = {.m = m, .road = road, .body = body};
    const height at = height_at(m, road, x);
    fm_road_slopes out = {at.slope, at.bend, 0.0};
    (void)tilt(&it, x, &out.rate);
    return out;
}
