/* stability.c: a motion that departs from an equilibrium, and how fast it grows.
 *
 * T = -dF/dq (balance.c) is B^-1 times the tangent stiffness, with B positive definite, so that it has as many negative
 * eigenvalues as there are motions that depart (Sylvester). They are sought from two sides by Arnoldi's method, with
 * the least eigenvalue of its Hessenberg matrix: in the Krylov space of T, which has those that are not small, and is
 * all there is in a mechanism of at most FM_KRYLOV velocity variables; then in one of T^-1, where those that are small
 * lie below all others.
 *
 * Where forces have no potential, K is not symmetric, and no quotient tells anything: all eigenvalues of M^-1 K decide.
 *
 * Otherwise, for the motion x that is found Rayleigh's quotient rho = x' K x / x' M x < 0 is the proof: the potential
 * has no minimum, and something grows at least as fast as exp(sqrt(-rho) t). Rayleigh quotient iteration makes an
 * eigenvector of it. Products with M are differences of kinetic energies.
 */
#include "stability.h"

#include "../instance/instance.h"
#include "../instance/message.h"
#include "../maths/eigenvalues.h"
#include "../maths/hessenberg.h"
#include "../maths/lu.h"
#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../outputs/energy.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "balance.h"
#include "krylov.h"
#include "matrix.h"
#include "scratch.h"
#include "tangent.h"

#include <math.h>
#include <string.h>

#define FM_ROUGHLY 1e-3
#define FM_EXACTLY 1e-8
#define FM_ANY_PIVOT (-1e-14) /* of nearly singular systems: see krylov.c */
#define FM_UNSOLVED 0.1       /* of a product with T^-1: more of it is no such product */
#define FM_LONGER_TIME 100.0       /* times the unit of time: T is then that of the stiffness alone */
#define FM_TOWARDS 2          /* inverse iterations for T of a large mechanism */
#define FM_FIRST_STEP 1e-5    /* [rad], or lengths: differences of accelerations; others tell their errors */
#define FM_SECOND_STEP 2e-5
#define FM_THIRD_STEP 7e-6
#define FM_ERROR_FACTOR 4.0
#define FM_NO_SQUARE 1e-11    /* of the largest squared frequency: less is what loops do not allow */
#define FM_UNSURE 1e-2        /* of a squared frequency: a larger error hides whether it is complex */
#define FM_SAME_AXIS 1e-9     /* sine of an angle: less is none */
#define FM_SETTLED 1e-7       /* relative change of the quotient */

/* Where they are sought: odd ones in spaces of T^-1; from LONGER on with a longer unit of time. */
enum { LONGER = 2, WAYS = 4 };

/* The energy at statics.now with the velocities a x + b y per unit of time, less what does not depend on them. */
static double kinetic(fm_instance *s, double a, const double *x, double b, const double *y)
{
    const int32_t np = s->image.n.positions, nu = s->image.n.speeds;
    double energy[2];
    memcpy(s->y, s->statics->now, (size_t)s->model.ny * sizeof *s->y);
    for (int still = 0; still < 2; still++) {
        for (int32_t u = 0; u < nu; u++)
            s->y[np + u] = still ? 0.0 : (a * x[u] + b * y[u]) * fm_balance_unit(s, u) / s->statics->time;
        s->planar.is_placed = 0;
        fm_run_orientations(s, s->y);
        fm_make_world(s, s->y);
        energy[still] = fm_energy(s);
    }
    return energy[0] - energy[1];
}

/* Rayleigh's quotient of a motion [1/s2] by differences of this step; NAN if it is not found. */
static double quotient_by(fm_instance *s, double step, const double *x)
{
    double *A = s->statics->change;
    if (fm_tangent_along(s, step, x, A) == 0) return NAN;
    const double own = kinetic(s, 1.0, x, 0.0, x), other = kinetic(s, 0.0, x, 1.0, A);
    if (!(own > 0.0)) return NAN;
    if (!(other > 0.0)) return other == 0.0 ? 0.0 : NAN;
    const double part = sqrt(own / other);
    return (kinetic(s, 1.0, x, part, A) - kinetic(s, 1.0, x, -part, A)) / (4.0 * part * own);
}

/* Rayleigh's quotient of a motion [1/s2], and how far round-off and the differences may move it: as far as another step
 * does, with a margin. NAN if it is not found. */
static double quotient(fm_instance *s, const double *x, double *error)
{
    const double rho = quotient_by(s, FM_FIRST_STEP, x), again = quotient_by(s, FM_SECOND_STEP, x),
                 third = quotient_by(s, FM_THIRD_STEP, x);
    *error = FM_ERROR_FACTOR * fmax(fabs(rho - again), fabs(rho - third));
    return rho;
}

