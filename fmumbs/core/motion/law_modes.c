/* law_modes.c: chooses the modes of the force laws at a state (theory in sticking.c).
 *
 * Velocities of laws that will stick are brought to their bounds by the impulse A^-1 (bound - v). If f rises with v the
 * bound is repelling: v continues to the side it comes to.
 */
#include "law_modes.h"

#include "../instance/instance.h"
#include "../tree/planar.h"
#include "../tree/rate.h"
#include "../forces/circuit.h"
#include "../forces/contact.h"
#include "../forces/inputs.h"
#include "../forces/laws.h"
#include "evaluation.h"
#include "impacts.h"
#include "law_rates.h"
#include "sticking.h"

#include <math.h>
#include <string.h>

/* Applies the impulse after which the laws that are FM_BETWEEN have the velocities of their bounds. 0: it is not
 * finite, and the velocities are unchanged. */
static int settle(fm_instance *s, const fm_evaluation *how, int32_t n, double *y)
{
    const fm_image *m = &s->image;
    double *p = s->laws.aim, *speed = y + m->n.positions;
    int32_t above, below;
    double x, v, bound;
    fm_laws_place(s, y);
    for (int32_t i = 0; i < n; i++) {
        p[i] = 0.0;
        s->laws.a[i] = 0.0;
        if (s->laws.where[i] != FM_BETWEEN || !fm_law_sticks(s, s->laws.held[i], &above, &below, &bound)) continue;
        fm_law_at(s, s->laws.held[i], y, &x, &v);
        s->laws.a[i] = v - bound;
    }
    fm_sticking_solve(s, n, s->laws.where, p);
    if (!fm_apply_impulses(s, how, n, p, y)) return 0;
    for (int32_t i = 0; i < n; i++) { /* exactly, where possible */
        const int32_t law = s->laws.held[i];
        if (s->laws.where[i] != FM_BETWEEN || m->law_spring[law] >= 0 || m->law_gear[law] >= 0) continue;
        if (fm_law_sticks(s, law, &above, &below, &bound) &&
            fabs(speed[m->law_u[law]] - bound) < fm_law_near(s, law, bound))
            speed[m->law_u[law]] = bound;
    }
    return 1;
}

static void set_mode(fm_instance *s, int32_t law, int32_t piece, double below)
{
    s->laws.use[2 * law] = piece;
    s->laws.use[2 * law + 1] = below;
}

/* The pieces above and below the bound at which a law may stick. 0: it is at none. */
static int find_bound(const fm_instance *s, int32_t law, int held, double x, double v, double *bound, int32_t pieces[2])
{
    const fm_image *m = &s->image;
    if (m->law_hard[law]) {
        const int32_t wall = held                                ? fm_law_closed(s, law)
                             : fabs(v) <= fm_law_near(s, law, v) ? fm_law_wall(s, law, x)
                                                                 : -1;
        pieces[0] = wall >= 0 && fm_wall_sign(m, wall) < 0.0 ? wall : -1;
        pieces[1] = wall >= 0 && fm_wall_sign(m, wall) > 0.0 ? wall : -1;
        *bound = 0.0;
        return wall >= 0;
    }
    if (!held && !fm_law_bound(s, law, x, s->laws.v[law], v, bound)) return 0;
    pieces[0] = fm_law_piece(m, law, x, *bound, 0);
    pieces[1] = fm_law_piece(m, law, x, *bound, 1);
    return 1;
}

/* Puts every watched law into its piece, or at a bound where it may stick. Returns the number of the latter, -1: too
 * many. */
static int32_t list_bounds(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    int32_t count = 0;
    for (int32_t watched = 0; watched < s->laws.watching; watched++) {
        const int32_t i = s->laws.watched[watched];
        int32_t above = -1, below = -1, pieces[2];
        double x, v, bound = 0.0, range[2];
        fm_law_at(s, i, y, &x, &v);
        const int held = fm_law_sticks(s, i, &above, &below, &bound);
        const int found = find_bound(s, i, held, x, v, &bound, pieces);
        set_mode(s, i, m->law_hard[i] ? -1 : fm_law_piece(m, i, x, v, 0), FM_SLIDING);
        if (!found) continue;
        fm_sticking_range(s, i, pieces, x, bound, s->law_breakaway[i], range);
        const double size = fabs(range[1]) > fabs(range[0]) ? fabs(range[1]) : fabs(range[0]);
        const int jumps = m->law_hard[i] || range[1] - range[0] > FM_LAW_JUMP * size;
        if (pieces[0] == pieces[1] || !jumps) continue;
        if (count >= FM_STICKING) return -1;
        memcpy(s->laws.range + 2 * count, range, sizeof range);
        s->laws.held[count++] = i;
        set_mode(s, i, pieces[0], pieces[1]);
    }
    return count;
}

