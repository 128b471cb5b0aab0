/* row_operations.c: points and vectors that links carry, and what they make constraint rows of, each one operation; all
 * vectors in world axes.
 *
 * A point of link k, at b in its axes, has l = R b, t = w x l, the place r + l, the velocity v + t and the acceleration
 * a + alpha x l + w x t; a vector that the link carries the same without r, v and a. Of two moving vectors the product
 * a . b less a length has its first two derivatives behind it,
 *     a . b - c,   a' . b + a . b',   a'' . b + a . b'' + 2 a' . b'.
 */
#include "row_operations.h"

#include "../instance/instance.h"
#include "vec.h"

static const fm_motion_places *link_at(const fm_instance *s, const fm_node *n)
{
    return s->graph->motion + 1 + n->k;
}

/* What a vector l that turns has behind it, or a point there; x: values, or tangents, of the link. */
static void put_carried(const fm_motion_places *k, const double *x, vec l, vec t, vec turning, int point, double *out)
{
    put(out, l);
    if (!point) {
        put(out + 3, t), put(out + 6, turning);
        return;
    }
    put(out + FM_POINT_AT, sum(at(x + k->r), l));
    put(out + FM_POINT_AT + 3, sum(at(x + k->v), t));
    put(out + FM_POINT_AT + 6, sum(at(x + k->a), turning));
}

static void carried_value(const fm_instance *s, const fm_node *n, double *v, int point)
{
    const fm_motion_places *k = link_at(s, n);
    const vec w = at(v + k->w), l = out_of(v + k->R, at(v + n->b)), t = times(w, l);
    const vec turning = sum(times(at(v + k->alpha), l), times(w, t));
    put_carried(k, v, l, t, turning, point, v + n->out);
}

static void carried_tangent(const fm_instance *s, const fm_node *n, const double *v, double *d, int point)
{
    const fm_motion_places *k = link_at(s, n);
    const vec w = at(v + k->w), l = at(v + n->out), t = times(w, l);
    const vec dw = at(d + k->w), dl = times(at(d + k->R), l), dt = sum(times(dw, l), times(w, dl));
    const vec turning =
        sum(sum(times(at(d + k->alpha), l), times(at(v + k->alpha), dl)), sum(times(dw, t), times(w, dt)));
    put_carried(k, d, dl, dt, turning, point, d + n->out);
}

static void carried_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d, int point)
{
    const fm_motion_places *k = link_at(s, n);
    const double *g = d + n->out, *moving = point ? g + FM_POINT_AT : g;
    const vec w = at(v + k->w), l = at(v + n->out), t = times(w, l);
    const vec gv = at(moving + 3), ga = at(moving + 6), gt = sum(gv, times(ga, w));
    const vec own = point ? sum(at(g), at(moving)) : at(g);
    const vec gl = sum(own, sum(times(ga, at(v + k->alpha)), times(gt, w)));
    more(d + k->R, times(l, gl));
    more(d + k->w, sum(times(l, gt), times(t, ga)));
    more(d + k->alpha, times(l, ga));
    if (!point) return;
    more(d + k->r, at(moving)), more(d + k->v, gv), more(d + k->a, ga);
}

/* k numbers. */
static void apart_along(const fm_node *n, const double *from, double *to)
{
    for (int32_t j = 0; j < n->k; j++) to[n->out + j] = from[n->a + j] - from[n->b + j];
}

static void apart_adjoint(const fm_node *n, double *d)
{
    for (int32_t j = 0; j < n->k; j++) d[n->a + j] += d[n->out + j], d[n->b + j] -= d[n->out + j];
}

static void product_value(const fm_node *n, double *v)
{
    const vec a = at(v + n->a), ra = at(v + n->a + 3), sa = at(v + n->a + 6);
    const vec b = at(v + n->b), rb = at(v + n->b + 3), sb = at(v + n->b + 6);
    v[n->out] = along(a, b) - v[n->c];
    v[n->out + 1] = along(ra, b) + along(a, rb);
    v[n->out + 2] = (along(sa, b) + along(a, sb)) + 2.0 * along(ra, rb);
}

static void product_tangent(const fm_node *n, const double *v, double *d)
{
    const vec a = at(v + n->a), ra = at(v + n->a + 3), sa = at(v + n->a + 6);
    const vec b = at(v + n->b), rb = at(v + n->b + 3), sb = at(v + n->b + 6);
    const vec da = at(d + n->a), dra = at(d + n->a + 3), dsa = at(d + n->a + 6);
    const vec db = at(d + n->b), drb = at(d + n->b + 3), dsb = at(d + n->b + 6);
    d[n->out] = along(da, b) + along(a, db);
    d[n->out + 1] = (along(dra, b) + along(ra, db)) + (along(da, rb) + along(a, drb));
    d[n->out + 2] =
        ((along(dsa, b) + along(sa, db)) + (along(da, sb) + along(a, dsb))) + 2.0 * (along(dra, rb) + along(ra, drb));
}

/* The adjoints of one factor, by the values of the other. */
static void factor_adjoint(const double *g, const double *other, double *to)
{
    const vec b = at(other), rb = at(other + 3), sb = at(other + 6);
    more(to, sum(sum(scaled(g[0], b), scaled(g[1], rb)), scaled(g[2], sb)));
    more(to + 3, sum(scaled(g[1], b), scaled(2.0 * g[2], rb)));
    more(to + 6, scaled(g[2], b));
}

static void product_adjoint(const fm_node *n, const double *v, double *d)
{
    const double g[3] = {d[n->out], d[n->out + 1], d[n->out + 2]};
    factor_adjoint(g, v + n->b, d + n->a);
    factor_adjoint(g, v + n->a, d + n->b);
}

void fm_row_value(const fm_instance *s, const fm_node *n, double *v)
{
    switch ((fm_operation)n->operation) {
    case FM_DO_APART: apart_along(n, v, v); break;
    case FM_DO_PRODUCT_ROW: product_value(n, v); break;
    default: carried_value(s, n, v, n->operation == FM_DO_POINT); break;
    }
}

/* v: values, t: tangents. */
void fm_row_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t)
{
    switch ((fm_operation)n->operation) {
    case FM_DO_APART: apart_along(n, t, t); break;
    case FM_DO_PRODUCT_ROW: product_tangent(n, v, t); break;
    default: carried_tangent(s, n, v, t, n->operation == FM_DO_POINT); break;
    }
}

/* v: values, d: adjoints. */
void fm_row_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    switch ((fm_operation)n->operation) {
    case FM_DO_APART: apart_adjoint(n, d); break;
    case FM_DO_PRODUCT_ROW: product_adjoint(n, v, d); break;
    case FM_DO_STILL_POINT: more(d + link_at(s, n)->a, at(d + n->out + FM_POINT_AT + 6)); break;
    default: carried_adjoint(s, n, v, d, n->operation == FM_DO_POINT); break;
    }
}
