/* units.c: groups of coordinates that are held together or not at all, and where their start values come from.
 *
 * Velocities are assembled by the velocity variables, positions of general links by the screws, since velocity rows
 * leave fewer velocities than positions. These variables come after all modes, in the order of the velocity rows.
 */
#include "units.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

int fm_is_of_cut_joint(const fm_instance *s, int32_t u)
{
    return u >= s->image.n.speeds && u < s->image.n.modes;
}

/* Whether x, a velocity variable of the tree or a screw, is a variable of a level. */
int fm_is_variable(const fm_instance *s, int level, int32_t x)
{
    const fm_link *k = s->link + s->assembly->link[x];
    if (x >= s->image.n.modes) return level == FM_POSITIONS;
    return level == FM_VELOCITIES || k->kind != FM_LINK_GENERAL || x - k->u >= s->general[k->nth].free;
}

/* The number of modes in the unit that begins with u (3 for an orientation; those of a nonholonomic joint); 0 if u is
 * not the first of a unit. */
int32_t fm_unit_modes(const fm_instance *s, int level, int32_t u)
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
    return k->kind == FM_LINK_SPHERICAL ? 3 : s->general[k->nth].free;
}

/* The link of several screws that is a unit of positions. */
static const fm_general *screws_of(const fm_instance *s, int level, int32_t u)
{
    if (level == FM_VELOCITIES || fm_is_of_cut_joint(s, u)) return NULL;
    const fm_link *k = s->link + s->assembly->link[u];
    return k->kind == FM_LINK_GENERAL ? s->general + k->nth : NULL;
}

/* The number of variables in the unit that begins with u, 0 if u is not the first of one. */
int32_t fm_unit_size(const fm_instance *s, int level, int32_t u)
{
    const fm_general *g = screws_of(s, level, u);
    const int32_t modes = fm_unit_modes(s, level, u);
    return g != NULL && modes > 0 ? g->rows : modes;
}

/* The j-th of them. */
int32_t fm_unit_variable(const fm_instance *s, int level, int32_t u, int32_t j)
{
    const fm_general *g = screws_of(s, level, u);
    return g != NULL ? fm_screw_variable(&s->image, g->link, j) : u + j;
}

/* The first of the unit of positions that a variable of the tree belongs to. */
int32_t fm_unit_with(const fm_instance *s, int32_t x)
{
    if (x >= s->image.n.modes) return s->link[s->assembly->link[x]].u;
    while (fm_unit_modes(s, FM_POSITIONS, x) == 0) x--;
    return x;
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

void fm_hold_unit(fm_instance *s, int level, int32_t u, int32_t how)
{
    for (int32_t j = fm_unit_modes(s, level, u) - 1; j >= 0; j--) s->assembly->hold[u + j] = how;
    for (int32_t j = fm_unit_size(s, level, u) - 1; j >= 0; j--)
        s->assembly->hold[fm_unit_variable(s, level, u, j)] = how;
}

void fm_hold_none(fm_instance *s)
{
    memset(s->assembly->hold, 0, (size_t)fm_placed(s) * sizeof *s->assembly->hold);
}

/* Holds the coordinates of drives (if `drives`) and of held joints (if `joints`). */
void fm_hold_fixed(fm_instance *s, int drives, int joints)
{
    const fm_image *m = &s->image;
    fm_hold_none(s);
    for (int32_t i = 0; i < m->n.excitations && drives; i++) s->assembly->hold[m->excitation_u[i]] = FM_FIXED;
    for (int32_t x = 0; x < fm_placed(s) && joints; x++) {
        const int32_t link = s->assembly->link[x];
        if (fm_is_of_cut_joint(s, x) || s->link[link].kind == FM_LINK_MODAL) continue;
        if (m->joint_held[m->link_joint[link]]) s->assembly->hold[x] = FM_FIXED;
    }
}
