/* solve_operations.c: x of M x = b, or of M'x = b, for the few screws of a joint.
 *
 * dx = M^-1 (db - dM x); backwards y = M'^-1 g is the adjoint of b, and -y x' that of M. Of M'x = b both are
 * transposed.
 */
#include "solve_operations.h"

#include "../image/image.h"
#include "../maths/lu.h"

#include <math.h>
#include <string.h>

typedef struct factor {
    double LU[FM_JOINT_MODES * FM_JOINT_MODES];
    int32_t exchanged[FM_JOINT_MODES], n;
} factor;

static factor factor_of(const fm_node *n, const double *v)
{
    factor f = {.n = n->k < 0 ? -n->k : n->k};
    double unit[FM_JOINT_MODES];
    memcpy(f.LU, v + n->a, (size_t)(f.n * f.n) * sizeof *v);
    for (int32_t i = 0; i < f.n; i++) {
        double most = 0.0;
        for (int32_t j = 0; j < f.n; j++) most = fmax(most, fabs(f.LU[i * f.n + j]));
        unit[i] = most > 0.0 ? 1.0 / most : 0.0;
    }
    fm_lu_factor(f.LU, f.n, unit, f.exchanged);
    return f;
}

/* x, of M x, or M'x, in place. */
static void solve(const factor *f, int transposed, double *x)
{
    if (transposed) fm_lu_solve_transposed(f->LU, f->n, f->exchanged, x);
    else fm_lu_solve(f->LU, f->n, f->exchanged, x);
}

/* The entry of M that multiplies x_j in equation i. */
static int32_t entry(const fm_node *n, const factor *f, int32_t i, int32_t j)
{
    return n->a + (n->k < 0 ? j * f->n + i : i * f->n + j);
}

void fm_solve_value(const fm_node *n, double *v)
{
    const factor f = factor_of(n, v);
    memcpy(v + n->out, v + n->b, (size_t)f.n * sizeof *v);
    solve(&f, n->k < 0, v + n->out);
}

void fm_solve_tangent(const fm_node *n, const double *v, double *t)
{
    const factor f = factor_of(n, v);
    for (int32_t i = 0; i < f.n; i++) {
        double sum = t[n->b + i];
        for (int32_t j = 0; j < f.n; j++) sum -= t[entry(n, &f, i, j)] * v[n->out + j];
        t[n->out + i] = sum;
    }
    solve(&f, n->k < 0, t + n->out);
}

void fm_solve_adjoint(const fm_node *n, const double *v, double *d)
{
    const factor f = factor_of(n, v);
    double y[FM_JOINT_MODES];
    memcpy(y, d + n->out, (size_t)f.n * sizeof *y);
    solve(&f, n->k >= 0, y);
    for (int32_t i = 0; i < f.n; i++) {
        d[n->b + i] += y[i];
        for (int32_t j = 0; j < f.n; j++) d[entry(n, &f, i, j)] -= y[i] * v[n->out + j];
    }
}