/* x becomes the vector of the space with these coefficients, at length one. 0: it is not finite. */
static int combine(fm_instance *s, const double *space, int32_t count, const double *y, double *x)
{
    const int32_t n = s->image.n.speeds;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int32_t j = 0; j < count; j++)
        for (int32_t u = 0; u < n; u++) x[u] += y[j] * space[(size_t)j * (size_t)n + (size_t)u];
    const double size = fm_norm(x, n);
    for (int32_t u = 0; u < n; u++) x[u] /= size;
    return isfinite(size) && size > 0.0;
}

/* The least eigenvalue of a Hessenberg matrix whose columns are `rows` long, and the vector of the space for it in x.
 * 0: it is not found. */
static int leftmost(fm_instance *s, const double *H, int32_t rows, const double *space, int32_t count, double *value,
                    double *x)
{
    double *a = s->statics->small, *y = s->statics->left;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < count; i++)
            for (int32_t j = 0; j < count; j++)
                a[i * count + j] = i <= j + 1 ? H[(size_t)j * (size_t)rows + (size_t)i] : 0.0;
        if (pass == 0 && !fm_least_eigenvalue(a, count, value)) return 0;
    }
    for (int32_t j = 0; j < count; j++) y[j] = 1.0 + 0.3 * (j % 3);
    fm_eigenvector_near(a, count, *value, y);
    return combine(s, space, count, y, x);
}

/* A Krylov space of T^-1 from x in statics.outer. Returns its dimension, 0 if it is not found. */
static int32_t inverse_space(fm_instance *s, const double *x)
{
    const int32_t n = s->image.n.speeds;
    double *space = s->statics->outer, *H = s->statics->outer_H;
    const double size = fm_norm(x, n);
    for (int32_t u = 0; u < n; u++) space[u] = x[u] / size;
    for (int32_t j = 0; j < FM_OUTER; j++) {
        double *w = space + (size_t)(j + 1) * (size_t)n, *h = H + j * (FM_OUTER + 1);
        if (!fm_krylov(s, 0.0, space + (size_t)j * (size_t)n, FM_ROUGHLY, FM_ANY_PIVOT, w)) return 0;
        if (!(s->statics->unsolved <= FM_UNSOLVED)) return 0;
        const double whole = fm_norm(w, n);
        h[j + 1] = fm_orthogonalise(space, j + 1, n, w, h);
        if (!isfinite(h[j + 1])) return 0;
        if (!(h[j + 1] > FM_ROUGHLY * whole)) return j + 1;
    }
    return FM_OUTER;
}

/* A motion along which forces may drive away, in x, from the first or the second space. 1: there is one, 0: none, -1:
 * it is not found out. least: magnitude of an eigenvalue of T that counts. */
static int candidate(fm_instance *s, int second, double least, double *x)
{
    double value;
    if (s->statics->by_matrix) return fm_matrix_departure(s, x);
    if (!(fm_balance_seed(s, x) > 0)) return -1;
    const int32_t count = second ? inverse_space(s, x) : fm_krylov_space(s, x);
    if (count == 0) return -1;
    const int fits = second ? leftmost(s, s->statics->outer_H, FM_OUTER + 1, s->statics->outer, count, &value, x)
                            : leftmost(s, s->statics->H, s->statics->room + 1, s->statics->space, count, &value, x);
    return !fits ? -1 : second ? value < 0.0 : value < -least;
}

/* Rayleigh's quotient of x, after some steps towards the least eigenvectors of T if it is not negative beyond its
 * error. */
static double quotient_near(fm_instance *s, double *x, double *error)
{
    const int32_t n = s->image.n.speeds;
    double rho = quotient(s, x, error), *y = s->statics->simplified;
    for (int i = 0; i < FM_TOWARDS && !(rho < -*error); i++) {
        if (!fm_krylov(s, 0.0, x, FM_ROUGHLY, FM_ANY_PIVOT, y)) break;
        const double size = fm_norm(y, n);
        for (int32_t u = 0; u < n; u++) x[u] = y[u] / size;
        rho = quotient(s, x, error);
    }
    return rho;
}

/* An eigenvector of M^-1 K near x, in x, from the quotient rho. Returns its eigenvalue, the last of Rayleigh's
 * quotients, each of which proves a growth of its own; they go on as long as each is lower, or changes by at most half
 * as much as the one before. */
