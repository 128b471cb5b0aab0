/* reduced.c: the reduced formulation (copcod): accelerations and corrections without K and without multipliers.
 *
 * The rows in use, in units of the coordinates, are J = L Q with orthonormal rows Q and triangular L. Elimination of Q
 * with pivots divides the coordinates into dependent ones d, as many as rows, and independent ones i,
 *     Q_d^-1 Q = [1 G],   N = [-G; 1],   J N = 0:   u = N u_i are the motions that the constraints allow.
 * Of all x with J x = b that one is found for which x' M x/2 - g' x is least,
 *     x = p + N z,   p = Q' L^-1 b,   (N' M N) z = N' (g - M p).
 * Accelerations are x + (those of excited modes) with b = -c'' and g = tau - (M udot - h), both at these alone, so that
 *     N' (M udot - h - Q) = 0,   J udot = -c''_0;
 * a correction of positions or velocities is x with b = -c and g = 0, the smallest in the mass norm. Which coordinates
 * are dependent makes no difference to x. M comes from composite bodies (tree/composite.c), h from inverse dynamics
 * (tree/inverse.c); with the inertias R of motion/stiffness.c, M stands for M + R. For outputs multipliers follow from the accelerations,
 *     J' lambda = M udot - h - Q.
 * Forces of drives that realise programs are eliminated by another matrix in place of N' (reduced_drives.c).
 * The squares of L's diagonal are the pivots of J J': they measure the distance from singular positions, as those of K
 * do elsewhere. The choice of coordinates is part of the state, and made afresh after a step in which an entry of G grew
 * (reduced_choice.c).
 */
#include "reduced.h"

#include "../instance/instance.h"
#include "../tree/composite.h"
#include "../tree/inverse.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "constraints.h"
#include "jacobian.h"
#include "reduced_drives.h"

#include <math.h>
#include <string.h>

#define FM_ROW_SINGULAR 1e-26 /* fraction of a row's square below which its pivot counts as zero */
#define FM_NO_PIVOT 1e-6      /* a coordinate with less than this in an orthonormal row does not depend on it */
#define FM_BADLY_CHOSEN 10.0  /* growth of the largest entry of G since the choice: another one may be better */

#define FM_THERE 1e-22 /* fraction of a row's former pivot, as x^2: below it x is round-off to more than FM_SURE */
#define FM_SURE 1e-4 /* part of the multipliers that round-off may explain near a singular position */

/* In four sums, which do not wait for one another. */
static double product_of(const double *a, const double *b, int32_t n)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int32_t j = 0; j < 4; j++) sum[j] += a[i + j] * b[i + j];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* a += f b */
static void add_times(double *a, double f, const double *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++) a[i] += f * b[i];
}

static const double *units(const fm_instance *s)
{
    return s->scale + s->image.n.positions;
}

/* Row i: its violations in loop.c, its wrench, and J, in units of the coordinates and without excited modes. */
static void make_row(fm_instance *s, int32_t i, int moving, fm_ends *ends, double *J)
{
    const int32_t nu = s->image.n.speeds;
    fm_constraint one;
    fm_constraint_at(s, i, moving, ends, &one);
    memcpy(s->loop.c + 3 * i, one.c, sizeof one.c);
    memcpy(s->loop.wrench + 6 * i, one.torque, sizeof one.torque);
    memcpy(s->loop.wrench + 6 * i + 3, one.force, sizeof one.force);
    memset(J, 0, (size_t)nu * sizeof *J);
    (void)fm_row_along(s, i, &one, J, NULL);
    for (int32_t n = 0; n < s->image.n.excitations; n++) J[s->image.excitation_u[n]] = 0.0;
    for (int32_t n = 0; n < nu; n++) J[n] *= units(s)[n];
}

/* Takes the parts along the first `count` rows of Q out of q, twice against round-off, and adds them to l. Returns the
 * square of what is left. */
static double leave(const fm_instance *s, int32_t count, double *q, double *l)
{
    const int32_t nu = s->image.n.speeds;
    for (int again = 0; again < 2; again++)
        for (int32_t p = 0; p < count; p++) {
            const double *other = s->reduced.Q + (size_t)p * (size_t)nu, along = product_of(other, q, nu);
            add_times(q, -along, other, nu);
            l[p] += along;
        }
    return product_of(q, q, nu);
}

/* Notes how a row's pivot compares with its former value; with loop.softening it is at least that fraction of it. */
static double judge(fm_instance *s, int32_t i, double left)
{
    if (left < FM_WORN * s->row_pivot[i]) s->loop.worn = 1;
    if (left < FM_NARROW_REDUCED * s->row_pivot[i]) s->loop.near_singular = 1;
    return s->reduced.pivot[i] = left + s->loop.softening * s->row_pivot[i];
}

