/* cut_operations.c: the operations of cut joints with any product of modes (loops/cut_joints.c), in F's axes.
 *
 * With Phi(p) the n free modes at M and E their directions of wrenches, torques along the axes of those that turn and
 * forces along those that only slide (tree/dual.c), A = E' Phi, the relative velocity V and acceleration G of M,
 *     u = A^-1 E' V,   u' = A^-1 E' (G - bias),   bias = Phi' u,   wrench = E x,   A' x = forces along the modes.
 * What an open loop leaves are W = V - Phi u and X = G - bias - Phi u'. With changes dPhi and dE, which follow dp as
 * Phi' follows u,
 *     du = A^-1 (E' (dV - dPhi u) + dE' W),   du' = A^-1 (E' (dG - dbias - dPhi u') + dE' X),
 *     dwrench = dE x + E dx,   A' dx = dforces - Phi' dE x - dPhi' wrench.
 * Positions satisfy E' m = 0, m the rotation vector t and the displacement by which M misses its place. With the motion
 * (w, v) of M and L(t) w, how t changes as that turns by w, the rates of the modes are those of
 *     E' (L w, v) = A* rates,   A* = E' (L' turns, slides) - (dE' m by each mode).
 */
#include "cut_operations.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "../maths/dense.h"
#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "sums.h"

#include <string.h>

/* A vector and its derivatives along two motions of the joint, u and v, and along both. */
typedef struct jet {
    double at[3], u[3], v[3], uv[3];
} jet;

/* The free modes at M, in F's axes, and along which of them there are torques; M's axes and place. moves: 1 if there
 * are derivatives, which are zero else. */
typedef struct chain {
    int32_t n, moves;
    double R[9], r[3];
    jet turn[FM_JOINT_MODES], slide[FM_JOINT_MODES];
    int turns[FM_JOINT_MODES];
} chain;

static void add_jet(jet *out, double factor, const jet *a, int moves)
{
    add_times(out->at, factor, a->at);
    if (!moves) return;
    add_times(out->u, factor, a->u), add_times(out->v, factor, a->v), add_times(out->uv, factor, a->uv);
}

/* out + a x b */
static void add_jet_cross(jet *out, const jet *a, const jet *b, int moves)
{
    add_cross(out->at, a->at, b->at);
    if (!moves) return;
    add_cross(out->u, a->u, b->at), add_cross(out->u, a->at, b->u);
    add_cross(out->v, a->v, b->at), add_cross(out->v, a->at, b->v);
    add_cross(out->uv, a->uv, b->at), add_cross(out->uv, a->u, b->v);
    add_cross(out->uv, a->v, b->u), add_cross(out->uv, a->at, b->uv);
}

/* The angular velocities of the frame behind the modes so far: along u, how that changes along v, along v. */
typedef struct spins {
    double u[3], uv[3], v[3];
} spins;

/* A vector that is fixed in that frame. */
static jet fixed(const double *R, const double *in, const spins *w, int moves)
{
    jet a;
    memset(&a, 0, sizeof a);
    rotate_out(R, in, a.at);
    if (!moves) return a;
    cross(w->u, a.at, a.u);
    cross(w->v, a.at, a.v);
    cross(w->uv, a.at, a.uv);
    add_cross(a.uv, w->u, a.v);
    return a;
}

static void turn_by(double *R, const double *more)
{
    double before[9];
    memcpy(before, R, sizeof before);
    product(before, more, R);
}

