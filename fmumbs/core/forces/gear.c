/* gear.c: gears with play, whose teeth are a spring with a gap between two coordinates of joints.
 *
 * With x = q_A - N q_B - offset, v its rate, the play b, stiffness k and damping d, the force on A beyond the gap is
 *
 *     f = -k (x - b/2) - d max(v, 0),   x > b/2;        f = -k (x + b/2) - d min(v, 0),   x < -b/2,
 *
 * and -N f on B: a force law of four pieces, which the parameters make, so that steps end at the edges of the gap and
 * where the teeth turn back (laws.c). Its energy is that of k alone.
 */
#include "gear.h"

#include "../instance/instance.h"
#include "elements.h"
#include "laws.h"

#include <string.h>

#define FM_UNBOUNDED 1e300

/* Of a piece of its law, -1: none; they are below and above the gap, at falling and at rising x. */
fm_teeth fm_teeth_of(const fm_image *m, int32_t gear, int32_t piece)
{
    const int32_t n = piece - m->law_first[m->gear_law[gear]];
    const fm_teeth at = {piece < 0 ? 0 : n >= 2 ? 1 : -1, piece >= 0 && (n >= 2) == n % 2};
    return at;
}

/* Makes the pieces of all gears. */
void fm_gears_derive(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.gears; i++)
        for (int n = 0; n < 4; n++) {
            const int32_t piece = s->image.law_first[s->image.gear_law[i]] + n;
            const fm_teeth at = fm_teeth_of(&s->image, i, piece);
            const int above = at.flank > 0, rises = above == at.pressed;
            const double half = 0.5 * s->gear_backlash[i], edge = s->gear_offset[i] + (above ? half : -half);
            const double range[5] = {above ? edge : -FM_UNBOUNDED, above ? FM_UNBOUNDED : edge,
                                     rises ? 0.0 : -FM_UNBOUNDED, rises ? FM_UNBOUNDED : 0.0, edge};
            double *c = s->laws.own_polynomial + FM_LAW_TERMS * piece;
            memcpy(s->laws.own_range + 5 * piece, range, sizeof range);
            memset(c, 0, FM_LAW_TERMS * sizeof *c);
            c[FM_LAW_POWERS_V] = -s->gear_stiffness[i];
            if (at.pressed) c[1] = -s->gear_damping[i];
        }
}

static double force_at(const fm_instance *s, int32_t i, double x, double v)
{
    const int32_t piece = fm_law_piece(&s->image, s->image.gear_law[i], x, v, 0);
    return fm_law_polynomial(&s->image, piece, x, v);
}

static double energy(const fm_instance *s, int32_t i)
{
    double x, v;
    fm_law_at(s, s->image.gear_law[i], s->y, &x, &v);
    const double pressed = force_at(s, i, x, 0.0) / s->gear_stiffness[i];
    return 0.5 * s->gear_stiffness[i] * pressed * pressed;
}

static int32_t link_of(const fm_image *m, int32_t u)
{
    int32_t link = 0;
    while (m->link_u[link] != u) link++;
    return link;
}

static void links(const fm_image *m, int32_t i, int32_t links[2])
{
    links[0] = link_of(m, m->law_u[m->gear_law[i]]), links[1] = link_of(m, m->gear_u[i]);
}

static double value(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    double x, v;
    (void)part;
    fm_law_at(s, s->image.gear_law[i], s->y, &x, &v);
    if (kind == FM_T_POSITION) return x - s->gear_offset[i];
    const double force = force_at(s, i, x, v);
    return kind == FM_T_FORCE ? force : -s->gear_ratio[i] * force * s->y[s->image.n.positions + s->image.gear_u[i]];
}

const fm_force_element fm_gear_element = {.energy = energy, .links = links, .value = value};
