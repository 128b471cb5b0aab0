/* link_operations.c: the steps of inverse dynamics along the tree, each of them one operation; all vectors in world
 * axes.
 *
 * A joint of one freedom moves its link by its parent's motion, with e its axis, l the arm from the parent's origin,
 *     t = w_p x l,  x = w_p x e,   r = r_p + l,   v = v_p + t + s e u,   w = w_p + p e u,
 *     alpha = alpha_p + p (e u' + x u),   a = a_p + alpha_p x l + w_p x t + s (e u' + 2 x u),
 * p its turn and s its slide by a unit of its coordinate. A body's torque at its link's origin and its force are, c the
 * centre from there, J its inertia,
 *     n = J alpha + w x J w + c x f,   f = m (a + alpha x c + w x (w x c)).
 * A wrench is a torque and a force, added to what the link takes so far. Of a joint of one freedom the residual is
 *     k (q - q_0) + d u - Q + e . (p n + s f).
 * Adjoints are those of the sum of all results, each times its own; that of a rotation is a torque.
 */
#include "link_operations.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "sums.h"
#include "vec.h"

#include <string.h>

/* Adds the adjoints of the entries of I in g . I v + h . I w. */
static inline void weigh_back(vec v, vec g, vec w, vec h, double *to)
{
    to[0] += v.x * g.x + w.x * h.x, to[1] += v.y * g.y + w.y * h.y, to[2] += v.z * g.z + w.z * h.z;
    to[3] += (v.x * g.y + v.y * g.x) + (w.x * h.y + w.y * h.x);
    to[4] += (v.x * g.z + v.z * g.x) + (w.x * h.z + w.z * h.x);
    to[5] += (v.y * g.z + v.z * g.y) + (w.y * h.z + w.z * h.y);
}

/* Of a joint, at a node of it. */
typedef struct joint {
    double q, u, second, turn, slide;
    int32_t at_u;
    vec e, l, t, x, fixed; /* fixed: what l is at the coordinate zero */
} joint;

/* What a joint moves on: FM_JOINT of graph.h has its place in k. */
static const fm_motion_places *carrier_of(const fm_instance *s, const fm_node *n)
{
    return s->graph->motion + n->k;
}

static const fm_motion_places *link_of(const fm_instance *s, int32_t body)
{
    return s->graph->motion + 1 + s->image.body_link[body];
}

static int32_t place_of_speed(const fm_instance *s, int32_t link)
{
    return s->graph->leaf.y + s->image.n.positions + s->image.link_u[link];
}

static joint joint_at(const fm_node *n, const double *v)
{
    const double *own = v + n->out;
    joint j = {.q = v[n->b],
               .second = v[n->c],
               .turn = own[FM_JOINT_TURN],
               .slide = own[FM_JOINT_SLIDE],
               .at_u = n->a,
               .e = at(own + FM_JOINT_AXIS),
               .l = at(own + FM_JOINT_ARM),
               .t = at(own + FM_JOINT_TURNED),
               .x = at(own + FM_JOINT_AROUND)};
    j.u = v[j.at_u];
    j.fixed = less(j.l, scaled(j.slide * j.q, j.e));
    return j;
}

/* out = A R0 turned by an angle about its axis k; R0 NULL: the identity. */
static void turn_frame(const double *A, const double *R0, double angle, int k, double *out)
{
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    double c, s, R[9];
    fm_cos_and_sin(angle, &c, &s);
    if (R0 != NULL) product(A, R0, R);
    else memcpy(R, A, sizeof R);
    for (int row = 0; row < 9; row += 3) {
        out[row + i] = R[row + i] * c + R[row + j] * s;
        out[row + j] = R[row + j] * c - R[row + i] * s;
        out[row + k] = R[row + k];
    }
}

