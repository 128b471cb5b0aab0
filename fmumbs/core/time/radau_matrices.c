/* radau_matrices.c: the linear systems of radau_small.c: M, K and D of a stage, the rows of loops, the bristles of
 * friction, and their factors.
 *
 * With r_q, r_v, r_z by which the derivatives of positions in terms of velocities, of velocities and of bristles are
 * off, and d what changes them, (1 - g J) d = r for a real or complex time g. Loops add multipliers l, of the rows J in
 * use, and what J rates of sliding F d_v add to the bristles is eliminated, with the numbers of friction.c:
 *
 *     (M + g D + g^2 K + g F' (p B a) F) d_v + J' l = M r_v - g K r_q - F' p a r_z,   J d_v = J r_v,
 *     d_q = r_q + g d_v,   d_z = r_z/(1 + g w) + a B F d_v,   a = g/(1 + g w),   p = N (sigma_0 - sigma_1 w)
 *
 * D has the part N (sigma_2 + B sigma_1) of friction. M comes from composite bodies. An excited mode has the inertia 1,
 * whatever it moves, and no multiplier acts on it. Matrices are transposed: a row for each unknown.
 */
#include "radau_matrices.h"

#include "../instance/instance.h"
#include "../forces/elements.h"
#include "../loops/constraints.h"
#include "../loops/jacobian.h"
#include "../loops/realised.h"
#include "../maths/lu.h"
#include "../maths/lu_complex.h"
#include "../maths/products.h"
#include "../motion/compliances.h"
#include "../motion/friction.h"
#include "../motion/scratch.h"
#include "../tree/composite.h"
#include "../tree/reversed.h"
#include "radau_tableau.h"

#include <math.h>
#include <string.h>

/* A time of the systems, g = x + i y. */
typedef struct fm_complex {
    double x, y;
} fm_complex;

static fm_complex complex_time(double h)
{
    const double square = ALPHA * ALPHA + BETA * BETA;
    const fm_complex g = {h * ALPHA / square, -h * BETA / square};
    return g;
}

/* a = g/(1 + g w) */
static fm_complex relaxed(fm_complex g, double w)
{
    const double re = 1.0 + g.x * w, im = g.y * w, square = re * re + im * im;
    const fm_complex a = {(g.x * re + g.y * im) / square, (g.y * re - g.x * im) / square};
    return a;
}

static void clear_excited(const fm_instance *s, double *forces)
{
    for (int32_t i = 0; i < s->image.n.excitations; i++) forces[s->image.excitation_u[i]] = 0.0;
}

/* The matrices of a stage ------------------------------------------------------------------------------------------ */

/* X += part a b', transposed. */
static void add_outer(double *X, double part, const double *a, const double *b, int32_t n)
{
    for (int32_t v = 0; v < n; v++)
        if (b[v] != 0.0) fm_add_times(X + v * n, part * b[v], a, n);
}

/* The rates of sliding of all bristles, in terms of velocities, and how these forces act. */
static void place_bristles(fm_instance *s)
{
    const fm_image *m = &s->image;
    const int32_t n = m->n.speeds;
    for (int32_t i = 0, b = 0; i < m->n.frictions; i++)
        for (int32_t k = 0; k < m->friction_count[i]; k++, b++) {
            double *rate = s->integrator->slides + b * n, *force = s->integrator->rubs + b * n;
            fm_friction_row(s, i, k, rate);
            memcpy(force, rate, (size_t)n * sizeof *force);
            clear_excited(s, force);
        }
}

/* Adds friction to D, and keeps w, B and p of each bristle. */
static void add_friction(fm_instance *s, const double *y, double *D)
{
    const int32_t n = s->image.n.speeds;
    place_bristles(s);
    for (int32_t i = 0, b = 0; i < s->image.n.frictions; i++)
        for (int32_t k = 0; k < s->image.friction_count[i]; k++, b++) {
            double *part = s->integrator->bristle + 3 * b;
            const double damping = fm_friction_parts(s, i, k, y, part);
            add_outer(D, damping, s->integrator->rubs + b * n, s->integrator->slides + b * n, n);
        }
}