/* Whether a law at a bound continues upwards but could continue downwards. */
static int could_fall(const fm_instance *s, int32_t law, const double *y, int32_t *below)
{
    const fm_image *m = &s->image;
    int32_t above;
    double x, v, bound;
    if (fm_law_sticks(s, law, &above, below, &bound)) return 0;
    fm_law_at(s, law, y, &x, &v);
    if (!fm_law_bound(s, law, x, v, v, &bound)) return 0;
    above = fm_law_piece(m, law, x, bound, 0);
    *below = fm_law_piece(m, law, x, bound, 1);
    return above != *below && s->laws.use[2 * law] == above;
}

/* Whether a law is among the first n of laws.held, whose modes have been solved for. */
static int is_decided(const fm_instance *s, int32_t n, int32_t law)
{
    for (int32_t i = 0; i < n; i++)
        if (s->laws.held[i] == law) return 1;
    return 0;
}

/* Laws at a repelling bound, other than those n, continue to the side to which they are pushed. */
static void part_ways(fm_instance *s, const fm_evaluation *how, int32_t n, const double *y)
{
    const fm_image *m = &s->image;
    int32_t below;
    int known = 0;
    for (int32_t i = 0; i < s->model.acting; i++) {
        if (is_decided(s, n, i) || !could_fall(s, i, y, &below)) continue;
        if (!known) how->make(s, how, s->laws.rates);
        if (!known && m->n.springs > 0) fm_planar_expand(s);
        known = 1;
        const int32_t spring = m->law_spring[i];
        if ((spring >= 0 ? fm_line_acceleration(s, spring) : fm_law_mode_rate(s, i, s->laws.rates)) < 0.0)
            set_mode(s, i, below, FM_SLIDING);
    }
}

/* Sets the modes of the laws at bounds from the solution. A velocity on the side on which its law does not slide sticks
 * for the moment. 1: some velocities have to be brought to their bounds. */
static int sort_out(fm_instance *s, int32_t n, const double *y)
{
    int settled = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t above, below;
        double x, v, bound = 0.0;
        s->laws.force[s->laws.held[i]] = fm_law_along(s, s->laws.held[i], s->laws.f[i]);
        s->laws.side[i] = s->laws.where[i];
        fm_law_at(s, s->laws.held[i], y, &x, &v);
        (void)fm_law_sticks(s, s->laws.held[i], &above, &below, &bound);
        if (s->laws.where[i] != FM_BETWEEN && (s->laws.where[i] == FM_AT_LEAST ? v >= bound : v <= bound)) continue;
        s->laws.where[i] = FM_BETWEEN;
        settled = 1;
    }
    return settled;
}

/* The forces of sliding as the range of a law that breaks away. */
static void narrow(fm_instance *s, int32_t i, const double *y)
{
    int32_t pieces[2];
    double x, v, bound;
    if (!fm_law_sticks(s, s->laws.held[i], &pieces[0], &pieces[1], &bound)) return;
    fm_law_at(s, s->laws.held[i], y, &x, &v);
    fm_sticking_range(s, s->laws.held[i], pieces, x, bound, 1.0, s->laws.range + 2 * i);
}

/* Which of the n laws stick. One that breaks away exerts less from then on, so that others may follow: each turn but
 * the last has one more of them. A law at the bound of its range that others keep at rest sticks, too. 0: it is not
 * found. */
static int find_sticking(fm_instance *s, int32_t n, const double *y)
{
    int32_t broken[FM_STICKING] = {0};
    for (int more = 1; more;) {
        if (!fm_sticking_box(s, n)) return 0;
        more = 0;
        for (int32_t i = 0; i < n; i++) {
            if (s->laws.where[i] == FM_BETWEEN || broken[i] || s->law_breakaway[s->laws.held[i]] == 1.0) continue;
            if (fm_sticking_rests(s, n, i)) continue;
            narrow(s, i, y);
            broken[i] = more = 1;
        }
    }
    for (int32_t i = 0; i < n; i++)
        if (fm_sticking_rests(s, n, i)) s->laws.where[i] = FM_BETWEEN;
    return 1;
}

/* Chooses the modes for the step from y at time t, with the velocities before in laws.v; `move`: also lets velocities
 * jump at stops, bristles go where contact ends, and brings velocities to the bounds at which they stick. Returns 1 if
 * y changed, -1 if none are found, and why in laws.fault. */
