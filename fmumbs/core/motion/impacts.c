/* impacts.c: stops with a restitution, at which velocities jump.
 *
 * The stops that are touched have the velocities v = J u, positive where they leave the stop. At an impact they exert
 * impulses p >= 0, after which, with the constraints of the loops,
 *     v+ = v + A p,   A = J M^-1 J',   v+ + e min(v, 0) >= 0,   p (v+ + e min(v, 0)) = 0:
 * Newton's law for each stop with an impulse; the others leave no slower than by their own restitution e (J. J. Moreau;
 * C. Glocker, Set-Valued Force Laws, 2001), by Lemke's method (maths/lemke.c). Of a gain of energy dT = sum p (v + v+)
 * / 2 a stop that is struck has the part -p (1 - e) |v| / 2 <= 0, and one that is being left, v > 0, but keeps an
 * impulse, v+ = 0, the part p v / 2 > 0. So no energy is gained unless a touched stop is being left, whatever the
 * restitutions. Where dT > 0 nevertheless, the velocities are those between p0, the impulses at e = 0, which take most,
 * and p that are nearest to p and gain none: p0 + s (p - p0), s <= 1. They leave all stops, as both of their ends do.
 * Where stops leave no room for such velocities, as two that hold one freedom from both sides, e counts as 0 for all of
 * them; then at least rest is possible, unless a program drives on.
 *
 * With an acceleration a towards the stop the flight after an impact takes 2 v+/a, and a series of such flights
 * 2 v+/(a (1 - e)) in all. Where that is nothing beside the time in which the mechanism moves, e counts as 0: the stop
 * is closed at once, and the end of the series is noted.
 */
#include "impacts.h"

#include "../maths/lemke.h"
#include "../instance/instance.h"
#include "../forces/laws.h"
#include "../tree/rate.h"
#include "law_rates.h"
#include "sticking.h"

#include <math.h>
#include <string.h>

#define FM_SERIES 1e-7     /* of the time in which the mechanism moves: a series of flights that is shorter is over */
#define FM_GAINED 1e-12    /* of the energies of all stops at an impact: a smaller gain is round-off */
#define FM_NOT_LEFT 1e-9   /* of what a velocity is the sum of: a smaller one is round-off */

/* An impact at the listed stops: which sign leaves each, restitutions, velocities before and after, impulses. */
typedef struct impact {
    int32_t n;
    double sign[FM_STICKING], e[FM_STICKING], before[FM_STICKING], after[FM_STICKING], impulse[FM_STICKING],
        rested[FM_STICKING], mode[2 * FM_STICKING]; /* mode: before it */
} impact;

/* Lists the stops that are touched at y, as closed. 0: too many. */
static int list_touched(fm_instance *s, const double *y, impact *hit)
{
    const fm_image *m = &s->image;
    hit->n = 0;
    for (int32_t i = 0; i < s->model.acting; i++) {
        double x, v;
        if (!m->law_hard[i]) continue;
        fm_law_at(s, i, y, &x, &v);
        const int32_t closed = fm_law_closed(s, i), wall = closed >= 0 ? closed : fm_law_wall(s, i, x), k = hit->n;
        if (wall < 0) continue;
        if (k >= FM_STICKING) return 0;
        hit->sign[k] = fm_wall_sign(m, wall);
        hit->e[k] = s->law_restitution[i];
        hit->before[k] = v;
        hit->rested[k] = NAN;
        memcpy(hit->mode + 2 * k, s->laws.use + 2 * i, 2 * sizeof(double));
        s->laws.use[2 * i] = hit->sign[k] > 0.0 ? -1.0 : wall;
        s->laws.use[2 * i + 1] = hit->sign[k] > 0.0 ? wall : -1.0;
        s->laws.range[2 * k] = hit->sign[k] > 0.0 ? 0.0 : -INFINITY;
        s->laws.range[2 * k + 1] = hit->sign[k] > 0.0 ? INFINITY : 0.0;
        s->laws.force[i] = 0.0;
        s->laws.held[hit->n++] = i;
    }
    return 1;
}

