/* switches.c: finds the times at which force laws leave their modes within an integrator's last step.
 *
 * They are located on the dense output to 1e-9 of the time in which the mechanism moves, or finer for small tolerances.
 */
#include "switches.h"

#include "../instance/instance.h"
#include "../forces/inputs.h"
#include "../forces/laws.h"
#include "../tree/rate.h"
#include "../motion/law_rates.h"
#include "../motion/sticking.h"
#include "../motion/rates.h"
#include "dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FM_LOCATED 1e-9 /* accuracy of a switching time, of that in which the mechanism moves, or of the step */
#define FM_LOCATED_FINELY 1e-3 /* the same as a fraction of the tolerance, if that is finer */
#define FM_PULL 1e-12 /* of the forces that move the mechanism: a stop that pulls less is still closed */
#define FM_LOOKS 8      /* fewest samples of the laws within a step */
#define FM_MOST_LOOKS 200 /* most additional ones: 50 halve a step down to the digits of its times */

/* How near a bound the position of a law is at it, which is 0 unless it is of a contact: a gap that has just begun or
 * ended may be on either side of 0 by round-off, from one time to the next. */
static double near_position(const fm_instance *s, int32_t law, double x)
{
    return s->image.law_spot[law] >= 0 ? fm_law_near_position(s, law, x) : 0.0;
}

/* Whether a law is outside a piece and not at its bound: a velocity at rest at a bound may be on either side of it by
 * round-off, and so may the gap of a contact. */
static int is_out(const fm_instance *s, int32_t law, int32_t piece, double x, double v)
{
    const fm_image *m = &s->image;
    if (m->law_spot[law] >= 0) {
        const double near = near_position(s, law, x);
        return fm_law_piece(m, law, x - near, v, 0) != piece && fm_law_piece(m, law, x + near, v, 0) != piece;
    }
    const double near = fm_law_near(s, law, v);
    return fm_law_piece(m, law, x, v, 0) != piece && fm_law_piece(m, law, x, v - near, 0) != piece &&
           fm_law_piece(m, law, x, v + near, 0) != piece;
}

/* The first law that has left its mode at y, -1: none. Position and velocity of each are left in `looks`. */
static int32_t first_left(fm_instance *s, double t, double *y, double *looks)
{
    const fm_image *m = &s->image;
    const int holding = fm_any_law_sticks(s);
    fm_controls_at(s, t);
    if (holding) fm_rates(s, t, y, s->laws.rates);
    fm_laws_place(s, y);
    fm_laws_look(s, y, looks);
    for (int32_t k = 0; k < s->laws.watching; k++) {
        const int32_t i = s->laws.watched[k];
        const double x = looks[2 * i], v = looks[2 * i + 1];
        int32_t above, below;
        double bound;
        if (!fm_law_sticks(s, i, &above, &below, &bound)) {
            if (!fm_law_slides(s, i, &above) || is_out(s, i, above, x, v)) return i;
            continue;
        }
        const int hard = m->law_hard[i]; /* stays closed where it is */
        if (!hard && (fm_law_piece(m, i, x, bound, 0) != above || fm_law_piece(m, i, x, bound, 1) != below)) return i;
        const int32_t pieces[2] = {above, below};
        double range[2];
        const double force = fm_law_along(s, i, s->laws.force[i]);
        fm_sticking_range(s, i, pieces, x, bound, s->law_breakaway[i], range);
        const double round = hard ? FM_PULL * fm_law_trial(s, i) : 0.0;
        if (!(force >= range[0] - round && force <= range[1] + round)) return i;
    }
    return -1;
}

/* Accuracy of a switching time within the last step [s]: a jump of a thousand times the accelerations then costs no
 * more than the tolerance. At a stop velocities jump: that of the digits of the time. */
static double located(const fm_instance *s, int hard)
{
    const double from = fabs(s->clock[FM_TIME_TAIL]), to = fabs(s->clock[FM_TIME_HEAD]);
    const double fine = FM_LOCATED_FINELY * s->options[FM_OPTION_TOLERANCE],
                 least = fine < FM_LOCATED ? fine : FM_LOCATED;
    const double rounded = 2.0 * DBL_EPSILON * (from > to ? from : to);
    if (hard) return rounded;
    const double rate = fmax(s->work.rate, fm_rate_of(s, s->head + s->image.n.positions));
    return fmax(least * fmin(1.0 / rate, s->clock[FM_TIME_HEAD] - s->clock[FM_TIME_TAIL]), rounded);
}

/* Whether a law may have left its piece between two samples h apart, although it is in it at both: the law stays
 * between the smallest and the largest Bezier control value, of the cubic Hermite interpolant of positions, and of the
 * parabola of velocities through that halfway. Positions do not tell the velocities: dense output has the one as the
 * derivative of the other to the tolerance only, however close two samples are. Where a law watches something else, as
 * a rope's margin or a motor's torque, whose derivative may jump, the position is a parabola. */
