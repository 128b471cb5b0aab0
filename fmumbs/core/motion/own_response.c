/* own_response.c: what a unit of each own normal force (normal_forces.c) does to the accelerations, the multipliers and
 * the wrenches of the joints, from the factors of the last evaluation.
 *
 * The friction of joint j is f_j n_j, with f_j forces on the joint's modes, or in a cut joint a wrench on its two
 * links. Beside the evaluation with all n = 0 each adds udot_j = M^-1 (f_j + J' lambda_j),   J udot_j = 0, for which
 * nothing is factored again: by the sweeps, f_j is propagated to the ground, its innovations give J M^-1 f_j and with
 * K's factor lambda_j, and one outward sweep udot_j (multipliers.c); in the reduced form, N' M N is solved once more
 * (reduced.c). Wrenches then follow from the balance of each link, at rest and without gravity, in world axes about the
 * links' origins.
 */
#include "own_response.h"

#include "../image/joints.h"
#include "../maths/vectors.h"
#include "../tree/kinematics.h"
#include "../tree/links.h"
#include "../tree/modal.h"
#include "../tree/reversed.h"
#include "../loops/constraints.h"
#include "../loops/cut_joints.h"
#include "../loops/delassus.h"
#include "../loops/jacobian.h"
#include "../loops/multipliers.h"
#include "../loops/realised.h"
#include "../loops/reduced.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

/* Whether the last evaluation left factors for it: not the planar kernels, not multipliers near a singular position,
 * and not where reactions are not unique, of which the least ones do not follow from K (least.c). */
int fm_own_responds(const fm_instance *s)
{
    if (s->planar.used || s->work.resting || s->loop.multipliers != FM_OWN_MULTIPLIERS) return 0;
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (!(s->row_active[i] > 0.0) && !fm_row_rests(s, i)) return 0;
    return 1;
}

/* The wrench of a unit multiplier of each row on the links of M and F, about their origins; zero if it loads none. */
static void place_rows(fm_instance *s)
{
    const fm_image *m = &s->image;
    int32_t last = -1;
    fm_place M;
    memset(s->friction->row_load, 0, 12 * (size_t)m->n.rows * sizeof(double));
    for (int32_t i = 0; i < m->n.rows; i++) {
        const int32_t joint = m->row_joint[i];
        if (fm_row_rests(s, i) || fm_is_realised(m, i) || m->row_kind[i] == FM_ROW_COUPLED) continue;
        const int32_t link[2] = {m->joint_M_link[joint], m->joint_F_link[joint]};
        const double *w = s->loop.wrench + 6 * i;
        if (joint != last) fm_frame_place(s, link[0], m->joint_M_r + 3 * joint, 0, &M);
        last = joint;
        for (int e = 0; e < 2; e++) {
            double *to = s->friction->row_load + 12 * i + 6 * e, arm[3];
            if (link[e] < 0) continue;
            for (int j = 0; j < 3; j++) arm[j] = M.r[j] - s->world[link[e]].r[j];
            cross(arm, w + 3, to);
            for (int j = 0; j < 3; j++) to[j] += w[j], to[3 + j] = w[3 + j];
        }
    }
}

/* Begins the wrenches of the links with those of the multipliers, and of friction in a cut joint (`on`, NULL: none). */
static void load_links(fm_instance *s, const double *lambda, int32_t joint, const fm_constraint *on)
{
    const fm_image *m = &s->image;
    double *wrench = s->friction->wrench;
    memset(wrench, 0, 6 * (size_t)m->n.links * sizeof *wrench);
    for (int32_t i = 0; i < m->n.rows; i++) {
        const double *load = s->friction->row_load + 12 * i, x = lambda[i];
        if (x == 0.0 || m->row_kind[i] == FM_ROW_COUPLED) continue;
        const int32_t M = m->joint_M_link[m->row_joint[i]], F = m->joint_F_link[m->row_joint[i]];
        for (int c = 0; M >= 0 && c < 6; c++) wrench[6 * M + c] -= x * load[c];
        for (int c = 0; F >= 0 && c < 6; c++) wrench[6 * F + c] += x * load[6 + c];
    }
    for (int e = 0; on != NULL && e < 2; e++) {
        const int32_t link = e == 0 ? m->joint_M_link[joint] : m->joint_F_link[joint];
        const double sign = e == 0 ? -1.0 : 1.0;
        double arm[3], moment[3];
        if (link < 0) continue;
        for (int j = 0; j < 3; j++) arm[j] = on->r[j] - s->world[link].r[j];
        cross(arm, on->force, moment);
        for (int j = 0; j < 3; j++) {
            wrench[6 * link + j] += sign * (moment[j] + on->torque[j]);
            wrench[6 * link + 3 + j] += sign * on->force[j];
        }
    }
}