static void joint_value(const fm_instance *s, const fm_node *n, double *v)
{
    const fm_motion_places *p = carrier_of(s, n);
    double *own = v + n->out;
    const int axis = (int)own[FM_JOINT_ABOUT];
    const double q = v[n->b], u = v[n->a], second = v[n->c], turn = own[FM_JOINT_TURN], slide = own[FM_JOINT_SLIDE],
                 sign = own[FM_JOINT_SIGN];
    const vec w = at(v + p->w), alpha = at(v + p->alpha);
    turn_frame(v + p->R, own[FM_JOINT_TURNS] != 0.0 ? own + FM_JOINT_R0 : NULL, sign * turn * q, axis,
               own + FM_MOTION_R);
    const vec e = {sign * own[axis], sign * own[3 + axis], sign * own[6 + axis]};
    const vec l = sum(out_of(v + p->R, at(own + FM_JOINT_AT)), scaled(slide * q, e));
    const vec t = times(w, l), x = times(w, e);
    const vec change = sum(scaled(second, e), scaled(u, x));
    const vec carried = sum(sum(at(v + p->a), times(alpha, l)), times(w, t));
    put(own + FM_MOTION_PLACE, sum(at(v + p->r), l));
    put(own + FM_MOTION_W, sum(w, scaled(turn * u, e)));
    put(own + FM_MOTION_V, sum(sum(at(v + p->v), t), scaled(slide * u, e)));
    put(own + FM_MOTION_ALPHA, sum(alpha, scaled(turn, change)));
    put(own + FM_MOTION_A, sum(carried, scaled(slide, sum(change, scaled(u, x)))));
    put(own + FM_JOINT_AXIS, e);
    put(own + FM_JOINT_ARM, l);
    put(own + FM_JOINT_TURNED, t);
    put(own + FM_JOINT_AROUND, x);
}

static void joint_tangent(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const fm_motion_places *p = carrier_of(s, n);
    const joint j = joint_at(n, v);
    const vec w = at(v + p->w), alpha = at(v + p->alpha), dR = at(d + p->R), dw = at(d + p->w),
              dalpha = at(d + p->alpha);
    const double dq = d[n->b], du = d[j.at_u], dsecond = d[n->c];
    double *own = d + n->out;
    const vec turned = sum(dR, scaled(j.turn * dq, j.e)), de = times(turned, j.e);
    const vec dl = sum(times(dR, j.fixed), scaled(j.slide, sum(scaled(dq, j.e), scaled(j.q, de))));
    const vec dt = sum(times(dw, j.l), times(w, dl)), dx = sum(times(dw, j.e), times(w, de));
    const vec speed = sum(scaled(du, j.e), scaled(j.u, de)), around = sum(scaled(du, j.x), scaled(j.u, dx));
    const vec change = sum(sum(scaled(dsecond, j.e), scaled(j.second, de)), around);
    const vec carried = sum(sum(times(dalpha, j.l), times(alpha, dl)), sum(times(dw, j.t), times(w, dt)));
    put(own + FM_MOTION_R, turned);
    put(own + FM_MOTION_PLACE, sum(at(d + p->r), dl));
    put(own + FM_MOTION_W, sum(dw, scaled(j.turn, speed)));
    put(own + FM_MOTION_V, sum(sum(at(d + p->v), dt), scaled(j.slide, speed)));
    put(own + FM_MOTION_ALPHA, sum(dalpha, scaled(j.turn, change)));
    put(own + FM_MOTION_A, sum(sum(at(d + p->a), carried), scaled(j.slide, sum(change, around))));
    put(own + FM_JOINT_AXIS, de);
    put(own + FM_JOINT_ARM, dl);
}

static void joint_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const fm_motion_places *p = carrier_of(s, n);
    const joint j = joint_at(n, v);
    const double *g = d + n->out;
    const vec w = at(v + p->w), alpha = at(v + p->alpha), gr = at(g + FM_MOTION_PLACE), gw = at(g + FM_MOTION_W),
              gv = at(g + FM_MOTION_V), galpha = at(g + FM_MOTION_ALPHA), ga = at(g + FM_MOTION_A);
    const vec by_speed = sum(scaled(j.turn, gw), scaled(j.slide, gv));
    const vec by_second = sum(scaled(j.turn, galpha), scaled(j.slide, ga));
    const vec by_x = sum(by_second, scaled(j.slide, ga)), gx = scaled(j.u, by_x), gt = sum(gv, times(ga, w));
    const vec gl = sum(sum(at(g + FM_JOINT_ARM), gr), sum(times(ga, alpha), times(gt, w)));
    const vec ge = sum(sum(at(g + FM_JOINT_AXIS), sum(scaled(j.u, by_speed), scaled(j.second, by_second))),
                       sum(times(gx, w), scaled(j.slide * j.q, gl)));
    const vec gR = sum(at(g + FM_MOTION_R), times(j.e, ge));
    d[j.at_u] += along(j.e, by_speed) + along(j.x, by_x);
    d[n->c] += along(j.e, by_second);
    d[n->b] += j.turn * along(j.e, gR) + j.slide * along(j.e, gl);
    more(d + p->R, sum(gR, times(j.fixed, gl)));
    more(d + p->r, gr);
    more(d + p->w, sum(sum(gw, times(j.t, ga)), sum(times(j.l, gt), times(j.e, gx))));
    more(d + p->v, gv);
    more(d + p->alpha, sum(galpha, times(j.l, ga)));
    more(d + p->a, ga);
}

