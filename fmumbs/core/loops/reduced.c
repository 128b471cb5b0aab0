/* reduced.c: the reduced formulation (copcod): accelerations and corrections without K and without multipliers.
 *
 * The rows in use, in units of the coordinates, are J = L Q with orthonormal rows Q and triangular L; N are orthonormal
 * motions beside them, J N = 0, as many as independent velocities: u = N u_i are the motions that the constraints
 * allow. Both are columns of H, a product of reflections (reflections.c). Of all x with J x = b that one is found for
 * which x' M x/2 - g' x is least, x = p + N z,   p = Q' L^-1 b,   (N' M N) z = N' (g - M p), of which N' M N and N' M
 * Q' are parts of H' M H. Accelerations are x + (those of excited modes) with b = -c'' and g = tau - (M udot - h), both
 * at these alone, so that N' (M udot - h - Q) = 0,   J udot = -c''_0; a correction of positions or velocities is x with
 * b = -c and g = 0, the smallest in the mass norm. M comes from composite bodies (tree/composite.c), h from inverse
 * dynamics (tree/inverse.c); with the inertias R of motion/stiffness.c, M stands for M + R. For outputs multipliers
 * follow from the accelerations, J' lambda = M udot - h - Q. Forces of drives that realise programs are eliminated by
 * another matrix in place of N' (reduced_drives.c). The squares of L's diagonal are the pivots of J J': they measure
 * the distance from singular positions, as those of K do elsewhere (reduced_choice.c).
 */
#include "reduced.h"

#include "../instance/instance.h"
#include "../maths/cholesky.h"
#include "../maths/products.h"
#include "../maths/reflections.h"
#include "../maths/vectors.h"
#include "../tree/composite.h"
#include "../tree/inverse.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "constraints.h"
#include "jacobian.h"
#include "multipliers.h"
#include "reduced_drives.h"
#include "scratch.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FM_ROW_SINGULAR 1e-26 /* fraction of a row's square below which its pivot counts as zero */

#define FM_MOST_EXPLAINED 1e-4 /* part of the multipliers that round-off may explain near a singular position */
/* least root of a pivot, beside its row or the row's unit, which are right to some round-offs */
#define FM_LEAST_ROOT (16.0 * DBL_EPSILON / FM_MOST_EXPLAINED)

static const double *units(const fm_instance *s)
{
    return s->scale + s->image.n.positions;
}

/* Row i: its violations in loop.c, its wrench, and J on its block's path, in units of the coordinates and without
 * excited modes. Returns the square of J. */
double fm_reduced_row(fm_instance *s, const fm_block *k, int32_t i, int moving, fm_ends *ends, double *J)
{
    const int32_t *path = s->plan.path + k->path;
    double square = 0.0;
    fm_constraint one;
    fm_constraint_at(s, i, moving, ends, &one);
    memcpy(s->loop.c + 3 * i, one.c, sizeof one.c);
    memcpy(s->loop.wrench + 6 * i, one.torque, sizeof one.torque);
    memcpy(s->loop.wrench + 6 * i + 3, one.force, sizeof one.force);
    (void)fm_row_along(s, i, &one, J, NULL);
    for (int32_t n = 0; n < s->image.n.excitations; n++) J[s->image.excitation_u[n]] = 0.0;
    for (int32_t e = 0; e < k->length; e++) {
        J[path[e]] *= units(s)[path[e]];
        square += J[path[e]] * J[path[e]];
    }
    return square;
}

/* Notes how a row's pivot compares with its former value; with loop.softening it is at least that fraction of it. */
static double judge(fm_instance *s, int32_t i, double left)
{
    if (left < FM_WORN * s->row_pivot[i]) s->loop.worn = 1;
    if (left < FM_NARROW_REDUCED * s->row_pivot[i]) s->loop.near_singular = 1;
    return s->reduced.pivot[i] = left + s->loop.softening * s->row_pivot[i];
}

/* Adds row i, of a block, to L and Q. 0: it depends on those before it. */
int fm_reduced_add_row(fm_instance *s, const fm_block *k, int32_t i, int moving, fm_ends *ends)
{
    fm_reflections *r = &s->reduced.rows;
    const int32_t at = r->rank;
    double *J = s->loop.row;
    const double square = fm_reduced_row(s, k, i, moving, ends, J);
    const double pivot = judge(s, i, fm_reflect_row(r, J, s->plan.path + k->path, k->length));
    r->L[(size_t)at * ((size_t)r->rows + 1)] = sqrt(pivot);
    s->reduced.row[at] = i;
    return pivot > FM_ROW_SINGULAR * square;
}

/* L and Q of the active rows, in the order of the blocks. Requires world kinematics, with accelerations if `moving`. 0:
 * they are dependent. */
