/* delassus.c: the Lagrange multipliers of cut joints and couplings, by the Delassus matrix.
 *
 * With the innovations of the rows' multipliers in the free modes (constraints.c)
 *     K = J M^-1 J' = sum over the modes of (phi'w_i) (phi'w_j) / D,   K lambda = -c'' at lambda = 0.
 * K and its factor, K = L D L', are stored in blocks, each for the rows of one cut joint, in an order with little
 * fill-in (loop_plan.c): L D below the diagonal, 1 / D on it. Only active rows are processed.
 */
#include "delassus.h"

#include "../maths/rows.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/group.h"
#include "../tree/reversed.h"
#include "constraints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FM_SINGULAR 1e-14 /* fraction of a diagonal entry of K below which a pivot counts as zero */

/* Reciprocals of the pivots of all velocity variables. */
static void reciprocals(const fm_instance *s, double *out)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind == FM_LINK_SPHERICAL)
            for (int j = 0; j < 3; j++) out[k->u + j] = s->ball[k->ball].factor[j];
        else if (k->kind == FM_LINK_GENERAL)
            for (int32_t j = 0; j < s->general[k->general].speeds; j++)
                out[k->u + j] = j < s->general[k->general].free ? s->general[k->general].D[j] : 0.0;
        else if (k->kind == FM_LINK_MODAL)
            for (int32_t j = 0; j < fm_modal_of(s, i)->n; j++) out[k->u + j] = fm_modal_of(s, i)->D[j];
        else out[k->u] = s->motion[i].D;
    }
}

/* Lists the active rows, block by block. */
void fm_use_rows(fm_instance *s)
{
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        fm_block *k = s->plan.block + b;
        k->used = 0;
        for (int32_t r = 0; r < k->rows; r++)
            if (s->row_active[k->first + r] > 0.0 && !(s->planar.used && s->planar.row[k->first + r].kind == FM_ROW_KINDS))
                k->use[k->used++] = r;
    }
}

/* The innovations of row i, in loop.row. */
static void pass_row(fm_instance *s, int32_t i, const fm_constraint *c, double *most)
{
    if (s->image.row_kind[i] == FM_ROW_GIVEN) return; /* used by assembly.c only */
    if (s->image.row_kind[i] == FM_ROW_COUPLED) {
        fm_pass_coupling(s, i, s->loop.row, most);
        return;
    }
    fm_pass_loop(s, s->image.row_joint[i], c, s->loop.row, most);
}

static void use_all(fm_instance *s)
{
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        fm_block *k = s->plan.block + b;
        k->used = k->rows;
        for (int32_t r = 0; r < k->rows; r++) k->use[r] = r;
    }
}

/* Active rows at the present world kinematics, and their innovations; `choose`: all rows, with upper bounds of K's
 * diagonal. */
void fm_make_rows(fm_instance *s, int moving, int choose)
{
    double *pivot = s->loop.pivot;
    fm_ends ends = {.joint = -1};
    if (choose) use_all(s);
    reciprocals(s, pivot);
    fm_world_modes(s);
    for (int32_t b = 0; b < s->plan.blocks; b++) {
        const fm_block *k = s->plan.block + b;
        const int32_t *path = s->plan.path + k->path;
        for (int32_t n = 0; n < k->used; n++) {
            const int32_t i = k->first + k->use[n];
            const size_t at = k->y + (size_t)k->use[n] * (size_t)k->length;
            fm_constraint one;
            fm_constraint_at(s, i, moving, &ends, &one);
            memcpy(s->loop.c + 3 * i, one.c, sizeof one.c);
            memcpy(s->loop.wrench + 6 * i, one.torque, sizeof one.torque);
            memcpy(s->loop.wrench + 6 * i + 3, one.force, sizeof one.force);
            s->loop.bound[i] = 0.0;
            pass_row(s, i, &one, choose ? s->loop.bound + i : NULL);
            for (int32_t e = 0; e < k->length; e++) {
                double *y = s->loop.row + path[e];
                s->loop.y[at + (size_t)e] = *y;
                s->loop.z[at + (size_t)e] = *y * pivot[path[e]];
                *y = 0.0;
            }
        }
    }
}

