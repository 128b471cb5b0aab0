/* operations.c: the values, tangents and adjoints of every operation of a graph. */
#include "operations.h"

#include "../forces/cylinder.h"
#include "../forces/excitation.h"
#include "../forces/laws.h"
#include "../instance/instance.h"
#include "../maths/decay.h"
#include "../maths/rotations.h"
#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "cut_operations.h"
#include "flexible_operations.h"
#include "graph.h"
#include "link_operations.h"
#include "road_operations.h"
#include "rope_operations.h"
#include "row_operations.h"
#include "solve_operations.h"
#include "sums.h"

#include <math.h>
#include <string.h>

#define FM_STUMPFF_SERIES 9.0
#define FM_STUMPFF_TERMS 16 /* for x below that the next term is below round-off, as those of smaller ones: */
#define FM_SMALL_STUMPFF 1.0
#define FM_SMALL_TERMS 9
#define FM_SMALLER_STUMPFF 0.01
#define FM_SMALLER_TERMS 5

/* How many adjoints an operation has; 0: as many as something else says. */
static const int32_t adjoints_of[] = {
#define O(id, numbers, ...) (numbers) == 9 && FM_DO_##id < FM_DO_CARRY ? 3 : (numbers), /* rotations stand in front */
    FM_OPERATIONS(O)
#undef O
};

static inline double dot4(const double *a, const double *b)
{
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
}

/* The slope of |a|, 0 at 0. */
static inline double sign_of(double a)
{
    return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : 0.0;
}

/* What changes a unit vector of v's direction, over the length of a; it is symmetric. */
static void across_unit(const double *a, const double *unit, const double *v, double *out)
{
    const double size = sqrt(dot(a, a)), along = dot(unit, v);
    for (int j = 0; j < 3; j++) out[j] = size > 0.0 ? (v[j] - along * unit[j]) / size : 0.0;
}

/* The derivatives of an odd power by its base and, of its value, by its exponent. */
static double power_slope(double base, double exponent)
{
    return base != 0.0 ? exponent * fm_odd_power(base, exponent) / base : exponent == 1.0 ? 1.0 : 0.0;
}

static double power_growth(double base, double value)
{
    return value != 0.0 ? value * fm_logarithm(fabs(base)) : 0.0;
}

/* c_k(x) = sum over i of (-x)^i / (2 i + k)!, k above 1: c_2 = (1 - cos t) / x and c_3 = (t - sin t) / (t x), t the
 * root of x, and x c_(k + 2) = 1/k! - c_k. */
static double stumpff(int k, double x)
{
    double sum = 1.0, factorial = 1.0, cosine, sine, c[2];
    const int terms = x < FM_SMALLER_STUMPFF ? FM_SMALLER_TERMS
                      : x < FM_SMALL_STUMPFF ? FM_SMALL_TERMS
                                             : FM_STUMPFF_TERMS;
    if (x < FM_STUMPFF_SERIES) {
        for (int i = terms; i > 0; i--) sum = 1.0 - sum * x / ((2.0 * i + k) * (2.0 * i + k - 1.0));
        for (int i = 2; i <= k; i++) sum /= i;
        return sum;
    }
    fm_cos_and_sin(sqrt(x), &cosine, &sine);
    c[0] = cosine, c[1] = sine / sqrt(x);
    for (int i = 0; i <= k - 2; i++) {
        factorial *= i > 0 ? i : 1;
        c[i % 2] = (1.0 / factorial - c[i % 2]) / x;
    }
    return c[k % 2];
}

static double stumpff_slope(int k, double x)
{
    return 0.5 * (k * stumpff(k + 2, x) - stumpff(k + 1, x));
}

static inline double sign_of_turn(const fm_node *n)
{
    return n->k < 0 ? -1.0 : 1.0;
}

/* T(sign t) v, T the tangent of exp (tree/bend.c): exp([t + dt]) = exp([T(t) dt]) exp([t]). */
static void turn_along(const double *t, double sign, const double *v, double *out)
{
    const double x = dot(t, t), a = sign * stumpff(2, x), b = stumpff(3, x);
    double once[3], twice[3];
    cross(t, v, once);
    cross(t, once, twice);
    for (int j = 0; j < 3; j++) out[j] = v[j] + (a * once[j] + b * twice[j]);
}

/* A exp(sign [t]) */
static void rotate(const double *A, const double *t, double sign, double *out)
{
    const double x = dot(t, t), a = stumpff(2, x), sine = sign * (1.0 - x * stumpff(3, x)), c = 1.0 - x * a;
    double E[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) E[3 * i + j] = a * t[i] * t[j] + (i == j ? c : 0.0);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        E[3 * k + j] += sine * t[i];
        E[3 * j + k] -= sine * t[i];
    }
    product(A, E, out);
}

