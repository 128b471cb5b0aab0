/* matrix.c: linear systems of the tangent of the balance of forces by a factor of the tangent stiffness, for mechanisms
 * with point springs or loops and more velocity variables than a Krylov space has directions (krylov.c).
 *
 * With B = M / t^2 + K_0 of balance.c the system (mu - dF/dq) x = b is, up to terms that vanish with F,
 *     (mu B + K) x = B b,   K = -d(Q + J' lambda)/dq,   J x = 0,
 * K by central differences of the forces at rest with the multipliers held (loops/rest_forces.c), all columns of a
 * colour at once (profile.c). The rows J are taken in by penalties, A = mu B + K + J' W J, whose error the multipliers
 * nu of an augmented Lagrangian take out: A x = B b - J' nu, nu <- nu + W J x. All in radians and lengths of the model.
 * A = L U without exchanges, L with ones on its diagonal, in the profile of A. At an equilibrium U = D L' up to what
 * differences are off by: A has as many negative eigenvalues as pivots (Sylvester), and L'^-1 e_k for a negative pivot
 * D_k is a motion along which the energy is negative.
 */
#include "matrix.h"

#include "../forces/inputs.h"
#include "../instance/instance.h"
#include "../loops/constraints.h"
#include "../loops/jacobian.h"
#include "../loops/rest_forces.h"
#include "../maths/products.h"
#include "../motion/evaluation.h"
#include "../motion/stiffness.h"
#include "../tree/inverse.h"
#include "../tree/kinematics.h"
#include "../tree/planar.h"
#include "../tree/reversed.h"
#include "balance.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

#define FM_DIFFERENCE 1e-6 /* [rad], or lengths: step of the differences */
#define FM_PENALTY 1e5     /* W J^2 over the largest diagonal entry of K on the row's path */
#define FM_ROUNDS 4        /* of the augmented Lagrangian: each leaves 1/FM_PENALTY of what J x is off by */
#define FM_NO_PIVOT 1e-10  /* of a row's diagonal entry before its elimination: a smaller pivot is none */

/* Row r of L, and column r of U, from column, or row, first[r] on. */
static double *lower(const fm_instance *s, int32_t r)
{
    return s->statics->lower + s->statics->profile.start[r];
}

static double *upper(const fm_instance *s, int32_t c)
{
    return s->statics->upper + s->statics->profile.start[c];
}

static void add_entry(const fm_instance *s, int32_t r, int32_t c, double a)
{
    const int32_t *first = s->statics->profile.first;
    if (r == c) s->statics->pivot[r] += a;
    else if (r > c) lower(s, r)[c - first[r]] += a;
    else upper(s, c)[r - first[c]] += a;
}

/* Adds `part` times `column`, in the order of velocity variables, to the columns of a colour. */
static void add_columns(const fm_instance *s, int32_t colour, double part, const double *column)
{
    const fm_profile *p = &s->statics->profile;
    for (int32_t c = 0; c < p->n; c++)
        for (int32_t r = p->first[c]; p->colour[c] == colour && r <= p->last[c]; r++)
            if (p->first[r] <= c)
                add_entry(s, r, c,
                          part * column[s->statics->variable[r]] * fm_balance_unit(s, s->statics->variable[r]));
}

/* Forces at a part of v away from the base. 0: they are not finite. */
static int forces_at(fm_instance *s, const double *v, double part, double *out)
{
    double sum = 0.0;
    fm_balance_move(s, s->statics->base, v, part, s->statics->probe);
    s->work.resting = s->laws.linear = 1;
    fm_accelerations(s, s->clock[FM_TIME], s->statics->probe, out);
    s->work.resting = s->laws.linear = 0;
    for (int32_t u = 0; u < s->image.n.speeds; u++) sum += fabs(out[u]);
    return isfinite(sum);
}

/* Products with M + R at the base from here on, R as in an evaluation of time t; 0: without R. */
static void begin_impulses(fm_instance *s, double t)
{
    fm_run_orientations(s, s->statics->base);
    fm_make_world(s, s->statics->base);
    fm_stiff_begin(s, t);
    fm_inverse_place(s, s->statics->base);
}