/* K of a block with itself (`e` NULL) or with a later one: `rows` of the later by `columns`. */
FM_INLINE void meet(const fm_instance *s, const fm_block *a, const fm_meeting *e, const int rows, const int columns)
{
    const int32_t whole[3] = {0, 0, a->length}, *run = e == NULL ? whole : s->plan.run + 3 * e->run;
    const fm_block *b = e == NULL ? a : s->plan.block + e->block;
    const double *y[FM_JOINT_MODES], *z[FM_JOINT_MODES];
    double sums[FM_JOINT_MODES * FM_JOINT_MODES] = {0.0}, *L = s->loop.L + (e == NULL ? a->L : e->L);
    for (int p = 0; p < columns; p++) y[p] = s->loop.y + a->y + (size_t)a->use[p] * (size_t)a->length;
    for (int q = 0; q < rows; q++) z[q] = s->loop.z + b->y + (size_t)b->use[q] * (size_t)b->length;
    for (int32_t runs = e == NULL ? 1 : e->runs; runs > 0; runs--, run += 3)
        for (int32_t i = 0; i < run[2]; i++)
            for (int q = 0; q < rows; q++)
                for (int p = 0; p < columns; p++) sums[q * columns + p] += y[p][run[0] + i] * z[q][run[1] + i];
    for (int q = 0; q < rows; q++)
        for (int p = 0; p < columns; p++) L[b->use[q] * a->rows + a->use[p]] = sums[q * columns + p];
}

/* K of the active rows, from their innovations. */
void fm_make_delassus(fm_instance *s)
{
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *a = s->plan.block + n;
        if (a->used == 2) meet(s, a, NULL, 2, 2);
        else meet(s, a, NULL, a->used, a->used);
        for (int32_t q = 0; q < a->used; q++)
            s->loop.diagonal[a->first + a->use[q]] = s->loop.L[a->L + (size_t)(a->use[q] * (a->rows + 1))];
        for (const fm_meeting *e = s->plan.meeting + a->below, *end = e + a->belows; e < end; e++) {
            const int32_t used = s->plan.block[e->block].used;
            if (a->used == 2 && used == 2) meet(s, a, e, 2, 2);
            else meet(s, a, e, used, a->used);
        }
    }
}

/* Factors a diagonal block. 0: it is not positive definite. */
FM_INLINE int factor_block(fm_instance *s, const fm_block *a, const int rows)
{
    double *L = s->loop.L + a->L;
    for (int q = 0; q < rows; q++) {
        double *at = L + a->use[q] * a->rows, *pivot = at + a->use[q];
        for (int p = 0; p <= q; p++) {
            const double *other = L + a->use[p] * a->rows;
            for (int n = 0; n < p; n++) {
                const int32_t k = a->use[n];
                at[a->use[p]] -= at[k] * (other[k] * L[k * (a->rows + 1)]);
            }
        }
        const int32_t i = a->first + a->use[q];
        if (!(*pivot > FM_SINGULAR * s->loop.diagonal[i])) return 0;
        if (*pivot < FM_WORN * s->row_pivot[i]) {
            s->loop.worn = 1;
            if (*pivot < FM_NARROW * s->row_pivot[i]) s->loop.near_singular = 1;
        }
        *pivot = 1.0 / *pivot;
    }
    return 1;
}

/* Subtracts the contribution of column a from the block `to` of later rows c, columns b; x and w: column a's rows
 * there. */
FM_INLINE void subtract(const fm_block *a, const fm_block *b, const fm_block *c, const double *over, const double *w,
                        const double *x, double *to, const int columns)
{
    for (int32_t p = 0; p < b->used; p++) {
        const double *row = w + b->use[p] * a->rows;
        double scaled[FM_JOINT_MODES];
        for (int n = 0; n < columns; n++) scaled[n] = row[a->use[n]] * over[n];
        for (int32_t q = 0; q < c->used; q++) {
            const double *other = x + c->use[q] * a->rows;
            double sum = 0.0;
            for (int n = 0; n < columns; n++) sum += other[a->use[n]] * scaled[n];
            to[c->use[q] * b->rows + b->use[p]] -= sum;
        }
    }
}

/* Subtracts the contributions of a factored block's column from the later blocks. */
FM_INLINE void eliminate(fm_instance *s, const fm_block *a, const int columns)
{
    const fm_meeting *first = s->plan.meeting + a->below, *end = first + a->belows;
    const double *own = s->loop.L + a->L;
    double over[FM_JOINT_MODES];
    for (int n = 0; n < columns; n++) over[n] = own[a->use[n] * (a->rows + 1)];
    for (const fm_meeting *e = first; e < end; e++) {
        const fm_block *b = s->plan.block + e->block;
        for (int32_t q = 0; q < b->used; q++) {
            double *at = s->loop.L + e->L + b->use[q] * a->rows;
            for (int p = 0; p < columns; p++)
                for (int n = 0; n < p; n++)
                    at[a->use[p]] -= at[a->use[n]] * (own[a->use[p] * a->rows + a->use[n]] * over[n]);
        }
    }
    for (const fm_meeting *e = first; e < end; e++) {
        const fm_block *b = s->plan.block + e->block;
        const fm_meeting *to = s->plan.meeting + b->below;
        subtract(a, b, b, over, s->loop.L + e->L, s->loop.L + e->L, s->loop.L + b->L, columns);
        for (const fm_meeting *other = e + 1; other < end; other++, to++) {
            while (to->block != other->block) to++;
            subtract(a, b, s->plan.block + other->block, over, s->loop.L + e->L, s->loop.L + other->L, s->loop.L + to->L,
                     columns);
        }
    }
}

