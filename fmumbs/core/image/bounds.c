/* bounds.c: what values parameters may take: the bounds of each (variables.h), and the rules on several of them.
 *
 * Python's elements, fm_set and the checks before a step all ask here. The moments of a solid about its principal axes
 * are J1 <= J2 <= J3 with J1 >= 0 and J1 + J2 >= J3, by Jacobi's rotations (Golub and Van Loan, Matrix
 * Computations, 8.5).
 */
#include "bounds.h"

#include "../maths/text.h"
#include "kinds.h"

#include <float.h>
#include <math.h>

#define FM_ROUNDED 1e-9 /* of given numbers: of an inertia's moments, and of a matrix with ones on the diagonal */

/* Each rotation takes the largest of the three entries beside the diagonal, so that the sum of their squares falls to
 * 2/3: by (2 DBL_EPSILON)^2 = 2e-31 in at most 175. It converges quadratically long before. */
#define FM_MOST_ROTATIONS 175

/* Returns whether zero is excluded. */
static int bounds_of(int32_t kind, int diagonal, double *lower, double *upper)
{
    *lower = -FM_LARGEST, *upper = FM_LARGEST;
    switch (kind) {
#define B(id, entries, least, greatest)                                                  \
    case FM_##id:                                                                        \
        if (entries != FM_DIAGONAL || diagonal) *lower = least, *upper = greatest;       \
        return entries == FM_NOT_ZERO;
        FM_BOUNDS(B)
#undef B
    default: return 0;
    }
}

/* Whether a variable of this kind may have a value; `diagonal`: of the entries of a matrix, one on its diagonal. If
 * not, `why` has the bound, and after a colon the fix. */
int fm_fits(int32_t kind, int diagonal, double value, char *why, size_t capacity)
{
    double lower, upper;
    const int not_zero = bounds_of(kind, diagonal, &lower, &upper);
    const int whole = fm_kinds[kind].type == FM_INTEGER;
    if (!isfinite(value)) {
        (void)fm_print(why, capacity, "it must be a finite number: give one");
        return 0;
    }
    if (fm_kinds[kind].causality != FM_PARAMETER) return 1;
    if (fabs(value) < DBL_MIN) value = 0.0;
    if (not_zero && fabs(value) < FM_LEAST) {
        (void)fm_print(why, capacity, "it must not be zero: give a number of at least %g either way", FM_LEAST);
        return 0;
    }
    if (value >= lower && value <= upper && (!whole || value == floor(value))) return 1;
    if (whole)
        (void)fm_print(why, capacity, "it must be a whole number from %g to %g: choose one, %s", lower, upper,
                       fm_kinds[kind].description);
    else if (value > upper)
        (void)fm_print(why, capacity, "it must be at most %g: give a number from %g to %g", upper, lower, upper);
    else if (upper < FM_LARGEST)
        (void)fm_print(why, capacity, "it must be at least %g: give a number from %g to %g", lower, lower, upper);
    else if (lower == FM_LEAST)
        (void)fm_print(why, capacity, "it must be positive, at least %g: give a positive number", lower);
    else if (lower == 0.0) (void)fm_print(why, capacity, "it must be at least 0: give zero or a positive number");
    else (void)fm_print(why, capacity, "it must be at least %g: give %g or more", lower, lower);
    return 0;
}

/* Whether all values of some arrays are in their bounds; if not, `why` names the array. */
int fm_all_fit(const fm_bounded_array *array, size_t count, char *why, size_t capacity)
{
    char bound[200];
    for (size_t a = 0; a < count; a++)
        for (int32_t i = 0; i < array[a].rows * array[a].columns; i++) {
            if (fm_fits(array[a].kind, i % array[a].columns < array[a].diagonal, array[a].value[i], bound,
                        sizeof bound))
                continue;
            (void)fm_print(why, capacity, "%s has the value %.9g, and %s", array[a].name, array[a].value[i], bound);
            return 0;
        }
    return 1;
}

