/* holding.c: where a force law jumps with the velocity, and may hold it there, as dry friction and ratchets do.
 *
 * Let the force f that drives v fall from f- to f+ as v passes a bound. The velocities of all laws that are at such a bound have the rates
 *     a = a0 + A f,   A = J M^-1 J' positive semidefinite,   f+ <= f <= f-,
 * by the same sweeps as ever, one for a0 and one for each column of A. Below its bound a velocity must fall
 * (f = f-, a < 0), above it rise (f = f+, a > 0), between it is held (a = 0): the conditions for the least of
 * f' A f / 2 + a0' f within the box, which has one a. So laws hold and let go together, whatever their coupling.
 * While some are held every evaluation finds their forces from a = 0. A law lets go where its force leaves the range.
 * Velocities that are to be held are brought to their bounds by the impulse A^-1 (bound - v).
 * Where f rises with v the bound pushes away: v goes on to the side to which it came.
 */
#include "instance.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FM_JUMP 1e-9   /* a smaller one, beside the forces, is none */
#define FM_EQUAL 1e-12 /* what is added to the diagonal of A, beside the largest: equal parts for laws that act alike */

typedef enum place { FM_BETWEEN, FM_AT_LEAST, FM_AT_MOST } place;

/* Which laws hold, in s->held; how many. */
static int32_t list_held(fm_instance *s)
{
    int32_t count = 0, above, below;
    double bound;
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        s->law_force[i] = 0.0;
        if (count < FM_HELD && fm_law_holds(s, i, &above, &below, &bound)) s->held[count++] = i;
    }
    return count;
}

int fm_laws_holding(const fm_instance *s)
{
    int32_t above, below;
    double bound;
    for (int32_t i = 0; i < s->image.n.laws; i++)
        if (fm_law_holds(s, i, &above, &below, &bound)) return 1;
    return 0;
}

/* The rate of a spring's rate of length, from what the sweeps have left. */
static double line_acceleration(const fm_instance *s, int32_t spring)
{
    const fm_image *m = &s->image;
    const int32_t P = m->spring_P[spring], Q = m->spring_Q[spring];
    double rP[3], vP[3], rQ[3], vQ[3], direction[3], rate, along = 0.0, square = 0.0;
    const double length = fm_spring_line(s, spring, direction, &rate);
    fm_point_place(s, P, rP, vP);
    fm_point_place(s, Q, rQ, vQ);
    for (int j = 0; j < 3; j++) {
        along += direction[j] * (fm_acceleration(s, m->point_link[Q], m->point_r + 3 * Q, j) -
                                 fm_acceleration(s, m->point_link[P], m->point_r + 3 * P, j));
        square += (vQ[j] - vP[j]) * (vQ[j] - vP[j]);
    }
    return length > 0.0 ? along + (square - rate * rate) / length : 0.0;
}

/* One evaluation, and the rates of the velocities that are held. */
static void evaluate(fm_instance *s, const fm_evaluation *how, int32_t count, double *rates, double *udot)
{
    how->make(s, how, udot);
    int lines = 0;
    for (int32_t i = 0; i < count; i++) lines |= s->image.law_spring[s->held[i]] >= 0;
    if (lines) fm_planar_expand(s);
    for (int32_t i = 0; i < count; i++) {
        const int32_t law = s->held[i], spring = s->image.law_spring[law];
        rates[i] = spring >= 0 ? line_acceleration(s, spring) : udot[s->image.law_u[law]];
    }
}

/* A spring's force shortens it: what drives the velocity of a law is its force, or the opposite. */
static double along(const fm_instance *s, int32_t law, double force)
{
    return s->image.law_spring[law] >= 0 ? -force : force;
}

/* How large the force of a law may be, to try it with. */
static double size_of(const fm_instance *s, int32_t law)
{
    double size = 0.0;
    for (int32_t i = s->image.law_first[law]; i < s->image.law_first[law] + s->image.law_count[law]; i++)
        size = fabs(s->image.law_polynomial[24 * i]) > size ? fabs(s->image.law_polynomial[24 * i]) : size;
    return size > 0.0 && size < 1e100 ? size : 1.0;
}