/* out = B v in forces along the velocity variables, v in radians and lengths. */
static void inertia_of(fm_instance *s, const double *v, double *out)
{
    double *rate = s->statics->rate;
    for (int32_t u = 0; u < s->image.n.speeds; u++)
        rate[u] = v[u] * fm_balance_unit(s, u) / (s->statics->time * s->statics->time);
    fm_rest_impulses(s, rate, out);
}

/* The unit displacements of a colour, without excited modes, which stand. */
static void displace(const fm_instance *s, int32_t colour, double *v)
{
    const fm_profile *p = &s->statics->profile;
    for (int32_t c = 0; c < p->n; c++) v[s->statics->variable[c]] = p->colour[c] == colour ? 1.0 : 0.0;
    for (int32_t i = 0; i < s->image.n.excitations; i++) v[s->image.excitation_u[i]] = 0.0;
}

/* Adds K at the base. 0: it is not finite. */
static int add_stiffness(fm_instance *s)
{
    double *v = s->statics->inert, *out = s->statics->ahead, *back = s->statics->back;
    for (int32_t k = 0; k < s->statics->profile.colours; k++) {
        displace(s, k, v);
        if (!forces_at(s, v, FM_DIFFERENCE, out) || !forces_at(s, v, -FM_DIFFERENCE, back)) return 0;
        for (int32_t u = 0; u < s->image.n.speeds; u++) out[u] = (back[u] - out[u]) / (2.0 * FM_DIFFERENCE);
        add_columns(s, k, 1.0, out);
    }
    return 1;
}

/* Adds a part of B, or of M / t^2 where t is 0. */
static void add_inertia(fm_instance *s, double part, double t)
{
    double *v = s->statics->inert, *out = s->statics->back;
    if (part == 0.0) return;
    begin_impulses(s, t);
    for (int32_t k = 0; k < s->statics->profile.colours; k++) {
        displace(s, k, v);
        inertia_of(s, v, out);
        add_columns(s, k, part, out);
    }
    fm_stiff_end(s);
}

/* J of active row q of a block at the base, along its path, in statics.J. */
static double *row_of(const fm_instance *s, const fm_block *b, int32_t q)
{
    return s->statics->J + b->y + (size_t)q * (size_t)b->length;
}

static int32_t place_on(const fm_instance *s, const fm_block *b, int32_t e)
{
    return s->statics->profile.place[s->plan.path[b->path + e]];
}

static void make_rows(fm_instance *s)
{
    fm_ends ends = {.joint = -1};
    fm_constraint one;
    fm_run_orientations(s, s->statics->base);
    fm_make_world(s, s->statics->base);
    memset(s->statics->inert, 0, (size_t)s->image.n.speeds * sizeof(double));
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t q = 0; q < b->used; q++) {
            double *J = row_of(s, b, q), *full = s->statics->inert;
            fm_constraint_at(s, b->first + b->use[q], 0, &ends, &one);
            (void)fm_row_along(s, b->first + b->use[q], &one, full, NULL);
            fm_from_links(s, full);
            for (int32_t i = 0; i < s->image.n.excitations; i++) full[s->image.excitation_u[i]] = 0.0;
            for (int32_t e = 0; e < b->length; e++) {
                const int32_t u = s->plan.path[b->path + e];
                J[e] = full[u] * fm_balance_unit(s, u);
            }
            memset(full, 0, (size_t)s->image.n.speeds * sizeof *full);
        }
    }
}

/* Adds the penalties J' W J; W in statics.weight, before the elimination. */
static void add_penalties(fm_instance *s)
{
    double *W = s->statics->weight;
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t q = 0; q < b->used; q++) {
            const double *J = row_of(s, b, q);
            double square = 0.0, stiff = 0.0;
            for (int32_t e = 0; e < b->length; e++) {
                square = fmax(square, J[e] * J[e]);
                if (J[e] != 0.0) stiff = fmax(stiff, fabs(s->statics->whole[place_on(s, b, e)]));
            }
            W[b->first + b->use[q]] = square > 0.0 ? FM_PENALTY * stiff / square : 0.0;
        }
    }
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t q = 0; q < b->used; q++)
            for (int32_t e = 0; e < b->length; e++)
                for (int32_t d = 0; d < b->length; d++) {
                    const double *J = row_of(s, b, q);
                    add_entry(s, place_on(s, b, e), place_on(s, b, d), W[b->first + b->use[q]] * J[e] * J[d]);
                }
    }
}