int fm_reduced_rows(fm_instance *s, int moving)
{
    fm_ends ends = {.joint = -1};
    int fits = 1;
    s->loop.worn = s->loop.near_singular = 0;
    fm_reflect_begin(&s->reduced.rows, s->image.excitation_u, s->image.n.excitations);
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        const fm_block *k = s->plan.block + b;
        for (int32_t n = 0; n < k->used; n++)
            fits = fm_reduced_add_row(s, k, k->first + k->use[n], moving, &ends) && fits;
    }
    if (!fits) s->loop.worn = 1, s->loop.near_singular = 2;
    return fits;
}

/* H' M H as a whole. */
static void reflect_mass(fm_instance *s)
{
    const size_t nu = (size_t)s->image.n.speeds;
    double *M = s->reduced.M;
    for (size_t n = 0; n < nu; n++)
        for (size_t k = 0; k < nu; k++) M[n * nu + k] = units(s)[n] * s->reduced.mass[n * nu + k] * units(s)[k];
    fm_reflect_both(&s->reduced.rows, M, s->reduced.part);
}

/* Its row H' M N for one column of N. */
static void reflect_motion(fm_instance *s, int32_t own)
{
    const int32_t nu = s->image.n.speeds;
    double *N = s->reduced.part, *M = s->reduced.M + (size_t)own * (size_t)nu;
    memset(N, 0, (size_t)nu * sizeof *N), memset(M, 0, (size_t)nu * sizeof *M);
    N[own] = 1.0;
    fm_reflect_back(&s->reduced.rows, N);
    for (int32_t n = 0; n < nu; n++)
        if (N[n] != 0.0) fm_add_times(M, units(s)[n] * N[n], s->reduced.mass + (size_t)n * (size_t)nu, nu);
    for (int32_t n = 0; n < nu; n++) M[n] *= units(s)[n];
    fm_reflect_to(&s->reduced.rows, M);
}

/* N' H' M H and N' M N: by each motion where these are few, or by each reflection. */
static void project_mass(fm_instance *s)
{
    const size_t nu = (size_t)s->image.n.speeds;
    double entries = 0.0;
    fm_composite_mass(s);
    s->reduced.frees = 0;
    for (int32_t n = 0; n < s->image.n.speeds; n++)
        if (!s->reduced.rows.taken[n]) s->reduced.free[s->reduced.frees++] = n;
    for (int32_t q = 0; q < s->reduced.rows.rank; q++) entries += 4.0 * s->reduced.rows.count[q];
    const int few = s->reduced.frees * (entries + (double)(nu * nu)) < (double)(nu * nu) + entries * (double)nu;
    if (!few) reflect_mass(s);
    for (int32_t j = 0; j < s->reduced.frees; j++) {
        const int32_t own = s->reduced.free[j];
        if (few) reflect_motion(s, own);
        for (int32_t k = 0; k <= j; k++)
            s->reduced.N[(size_t)j * nu + (size_t)k] = s->reduced.M[(size_t)own * nu + (size_t)s->reduced.free[k]];
    }
}

/* H' M H, and the factor of N' M N. 0: that is not positive definite. Overwrites the accelerations of the links. */
static int factor_mass(fm_instance *s)
{
    project_mass(s);
    return fm_cholesky_factor(s->reduced.N, s->reduced.frees, s->image.n.speeds);
}

/* z with (N' M N) z = N' (g - M p), p = Q' b; g NULL: 0. */
static void find_free(fm_instance *s, const double *g, const double *b, double *z)
{
    const size_t nu = (size_t)s->image.n.speeds;
    const fm_reflections *r = &s->reduced.rows;
    double *part = s->reduced.part;
    for (size_t n = 0; n < nu; n++) part[n] = g == NULL ? 0.0 : units(s)[n] * g[n];
    if (g != NULL) fm_reflect_to(r, part);
    for (int32_t j = 0; j < s->reduced.frees; j++) {
        const double *M = s->reduced.M + (size_t)s->reduced.free[j] * nu;
        z[j] = part[s->reduced.free[j]];
        for (int32_t q = 0; q < r->rank; q++)
            if (r->pivot[q] >= 0) z[j] -= M[r->pivot[q]] * b[q];
    }
    fm_cholesky_solve(s->reduced.N, s->reduced.frees, s->image.n.speeds, z);
}

/* x with J x = b (loop.rhs) for which x' M x/2 - g' x is least; g NULL: 0. Rows with pivots of less than loop.softening
 * times former ones are left out. */
