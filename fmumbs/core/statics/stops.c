/* stops.c: stops with a restitution at rest.
 *
 * With x how far its position is beyond a wall, a stop exerts a force f of one sign: x <= 0, f >= 0, f x = 0. It is
 * found by the method of multipliers (R. T. Rockafellar, Math. Programming 5 (1973) 354): in a search the stop gives,
 *     f = max(0, f0 + k x),
 * with f0 the f of the search before, at first 0. So f is of one sign in each, and x tends to 0 where it acts, each
 * time by the factor K/(K + k), K the stiffness of the mechanism there. k is many times that of gravity, and grows
 * where springs are stiffer still. A change by differences has each stop as it is at their base (laws.linear), which
 * makes Newton's method one of active sets.
 */
#include "stops.h"

#include "../forces/laws.h"
#include "scratch.h"

#include <math.h>

#define FM_STIFF 1e4    /* k of the mechanism's mass over its time squared: few searches leave round-off */
#define FM_STIFFEN_BY 1e2  /* times k, where a search leaves more than FM_STOPS_LEFT of x, ... */
#define FM_STIFFEST 1e14 /* ... up to this: beyond it k x has no digits beside the forces of the mechanism */
#define FM_TOUCHED 1e-9 /* rad or lengths: a descent ends so far beyond a stop, where it bears, with hardly a force */
#define FM_AT_WALL 0.5 /* of fm_law_near_position, within which a stop is touched: what may be left of x */

/* Before the first search: no stop is known to bear. */
void fm_stops_begin(fm_instance *s)
{
    const double time = s->statics->time;
    s->laws.linear = 0;
    s->statics->stop_gap = INFINITY, s->statics->stop_stiffness = FM_STIFF;
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        const int slides = s->image.law_u[i] < 0 || s->image.mode_linear[s->image.law_u[i]];
        const double arm = slides ? 1.0 : s->image.length[0];
        s->laws.pushes[i] = 0.0, s->laws.bears[i] = -1;
        s->laws.stiff[i] = FM_STIFF * s->model.mass * arm * arm / (time * time);
    }
}

/* How far a wall bears beyond what makes it do so, in lengths; with the force there in `push`. */
static double borne(const fm_instance *s, int32_t law, int32_t wall, double x, double *push)
{
    const double found = fmax(fm_wall_sign(&s->image, wall) * s->laws.pushes[law], 0.0);
    *push = found + s->laws.stiff[law] * fm_beyond_wall(&s->image, wall, x);
    return *push / s->laws.stiff[law] + fm_law_near_position(s, law, x);
}

/* Which walls bear at y, for changes beside it. */
void fm_stops_bear(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    if (!fm_any_law_hard(m)) return;
    fm_laws_place(s, y);
    for (int32_t i = 0; i < m->n.laws; i++) {
        double x, v, push, most = 0.0;
        s->laws.bears[i] = -1;
        if (!m->law_hard[i]) continue;
        fm_law_at(s, i, y, &x, &v);
        for (int32_t k = m->law_first[i]; k < m->law_first[i] + m->law_count[i]; k++) {
            const double far = borne(s, i, k, x, &push);
            if (far >= most) most = far, s->laws.bears[i] = k;
        }
    }
}

/* Keeps the forces of the stops at y, where a search has ended. How far the worst is beyond its wall, or short of it,
 * over what may be left. */
double fm_stops_push(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    double worst = 0.0;
    if (!fm_any_law_hard(m)) return 0.0;
    fm_laws_place(s, y);
    for (int32_t i = 0; i < m->n.laws; i++) {
        double x, v, push, force = 0.0;
        if (!m->law_hard[i]) continue;
        fm_law_at(s, i, y, &x, &v);
        for (int32_t k = m->law_first[i]; k < m->law_first[i] + m->law_count[i]; k++) {
            (void)borne(s, i, k, x, &push);
            if (!(push > 0.0)) continue;
            force += fm_wall_sign(m, k) * push;
            worst = fmax(worst, fabs(fm_beyond_wall(m, k, x)) / (FM_AT_WALL * fm_law_near_position(s, i, x)));
        }
        s->laws.pushes[i] = force;
    }
    return worst;
}

/* Makes the stops stiffer. 0: they are as stiff as may be. */
int fm_stops_stiffen(fm_instance *s)
{
    if (s->statics->stop_stiffness >= FM_STIFFEST) return 0;
    s->statics->stop_stiffness *= FM_STIFFEN_BY;
    for (int32_t i = 0; i < s->image.n.laws; i++) s->laws.stiff[i] *= FM_STIFFEN_BY;
    return 1;
}

/* The part of the way from one position to another, seen as straight, until the first stop that does not bear is
 * touched; 1: none is. Requires fm_stops_bear at `from`. */
double fm_stops_room(fm_instance *s, const double *from, const double *to)
{
    const fm_image *m = &s->image;
    double part = 1.0, x, v;
    if (!fm_any_law_hard(m)) return 1.0;
    for (int end = 0; end < 2; end++) {
        fm_laws_place(s, end == 0 ? from : to);
        for (int32_t i = 0; i < m->n.laws; i++) {
            if (!m->law_hard[i]) continue;
            fm_law_at(s, i, end == 0 ? from : to, &x, &v);
            if (end == 0) s->laws.from[i] = x;
            const double unit = fm_law_unit(s, i);
            for (int32_t k = m->law_first[i]; end > 0 && k < m->law_first[i] + m->law_count[i]; k++) {
                const double beyond = fm_beyond_wall(m, k, x), before = fm_beyond_wall(m, k, s->laws.from[i]);
                if (k == s->laws.bears[i] || beyond <= FM_TOUCHED * unit) continue;
                part = fmin(part, (FM_TOUCHED * unit - before) / (beyond - before));
            }
        }
    }
    return fmax(part, 0.0);
}

/* From here on stops that bear hold what they touch, with forces of either sign; 0: they give again. */
void fm_stops_hold(fm_instance *s, int holds)
{
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        const int32_t wall = s->laws.bears[i];
        if (!s->image.law_hard[i] || wall < 0) continue;
        const int above = fm_wall_sign(&s->image, wall) < 0.0;
        s->laws.now[2 * i] = !holds ? FM_UNKNOWN : above ? wall : -1.0;
        s->laws.now[2 * i + 1] = !holds ? FM_UNKNOWN : above ? -1.0 : wall;
    }
}