void fm_eliminate(fm_instance *s, const fm_block *a)
{
    if (a->belows == 0 || a->used == 0) return;
    if (a->used == 2) eliminate(s, a, 2);
    else eliminate(s, a, a->used);
}

/* Forward substitution with a diagonal block; subtracts its contributions from the later blocks. */
FM_INLINE void solve_forth(const fm_instance *s, const fm_block *a, const double *b, double *x, const int rows)
{
    const double *L = s->loop.L + a->L;
    double *own = x + a->first, value[FM_JOINT_MODES];
    for (int q = 0; q < rows; q++) {
        const double *at = L + a->use[q] * a->rows;
        value[q] = own[a->use[q]] + b[a->first + a->use[q]];
        for (int p = 0; p < q; p++) value[q] -= at[a->use[p]] * value[p];
        own[a->use[q]] = value[q] *= at[a->use[q]];
    }
    for (const fm_meeting *e = s->plan.meeting + a->below, *end = e + a->belows; e < end; e++) {
        const fm_block *c = s->plan.block + e->block;
        for (int32_t r = 0; r < c->used; r++) {
            const double *at = s->loop.L + e->L + c->use[r] * a->rows;
            for (int p = 0; p < rows; p++) x[c->first + c->use[r]] -= at[a->use[p]] * value[p];
        }
    }
}

FM_INLINE void solve_back(const fm_instance *s, const fm_block *a, double *x, const int rows)
{
    const double *L = s->loop.L + a->L;
    double *own = x + a->first, sums[FM_JOINT_MODES] = {0.0};
    for (const fm_meeting *e = s->plan.meeting + a->below, *end = e + a->belows; e < end; e++) {
        const fm_block *c = s->plan.block + e->block;
        for (int32_t r = 0; r < c->used; r++) {
            const double *at = s->loop.L + e->L + c->use[r] * a->rows, value = x[c->first + c->use[r]];
            for (int p = 0; p < rows; p++) sums[p] += at[a->use[p]] * value;
        }
    }
    for (int q = rows - 1; q >= 0; q--) {
        for (int p = q + 1; p < rows; p++) sums[q] += L[a->use[p] * a->rows + a->use[q]] * own[a->use[p]];
        own[a->use[q]] -= sums[q] * L[a->use[q] * (a->rows + 1)];
    }
}

/* Backward substitution for the active rows of x. */
static void go_back(const fm_instance *s, double *x)
{
    for (const fm_block *first = s->plan.block, *a = first + s->plan.blocks; a-- > first;)
        if (a->used == 2) solve_back(s, a, x, 2);
        else solve_back(s, a, x, a->used);
}

static void go_forth(const fm_instance *s, const fm_block *a, const double *b, double *x)
{
    if (a->used == 2) solve_forth(s, a, b, x, 2);
    else solve_forth(s, a, b, x, a->used);
}

/* Solves K x = b for the active rows, zero elsewhere. Requires the factor. */
void fm_solve_delassus(const fm_instance *s, const double *b, double *x)
{
    for (int32_t i = 0; i < s->image.n.rows; i++) x[i] = 0.0;
    for (const fm_block *a = s->plan.block, *end = a + s->plan.blocks; a < end; a++) go_forth(s, a, b, x);
    go_back(s, x);
}

/* b less K x. Requires K itself. */
static void subtract_product(const fm_instance *s, const double *x, double *b)
{
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *a = s->plan.block + n;
        for (int32_t q = 0; q < a->used; q++)
            for (int32_t p = 0; p < a->used; p++)
                b[a->first + a->use[q]] -= s->loop.L[a->L + (size_t)(a->use[q] * a->rows + a->use[p])] * x[a->first + a->use[p]];
        for (const fm_meeting *e = s->plan.meeting + a->below, *end = e + a->belows; e < end; e++) {
            const fm_block *c = s->plan.block + e->block;
            for (int32_t q = 0; q < c->used; q++)
                for (int32_t p = 0; p < a->used; p++) {
                    const double K = s->loop.L[e->L + (size_t)(c->use[q] * a->rows + a->use[p])];
                    b[c->first + c->use[q]] -= K * x[a->first + a->use[p]];
                    b[a->first + a->use[p]] -= K * x[c->first + c->use[q]];
                }
        }
    }
}

