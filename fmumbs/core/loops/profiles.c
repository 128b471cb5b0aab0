/* profiles.c: the ratios of couplings where the mechanism is.
 *
 * The row of a coupling is c = sum of ratio q - constant. In that of a cam the coordinate a has a path f over it in its
 * place, ratio scale f(a - phase), so that
 *     c' = sum of r q',   c'' = sum of r q'' + ratio scale f'' a'^2,
 * with r = ratio scale f' of a and r = ratio of the others: the entries of J, and the generalised forces on the
 * coordinates of a unit multiplier.
 */
#include "profiles.h"

#include "../instance/instance.h"
#include "../forces/excitation.h"

/* The coordinate of a cam's term, and its rates: f and its derivatives, times ratio and scale. */
static void profile(const fm_instance *s, int32_t coupling, int32_t term, double out[3])
{
    const fm_image *m = &s->image;
    const double factor = m->term_ratio[term] * s->coupling_scale[coupling];
    const double a = s->work.evaluated[s->link[m->term_link[term]].p];
    fm_profile_at(m, m->term_path[term], a - s->coupling_phase[coupling], out);
    for (int i = 0; i < 3; i++) out[i] *= factor;
}

/* Adds the term of a cam's path to c, c', and, if moving, c''. */
void fm_add_profile(const fm_instance *s, int32_t coupling, int32_t term, int moving, double c[3])
{
    const int32_t u = s->link[s->image.term_link[term]].u;
    const double rate = s->work.evaluated[s->image.n.positions + u];
    double f[3];
    profile(s, coupling, term, f);
    c[0] += f[0];
    c[1] += f[1] * rate;
    if (moving) c[2] += f[1] * s->work.accelerated[u] + f[2] * rate * rate;
}

/* r of a coupling's term. */
double fm_ratio(const fm_instance *s, int32_t coupling, int32_t term)
{
    double f[3];
    if (s->image.term_path[term] < 0) return s->image.term_ratio[term];
    profile(s, coupling, term, f);
    return f[1];
}