/* a0 in held_a, A in held_A. */
static void make_matrix(fm_instance *s, const fm_evaluation *how, int32_t count, double *udot)
{
    double *rates = s->held_x;
    evaluate(s, how, count, s->held_a, udot);
    for (int32_t j = 0; j < count; j++) {
        const double force = size_of(s, s->held[j]);
        s->law_force[s->held[j]] = along(s, s->held[j], force);
        evaluate(s, how, count, rates, udot);
        s->law_force[s->held[j]] = 0.0;
        for (int32_t i = 0; i < count; i++) s->held_A[i * count + j] = (rates[i] - s->held_a[i]) / force;
    }
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < i; j++) {
            const double mean = 0.5 * (s->held_A[i * count + j] + s->held_A[j * count + i]);
            s->held_A[i * count + j] = s->held_A[j * count + i] = mean;
        }
}

/* Factors A of the laws that are `between`, L L', the others left out. */
static void factor(fm_instance *s, int32_t n, const int32_t *where)
{
    const double *A = s->held_A;
    double *L = s->held_L, most = 1e-200;
    for (int32_t i = 0; i < n; i++) most = A[i * n + i] > most ? A[i * n + i] : most;
    for (int32_t i = 0; i < n; i++) {
        if (where[i] != FM_BETWEEN) continue;
        for (int32_t j = 0; j <= i; j++) {
            if (where[j] != FM_BETWEEN) continue;
            double value = A[i * n + j] + (i == j ? FM_EQUAL * most : 0.0);
            for (int32_t k = 0; k < j; k++)
                if (where[k] == FM_BETWEEN) value -= L[i * n + k] * L[j * n + k];
            L[i * n + j] = i > j ? value / L[j * n + j] : sqrt(value > FM_EQUAL * most ? value : FM_EQUAL * most);
        }
    }
}