/* A = L U. Pivots that are round-off count as the diagonal entry, and are marked; negative ones are counted. */
static void eliminate(fm_instance *s)
{
    const fm_profile *p = &s->statics->profile;
    double *D = s->statics->pivot, least = 0.0;
    s->statics->dropped = s->statics->negative = 0;
    s->statics->departs = -1;
    for (int32_t r = 0; r < p->n; r++) {
        double *L = lower(s, r), *U = upper(s, r);
        for (int32_t c = p->first[r]; c < r; c++) {
            const int32_t from = p->first[c] > p->first[r] ? p->first[c] : p->first[r];
            const int32_t at_r = from - p->first[r], at_c = from - p->first[c], at = c - p->first[r];
            L[at] = (L[at] - fm_product(L + at_r, upper(s, c) + at_c, c - from)) / D[c];
            U[at] -= fm_product(lower(s, c) + at_c, U + at_r, c - from);
        }
        const double whole = fabs(D[r]);
        D[r] -= fm_product(L, U, r - p->first[r]);
        s->statics->none[r] = !(fabs(D[r]) > FM_NO_PIVOT * whole);
        if (s->statics->none[r]) {
            s->statics->dropped++;
            D[r] = whole > 0.0 ? whole : 1.0;
        } else if (D[r] < 0.0) {
            s->statics->negative++;
            if (D[r] / whole < least) least = D[r] / whole, s->statics->departs = r;
        }
    }
}

/* A at the base, and its factor, if that is not at hand. 0: it is not finite. */
static int factor(fm_instance *s, double mu)
{
    const fm_profile *p = &s->statics->profile;
    const double key[2] = {mu, s->statics->shift};
    if (s->statics->factored && memcmp(key, s->statics->factored_for, sizeof key) == 0) return 1;
    memset(s->statics->lower, 0, p->entries * sizeof(double));
    memset(s->statics->upper, 0, p->entries * sizeof(double));
    memset(s->statics->pivot, 0, (size_t)p->n * sizeof(double));
    s->statics->factored = 0;
    if (!add_stiffness(s)) return 0;
    add_inertia(s, mu, s->statics->time);
    add_inertia(s, s->statics->shift, 0.0);
    for (int32_t i = 0; i < s->image.n.excitations; i++) s->statics->pivot[p->place[s->image.excitation_u[i]]] = 1.0;
    memcpy(s->statics->whole, s->statics->pivot, (size_t)p->n * sizeof(double));
    make_rows(s);
    add_penalties(s);
    eliminate(s);
    memcpy(s->statics->factored_for, key, sizeof key);
    s->statics->factored = 1;
    return 1;
}

/* x <- U^-1 L^-1 x, in the order of the profile. Pivots that are none count as `none` of the diagonal entry; 0: as all.
 */
static void substitute(const fm_instance *s, double none, double *x)
{
    const fm_profile *p = &s->statics->profile;
    for (int32_t r = 0; r < p->n; r++) x[r] -= fm_product(lower(s, r), x + p->first[r], r - p->first[r]);
    for (int32_t r = p->n - 1; r >= 0; r--) {
        const double *U = upper(s, r);
        x[r] /= s->statics->none[r] && none > 0.0 ? none * s->statics->pivot[r] : s->statics->pivot[r];
        for (int32_t c = p->first[r]; c < r; c++) x[c] -= U[c - p->first[r]] * x[r];
    }
}

/* The rounds of the augmented Lagrangian from the forces f, which are in the order of the profile, to x in this order.
 */
