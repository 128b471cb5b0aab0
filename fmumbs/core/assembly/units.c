/* units.c: groups of coordinates that are held together or not at all, and where their start values come from. */
#include "units.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

int fm_is_of_cut_joint(const fm_instance *s, int32_t u)
{
    return u >= s->image.n.speeds;
}

/* The number of variables in the unit that begins with u (3 for an orientation; those of a nonholonomic joint); 0 if u
 * is not the first of a unit. */
int32_t fm_unit_size(const fm_instance *s, int level, int32_t u)
{
    const fm_image *m = &s->image;
    if (level == FM_VELOCITIES) return 1;
    if (fm_is_of_cut_joint(s, u)) {
        int32_t at;
        const int32_t joint = s->assembly->link[u], part = fm_cut_joint_part(m, joint, u - m->joint_u[joint], &at);
        return part < 0 ? 1 : part == 0 ? 3 : 0;
    }
    const fm_link *k = s->link + s->assembly->link[u];
    if (k->kind != FM_LINK_SPHERICAL && k->kind != FM_LINK_GENERAL) return 1;
    if (u != k->u) return 0;
    return k->kind == FM_LINK_SPHERICAL ? 3 : s->general[k->general].free;
}

/* The positions of a unit of the tree: the first and their number. */
int32_t fm_unit_positions(const fm_instance *s, int32_t u, int32_t *first)
{
    const fm_link *k = s->link + s->assembly->link[u];
    const int whole = k->kind == FM_LINK_SPHERICAL || k->kind == FM_LINK_GENERAL;
    *first = whole ? k->p : k->p + (u - k->u);
    return whole ? fm_link_positions(&s->image, s->assembly->link[u]) : 1;
}

/* Whether a value was set to something other than the model's, or than that after the last step. */
int fm_is_set(const fm_instance *s, int level, int32_t u)
{
    int32_t first = s->image.n.positions + u, count = 1;
    if (s->assembly->base || fm_is_of_cut_joint(s, u)) return 0;
    if (level == FM_POSITIONS) count = fm_unit_positions(s, u, &first);
    return memcmp(s->guess + first, s->base + first, (size_t)count * sizeof(double)) != 0;
}

int fm_is_given(const fm_instance *s, int level, int32_t u)
{
    const int32_t *given = level == FM_POSITIONS ? s->image.given_p : s->image.given_u;
    return s->clock[FM_MOVED] == 0.0 && given[u] != 0;
}

int fm_unit_in_loop(const fm_instance *s, int32_t u)
{
    return fm_is_of_cut_joint(s, u) || s->in_loop[s->assembly->link[u]];
}

/* Holds the coordinates of drives (if `drives`) and of held joints (if `joints`). */
void fm_hold_fixed(fm_instance *s, int drives, int joints)
{
    const fm_image *m = &s->image;
    memset(s->assembly->hold, 0, (size_t)m->n.modes * sizeof *s->assembly->hold);
    for (int32_t i = 0; i < m->n.excitations && drives; i++) s->assembly->hold[m->excitation_u[i]] = FM_FIXED;
    for (int32_t u = 0; u < m->n.speeds && joints; u++)
        if (m->joint_held[m->link_joint[s->assembly->link[u]]] && s->link[s->assembly->link[u]].kind != FM_LINK_MODAL)
            s->assembly->hold[u] = FM_FIXED;
}