/* The impulses of restitutions e, or 0 where `plastic`, in laws.f: a problem of complementarity for those that are not
 * locked, with w = q + M z in units of a unit diagonal and of the largest velocity. 0: there are none, and why in
 * laws.fault. */
static int find_impulses(fm_instance *s, const impact *hit, int plastic)
{
    const int32_t n = hit->n;
    int32_t place[FM_STICKING], basis[FM_STICKING], count = 0;
    double unit[FM_STICKING], *M = s->laws.lemke, *q = M + n * n, *z = q + n, *room = z + n, size = 0.0;
    s->laws.fault = -1;
    for (int32_t i = 0; i < n; i++) {
        const int strikes = hit->sign[i] * hit->before[i] < 0.0;
        const double want = hit->sign[i] * hit->before[i] * (strikes && !plastic ? 1.0 + hit->e[i] : 1.0);
        const double mobile = s->laws.A[i * n + i];
        s->laws.f[i] = 0.0;
        if (s->laws.locked[i] || !(mobile > 0.0)) {
            if (want < -fm_law_near(s, s->laws.held[i], want))
                s->laws.fault = 2 * s->image.n.laws + 1 + s->laws.held[i];
            continue;
        }
        unit[i] = sqrt(mobile);
        q[count] = want / unit[i];
        size = fmax(size, fabs(q[count]));
        place[count++] = i;
    }
    if (s->laws.fault >= 0) return 0;
    for (int32_t a = 0; a < count; a++) {
        const int32_t i = place[a];
        q[a] /= size > 0.0 ? size : 1.0;
        for (int32_t b = 0; b < count; b++) {
            const int32_t j = place[b];
            M[a * count + b] = hit->sign[i] * hit->sign[j] * s->laws.A[i * n + j] / (unit[i] * unit[j]);
        }
    }
    const fm_complementary found = fm_lemke(M, q, count, room, basis, z);
    if (found != FM_COMPLEMENTARY) {
        s->laws.fault = (found == FM_NO_COMPLEMENTARY ? 2 : 3) * s->image.n.laws + 1 + s->laws.held[place[0]];
        return 0;
    }
    for (int32_t a = 0; a < count; a++) s->laws.f[place[a]] = hit->sign[place[a]] * size * z[a] / unit[place[a]];
    return 1;
}

/* The velocities v + A p after impulses. */
static double after_impulses(const fm_instance *s, const impact *hit, int32_t i, const double *p)
{
    double v = hit->before[i];
    for (int32_t j = 0; j < hit->n; j++) v += s->laws.A[i * hit->n + j] * p[j];
    return v;
}

/* The energy that impulses along `d` gain beside velocities that rise from `from` to `to` meanwhile; `size`: of its
 * terms. */
static double gained(const impact *hit, const double *d, const double *from, const double *to, double *size)
{
    double sum = 0.0;
    *size = 0.0;
    for (int32_t i = 0; i < hit->n; i++) {
        sum += 0.5 * d[i] * (from[i] + to[i]);
        *size += 0.5 * fabs(d[i]) * (fabs(from[i]) + fabs(to[i]));
    }
    return sum;
}

/* Impulses between those of e = 0 and hit->impulse that gain no energy. 0: fails. */
static int restrict_gain(fm_instance *s, impact *hit)
{
    double size, least[FM_STICKING], part[FM_STICKING], there[FM_STICKING], bend = 0.0, slope = 0.0;
    const double most = gained(hit, hit->impulse, hit->before, hit->after, &size);
    if (most <= FM_GAINED * size) return 1;
    if (!find_impulses(s, hit, 1)) return 0;
    memcpy(least, s->laws.f, (size_t)hit->n * sizeof *least);
    for (int32_t i = 0; i < hit->n; i++) there[i] = after_impulses(s, hit, i, least);
    const double taken = fmin(gained(hit, least, hit->before, there, &size), 0.0);
    for (int32_t i = 0; i < hit->n; i++) {
        part[i] = hit->impulse[i] - least[i];
        slope += part[i] * there[i];
        bend += 0.5 * part[i] * (hit->after[i] - there[i]);
    }
    /* taken + slope r + bend r^2 = 0 at the one positive root, which is below 1 as the sum is positive there */
    const double root = -2.0 * taken / (slope + sqrt(fmax(slope * slope - 4.0 * bend * taken, 0.0)));
    const double way = taken < 0.0 && root < 1.0 ? fmax(root, 0.0) : 0.0;
    for (int32_t i = 0; i < hit->n; i++) {
        hit->impulse[i] = least[i] + way * part[i];
        hit->after[i] = there[i] + way * (hit->after[i] - there[i]);
    }
    return 1;
}