static double settle(fm_instance *s, double rho, double *x)
{
    const int32_t n = s->image.n.speeds;
    double change = INFINITY, *right = s->statics->simplified, *y = s->statics->change;
    while (change > FM_SETTLED * fabs(rho)) {
        const double before = rho, last = change;
        if (!fm_balance_inertia(s, x, right) || !fm_balance_allow(s, s->statics->base, right)) return rho;
        s->statics->shift = -rho * s->statics->time * s->statics->time;
        const int fits = fm_krylov(s, 0.0, right, FM_EXACTLY, FM_ANY_PIVOT, y);
        s->statics->shift = 0.0;
        const double size = fm_norm(y, n);
        if (!fits || !(size > 0.0) || !isfinite(size)) return rho;
        for (int32_t u = 0; u < n; u++) right[u] = y[u] / size;
        rho = quotient_by(s, FM_FIRST_STEP, right);
        if (!(rho < 0.0)) return before; /* it went over to another motion */
        change = fabs(rho - before);
        if (!(rho < before || change <= 0.5 * last)) return before;
        memcpy(x, right, (size_t)n * sizeof *x);
    }
    return rho;
}

/* The angular velocities of two motions about a point of the tree, in world axes; three numbers of each velocity
 * variable for balls. */
static void place_moving(fm_instance *s, const double *x)
{
    const int32_t np = s->image.n.positions;
    memcpy(s->y, s->statics->now, (size_t)s->model.ny * sizeof *s->y);
    for (int32_t u = 0; u < s->image.n.speeds; u++) s->y[np + u] = x[u] * fm_balance_unit(s, u);
    s->planar.is_placed = 0;
    fm_run_orientations(s, s->y);
    fm_make_world(s, s->y);
}

/* Whether a torque does work on a way round: t . (a x b) is not zero for rotations a, b. */
static int does_work(const double *t, const double *a, const double *b)
{
    double across[3];
    cross(a, b, across);
    return fabs(dot(t, across)) > FM_SAME_AXIS * sqrt(dot(t, t) * dot(a, a) * dot(b, b));
}

/* Of a force that turns with its point: its change by the rotation w, times the displacement v. */
static double turned_power(const double *force, const double w[3], const double v[3])
{
    double change[3];
    cross(w, force, change);
    return dot(change, v);
}

/* Whether the work of a load depends on the way: for motions a and b, t . (a x b) is not zero of its torque, and for
 * one that turns with its point (a x f) . v_b differs from (b x f) . v_a. */
static int circulates(fm_instance *s, int32_t load, const double *x, const double *y)
{
    const int32_t point = s->image.load_P[load], link = s->image.point_link[point];
    const double *R = s->image.point_R + 9 * point;
    double f[3], t[3], r[3], w[2][3], v[2][3];
    if (link < 0) return 0;
    for (int k = 0; k < 2; k++) {
        place_moving(s, k == 0 ? x : y);
        fm_point_place(s, point, r, v[k]);
        copy(w[k], s->world[link].w, 3);
    }
    copy(f, s->load + 6 * load, 3), copy(t, s->load + 6 * load + 3, 3);
    if (s->image.load_axes[load] == FM_WORLD_AXES) return does_work(t, w[0], w[1]);
    rotate_out(R, f, f), rotate_out(s->world[link].R, f, f);
    rotate_out(R, t, t), rotate_out(s->world[link].R, t, t);
    const double around = turned_power(f, w[0], v[1]) - turned_power(f, w[1], v[0]);
    return does_work(t, w[0], w[1]) ||
           fabs(around) >
               FM_SAME_AXIS * sqrt(dot(f, f) * (dot(w[0], w[0]) * dot(v[1], v[1]) + dot(w[1], w[1]) * dot(v[0], v[0])));
}

/* Whether forces have no potential, so that vibrations may grow (flutter): torques in world axes on what turns about
 * several axes, torques on balls, loads that turn with their points, and nonholonomic joints. */
static int may_flutter(fm_instance *s)
{
    const fm_image *m = &s->image;
    double *x = s->statics->change, *y = s->statics->simplified;
    if (m->n.velocity_rows > 0) return 1;
    if (fm_balance_seed(s, x) <= 0) return 0;
    for (int32_t u = 0; u < m->n.speeds; u++) y[u] = fm_sin(2.0 + 1.7 * u);
    for (int32_t i = 0; i < m->n.excitations; i++) y[m->excitation_u[i]] = 0.0;
    if (!fm_balance_allow(s, s->statics->base, y)) return 1;
    for (int32_t i = 0; i < s->model.balls; i++) {
        const int32_t u = s->link[s->ball_link[i]].u;
        if (does_work(s->tau + u, x + u, y + u)) return 1;
    }
    for (int32_t i = 0; i < m->n.loads; i++)
        if (circulates(s, i, x, y)) return 1;
    return 0;
}

/* A = M^-1 K by differences of this step, by rows, zero along what loops and drives do not allow. 0: it is not finite.
 */