static void solve(fm_instance *s, const double *g, double *x)
{
    const size_t nu = (size_t)s->image.n.speeds, rows = (size_t)s->image.n.rows;
    const fm_reflections *r = &s->reduced.rows;
    double *b = s->reduced.b, *z = s->reduced.x;
    for (int32_t q = 0; q < r->rank; q++) {
        const double *l = r->L + (size_t)q * rows;
        const int32_t i = s->reduced.row[q];
        const int soft = s->reduced.pivot[i] < 2.0 * s->loop.softening * s->row_pivot[i];
        b[q] = soft ? 0.0 : (s->loop.rhs[i] - fm_product_in_four(l, b, q)) / l[q];
    }
    if (g != NULL && s->realised->count > 0) fm_reduced_drive(s, g, b, z);
    else find_free(s, g, b, z);
    memset(x, 0, nu * sizeof *x);
    for (int32_t q = 0; q < r->rank; q++)
        if (r->pivot[q] >= 0) x[r->pivot[q]] = b[q];
    for (int32_t j = 0; j < s->reduced.frees; j++) x[s->reduced.free[j]] = z[j];
    fm_reflect_back(r, x);
    for (size_t n = 0; n < nu; n++) x[n] *= units(s)[n];
}

/* -c'' of the rows at the known accelerations, with Baumgarte's terms, in loop.rhs. */
static void make_wanted(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.rhs[i] = fm_wanted_of_row(s, s->loop.c + 3 * i);
}

/* The accelerations at y under the generalised forces tau, also in the links; NaN where the rows are dependent.
 * Requires the orientations at y, and with rows the world kinematics. */
void fm_reduced_accelerations(fm_instance *s, const double *y, const double *tau, double *udot)
{
    const int32_t nu = s->image.n.speeds;
    double *known = s->reduced.known, *g = s->reduced.force, *x = s->reduced.udot;
    const double *forces = fm_linked_forces(s, tau);
    for (int32_t u = 0; u < nu; u++) s->reduced.tau[u] = forces[u], known[u] = 0.0;
    for (int32_t n = 0; n < s->image.n.excitations; n++)
        known[s->image.excitation_u[n]] = s->reduced.tau[s->image.excitation_u[n]];
    fm_inverse_place(s, y);
    fm_inverse_accelerations(s, known, 1);
    fm_inverse_forces(s, known, 1, g);
    for (int32_t n = 0; n < nu; n++) g[n] = s->reduced.tau[n] - g[n];
    s->work.accelerated = known;
    int fits = fm_reduced_rows(s, 1);
    make_wanted(s);
    s->loop.factored = 1;
    fits = fits && factor_mass(s) && (s->realised->count == 0 || fm_reduced_oppose(s));
    if (fits) solve(s, g, x);
    for (int32_t n = 0; n < nu; n++) x[n] = fits ? x[n] + known[n] : NAN;
    fm_inverse_accelerations(s, x, 1);
    for (int32_t u = 0; u < nu; u++) udot[u] = x[u];
    fm_from_links(s, udot);
    s->work.accelerated = udot;
}

/* The rows along which multipliers act: J's, or drives in place of the programs that they realise. */
static const fm_reflections *acting_rows(const fm_instance *s)
{
    return s->realised->count > 0 ? &s->realised->rows : &s->reduced.rows;
}

/* Solves J' out = force for these rows, force in units of the coordinates, overwritten. */
static void balance(fm_instance *s, double *force, double *out)
{
    const fm_reflections *r = acting_rows(s);
    memset(out, 0, (size_t)s->image.n.rows * sizeof *out);
    fm_reflect_solve(r, force, s->reduced.b);
    for (int32_t q = 0; q < r->rank; q++) out[s->reduced.row[q]] = s->reduced.b[q];
}

/* The forces that the last accelerations take beside the applied ones, in reduced.force, in units of the coordinates.
 * Returns the size of what they are sums of, which may be far larger: the wrenches through the joints, and the applied
 * forces. */