/* Factors K; if `x` is not NULL (and zero), also the forward substitution for `b`. 0: K is not positive definite. */
static int factor_and_go(fm_instance *s, const double *b, double *x)
{
    s->loop.worn = s->loop.near_singular = 0;
    for (const fm_block *a = s->plan.block, *end = a + s->plan.blocks; a < end; a++) {
        if (!(a->used == 2 ? factor_block(s, a, 2) : factor_block(s, a, a->used))) {
            s->loop.worn = 1, s->loop.near_singular = 2;
            return 0;
        }
        fm_eliminate(s, a);
        if (x != NULL) go_forth(s, a, b, x);
    }
    return 1;
}

/* Adds the fraction loop.softening of former pivots to K's diagonal. */
static void soften(fm_instance *s)
{
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        for (int32_t q = 0; q < b->used; q++)
            s->loop.L[b->L + (size_t)(b->use[q] * (b->rows + 1))] += s->loop.softening * s->row_pivot[b->first + b->use[q]];
    }
}

/* Factors K. 0: it is not positive definite. */
int fm_factor_delassus(fm_instance *s)
{
    if (s->loop.softening > 0.0) soften(s);
    return factor_and_go(s, NULL, NULL);
}

/* Adds the effect of the multipliers to the parent-independent part of udot of every free mode. */
static void add_multipliers(fm_instance *s, const double *lambda)
{
    double *x = s->loop.row;
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        const int32_t *path = s->plan.path + b->path;
        for (int32_t q = 0; q < b->used; q++) {
            const double *z = s->loop.z + b->y + (size_t)b->use[q] * (size_t)b->length, force = lambda[b->first + b->use[q]];
            for (int32_t e = 0; e < b->length; e++) x[path[e]] += force * z[e];
        }
    }
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind == FM_LINK_GENERAL) fm_group_add(&s->general[k->general].group, x + k->u);
        else if (k->kind == FM_LINK_MODAL) fm_group_add(&fm_modal_of(s, i)->group, x + k->u);
        else if (k->kind == FM_LINK_SPHERICAL) {
            const double *f = s->ball[k->ball].factor;
            double *a = x + k->u;
            a[1] -= f[5] * a[2];
            a[0] = (a[0] - f[3] * a[1]) - f[4] * a[2];
            for (int j = 0; j < 3; j++) s->motion[i].U[j] += a[j];
        } else s->motion[i].g += x[k->u];
    }
    memset(x, 0, (size_t)s->image.n.speeds * sizeof *x);
}

/* Adds the multipliers' wrenches to the links, for the joint wrenches. */
void fm_load_links(fm_instance *s, const double *lambda)
{
    fm_ends at = {.joint = -1};
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        if (lambda[i] == 0.0 || s->image.row_kind[i] == FM_ROW_GIVEN || s->image.row_kind[i] == FM_ROW_COUPLED) continue;
        const int32_t joint = s->image.row_joint[i];
        fm_constraint row;
        fm_constraint_at(s, i, 0, &at, &row);
        memcpy(s->loop.wrench + 6 * i, row.torque, sizeof row.torque);
        memcpy(s->loop.wrench + 6 * i + 3, row.force, sizeof row.force);
        const int32_t ends[2] = {s->image.joint_M_link[joint], s->image.joint_F_link[joint]};
        for (int e = 0; e < 2; e++) {
            const int32_t link = ends[e];
            const double sign = e == 0 ? lambda[i] : -lambda[i];
            double arm[3], moment[3], t[3], f[3];
            if (link < 0) continue;
            for (int j = 0; j < 3; j++) arm[j] = at.M.r[j] - s->world[link].r[j];
            cross(arm, s->loop.wrench + 6 * i + 3, moment);
            for (int j = 0; j < 3; j++) moment[j] += s->loop.wrench[6 * i + j];
            rotate_in(s->world[link].R, moment, t);
            rotate_in(s->world[link].R, s->loop.wrench + 6 * i + 3, f);
            fm_lanes *lane = s->lane + link / FM_LANE_WIDTH;
            for (int j = 0; j < 3; j++) {
                lane->torque[j][link % FM_LANE_WIDTH] -= sign * t[j];
                lane->force[j][link % FM_LANE_WIDTH] -= sign * f[j];
            }
        }
    }
}