/* Adds what each link takes by its motion and passes it on to its parent; `moving`: with velocities, gravity and
 * applied wrenches. */
static void balance_links(fm_instance *s, const double *udot, int moving)
{
    if (moving) fm_complete_inertial(s);
    for (int32_t i = s->image.n.links - 1; i >= 0; i--) {
        const fm_link *k = s->link + i;
        const fm_rigid *b = s->rigid + i;
        const double *J = b->J, *w = s->motion[i].alpha, *a = s->motion[i].a;
        double own[6], arm[3], turn[3], t[3], f[3], *to = s->friction->wrench + 6 * i;
        cross(b->h, a, arm);
        cross(w, b->h, turn);
        own[0] = (J[0] * w[0] + J[1] * w[1] + J[2] * w[2]) + arm[0];
        own[1] = (J[1] * w[0] + J[3] * w[1] + J[4] * w[2]) + arm[1];
        own[2] = (J[2] * w[0] + J[4] * w[1] + J[5] * w[2]) + arm[2];
        for (int j = 0; j < 3; j++) own[3 + j] = b->m * a[j] + turn[j];
        if (k->kind == FM_LINK_MODAL) fm_modal_weigh(s, i, udot, own);
        if (moving) {
            fm_inertial_get(s, torque, i, t);
            fm_inertial_get(s, force, i, f);
            for (int j = 0; j < 3; j++) own[j] += t[j], own[3 + j] += f[j];
        }
        rotate_out(s->world[i].R, own, t);
        rotate_out(s->world[i].R, own + 3, f);
        for (int j = 0; j < 3; j++) to[j] += t[j], to[3 + j] += f[j];
        if (k->root) continue;
        double *up = s->friction->wrench + 6 * k->parent;
        for (int j = 0; j < 3; j++) arm[j] = s->world[i].r[j] - s->world[k->parent].r[j];
        cross(arm, to + 3, turn);
        for (int j = 0; j < 3; j++) up[j] += to[j] + turn[j], up[3 + j] += to[3 + j];
    }
}

/* Torque and force of a joint on M at M, in world axes. */
static void wrench_of(const fm_instance *s, int32_t joint, const double *lambda, double out[6])
{
    const fm_image *m = &s->image;
    memset(out, 0, 6 * sizeof *out);
    if (fm_is_cut_joint(m, joint)) {
        for (int32_t i = 0; i < m->n.rows; i++)
            for (int c = 0; m->row_joint[i] == joint && !fm_is_realised(m, i) && c < 6; c++)
                out[c] += lambda[i] * s->loop.wrench[6 * i + c];
        return;
    }
    const int32_t last = m->joint_last[joint];
    memcpy(out, s->friction->wrench + 6 * last, 6 * sizeof *out);
    if (!m->joint_reversed[joint]) return;
    fm_place M;
    double arm[3], moment[3];
    fm_frame_place(s, m->joint_M_link[joint], m->joint_M_r + 3 * joint, 0, &M);
    for (int j = 0; j < 3; j++) arm[j] = M.r[j] - s->world[last].r[j];
    cross(arm, out + 3, moment);
    for (int j = 0; j < 3; j++) out[j] = moment[j] - out[j], out[3 + j] = -out[3 + j];
}

/* The friction of a joint for a unit of its own normal force: forces f on the modes, in terms of links, or of a cut
 * joint the wrench `on`. Returns 0: there is none. */