/* Adds row i to L and Q. 0: it depends on those before it. */
int fm_reduced_add_row(fm_instance *s, int32_t i, int moving, fm_ends *ends)
{
    const int32_t nu = s->image.n.speeds, at = s->reduced.rank;
    double *q = s->reduced.Q + (size_t)at * (size_t)nu, *l = s->reduced.L + (size_t)at * (size_t)s->image.n.rows;
    memset(l, 0, (size_t)s->image.n.rows * sizeof *l);
    make_row(s, i, moving, ends, q);
    const double square = product_of(q, q, nu), left = leave(s, at, q, l), pivot = judge(s, i, left);
    l[at] = sqrt(pivot);
    for (int32_t n = 0; n < nu; n++) q[n] *= left > 0.0 ? 1.0 / sqrt(left) : 0.0;
    s->reduced.row[at] = i;
    s->reduced.rank++;
    return pivot > FM_ROW_SINGULAR * square;
}

/* L and Q of the active rows, in the order of the blocks. Requires world kinematics, with accelerations if `moving`. 0:
 * they are dependent. */
int fm_reduced_rows(fm_instance *s, int moving)
{
    fm_ends ends = {.joint = -1};
    int fits = 1;
    s->loop.worn = s->loop.near_singular = 0;
    s->reduced.rank = 0;
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        const fm_block *k = s->plan.block + b;
        for (int32_t n = 0; n < k->used; n++) fits = fm_reduced_add_row(s, k->first + k->use[n], moving, &ends) && fits;
    }
    if (!fits) s->loop.worn = 1, s->loop.near_singular = 2;
    return fits;
}

/* The largest entry of G in the rows without a dependent coordinate; `any` 0: among the coordinates chosen before. */
static double find_pivot(const fm_instance *s, int any, int32_t *row, int32_t *column)
{
    const int32_t nu = s->image.n.speeds;
    double most = 0.0;
    for (int32_t q = 0; q < s->reduced.rank; q++) {
        const double *G = s->reduced.G + (size_t)q * (size_t)nu;
        if (s->reduced.column[q] >= 0) continue;
        for (int32_t n = 0; n < nu; n++) {
            if (s->reduced.taken[n] || !(any || s->dependent[n] != 0.0) || !(fabs(G[n]) > most)) continue;
            most = fabs(G[n]), *row = q, *column = n;
        }
    }
    return most;
}

static void eliminate_column(fm_instance *s, int32_t row, int32_t column)
{
    const int32_t nu = s->image.n.speeds;
    double *own = s->reduced.G + (size_t)row * (size_t)nu;
    const double over = 1.0 / own[column];
    for (int32_t n = 0; n < nu; n++) own[n] *= over;
    for (int32_t q = 0; q < s->reduced.rank; q++) {
        double *other = s->reduced.G + (size_t)q * (size_t)nu;
        const double part = other[column];
        if (q == row || part == 0.0) continue;
        for (int32_t n = 0; n < nu; n++) other[n] -= part * own[n];
    }
    s->reduced.column[row] = column;
    s->reduced.taken[column] = 1;
}

/* Divides the coordinates, `any`: by pivots among all of them. 0: those chosen before no longer fit. */
static int divide(fm_instance *s, int any)
{
    const int32_t nu = s->image.n.speeds;
    memcpy(s->reduced.G, s->reduced.Q, (size_t)s->reduced.rank * (size_t)nu * sizeof *s->reduced.G);
    memset(s->reduced.taken, 0, (size_t)nu * sizeof *s->reduced.taken);
    for (int32_t n = 0; n < s->image.n.excitations; n++) s->reduced.taken[s->image.excitation_u[n]] = 1;
    for (int32_t q = 0; q < s->reduced.rank; q++) s->reduced.column[q] = -1;
    for (int32_t n = 0; n < s->reduced.rank; n++) {
        int32_t row = 0, column = 0;
        if (find_pivot(s, any, &row, &column) > FM_NO_PIVOT) eliminate_column(s, row, column);
        else if (!any) return 0;
    }
    s->reduced.frees = 0;
    for (int32_t n = 0; n < nu; n++)
        if (!s->reduced.taken[n]) s->reduced.free[s->reduced.frees++] = n;
    return 1;
}

/* The largest entry of G. */
static double growth(const fm_instance *s)
{
    double most = 0.0;
    for (int32_t q = 0; q < s->reduced.rank; q++)
        for (int32_t j = 0; j < s->reduced.frees; j++)
            most = fmax(most, fabs(s->reduced.G[(size_t)q * (size_t)s->image.n.speeds + (size_t)s->reduced.free[j]]));
    return most;
}

