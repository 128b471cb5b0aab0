/* flexible_operations.c: the operations of flexible bodies, with as many numbers as these have modes.
 *
 * With the integrals of tree/modal.c, P = sum over k of q_k (A_k' + N_k), so that the modes add J = tr P - P to the
 * inertia and h = sum of S_k q_k to the first moment, the modes add to the inertial torque and force, and have the
 * modal forces,
 *     J alpha + h x a + C q'' + w x J w + 2 sum of q'_j (tr N_j - N_j') w,
 *     alpha x h + S q'' + w x (w x h) + 2 w x S q',
 *     C_k . alpha + S_k . a + (M q'' + D q' + K q)_k + w' N_k w - w.w tr N_k + 2 w . sum of q'_j int phi_j x phi_k.
 * All this is of all shapes; those of second order follow the modes: z_a = q C_a q / 2, so that their rates and
 * accelerations are (C_a q) q' and (C_a q) q'' + q' C_a q', and the force on each mode has (C_a q) times theirs.
 * Their adjoint is the derivative of their power along a torque t, a force f and modal forces m, by all that is in it;
 * q and all that N follows from it come in by the derivative G_k by N_k.
 */
#include "flexible_operations.h"

#include "../instance/instance.h"
#include "../maths/vectors.h"

#include <string.h>

/* The integrals of a body, and where its coordinates are among the values. */
typedef struct flexible {
    int32_t n, q, rate, second;
    const double *S, *A, *B, *M, *K, *D;
} flexible;

static flexible body_of(const fm_instance *s, int32_t modal)
{
    const fm_image *m = &s->image;
    const fm_leaves *leaf = &s->graph->leaf;
    const int32_t link = m->modal_link[modal], first = m->modal_shape[modal], pair = m->modal_pair[modal];
    const int32_t all = m->modal_shapes[modal] + m->modal_seconds[modal], at = s->graph->shapes[modal];
    const int follows = at != FM_NO_SLOT;
    const flexible b = {
        .n = all,
        .q = follows ? at : leaf->y + m->link_p[link],
        .rate = follows ? at + all : leaf->y + m->n.positions + m->link_u[link],
        .second = follows ? at + 2 * all : leaf->udot + m->link_u[link],
        .S = m->shape_first + 3 * first,
        .A = m->shape_moment + 9 * first,
        .B = m->pair_product + 9 * pair,
        .M = m->pair_mass + pair,
        .K = m->pair_stiffness + pair,
        .D = m->pair_damping + pair,
    };
    return b;
}

static void add_times(double *out, double factor, const double *v)
{
    for (int j = 0; j < 3; j++) out[j] += factor * v[j];
}

static void add_cross(double *out, double factor, const double *a, const double *b)
{
    double x[3];
    cross(a, b, x);
    add_times(out, factor, x);
}

static double trace(const double *N)
{
    return (N[0] + N[4]) + N[8];
}

/* int r x phi from int r phi'. */
static void moment_of(const double *N, double out[3])
{
    out[0] = N[5] - N[7], out[1] = N[6] - N[2], out[2] = N[1] - N[3];
}

/* v' N w */
static double between(const double *v, const double *N, const double *w)
{
    double Nw[3];
    rotate_out(N, w, Nw);
    return dot(v, Nw);
}

/* sum of weight_j of int phi_j x phi_k. */
static void moment_of_pairs(const flexible *b, int32_t k, const double *weight, double out[3])
{
    double one[3];
    memset(out, 0, 3 * sizeof *out);
    for (int32_t j = 0; j < b->n; j++) {
        moment_of(b->B + 9 * (j * b->n + k), one);
        add_times(out, weight[j], one);
    }
}

/* What follows from modal coordinates: N, their matrix with q; h and J. Large: never two of them on the stack. */
typedef struct bent {
    double N[FM_BODY_MODES + FM_BODY_SECONDS][9], h[3], J[9];
} bent;

/* Changes of h and J. */
typedef struct bent_along {
    double h[3], J[9];
} bent_along;

static void inertia_of(const double *P, double *J)
{
    const double all = trace(P);
    for (int x = 0; x < 9; x++) J[x] = (x % 4 == 0 ? all : 0.0) - 0.5 * (P[x] + P[x % 3 * 3 + x / 3]);
}