/* K and D at y, of which the world kinematics are known, the ones of number `which`. */
void fm_matrices_resist(fm_instance *s, int which, const double *y, double h)
{
    const int32_t n = s->image.n.speeds;
    double *K = s->integrator->dense_K + which * n * n, *D = s->integrator->dense_D + which * n * n;
    const fm_compliances *set = s->implicit->set;
    memset(s->friction->most, 0, (s->image.n.frictions > 0 ? (size_t)s->image.n.modes : 0) * sizeof *K);
    fm_compliances_find(s, 0, y, h, 0.0); /* without friction in cut joints */
    memset(K, 0, (size_t)(n * n) * sizeof *K);
    memset(D, 0, (size_t)(n * n) * sizeof *D);
    for (int32_t u = 0; u < n; u++) K[u * n + u] = s->stiff.K[u], D[u * n + u] = s->stiff.D[u];
    for (int32_t c = 0; c < set->count; c++) {
        const double *J = set->J + c * n;
        add_outer(K, set->gk[c] / h, J, J, n), add_outer(D, set->rho[c] / h - set->gk[c], J, J, n);
    }
    if (s->image.n.frictions > 0) add_friction(s, y, D);
    for (int32_t i = 0; i < s->image.n.excitations; i++) {
        const int32_t own = s->image.excitation_u[i];
        for (int32_t v = 0; v < n; v++)
            if (v != own) K[v * n + own] = D[v * n + own] = 0.0;
    }
}

/* Converts a symmetric matrix from the links to the joints. */
static void from_links(const fm_instance *s, double *X)
{
    const int32_t n = s->image.n.speeds;
    for (int32_t half = 0; s->model.reversed > 0 && half < 2; half++) {
        for (int32_t v = 0; v < n; v++) fm_from_links(s, X + v * n);
        for (int32_t v = 0; v < n; v++)
            for (int32_t u = 0; u < v; u++) {
                const double x = X[v * n + u];
                X[v * n + u] = X[u * n + v], X[u * n + v] = x;
            }
    }
}

/* The rows of the loops in use, each as large as M is, so that pivots compare. The force of a row that a drive realises
 * is the drive's (realised.c). */
static void place_rows(fm_instance *s)
{
    const int32_t n = s->image.n.speeds;
    const double *unit = s->scale + s->image.n.positions, *M = s->integrator->dense_M;
    fm_ends ends = {.joint = -1};
    fm_constraint one;
    s->integrator->rows = 0;
    for (int32_t b = 0; b < s->plan.blocks; b++)
        for (int32_t q = 0; q < s->plan.block[b].used; q++) {
            const int32_t i = s->plan.block[b].first + s->plan.block[b].use[q];
            double *J = s->integrator->dense_J + s->integrator->rows * n, size = 0.0, mass = 0.0;
            memset(J, 0, (size_t)n * sizeof *J);
            fm_constraint_at(s, i, 0, &ends, &one);
            (void)fm_row_along(s, i, &one, J, NULL);
            fm_from_links(s, J);
            for (int32_t u = 0; u < n; u++)
                if (J[u] != 0.0) {
                    size = fmax(size, fabs(J[u]) * unit[u]);
                    mass = fmax(mass, M[u * n + u] * (unit[u] * unit[u]));
                }
            if (!(size > 0.0)) continue;
            for (int32_t u = 0; u < n; u++) J[u] *= mass / size;
            s->integrator->drive[s->integrator->rows++] =
                fm_is_realised(&s->image, i) ? s->image.excitation_drive[s->image.row_excitation[i]] : -1;
        }
}