/* Chooses the dependent coordinates afresh for the present Q, and keeps them in the state. */
void fm_reduced_choose(fm_instance *s)
{
    const int32_t nu = s->image.n.speeds;
    (void)divide(s, 1);
    for (int32_t n = 0; n < nu; n++) s->dependent[n] = 0.0;
    for (int32_t q = 0; q < s->reduced.rank; q++)
        if (s->reduced.column[q] >= 0) s->dependent[s->reduced.column[q]] = 1.0;
    s->dependent[nu] = growth(s);
}

/* By the choice in the state; where that does not fit, by another one that is not kept. */
static void use_choice(fm_instance *s)
{
    const double chosen = s->dependent[s->image.n.speeds];
    s->reduced.worn = !divide(s, 0);
    if (s->reduced.worn) (void)divide(s, 1);
    else s->reduced.worn = growth(s) > FM_BADLY_CHOSEN * fmax(chosen, 1.0);
}

/* Column j of N. */
static void make_column(const fm_instance *s, int32_t j, double *x)
{
    const int32_t nu = s->image.n.speeds, own = s->reduced.free[j];
    memset(x, 0, (size_t)nu * sizeof *x);
    x[own] = units(s)[own];
    for (int32_t q = 0; q < s->reduced.rank; q++) {
        const int32_t n = s->reduced.column[q];
        if (n >= 0) x[n] = -units(s)[n] * s->reduced.G[(size_t)q * (size_t)nu + (size_t)own];
    }
}

/* Element j of N' x. */
static double along(const fm_instance *s, int32_t j, const double *x)
{
    const int32_t nu = s->image.n.speeds, own = s->reduced.free[j];
    double sum = units(s)[own] * x[own];
    for (int32_t q = 0; q < s->reduced.rank; q++) {
        const int32_t n = s->reduced.column[q];
        if (n >= 0) sum -= units(s)[n] * s->reduced.G[(size_t)q * (size_t)nu + (size_t)own] * x[n];
    }
    return sum;
}

/* M N and N' M N. */
static void project_mass(fm_instance *s)
{
    const int32_t nu = s->image.n.speeds;
    fm_composite_mass(s);
    for (int32_t j = 0; j < s->reduced.frees; j++) {
        double *M = s->reduced.M + (size_t)j * (size_t)nu;
        make_column(s, j, s->reduced.part);
        memset(M, 0, (size_t)nu * sizeof *M);
        for (int32_t n = 0; n < nu; n++)
            if (s->reduced.part[n] != 0.0) add_times(M, s->reduced.part[n], s->reduced.mass + (size_t)n * (size_t)nu, nu);
        for (int32_t k = 0; k <= j; k++) s->reduced.H[(size_t)j * (size_t)nu + (size_t)k] = along(s, k, M);
    }
}

/* M N, and the factor L of N' M N = L' L: reciprocals on its diagonal. From the last row to the first, as a tree without
 * rows then has no entries but for pairs of a joint and one that carries it. 0: that is not positive definite. Overwrites
 * the accelerations of the links. */
static int factor_mass(fm_instance *s)
{
    const size_t nu = (size_t)s->image.n.speeds;
    project_mass(s);
    for (int32_t k = s->reduced.frees - 1; k >= 0; k--) {
        double *L = s->reduced.H + (size_t)k * nu;
        if (!(L[k] > 0.0)) return 0;
        L[k] = 1.0 / sqrt(L[k]);
        for (int32_t i = 0; i < k; i++) L[i] *= L[k];
        for (int32_t i = 0; i < k; i++)
            if (L[i] != 0.0) add_times(s->reduced.H + (size_t)i * nu, -L[i], L, i + 1);
    }
    return 1;
}

/* z with (N' M N) z = N' (g - M p); g NULL: 0. */
static void find_free(const fm_instance *s, const double *g, const double *p, double *z)
{
    const size_t nu = (size_t)s->image.n.speeds;
    for (int32_t j = 0; j < s->reduced.frees; j++)
        z[j] = (g == NULL ? 0.0 : along(s, j, g)) - product_of(s->reduced.M + (size_t)j * nu, p, (int32_t)nu);
    for (int32_t j = s->reduced.frees - 1; j >= 0; j--) {
        const double *L = s->reduced.H + (size_t)j * nu;
        z[j] *= L[j];
        add_times(z, -z[j], L, j);
    }
    for (int32_t j = 0; j < s->reduced.frees; j++) {
        const double *L = s->reduced.H + (size_t)j * nu;
        z[j] = (z[j] - product_of(L, z, j)) * L[j];
    }
}

