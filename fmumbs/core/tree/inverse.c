/* inverse.c: inverse dynamics, the forces that given accelerations take, by the recursive Newton-Euler algorithm.
 *
 * From the roots to the leaves, with gravity subtracted from accelerations and phi the modes of the joint,
 *     alpha = R' alpha_p + bias + phi_t udot,   a = R' (a_p + bias + alpha_p x r) + phi_f udot,
 * and from the leaves to the roots, each link with the wrenches of its children,
 *     torque = J alpha + h x a + w x J w,   force = m a + alpha x h + w x (w x h),   less the applied ones,
 *     out = phi' (torque, force) + R udot,
 * R the inertia of drives (motion/stiffness.c adds to it). A flexible body has the modal forces of modal.c besides,
 * with the wrenches of its frames. Linear in the number of links; nothing is eliminated, and S and e do not appear.
 * `moving` 0 leaves out velocities, gravity and applied wrenches: out = M udot. In link axes, and in terms of links
 * (reversed.c).
 */
#include "inverse.h"

#include "../image/joints.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "general.h"
#include "kinematics.h"
#include "links.h"
#include "modal.h"
#include "reversed.h"

#include <string.h>

/* What follows from positions and velocities alone. Requires the orientations at y. */
void fm_inverse_place(fm_instance *s, const double *y)
{
    s->kernels->velocities(s, fm_linked(s, y));
    for (int32_t i = 0; i < s->image.n.links; i++) fm_link_axes(s, i, s->reduced.R + 9 * i);
}

/* Adds the acceleration of the joint's own modes. */
static void add_modes(const fm_instance *s, int32_t i, const double *udot, double *alpha, double *a)
{
    const fm_link *k = s->link + i;
    if (k->kind == FM_LINK_GENERAL) {
        const fm_general *g = s->general + k->nth;
        for (int32_t n = 0; n < g->speeds; n++)
            for (int j = 0; j < 3; j++)
                alpha[j] += g->phi[n][j] * udot[k->u + n], a[j] += g->phi[n][3 + j] * udot[k->u + n];
    } else if (k->kind >= FM_LINK_MODAL) {
        const fm_modal *b = fm_modal_of(s, i);
        const double *rates = udot + s->link[b->link].u;
        double column[6];
        for (int32_t n = 0; n < b->n && fm_modal_column(s, i, n, column); n++)
            for (int j = 0; j < 3; j++) alpha[j] += column[j] * rates[n], a[j] += column[3 + j] * rates[n];
    } else if (k->kind == FM_LINK_SPHERICAL) {
        for (int j = 0; j < 3; j++) alpha[j] += udot[k->u + j];
    } else if (k->u >= 0) {
        const int axis = fm_link_axis(k->kind);
        alpha[axis] += k->sign * k->pitch * udot[k->u];
        a[axis] += k->sign * k->slide * udot[k->u];
    }
}

/* The accelerations of all links, in their fm_motion. */
void fm_inverse_accelerations(fm_instance *s, const double *udot, int moving)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        fm_motion *m = s->motion + i;
        double turn[3] = {0.0, 0.0, 0.0}, up[3] = {0.0, 0.0, 0.0}, r[3], bias[3], arm[3];
        const double *R = s->reduced.R + 9 * i;
        if (!k->root)
            memcpy(turn, s->motion[k->parent].alpha, sizeof turn), memcpy(up, s->motion[k->parent].a, sizeof up);
        else
            for (int j = 0; moving && j < 3; j++) up[j] = -s->gravity[j];
        fm_lane_get(s, r, i, r);
        fm_lane_get(s, bias, i, bias);
        cross(turn, r, arm);
        for (int j = 0; j < 3; j++) up[j] += arm[j] + (moving ? bias[j] : 0.0);
        rotate_in(R, turn, m->alpha);
        rotate_in(R, up, m->a);
        for (int j = 0; moving && j < 3; j++) m->alpha[j] += s->projected[i].bias[j];
        add_modes(s, i, udot, m->alpha, m->a);
    }
}

