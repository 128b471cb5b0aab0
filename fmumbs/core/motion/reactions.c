/* reactions.c: the reaction, which is the constraint part of a joint's wrench, and the drives of its excited modes.
 *
 * Lambda_z = Lambda - psi phi' Lambda (3.19, 3.34 of joint-representation). Besides the free modes phi and the excited
 * ones the basis needs locked modes, which the joint does not determine. They are chosen so that the wrench that acts
 * on the free modes consists of a torque along the directions in which the joint rotates and a force along those in
 * which it translates without rotating: this does not depend on the unit of length, and a torque that drives a screw is
 * a pure torque. With B these directions and Phi the free and the excited modes, [psi, psi_k] = B (Phi' B)^-1. All at
 * M, in the axes of the joint's last link, angular part first.
 */
#include "reactions.h"

#include "../image/joints.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/dual.h"
#include "../loops/realised.h"
#include "../loops/velocity_rows.h"
#include "../loops/multipliers.h"

#include <stdlib.h>
#include <string.h>

/* The modes of a joint of screws at M, in the axes of its last link: the free ones, then the excited ones. */
static int32_t make_modes(const fm_instance *s, int32_t joint, double phi[][6])
{
    const fm_image *m = &s->image;
    const int32_t last = m->joint_last[joint], u = m->joint_u[joint];
    const fm_world *M = s->world + last;
    memset(phi, 0, FM_JOINT_MODES * sizeof *phi);
    for (int32_t i = m->joint_first[joint]; i <= last; i++) {
        const fm_link *k = s->link + i;
        const fm_world *w = s->world + i;
        if (k->kind == FM_LINK_GENERAL) {
            const fm_general *g = s->general + k->nth;
            memcpy(phi, g->phi, (size_t)g->speeds * sizeof *phi);
        } else if (k->u >= 0) {
            const int axis = fm_link_axis(k->kind);
            double e[3], arm[3], v[3];
            for (int j = 0; j < 3; j++) e[j] = k->sign * w->R[3 * j + axis], arm[j] = M->r[j] - w->r[j];
            for (int j = 0; j < 3; j++) {
                const int a = (j + 1) % 3, b = (j + 2) % 3;
                v[j] = k->pitch * (e[a] * arm[b] - e[b] * arm[a]) + k->slide * e[j];
            }
            for (int j = 0; j < 3; j++) {
                phi[k->u - u][j] = k->pitch * ((M->R[j] * e[0] + M->R[3 + j] * e[1]) + M->R[6 + j] * e[2]);
                phi[k->u - u][3 + j] = (M->R[j] * v[0] + M->R[3 + j] * v[1]) + M->R[6 + j] * v[2];
            }
        }
    }
    return m->joint_nu[joint];
}

/* M's origin relative to that of the joint's last link, in the last link's axes: nonzero only for joints that are
 * traversed from M to F. */
static void reduction_point(const fm_instance *s, int32_t joint, double out[3])
{
    const fm_image *m = &s->image;
    const int32_t link = m->joint_M_link[joint];
    const fm_world *F = s->world + m->joint_last[joint];
    const double *at = m->joint_M_r + 3 * joint;
    double r[3], arm[3] = {0.0, 0.0, 0.0};
    if (m->joint_reversed[joint]) {
        memcpy(r, at, sizeof r);
        if (link >= 0) rotate_out(s->world[link].R, at, r);
        for (int j = 0; j < 3; j++) arm[j] = ((link >= 0 ? s->world[link].r[j] : 0.0) + r[j]) - F->r[j];
    }
    rotate_in(F->R, arm, out);
}

/* Torque and force that F's body exerts on M's at M, in the axes of the joint's last link. */
void fm_joint_wrench(const fm_instance *s, int32_t joint, double wrench[6])
{
    memcpy(wrench, s->wrench + 6 * s->image.joint_last[joint], 6 * sizeof *wrench);
    if (!s->image.joint_reversed[joint]) return;
    double arm[3], moment[3];
    reduction_point(s, joint, arm);
    cross(arm, wrench + 3, moment);
    for (int j = 0; j < 3; j++) wrench[j] = moment[j] - wrench[j], wrench[3 + j] = -wrench[3 + j];
}

