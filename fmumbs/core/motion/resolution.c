/* resolution.c: coordinates so large that doubles no longer resolve the position.
 *
 * A double of size q is exact to q DBL_EPSILON. The error control allows an error relative to q, but forces depend on
 * the rest of an angle beyond whole turns: that has to be resolved to the tolerance, or, where the tolerance is
 * tighter, to FM_ANGLE. A translation has to be resolved to FM_SLIDE of the model's length, which decides nothing in
 * mechanisms that only drift far away.
 */
#include "resolution.h"

#include "../image/joints.h"
#include "../instance/instance.h"

#include <float.h>
#include <math.h>

#define FM_ANGLE 1e-6 /* [rad] */
#define FM_SLIDE 1e-2 /* of the model's length */

/* The distance of a number from the next one; of zero 0. */
double fm_spacing(double x)
{
    int exponent;
    if (x == 0.0) return 0.0;
    (void)frexp(x, &exponent);
    return ldexp(DBL_EPSILON, exponent - 1);
}

static double largest(const fm_instance *s, int slides)
{
    const double angle = fmax(s->options[FM_OPTION_TOLERANCE], FM_ANGLE);
    return (slides ? FM_SLIDE * s->image.length[0] : angle) / DBL_EPSILON;
}

/* Whether a coordinate is too large; then it is *value. */
static int is_too_large(const fm_instance *s, double p, int32_t slides, double *value, int32_t *slides_out)
{
    if (!(fabs(p) > largest(s, slides))) return 0;
    *value = p;
    *slides_out = slides;
    return 1;
}

/* The same of a link: of balls and of flexible bodies none is. */
static int is_link_too_large(const fm_instance *s, int32_t i, const double *y, double *value, int32_t *slides)
{
    const fm_image *m = &s->image;
    const fm_link *k = s->link + i;
    if (k->kind == FM_LINK_GENERAL) {
        const fm_general *g = s->general + k->nth;
        for (int32_t n = 0; n < g->screws; n++)
            if (is_too_large(s, y[k->p + g->place[n]], m->screw_pitch[g->first + n] == 0.0, value, slides)) return 1;
        return 0;
    }
    if (k->kind == FM_LINK_SPHERICAL || k->kind >= FM_LINK_MODAL || k->u < 0) return 0;
    return is_too_large(s, y[k->p], m->mode_linear[k->u] != 0, value, slides);
}

/* A joint whose position y is not resolved, with the coordinate and whether that is a translation; -1: none. */
int32_t fm_unresolved(const fm_instance *s, const double *y, double *value, int32_t *slides)
{
    const fm_image *m = &s->image;
    const double least = fmin(largest(s, 0), largest(s, 1));
    int any = 0;
    for (int32_t i = 0; i < m->n.positions; i++) any = any || fabs(y[i]) > least;
    for (int32_t i = 0; i < m->n.cut_positions; i++) any = any || fabs(s->cut_p[i]) > least;
    for (int32_t i = 0; any && i < m->n.links; i++)
        if (is_link_too_large(s, i, y, value, slides)) return m->link_joint[i];
    for (int32_t j = 0; any && j < m->n.joints; j++) {
        for (int32_t part = 0, at; fm_is_cut_joint(m, j) && part < m->joint_nu[j]; part++) {
            if (fm_cut_joint_part(m, j, part, &at) >= 0) continue;
            if (is_too_large(s, s->cut_p[at], m->mode_linear[m->joint_u[j] + part] != 0, value, slides)) return j;
        }
    }
    return -1;
}