static void bend(const flexible *b, const double *q, bent *out)
{
    double P[9] = {0.0};
    memset(out->h, 0, sizeof out->h);
    for (int32_t k = 0; k < b->n; k++) {
        memcpy(out->N[k], b->A + 9 * k, sizeof out->N[k]);
        for (int32_t j = 0; j < b->n; j++)
            for (int x = 0; x < 9; x++) out->N[k][x] += q[j] * b->B[9 * (j * b->n + k) + x];
        add_times(out->h, q[k], b->S + 3 * k);
        for (int x = 0; x < 9; x++) P[x] += q[k] * (b->A[9 * k + x % 3 * 3 + x / 3] + out->N[k][x]);
    }
    inertia_of(P, out->J);
}

/* Their changes with q, at `now`. */
static void bend_along(const flexible *b, const double *dq, const bent *now, bent_along *out)
{
    double P[9] = {0.0};
    memset(out->h, 0, sizeof out->h);
    for (int32_t k = 0; k < b->n; k++) {
        add_times(out->h, dq[k], b->S + 3 * k);
        for (int x = 0; x < 9; x++) P[x] += 2.0 * dq[k] * now->N[k][x];
    }
    inertia_of(P, out->J);
}

/* The change of N_k with q. */
static void integral_along(const flexible *b, int32_t k, const double *dq, double dN[9])
{
    memset(dN, 0, 9 * sizeof *dN);
    for (int32_t j = 0; j < b->n; j++)
        for (int x = 0; x < 9; x++) dN[x] += dq[j] * b->B[9 * (j * b->n + k) + x];
}

/* The wrench and the modal forces, out (6 + n). */
static void inertial_forces(const fm_instance *s, const fm_node *n, const double *v, double *out)
{
    const flexible b = body_of(s, n->k);
    const double *w = v + n->a, *alpha = v + n->b, *a = v + n->c, *q = v + b.q, *rate = v + b.rate;
    const double *second = v + b.second, square = dot(w, w);
    double C[3], Jw[3], turned[3], flow[3] = {0.0, 0.0, 0.0};
    bent now;
    bend(&b, q, &now);
    rotate_out(now.J, alpha, out);
    add_cross(out, 1.0, now.h, a);
    rotate_out(now.J, w, Jw);
    add_cross(out, 1.0, w, Jw);
    cross(alpha, now.h, out + 3);
    cross(w, now.h, turned);
    add_cross(out + 3, 1.0, w, turned);
    for (int32_t k = 0; k < b.n; k++) {
        const double *S = b.S + 3 * k;
        double Nw[3], moment[3];
        moment_of(now.N[k], C);
        rotate_in(now.N[k], w, Nw);
        add_times(out, second[k], C);
        add_times(out + 3, second[k], S);
        add_times(out, 2.0 * rate[k] * trace(now.N[k]), w);
        add_times(out, -2.0 * rate[k], Nw);
        add_times(flow, rate[k], S);
        moment_of_pairs(&b, k, rate, moment);
        double *f = out + 6 + k;
        *f = dot(C, alpha) + dot(S, a) + (dot(Nw, w) - square * trace(now.N[k])) + 2.0 * dot(w, moment);
        for (int32_t j = 0; j < b.n; j++) {
            const int32_t at = k * b.n + j;
            *f += b.M[at] * second[j] + b.D[at] * rate[j] + b.K[at] * q[j];
        }
    }
    add_cross(out + 3, 2.0, w, flow);
}

/* The change of the modal force k: N and dN are N_k and its change. */
static double modal_force_along(const flexible *b, int32_t k, const double *N, const double *dN, const fm_node *n,
                                const double *v, const double *t)
{
    const double *w = v + n->a, *alpha = v + n->b, *dw = t + n->a;
    double C[3], dC[3], moment[3], more[3];
    moment_of(N, C), moment_of(dN, dC);
    moment_of_pairs(b, k, v + b->rate, moment), moment_of_pairs(b, k, t + b->rate, more);
    double f = dot(dC, alpha) + dot(C, t + n->b) + dot(b->S + 3 * k, t + n->c);
    f += between(dw, N, w) + between(w, N, dw) + between(w, dN, w);
    f -= 2.0 * dot(w, dw) * trace(N) + dot(w, w) * trace(dN);
    f += 2.0 * (dot(dw, moment) + dot(w, more));
    for (int32_t j = 0; j < b->n; j++) {
        const int32_t at = k * b->n + j;
        f += b->M[at] * t[b->second + j] + b->D[at] * t[b->rate + j] + b->K[at] * t[b->q + j];
    }
    return f;
}