static int make_dense(fm_instance *s, double step, double *A)
{
    const int32_t n = s->image.n.speeds;
    double *x = s->statics->simplified, *out = s->statics->change;
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int32_t u = 0; u < n; u++) {
        memset(x, 0, (size_t)n * sizeof *x);
        x[u] = 1.0;
        for (int32_t i = 0; i < s->image.n.excitations; i++) x[s->image.excitation_u[i]] = 0.0;
        if (!fm_balance_allow(s, s->statics->now, x)) return 0;
        if (!(fm_norm(x, n) > FM_SAME_AXIS)) continue;
        if (!fm_tangent_along(s, step, x, out)) return 0;
        for (int32_t r = 0; r < n; r++) A[r * n + u] = out[r];
    }
    return 1;
}

/* The motion x of a real eigenvalue of A = M^-1 K, by one inverse iteration. */
static void move_along(fm_instance *s, double lambda, double *x)
{
    const int32_t n = s->image.n.speeds;
    double *A = s->statics->small, *unit = s->statics->rate;
    if (!make_dense(s, FM_FIRST_STEP, A)) return;
    for (int32_t u = 0; u < n; u++) {
        A[u * n + u] -= lambda * (1.0 + FM_SETTLED);
        x[u] = fm_sin(1.0 + 2.4 * u), unit[u] = 1.0;
    }
    fm_lu_factor(A, n, unit, s->statics->exchanged);
    fm_lu_solve(A, n, s->statics->exchanged, x);
    const double size = fm_norm(x, n);
    for (int32_t u = 0; u < n; u++) x[u] /= size;
}

/* How fast the motion that departs fastest grows where forces have no potential, from all eigenvalues of M^-1 K: a real
 * one below zero, whose motion is left in x, or one that is not real, a vibration. 0: none does; NAN: it is not found
 * out, as in a mechanism of more velocity variables than a Krylov space has directions. Two differences tell how far
 * each eigenvalue may be off. */
static double fastest(fm_instance *s, double *x)
{
    const int32_t n = s->image.n.speeds;
    double *re = s->statics->turn, *im = re + n, *re2 = s->statics->rate, *im2 = re2 + n, growth = 0.0, largest = 0.0,
           lambda = 0.0;
    if (n > s->statics->room || !make_dense(s, FM_FIRST_STEP, s->statics->small) ||
        !make_dense(s, FM_SECOND_STEP, s->statics->raw))
        return NAN;
    if (!fm_eigenvalues(s->statics->small, n, re, im) || !fm_eigenvalues(s->statics->raw, n, re2, im2)) return NAN;
    for (int32_t i = 0; i < n; i++) largest = fmax(largest, sqrt(re[i] * re[i] + im[i] * im[i]));
    for (int32_t i = 0; i < n; i++) {
        const double size = sqrt(re[i] * re[i] + im[i] * im[i]);
        double error = INFINITY;
        for (int32_t j = 0; j < n; j++)
            error = fmin(error, FM_ERROR_FACTOR *
                                    sqrt((re[i] - re2[j]) * (re[i] - re2[j]) + (im[i] - im2[j]) * (im[i] - im2[j])));
        error = fmax(error, FM_SAME_AXIS * size);
        const int is_real = fabs(im[i]) <= error;
        if (size <= FM_NO_SQUARE * largest) continue;
        if (is_real && error > FM_UNSURE * size) return NAN;
        const double grows = is_real && re[i] > 0.0 ? 0.0 : sqrt(0.5 * (size - re[i])); /* |Im sqrt(lambda)| */
        if (grows > growth) growth = grows, lambda = is_real ? re[i] : 0.0;
    }
    s->statics->vibrates = lambda == 0.0;
    if (lambda < 0.0) move_along(s, lambda, x);
    return growth;
}

/* After the search, with the base at the equilibrium: statics.growth [1/s] of a motion that departs from it, which is
 * in statics.motion; 0 if there is none, NAN if it is not found out. least: magnitude of an eigenvalue of T that
 * counts. */
void fm_find_departure(fm_instance *s, double least)
{
    const int large = s->image.n.speeds > s->statics->room && !s->statics->by_matrix; /* larger than a space */
    const double unit = s->statics->time;
    double *x = s->statics->motion;
    s->statics->growth = NAN;
    s->statics->vibrates = 0;
    if (fm_balance_place(s, s->statics->now) && may_flutter(s)) {
        s->statics->growth = fastest(s, x);
        return;
    }
    for (int way = 0; way < (large ? WAYS : 1); way++) {
        s->statics->time = way < LONGER ? unit : FM_LONGER_TIME * unit;
        if (!fm_balance_place(s, s->statics->now)) continue;
        const int found = candidate(s, way % 2, least, x);
        double error = 0.0;
        const double rho = found > 0 ? quotient_near(s, x, &error) : 0.0;
        if (found >= 0 && rho >= error && (way % 2 == 1 || !large)) s->statics->growth = 0.0;
        if (!(rho < -error)) continue;
        s->statics->growth = sqrt(-settle(s, rho, x));
        break;
    }
    s->statics->time = unit;
}