/* x <- (L L')^-1 x */
static void solve(const fm_instance *s, int32_t n, const int32_t *where, double *x)
{
    const double *L = s->held_L;
    for (int32_t i = 0; i < n; i++) {
        if (where[i] != FM_BETWEEN) continue;
        for (int32_t k = 0; k < i; k++)
            if (where[k] == FM_BETWEEN) x[i] -= L[i * n + k] * x[k];
        x[i] /= L[i * n + i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        if (where[i] != FM_BETWEEN) continue;
        for (int32_t k = i + 1; k < n; k++)
            if (where[k] == FM_BETWEEN) x[i] -= L[k * n + i] * x[k];
        x[i] /= L[i * n + i];
    }
}

static double rate_at(const fm_instance *s, int32_t n, int32_t i, const double *f)
{
    double rate = s->held_a[i];
    for (int32_t j = 0; j < n; j++) rate += s->held_A[i * n + j] * f[j];
    return rate;
}

/* Forces of those between for which their rates vanish, the others' being given: from the f that is there. Three
 * rounds undo what the addition to the diagonal does. */
static void solve_between(fm_instance *s, int32_t n, const int32_t *where, double *f)
{
    double *x = s->held_x;
    factor(s, n, where);
    for (int round = 0; round < 3; round++) {
        for (int32_t i = 0; i < n; i++) x[i] = where[i] == FM_BETWEEN ? -rate_at(s, n, i, f) : 0.0;
        solve(s, n, where, x);
        for (int32_t i = 0; i < n; i++)
            if (where[i] == FM_BETWEEN) f[i] += x[i];
    }
}

/* One step of those between from f towards `aim`: to the first bound on the way, whose law stays there. */
static int stop_at_bound(fm_instance *s, int32_t n, int32_t *where, const double *aim, double *f)
{
    const double *range = s->held_range;
    double way = 1.0;
    int32_t first = -1;
    for (int32_t i = 0; i < n; i++) {
        if (where[i] != FM_BETWEEN || (aim[i] >= range[2 * i] && aim[i] <= range[2 * i + 1])) continue;
        const double part = ((aim[i] < range[2 * i] ? range[2 * i] : range[2 * i + 1]) - f[i]) / (aim[i] - f[i]);
        if (first < 0 || part < way) way = part, first = i;
    }
    for (int32_t i = 0; i < n; i++)
        if (where[i] == FM_BETWEEN) f[i] += way * (aim[i] - f[i]);
    if (first < 0) return 0;
    where[first] = aim[first] < range[2 * first] ? FM_AT_LEAST : FM_AT_MOST;
    f[first] = range[2 * first + (where[first] == FM_AT_MOST)];
    return 1;
}

/* The least of f' A f / 2 + a0' f within the box, by active sets. */
static void solve_box(fm_instance *s, int32_t n)
{
    double *f = s->held_f, *aim = s->held_aim, largest = 0.0;
    int32_t *where = s->held_where;
    for (int32_t i = 0; i < n; i++) {
        f[i] = 0.5 * (s->held_range[2 * i] + s->held_range[2 * i + 1]);
        where[i] = FM_BETWEEN;
        largest = fabs(s->held_a[i]) > largest ? fabs(s->held_a[i]) : largest;
    }
    for (int32_t round = 0; round < 20 + 10 * n; round++) {
        memcpy(aim, f, (size_t)n * sizeof *aim);
        solve_between(s, n, where, aim);
        if (stop_at_bound(s, n, where, aim, f)) continue;
        int32_t wrong = -1;
        for (int32_t i = 0; i < n && wrong < 0; i++) {
            const double rate = where[i] == FM_BETWEEN ? 0.0 : rate_at(s, n, i, f);
            if (where[i] == FM_AT_LEAST ? rate < -1e-13 * largest : rate > 1e-13 * largest) wrong = i;
        }
        if (wrong < 0) return;
        where[wrong] = FM_BETWEEN;
    }
}

/* The range of a law's force at the bound between two pieces, as what drives the velocity. */
static void range_at(const fm_instance *s, int32_t law, const int32_t pieces[2], double x, double bound, double *range)
{
    range[0] = along(s, law, fm_law_polynomial(&s->image, pieces[0], x, bound));
    range[1] = along(s, law, fm_law_polynomial(&s->image, pieces[1], x, bound));
}

/* Whether the forces of all that hold are in their ranges at y, which are left in held_range. */
static int in_ranges(fm_instance *s, int32_t n, const double *y)
{
    int all = 1;
    for (int32_t i = 0; i < n; i++) {
        double *range = s->held_range + 2 * i, bound = 0.0, x, v;
        int32_t pieces[2] = {-1, -1};
        fm_law_at(s, s->held[i], y, &x, &v);
        (void)fm_law_holds(s, s->held[i], &pieces[0], &pieces[1], &bound);
        range_at(s, s->held[i], pieces, x, bound, range);
        all = all && s->held_f[i] >= range[0] && s->held_f[i] <= range[1];
    }
    return all;
}

/* Whether all that hold can do so within their ranges: where several act alike many forces do. These are left in held_f. */
static int share(fm_instance *s, int32_t n)
{
    double largest = 0.0;
    for (int32_t i = 0; i < n; i++) {
        if (!(s->held_range[2 * i] < s->held_range[2 * i + 1])) return 0;
        largest = fabs(s->held_a[i]) > largest ? fabs(s->held_a[i]) : largest;
    }
    solve_box(s, n);
    for (int32_t i = 0; i < n; i++)
        if (!(fabs(rate_at(s, n, i, s->held_f)) <= FM_JUMP * largest)) return 0;
    return 1;
}

/* The forces for which all that hold have no rates: the smallest that are in their ranges, if any are. */
static void find_forces(fm_instance *s, int32_t n, const double *y)
{
    for (int turn = 0; turn < 2; turn++) {
        for (int32_t i = 0; i < n; i++) s->held_f[i] = 0.0, s->held_where[i] = FM_BETWEEN;
        solve_between(s, n, s->held_where, s->held_f);
        if (n < 2 || s->laws_off || turn > 0 || in_ranges(s, n, y) || share(s, n)) return;
    }
}

/* An evaluation in which the laws that hold do so: the forces are left in law_force. */
void fm_laws_hold(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const int32_t n = list_held(s);
    make_matrix(s, how, n, udot);
    find_forces(s, n, how->y);
    for (int32_t i = 0; i < n; i++) s->law_force[s->held[i]] = along(s, s->held[i], s->held_f[i]);
    how->make(s, how, udot);
}

/* The impulse after which the laws that are between have the velocities of their bounds. 0: there is none in finite
 * numbers, and the velocities stay. */
static int settle(fm_instance *s, const fm_evaluation *how, int32_t n, double *y)
{
    const fm_image *m = &s->image;
    double *with = s->law_rates, *without = s->law_rates + m->n.speeds, *p = s->held_aim, *speed = y + m->n.positions;
    int32_t above, below;
    double x, v, bound;
    fm_laws_place(s, y);
    for (int32_t i = 0; i < n; i++) {
        p[i] = 0.0;
        s->held_a[i] = 0.0;
        if (s->held_where[i] != FM_BETWEEN || !fm_law_holds(s, s->held[i], &above, &below, &bound)) continue;
        fm_law_at(s, s->held[i], y, &x, &v);
        s->held_a[i] = v - bound;
    }
    solve_between(s, n, s->held_where, p);
    how->make(s, how, without);
    for (int32_t i = 0; i < n; i++) s->law_force[s->held[i]] += along(s, s->held[i], p[i]);
    how->make(s, how, with);
    for (int32_t i = 0; i < n; i++) s->law_force[s->held[i]] -= along(s, s->held[i], p[i]);
    for (int32_t i = 0; i < m->n.speeds; i++)
        if (!isfinite(speed[i] + (with[i] - without[i]))) return 0;
    for (int32_t i = 0; i < m->n.speeds; i++) speed[i] += with[i] - without[i];
    for (int32_t i = 0; i < n; i++) { /* to the last digit, where that can be */
        const int32_t law = s->held[i];
        if (s->held_where[i] != FM_BETWEEN || m->law_spring[law] >= 0) continue;
        if (fm_law_holds(s, law, &above, &below, &bound) && fabs(speed[m->law_u[law]] - bound) < 1e-12 * (1.0 + fabs(bound)))
            speed[m->law_u[law]] = bound;
    }
    return 1;
}

static void set_mode(fm_instance *s, int32_t law, int32_t piece, double below)
{
    s->law_use[2 * law] = piece;
    s->law_use[2 * law + 1] = below;
}

/* Every law in its piece, or at a bound that may hold it. Returns how many those are, -1: too many. */
static int32_t list_bounds(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    int32_t count = 0;
    for (int32_t i = 0; i < m->n.laws; i++) {
        int32_t above = -1, below = -1;
        double x, v, bound = 0.0;
        fm_law_at(s, i, y, &x, &v);
        const int held = fm_law_holds(s, i, &above, &below, &bound);
        set_mode(s, i, fm_law_piece(m, i, x, v, 0), FM_PASSING);
        if (!held && !fm_law_bound(m, i, x, s->law_v[i], v, &bound)) continue;
        const int32_t pieces[2] = {fm_law_piece(m, i, x, bound, 0), fm_law_piece(m, i, x, bound, 1)};
        double range[2];
        range_at(s, i, pieces, x, bound, range);
        const double size = fabs(range[1]) > fabs(range[0]) ? fabs(range[1]) : fabs(range[0]);
        if (pieces[0] == pieces[1] || !(range[1] - range[0] > FM_JUMP * size)) continue;
        if (count >= FM_HELD) return -1;
        memcpy(s->held_range + 2 * count, range, sizeof range);
        s->held[count++] = i;
        set_mode(s, i, pieces[0], pieces[1]);
    }
    return count;
}

/* Whether a law is at a bound that it goes on from upwards, but could go on downwards. */
static int could_fall(const fm_instance *s, int32_t law, const double *y, int32_t *below)
{
    const fm_image *m = &s->image;
    int32_t above;
    double x, v, bound;
    if (fm_law_holds(s, law, &above, below, &bound)) return 0;
    fm_law_at(s, law, y, &x, &v);
    if (!fm_law_bound(m, law, x, v, v, &bound)) return 0;
    above = fm_law_piece(m, law, x, bound, 0);
    *below = fm_law_piece(m, law, x, bound, 1);
    return above != *below && s->law_use[2 * law] == above;
}

/* Whether a law is among the first n of s->held, for which solve_box has decided. */
static int is_decided(const fm_instance *s, int32_t n, int32_t law)
{
    for (int32_t i = 0; i < n; i++)
        if (s->held[i] == law) return 1;
    return 0;
}

/* Laws other than those n that are at a bound that pushes away go to the side to which they are pushed. */
static void part_ways(fm_instance *s, const fm_evaluation *how, int32_t n, const double *y)
{
    const fm_image *m = &s->image;
    int32_t below;
    int known = 0;
    for (int32_t i = 0; i < m->n.laws; i++) {
        if (is_decided(s, n, i) || !could_fall(s, i, y, &below)) continue;
        if (!known) how->make(s, how, s->law_rates);
        if (!known && m->n.springs > 0) fm_planar_expand(s);
        known = 1;
        const int32_t spring = m->law_spring[i];
        if ((spring >= 0 ? line_acceleration(s, spring) : s->law_rates[m->law_u[i]]) < 0.0) set_mode(s, i, below, FM_PASSING);
    }
}

/* Modes of the laws at bounds, as solve_box found them. A velocity on the side that a law does not slide to is held for
 * the moment. 1: some velocities are to be brought to their bounds. */
static int sort_out(fm_instance *s, int32_t n, const double *y)
{
    int settled = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t above, below;
        double x, v, bound = 0.0;
        s->law_force[s->held[i]] = along(s, s->held[i], s->held_f[i]);
        s->held_side[i] = s->held_where[i];
        fm_law_at(s, s->held[i], y, &x, &v);
        (void)fm_law_holds(s, s->held[i], &above, &below, &bound);
        if (s->held_where[i] != FM_BETWEEN && (s->held_where[i] == FM_AT_LEAST ? v >= bound : v <= bound)) continue;
        s->held_where[i] = FM_BETWEEN;
        settled = 1;
    }
    return settled;
}