static void inertial_forces_along(const fm_instance *s, const fm_node *n, const double *v, const double *t, double *out)
{
    const flexible b = body_of(s, n->k);
    const double *w = v + n->a, *alpha = v + n->b, *a = v + n->c, *rate = v + b.rate, *second = v + b.second;
    const double *dw = t + n->a, *dalpha = t + n->b, *da = t + n->c;
    double x[3], y[3], flow[3] = {0.0, 0.0, 0.0}, more[3] = {0.0, 0.0, 0.0};
    bent now;
    bent_along change;
    bend(&b, v + b.q, &now);
    bend_along(&b, t + b.q, &now, &change);
    rotate_out(change.J, alpha, out), rotate_out(now.J, dalpha, x), add_times(out, 1.0, x);
    add_cross(out, 1.0, change.h, a), add_cross(out, 1.0, now.h, da);
    rotate_out(now.J, w, x), add_cross(out, 1.0, dw, x);
    rotate_out(change.J, w, x), rotate_out(now.J, dw, y), add_times(x, 1.0, y), add_cross(out, 1.0, w, x);
    cross(dalpha, now.h, out + 3), add_cross(out + 3, 1.0, alpha, change.h);
    cross(w, now.h, x), add_cross(out + 3, 1.0, dw, x);
    cross(dw, now.h, x), add_cross(x, 1.0, w, change.h), add_cross(out + 3, 1.0, w, x);
    for (int32_t k = 0; k < b.n; k++) {
        const double *N = now.N[k], r = 2.0 * rate[k], dr = 2.0 * t[b.rate + k];
        double dN[9];
        integral_along(&b, k, t + b.q, dN);
        moment_of(N, x), moment_of(dN, y);
        add_times(out, second[k], y), add_times(out, t[b.second + k], x);
        add_times(out + 3, t[b.second + k], b.S + 3 * k);
        add_times(out, dr * trace(N) + r * trace(dN), w), add_times(out, r * trace(N), dw);
        rotate_in(N, w, x), add_times(out, -dr, x);
        rotate_in(dN, w, x), rotate_in(N, dw, y), add_times(x, 1.0, y), add_times(out, -r, x);
        add_times(flow, rate[k], b.S + 3 * k), add_times(more, t[b.rate + k], b.S + 3 * k);
        out[6 + k] = modal_force_along(&b, k, N, dN, n, v, t);
    }
    add_cross(out + 3, 2.0, dw, flow), add_cross(out + 3, 2.0, w, more);
}

/* The derivative by N_k beside its part in J: g the adjoints. */
static void by_integral(const flexible *b, int32_t k, const fm_node *n, const double *v, const double *g, double G[9])
{
    const double *w = v + n->a, *alpha = v + n->b, r = 2.0 * v[b->rate + k], m = g[6 + k];
    const double square = dot(w, w);
    double u[3];
    for (int j = 0; j < 3; j++) u[j] = v[b->second + k] * g[j] + m * alpha[j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) G[3 * i + j] = m * w[i] * w[j] - r * w[i] * g[j];
    for (int x = 0; x < 9; x += 4) G[x] += r * dot(g, w) - m * square;
    G[5] += u[0], G[7] -= u[0], G[6] += u[1], G[2] -= u[1], G[1] += u[2], G[3] -= u[2];
}

