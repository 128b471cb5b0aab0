/* reduced_drives.c: the reduced form where drives realise programs (realised.c): their forces drop out of it.
 *
 * With B' in place of the rows P that drives realise, [J_c; B'] = L Q and W as N follows from it, [J_c; B'] W = 0,
 *     udot = p + N z,   (W' M N) z = W' (g - M p):
 * accelerations obey all rows, and forces are those of the loops and of the drives alone. With H_B the reflections of
 * these rows, W' M N and W' M Q' are parts of H_B' M H. From Q and L multipliers and drives follow for outputs, [J_c'
 * B] (mu, u) = M udot - h - Q. The sign of det(J M^-1 [J_c' B]), which must not change (realised.c), is that of det(W'
 * M N) det[J; N'] det[J_c; B'; W'].
 */
#include "reduced_drives.h"

#include "../instance/instance.h"
#include "../maths/dense.h"
#include "../maths/reflections.h"
#include "realised.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

#define FM_NO_PART 1e-13 /* what is left of a row of length one below this is round-off */

static const double *units(const fm_instance *s)
{
    return s->scale + s->image.n.positions;
}

/* Row q of [J_c; B'], in units of the coordinates. */
static void make_row(const fm_instance *s, int32_t q, double *out)
{
    const fm_reflections *r = &s->reduced.rows;
    const int32_t row = s->reduced.row[q];
    memset(out, 0, (size_t)r->speeds * sizeof *out);
    if (fm_is_realised(&s->image, row)) {
        const int32_t u = s->image.excitation_drive[s->image.row_excitation[row]];
        out[u] = units(s)[u];
        return;
    }
    for (int32_t p = 0; p <= q; p++)
        if (r->pivot[p] >= 0) out[r->pivot[p]] = r->L[(size_t)q * (size_t)r->rows + (size_t)p];
    fm_reflect_back(r, out);
}

/* L and Q. 0: a drive has no effect beside the loops. */
static int make_rows(fm_instance *s)
{
    fm_reflections *r = &s->realised->rows;
    double *own = s->reduced.part;
    int32_t *all = s->realised->exchange;
    for (int32_t n = 0; n < r->speeds; n++) all[n] = n;
    fm_reflect_begin(r, s->image.excitation_u, s->image.n.excitations);
    for (int32_t q = 0; q < s->reduced.rows.rank; q++) {
        double square = 0.0;
        make_row(s, q, own);
        for (int32_t n = 0; n < r->speeds; n++) square += own[n] * own[n];
        const double left = sqrt(fm_reflect_row(r, own, all, r->speeds));
        r->L[(size_t)q * ((size_t)r->rows + 1)] = left;
        if (!(left > FM_NO_PART * sqrt(square))) return 0;
    }
    return 1;
}

/* H_B' M H and the factor of W' M N. 0: the drives have no effect, or passed such a position. */
int fm_reduced_oppose(fm_instance *s)
{
    const size_t nu = (size_t)s->image.n.speeds;
    const int32_t frees = s->reduced.frees, *excited = s->image.excitation_u, count = s->image.n.excitations;
    double *T = s->realised->T;
    if (!make_rows(s)) return 0;
    for (size_t n = 0; n < nu; n++) {
        for (size_t k = 0; k < nu; k++) T[n * nu + k] = units(s)[n] * s->reduced.mass[n * nu + k] * units(s)[k];
        fm_reflect_to(&s->reduced.rows, T + n * nu);
    }
    fm_reflect_columns(&s->realised->rows, T, s->reduced.part);
    for (int32_t n = 0, i = 0; n < s->image.n.speeds; n++) {
        if (s->realised->rows.taken[n]) continue;
        for (int32_t j = 0; j < frees; j++)
            s->realised->W[i * frees + j] = T[(size_t)n * nu + (size_t)s->reduced.free[j]];
        s->realised->free[i++] = n;
    }
    const double side =
        fm_reflect_sign(&s->reduced.rows, excited, count) * fm_reflect_sign(&s->realised->rows, excited, count);
    return fm_judge_drives(s, side * fm_dense_factor(s->realised->W, frees, frees, s->realised->exchange));
}

/* z at the particular accelerations p = Q' b under the forces g. */
void fm_reduced_drive(fm_instance *s, const double *g, const double *b, double *z)
{
    const size_t nu = (size_t)s->image.n.speeds;
    const int32_t frees = s->reduced.frees;
    const fm_reflections *r = &s->reduced.rows;
    double *force = s->realised->force;
    for (size_t n = 0; n < nu; n++) force[n] = units(s)[n] * g[n];
    fm_reflect_to(&s->realised->rows, force);
    for (int32_t i = 0; i < frees; i++) {
        const double *T = s->realised->T + (size_t)s->realised->free[i] * nu;
        z[i] = force[s->realised->free[i]];
        for (int32_t q = 0; q < r->rank; q++)
            if (r->pivot[q] >= 0) z[i] -= T[r->pivot[q]] * b[q];
    }
    fm_dense_solve(s->realised->W, frees, frees, s->realised->exchange, z);
}