static void meet_rows(fm_instance *s, double none, const double *f, double *x)
{
    double *nu = s->statics->nu;
    memset(nu, 0, (size_t)s->image.n.rows * sizeof *nu);
    for (int round = 0; round < (s->plan.blocks > 0 ? FM_ROUNDS : 1); round++) {
        memcpy(x, f, (size_t)s->statics->profile.n * sizeof *x);
        for (int32_t n = 0; n < s->plan.blocks; n++) {
            const fm_block *b = s->plan.block + n;
            for (int32_t q = 0; q < b->used; q++)
                for (int32_t e = 0; e < b->length; e++)
                    x[place_on(s, b, e)] -= nu[b->first + b->use[q]] * row_of(s, b, q)[e];
        }
        substitute(s, none, x);
        for (int32_t n = 0; n < s->plan.blocks; n++) {
            const fm_block *b = s->plan.block + n;
            for (int32_t q = 0; q < b->used; q++) {
                double off = 0.0;
                for (int32_t e = 0; e < b->length; e++) off += row_of(s, b, q)[e] * x[place_on(s, b, e)];
                nu[b->first + b->use[q]] += s->statics->weight[b->first + b->use[q]] * off;
            }
        }
    }
}

/* Runs something with the sweeps in space, by which forces at rest are. */
static int32_t begin_in_space(fm_instance *s)
{
    const int32_t planar = s->planar.used;
    if (planar) (void)fm_planar_use(s, 0);
    return planar;
}

static void end_in_space(fm_instance *s, int32_t planar)
{
    if (planar) (void)fm_planar_use(s, 1);
    s->planar.is_placed = 0;
}

/* Solves (mu - dF/dq) x = b at the base, for b and x that the loops allow; `least` as in krylov.c. What remains of b
 * where A is singular is left in statics.unsolved. 0: it is not finite. */
int fm_matrix_solve(fm_instance *s, double mu, const double *b, double least, double *x)
{
    const fm_profile *p = &s->statics->profile;
    const int32_t n = p->n, planar = begin_in_space(s);
    double *f = s->statics->forces, *found = s->statics->found, *out = s->statics->back, sum = 0.0;
    const int fits = factor(s, mu);
    if (fits) {
        begin_impulses(s, s->statics->time);
        inertia_of(s, b, out);
        fm_stiff_end(s);
        for (int32_t i = 0; i < s->image.n.excitations; i++) out[s->image.excitation_u[i]] = 0.0;
        for (int32_t r = 0; r < n; r++)
            f[r] = out[s->statics->variable[r]] * fm_balance_unit(s, s->statics->variable[r]);
        meet_rows(s, least < 0.0 ? -least : 0.0, f, found);
    }
    end_in_space(s, planar);
    for (int32_t r = 0; fits && r < n; r++) x[s->statics->variable[r]] = found[r], sum += fabs(found[r]);
    for (int32_t i = 0; i < s->image.n.excitations; i++) x[s->image.excitation_u[i]] = 0.0;
    s->statics->unsolved = 0.0;
    if (!fits || !isfinite(sum) || !fm_balance_allow(s, s->statics->base, x)) return 0;
    if (s->statics->dropped == 0 || least < 0.0) return 1;
    if (!fm_balance_product(s, mu, x, out)) return 0;
    for (int32_t u = 0; u < n; u++) out[u] = b[u] - out[u];
    s->statics->unsolved = fm_norm(out, n);
    return 1;
}

/* A motion at the base along which the energy is negative, in x, at length one. 1: there is one, 0: none, -1: it is not
 * found out. */
int fm_matrix_departure(fm_instance *s, double *x)
{
    const fm_profile *p = &s->statics->profile;
    const int32_t planar = begin_in_space(s);
    double *v = s->statics->found;
    const int fits = factor(s, 0.0);
    end_in_space(s, planar);
    if (!fits || (s->statics->negative == 0 && s->statics->dropped > 0)) return -1;
    if (s->statics->negative == 0) return 0;
    memset(v, 0, (size_t)p->n * sizeof *v);
    v[s->statics->departs] = 1.0;
    for (int32_t r = s->statics->departs; r >= 0; r--) /* L' v = e */
        for (int32_t c = p->first[r]; c < r; c++) v[c] -= lower(s, r)[c - p->first[r]] * v[r];
    for (int32_t r = 0; r < p->n; r++) x[s->statics->variable[r]] = v[r];
    for (int32_t i = 0; i < s->image.n.excitations; i++) x[s->image.excitation_u[i]] = 0.0;
    if (!fm_balance_allow(s, s->statics->base, x)) return -1;
    const double size = fm_norm(x, p->n);
    for (int32_t u = 0; u < p->n; u++) x[u] /= size;
    return isfinite(size) && size > 0.0 ? 1 : -1;
}