/* Lambda_z of a joint of several screws. */
static void remove_modes(const fm_instance *s, int32_t joint, double wrench[6])
{
    double phi[FM_JOINT_MODES][6], x[6];
    fm_dual dual;
    if (s->image.joint_nu[joint] > FM_JOINT_MODES) return;
    const int32_t n = make_modes(s, joint, phi), free = n - s->image.joint_excited[joint];
    double arm[3], turned[3];
    reduction_point(s, joint, arm);
    for (int32_t i = 0; i < n; i++) { /* to M; for a reversed joint all of them are M's motion, apart from their sign */
        cross(phi[i], arm, turned);
        for (int j = 0; j < 3; j++) phi[i][3 + j] += turned[j];
    }
    if (!fm_make_dual(s, phi, n, &dual)) return;
    for (int32_t i = 0; i < n; i++) x[i] = i < free ? dot6(phi[i], wrench) : 0.0;
    fm_dual_wrench(&dual, x);
    for (int c = 0; c < 6; c++) wrench[c] -= x[c];
}

/* Force of the couplings on a mode. */
static double coupled(const fm_instance *s, int32_t u)
{
    const fm_image *m = &s->image;
    double force = 0.0;
    for (int32_t i = 0; i < m->n.couplings; i++)
        for (int32_t j = 0; j < m->coupling_count[i]; j++)
            if (m->link_u[m->term_link[m->coupling_first[i] + j]] == u) force += fm_coupling_force(s, i, j);
    return force;
}

/* The drive of an excited mode: the projection of the joint's wrench on the mode (3.30), less the force of couplings on
 * it. */
double fm_drive(const fm_instance *s, int32_t joint, int32_t part)
{
    double phi[FM_JOINT_MODES][6];
    const int32_t nu = s->image.joint_nu[joint], row = s->image.excitation_row[s->image.joint_excitation[joint] + part];
    if (nu > FM_JOINT_MODES) return 0.0;
    if (row >= 0 &&
        (fm_is_rate_row(&s->image, row) || fm_is_realised(&s->image, row) || fm_is_programmed_length(&s->image, row)))
        return s->loop.lambda[row]; /* its target moves nothing */
    (void)make_modes(s, joint, phi);
    const int32_t mode = nu - s->image.joint_excited[joint] + part;
    return dot6(phi[mode], s->wrench + 6 * s->image.joint_last[joint]) - coupled(s, s->image.joint_u[joint] + mode);
}

/* Subtracts the part that acts on the free modes from (torque, force) about M, in the axes of the joint's last link. */
void fm_remove_free_modes(const fm_instance *s, int32_t joint, double wrench[6])
{
    const fm_link *k = s->link + s->image.joint_last[joint];
    const int32_t kind = s->image.joint_kind[joint];
    if (kind == FM_JOINT_NONHOLONOMIC ||
        (kind == FM_JOINT_SCALAR && s->image.joint_first[joint] < s->image.joint_last[joint])) {
        remove_modes(s, joint, wrench);
        return;
    }
    if (kind == FM_JOINT_SCALAR && k->kind == FM_LINK_DRIVEN) return;
    if (kind == FM_JOINT_SPHERICAL || kind == FM_JOINT_FREE) memset(wrench, 0, 3 * sizeof *wrench);
    if (kind == FM_JOINT_FREE) memset(wrench + 3, 0, 3 * sizeof *wrench);
    if (kind != FM_JOINT_SCALAR) return;
    const int axis = fm_link_axis(k->kind);
    if (k->pitch == 0.0) wrench[3 + axis] = 0.0;
    else wrench[axis] = k->slide == 0.0 ? 0.0 : -(k->slide / k->pitch) * wrench[3 + axis];
}