/* The rotation of a quaternion of any length, its vector part times a sign. */
static void rotation_of(const double *q, double sign, double *R)
{
    const double size = 1.0 / sqrt(dot4(q, q));
    const double unit[4] = {size * q[0], sign * size * q[1], sign * size * q[2], sign * size * q[3]};
    fm_rotation_of(unit, R);
}

/* The rotation vector, in the rotated axes, by which a change of a quaternion turns its rotation. */
static void spin_of(const double *q, const double *dq, double sign, double *out)
{
    const double two = 2.0 / dot4(q, q);
    double x[3];
    cross(q + 1, dq + 1, x);
    for (int j = 0; j < 3; j++) out[j] = two * (sign * (q[0] * dq[1 + j] - dq[0] * q[1 + j]) - x[j]);
}

/* Its adjoint. */
static void add_spin_adjoint(const double *q, const double *g, double sign, double *to)
{
    const double two = 2.0 / dot4(q, q);
    double x[3];
    cross(q + 1, g, x);
    to[0] -= two * sign * dot(q + 1, g);
    for (int j = 0; j < 3; j++) to[1 + j] += two * (sign * q[0] * g[j] + x[j]);
}

/* I times v, in the inertia's axes. */
static inline void times(const double *I, const double *v, double *out)
{
    const double x = (I[0] * v[0] + I[3] * v[1]) + I[4] * v[2], y = (I[3] * v[0] + I[1] * v[1]) + I[5] * v[2];
    const double z = (I[4] * v[0] + I[5] * v[1]) + I[2] * v[2];
    out[0] = x, out[1] = y, out[2] = z;
}

/* R I R' v */
static void inertia_times(const double *R, const double *I, const double *v, double *out)
{
    double in[3], x[3];
    rotate_in(R, v, in);
    times(I, in, x);
    rotate_out(R, x, out);
}

static void symmetric_times(const double *d, const double *b, const double *v, double *out)
{
    const double I[6] = {d[0], d[1], d[2], b[0], b[1], b[2]};
    times(I, v, out);
}

/* A of turns about x, y, z with the angles q, by columns, and its derivatives by the second and the third angle; its
 * last column is (0, 0, 1). */
typedef struct turns {
    double A[2][3], by_y[3], by_z[2][3];
} turns;

static turns turns_at(const double *q)
{
    double cy, sy, cz, sz;
    fm_cos_and_sin(q[1], &cy, &sy), fm_cos_and_sin(q[2], &cz, &sz);
    const turns t = {
        {{cy * cz, -cy * sz, sy}, {sz, cz, 0.0}}, {-sy * cz, sy * sz, cy}, {{-cy * sz, -cy * cz, 0.0}, {cz, -sz, 0.0}}};
    return t;
}

/* A v */
static void spin(const turns *t, const double *v, double *out)
{
    for (int j = 0; j < 3; j++) out[j] = v[0] * t->A[0][j] + v[1] * t->A[1][j];
    out[2] += v[2];
}

/* A' v */
static void spin_back(const turns *t, const double *v, double *out)
{
    out[0] = dot(t->A[0], v), out[1] = dot(t->A[1], v), out[2] = v[2];
}

static void rotation_vector_of_turns(const double *q, double *out)
{
    double c[3], s[3];
    for (int j = 0; j < 3; j++) fm_cos_and_sin(0.5 * q[j], c + j, s + j);
    const double x[4] = {c[0], s[0], 0.0, 0.0}, y[4] = {c[1], 0.0, s[1], 0.0}, z[4] = {c[2], 0.0, 0.0, s[2]};
    double xy[4], all[4];
    fm_multiply_quaternions(x, y, xy);
    fm_multiply_quaternions(xy, z, all);
    fm_rotation_vector(all, out);
}

static void run_turns(const fm_node *n, const double *a, const double *b, double *out)
{
    const turns t = turns_at(a);
    if (n->operation == FM_DO_TURNS) rotation_vector_of_turns(a, out);
    else if (n->operation == FM_DO_SPIN) spin(&t, b, out);
    else spin_back(&t, b, out);
}