/* A body: a the axes of its inertia, b what its link takes so far, c the centre in the link's axes. still: without its
 * wrench. */
static inline void body_value(const fm_instance *s, const fm_node *n, double *v, int still)
{
    const fm_motion_places *k = link_of(s, n->k);
    const double *axes = v + n->a, *I = v + s->graph->leaf.inertia + 6 * n->k;
    const vec w = at(v + k->w), alpha = at(v + k->alpha), c = out_of(v + k->R, at(v + n->c)), t = times(w, c);
    const vec a = sum(sum(at(v + k->a), times(alpha, c)), times(w, t));
    const vec spin = into(axes, w), spun = into(axes, alpha);
    double *out = v + n->out;
    put(out + FM_BODY_CENTRE, c), put(out + FM_BODY_ACCELERATION, a);
    put(out + FM_BODY_SPIN, spin), put(out + FM_BODY_SPUN, spun);
    if (still) return;
    const vec h = weighed(I, spin), by_spun = weighed(I, spun), f = scaled(v[s->graph->leaf.mass + n->k], a);
    const vec torque = sum(out_of(axes, sum(by_spun, times(spin, h))), times(c, f));
    put(out, sum(at(v + n->b), torque));
    put(out + 3, sum(at(v + n->b + 3), f));
    put(out + FM_BODY_TURNED, t), put(out + FM_BODY_BY_SPIN, h), put(out + FM_BODY_BY_SPUN, by_spun);
}

static void body_tangent(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const fm_motion_places *k = link_of(s, n->k);
    const int32_t at_I = s->graph->leaf.inertia + 6 * n->k, at_mass = s->graph->leaf.mass + n->k;
    const double *axes = v + n->a, *own = v + n->out, *I = v + at_I, *dI = d + at_I;
    const vec w = at(v + k->w), alpha = at(v + k->alpha), dR = at(d + k->R), dw = at(d + k->w),
              dalpha = at(d + k->alpha);
    const vec c = at(own + FM_BODY_CENTRE), t = at(own + FM_BODY_TURNED), a = at(own + FM_BODY_ACCELERATION),
              spin = at(own + FM_BODY_SPIN), spun = at(own + FM_BODY_SPUN), h = at(own + FM_BODY_BY_SPIN),
              by_spun = at(own + FM_BODY_BY_SPUN);
    const vec dc = times(dR, c), dt = sum(times(dw, c), times(w, dc));
    const vec turning = sum(sum(times(dalpha, c), times(alpha, dc)), sum(times(dw, t), times(w, dt)));
    const vec da = sum(at(d + k->a), turning);
    const vec dspin = into(axes, sum(dw, times(w, dR))), dspun = into(axes, sum(dalpha, times(alpha, dR)));
    const vec dh = sum(weighed(I, dspin), weighed(dI, spin)), dby = sum(weighed(I, dspun), weighed(dI, spun));
    const vec inner = out_of(axes, sum(dby, sum(times(dspin, h), times(spin, dh))));
    const vec carried = times(dR, out_of(axes, sum(by_spun, times(spin, h))));
    const vec f = scaled(v[at_mass], a), df = sum(scaled(v[at_mass], da), scaled(d[at_mass], a));
    const vec torque = sum(sum(inner, carried), sum(times(dc, f), times(c, df)));
    double *out = d + n->out;
    put(out, sum(at(d + n->b), torque));
    put(out + 3, sum(at(d + n->b + 3), df));
}

