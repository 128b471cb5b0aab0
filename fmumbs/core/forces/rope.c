/* rope.c: ropes, which pull along their way and never push (sides.c).
 *
 * The tension of a side that is taut is T = (EA (l - L) + damping (l' - L'))/L, and that of a slack one is 0. Its
 * energy EA (l - L)^2/(2 L) has the slopes EA (l - L)/L by l, and -EA (l - L)/L - EA (l - L)^2/(2 L^2) by L, which a
 * pulley changes by its radius times its angle. So the disc turns by radius times S, with S = T + EA (l - L)^2/(2 L^2),
 * and energy accounts for what side loses that the other gains, whatever their lengths.
 */
#include "rope.h"

#include "elements.h"

#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "sides.h"
#include "wrenches.h"

#include <string.h>

/* Applies the tension along a span; what carries the pulley, or the point before, gets the opposite at the same place.
 */
static void pull_span(fm_instance *s, int32_t side, int32_t k, double tension)
{
    fm_span span;
    double end[3], v[3], wrench[6] = {0.0}, *force = wrench + 3;
    fm_span_at(s, side, k, &span);
    for (int j = 0; j < 3; j++) force[j] = -tension * span.slope[j];
    fm_apply_at_point(s, span.end, force, NULL);
    fm_point_place(s, span.end, end, v);
    fm_apply_wrench(s, s->image.point_link[span.base], end, wrench, -1.0);
}

/* Turns the disc of the pulley at one end of a side, beside what carries it. */
static void turn_disc(fm_instance *s, int32_t via, double pull)
{
    const fm_image *m = &s->image;
    const int32_t pulley = m->via_pulley[via];
    double at[3], v[3], wrench[6] = {0.0};
    if (pulley < 0) return;
    fm_pulley_torque(s, via, m->via_turn[via] * s->pulley_radius[pulley] * pull, wrench);
    fm_point_place(s, m->via_point[via], at, v);
    fm_apply_wrench(s, m->point_link[m->pulley_disc[pulley]], at, wrench, 1.0);
    fm_apply_wrench(s, m->point_link[m->via_point[via]], at, wrench, -1.0);
}

/* Applies a side that is taut. */
static void pull_side(fm_instance *s, int32_t side, double tension, double winding)
{
    const int32_t first = s->image.side_via[side], last = s->image.side_vias[side] - 1;
    for (int32_t k = 0; k < last; k++) pull_span(s, side, k, tension);
    turn_disc(s, first, tension + winding);
    turn_disc(s, first + last, tension + winding);
}

static int32_t end_of(const fm_image *m, int32_t rope)
{
    return m->rope_side[rope] + m->rope_sides[rope];
}

static void apply(fm_instance *s, int32_t i, const double *load)
{
    (void)load;
    for (int32_t side = s->image.rope_side[i]; side < end_of(&s->image, i); side++) {
        if (!fm_side_is_taut(s, side, s->work.evaluated)) continue;
        const fm_side at = fm_side_at(s, side, s->work.evaluated);
        pull_side(s, side, fm_side_tension(s, side, &at), fm_side_winding(s, side, &at));
    }
}

/* The derivatives of tension and winding along seeds of the length that a winch pays out. */
static void seeds_of(const fm_instance *s, int32_t side, const fm_side *at, double *tension, double *winding)
{
    const int32_t rope = s->image.side_rope[side];
    const double *control = s->work.seed + s->image.n.modes + 6 * s->image.n.loads;
    const double strain = (at->length - at->own) / at->own;
    *tension = s->laws.seed[s->image.side_law[side]];
    *winding = -fm_side_seed(s, side, control) * s->rope_stiffness[rope] * strain * at->length / (at->own * at->own);
}

static void respond(fm_instance *s, int32_t i, const double *load)
{
    (void)load;
    if (s->laws.off == FM_NO_LAWS) return;
    for (int32_t side = s->image.rope_side[i]; side < end_of(&s->image, i) && s->image.rope_winch[i] >= 0; side++) {
        double tension, winding;
        if (!fm_side_is_taut(s, side, s->work.evaluated)) continue;
        const fm_side at = fm_side_at(s, side, s->work.evaluated);
        seeds_of(s, side, &at, &tension, &winding);
        pull_side(s, side, tension, winding);
    }
}

/* The derivative of the energy of all ropes along seeds of the lengths that winches pay out, in work.seed. */
double fm_rope_energy_seed(const fm_instance *s)
{
    const double *control = s->work.seed + s->image.n.modes + 6 * s->image.n.loads;
    double sum = 0.0;
    for (int32_t side = 0; side < s->image.n.sides; side++) {
        const fm_side at = fm_side_at(s, side, s->y);
        const double strain = at.length > at.own ? (at.length - at.own) / at.own : 0.0;
        const double pull = s->rope_stiffness[s->image.side_rope[side]] * strain * (1.0 + 0.5 * strain);
        sum -= pull * fm_side_seed(s, side, control);
    }
    return sum;
}

static double energy(const fm_instance *s, int32_t i)
{
    double sum = 0.0;
    for (int32_t side = s->image.rope_side[i]; side < end_of(&s->image, i); side++) {
        const fm_side at = fm_side_at(s, side, s->y);
        if (at.length > at.own) sum += fm_side_winding(s, side, &at) * at.own;
    }
    return sum;
}

/* The power that a side puts into the bodies, with the tension and what a pulley takes beside it. */
static double power_of(const fm_side *at, double tension, double winding)
{
    return (tension + winding) * at->own_rate - tension * at->rate;
}

/* An output of a side, or, with `laws.off`, its derivative along seeds of the winch. */
static double side_value(const fm_instance *s, int32_t kind, int32_t side)
{
    const double *control = s->work.seed + s->image.n.modes + 6 * s->image.n.loads;
    const int taut = fm_side_is_taut(s, side, s->y);
    const fm_side at = fm_side_at(s, side, s->y);
    double tension = 0.0, winding = 0.0, slack = taut || at.own < at.length ? 0.0 : at.own - at.length;
    if (taut) tension = fm_side_tension(s, side, &at), winding = fm_side_winding(s, side, &at);
    if (tension < 0.0) tension = 0.0; /* by round-off of where it became slack */
    if (s->laws.off) {
        slack = slack > 0.0 ? fm_side_seed(s, side, control) : 0.0, tension = winding = 0.0;
        if (taut) seeds_of(s, side, &at, &tension, &winding);
    }
    switch (kind) {
    case FM_RO_TENSION: return tension;
    case FM_RO_SLACK: return slack;
    case FM_RO_PATH: return at.length;
    default: return power_of(&at, tension, winding);
    }
}

static double value(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    double sum = 0.0;
    if (kind != FM_RO_POWER) return side_value(s, kind, s->image.rope_side[i] + part);
    for (int32_t side = s->image.rope_side[i]; side < end_of(&s->image, i); side++) sum += side_value(s, kind, side);
    return sum;
}

const fm_force_element fm_rope_element = {.apply = apply, .respond = respond, .energy = energy, .value = value};