/* The wrench that a link by itself takes. */
static void weigh(const fm_instance *s, int32_t i, const double *udot, int moving, double *t)
{
    const fm_link *k = s->link + i;
    const fm_rigid *b = s->rigid + i;
    const double *J = b->J, *al = s->motion[i].alpha, *a = s->motion[i].a;
    double arm[3], turn[3], own[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    cross(b->h, a, arm);
    cross(al, b->h, turn);
    if (moving) fm_inertial_get(s, torque, i, own);
    if (moving) fm_inertial_get(s, force, i, own + 3);
    t[0] = ((J[0] * al[0] + J[1] * al[1] + J[2] * al[2]) + arm[0]) + own[0];
    t[1] = ((J[1] * al[0] + J[3] * al[1] + J[4] * al[2]) + arm[1]) + own[1];
    t[2] = ((J[2] * al[0] + J[4] * al[1] + J[5] * al[2]) + arm[2]) + own[2];
    for (int j = 0; j < 3; j++) t[3 + j] = (b->m * a[j] + turn[j]) + own[3 + j];
    if (k->kind == FM_LINK_MODAL) fm_modal_weigh(s, i, udot, t);
}

/* Adds the forces of a flexible body's modes: their own, and those of the wrench w through the joint that carries it,
 * or through one of its frames. */
static void add_modal_forces(const fm_instance *s, int32_t i, const double *udot, int moving, const double *w,
                             double *out)
{
    const fm_modal *b = fm_modal_of(s, i);
    const int32_t u = s->link[b->link].u;
    const double *alpha = s->motion[i].alpha, *a = s->motion[i].a, g = s->stiff.time;
    double column[6];
    for (int32_t n = 0; n < b->n; n++) {
        if (fm_modal_column(s, i, n, column)) out[u + n] += dot6(column, w);
        if (i != b->link) continue;
        out[u + n] += (dot(b->own[n], alpha) + dot(b->own[n] + 3, a)) + (moving ? b->f[n] : 0.0);
        for (int32_t j = 0; j < b->n; j++) {
            const int32_t at = n * b->all + j;
            out[u + n] += (b->mass[n * b->n + j] + g * (b->pair_damping[at] + g * b->pair_stiffness[at])) * udot[u + j];
        }
    }
}

/* Adds the forces on a joint's modes. */
static void add_forces(const fm_instance *s, int32_t i, const double *udot, int moving, const double *w, double *out)
{
    const fm_link *k = s->link + i;
    const double g = s->stiff.time;
    if (k->kind >= FM_LINK_MODAL) {
        add_modal_forces(s, i, udot, moving, w, out);
    } else if (k->kind == FM_LINK_GENERAL) {
        const fm_general *b = s->general + k->nth;
        for (int32_t n = 0; n < b->speeds; n++) {
            out[k->u + n] = dot6(b->phi[n], w);
            for (int32_t j = 0; g > 0.0 && n < b->free && j < b->free; j++)
                out[k->u + n] += fm_general_inertia(s, b, n, j) * udot[k->u + j];
        }
    } else if (k->kind == FM_LINK_SPHERICAL) {
        for (int j = 0; j < 3; j++) out[k->u + j] = w[j] + k->rotor * udot[k->u + j];
    } else if (k->u >= 0) {
        const int axis = fm_link_axis(k->kind);
        out[k->u] = k->sign * (k->pitch * w[axis] + k->slide * w[3 + axis]) + k->rotor * udot[k->u];
    }
}

/* The generalised forces of udot, after fm_inverse_accelerations for it. */
void fm_inverse_forces(fm_instance *s, const double *udot, int moving, double *out)
{
    memset(out, 0, (size_t)s->image.n.speeds * sizeof *out);
    if (moving) fm_complete_inertial(s);
    for (int32_t i = 0; i < s->image.n.links; i++) weigh(s, i, udot, moving, s->reduced.wrench + 6 * i);
    for (int32_t i = s->image.n.links - 1; i >= 0; i--) {
        const fm_link *k = s->link + i;
        const double *w = s->reduced.wrench + 6 * i;
        double r[3], t[3], f[3], arm[3];
        add_forces(s, i, udot, moving, w, out);
        if (k->root) continue;
        double *up = s->reduced.wrench + 6 * k->parent;
        rotate_out(s->reduced.R + 9 * i, w, t);
        rotate_out(s->reduced.R + 9 * i, w + 3, f);
        fm_lane_get(s, r, i, r);
        cross(r, f, arm);
        for (int j = 0; j < 3; j++) up[j] += t[j] + arm[j], up[3 + j] += f[j];
    }
}