static void run_turns_along(const fm_node *n, const double *v, const double *d, double *out)
{
    const double *a = v + n->a, *b = v + n->b, *da = d + n->a, *db = d + n->b;
    const turns t = turns_at(a);
    double x[3];
    switch ((fm_operation)n->operation) {
    case FM_DO_TURNS:
        spin(&t, da, x);
        fm_change_of_vector(v + n->out, 1.0, x, out);
        break;
    case FM_DO_SPIN:
        spin(&t, db, out);
        add_times(out, da[1] * b[0], t.by_y);
        add_times(out, da[2] * b[0], t.by_z[0]);
        add_times(out, da[2] * b[1], t.by_z[1]);
        break;
    default:
        spin_back(&t, db, out);
        out[0] += da[1] * dot(t.by_y, b) + da[2] * dot(t.by_z[0], b);
        out[1] += da[2] * dot(t.by_z[1], b);
        break;
    }
}

static void adjoin_turns(const fm_node *n, const double *v, const double *g, double *ga, double *gb)
{
    const double *b = v + n->b;
    const turns t = turns_at(v + n->a);
    double x[3], y[3];
    switch ((fm_operation)n->operation) {
    case FM_DO_TURNS:
        fm_change_of_vector(v + n->out, -1.0, g, x);
        spin_back(&t, x, y);
        add_to(ga, y);
        break;
    case FM_DO_SPIN:
        spin_back(&t, g, x);
        add_to(gb, x);
        ga[1] += b[0] * dot(t.by_y, g);
        ga[2] += b[0] * dot(t.by_z[0], g) + b[1] * dot(t.by_z[1], g);
        break;
    default:
        spin(&t, g, x);
        add_to(gb, x);
        ga[1] += g[0] * dot(t.by_y, b);
        ga[2] += g[0] * dot(t.by_z[0], b) + g[1] * dot(t.by_z[1], b);
        break;
    }
}

static void quaternion_rate(const double *q, const double *w, double pull, double *out)
{
    const double square = dot4(q, q), back = 0.5 * pull * (1.0 - square);
    double x[3];
    cross(q + 1, w, x);
    out[0] = back * q[0] - 0.5 * dot(q + 1, w);
    for (int j = 0; j < 3; j++) out[1 + j] = back * q[1 + j] + 0.5 * (q[0] * w[j] + x[j]);
}

/* Adds the same for changes of q or of w, which it is linear in but for the pull; sign: -1 gives the adjoint by w. */
static void add_rate_of_w(const double *q, const double *w, double *out)
{
    double x[3];
    cross(q + 1, w, x);
    out[0] -= 0.5 * dot(q + 1, w);
    for (int j = 0; j < 3; j++) out[1 + j] += 0.5 * (q[0] * w[j] + x[j]);
}

/* The change of the pull's part with q, which is symmetric. */
static void add_pull(const double *q, const double *dq, double pull, double *out)
{
    const double square = dot4(q, q);
    const double along = dot4(q, dq);
    for (int j = 0; j < 4; j++) out[j] += pull * (0.5 * (1.0 - square) * dq[j] - along * q[j]);
}