/* The adjoints of the modal coordinates. */
static void adjoin_coordinates(const flexible *b, const fm_node *n, const double *v, const bent *now, const double *g,
                               double *d)
{
    const double *w = v + n->a, *alpha = v + n->b, *a = v + n->c, *f = g + 3;
    double P[9], G[9], h[3] = {0.0, 0.0, 0.0}, tw[3];
    add_cross(h, 1.0, a, g), add_cross(h, 1.0, f, alpha);
    add_times(h, dot(w, f), w), add_times(h, -dot(w, w), f);
    cross(g, w, tw);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[3 * i + j] = (i == j ? dot(g, alpha) : 0.0) -
                           0.5 * ((g[i] * alpha[j] + g[j] * alpha[i]) + (tw[i] * w[j] + tw[j] * w[i]));
    for (int32_t k = 0; k < b->n; k++) {
        d[b->q + k] += dot(b->S + 3 * k, h);
        for (int x = 0; x < 9; x++) d[b->q + k] += 2.0 * now->N[k][x] * P[x];
        by_integral(b, k, n, v, g, G);
        for (int32_t j = 0; j < b->n; j++) {
            const double *B = b->B + 9 * (j * b->n + k);
            for (int x = 0; x < 9; x++) d[b->q + j] += B[x] * G[x];
            d[b->q + j] += b->K[k * b->n + j] * g[6 + k];
            d[b->rate + j] += b->D[k * b->n + j] * g[6 + k];
            d[b->second + j] += b->M[k * b->n + j] * g[6 + k];
        }
    }
}

static void adjoin_inertial_forces(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const flexible b = body_of(s, n->k);
    const double *g = d + n->out, *f = g + 3, *w = v + n->a, *rate = v + b.rate;
    double *gw = d + n->a, *galpha = d + n->b, *ga = d + n->c, x[3], C[3], moment[3], flow[3] = {0.0, 0.0, 0.0};
    bent now;
    bend(&b, v + b.q, &now);
    rotate_out(now.J, g, x), add_times(galpha, 1.0, x), add_cross(galpha, 1.0, now.h, f);
    add_cross(ga, 1.0, g, now.h);
    rotate_out(now.J, w, x), add_cross(gw, 1.0, x, g);
    cross(g, w, C), rotate_out(now.J, C, x), add_times(gw, 1.0, x);
    add_times(gw, dot(w, now.h), f), add_times(gw, dot(f, w), now.h), add_times(gw, -2.0 * dot(f, now.h), w);
    for (int32_t k = 0; k < b.n; k++) {
        const double *N = now.N[k], *S = b.S + 3 * k, m = g[6 + k];
        moment_of(N, C);
        add_times(galpha, m, C), add_times(ga, m, S), add_times(flow, rate[k], S);
        d[b.second + k] += dot(g, C) + dot(f, S);
        d[b.rate + k] += 2.0 * (trace(N) * dot(g, w) - between(w, N, g));
        cross(w, S, x), d[b.rate + k] += 2.0 * dot(f, x);
        rotate_out(N, g, x), add_times(gw, -2.0 * rate[k], x), add_times(gw, 2.0 * rate[k] * trace(N), g);
        rotate_out(N, w, x), add_times(gw, m, x), rotate_in(N, w, x), add_times(gw, m, x);
        add_times(gw, -2.0 * m * trace(N), w);
        moment_of_pairs(&b, k, rate, moment), add_times(gw, 2.0 * m, moment);
        for (int32_t j = 0; j < b.n; j++) {
            moment_of(b.B + 9 * (j * b.n + k), moment);
            d[b.rate + j] += 2.0 * m * dot(w, moment);
        }
    }
    add_cross(gw, 2.0, flow, f);
    adjoin_coordinates(&b, n, v, &now, g, d);
}

/* The energy that modes add, and its derivatives by w, v, gravity, the modal coordinates and their rates. */
typedef struct modal_energy {
    double energy, w[3], v[3], gravity[3], q[FM_BODY_MODES + FM_BODY_SECONDS], rate[FM_BODY_MODES + FM_BODY_SECONDS];
} modal_energy;

