/* energy.c: kinetic and potential energy at the present state. */
#include "energy.h"

#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/general.h"
#include "../tree/modal.h"
#include "../forces/elements.h"
#include "../forces/matrix_laws.h"
#include "../image/joints.h"
#include "../loops/cut_joints.h"

static double link_energy(const fm_instance *s, int32_t i)
{
    const fm_link *k = s->link + i;
    const fm_world *w = s->world + i;
    const fm_rigid *b = s->rigid + i;
    const double *J = b->J;
    double spin[3], v[3], arm[3], turn[3], Jw[3];
    rotate_in(w->R, w->w, spin);
    rotate_in(w->R, w->v, v);
    rotate_out(w->R, b->h, arm);
    cross(spin, b->h, turn);
    Jw[0] = J[0] * spin[0] + J[1] * spin[1] + J[2] * spin[2];
    Jw[1] = J[1] * spin[0] + J[3] * spin[1] + J[4] * spin[2];
    Jw[2] = J[2] * spin[0] + J[4] * spin[1] + J[5] * spin[2];
    double kinetic = 0.5 * (b->m * dot(v, v) + dot(spin, Jw)) + dot(v, turn);
    if (k->kind == FM_LINK_MODAL) kinetic += fm_modal_energy(s, i, spin, v); /* and the energy of its modes */
    return kinetic - (b->m * dot(s->gravity, w->r) + dot(s->gravity, arm));
}

static double mode_energy(const fm_instance *s, int32_t link)
{
    const fm_link *k = s->link + link;
    const double *y = s->y, *u = s->y + s->image.n.positions;
    if (k->u < 0 || k->kind == FM_LINK_MODAL) return 0.0;
    if (k->kind == FM_LINK_SPHERICAL) return fm_ball_energy(s, s->image.link_joint[link], k->u, y + k->p);
    if (k->kind == FM_LINK_GENERAL) return fm_general_energy(s, s->general + k->nth, y);
    double stretch = y[k->p] - s->rest[k->u];
    return 0.5 * (s->stiffness[k->u] * stretch * stretch + k->rotor * u[k->u] * u[k->u]);
}

/* Kinetic and potential energy at the present state [J]. Requires world kinematics. */
double fm_energy(fm_instance *s)
{
    double energy = 0.0;
    for (int32_t i = 0; i < s->image.n.links; i++) energy += link_energy(s, i) + mode_energy(s, i);
#define O(id, one, all) \
    for (int32_t i = 0; fm_##one##_element.energy != NULL && i < s->image.n.all; i++) \
        energy += fm_##one##_element.energy(s, i);
    FM_FORCE_ELEMENTS(O)
#undef O
    for (int32_t j = s->model.coupled ? 0 : s->image.n.joints; j < s->image.n.joints; j++) {
        double force[FM_JOINT_MODES] = {0.0};
        if (fm_is_cut_joint(&s->image, j)) continue;
        const double *p = s->y + s->image.joint_p[j], *u = s->y + s->image.n.positions + s->image.joint_u[j];
        energy += fm_coupled_resist(s, j, p, u, force);
    }
    return energy + fm_cut_joint_energy(s);
}