/* A screw, free or locked, at q with the rates u and v; r: M's origin so far. */
static void add_screw(const fm_image *m, int32_t k, double q, double u, double v, double *R, spins *w, jet *r, chain *c)
{
    const double turn = m->cut_turn[k], slide = m->cut_slide[k], *axis = m->cut_axis + 3 * k;
    const jet a = fixed(R, axis, w, c->moves);
    double more[9];
    add_jet(r, slide * q, &a, c->moves);
    if (c->moves) {
        add_times(r->u, slide * u, a.at), add_times(r->v, slide * v, a.at);
        add_times(r->uv, slide * v, a.u), add_times(r->uv, slide * u, a.v);
        add_times(w->u, turn * u, a.at), add_times(w->uv, turn * u, a.v), add_times(w->v, turn * v, a.at);
    }
    if (turn != 0.0) {
        fm_rotation_about(axis, turn * q, more);
        turn_by(R, more);
    }
    if (m->cut_kind[k] != FM_CUT_SCREW) return;
    add_jet(c->turn + c->n, turn, &a, c->moves);
    add_jet(c->slide + c->n, slide, &a, c->moves);
    c->turns[c->n++] = turn != 0.0;
}

static void add_ball(const double *q, const double *u, const double *v, double *R, spins *w, chain *c)
{
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double more[9], spin[3];
    fm_rotation_of(q, more);
    turn_by(R, more);
    if (c->moves) {
        rotate_out(R, v, spin);
        add_times(w->v, 1.0, spin);
        rotate_out(R, u, spin);
        add_times(w->u, 1.0, spin);
        add_cross(w->uv, w->v, spin);
    }
    for (int j = 0; j < 3; j++, c->n++) {
        c->turn[c->n] = fixed(R, unit[j], w, c->moves);
        c->turns[c->n] = 1;
    }
}

static const double at_rest[FM_JOINT_MODES];

/* The chain of a joint at positions p, with its derivatives along the rates u and v. */
static void make_chain(const fm_image *m, int32_t joint, const double *p, const double *u, const double *v, chain *c)
{
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    spins w;
    jet r, behind[FM_JOINT_MODES];
    memset(c, 0, sizeof *c), memset(&w, 0, sizeof w), memset(&r, 0, sizeof r);
    c->moves = u != at_rest || v != at_rest;
    for (int32_t k = m->joint_mode[joint]; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        const int32_t first = c->n;
        const int free = m->cut_kind[k] == FM_CUT_SCREW;
        if (m->cut_kind[k] == FM_CUT_BALL) {
            add_ball(p, u + first, v + first, R, &w, c);
            p += 4;
        } else {
            add_screw(m, k, free ? *p : m->cut_value[k], free ? u[first] : 0.0, free ? v[first] : 0.0, R, &w, &r, c);
            p += free;
        }
        for (int32_t i = first; i < c->n; i++) behind[i] = r;
    }
    for (int32_t i = 0; i < c->n; i++) {
        jet arm = r;
        add_jet(&arm, -1.0, behind + i, c->moves);
        add_jet_cross(c->slide + i, c->turn + i, &arm, c->moves);
    }
    memcpy(c->R, R, sizeof R), memcpy(c->r, r.at, sizeof r.at);
}

/* Numbers times the modes, or times their derivatives: at, u, v or uv of the jets. */
#define SUM_OF(c, part, by, out)                                  \
    for (int32_t i_ = 0; i_ < (c)->n; i_++) {                     \
        add_times(out, (by)[i_], (c)->turn[i_].part);             \
        add_times((out) + 3, (by)[i_], (c)->slide[i_].part);      \
    }

/* E' w */
static void along(const chain *c, const double w[6], double *out)
{
    for (int32_t i = 0; i < c->n; i++) out[i] = c->turns[i] ? dot(c->turn[i].at, w) : dot(c->slide[i].at, w + 3);
}

/* Adds dE' w along v. */
static void add_along_change(const chain *c, const double w[6], double *out)
{
    for (int32_t i = 0; i < c->n; i++) out[i] += c->turns[i] ? dot(c->turn[i].v, w) : dot(c->slide[i].v, w + 3);
}

/* E x, or dE x along v */
static void wrench_of(const chain *c, int change, const double *x, double out[6])
{
    memset(out, 0, 6 * sizeof *out);
    for (int32_t i = 0; i < c->n; i++) {
        const jet *e = c->turns[i] ? c->turn + i : c->slide + i;
        add_times(out + (c->turns[i] ? 0 : 3), x[i], change ? e->v : e->at);
    }
}

