/* linear_range.c: deformations that leave the linear range, which modes and spring-damper elements are made for.
 *
 * A coordinate of a flexible body or of an element of a flexible link makes a rotation [rad] or strain of mode_strain
 * times its size. The first that is above the bound of the options is noted, with its time; what is computed does not
 * depend on it.
 */
#include "linear_range.h"

#include "../image/joints.h"

#include <math.h>

/* Keeps the deformation of velocity variable u, at the position p, if it is the largest beyond the bound. */
static void compare(fm_instance *s, int32_t u, double p, double t)
{
    const double strain = s->image.mode_strain[u] * fabs(p), bound = s->options[FM_OPTION_DEFORMATION];
    if (!(strain > bound) || strain <= s->clock[FM_DEFORMED]) return;
    s->clock[FM_DEFORMED] = strain;
    s->clock[FM_DEFORMED_MODE] = u;
    s->clock[FM_DEFORMED_AT] = t;
}

/* At state y of time t, unless one has been noted before. */
void fm_watch_deformation(fm_instance *s, double t, const double *y)
{
    const fm_image *m = &s->image;
    if (!s->model.deforms || s->clock[FM_DEFORMED] > 0.0) return;
    for (int32_t i = 0; i < m->n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0 || k->kind == FM_LINK_GENERAL || k->kind == FM_LINK_SPHERICAL) continue;
        for (int32_t j = 0; j < fm_link_speeds(m, i); j++) compare(s, k->u + j, y[k->p + j], t);
    }
    for (int32_t j = 0; j < m->n.joints; j++)
        for (int32_t part = 0, at; fm_is_cut_joint(m, j) && part < m->joint_nu[j]; part++)
            if (fm_cut_joint_part(m, j, part, &at) < 0) compare(s, m->joint_u[j] + part, s->cut_p[at], t);
}