static int unit_friction(fm_instance *s, int32_t i, double *f, fm_constraint *on)
{
    const fm_image *m = &s->image;
    const int32_t joint = m->friction_joint[i];
    int any = 0;
    memset(f, 0, (size_t)m->n.speeds * sizeof *f);
    memset(on, 0, sizeof *on);
    for (int32_t k = 0; k < m->friction_count[i]; k++) {
        const double force = -(m->friction_arm[3 * i + k] * s->friction->mu[3 * i + k]) * s->friction->factor[i];
        any |= force != 0.0;
        if (!fm_is_cut_joint(m, joint)) {
            f[m->friction_u[i] + k] = force;
            continue;
        }
        fm_constraint one;
        fm_cut_joint_row(s, joint, m->friction_u[i] + k - m->joint_u[joint], &one);
        const double along = isnan(one.c[0]) ? NAN : force; /* where it has no coordinates */
        for (int j = 0; j < 3; j++) on->torque[j] += along * one.torque[j], on->force[j] += along * one.force[j];
        memcpy(on->r, one.r, sizeof one.r);
    }
    if (s->model.reversed > 0) memcpy(f, fm_linked_forces(s, f), (size_t)m->n.speeds * sizeof *f);
    return any;
}

/* The accelerations and multipliers that these forces add, also the accelerations in the links. */
static void respond(fm_instance *s, int32_t joint, double *f, const fm_constraint *on, double *lambda, double *udot)
{
    const fm_image *m = &s->image;
    const int cut = fm_is_cut_joint(m, joint);
    if (s->reduced.used) {
        if (cut) {
            (void)fm_wrench_along(s, -1, m->joint_M_link[joint], on, f, NULL);
            (void)fm_wrench_along(s, m->joint_F_link[joint], -1, on, f, NULL);
        }
        for (int32_t n = 0; n < m->n.excitations; n++) f[m->excitation_u[n]] = 0.0; /* which no force moves */
        fm_reduced_response(s, f, lambda, udot);
        return;
    }
    if (cut) fm_pass_loop(s, joint, on, s->loop.row, NULL);
    for (int32_t i = cut ? m->n.links : m->joint_first[joint]; i < m->n.links && i <= m->joint_last[joint]; i++)
        for (int32_t part = 0; s->link[i].u >= 0 && part < fm_link_speeds(m, i); part++)
            if (f[s->link[i].u + part] != 0.0) fm_pass_force(s, i, part, f[s->link[i].u + part], s->loop.row, NULL);
    fm_force_response(s, lambda, udot);
}

/* The joints' wrenches without own parts, and what a unit of each adds to them and to the accelerations:
 * friction.at_rest, by_load and by_own, after an evaluation without own parts at y that left udot. Overwrites bias
 * accelerations of the links. */
void fm_own_response(fm_instance *s, const double *y, const double *udot)
{
    const fm_image *m = &s->image;
    const int32_t n = s->friction->count, nu = m->n.speeds;
    double *lambda = s->friction->lambda, *f = s->friction->f;
    if (s->reduced.used) fm_reduced_multipliers(s);
    if (m->n.rows == 0) {
        fm_make_world(s, y);
        if (!s->reduced.used) fm_make_pivots(s);
    }
    place_rows(s);
    load_links(s, s->loop.lambda, -1, NULL);
    balance_links(s, udot, 1);
    for (int32_t k = 0; k < n; k++)
        wrench_of(s, m->friction_joint[s->friction->owned[k]], s->loop.lambda, s->friction->at_rest + 6 * k);
    memset(lambda, 0, (size_t)m->n.rows * sizeof *lambda);
    for (int32_t l = 0; l < n; l++) {
        const int32_t i = s->friction->owned[l], joint = m->friction_joint[i];
        double *by_own = s->friction->by_own + (size_t)l * (size_t)nu;
        fm_constraint on;
        if (!unit_friction(s, i, f, &on)) {
            memset(by_own, 0, (size_t)nu * sizeof *by_own);
            for (int32_t k = 0; k < n; k++) memset(s->friction->by_load + 6 * (k * n + l), 0, 6 * sizeof(double));
            continue;
        }
        respond(s, joint, f, &on, lambda, by_own);
        load_links(s, lambda, joint, fm_is_cut_joint(m, joint) ? &on : NULL);
        balance_links(s, by_own, 0);
        for (int32_t k = 0; k < n; k++)
            wrench_of(s, m->friction_joint[s->friction->owned[k]], lambda, s->friction->by_load + 6 * (k * n + l));
    }
}

/* Adds what the present own parts do to the accelerations. */
void fm_own_add(const fm_instance *s, double *udot)
{
    const int32_t nu = s->image.n.speeds;
    for (int32_t l = 0; l < s->friction->count; l++) {
        const double own = s->friction->own[s->friction->owned[l]],
                     *by_own = s->friction->by_own + (size_t)l * (size_t)nu;
        for (int32_t u = 0; u < nu; u++) udot[u] += own * by_own[u];
    }
}