/* x <- A^-1 x, or, transposed, A'^-1 x. Where modes are dependent what comes of it is not finite. */
static void solve_by(const double *A, int32_t n, int transposed, double *x)
{
    double B[FM_JOINT_MODES * FM_JOINT_MODES];
    int32_t order[FM_JOINT_MODES];
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) B[transposed ? j * n + i : i * n + j] = A[i * n + j];
    (void)fm_dense_factor(B, n, n, order);
    fm_dense_solve(B, n, n, order, x);
}

/* The same with A = E' Phi. */
static void solve(const chain *c, int transposed, double *x)
{
    double A[FM_JOINT_MODES * FM_JOINT_MODES];
    for (int32_t i = 0; i < c->n; i++)
        for (int32_t j = 0; j < c->n; j++)
            A[i * c->n + j] = c->turns[i] ? dot(c->turn[i].at, c->turn[j].at) : dot(c->slide[i].at, c->slide[j].at);
    solve_by(A, c->n, transposed, x);
}

/* The rates of the modes for a relative motion w of M. */
static void rates_of(const chain *c, const double w[6], double *u)
{
    along(c, w, u);
    solve(c, 0, u);
}

static double dot_wrench(const double a[6], const double b[6])
{
    return dot(a, b) + dot(a + 3, b + 3);
}

/* The rates of the modes at the change dp of positions. */
static void rates_at(const fm_image *m, int32_t joint, const double *p, const double *dp, double *rate)
{
    for (int32_t k = m->joint_mode[joint]; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        if (m->cut_kind[k] == FM_CUT_SCREW) *rate++ = *dp++, p++;
        if (m->cut_kind[k] != FM_CUT_BALL) continue;
        double x[3];
        cross(p + 1, dp + 1, x);
        for (int j = 0; j < 3; j++) *rate++ = 2.0 * ((p[0] * dp[1 + j] - dp[0] * p[1 + j]) - x[j]);
        p += 4, dp += 4;
    }
}

/* Adds its adjoint: g of the rates. */
static void adjoin_rates(const fm_image *m, int32_t joint, const double *p, const double *g, double *gp)
{
    for (int32_t k = m->joint_mode[joint]; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        if (m->cut_kind[k] == FM_CUT_SCREW) *gp++ += *g++, p++;
        if (m->cut_kind[k] != FM_CUT_BALL) continue;
        double x[3];
        cross(p + 1, g, x);
        gp[0] -= 2.0 * dot(p + 1, g);
        for (int j = 0; j < 3; j++) gp[1 + j] += 2.0 * (p[0] * g[j] + x[j]);
        p += 4, gp += 4, g += 3;
    }
}

/* The change of positions with rates of the modes. */
static void positions_along(const fm_image *m, int32_t joint, const double *p, const double *rate, double *dp)
{
    for (int32_t k = m->joint_mode[joint]; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        if (m->cut_kind[k] == FM_CUT_SCREW) *dp++ = *rate++, p++;
        if (m->cut_kind[k] != FM_CUT_BALL) continue;
        double x[3];
        cross(p + 1, rate, x);
        dp[0] = -0.5 * dot(p + 1, rate);
        for (int j = 0; j < 3; j++) dp[1 + j] = 0.5 * (p[0] * rate[j] + x[j]);
        p += 4, dp += 4, rate += 3;
    }
}

/* Its adjoint. */
static void adjoin_positions(const fm_image *m, int32_t joint, const double *p, const double *g, double *rate)
{
    for (int32_t k = m->joint_mode[joint]; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        if (m->cut_kind[k] == FM_CUT_SCREW) *rate++ = *g++, p++;
        if (m->cut_kind[k] != FM_CUT_BALL) continue;
        double x[3];
        cross(g + 1, p + 1, x);
        for (int j = 0; j < 3; j++) rate[j] = 0.5 * ((p[0] * g[1 + j] - p[1 + j] * g[0]) + x[j]);
        p += 4, g += 4, rate += 3;
    }
}