static inline void run_value(const fm_instance *s, const fm_node *n, double *v)
{
    const double *a = v + n->a, *b = v + n->b, *c = v + n->c;
    double *out = v + n->out, R[9], A[9], slope, size;
    switch ((fm_operation)n->operation) {
    case FM_DO_JOINT:
    case FM_DO_BODY:
    case FM_DO_STILL_JOINT:
    case FM_DO_STILL_BODY:
    case FM_DO_STILL_WRENCH:
    case FM_DO_STILL_RESIDUAL:
    case FM_DO_ADD_WRENCH:
    case FM_DO_ADD_FORCE:
    case FM_DO_ADD_TORQUE:
    case FM_DO_RESIDUAL: fm_link_value(s, n, v); break;
    case FM_DO_POINT:
    case FM_DO_STILL_POINT:
    case FM_DO_CARRIED:
    case FM_DO_APART:
    case FM_DO_PRODUCT_ROW: fm_row_value(s, n, v); break;
    case FM_DO_BALL:
        rotation_of(b, c[9], R);
        product(a, c, A);
        product(A, R, out);
        break;
    case FM_DO_PLACE:
    case FM_DO_COMPOSE: product(a, c, out); break;
    case FM_DO_ROTATE: rotate(a, b, sign_of_turn(n), out); break;
    case FM_DO_CARRY: rotate_out(a, b, out); break;
    case FM_DO_BACK: rotate_in(a, b, out); break;
    case FM_DO_ADD:
        for (int j = 0; j < 3; j++) out[j] = a[j] + b[j];
        break;
    case FM_DO_SUBTRACT:
        for (int j = 0; j < 3; j++) out[j] = a[j] - b[j];
        break;
    case FM_DO_SCALE:
        for (int j = 0; j < 3; j++) out[j] = a[0] * b[j];
        break;
    case FM_DO_ADD_SCALED:
        for (int j = 0; j < 3; j++) out[j] = a[j] + b[0] * c[j];
        break;
    case FM_DO_CROSS: cross(a, b, out); break;
    case FM_DO_ADD_CROSS:
        cross(b, c, out);
        add_to(out, a);
        break;
    case FM_DO_INERTIA: inertia_times(a, c, b, out); break;
    case FM_DO_SOLVE: fm_solve_value(n, v); break;
    case FM_DO_SYMMETRIC: symmetric_times(a, b, c, out); break;
    case FM_DO_BEND: fm_rotation_vector(a, out); break;
    case FM_DO_VECTOR: out[0] = a[0], out[1] = b[0], out[2] = c[0]; break;
    case FM_DO_TURNS:
    case FM_DO_SPIN:
    case FM_DO_SPIN_BACK: run_turns(n, a, b, out); break;
    case FM_DO_DOT: out[0] = dot(a, b); break;
    case FM_DO_LENGTH: out[0] = sqrt(dot(a, a)); break;
    case FM_DO_UNIT:
        size = sqrt(dot(a, a));
        for (int j = 0; j < 3; j++) out[j] = size > 0.0 ? a[j] / size : 0.0;
        break;
    case FM_DO_SUM: out[0] = a[0] + b[0]; break;
    case FM_DO_DIFFERENCE: out[0] = a[0] - b[0]; break;
    case FM_DO_PRODUCT: out[0] = a[0] * b[0]; break;
    case FM_DO_ADD_PRODUCT: out[0] = a[0] + b[0] * c[0]; break;
    case FM_DO_QUOTIENT: out[0] = a[0] / b[0]; break;
    case FM_DO_ROOT: out[0] = sqrt(a[0]); break;
    case FM_DO_POWER: out[0] = fm_odd_power(a[0], b[0]); break;
    case FM_DO_LIMIT: out[0] = a[0] > b[0] ? b[0] : a[0] < -b[0] ? -b[0] : a[0]; break;
    case FM_DO_SPAN: fm_span_value(s, n, v); break;
    case FM_DO_ABSOLUTE: out[0] = fabs(a[0]); break;
    case FM_DO_POSITIVE: out[0] = a[0] > 0.0 ? a[0] : 0.0; break;
    case FM_DO_DECAY: out[0] = fm_decay(a[0]); break;
    case FM_DO_LAW: out[0] = fm_law_piece_force(&s->image, s->graph->piece[n->k], a[0], b[0], &slope, &size); break;
    case FM_DO_SERIES: out[0] = fm_turn_series(a[0], &slope); break;
    case FM_DO_PROFILE: fm_profile_at(&s->image, n->k, a[0], out); break;
    case FM_DO_ROAD: fm_meeting_value(s, n, v); break;
    case FM_DO_OIL: out[0] = fm_stored_by_oil(a[0], b[0]); break;
    case FM_DO_ANGLE: out[0] = fm_with_turns(fm_atan2(a[0], b[0]), c[0]); break;
    case FM_DO_QUATERNION:
        fm_multiply_quaternions(b, c, out);
        size = 1.0 / sqrt(dot4(out, out));
        for (int j = 0; j < 4; j++) out[j] *= size;
        break;
    case FM_DO_SIZE: out[0] = sqrt(dot4(a, a)); break;
    case FM_DO_STRETCH:
        for (int j = 0; j < 4; j++) out[j] = a[0] * b[j];
        break;
    case FM_DO_QUATERNION_RATE: quaternion_rate(a, b, c[0], out); break;
    case FM_DO_STUMPFF: out[0] = stumpff(n->k, a[0]); break;
    case FM_DO_PAIR: memcpy(out, a, 3 * sizeof *out), memcpy(out + 3, b, 3 * sizeof *out); break;
    default: (n->operation < FM_DO_CUT_POSITION ? fm_flexible_value : fm_cut_value)(s, n, v); break;
    }
}