/* Rotates entry (p, q) of a symmetric matrix to zero; r: the third index. */
static void rotate(double a[3][3], int p, int q, int r)
{
    const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0), s = t * c, rp = a[r][p], rq = a[r][q];
    a[p][p] -= t * a[p][q];
    a[q][q] += t * a[p][q];
    a[p][q] = a[q][p] = 0.0;
    a[r][p] = a[p][r] = c * rp - s * rq;
    a[r][q] = a[q][r] = s * rp + c * rq;
}

/* Ascending, of an inertia xx yy zz xy xz yz. */
static void principal_moments(const double inertia[6], double moment[3])
{
    double a[3][3] = {{inertia[0], inertia[3], inertia[4]},
                      {inertia[3], inertia[1], inertia[5]},
                      {inertia[4], inertia[5], inertia[2]}};
    double size = 0.0;
    for (int i = 0; i < 6; i++) size = fabs(inertia[i]) > size ? fabs(inertia[i]) : size;
    for (int i = 0; i < FM_MOST_ROTATIONS; i++) {
        const double xy = fabs(a[0][1]), xz = fabs(a[0][2]), yz = fabs(a[1][2]);
        if (!(xy > DBL_EPSILON * size || xz > DBL_EPSILON * size || yz > DBL_EPSILON * size)) break;
        if (xy >= xz && xy >= yz) rotate(a, 0, 1, 2);
        else if (xz >= yz) rotate(a, 0, 2, 1);
        else rotate(a, 1, 2, 0);
    }
    for (int i = 0; i < 3; i++) moment[i] = a[i][i];
    for (int i = 0; i < 3; i++) { /* three exchanges of neighbours sort them */
        const int k = i % 2;
        const double low = moment[k] < moment[k + 1] ? moment[k] : moment[k + 1];
        moment[k + 1] = moment[k] < moment[k + 1] ? moment[k + 1] : moment[k];
        moment[k] = low;
    }
}

/* Whether some solid has this inertia xx yy zz xy xz yz; of a measured one, whether its moments are not negative. */
int fm_solid_fits(const double inertia[6], int measured, char *why, size_t capacity)
{
    double J[3];
    principal_moments(inertia, J);
    const double slack = FM_ROUNDED * (fabs(J[0]) > fabs(J[2]) ? fabs(J[0]) : fabs(J[2]));
    if (!(J[0] >= -slack)) {
        (void)fm_print(
            why, capacity,
            "it has the principal moments %g, %g, %g, one of them negative: give positive moments about the centre of "
            "mass, or smaller products of inertia",
            J[0], J[1], J[2]);
        return 0;
    }
    if (measured || J[0] + J[1] >= J[2] - slack) return 1;
    (void)fm_print(
        why, capacity,
        "it has the principal moments %g, %g, %g, and %g + %g is less than %g, which no solid has: correct it, or "
        "give the model's body measured=True for identified data",
        J[0], J[1], J[2], J[0], J[1], J[2]);
    return 0;
}

/* Whether a symmetric matrix of n rows has an eigenvalue below that of round-off, relative to its diagonal: by the
 * pivots of its scaled form. Overwrites it. */
int fm_has_negative(double *a, int32_t n)
{
    double root[6] = {0.0};
    if (n > 6) return 1;
    for (int32_t i = 0; i < n; i++) {
        if (!(a[i * n + i] >= 0.0)) return 1;
        root[i] = sqrt(a[i * n + i]);
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            double *at = a + i * n + j;
            if (i == j) *at = 1.0 + FM_ROUNDED;
            else if (*at != 0.0 && !(root[i] * root[j] > 0.0)) return 1;
            else if (*at != 0.0) *at /= root[i] * root[j];
        }
    for (int32_t k = 0; k < n; k++) {
        if (!(a[k * n + k] > 0.0)) return 1;
        for (int32_t i = k + 1; i < n; i++)
            for (int32_t j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j] / a[k * n + k];
    }
    return 0;
}