/* What the relative acceleration or velocity of an operation leaves for the rates of the modes. */
static void beside_bias(const fm_node *n, const double *v, const chain *c, double out[6])
{
    double bias[6] = {0.0};
    if (n->operation == FM_DO_CUT_SECOND) SUM_OF(c, u, v + n->b, bias);
    for (int j = 0; j < 6; j++) out[j] = v[n->c + j] - bias[j];
}

/* What the rates of the modes leave of that, as the loop is open. */
static void left_open(const fm_node *n, const double *v, const chain *c, double out[6])
{
    double taken[6] = {0.0};
    beside_bias(n, v, c, out);
    SUM_OF(c, at, v + n->out, taken);
    for (int j = 0; j < 6; j++) out[j] -= taken[j];
}

static int are_zero(const double *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (x[i] != 0.0) return 0;
    return 1;
}

void fm_cut_value(const fm_instance *s, const fm_node *n, double *v)
{
    const fm_image *m = &s->image;
    const int second = n->operation == FM_DO_CUT_SECOND;
    double x[6];
    chain c;
    if (n->operation == FM_DO_CUT_POSITION) {
        memcpy(v + n->out, v + s->graph->leaf.cut_now + m->joint_p[n->k], (size_t)m->joint_np[n->k] * sizeof *v);
        return;
    }
    if (n->operation == FM_DO_CUT_WRENCH && are_zero(v + n->b, m->joint_nu[n->k])) {
        memset(v + n->out, 0, sizeof x);
        return;
    }
    make_chain(m, n->k, v + n->a, second ? v + n->b : at_rest, at_rest, &c);
    if (n->operation == FM_DO_CUT_WRENCH) {
        memcpy(x, v + n->b, (size_t)c.n * sizeof *x);
        solve(&c, 1, x);
        wrench_of(&c, 0, x, v + n->out);
        return;
    }
    beside_bias(n, v, &c, x);
    rates_of(&c, x, v + n->out);
}

/* The relative motion of M along tangents: of the rotations a and b in the world, and of the displacement c. */
static void motion_along(const fm_node *n, const double *v, const double *t, double out[6])
{
    double turned[3];
    for (int j = 0; j < 3; j++) turned[j] = t[n->b + j] - t[n->a + j];
    rotate_in(v + n->a, turned, out);
    memcpy(out + 3, t + n->c, 3 * sizeof *out);
}

/* By which rotation vector and displacement M misses its place at the positions of an operation, and A*. */
static void miss(const fm_image *m, const fm_node *n, const double *v, const chain *c, double out[6], double *A)
{
    double R[9], E[9], q[4], unit[FM_JOINT_MODES] = {0.0}, by_unit[FM_JOINT_MODES], turned[3];
    for (int i = 0; i < 3; i++) {
        const double column[3] = {v[n->b + i], v[n->b + 3 + i], v[n->b + 6 + i]};
        rotate_in(v + n->a, column, turned);
        for (int j = 0; j < 3; j++) R[3 * j + i] = turned[j];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) E[3 * i + j] = dot(R + 3 * i, c->R + 3 * j);
    fm_quaternion_of(E, q);
    fm_rotation_vector(q, out);
    for (int j = 0; j < 3; j++) out[3 + j] = v[n->c + j] - c->r[j];
    for (int32_t j = 0; j < c->n; j++) {
        chain along;
        unit[j] = 1.0;
        make_chain(m, n->k, v + n->out, at_rest, unit, &along);
        unit[j] = 0.0;
        memset(by_unit, 0, sizeof by_unit);
        add_along_change(&along, out, by_unit);
        fm_change_of_vector(out, 1.0, c->turn[j].at, turned);
        for (int32_t i = 0; i < c->n; i++)
            A[i * c->n + j] =
                (c->turns[i] ? dot(c->turn[i].at, turned) : dot(c->slide[i].at, c->slide[j].at)) - by_unit[i];
    }
}