/* still: by its mass and inertia, by what its link takes so far and by the acceleration of its origin alone. */
static inline void body_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d, int still)
{
    const int32_t at_I = s->graph->leaf.inertia + 6 * n->k, at_mass = s->graph->leaf.mass + n->k;
    const double *axes = v + n->a, *own = v + n->out, *I = v + at_I, mass = v[at_mass];
    const vec g = at(d + n->out), push = at(d + n->out + 3), c = at(own + FM_BODY_CENTRE),
              a = at(own + FM_BODY_ACCELERATION), spin = at(own + FM_BODY_SPIN), spun = at(own + FM_BODY_SPUN);
    const vec gf = sum(push, times(g, c)), gn = into(axes, g), gh = times(gn, spin);
    d[at_mass] += along(a, gf);
    weigh_back(spun, gn, spin, gh, d + at_I);
    const fm_motion_places *k = link_of(s, n->k);
    const vec ga = scaled(mass, gf);
    more(d + n->b, g), more(d + n->b + 3, push);
    more(d + k->a, ga);
    if (still) return;
    const vec w = at(v + k->w), alpha = at(v + k->alpha), t = at(own + FM_BODY_TURNED), h = at(own + FM_BODY_BY_SPIN),
              by_spun = at(own + FM_BODY_BY_SPUN);
    const vec gt = times(ga, w), x = weighed(I, gn), y = weighed(I, gh);
    const vec gc = sum(scaled(mass, times(a, g)), sum(times(ga, alpha), times(gt, w)));
    const vec gspin = sum(y, times(h, gn));
    /* what turns the axes: the torques of all vectors that they carry */
    const vec turn = sum(sum(times(by_spun, gn), times(x, spun)), sum(times(h, gh), times(y, spin)));
    more(d + k->R, sum(times(c, gc), out_of(axes, turn)));
    more(d + k->w, sum(out_of(axes, gspin), sum(times(t, ga), times(c, gt))));
    more(d + k->alpha, sum(out_of(axes, x), times(c, ga)));
}

/* A wrench b at the arm c, added to a. */
static void wrench_value(const fm_node *n, double *v)
{
    const double *a = v + n->a, *b = v + n->b;
    double *out = v + n->out;
    for (int j = 0; j < 6; j++) out[j] = a[j] + b[j];
    add_cross(out, v + n->c, b + 3);
}

static void wrench_tangent(const fm_node *n, const double *v, double *d)
{
    const double *da = d + n->a, *db = d + n->b;
    double *out = d + n->out;
    for (int j = 0; j < 6; j++) out[j] = da[j] + db[j];
    add_cross(out, d + n->c, v + n->b + 3);
    add_cross(out, v + n->c, db + 3);
}

static inline void wrench_adjoint(const fm_node *n, const double *v, double *d, int still)
{
    const double *g = d + n->out;
    for (int j = 0; j < 6; j++) d[n->a + j] += g[j], d[n->b + j] += g[j];
    add_cross(d + n->b + 3, g, v + n->c);
    if (!still) add_cross(d + n->c, v + n->b + 3, g);
}

/* A force b at the arm c, added, or, k below 0, subtracted. */
static void force_value(const fm_node *n, double *v)
{
    const double *a = v + n->a, *b = v + n->b;
    double *out = v + n->out, moment[3];
    cross(v + n->c, b, moment);
    for (int j = 0; j < 3; j++) out[j] = a[j] + n->k * moment[j], out[3 + j] = a[3 + j] + n->k * b[j];
}

static void force_tangent(const fm_node *n, const double *v, double *d)
{
    const double *da = d + n->a, *db = d + n->b;
    double *out = d + n->out, moment[3];
    cross(d + n->c, v + n->b, moment);
    add_cross(moment, v + n->c, db);
    for (int j = 0; j < 3; j++) out[j] = da[j] + n->k * moment[j], out[3 + j] = da[3 + j] + n->k * db[j];
}

static void force_adjoint(const fm_node *n, const double *v, double *d)
{
    const double *g = d + n->out;
    double x[3];
    for (int j = 0; j < 6; j++) d[n->a + j] += g[j];
    cross(g, v + n->c, x);
    add_to(x, g + 3);
    add_times(d + n->b, n->k, x);
    cross(v + n->b, g, x);
    add_times(d + n->c, n->k, x);
}

/* A torque b, added, or, k below 0, subtracted. */
static void torque_along(const fm_node *n, const double *from, double *to)
{
    for (int j = 0; j < 6; j++) to[n->out + j] = from[n->a + j];
    add_times(to + n->out, n->k, from + n->b);
}

static void torque_adjoint(const fm_node *n, double *d)
{
    for (int j = 0; j < 6; j++) d[n->a + j] += d[n->out + j];
    add_times(d + n->b, n->k, d + n->out);
}

/* The residual of joint k: a its axis, b the wrench that its link takes, c the applied force. */
static void residual_value(const fm_instance *s, const fm_node *n, double *v)
{
    const fm_leaves *leaf = &s->graph->leaf;
    const int32_t u = s->image.link_u[n->k], q = leaf->y + s->image.link_p[n->k];
    const double *e = v + n->a, *b = v + n->b, turn = v[n->out + 1], slide = v[n->out + 2];
    v[n->out] =
        ((v[leaf->stiffness + u] * (v[q] - v[leaf->rest + u]) + v[leaf->damping + u] * v[place_of_speed(s, n->k)]) -
         v[n->c]) +
        (turn * dot(e, b) + slide * dot(e, b + 3));
}