/* v: values, t: tangents. */
static inline void run_tangent(const fm_instance *s, const fm_node *n, const double *v, double *t)
{
    const double *a = v + n->a, *b = v + n->b, *c = v + n->c, *at = v + n->out;
    const double *da = t + n->a, *db = t + n->b, *dc = t + n->c;
    double *out = t + n->out, x[3], y[3], slope, back;
    switch ((fm_operation)n->operation) {
    case FM_DO_JOINT:
    case FM_DO_BODY:
    case FM_DO_STILL_JOINT:
    case FM_DO_STILL_BODY:
    case FM_DO_STILL_WRENCH:
    case FM_DO_STILL_RESIDUAL:
    case FM_DO_ADD_WRENCH:
    case FM_DO_ADD_FORCE:
    case FM_DO_ADD_TORQUE:
    case FM_DO_RESIDUAL: fm_link_tangent(s, n, v, t); break;
    case FM_DO_POINT:
    case FM_DO_STILL_POINT:
    case FM_DO_CARRIED:
    case FM_DO_APART:
    case FM_DO_PRODUCT_ROW: fm_row_tangent(s, n, v, t); break;
    case FM_DO_BALL:
        spin_of(b, db, c[9], x);
        rotate_out(at, x, out);
        add_to(out, da);
        break;
    case FM_DO_PLACE: memcpy(out, da, 3 * sizeof *out); break;
    case FM_DO_COMPOSE:
        rotate_out(a, dc, out);
        add_to(out, da);
        break;
    case FM_DO_ROTATE:
        turn_along(b, sign_of_turn(n), db, x);
        rotate_out(a, x, out);
        for (int j = 0; j < 3; j++) out[j] = da[j] + sign_of_turn(n) * out[j];
        break;
    case FM_DO_CARRY:
        rotate_out(a, db, out);
        add_cross(out, da, at);
        break;
    case FM_DO_BACK:
        cross(b, da, x);
        add_to(x, db);
        rotate_in(a, x, out);
        break;
    case FM_DO_ADD:
        for (int j = 0; j < 3; j++) out[j] = da[j] + db[j];
        break;
    case FM_DO_SUBTRACT:
        for (int j = 0; j < 3; j++) out[j] = da[j] - db[j];
        break;
    case FM_DO_SCALE:
        for (int j = 0; j < 3; j++) out[j] = da[0] * b[j] + a[0] * db[j];
        break;
    case FM_DO_ADD_SCALED:
        for (int j = 0; j < 3; j++) out[j] = da[j] + (db[0] * c[j] + b[0] * dc[j]);
        break;
    case FM_DO_CROSS:
        cross(da, b, out);
        add_cross(out, a, db);
        break;
    case FM_DO_ADD_CROSS:
        cross(db, c, out);
        add_cross(out, b, dc);
        add_to(out, da);
        break;
    case FM_DO_INERTIA:
        cross(b, da, x);
        add_to(x, db);
        inertia_times(a, c, x, out);
        inertia_times(a, dc, b, y);
        add_to(out, y);
        add_cross(out, da, at);
        break;
    case FM_DO_SOLVE: fm_solve_tangent(n, v, t); break;
    case FM_DO_SYMMETRIC:
        symmetric_times(a, b, dc, out);
        symmetric_times(da, db, c, x);
        add_to(out, x);
        break;
    case FM_DO_BEND:
        spin_of(a, da, 1.0, x);
        fm_change_of_vector(at, 1.0, x, out);
        break;
    case FM_DO_VECTOR: out[0] = da[0], out[1] = db[0], out[2] = dc[0]; break;
    case FM_DO_TURNS:
    case FM_DO_SPIN:
    case FM_DO_SPIN_BACK: run_turns_along(n, v, t, out); break;
    case FM_DO_DOT: out[0] = dot(da, b) + dot(a, db); break;
    case FM_DO_LENGTH: out[0] = at[0] > 0.0 ? dot(a, da) / at[0] : 0.0; break;
    case FM_DO_UNIT: across_unit(a, at, da, out); break;
    case FM_DO_SUM: out[0] = da[0] + db[0]; break;
    case FM_DO_DIFFERENCE: out[0] = da[0] - db[0]; break;
    case FM_DO_PRODUCT: out[0] = da[0] * b[0] + a[0] * db[0]; break;
    case FM_DO_ADD_PRODUCT: out[0] = da[0] + (db[0] * c[0] + b[0] * dc[0]); break;
    case FM_DO_QUOTIENT: out[0] = (da[0] - at[0] * db[0]) / b[0]; break;
    case FM_DO_ROOT: out[0] = at[0] > 0.0 ? 0.5 * da[0] / at[0] : 0.0; break;
    case FM_DO_POWER: out[0] = power_slope(a[0], b[0]) * da[0] + power_growth(a[0], at[0]) * db[0]; break;
    case FM_DO_LIMIT: out[0] = fabs(a[0]) > b[0] ? sign_of(a[0]) * db[0] : da[0]; break;
    case FM_DO_SPAN: fm_span_tangent(s, n, v, t); break;
    case FM_DO_ABSOLUTE: out[0] = sign_of(a[0]) * da[0]; break;
    case FM_DO_POSITIVE: out[0] = a[0] >= 0.0 ? da[0] : 0.0; break;
    case FM_DO_DECAY: out[0] = -at[0] * da[0]; break;
    case FM_DO_LAW:
        (void)fm_law_piece_force(&s->image, s->graph->piece[n->k], a[0], b[0], &slope, &back);
        out[0] = slope * da[0] + back * db[0];
        break;
    case FM_DO_SERIES:
        (void)fm_turn_series(a[0], &slope);
        out[0] = slope * da[0];
        break;
    case FM_DO_PROFILE:
        out[0] = at[1] * da[0], out[1] = at[2] * da[0];
        out[2] = fm_profile_third(&s->image, n->k, a[0]) * da[0];
        break;
    case FM_DO_ROAD: fm_meeting_tangent(s, n, v, t); break;
    case FM_DO_OIL:
        slope = (at[0] + a[0]) / b[0]; /* exp(a / b) - 1 */
        out[0] = slope * da[0] + (at[0] - a[0] * slope) / b[0] * db[0];
        break;
    case FM_DO_ANGLE: out[0] = (b[0] * da[0] - a[0] * db[0]) / (a[0] * a[0] + b[0] * b[0]); break;
    case FM_DO_QUATERNION: /* (0, x) q / 2 */
        cross(da, at + 1, x);
        out[0] = -0.5 * dot(da, at + 1);
        for (int j = 0; j < 3; j++) out[1 + j] = 0.5 * (at[0] * da[j] + x[j]);
        break;
    case FM_DO_SIZE: out[0] = dot4(a, da) / at[0]; break;
    case FM_DO_STRETCH:
        for (int j = 0; j < 4; j++) out[j] = da[0] * b[j] + a[0] * db[j];
        break;
    case FM_DO_QUATERNION_RATE:
        quaternion_rate(a, db, 0.0, out);
        add_rate_of_w(da, b, out);
        add_pull(a, da, c[0], out);
        back = 1.0 - dot4(a, a);
        for (int j = 0; j < 4; j++) out[j] += 0.5 * dc[0] * back * a[j];
        break;
    case FM_DO_STUMPFF: out[0] = stumpff_slope(n->k, a[0]) * da[0]; break;
    case FM_DO_PAIR: memcpy(out, da, 3 * sizeof *out), memcpy(out + 3, db, 3 * sizeof *out); break;
    default: (n->operation < FM_DO_CUT_POSITION ? fm_flexible_tangent : fm_cut_tangent)(s, n, v, t); break;
    }
}