/* What the changes of the modes along v, and of the bias along v and du, take from the rates. */
static void take_changes(const fm_image *m, const fm_node *n, const double *v, const double *t, const chain *c,
                         double out[6])
{
    const int second = n->operation == FM_DO_CUT_SECOND;
    double taken[6] = {0.0};
    SUM_OF(c, v, v + n->out, taken);
    if (second) {
        chain other;
        make_chain(m, n->k, v + n->a, at_rest, t + n->b, &other);
        SUM_OF(c, uv, v + n->b, taken);
        SUM_OF(&other, v, v + n->b, taken);
        SUM_OF(c, u, t + n->b, taken);
    }
    for (int j = 0; j < 6; j++) out[j] -= taken[j];
}

static void wrench_along(const chain *c, const double *force, const double *dforce, double *out)
{
    double x[6], dx[6], w[6], dw[6];
    memcpy(x, force, (size_t)c->n * sizeof *x);
    solve(c, 1, x);
    wrench_of(c, 0, x, w);
    wrench_of(c, 1, x, dw);
    for (int32_t i = 0; i < c->n; i++)
        dx[i] = dforce[i] - (dot(c->turn[i].at, dw) + dot(c->slide[i].at, dw + 3)) -
                (dot(c->turn[i].v, w) + dot(c->slide[i].v, w + 3));
    solve(c, 1, dx);
    wrench_of(c, 0, dx, out);
    for (int j = 0; j < 6; j++) out[j] += dw[j];
}

void fm_cut_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t)
{
    const fm_image *m = &s->image;
    const int second = n->operation == FM_DO_CUT_SECOND;
    const double *p = v + (n->operation == FM_DO_CUT_POSITION ? n->out : n->a);
    double rate[FM_JOINT_MODES] = {0.0}, w[6], open[6];
    chain c;
    if (n->operation == FM_DO_CUT_WRENCH && are_zero(v + n->b, m->joint_nu[n->k]) &&
        are_zero(t + n->b, m->joint_nu[n->k])) {
        memset(t + n->out, 0, sizeof w);
        return;
    }
    if (n->operation == FM_DO_CUT_POSITION) {
        double A[FM_JOINT_MODES * FM_JOINT_MODES], turning[3];
        make_chain(m, n->k, p, at_rest, at_rest, &c);
        miss(m, n, v, &c, open, A);
        motion_along(n, v, t, w);
        fm_change_of_vector(open, -1.0, w, turning);
        memcpy(w, turning, sizeof turning);
        along(&c, w, rate);
        solve_by(A, c.n, 0, rate);
        positions_along(m, n->k, p, rate, t + n->out);
        return;
    }
    rates_at(m, n->k, p, t + n->a, rate);
    make_chain(m, n->k, p, second ? v + n->b : at_rest, rate, &c);
    if (n->operation == FM_DO_CUT_WRENCH) {
        wrench_along(&c, v + n->b, t + n->b, t + n->out);
        return;
    }
    memcpy(w, t + n->c, sizeof w);
    take_changes(m, n, v, t, &c, w);
    left_open(n, v, &c, open);
    along(&c, w, t + n->out);
    add_along_change(&c, open, t + n->out);
    solve(&c, 0, t + n->out);
}

static void adjoin_position(const fm_image *m, const fm_node *n, const double *v, double *d)
{
    double A[FM_JOINT_MODES * FM_JOINT_MODES], rate[FM_JOINT_MODES], open[6], w[6], turning[3], torque[3];
    chain c;
    make_chain(m, n->k, v + n->out, at_rest, at_rest, &c);
    miss(m, n, v, &c, open, A);
    adjoin_positions(m, n->k, v + n->out, d + n->out, rate);
    solve_by(A, c.n, 1, rate);
    wrench_of(&c, 0, rate, w);
    fm_change_of_vector(open, 1.0, w, turning);
    rotate_out(v + n->a, turning, torque);
    add_times(d + n->b, 1.0, torque), add_times(d + n->a, -1.0, torque), add_times(d + n->c, 1.0, w + 3);
}