/* w J w / 2 + v . (w x h) + sum of q'_k (C_k . w + S_k . v) + (q' M q' + q K q) / 2 - gravity . h */
static void energy_of(const flexible *b, const fm_node *n, const double *at, modal_energy *e)
{
    const double *w = at + n->a, *v = at + n->b, *gravity = at + n->c, *q = at + b->q, *rate = at + b->rate;
    double C[3], by_h[3];
    bent now;
    bend(b, q, &now);
    memset(e, 0, sizeof *e);
    rotate_out(now.J, w, e->w);
    cross(w, now.h, e->v);
    cross(v, w, by_h);
    for (int j = 0; j < 3; j++) by_h[j] -= gravity[j], e->gravity[j] = -now.h[j];
    e->energy = 0.5 * dot(w, e->w) + dot(by_h, now.h);
    add_cross(e->w, 1.0, now.h, v);
    for (int32_t k = 0; k < b->n; k++) {
        const double *S = b->S + 3 * k, *N = now.N[k];
        double momentum = 0.0, force = 0.0;
        for (int32_t j = 0; j < b->n; j++) momentum += b->M[k * b->n + j] * rate[j], force += b->K[k * b->n + j] * q[j];
        moment_of(N, C);
        const double carried = dot(C, w) + dot(S, v);
        e->energy += rate[k] * carried + 0.5 * (rate[k] * momentum + q[k] * force);
        add_times(e->w, rate[k], C), add_times(e->v, rate[k], S);
        e->rate[k] += carried + momentum;
        e->q[k] += force + dot(S, by_h) + dot(w, w) * trace(N) - between(w, N, w);
        for (int32_t j = 0; j < b->n; j++) {
            moment_of(b->B + 9 * (j * b->n + k), C);
            e->q[j] += rate[k] * dot(C, w);
        }
    }
}

/* How many shapes a body has. */
static int32_t all_of(const fm_instance *s, int32_t body)
{
    return s->image.modal_shapes[body] + s->image.modal_seconds[body];
}

/* The rows of a frame. */
static const double *rows_of(const fm_instance *s, int32_t frame, int32_t *modes)
{
    *modes = all_of(s, s->image.link_modal[s->image.frame_link[frame]]);
    return s->image.frame_shape + 6 * s->image.frame_first[frame];
}

/* A frame of a node, its first or second three numbers of each row, or a sign. */
static int32_t frame_of(const fm_node *n)
{
    return n->k < 0 ? ~n->k : n->k;
}

/* The stress at a node, linear in the modes. */
static void run_stress(const fm_instance *s, const fm_node *n, double *v)
{
    const fm_image *m = &s->image;
    const int32_t modes = m->modal_shapes[m->gauge_modal[n->k]];
    const double *row = m->gauge_stress + 6 * m->gauge_first[n->k], *q = v + n->a;
    double *out = v + n->out;
    memset(out, 0, 6 * sizeof *out);
    for (int32_t i = 0; i < modes; i++)
        for (int j = 0; j < 6; j++) out[j] += q[i] * row[6 * i + j];
}

static void adjoin_stress(const fm_instance *s, const fm_node *n, double *d)
{
    const fm_image *m = &s->image;
    const int32_t modes = m->modal_shapes[m->gauge_modal[n->k]];
    const double *row = m->gauge_stress + 6 * m->gauge_first[n->k], *g = d + n->out;
    for (int32_t i = 0; i < modes; i++)
        for (int j = 0; j < 6; j++) d[n->a + i] += row[6 * i + j] * g[j];
}

/* The operations that are linear in all but q: their tangents are the same of tangents. */
static void run_linear(const fm_instance *s, const fm_node *n, double *v)
{
    const double *a = v + n->a, *b = v + n->b, sign = n->k < 0 ? -1.0 : 1.0;
    double *out = v + n->out;
    int32_t modes;
    const double *row = n->operation == FM_DO_ADD_MODES ? NULL : rows_of(s, frame_of(n), &modes);
    switch ((fm_operation)n->operation) {
    case FM_DO_OF_MODES:
        memset(out, 0, 3 * sizeof *out);
        for (int32_t i = 0; i < modes; i++) add_times(out, a[i], row + 6 * i + (n->k < 0 ? 3 : 0));
        break;
    case FM_DO_ON_MODES:
        for (int32_t i = 0; i < modes; i++) out[i] = sign * (dot(row + 6 * i, a) + dot(row + 6 * i + 3, b));
        break;
    case FM_DO_ADD_MODES:
        for (int32_t i = 0; i < all_of(s, n->k); i++) out[i] = a[i] + b[i];
        break;
    default: break;
    }
}

/* The shapes that follow the modes: how many modes and shapes, and C of each. */
typedef struct following {
    int32_t n, more;
    const double *C;
} following;

static following following_of(const fm_instance *s, const fm_node *n)
{
    const fm_image *m = &s->image;
    return (following){m->modal_shapes[n->k], m->modal_seconds[n->k], m->follower + m->modal_follower[n->k]};
}