/* x with J x = b (loop.rhs) for which x' M x/2 - g' x is least; g NULL: 0. Rows with pivots of less than loop.softening
 * times former ones are left out. */
static void solve(fm_instance *s, const double *g, double *x)
{
    const size_t nu = (size_t)s->image.n.speeds, rows = (size_t)s->image.n.rows;
    double *b = s->reduced.b, *z = s->reduced.x;
    memset(x, 0, nu * sizeof *x);
    for (int32_t q = 0; q < s->reduced.rank; q++) {
        const double *l = s->reduced.L + (size_t)q * rows, *Q = s->reduced.Q + (size_t)q * nu;
        const int32_t i = s->reduced.row[q];
        const int soft = s->reduced.pivot[i] < 2.0 * s->loop.softening * s->row_pivot[i];
        b[q] = soft ? 0.0 : (s->loop.rhs[i] - product_of(l, b, q)) / l[q];
        for (size_t n = 0; n < nu; n++) x[n] += Q[n] * b[q];
    }
    for (size_t n = 0; n < nu; n++) x[n] *= units(s)[n];
    if (g != NULL && s->realised.count > 0) fm_reduced_drive(s, g, x, z);
    else find_free(s, g, x, z);
    for (int32_t j = 0; j < s->reduced.frees; j++) {
        make_column(s, j, s->reduced.part);
        add_times(x, z[j], s->reduced.part, (int32_t)nu);
    }
}

/* -c'' of the rows at the known accelerations, with Baumgarte's terms, in loop.rhs. */
static void make_wanted(fm_instance *s)
{
    const double alpha = s->closure[FM_CLOSURE_ALPHA], beta = s->closure[FM_CLOSURE_BETA];
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        const double *c = s->loop.c + 3 * i;
        s->loop.rhs[i] = -c[2];
        if (s->closure[FM_CLOSURE_CORRECTION] == (double)FM_CORRECT_BAUMGARTE) s->loop.rhs[i] -= 2.0 * alpha * c[1] + beta * beta * c[0];
    }
}

/* The accelerations at y under the generalised forces tau, also in the links; NaN where the rows are dependent. Requires
 * the orientations at y, and with rows the world kinematics. */
void fm_reduced_accelerations(fm_instance *s, const double *y, const double *tau, double *udot)
{
    const int32_t nu = s->image.n.speeds;
    double *known = s->reduced.known, *g = s->reduced.force, *x = s->reduced.udot;
    const double *forces = fm_linked_forces(s, tau);
    for (int32_t u = 0; u < nu; u++) s->reduced.tau[u] = forces[u], known[u] = 0.0;
    for (int32_t n = 0; n < s->image.n.excitations; n++) known[s->image.excitation_u[n]] = s->reduced.tau[s->image.excitation_u[n]];
    fm_inverse_place(s, y);
    fm_inverse_accelerations(s, known, 1);
    fm_inverse_forces(s, known, 1, g);
    for (int32_t n = 0; n < nu; n++) g[n] = s->reduced.tau[n] - g[n];
    s->work.accelerated = known;
    int fits = s->plan.blocks == 0 || fm_reduced_rows(s, 1);
    use_choice(s);
    make_wanted(s);
    fits = fits && factor_mass(s) && (s->realised.count == 0 || fm_reduced_oppose(s));
    if (fits) solve(s, g, x);
    for (int32_t n = 0; n < nu; n++) x[n] = fits ? x[n] + known[n] : NAN;
    fm_inverse_accelerations(s, x, 1);
    for (int32_t u = 0; u < nu; u++) udot[u] = x[u];
    fm_from_links(s, udot);
    s->work.accelerated = udot;
}

/* Q and L of the rows along which multipliers act: J's, or drives in place of the programs that they realise. */
static const double *acting_rows(const fm_instance *s)
{
    return s->realised.count > 0 ? s->realised.Q : s->reduced.Q;
}

static const double *acting_triangle(const fm_instance *s)
{
    return s->realised.count > 0 ? s->realised.triangle : s->reduced.L;
}

/* Solves J' out = force for these rows, force in units of the coordinates. */
static void balance(fm_instance *s, const double *force, double *out)
{
    const size_t nu = (size_t)s->image.n.speeds, rows = (size_t)s->image.n.rows;
    const double *Q = acting_rows(s), *L = acting_triangle(s);
    double *b = s->reduced.b;
    memset(out, 0, rows * sizeof *out);
    for (int32_t q = s->reduced.rank - 1; q >= 0; q--) {
        b[q] = product_of(Q + (size_t)q * nu, force, (int32_t)nu);
        for (int32_t p = q + 1; p < s->reduced.rank; p++) b[q] -= L[(size_t)p * rows + (size_t)q] * b[p];
        b[q] /= L[(size_t)q * rows + (size_t)q];
        out[s->reduced.row[q]] = b[q];
    }
}