/* Of rates and accelerations: by the relative motion, and by each of the modes' rates, and by p through these. */
static void adjoin_motion(const fm_image *m, const fm_node *n, const double *v, double *d)
{
    const int second = n->operation == FM_DO_CUT_SECOND;
    const double *u = second ? v + n->b : at_rest;
    double x[FM_JOINT_MODES], w[6], open[6], dw[6], unit[FM_JOINT_MODES] = {0.0}, by_rate[FM_JOINT_MODES] = {0.0};
    chain c;
    make_chain(m, n->k, v + n->a, u, at_rest, &c);
    memcpy(x, d + n->out, (size_t)c.n * sizeof *x);
    solve(&c, 1, x);
    wrench_of(&c, 0, x, w);
    left_open(n, v, &c, open);
    add_times(d + n->c, 1.0, w), add_times(d + n->c + 3, 1.0, w + 3);
    for (int32_t i = 0; i < c.n; i++) {
        double taken[6] = {0.0}, bias[6] = {0.0};
        chain along;
        unit[i] = 1.0;
        make_chain(m, n->k, v + n->a, u, unit, &along);
        SUM_OF(&along, v, v + n->out, taken);
        if (second) {
            SUM_OF(&along, uv, u, taken);
            SUM_OF(&along, v, u, bias);
            SUM_OF(&along, u, unit, bias);
            d[n->b + i] -= dot_wrench(w, bias);
        }
        wrench_of(&along, 1, x, dw);
        by_rate[i] = dot_wrench(dw, open) - dot_wrench(w, taken);
        unit[i] = 0.0;
    }
    adjoin_rates(m, n->k, v + n->a, by_rate, d + n->a);
}

/* still: by the forces alone. */
static void adjoin_wrench(const fm_image *m, const fm_node *n, const double *v, double *d, int still)
{
    const double *g = d + n->out;
    double x[6], y[6], w[6], dw[6], unit[FM_JOINT_MODES] = {0.0}, by_rate[FM_JOINT_MODES] = {0.0};
    chain c;
    make_chain(m, n->k, v + n->a, at_rest, at_rest, &c);
    rates_of(&c, g, y);
    for (int32_t i = 0; i < c.n; i++) d[n->b + i] += y[i];
    if (still || are_zero(v + n->b, c.n)) return; /* as of a joint that only measures */
    memcpy(x, v + n->b, (size_t)c.n * sizeof *x);
    solve(&c, 1, x);
    wrench_of(&c, 0, x, w);
    for (int32_t i = 0; i < c.n; i++) {
        chain along;
        unit[i] = 1.0;
        make_chain(m, n->k, v + n->a, at_rest, unit, &along);
        unit[i] = 0.0;
        wrench_of(&along, 1, x, dw);
        by_rate[i] = dot_wrench(g, dw);
        for (int32_t j = 0; j < c.n; j++)
            by_rate[i] -= y[j] * ((dot(along.turn[j].at, dw) + dot(along.slide[j].at, dw + 3)) +
                                  (dot(along.turn[j].v, w) + dot(along.slide[j].v, w + 3)));
    }
    adjoin_rates(m, n->k, v + n->a, by_rate, d + n->a);
}

void fm_cut_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const int at_position = n->operation == FM_DO_CUT_POSITION;
    const int still = n->operation == FM_DO_STILL_CUT_WRENCH;
    if (n->operation < FM_DO_CUT_WRENCH &&
        are_zero(d + n->out, (at_position ? s->image.joint_np : s->image.joint_nu)[n->k]))
        return;
    if (at_position) adjoin_position(&s->image, n, v, d);
    else if (n->operation >= FM_DO_CUT_WRENCH) adjoin_wrench(&s->image, n, v, d, still);
    else adjoin_motion(&s->image, n, v, d);
}