/* x C_a y */
static double form(const following *f, int32_t a, const double *x, const double *y)
{
    double sum = 0.0;
    for (int32_t j = 0; j < f->n; j++)
        for (int32_t k = 0; k < f->n; k++) sum += x[j] * f->C[(a * f->n + j) * f->n + k] * y[k];
    return sum;
}

/* out += factor C_a x */
static void add_form(const following *f, int32_t a, double factor, const double *x, double *out)
{
    for (int32_t j = 0; j < f->n; j++)
        for (int32_t k = 0; k < f->n; k++) out[j] += factor * f->C[(a * f->n + j) * f->n + k] * x[k];
}

static void follow(const fm_instance *s, const fm_node *n, double *v)
{
    const following f = following_of(s, n);
    const double *q = v + n->a, *u = v + n->b, *w = v + n->c;
    double *out[3] = {v + n->out, v + n->out + (f.n + f.more), v + n->out + 2 * (f.n + f.more)};
    for (int i = 0; i < 3; i++) memcpy(out[i], i == 0 ? q : i == 1 ? u : w, (size_t)f.n * sizeof *q);
    for (int32_t a = 0; a < f.more; a++) {
        out[0][f.n + a] = 0.5 * form(&f, a, q, q);
        out[1][f.n + a] = form(&f, a, q, u);
        out[2][f.n + a] = form(&f, a, q, w) + form(&f, a, u, u);
    }
}

static void follow_along(const fm_instance *s, const fm_node *n, const double *v, double *t)
{
    const following f = following_of(s, n);
    const double *q = v + n->a, *u = v + n->b, *w = v + n->c, *dq = t + n->a, *du = t + n->b, *dw = t + n->c;
    double *out[3] = {t + n->out, t + n->out + (f.n + f.more), t + n->out + 2 * (f.n + f.more)};
    for (int i = 0; i < 3; i++) memcpy(out[i], i == 0 ? dq : i == 1 ? du : dw, (size_t)f.n * sizeof *q);
    for (int32_t a = 0; a < f.more; a++) {
        out[0][f.n + a] = form(&f, a, q, dq);
        out[1][f.n + a] = form(&f, a, dq, u) + form(&f, a, q, du);
        out[2][f.n + a] = form(&f, a, dq, w) + form(&f, a, q, dw) + 2.0 * form(&f, a, u, du);
    }
}

static void adjoin_following(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const following f = following_of(s, n);
    const double *q = v + n->a, *u = v + n->b, *w = v + n->c;
    const double *g[3] = {d + n->out, d + n->out + (f.n + f.more), d + n->out + 2 * (f.n + f.more)};
    double *dq = d + n->a, *du = d + n->b, *dw = d + n->c;
    for (int32_t k = 0; k < f.n; k++) dq[k] += g[0][k], du[k] += g[1][k], dw[k] += g[2][k];
    for (int32_t a = 0; a < f.more; a++) {
        const double by_q = g[0][f.n + a], by_rate = g[1][f.n + a], by_second = g[2][f.n + a];
        add_form(&f, a, by_q, q, dq), add_form(&f, a, by_rate, u, dq), add_form(&f, a, by_second, w, dq);
        add_form(&f, a, by_rate, q, du), add_form(&f, a, 2.0 * by_second, u, du);
        add_form(&f, a, by_second, q, dw);
    }
}

/* The forces on the modes; q: the coordinates of the modes, which stand first among those of all shapes. */
static void force_modes(const fm_instance *s, const fm_node *n, double *v)
{
    const following f = following_of(s, n);
    const double *q = v + s->graph->shapes[n->k], *forces = v + n->a;
    memcpy(v + n->out, forces, (size_t)f.n * sizeof *forces);
    for (int32_t a = 0; a < f.more; a++) add_form(&f, a, forces[f.n + a], q, v + n->out);
}

static void force_modes_along(const fm_instance *s, const fm_node *n, const double *v, double *t)
{
    const following f = following_of(s, n);
    const int32_t at = s->graph->shapes[n->k];
    memcpy(t + n->out, t + n->a, (size_t)f.n * sizeof *t);
    for (int32_t a = 0; a < f.more; a++) {
        add_form(&f, a, t[n->a + f.n + a], v + at, t + n->out);
        add_form(&f, a, v[n->a + f.n + a], t + at, t + n->out);
    }
}