/* M and the rows of the loops where the last evaluation was, of which the world kinematics are known. */
void fm_matrices_weigh(fm_instance *s)
{
    const int32_t n = s->image.n.speeds;
    double *M = s->integrator->dense_M;
    fm_composite_mass_in_world(s);
    memcpy(M, s->reduced.mass, (size_t)(n * n) * sizeof *M);
    from_links(s, M);
    for (int32_t i = 0; i < s->image.n.excitations; i++) {
        const int32_t own = s->image.excitation_u[i];
        for (int32_t v = 0; v < n; v++) M[v * n + own] = v == own;
    }
    place_rows(s);
}

/* Factors ---------------------------------------------------------------------------------------------------------- */

static int32_t size_of(const fm_instance *s)
{
    return s->image.n.speeds + s->integrator->rows;
}

/* What makes rows of the transposed matrices comparable, those of a number of systems one below the other: the rows of
 * a slide are per length. */
static double *units_of_rows(fm_instance *s, int systems)
{
    const int32_t n = s->image.n.speeds, all = size_of(s);
    for (int i = 0; i < systems; i++)
        for (int32_t u = 0; u < all; u++)
            s->integrator->row_unit[i * all + u] = u < n ? s->scale[s->image.n.positions + u] : 1.0;
    return s->integrator->row_unit;
}

/* Adds the rows of the loops to a system of `all` unknowns from place `at` on. */
static void add_rows(const fm_instance *s, double *E, int32_t all, int32_t at)
{
    const int32_t n = s->image.n.speeds;
    for (int32_t i = 0; i < s->integrator->rows; i++) {
        const int32_t drive = s->integrator->drive[i];
        const double *J = s->integrator->dense_J + i * n;
        double *acts = E + (at + n + i) * all + at;
        for (int32_t u = 0; u < n; u++) E[(at + u) * all + at + n + i] = J[u];
        if (drive >= 0)
            acts[drive] = s->integrator->dense_M[drive * n + drive] * s->scale[s->image.n.positions + drive];
        else memcpy(acts, J, (size_t)n * sizeof *acts);
        clear_excited(s, acts);
    }
}

/* The system for g with K and D at the middle stage; im NULL: g is real. */
static void assemble(const fm_instance *s, fm_complex g, double *re, double *im)
{
    const int32_t n = s->image.n.speeds, all = size_of(s);
    const double *M = s->integrator->dense_M, *K = s->integrator->dense_K + n * n, *D = s->integrator->dense_D + n * n;
    memset(re, 0, (size_t)(all * all) * sizeof *re);
    if (im != NULL) memset(im, 0, (size_t)(all * all) * sizeof *im);
    for (int32_t v = 0; v < n; v++)
        for (int32_t u = 0; u < n; u++) {
            const int32_t i = v * n + u, at = v * all + u;
            if (im == NULL) {
                re[at] = M[i] + g.x * (D[i] + g.x * K[i]);
                continue;
            }
            re[at] = M[i] + (g.x * D[i] + (g.x * g.x - g.y * g.y) * K[i]);
            im[at] = g.y * D[i] + 2.0 * g.x * g.y * K[i];
        }
    for (int32_t b = 0; b < s->image.n.bristles; b++) {
        const double *F = s->integrator->slides + b * n, *part = s->integrator->bristle + 3 * b;
        const fm_complex a = relaxed(g, part[0]);
        const double factor = part[1] * part[2], x = factor * (g.x * a.x - g.y * a.y),
                     y = factor * (g.x * a.y + g.y * a.x);
        for (int32_t v = 0; v < n; v++) {
            if (F[v] == 0.0) continue;
            fm_add_times(re + v * all, x * F[v], s->integrator->rubs + b * n, n);
            if (im != NULL) fm_add_times(im + v * all, y * F[v], s->integrator->rubs + b * n, n);
        }
    }
    add_rows(s, re, all, 0);
}