/* The adjoints of an inertia's operands; g: the result's. */
static void adjoin_inertia(const double *a, const double *b, const double *c, const double *at, const double *g,
                           double *ga, double *gb, double *gc)
{
    double x[3], in[3], to[3];
    rotate_in(a, b, in);
    rotate_in(a, g, to);
    for (int j = 0; j < 3; j++) gc[j] += in[j] * to[j];
    gc[3] += in[0] * to[1] + in[1] * to[0];
    gc[4] += in[0] * to[2] + in[2] * to[0];
    gc[5] += in[1] * to[2] + in[2] * to[1];
    times(c, to, in);
    rotate_out(a, in, x);
    add_to(gb, x);
    add_cross(ga, at, g);
    add_cross(ga, x, b);
}

static void adjoin_quaternion_rate(const double *q, const double *w, double pull, const double *g, double *gq,
                                   double *gw, double *gc)
{
    const double square = dot4(q, q);
    double x[3];
    gq[0] += 0.5 * dot(w, g + 1);
    cross(w, g + 1, x);
    for (int j = 0; j < 3; j++) gq[1 + j] += 0.5 * (x[j] - w[j] * g[0]);
    cross(g + 1, q + 1, x);
    for (int j = 0; j < 3; j++) gw[j] += 0.5 * ((q[0] * g[1 + j] - q[1 + j] * g[0]) + x[j]);
    add_pull(q, g, pull, gq);
    gc[0] += 0.5 * (1.0 - square) * dot4(q, g);
}

