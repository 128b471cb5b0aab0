/* forces.c: the forces of all force elements on links, and those of springs and dampers on joint modes. */
#include "forces.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "../tree/general.h"
#include "../tree/modal.h"
#include "elements.h"
#include "matrix_laws.h"

#include <string.h>

/* Whether some force element acts on the links. */
int fm_has_forces(const fm_image *m)
{
    int32_t count = 0;
#define O(id, one, all) count += fm_##one##_element.apply != NULL ? m->n.all : 0;
    FM_FORCE_ELEMENTS(O)
#undef O
    return count > 0;
}

/* Whether some force element acts on velocity variables. */
int fm_has_acts(const fm_image *m)
{
    int32_t count = 0;
#define O(id, one, all) count += fm_##one##_element.act != NULL ? m->n.all : 0;
    FM_FORCE_ELEMENTS(O)
#undef O
    return count > 0;
}

/* Adds the forces of force elements on velocity variables. */
void fm_act_on_modes(fm_instance *s, const double *y, double *tau)
{
#define O(id, one, all) \
    for (int32_t i = 0; fm_##one##_element.act != NULL && i < s->image.n.all; i++) \
        fm_##one##_element.act(s, i, y, tau);
    FM_FORCE_ELEMENTS(O)
#undef O
}

/* Adds what work.control_seed changes of them. */
void fm_react_on_modes(fm_instance *s, double *tau)
{
#define O(id, one, all) \
    for (int32_t i = 0; fm_##one##_element.react != NULL && i < s->image.n.all; i++) \
        fm_##one##_element.react(s, i, tau);
    FM_FORCE_ELEMENTS(O)
#undef O
}

/* Applies all force elements to the links; `load`: of the loads. Requires world kinematics. */
void fm_apply_forces(fm_instance *s, const double *load)
{
    memset(s->work.applied, 0, (size_t)s->image.n.links * 6 * sizeof(double));
#define O(id, one, all) \
    for (int32_t i = 0; fm_##one##_element.apply != NULL && i < s->image.n.all; i++) \
        fm_##one##_element.apply(s, i, load);
    FM_FORCE_ELEMENTS(O)
#undef O
}

/* Applies what changes of the inputs and of sticking laws change of them. Requires world kinematics. */
void fm_apply_responses(fm_instance *s, const double *load)
{
    memset(s->work.applied, 0, (size_t)s->image.n.links * 6 * sizeof(double));
#define O(id, one, all) \
    for (int32_t i = 0; fm_##one##_element.respond != NULL && i < s->image.n.all; i++) \
        fm_##one##_element.respond(s, i, load);
    FM_FORCE_ELEMENTS(O)
#undef O
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
            if (k->kind == FM_LINK_GENERAL) fm_general_resist(s, s->general + k->nth, y, tau + n);
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