static void adjoin_forces(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const following f = following_of(s, n);
    const int32_t at = s->graph->shapes[n->k];
    const double *g = d + n->out;
    for (int32_t k = 0; k < f.n; k++) d[n->a + k] += g[k];
    for (int32_t a = 0; a < f.more; a++) {
        d[n->a + f.n + a] += form(&f, a, g, v + at);
        add_form(&f, a, v[n->a + f.n + a], g, d + at);
    }
}

void fm_flexible_value(const fm_instance *s, const fm_node *n, double *v)
{
    if (n->operation == FM_DO_SHAPES) follow(s, n, v);
    else if (n->operation == FM_DO_STRESS) run_stress(s, n, v);
    else if (n->operation == FM_DO_SHAPE_FORCES) force_modes(s, n, v);
    else if (n->operation == FM_DO_FLEXIBLE) {
        inertial_forces(s, n, v, v + n->out);
    } else if (n->operation == FM_DO_FLEXIBLE_ENERGY) {
        const flexible b = body_of(s, n->k);
        modal_energy e;
        energy_of(&b, n, v, &e);
        v[n->out] = e.energy;
    } else {
        run_linear(s, n, v);
    }
}

void fm_flexible_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t)
{
    if (n->operation == FM_DO_SHAPES) follow_along(s, n, v, t);
    else if (n->operation == FM_DO_STRESS) run_stress(s, n, t);
    else if (n->operation == FM_DO_SHAPE_FORCES) force_modes_along(s, n, v, t);
    else if (n->operation == FM_DO_FLEXIBLE) {
        inertial_forces_along(s, n, v, t, t + n->out);
    } else if (n->operation == FM_DO_FLEXIBLE_ENERGY) {
        const flexible b = body_of(s, n->k);
        modal_energy e;
        energy_of(&b, n, v, &e);
        double sum = dot(e.w, t + n->a) + dot(e.v, t + n->b) + dot(e.gravity, t + n->c);
        for (int32_t k = 0; k < b.n; k++) sum += e.q[k] * t[b.q + k] + e.rate[k] * t[b.rate + k];
        t[n->out] = sum;
    } else {
        run_linear(s, n, t);
    }
}

static void adjoin_energy(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const flexible b = body_of(s, n->k);
    const double g = d[n->out];
    modal_energy e;
    energy_of(&b, n, v, &e);
    add_times(d + n->a, g, e.w), add_times(d + n->b, g, e.v), add_times(d + n->c, g, e.gravity);
    for (int32_t k = 0; k < b.n; k++) d[b.q + k] += g * e.q[k], d[b.rate + k] += g * e.rate[k];
}

static void adjoin_linear(const fm_instance *s, const fm_node *n, double *d)
{
    const double *g = d + n->out, sign = n->k < 0 ? -1.0 : 1.0;
    int32_t modes;
    if (n->operation == FM_DO_ADD_MODES) {
        for (int32_t i = 0; i < all_of(s, n->k); i++) d[n->a + i] += g[i], d[n->b + i] += g[i];
        return;
    }
    const double *row = rows_of(s, frame_of(n), &modes);
    for (int32_t i = 0; i < modes; i++) {
        if (n->operation == FM_DO_OF_MODES) {
            d[n->a + i] += dot(row + 6 * i + (n->k < 0 ? 3 : 0), g);
            continue;
        }
        add_times(d + n->a, sign * g[i], row + 6 * i);
        add_times(d + n->b, sign * g[i], row + 6 * i + 3);
    }
}

void fm_flexible_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    if (n->operation == FM_DO_SHAPES) adjoin_following(s, n, v, d);
    else if (n->operation == FM_DO_STRESS) adjoin_stress(s, n, d);
    else if (n->operation == FM_DO_SHAPE_FORCES) adjoin_forces(s, n, v, d);
    else if (n->operation == FM_DO_FLEXIBLE) adjoin_inertial_forces(s, n, v, d);
    else if (n->operation == FM_DO_FLEXIBLE_ENERGY) adjoin_energy(s, n, v, d);
    else adjoin_linear(s, n, d);
}