/* The forces that the last accelerations take beside the applied ones, in reduced.force, in units of the coordinates.
 * Returns the largest of either. */
static double missing_forces(fm_instance *s)
{
    double *force = s->reduced.force, most = 0.0;
    fm_inverse_forces(s, s->reduced.udot, 1, force);
    for (int32_t n = 0; n < s->image.n.speeds; n++) {
        most = fmax(most, units(s)[n] * fmax(fabs(force[n]), fabs(s->reduced.tau[n])));
        force[n] = (force[n] - s->reduced.tau[n]) * units(s)[n];
    }
    for (int32_t n = 0; n < s->image.n.excitations; n++) force[s->image.excitation_u[n]] = 0.0;
    return most;
}

/* The multipliers of the last accelerations, in loop.lambda, from the forces that these take. */
void fm_reduced_multipliers(fm_instance *s)
{
    if (s->image.n.rows == 0) return;
    (void)missing_forces(s);
    balance(s, s->reduced.force, s->loop.lambda);
}

/* The largest multiplier, weighted so that forces and torques are comparable. */
static double largest_multiplier(const fm_instance *s, const double *lambda)
{
    double most = 0.0;
    for (int32_t i = 0; i < s->image.n.rows; i++) most = fmax(most, sqrt(s->row_pivot[i]) * fabs(lambda[i]));
    return most;
}

/* Whether the distance x from the singular position has digits that are not round-off. */
static int is_distant(const fm_instance *s)
{
    if (s->loop.near_singular == 2) return 0;
    for (int32_t q = 0; q < s->reduced.rank; q++)
        if (s->reduced.pivot[s->reduced.row[q]] < FM_THERE * s->row_pivot[s->reduced.row[q]]) return 0;
    return 1;
}

/* Gives the links the accelerations udot, which were interpolated near a singular position with the relative error
 * `noise`, and the rows the multipliers lambda. If these leave more than the noise of the forces that udot takes, more of
 * them grows as 1/x: it is added, unless noise divided by x is too large a part of all; then they are NaN. Requires an
 * evaluation at the same state. */
void fm_reduced_show(fm_instance *s, const double *udot, const double *lambda, double noise)
{
    const size_t nu = (size_t)s->image.n.speeds, rows = (size_t)s->image.n.rows;
    double *force = s->reduced.force, *more = s->loop.rhs, off = 0.0;
    const double *Q = acting_rows(s), *L = acting_triangle(s);
    memcpy(s->reduced.udot, fm_linked_forces(s, udot), nu * sizeof *udot);
    fm_inverse_accelerations(s, s->reduced.udot, 1);
    noise *= missing_forces(s);
    for (int32_t p = 0; p < s->reduced.rank; p++) {
        double along_p = 0.0;
        for (int32_t q = p; q < s->reduced.rank; q++) along_p += L[(size_t)q * rows + (size_t)p] * lambda[s->reduced.row[q]];
        for (size_t n = 0; n < nu; n++) force[n] -= along_p * Q[(size_t)p * nu + n];
    }
    for (size_t n = 0; n < nu; n++) off = fmax(off, fabs(force[n]));
    memcpy(s->loop.lambda, lambda, rows * sizeof *lambda);
    if (off <= noise) return;
    balance(s, force, more);
    for (size_t i = 0; i < rows; i++) s->loop.lambda[i] += more[i];
    if (is_distant(s) && noise * largest_multiplier(s, more) <= FM_SURE * off * largest_multiplier(s, s->loop.lambda)) return;
    for (size_t i = 0; i < rows; i++) s->loop.lambda[i] = s->row_active[i] > 0.0 ? NAN : 0.0;
}

/* Rows, coordinates and masses at y, with the violations in loop.c. Requires placed links. 0: singular. */
int fm_reduced_factor(fm_instance *s, const double *y)
{
    fm_inverse_place(s, y);
    const int fits = fm_reduced_rows(s, 0);
    use_choice(s);
    return fits && factor_mass(s);
}

/* The change of velocities, or of positions in terms of these, that is smallest in the mass norm and changes each row in
 * use by what is wanted in loop.rhs. Requires the factor. */
void fm_reduced_change(fm_instance *s, double *change)
{
    solve(s, NULL, change);
    fm_from_links(s, change);
}