/* Adds the effect of impulses p of the first n of laws.held to the velocities of y, as a force for a time. 0: it is not
 * finite, and the velocities are unchanged. */
int fm_apply_impulses(fm_instance *s, const fm_evaluation *how, int32_t n, const double *p, double *y)
{
    const int32_t speeds = s->image.n.speeds;
    const double time = fm_trial_time(s);
    double *with = s->laws.rates, *without = s->laws.rates + speeds, *speed = y + s->image.n.positions;
    how->make(s, how, without);
    for (int32_t i = 0; i < n; i++) s->laws.force[s->laws.held[i]] += fm_law_along(s, s->laws.held[i], p[i]) / time;
    how->make(s, how, with);
    for (int32_t i = 0; i < n; i++) s->laws.force[s->laws.held[i]] -= fm_law_along(s, s->laws.held[i], p[i]) / time;
    for (int32_t i = 0; i < speeds; i++)
        if (!isfinite(speed[i] + time * (with[i] - without[i]))) return 0;
    for (int32_t i = 0; i < speeds; i++) speed[i] += time * (with[i] - without[i]);
    return 1;
}

/* Velocities of joints after an impact exactly, where they are so but for round-off. */
static void round_speeds(const fm_instance *s, const impact *hit, double *y)
{
    double *speed = y + s->image.n.positions;
    for (int32_t i = 0; i < hit->n; i++) {
        const int32_t law = s->laws.held[i];
        if (s->image.law_spring[law] >= 0) continue;
        double *v = speed + s->image.law_u[law];
        if (fabs(*v - hit->after[i]) < fm_law_near(s, law, hit->before[i])) *v = hit->after[i];
    }
}

static int leaves(const fm_instance *s, const impact *hit, int32_t i)
{
    return hit->sign[i] * hit->after[i] > fm_law_near(s, s->laws.held[i], hit->before[i]);
}

/* Ends the series of impacts that are over, as seen from the velocities y after them. 1: some are; -1: fails. */
static int end_series(fm_instance *s, const fm_evaluation *how, impact *hit)
{
    const int32_t n = hit->n;
    int32_t kept[FM_STICKING];
    int ended = 0;
    memcpy(kept, s->laws.locked, (size_t)n * sizeof *kept);
    fm_law_rates(s, how, n, s->laws.a, s->laws.rates);
    for (int32_t i = 0; i < n; i++)
        if (leaves(s, hit, i)) s->laws.locked[i] = FM_LOCKED_AT_REST; /* exerts nothing */
    const int found = fm_sticking_box(s, n);
    for (int32_t i = 0; found && i < n; i++) {
        const double falls = -hit->sign[i] * fm_sticking_rate(s, n, i, s->laws.f);
        if (!(hit->sign[i] * hit->after[i] > 0.0) || hit->impulse[i] == 0.0 || !(falls > 0.0) || hit->e[i] == 0.0)
            continue;
        const double flight = 2.0 * hit->sign[i] * hit->after[i] / falls, series = flight / (1.0 - hit->e[i]);
        if (leaves(s, hit, i) && series > FM_SERIES * fm_trial_time(s) && flight > s->laws.resolved) continue;
        hit->e[i] = 0.0;
        hit->rested[i] = how->t + (isfinite(series) ? series : flight);
        ended = 1;
    }
    memcpy(s->laws.locked, kept, (size_t)n * sizeof *kept);
    return found ? ended : -1;
}

