/* multipliers.c: the Lagrange multipliers of cut joints and couplings, and their effect on accelerations, links and
 * reactions.
 *
 * K lambda = -c'', with K by delassus.c and c'' the second derivatives of the constraints at lambda = 0. The multiplier
 * of a row that a drive realises is the drive's force (realised.c).
 */
#include "multipliers.h"

#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/group.h"
#include "../tree/links.h"
#include "../tree/reversed.h"
#include "constraints.h"
#include "delassus.h"
#include "profiles.h"
#include "realised.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

/* Adds the effect of the multipliers to the parent-independent part of udot of every free mode. `ideal`: rows that
 * drives realise act along themselves too. */
static void add_multipliers(fm_instance *s, const double *lambda, int ideal)
{
    double *x = s->loop.row;
    if (!ideal) fm_add_drives(s, lambda, x);
    for (int32_t n = 0; n < s->plan.blocks; n++) {
        const fm_block *b = s->plan.block + n;
        const int32_t *path = s->plan.path + b->path;
        for (int32_t q = 0; q < b->used; q++) {
            const double *z = s->loop.z + b->y + (size_t)b->use[q] * (size_t)b->length,
                         force = lambda[b->first + b->use[q]];
            if (!ideal && fm_is_realised(&s->image, b->first + b->use[q])) continue;
            for (int32_t e = 0; e < b->length; e++) x[path[e]] += force * z[e];
        }
    }
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind == FM_LINK_GENERAL) fm_group_add(&s->general[k->nth].group, x + k->u);
        else if (k->kind == FM_LINK_MODAL) fm_group_add(&fm_modal_of(s, i)->group, x + k->u);
        else if (k->kind == FM_LINK_SPHERICAL) {
            const double *f = s->ball[k->nth].factor;
            double *a = x + k->u;
            a[1] -= f[5] * a[2];
            a[0] = (a[0] - f[3] * a[1]) - f[4] * a[2];
            for (int j = 0; j < 3; j++) s->projected[i].U[j] += a[j];
        } else s->projected[i].g += x[k->u];
    }
    memset(x, 0, (size_t)s->image.n.speeds * sizeof *x);
}

/* The multipliers closest to loop.given_lambda that satisfy loop.given_rhs; K is regularised enough to suppress
 * round-off.
 */
static void find_near(fm_instance *s)
{
    const int32_t rows = s->image.n.rows;
    memcpy(s->loop.rhs, s->loop.given_rhs, (size_t)rows * sizeof *s->loop.rhs);
    fm_subtract_product(s, s->loop.given_lambda, s->loop.rhs);
    memset(s->loop.lambda, 0, (size_t)rows * sizeof *s->loop.lambda);
    s->loop.softening = FM_TIE;
    if (fm_factor_delassus(s)) fm_solve_delassus(s, s->loop.rhs, s->loop.lambda);
    s->loop.softening = 0.0;
    for (int32_t i = 0; i < rows; i++) s->loop.lambda[i] += s->loop.given_lambda[i];
}

/* The multipliers from K and the right-hand side. If K is singular they are NaN, and so is all that they act on: a step
 * is then rejected. */
void fm_find_multipliers(fm_instance *s)
{
    const size_t bytes = (size_t)s->image.n.rows * sizeof *s->loop.lambda;
    s->loop.factored = s->loop.multipliers == FM_OWN_MULTIPLIERS;
    switch (s->loop.multipliers) {
    case FM_NO_MULTIPLIERS: memset(s->loop.lambda, 0, bytes); return;
    case FM_NEAR_MULTIPLIERS:
        if (s->realised->count == 0) {
            find_near(s);
            return;
        }
        memcpy(s->loop.lambda, s->loop.given_lambda, bytes); /* as they were interpolated */
        return;
    case FM_KEPT_MULTIPLIERS: memcpy(s->loop.lambda, s->loop.given_lambda, bytes); return;
    default: break;
    }
    if (fm_factor_and_solve(s, s->loop.rhs, s->loop.lambda) && fm_realise(s)) return;
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.lambda[i] = s->row_active[i] > 0.0 ? NAN : 0.0;
}