static double missing_forces(fm_instance *s)
{
    double *force = s->reduced.force, most = 0.0;
    fm_inverse_forces(s, s->reduced.udot, 1, force);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const double *w = s->reduced.wrench + 6 * i;
        most = fmax(most, sqrt(dot(w, w)) + s->image.length[0] * sqrt(dot(w + 3, w + 3)));
    }
    for (int32_t n = 0; n < s->image.n.speeds; n++) {
        most = fmax(most, units(s)[n] * fabs(s->reduced.tau[n]));
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

/* The accelerations udot and multipliers that forces on the velocity variables, in terms of links, add to those of the
 * last evaluation; also in the links. */
void fm_reduced_response(fm_instance *s, const double *forces, double *lambda, double *udot)
{
    const size_t nu = (size_t)s->image.n.speeds;
    double *missing = s->reduced.force;
    memset(s->loop.rhs, 0, (size_t)s->image.n.rows * sizeof *s->loop.rhs);
    solve(s, forces, udot);
    fm_inverse_accelerations(s, udot, 0);
    for (size_t n = 0; s->image.n.rows > 0 && n < nu; n++)
        missing[n] = (fm_product_in_four(s->reduced.mass + n * nu, udot, s->image.n.speeds) - forces[n]) * units(s)[n];
    for (int32_t n = 0; n < s->image.n.excitations; n++) missing[s->image.excitation_u[n]] = 0.0;
    if (s->image.n.rows > 0) balance(s, missing, lambda);
    fm_from_links(s, udot);
}

/* The largest multiplier, weighted so that forces and torques are comparable. */
static double largest_multiplier(const fm_instance *s, const double *lambda)
{
    double most = 0.0;
    for (int32_t i = 0; i < s->image.n.rows; i++) most = fmax(most, sqrt(s->row_pivot[i]) * fabs(lambda[i]));
    return most;
}

/* Whether the distance x from the singular position, to which the root of a pivot is proportional, has digits that are
 * not round-off. */
static int is_distant(const fm_instance *s)
{
    const fm_reflections *r = &s->reduced.rows;
    fm_ends ends = {.joint = -1};
    if (s->loop.near_singular == 2) return 0;
    for (int32_t q = 0; q < r->rank; q++) {
        const double *l = r->L + (size_t)q * (size_t)r->rows;
        fm_constraint one;
        fm_constraint_at(s, s->reduced.row[q], 0, &ends, &one);
        const double unit = fm_row_unit(s, s->reduced.row[q], &one);
        if (!(l[q] > FM_LEAST_ROOT * fmax(unit, sqrt(fm_product_in_four(l, l, q + 1))))) return 0;
    }
    return 1;
}

/* Gives the links the accelerations udot, which were interpolated near a singular position with the relative error
 * `noise`, and the rows the multipliers lambda. If these leave more than the noise of the forces that udot takes, more
 * of them grows as 1/x: it is added, unless noise divided by x is too large a part of all; then they are NaN. Requires
 * an evaluation at the same state. */
void fm_reduced_show(fm_instance *s, const double *udot, const double *lambda, double noise)
{
    const size_t nu = (size_t)s->image.n.speeds, rows = (size_t)s->image.n.rows;
    const fm_reflections *r = acting_rows(s);
    double *force = s->reduced.force, *part = s->reduced.part, *more = s->loop.rhs, off = 0.0;
    memcpy(s->reduced.udot, fm_linked_forces(s, udot), nu * sizeof *udot);
    fm_inverse_accelerations(s, s->reduced.udot, 1);
    noise *= missing_forces(s);
    for (int32_t q = 0; q < r->rank; q++) s->reduced.b[q] = lambda[s->reduced.row[q]];
    fm_reflect_multiply(r, s->reduced.b, part);
    for (size_t n = 0; n < nu; n++) force[n] -= part[n];
    for (size_t n = 0; n < nu; n++) off = fmax(off, fabs(force[n]));
    memcpy(s->loop.lambda, lambda, rows * sizeof *lambda);
    if (off <= noise) return;
    balance(s, force, more);
    for (size_t i = 0; i < rows; i++) s->loop.lambda[i] += more[i];
    if (is_distant(s) &&
        noise * largest_multiplier(s, more) <= FM_MOST_EXPLAINED * off * largest_multiplier(s, s->loop.lambda))
        return;
    for (size_t i = 0; i < rows; i++) s->loop.lambda[i] = s->row_active[i] > 0.0 ? NAN : 0.0;
}

/* Rows and masses at y, with the violations in loop.c. Requires placed links. 0: singular. */
int fm_reduced_factor(fm_instance *s, const double *y)
{
    fm_inverse_place(s, y);
    return fm_reduced_rows(s, 0) && factor_mass(s);
}

/* The change of velocities, or of positions in terms of these, that is smallest in the mass norm and changes each row
 * in use by what is wanted in loop.rhs. Requires the factor. */
void fm_reduced_change(fm_instance *s, double *change)
{
    solve(s, NULL, change);
    fm_from_links(s, change);
}

/* The same in loop.change, with the multipliers that make it in loop.lambda. */
void fm_reduced_answer(fm_instance *s)
{
    const size_t nu = (size_t)s->image.n.speeds;
    double *missing = s->reduced.force, *x = s->loop.change;
    solve(s, NULL, x);
    for (size_t n = 0; n < nu; n++)
        missing[n] = fm_product_in_four(s->reduced.mass + n * nu, x, s->image.n.speeds) * units(s)[n];
    for (int32_t n = 0; n < s->image.n.excitations; n++) missing[s->image.excitation_u[n]] = 0.0;
    fm_reflect_solve(&s->reduced.rows, missing, s->reduced.b);
    memset(s->loop.lambda, 0, (size_t)s->image.n.rows * sizeof *s->loop.lambda);
    for (int32_t q = 0; q < s->reduced.rows.rank; q++) s->loop.lambda[s->reduced.row[q]] = s->reduced.b[q];
    fm_from_links(s, x);
}