static int may_leave(const fm_instance *s, int32_t law, const double *one, const double *other, const double *halfway,
                     double h)
{
    const fm_image *m = &s->image;
    double x[4] = {one[0], one[0] + h / 3.0 * one[1], other[0] - h / 3.0 * other[1], other[0]};
    const double v[3] = {one[1], 2.0 * halfway[1] - 0.5 * (one[1] + other[1]), other[1]};
    if (fm_law_watches(m, law)) x[1] = x[2] = 2.0 * halfway[0] - 0.5 * (one[0] + other[0]);
    double x_least = x[0], x_most = x[0], v_least = v[0], v_most = v[0];
    int32_t piece;
    if (!fm_law_slides(s, law, &piece)) return 0;
    for (int i = 1; i < 4; i++) {
        x_least = x[i] < x_least ? x[i] : x_least;
        x_most = x[i] > x_most ? x[i] : x_most;
        v_least = i < 3 && v[i] < v_least ? v[i] : v_least;
        v_most = i < 3 && v[i] > v_most ? v[i] : v_most;
    }
    const double near = fm_law_near(s, law, v_most > -v_least ? v_most : -v_least);
    const double edge = near_position(s, law, fmin(fabs(x_least), fabs(x_most)));
    for (int32_t i = m->law_first[law]; i < m->law_first[law] + m->law_count[law]; i++) {
        const double *r = fm_law_range(m, i);
        if (i == piece &&
            !(x_least >= r[0] - edge && x_most < r[1] + edge && v_least >= r[2] - near && v_most <= r[3] + near))
            return 1;
        if (piece < 0 && x_most >= r[0] + edge && x_least < r[1] - edge && v_most >= r[2] + near &&
            v_least <= r[3] - near)
            return 1;
    }
    return 0;
}

/* The same of any law, between samples at two times; `beside` a law that was found outside at the second, of any other
 * stop with a restitution. Overwrites y. */
static int any_may_leave(fm_instance *s, int32_t beside, double before, double after, double *y)
{
    const int32_t laws = s->image.n.laws;
    const double *one = s->laws.looks, *other = one + 2 * laws, *halfway = other + 2 * laws;
    fm_dense(s, 0.5 * (before + after), y);
    fm_controls_at(s, 0.5 * (before + after));
    fm_laws_place(s, y);
    fm_laws_look(s, y, s->laws.looks + 4 * laws);
    for (int32_t k = 0; k < s->laws.watching; k++) {
        const int32_t i = s->laws.watched[k];
        if ((beside < 0 || (s->image.law_hard[i] && i != beside)) &&
            may_leave(s, i, one + 2 * i, other + 2 * i, halfway + 2 * i, after - before))
            return 1;
    }
    return 0;
}

/* Samples the laws through the last step, more finely the closer they are to leaving their modes. Returns the first one
 * found outside, -1: none; `span`: the times of the previous and of that sample; or the time looked through twice,
 * where the looks run out before the head. */
static int32_t look_through(fm_instance *s, double *y, double span[2])
{
    const double tail = s->clock[FM_TIME_TAIL], head = s->clock[FM_TIME_HEAD], longest = (head - tail) / FM_LOOKS;
    const double least = located(s, 0);
    const size_t laws = (size_t)s->image.n.laws;
    const int hard = fm_any_law_hard(&s->image);
    double before = tail, h = longest;
    fm_dense(s, tail, y);
    fm_controls_at(s, tail);
    fm_laws_place(s, y);
    fm_laws_look(s, y, s->laws.looks);
    for (int looks = 0; before < head; looks++) {
        const double next = before + h, after = head - before > 1.5 * h && next > before ? next : head;
        fm_dense(s, after, y);
        const int32_t left = first_left(s, after, y, s->laws.looks + 2 * laws);
        span[0] = before, span[1] = after;
        if (left >= 0 && !hard) return left;
        const int more = after - before > 2.0 * least && any_may_leave(s, left, before, after, y);
        if (left >= 0 && !(more && looks < FM_MOST_LOOKS)) return left;
        if (more) {
            if (looks >= FM_MOST_LOOKS) {
                span[1] = before;
                return -1;
            }
            h = 0.5 * (after - before);
            continue;
        }
        memcpy(s->laws.looks, s->laws.looks + 2 * laws, 2 * laws * sizeof(double));
        before = after;
        h = 2.0 * h < longest ? 2.0 * h : longest;
    }
    return -1;
}

/* The first law that left its mode within the last step, -1: none; its time, or up to where it is sure that there is
 * none, and the state then in `y`. Stores the velocities just before. */
int32_t fm_laws_switch(fm_instance *s, double *t, double *y)
{
    double span[2] = {*t, *t};
    int32_t left = look_through(s, y, span);
    if (left < 0 && span[1] == s->clock[FM_TIME_HEAD]) return -1;
    while (left >= 0 && span[1] - span[0] > located(s, s->image.law_hard[left])) {
        const double middle = 0.5 * (span[0] + span[1]);
        fm_dense(s, middle, y);
        const int32_t found = first_left(s, middle, y, s->laws.looks);
        if (found >= 0) left = found;
        span[found >= 0] = middle;
    }
    fm_dense(s, span[0], y);
    fm_laws_note(s, y);
    fm_dense(s, span[1], y);
    *t = span[1];
    return left;
}