/* The multipliers closest to singular.lambda that satisfy singular.rhs; K is regularised enough to suppress round-off. */
static void find_near(fm_instance *s)
{
    const int32_t rows = s->image.n.rows;
    memcpy(s->loop.rhs, s->singular.rhs, (size_t)rows * sizeof *s->loop.rhs);
    subtract_product(s, s->singular.lambda, s->loop.rhs);
    s->loop.softening = FM_TIE;
    if (fm_factor_delassus(s)) fm_solve_delassus(s, s->loop.rhs, s->loop.lambda);
    s->loop.softening = 0.0;
    for (int32_t i = 0; i < rows; i++) s->loop.lambda[i] += s->singular.lambda[i];
}

/* The multipliers from K and the right-hand side. If K is singular they are NaN, and so is all that they act on: a step
 * is then rejected. */
void fm_find_multipliers(fm_instance *s)
{
    memset(s->loop.lambda, 0, (size_t)s->image.n.rows * sizeof *s->loop.lambda);
    if (s->loop.multipliers != FM_OWN_MULTIPLIERS) {
        if (s->loop.multipliers == FM_NEAR_MULTIPLIERS) find_near(s);
        if (s->loop.multipliers == FM_KEPT_MULTIPLIERS) memcpy(s->loop.lambda, s->singular.lambda, (size_t)s->image.n.rows * sizeof *s->loop.lambda);
        return;
    }
    if (factor_and_go(s, s->loop.rhs, s->loop.lambda)) {
        go_back(s, s->loop.lambda);
        return;
    }
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.lambda[i] = s->row_active[i] > 0.0 ? NAN : 0.0;
}

/* Adds the multipliers' effect after the sweeps without them. Requires world kinematics of y. */
void fm_close_loops(fm_instance *s, double *udot)
{
    if (s->planar.used) return; /* done within the sweeps */
    fm_make_rows(s, 1, 0);
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        const double *c = s->loop.c + 3 * i, alpha = s->closure[FM_CLOSURE_ALPHA], beta = s->closure[FM_CLOSURE_BETA];
        s->loop.rhs[i] = -c[2];
        if (s->closure[FM_CLOSURE_CORRECTION] == (double)FM_CORRECT_BAUMGARTE) s->loop.rhs[i] -= 2.0 * alpha * c[1] + beta * beta * c[0];
    }
    fm_make_delassus(s);
    fm_find_multipliers(s);
    add_multipliers(s, s->loop.lambda);
    fm_run_outward(s, udot);
}

/* M^-1 J' lambda in `out`: the outward sweep of the same columns at rest, without gravity. */
void fm_multiplier_response(fm_instance *s, const double *lambda, double *out)
{
    double gravity[3];
    memcpy(gravity, s->gravity, sizeof gravity);
    memset(s->gravity, 0, sizeof gravity);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const double zero[3] = {0.0, 0.0, 0.0};
        fm_lane_set(s, bias, i, zero);
        memset(s->motion[i].bias, 0, sizeof s->motion[i].bias);
        s->motion[i].g = 0.0;
        if (s->link[i].kind == FM_LINK_SPHERICAL) memset(s->motion[i].U, 0, 3 * sizeof(double));
        if (s->link[i].kind == FM_LINK_GENERAL) memset(s->general[s->link[i].general].g, 0, sizeof s->general->g);
        if (s->link[i].kind == FM_LINK_MODAL) memset(fm_modal_of(s, i)->g, 0, sizeof s->modal->g);
    }
    add_multipliers(s, lambda);
    fm_run_outward(s, out);
    memcpy(s->gravity, gravity, sizeof gravity);
}

/* Torque and force of a cut joint on M's link at M's origin, world axes. */
void fm_loop_wrench(const fm_instance *s, int32_t joint, double torque[3], double force[3])
{
    memset(torque, 0, 3 * sizeof *torque);
    memset(force, 0, 3 * sizeof *force);
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        if (s->image.row_joint[i] != joint) continue;
        for (int j = 0; j < 3; j++) {
            torque[j] += s->loop.lambda[i] * s->loop.wrench[6 * i + j];
            force[j] += s->loop.lambda[i] * s->loop.wrench[6 * i + 3 + j];
        }
    }
}

/* The generalised force of a coupling on one of its coordinates. */
double fm_coupling_force(const fm_instance *s, int32_t coupling, int32_t term)
{
    double force = 0.0;
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (s->image.row_coupling[i] == coupling)
            force += s->loop.lambda[i] * s->image.term_ratio[s->image.coupling_first[coupling] + term];
    return force;
}