/* v: values, d: adjoints. Operands may be one and the same. */
static inline void run_adjoint(const fm_instance *s, const fm_node *n, const double *v, double *d)
{
    const double *a = v + n->a, *b = v + n->b, *c = v + n->c, *at = v + n->out, *g = d + n->out;
    double *ga = d + n->a, *gb = d + n->b, *gc = d + n->c, x[3], y[3], slope, back;
    switch ((fm_operation)n->operation) {
    case FM_DO_JOINT:
    case FM_DO_BODY:
    case FM_DO_STILL_JOINT:
    case FM_DO_STILL_BODY:
    case FM_DO_STILL_WRENCH:
    case FM_DO_STILL_RESIDUAL:
    case FM_DO_ADD_WRENCH:
    case FM_DO_ADD_FORCE:
    case FM_DO_ADD_TORQUE:
    case FM_DO_RESIDUAL: fm_link_adjoint(s, n, v, d); break;
    case FM_DO_POINT:
    case FM_DO_STILL_POINT:
    case FM_DO_CARRIED:
    case FM_DO_APART:
    case FM_DO_PRODUCT_ROW: fm_row_adjoint(s, n, v, d); break;
    case FM_DO_BALL:
        add_to(ga, g);
        rotate_in(at, g, x);
        add_spin_adjoint(b, x, c[9], gb);
        break;
    case FM_DO_PLACE: add_to(ga, g); break;
    case FM_DO_COMPOSE:
        add_to(ga, g);
        rotate_in(a, g, x);
        add_to(gc, x);
        break;
    case FM_DO_ROTATE:
        add_to(ga, g);
        rotate_in(a, g, x);
        turn_along(b, -sign_of_turn(n), x, y);
        add_times(gb, sign_of_turn(n), y);
        break;
    case FM_DO_CARRY:
        add_cross(ga, at, g);
        rotate_in(a, g, x);
        add_to(gb, x);
        break;
    case FM_DO_BACK:
        rotate_out(a, g, x);
        add_to(gb, x);
        add_cross(ga, x, b);
        break;
    case FM_DO_ADD:
        add_to(ga, g);
        add_to(gb, g);
        break;
    case FM_DO_SUBTRACT:
        add_to(ga, g);
        add_times(gb, -1.0, g);
        break;
    case FM_DO_SCALE:
        ga[0] += dot(b, g);
        add_times(gb, a[0], g);
        break;
    case FM_DO_ADD_SCALED:
        add_to(ga, g);
        gb[0] += dot(c, g);
        add_times(gc, b[0], g);
        break;
    case FM_DO_CROSS:
        add_cross(ga, b, g);
        add_cross(gb, g, a);
        break;
    case FM_DO_ADD_CROSS:
        add_to(ga, g);
        add_cross(gb, c, g);
        add_cross(gc, g, b);
        break;
    case FM_DO_INERTIA: adjoin_inertia(a, b, c, at, g, ga, gb, gc); break;
    case FM_DO_SOLVE: fm_solve_adjoint(n, v, d); break;
    case FM_DO_SYMMETRIC:
        for (int j = 0; j < 3; j++) ga[j] += c[j] * g[j];
        gb[0] += c[0] * g[1] + c[1] * g[0];
        gb[1] += c[0] * g[2] + c[2] * g[0];
        gb[2] += c[1] * g[2] + c[2] * g[1];
        symmetric_times(a, b, g, x);
        add_to(gc, x);
        break;
    case FM_DO_BEND:
        fm_change_of_vector(at, -1.0, g, x);
        add_spin_adjoint(a, x, 1.0, ga);
        break;
    case FM_DO_VECTOR: ga[0] += g[0], gb[0] += g[1], gc[0] += g[2]; break;
    case FM_DO_TURNS:
    case FM_DO_SPIN:
    case FM_DO_SPIN_BACK: adjoin_turns(n, v, g, ga, gb); break;
    case FM_DO_DOT:
        add_times(ga, g[0], b);
        add_times(gb, g[0], a);
        break;
    case FM_DO_LENGTH:
        if (at[0] > 0.0) add_times(ga, g[0] / at[0], a);
        break;
    case FM_DO_UNIT:
        across_unit(a, at, g, x);
        add_to(ga, x);
        break;
    case FM_DO_SUM: ga[0] += g[0], gb[0] += g[0]; break;
    case FM_DO_DIFFERENCE: ga[0] += g[0], gb[0] -= g[0]; break;
    case FM_DO_PRODUCT: ga[0] += g[0] * b[0], gb[0] += g[0] * a[0]; break;
    case FM_DO_ADD_PRODUCT: ga[0] += g[0], gb[0] += g[0] * c[0], gc[0] += g[0] * b[0]; break;
    case FM_DO_QUOTIENT: ga[0] += g[0] / b[0], gb[0] -= g[0] * at[0] / b[0]; break;
    case FM_DO_ROOT: ga[0] += at[0] > 0.0 ? 0.5 * g[0] / at[0] : 0.0; break;
    case FM_DO_POWER: ga[0] += power_slope(a[0], b[0]) * g[0], gb[0] += power_growth(a[0], at[0]) * g[0]; break;
    case FM_DO_LIMIT:
        if (fabs(a[0]) > b[0]) gb[0] += sign_of(a[0]) * g[0];
        else ga[0] += g[0];
        break;
    case FM_DO_SPAN: fm_span_adjoint(s, n, v, d); break;
    case FM_DO_ABSOLUTE: ga[0] += sign_of(a[0]) * g[0]; break;
    case FM_DO_POSITIVE: ga[0] += a[0] >= 0.0 ? g[0] : 0.0; break;
    case FM_DO_DECAY: ga[0] -= at[0] * g[0]; break;
    case FM_DO_LAW:
        (void)fm_law_piece_force(&s->image, s->graph->piece[n->k], a[0], b[0], &slope, &back);
        ga[0] += slope * g[0], gb[0] += back * g[0];
        break;
    case FM_DO_SERIES:
        (void)fm_turn_series(a[0], &slope);
        ga[0] += slope * g[0];
        break;
    case FM_DO_PROFILE: ga[0] += (at[1] * g[0] + at[2] * g[1]) + fm_profile_third(&s->image, n->k, a[0]) * g[2]; break;
    case FM_DO_ROAD: fm_meeting_adjoint(s, n, v, d); break;
    case FM_DO_OIL:
        slope = (at[0] + a[0]) / b[0]; /* exp(a / b) - 1 */
        ga[0] += slope * g[0], gb[0] += (at[0] - a[0] * slope) / b[0] * g[0];
        break;
    case FM_DO_ANGLE:
        slope = g[0] / (a[0] * a[0] + b[0] * b[0]);
        ga[0] += slope * b[0], gb[0] -= slope * a[0];
        break;
    case FM_DO_QUATERNION:
        cross(at + 1, g + 1, x);
        for (int j = 0; j < 3; j++) ga[j] += 0.5 * ((at[0] * g[1 + j] - at[1 + j] * g[0]) + x[j]);
        break;
    case FM_DO_SIZE:
        for (int j = 0; j < 4; j++) ga[j] += g[0] / at[0] * a[j];
        break;
    case FM_DO_STRETCH:
        ga[0] += dot4(b, g);
        for (int j = 0; j < 4; j++) gb[j] += a[0] * g[j];
        break;
    case FM_DO_QUATERNION_RATE: adjoin_quaternion_rate(a, b, c[0], g, ga, gb, gc); break;
    case FM_DO_STUMPFF: ga[0] += stumpff_slope(n->k, a[0]) * g[0]; break;
    case FM_DO_PAIR: add_to(ga, g), add_to(gb, g + 3); break;
    default: (n->operation < FM_DO_CUT_POSITION ? fm_flexible_adjoint : fm_cut_adjoint)(s, n, v, d); break;
    }
}

