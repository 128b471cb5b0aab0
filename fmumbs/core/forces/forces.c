/* forces.c: forces of springs, dampers, force laws and loads, on links and on joint modes. */
#include "forces.h"

#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../tree/general.h"
#include "../tree/modal.h"
#include "matrix_laws.h"
#include "laws.h"

#include <string.h>

/* Adds a force and a torque (world axes) at a point to the wrench applied to its link. */
static void apply(fm_instance *s, int32_t point, const double force[3], const double torque[3])
{
    const int32_t link = s->image.point_link[point];
    double f[3], t[3], moment[3];
    if (link < 0) return;
    rotate_in(s->world[link].R, force, f);
    rotate_in(s->world[link].R, torque, t);
    cross(s->image.point_r + 3 * point, f, moment);
    for (int j = 0; j < 3; j++) s->work.applied[6 * link + j] += t[j] + moment[j], s->work.applied[6 * link + 3 + j] += f[j];
}

/* Adds a wrench (world axes) at a position in the world. */
void fm_apply_wrench(fm_instance *s, int32_t link, const double at[3], const double wrench[6], double sign)
{
    double arm[3], moment[3], t[3], f[3];
    if (link < 0) return;
    for (int j = 0; j < 3; j++) arm[j] = at[j] - s->world[link].r[j];
    cross(arm, wrench + 3, moment);
    for (int j = 0; j < 3; j++) moment[j] += wrench[j];
    rotate_in(s->world[link].R, moment, t);
    rotate_in(s->world[link].R, wrench + 3, f);
    for (int j = 0; j < 3; j++) s->work.applied[6 * link + j] += sign * t[j], s->work.applied[6 * link + 3 + j] += sign * f[j];
}

/* Whether some force element acts on the links. */
int fm_has_forces(const fm_image *m)
{
    return m->n.springs + m->n.loads > 0;
}

/* Applies springs (if `springs`), their force laws and loads to the links. Requires world kinematics. */
void fm_apply_forces(fm_instance *s, const double *load, int springs)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    memset(s->work.applied, 0, (size_t)s->image.n.links * 6 * sizeof(double));
    for (int32_t i = 0; (springs || s->image.n.laws > 0) && i < s->image.n.springs; i++) {
        double direction[3], rate, pull[3], back[3];
        double length = fm_spring_line(s, i, direction, &rate);
        double force = s->spring_stiffness[i] * (length - s->spring_free_length[i]) + s->spring_damping[i] * rate;
        if (!springs) force = 0.0;
        if (s->image.n.laws > 0) force += fm_laws_on_spring(s, i, s->work.evaluated);
        for (int j = 0; j < 3; j++) pull[j] = force * direction[j], back[j] = -pull[j];
        apply(s, s->image.spring_P[i], pull, none);
        apply(s, s->image.spring_Q[i], back, none);
    }
    for (int32_t i = 0; i < s->image.n.loads; i++)
        apply(s, s->image.load_P[i], load + 6 * i, load + 6 * i + 3);
}

/* tau: inputs plus the forces of springs and dampers in the joints. */
void fm_apply_modes(fm_instance *s, const double *y, const double *input, double *tau)
{
    const double *u = y + s->image.n.positions;
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        const int32_t n = k->u;
        if (k->kind == FM_LINK_GENERAL || k->kind == FM_LINK_DRIVEN || k->kind == FM_LINK_MODAL) {
            memcpy(tau + n, input + n, (size_t)fm_link_speeds(&s->image, i) * sizeof *tau);
            if (k->kind == FM_LINK_MODAL) fm_modal_forces(s, i, y, tau + n);
            if (k->kind == FM_LINK_GENERAL) fm_general_resist(s, s->general + k->general, y, tau + n);
            continue;
        }
        if (k->kind != FM_LINK_SPHERICAL) {
            tau[n] = (input[n] - s->stiffness[n] * (y[k->p] - s->rest[n])) - s->damping[n] * u[n];
            continue;
        }
        memcpy(tau + n, input + n, 3 * sizeof *tau);
        fm_ball_resist(s, s->image.link_joint[i], n, y + k->p, u + n, tau + n);
    }
    for (int32_t j = s->model.coupled ? 0 : s->image.n.joints; j < s->image.n.joints; j++) {
        const int32_t first = s->image.joint_u[j];
        if (!fm_is_cut_joint(&s->image, j))
            (void)fm_coupled_resist(s, j, y + s->image.joint_p[j], u + first, tau + first);
    }
}