/* That of all stages, with K and D of each. */
static void assemble_apart(const fm_instance *s, double h, double *E)
{
    const int32_t n = s->image.n.speeds, one = size_of(s), all = FM_RADAU_STAGES * one;
    memset(E, 0, (size_t)(all * all) * sizeof *E);
    for (int i = 0; i < FM_RADAU_STAGES; i++)
        for (int j = 0; j < FM_RADAU_STAGES; j++) {
            const double *M = s->integrator->dense_M, *K = s->integrator->dense_K + i * n * n,
                         *D = s->integrator->dense_D + i * n * n;
            double square = 0.0;
            for (int k = 0; k < FM_RADAU_STAGES; k++) square += A[i][k] * A[k][j];
            for (int32_t v = 0; v < n; v++)
                for (int32_t u = 0; u < n; u++)
                    E[(j * one + v) * all + i * one + u] =
                        (i == j ? M[v * n + u] : 0.0) + h * A[i][j] * D[v * n + u] + h * h * square * K[v * n + u];
        }
    for (int i = 0; i < FM_RADAU_STAGES; i++) add_rows(s, E, all, i * one);
}

/* The factors of the real system, and of the complex one or of that of all stages. A singular one: the step is
 * rejected. */
void fm_matrices_factor(fm_instance *s, double h)
{
    const int32_t n = size_of(s), all = n * n;
    const fm_complex real = {h / REAL, 0.0};
    double *E = s->integrator->dense_E, *re = E + all, *im = re + all;
    assemble(s, real, E, NULL);
    fm_lu_factor(E, n, units_of_rows(s, 1), s->integrator->exchanged);
    if (s->integrator->dense == FM_TOGETHER) {
        assemble(s, complex_time(h), re, im);
        fm_lu_complex_factor(re, im, n, units_of_rows(s, 1), s->integrator->exchanged + n);
    } else {
        assemble_apart(s, h, re);
        fm_lu_factor(re, FM_RADAU_STAGES * n, units_of_rows(s, FM_RADAU_STAGES), s->integrator->exchanged + n);
    }
}

/* Solutions -------------------------------------------------------------------------------------------------------- */

/* out += X x, of a transposed X. */
static void add_product(const double *X, const double *x, int32_t n, double *out)
{
    for (int32_t v = 0; v < n; v++) fm_add_times(out, x[v], X + v * n, n);
}

/* out = M v and below J v; force = K q with K of stage `which`. */
static void multiply(const fm_instance *s, int which, const double *v, const double *q, double *out, double *force)
{
    const int32_t n = s->image.n.speeds;
    memset(out, 0, (size_t)n * sizeof *out), memset(force, 0, (size_t)n * sizeof *force);
    add_product(s->integrator->dense_M, v, n, out);
    add_product(s->integrator->dense_K + which * n * n, q, n, force);
    for (int32_t i = 0; i < s->integrator->rows; i++) out[n + i] = fm_product(s->integrator->dense_J + i * n, v, n);
}

/* Three vectors of n, one after the other, replaced by their sums with the rows of B. */
static void combine(const double B[FM_RADAU_STAGES][FM_RADAU_STAGES], double *x, int32_t n)
{
    for (int32_t u = 0; u < n; u++) {
        const double one = x[u], two = x[n + u], three = x[2 * n + u];
        for (int i = 0; i < FM_RADAU_STAGES; i++) x[i * n + u] = (B[i][0] * one + B[i][1] * two) + B[i][2] * three;
    }
}

/* v <- d_v, z <- d_z of a real system with K and D at the middle stage. */
void fm_matrices_solve_real(const fm_instance *s, double g, double *v, const double *q, double *z)
{
    const int32_t n = s->image.n.speeds, all = size_of(s);
    const fm_complex time = {g, 0.0};
    double *x = s->integrator->dense_x, *force = x + all;
    multiply(s, 1, v, q, x, force);
    for (int32_t u = 0; u < n; u++) x[u] -= g * force[u];
    for (int32_t b = 0; b < s->image.n.bristles; b++) {
        const double *part = s->integrator->bristle + 3 * b;
        fm_add_times(x, -part[2] * relaxed(time, part[0]).x * z[b], s->integrator->rubs + b * n, n);
    }
    fm_lu_solve_transposed(s->integrator->dense_E, all, s->integrator->exchanged, x);
    memcpy(v, x, (size_t)n * sizeof *v);
    for (int32_t b = 0; b < s->image.n.bristles; b++) {
        const double *part = s->integrator->bristle + 3 * b;
        z[b] = z[b] / (1.0 + g * part[0]) +
               part[1] * relaxed(time, part[0]).x * fm_product(s->integrator->slides + b * n, v, n);
    }
}