/* -c'' of a row, of c, c', c'', with Baumgarte's terms. */
double fm_wanted_of_row(const fm_instance *s, const double c[3])
{
    const double alpha = s->closure[FM_CLOSURE_ALPHA], beta = s->closure[FM_CLOSURE_BETA];
    if (s->closure[FM_CLOSURE_CORRECTION] != (double)FM_CORRECT_BAUMGARTE) return -c[2];
    return -c[2] - (2.0 * alpha * c[1] + beta * beta * c[0]);
}

/* Adds the multipliers' effect after the sweeps without them. Requires world kinematics of y. */
void fm_close_loops(fm_instance *s, double *udot)
{
    if (s->planar.used) return; /* done within the sweeps */
    fm_make_rows(s, 1, 0);
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.rhs[i] = fm_wanted_of_row(s, s->loop.c + 3 * i);
    fm_make_delassus(s);
    if (s->realised->count > 0) fm_place_drives(s);
    fm_find_multipliers(s);
    add_multipliers(s, s->loop.lambda, 0);
    fm_run_outward(s, udot);
}

/* The outward sweep at rest, without gravity, under the multipliers and what else is in loop.row. */
static void respond_at_rest(fm_instance *s, const double *lambda, int ideal, double *out)
{
    double gravity[3];
    memcpy(gravity, s->gravity, sizeof gravity);
    memset(s->gravity, 0, sizeof gravity);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const double zero[3] = {0.0, 0.0, 0.0};
        fm_lane_set(s, bias, i, zero);
        memset(s->projected[i].bias, 0, sizeof s->projected[i].bias);
        s->projected[i].g = 0.0;
        if (s->link[i].kind == FM_LINK_SPHERICAL) memset(s->projected[i].U, 0, 3 * sizeof(double));
        if (s->link[i].kind == FM_LINK_GENERAL) memset(s->general[s->link[i].nth].g, 0, sizeof s->general->g);
        if (s->link[i].kind == FM_LINK_MODAL) memset(fm_modal_of(s, i)->g, 0, sizeof s->modal->g);
    }
    add_multipliers(s, lambda, ideal);
    fm_run_outward(s, out);
    memcpy(s->gravity, gravity, sizeof gravity);
}

/* M^-1 J' lambda in `out`. */
void fm_multiplier_response(fm_instance *s, const double *lambda, double *out)
{
    respond_at_rest(s, lambda, 1, out);
}

/* The multipliers lambda and the accelerations `out` that a force with the innovations in loop.row adds, by the factors
 * of the last evaluation. Overwrites bias accelerations; those of the links are of the response. */
void fm_force_response(fm_instance *s, double *lambda, double *out)
{
    double *z = s->loop.row;
    for (int32_t i = 0; i < s->image.n.speeds; i++) z[i] *= s->loop.pivot[i];
    if (s->image.n.rows > 0) {
        fm_row_accelerations(s, z, s->loop.rhs);
        for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.rhs[i] = -s->loop.rhs[i];
        fm_solve_delassus(s, s->loop.rhs, lambda);
        if (s->realised->count > 0) fm_replace_ideal(s, lambda);
    }
    respond_at_rest(s, lambda, 0, out);
}

/* Adds the multipliers' wrenches to the forces on the links, from which the joint wrenches follow. */
void fm_load_links(fm_instance *s, const double *lambda)
{
    fm_ends at = {.joint = -1};
    fm_complete_inertial(s);
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        if (lambda[i] == 0.0 || fm_is_realised(&s->image, i) || s->image.row_kind[i] == FM_ROW_GIVEN ||
            s->image.row_kind[i] == FM_ROW_COUPLED)
            continue;
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
            fm_inertial *on = s->inertial + link / FM_LANE_WIDTH;
            for (int j = 0; j < 3; j++) {
                on->torque[j][link % FM_LANE_WIDTH] -= sign * t[j];
                on->force[j][link % FM_LANE_WIDTH] -= sign * f[j];
            }
        }
    }
}

/* Torque and force of a cut joint on M's link at M's origin, world axes. */
void fm_loop_wrench(const fm_instance *s, int32_t joint, double torque[3], double force[3])
{
    memset(torque, 0, 3 * sizeof *torque);
    memset(force, 0, 3 * sizeof *force);
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        if (s->image.row_joint[i] != joint || fm_is_realised(&s->image, i)) continue;
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
        if (s->image.row_coupling[i] == coupling && !fm_is_realised(&s->image, i))
            force += s->loop.lambda[i] * fm_ratio(s, coupling, s->image.coupling_first[coupling] + term);
    return force;
}
