/* dual.c: the directions of wrenches along a joint's modes (the dual basis).
 *
 * The wrench that acts on the free modes Phi consists of a torque along the directions in which the joint rotates and a
 * force along those in which it translates without rotating: this does not depend on the unit of length, and a torque
 * that drives a screw is a pure torque. With B these directions, forces lambda along the modes are the wrench B (Phi'
 * B)^-1 lambda (motion/reactions.c).
 */
#include "dual.h"

#include "../maths/vectors.h"
#include "../instance/instance.h"

#include <math.h>
#include <string.h>

static double norm(const double *v)
{
    return sqrt(dot(v, v));
}

/* Orthonormalises the directions of n 3-vectors in rows of six, from element `first` on, mixing whole rows, longest
 * first, each times its unit. Returns the rank; the remaining rows have no such part, compared with `most`. */
static int32_t make_directions(double (*rows)[6], double *unit, int32_t n, int first, double most, double (*out)[3])
{
    int32_t rank = 0;
    double length[FM_JOINT_MODES];
    for (int32_t i = 0; i < n; i++) length[i] = norm(rows[i] + first);
    for (; rank < n; rank++) {
        int32_t best = rank;
        for (int32_t i = rank + 1; i < n; i++)
            if (length[i] * unit[i] > length[best] * unit[best]) best = i;
        const double longest = length[best] * unit[best], own = length[best];
        most = longest > most ? longest : most;
        if (!(longest > 1e-9 * most)) break;
        unit[best] = unit[rank], length[best] = length[rank];
        for (int c = 0; c < 6; c++) {
            const double swap = rows[best][c] / own;
            rows[best][c] = rows[rank][c];
            rows[rank][c] = swap;
        }
        const double *e = memcpy(out[rank], rows[rank] + first, 3 * sizeof(double));
        for (int32_t i = rank + 1; i < n; i++) {
            const double along = dot(rows[i] + first, e);
            if (along == 0.0) continue;
            for (int c = 0; c < 6; c++) rows[i][c] -= along * rows[rank][c];
            length[i] = norm(rows[i] + first);
        }
    }
    return rank;
}

/* Solves A x = b by elimination; if A is singular some x are zero. row, column: units by which elements are divided and
 * multiplied for a comparison. Rows are treated in full length, as their ends are not read again. */
static void solve(double (*A)[FM_JOINT_MODES], double *b, int32_t n, double *row, const double *column)
{
    int32_t pivot_of[FM_JOINT_MODES];
    double most = 0.0;
    for (int32_t c = 0; c < n; c++) {
        int32_t p = c;
        double largest = fabs(A[c][c]) / row[c];
        for (int32_t i = c + 1; i < n; i++) {
            const double size = fabs(A[i][c]) / row[i];
            if (size > largest) p = i, largest = size;
        }
        for (int32_t j = 0; p != c && j < FM_JOINT_MODES; j++) {
            const double swap = A[c][j];
            A[c][j] = A[p][j], A[p][j] = swap;
        }
        const double swap = b[c], unit = row[c];
        b[c] = b[p], b[p] = swap;
        row[c] = row[p], row[p] = unit;
        const double pivot = largest * column[c];
        most = pivot > most ? pivot : most;
        pivot_of[c] = pivot > 1e-9 * most;
        for (int32_t i = c + 1; pivot_of[c] && i < n; i++) {
            if (A[i][c] == 0.0) continue;
            const double less = A[i][c] / A[c][c];
            for (int32_t j = 0; j < FM_JOINT_MODES; j++) A[i][j] -= less * A[c][j];
            b[i] -= less * b[c];
        }
    }
    for (int32_t c = n - 1; c >= 0; c--) {
        for (int32_t j = c + 1; j < n; j++) b[c] -= A[c][j] * b[j];
        b[c] = pivot_of[c] ? b[c] / A[c][c] : 0.0;
    }
}

/* The directions for n modes. 0: the modes are dependent. */
int fm_make_dual(const fm_instance *s, double (*phi)[6], int32_t n, fm_dual *d)
{
    double rows[FM_JOINT_MODES][6], unit[FM_JOINT_MODES];
    memcpy(rows, phi, sizeof rows);
    double far = 0.0; /* translation whose rotation is only round-off */
    d->n = n;
    d->length = s->image.length[0];
    for (int32_t i = 0; i < n; i++) {
        const double *v = phi[i] + 3, length = sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
        d->unit[i] = unit[i] = dot(phi[i], phi[i]) > 0.0 ? 1.0 : d->length;
        far = length * unit[i] > far ? length * unit[i] : far;
    }
    d->turning = make_directions(rows, unit, n, 0, far / d->length, d->along);
    const int32_t turning = d->turning,
                  sliding = make_directions(rows + turning, unit + turning, n - turning, 3, 0.0, d->along + turning);
    for (int32_t j = 0; j < n; j++) {
        const int first = j < turning ? 0 : 3;
        for (int32_t i = 0; i < n; i++) d->A[i][j] = dot(phi[i] + first, d->along[j]);
    }
    return d->turning + sliding == n;
}

/* x: forces along the modes, replaced by their wrench. */
void fm_dual_wrench(const fm_dual *d, double x[6])
{
    double A[FM_JOINT_MODES][FM_JOINT_MODES], wrench[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    double mode[FM_JOINT_MODES] = {0.0}, direction[FM_JOINT_MODES] = {0.0};
    memcpy(A, d->A, sizeof A);
    for (int32_t i = 0; i < d->n; i++)
        mode[i] = 1.0 / d->unit[i], direction[i] = i < d->turning ? 1.0 : 1.0 / d->length;
    solve(A, x, d->n, mode, direction);
    for (int32_t j = 0; j < d->n; j++)
        for (int c = 0; c < 3; c++) wrench[j < d->turning ? c : 3 + c] += d->along[j][c] * x[j];
    memcpy(x, wrench, sizeof wrench);
}

/* x: a velocity of M, replaced by the velocities of the modes. */
void fm_dual_rates(const fm_dual *d, double x[6])
{
    double A[FM_JOINT_MODES][FM_JOINT_MODES] = {{0.0}}, rates[FM_JOINT_MODES] = {0.0},
           direction[FM_JOINT_MODES] = {0.0};
    for (int32_t i = 0; i < d->n; i++) {
        rates[i] = dot(i < d->turning ? x : x + 3, d->along[i]);
        direction[i] = i < d->turning ? 1.0 : d->length;
        for (int32_t j = 0; j < d->n; j++) A[i][j] = d->A[j][i];
    }
    solve(A, rates, d->n, direction, d->unit);
    memcpy(x, rates, (size_t)d->n * sizeof *x);
}