int fm_laws_choose(fm_instance *s, double t, double *y, int move)
{
    const fm_evaluation how = fm_evaluation_at(t, y);
    fm_controls_at(s, t);
    fm_laws_place(s, y);
    const int curbed = move && fm_motors_curb(s, y);
    int settled = move ? fm_impacts(s, &how, y) : 0;
    if (settled < 0) return -1;
    settled |= curbed;
    const int32_t n = list_bounds(s, y);
    if (n < 0) {
        s->laws.fault = s->image.n.laws;
        return -1;
    }
    if (n > 0) {
        for (int32_t i = 0; i < s->image.n.laws; i++) s->laws.force[i] = 0.0;
        fm_sticking_matrix(s, &how, n, s->laws.rates);
        if (!find_sticking(s, n, y)) {
            s->laws.fault = s->image.n.laws + 1 + s->laws.held[0];
            return -1;
        }
        const int32_t yields = fm_yielding_stop(s, n);
        if (yields >= 0) {
            s->laws.fault = 2 * s->image.n.laws + 1 + yields;
            return -1;
        }
        settled |= sort_out(s, n, y) && move && settle(s, &how, n, y);
    }
    for (int32_t i = 0; i < n; i++) {
        double *mode = s->laws.use + 2 * s->laws.held[i];
        if (s->laws.side[i] == FM_AT_MOST) mode[0] = mode[1];
        if (s->laws.side[i] != FM_BETWEEN) mode[1] = FM_SLIDING;
    }
    settled |= move && fm_spots_let_go(s, y);
    fm_laws_place(s, y);
    part_ways(s, &how, n, y);
    return settled;
}

/* Whether the present time is the integrator's, be it the host. */
static int is_at_head(const fm_instance *s)
{
    return s->clock[FM_HOSTED] != 0.0 || s->clock[FM_TIME] == s->clock[FM_TIME_HEAD];
}

/* The modes that the integrator knows at the present time. */
static const double *known_modes(const fm_instance *s)
{
    return is_at_head(s) ? s->law_mode : s->law_last;
}

/* What impacts of a law did until the present time, columns of fm_struck. */
const double *fm_law_struck(const fm_instance *s, int32_t law)
{
    return (is_at_head(s) ? s->law_struck : s->law_struck_last) + FM_STRUCK * law;
}

/* Makes the modes of the integrator's time, and what impacts did until then, those of its last step. */
void fm_laws_keep(fm_instance *s)
{
    memcpy(s->law_last, s->law_mode, 2 * (size_t)s->image.n.laws * sizeof(double));
    memcpy(s->law_struck_last, s->law_struck, FM_STRUCK * (size_t)s->image.n.laws * sizeof(double));
}

/* Whether a law was struck, or is in another mode, since fm_laws_keep. */
int fm_laws_changed(const fm_instance *s)
{
    const size_t laws = (size_t)s->image.n.laws;
    return fm_laws_struck(s) || memcmp(s->law_last, s->law_mode, 2 * laws * sizeof(double)) != 0;
}

/* Whether there was an impact since fm_laws_keep. */
int fm_laws_struck(const fm_instance *s)
{
    const size_t laws = (size_t)s->image.n.laws;
    return memcmp(s->law_struck_last, s->law_struck, FM_STRUCK * laws * sizeof(double)) != 0;
}

/* Inputs and modes for outputs at the present time: those of the integrator, or, after a change, those with which it
 * would start.
 */
void fm_laws_present(fm_instance *s)
{
    s->valid |= FM_VALID_LAWS;
    fm_controls_at(s, s->clock[FM_TIME]);
    if (s->image.n.laws == 0) return;
    memcpy(s->laws.now, known_modes(s), 2 * (size_t)s->image.n.laws * sizeof(double));
    if (s->clock[FM_AHEAD] != 0.0 || s->clock[FM_HOSTED] != 0.0) return;
    fm_laws_note(s, s->y);
    (void)fm_laws_choose(s, s->clock[FM_TIME], s->y, 0);
}

/* Goes on with the modes of the present time. */
void fm_laws_resume(fm_instance *s)
{
    memmove(s->law_mode, known_modes(s), 2 * (size_t)s->image.n.laws * sizeof(double));
    if (!is_at_head(s)) memcpy(s->law_struck, s->law_struck_last, FM_STRUCK * (size_t)s->image.n.laws * sizeof(double));
}

/* Starts an integration at y, the present state. 0: no modes are found. */
int fm_laws_begin(fm_instance *s, double *y)
{
    fm_laws_resume(s);
    fm_laws_note(s, y);
    return fm_laws_choose(s, s->clock[FM_TIME], y, 1) >= 0;
}