/* The same of the complex system: v and q have n numbers of the real part, then n of the imaginary one, z bristles. */
static void solve_complex(const fm_instance *s, fm_complex g, double *v, const double *q, double *z)
{
    const int32_t n = s->image.n.speeds, all = size_of(s), bristles = s->image.n.bristles;
    double *re = s->integrator->dense_x, *im = re + all, *E = s->integrator->dense_E + all * all, *two = im + all,
           *three = two + all;
    multiply(s, 1, v, q, re, two), multiply(s, 1, v + n, q + n, im, three);
    for (int32_t u = 0; u < n; u++) {
        re[u] -= g.x * two[u] - g.y * three[u];
        im[u] -= g.x * three[u] + g.y * two[u];
    }
    for (int32_t b = 0; b < bristles; b++) {
        const double *part = s->integrator->bristle + 3 * b, *F = s->integrator->rubs + b * n;
        const fm_complex a = relaxed(g, part[0]);
        fm_add_times(re, -part[2] * (a.x * z[b] - a.y * z[bristles + b]), F, n);
        fm_add_times(im, -part[2] * (a.x * z[bristles + b] + a.y * z[b]), F, n);
    }
    fm_lu_complex_solve(E, E + all * all, all, s->integrator->exchanged + all, re, im);
    memcpy(v, re, (size_t)n * sizeof *v), memcpy(v + n, im, (size_t)n * sizeof *v);
    for (int32_t b = 0; b < bristles; b++) {
        const double *part = s->integrator->bristle + 3 * b, *F = s->integrator->slides + b * n, w = part[0];
        const fm_complex a = relaxed(g, w); /* 1/(1 + g w) = 1 - w a */
        const double x = z[b], y = z[bristles + b], u = part[1] * fm_product(F, v, n),
                     du = part[1] * fm_product(F, v + n, n);
        z[b] = (x - w * (a.x * x - a.y * y)) + (a.x * u - a.y * du);
        z[bristles + b] = (y - w * (a.x * y + a.y * x)) + (a.x * du + a.y * u);
    }
}

/* v <- d_v of all stages by the system of all of them, which has no bristles. */
static void solve_apart(const fm_instance *s, double h, double *v, double *q)
{
    const int32_t n = s->image.n.speeds, one = size_of(s);
    double *x = s->integrator->dense_x, *force = x + FM_RADAU_STAGES * one;
    combine(A, q, n);
    for (int i = 0; i < FM_RADAU_STAGES; i++) {
        multiply(s, i, v + i * n, q + i * n, x + i * one, force);
        for (int32_t u = 0; u < n; u++) x[i * one + u] -= h * force[u];
    }
    fm_lu_solve_transposed(s->integrator->dense_E + one * one, FM_RADAU_STAGES * one, s->integrator->exchanged + one,
                           x);
    for (int i = 0; i < FM_RADAU_STAGES; i++) memcpy(v + i * n, x + i * one, (size_t)n * sizeof *v);
}

/* v <- d_v, z <- d_z of all stages, one after the other; v: r_v, q: r_q, which is overwritten, z: r_z. */
void fm_matrices_solve(fm_instance *s, double h, double *v, double *q, double *z)
{
    const int32_t n = s->image.n.speeds, bristles = s->image.n.bristles;
    if (s->integrator->dense == FM_APART) {
        solve_apart(s, h, v, q);
        return;
    }
    combine(TI, v, n), combine(TI, q, n), combine(TI, z, bristles);
    fm_matrices_solve_real(s, h / REAL, v, q, z);
    solve_complex(s, complex_time(h), v + n, q + n, z + bristles);
    combine(T, v, n), combine(T, z, bristles);
}