static void residual_tangent(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const fm_leaves *leaf = &s->graph->leaf;
    const int32_t u = s->image.link_u[n->k], q = leaf->y + s->image.link_p[n->k], at_u = place_of_speed(s, n->k);
    const int32_t stiffness = leaf->stiffness + u, damping = leaf->damping + u, rest = leaf->rest + u;
    const double *e = v + n->a, *b = v + n->b, *de = d + n->a, *db = d + n->b, turn = v[n->out + 1],
                 slide = v[n->out + 2];
    d[n->out] = ((d[stiffness] * (v[q] - v[rest]) + v[stiffness] * (d[q] - d[rest])) +
                 (d[damping] * v[at_u] + v[damping] * d[at_u])) -
                d[n->c] + (turn * (dot(de, b) + dot(e, db)) + slide * (dot(de, b + 3) + dot(e, db + 3)));
}

static inline void residual_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d, int still)
{
    const fm_leaves *leaf = &s->graph->leaf;
    const int32_t u = s->image.link_u[n->k], q = leaf->y + s->image.link_p[n->k], at_u = place_of_speed(s, n->k);
    const int32_t stiffness = leaf->stiffness + u, damping = leaf->damping + u, rest = leaf->rest + u;
    const double g = d[n->out], turn = g * v[n->out + 1], slide = g * v[n->out + 2], *e = v + n->a, *b = v + n->b;
    d[stiffness] += g * (v[q] - v[rest]);
    d[q] += g * v[stiffness], d[rest] -= g * v[stiffness];
    d[damping] += g * v[at_u], d[at_u] += g * v[damping];
    d[n->c] -= g;
    for (int j = 0; j < 3; j++) {
        if (!still) d[n->a + j] += turn * b[j] + slide * b[3 + j];
        d[n->b + j] += turn * e[j];
        d[n->b + 3 + j] += slide * e[j];
    }
}

void fm_link_value(const fm_instance *s, const fm_node *n, double *v)
{
    switch ((fm_operation)n->operation) {
    case FM_DO_JOINT: joint_value(s, n, v); break;
    case FM_DO_BODY: body_value(s, n, v, 0); break;
    case FM_DO_STILL_BODY: body_value(s, n, v, 1); break;
    case FM_DO_ADD_WRENCH: wrench_value(n, v); break;
    case FM_DO_ADD_FORCE: force_value(n, v); break;
    case FM_DO_ADD_TORQUE: torque_along(n, v, v); break;
    default: residual_value(s, n, v); break;
    }
}

/* v: values, t: tangents. */
void fm_link_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t)
{
    switch ((fm_operation)n->operation) {
    case FM_DO_JOINT: joint_tangent(s, n, v, t); break;
    case FM_DO_BODY: body_tangent(s, n, v, t); break;
    case FM_DO_ADD_WRENCH: wrench_tangent(n, v, t); break;
    case FM_DO_ADD_FORCE: force_tangent(n, v, t); break;
    case FM_DO_ADD_TORQUE: torque_along(n, t, t); break;
    default: residual_tangent(s, n, v, t); break;
    }
}

/* v: values, d: adjoints. */
void fm_link_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    switch ((fm_operation)n->operation) {
    case FM_DO_JOINT: joint_adjoint(s, n, v, d); break;
    case FM_DO_STILL_JOINT: more(d + carrier_of(s, n)->a, at(d + n->out + FM_MOTION_A)); break;
    case FM_DO_BODY: body_adjoint(s, n, v, d, 0); break;
    case FM_DO_STILL_BODY: body_adjoint(s, n, v, d, 1); break;
    case FM_DO_ADD_WRENCH: wrench_adjoint(n, v, d, 0); break;
    case FM_DO_STILL_WRENCH: wrench_adjoint(n, v, d, 1); break;
    case FM_DO_ADD_FORCE: force_adjoint(n, v, d); break;
    case FM_DO_ADD_TORQUE: torque_adjoint(n, d); break;
    case FM_DO_STILL_RESIDUAL: residual_adjoint(s, n, v, d, 1); break;
    default: residual_adjoint(s, n, v, d, 0); break;
    }
}