/* The modes with which a step goes on from y at the time t, the laws' velocities before being in law_v; `move`: and
 * brings velocities to the bounds that hold them. Returns 1 where y moved, -1 where more laws meet than can be. */
int fm_laws_choose(fm_instance *s, double t, double *y, int move)
{
    const fm_evaluation how = fm_evaluation_at(t, y);
    int settled = 0;
    fm_laws_place(s, y);
    const int32_t n = list_bounds(s, y);
    if (n < 0) return -1;
    if (n > 0) {
        for (int32_t i = 0; i < s->image.n.laws; i++) s->law_force[i] = 0.0;
        make_matrix(s, &how, n, s->law_rates);
        solve_box(s, n);
        settled = sort_out(s, n, y) && move && settle(s, &how, n, y);
    }
    for (int32_t i = 0; i < n; i++) {
        double *mode = s->law_use + 2 * s->held[i];
        if (s->held_side[i] == FM_AT_MOST) mode[0] = mode[1];
        if (s->held_side[i] != FM_BETWEEN) mode[1] = FM_PASSING;
    }
    fm_laws_place(s, y);
    part_ways(s, &how, n, y);
    return settled;
}

/* The modes that a run knows at the present time. */
static const double *known_modes(const fm_instance *s)
{
    return s->clock[FM_TIME] == s->clock[FM_TIME_HEAD] ? s->law_mode : s->law_last;
}

/* The modes of the outputs at the present time: as the integrator left them, or, after a change, as it would begin. */
void fm_laws_present(fm_instance *s)
{
    s->valid |= FM_VALID_LAWS;
    if (s->image.n.laws == 0) return;
    memcpy(s->law_now, known_modes(s), 2 * (size_t)s->image.n.laws * sizeof(double));
    if (s->clock[FM_AHEAD] != 0.0) return;
    fm_laws_note(s, s->y);
    (void)fm_laws_choose(s, s->clock[FM_TIME], s->y, 0);
}

/* An integrator begins at y, the present state. 0: more laws meet than can be. */
int fm_laws_begin(fm_instance *s, double *y)
{
    memmove(s->law_mode, known_modes(s), 2 * (size_t)s->image.n.laws * sizeof(double));
    fm_laws_note(s, y);
    return fm_laws_choose(s, s->clock[FM_TIME], y, 1) >= 0;
}