/* Whether an adjoint of what a node computes is not zero, as those of rows that are redundant and of what only outputs
 * use are. */
static inline int matters(const fm_node *n, const double *adjoint)
{
    const double *g = adjoint + n->out;
    for (int32_t j = 0; j < adjoints_of[n->operation]; j++)
        if (g[j] != 0.0) return 1;
    return adjoints_of[n->operation] == 0;
}

void fm_graph_values(fm_instance *s, int32_t from, int32_t to)
{
    fm_graph *g = s->graph;
    for (int32_t i = from; i < to; i++) run_value(s, g->node + i, g->value);
}

/* Values of the nodes of the plan; those of links, which are most of them, without a detour. */
void fm_plan_values(fm_instance *s)
{
    fm_graph *g = s->graph;
    for (int32_t i = 0; i < g->plan.values; i++) {
        const fm_node *n = g->lean_value + i;
        if (n->operation <= FM_DO_RESIDUAL) fm_link_value(s, n, g->value);
        else run_value(s, n, g->value);
    }
}

/* Adjoints of as many of its nodes. */
void fm_plan_adjoints(fm_instance *s, int32_t to)
{
    fm_graph *g = s->graph;
    for (int32_t i = to - 1; i >= 0; i--) {
        const fm_node *n = g->lean_adjoint + i;
        if (n->operation <= FM_DO_RESIDUAL) fm_link_adjoint(s, n, g->value, g->adjoint);
        else if (matters(n, g->adjoint)) run_adjoint(s, n, g->value, g->adjoint);
    }
}

void fm_graph_tangents(fm_instance *s, int32_t from, int32_t to)
{
    fm_graph *g = s->graph;
    for (int32_t i = from; i < to; i++) run_tangent(s, g->node + i, g->value, g->tangent);
}

void fm_graph_adjoints(fm_instance *s, int32_t from, int32_t to)
{
    fm_graph *g = s->graph;
    for (int32_t i = to - 1; i >= from; i--)
        if (matters(g->node + i, g->adjoint)) run_adjoint(s, g->node + i, g->value, g->adjoint);
}