/* Notes what an impact did, and opens the stops that it leaves. */
static void note_impact(fm_instance *s, double t, const impact *hit)
{
    for (int32_t i = 0; i < hit->n; i++) {
        const int32_t law = s->laws.held[i];
        double *struck = s->law_struck + FM_STRUCK * law;
        const int left = leaves(s, hit, i),
                  struck_now = hit->sign[i] * hit->before[i] < -fm_law_near(s, law, hit->before[i]);
        if (left) s->laws.use[2 * law] = -1.0, s->laws.use[2 * law + 1] = FM_SLIDING;
        if (hit->impulse[i] == 0.0) continue;
        struck[FM_STRUCK_IMPULSE] = hit->impulse[i];
        struck[FM_STRUCK_LOSS] -= 0.5 * hit->impulse[i] * (hit->before[i] + hit->after[i]);
        struck[FM_STRUCK_COUNT] += 1.0;
        if (struck_now && !left) struck[FM_STRUCK_RESTED] = isfinite(hit->rested[i]) ? hit->rested[i] : t;
    }
}

/* Impulses after which no series of impacts is over, applied to the velocities of y. 0: fails. */
static int strike(fm_instance *s, const fm_evaluation *how, impact *hit, double *y)
{
    double *speed = y + s->image.n.positions;
    const size_t bytes = (size_t)s->image.n.speeds * sizeof *speed;
    memcpy(s->laws.struck, speed, bytes);
    for (;;) { /* each turn but the last ends a series */
        if (!find_impulses(s, hit, 0)) {
            if (s->laws.fault > 3 * s->image.n.laws || !find_impulses(s, hit, 1)) return 0;
            memset(hit->e, 0, (size_t)hit->n * sizeof(double));
        }
        memcpy(hit->impulse, s->laws.f, (size_t)hit->n * sizeof(double));
        for (int32_t i = 0; i < hit->n; i++) hit->after[i] = after_impulses(s, hit, i, hit->impulse);
        if (!restrict_gain(s, hit)) return 0;
        memcpy(speed, s->laws.struck, bytes);
        if (!fm_apply_impulses(s, how, hit->n, hit->impulse, y)) break;
        round_speeds(s, hit, y);
        const int ended = end_series(s, how, hit);
        if (ended == 0) return 1;
        if (ended < 0) break;
    }
    s->laws.fault = s->image.n.laws + 1 + s->laws.held[0];
    return 0;
}

/* Lets velocities of y jump where it touches an open stop and goes further. Requires fm_laws_place and the controls.
 * Returns 1 if they do, -1 if no velocity is found, and why in laws.fault. */
int fm_impacts(fm_instance *s, const fm_evaluation *how, double *y)
{
    impact hit;
    int strikes = 0;
    for (int32_t i = 0; i < s->model.acting && !strikes; i++) strikes = fm_law_strikes(s, i, y);
    if (!strikes) return 0;
    if (!list_touched(s, y, &hit)) {
        s->laws.fault = s->image.n.laws;
        return -1;
    }
    fm_sticking_matrix(s, how, hit.n, s->laws.rates);
    for (int32_t i = 0; i < hit.n; i++)
        if (s->laws.locked[i]) s->laws.locked[i] = FM_LOCKED_AT_REST; /* no impulse changes its velocity */
    if (!strike(s, how, &hit, y)) {
        for (int32_t k = 0; k < hit.n; k++)
            memcpy(s->laws.use + 2 * s->laws.held[k], hit.mode + 2 * k, 2 * sizeof(double));
        return -1;
    }
    note_impact(s, how->t, &hit);
    fm_laws_note(s, y);
    return 1;
}

/* Whether closed stops yield, since no force of theirs holds what is driven on; of the first n of laws.held, after
 * fm_sticking_box: that law, -1: none. */
int32_t fm_yielding_stop(const fm_instance *s, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t law = s->laws.held[i], closed = fm_law_closed(s, law);
        if (closed < 0) continue;
        const double sign = fm_wall_sign(&s->image, closed);
        if (s->laws.locked[i] && s->laws.locked[i] != (sign > 0.0 ? FM_LOCKED_FALLING : FM_LOCKED_RISING)) continue;
        if (sign * fm_sticking_rate(s, n, i, s->laws.f) < 0.0 && !fm_sticking_small(s, n, i, FM_NOT_LEFT)) return law;
    }
    return -1;
}
