/* sticking.c: force laws that jump with the velocity and may stick, as dry friction and ratchets do.
 *
 * Let the force f that drives v jump from f- to f+ as v increases through a bound. The velocities of all laws at such
 * bounds have the rates
 *     a = a0 + A f,   A = J M^-1 J' positive semidefinite,   f+ <= f <= f-,
 * from the same sweeps as usual, one for a0 and one for each column of A. Below the bound the velocity has to decrease
 * (f = f-, a < 0), above it to increase (f = f+, a > 0), in between the law sticks (a = 0). These are the optimality
 * conditions of minimising f' A f / 2 + a0' f over the box, whose a is unique. So coupled laws stick and slide
 * consistently. In every evaluation the forces of sticking laws follow from a = 0. A law starts to slide when its force
 * leaves the range. law_modes.c treats velocities that have to be brought to a bound, and laws whose f rises with v.
 */
#include "sticking.h"

#include "../instance/instance.h"
#include "../forces/laws.h"
#include "../maths/cholesky.h"
#include "../tree/rate.h"
#include "law_rates.h"
#include "locked_laws.h"

#include <math.h>
#include <string.h>

#define FM_DEPENDENT_LAW 1e-10 /* pivots of A, of its diagonal, below which the velocity of a law depends on others' */
/* at least this part of the diagonal without loops, of which A is the small remainder */
#define FM_LEAST_DIAGONAL 1e-14
#define FM_BOX_ROUND_OFF 1e-13 /* of what a rate is the sum of */
#define FM_AT_REST 1e-13 /* of the same: the rate of a law that does not break away */
#define FM_STILL_AT_REST 1e-11 /* of the same, once it sticks: modes that are chosen hold until the state differs */

/* Lists the sticking laws in laws.held; returns their number. */
static int32_t list_sticking(fm_instance *s)
{
    int32_t count = 0, above, below;
    double bound;
    for (int32_t i = 0; i < s->model.acting; i++) {
        s->laws.force[i] = 0.0;
        if (count < FM_STICKING && fm_law_sticks(s, i, &above, &below, &bound)) s->laws.held[count++] = i;
    }
    return count;
}

int fm_any_law_sticks(const fm_instance *s)
{
    int32_t above, below;
    double bound;
    for (int32_t i = 0; i < s->model.acting; i++)
        if (fm_law_sticks(s, i, &above, &below, &bound)) return 1;
    return 0;
}

/* a0 in laws.a, A in laws.A. */
void fm_sticking_matrix(fm_instance *s, const fm_evaluation *how, int32_t count, double *udot)
{
    double *rates = s->laws.x, *own = s->laws.udot;
    fm_law_rates(s, how, count, s->laws.a, udot);
    memcpy(own, udot, (size_t)s->image.n.speeds * sizeof *own);
    for (int32_t j = 0; j < count; j++) {
        (void)fm_law_response(s, how, count, j, rates, udot, s->laws.a);
        s->laws.moved[j] = fm_fastest(s, udot);
        for (int32_t i = 0; i < count; i++) s->laws.A[i * count + j] = rates[i];
    }
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < i; j++) {
            const double mean = 0.5 * (s->laws.A[i * count + j] + s->laws.A[j * count + i]);
            s->laws.A[i * count + j] = s->laws.A[j * count + i] = mean;
        }
    fm_find_locked_laws(s, how, count, own);
}

/* Whether the force of a law is to be found: it sticks, and is not locked. */
static int is_sought(const fm_instance *s, const int32_t *where, int32_t i)
{
    return where[i] == FM_BETWEEN && s->laws.locked[i] == FM_NOT_LOCKED;
}

/* A of the laws that are sought, scaled to a unit diagonal, is P L L' P', L of `rank` columns: the pivots are the
 * largest. The other laws' velocities depend on those of the first: their rows of L are W times the first ones. */
typedef struct factors {
    int32_t count, rank, order[FM_STICKING];
    double size[FM_STICKING]; /* of a law's velocity: A's diagonal is one in these units */
} factors;

static void exchange(double *a, double *b)
{
    const double value = *a;
    *a = *b, *b = value;
}

/* Eliminates the laws with the largest pivots, as long as they are no round-off; returns how many. */
static int32_t eliminate(factors *f, double *L, int32_t n)
{
    for (int32_t k = 0; k < f->count; k++) {
        int32_t p = k;
        for (int32_t a = k + 1; a < f->count; a++) p = L[a * n + a] > L[p * n + p] ? a : p;
        if (!(L[p * n + p] > FM_DEPENDENT_LAW)) return k;
        const int32_t law = f->order[k];
        f->order[k] = f->order[p], f->order[p] = law;
        for (int32_t j = 0; j < f->count; j++) exchange(L + k * n + j, L + p * n + j);
        for (int32_t a = k; a < f->count; a++) exchange(L + a * n + k, L + a * n + p);
        const double root = L[k * n + k] = sqrt(L[k * n + k]);
        for (int32_t a = k + 1; a < f->count; a++) L[a * n + k] /= root;
        for (int32_t a = k + 1; a < f->count; a++)
            for (int32_t b = k + 1; b < f->count; b++) L[a * n + b] -= L[a * n + k] * L[b * n + k];
    }
    return f->count;
}

/* Of the laws that are FM_BETWEEN, without the others: L in the first columns of laws.L, W below, and beside W the
 * factor of I + W W'. */
static void factor(fm_instance *s, int32_t n, const int32_t *where, factors *f)
{
    const double *A = s->laws.A;
    double *L = s->laws.L;
    f->count = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!is_sought(s, where, i)) continue;
        f->size[i] = sqrt(fmax(fmax(A[i * n + i], FM_LEAST_DIAGONAL / FM_DEPENDENT_LAW * s->laws.free[i]), 1e-200));
        f->order[f->count++] = i;
    }
    for (int32_t a = 0; a < f->count; a++)
        for (int32_t b = 0; b < f->count; b++) {
            const int32_t i = f->order[a], j = f->order[b];
            L[a * n + b] = A[i * n + j] / f->size[i] / f->size[j];
        }
    const int32_t r = f->rank = eliminate(f, L, n);
    for (int32_t a = r; a < f->count; a++)
        for (int32_t j = r - 1; j >= 0; j--) {
            for (int32_t k = j + 1; k < r; k++) L[a * n + j] -= L[k * n + j] * L[a * n + k];
            L[a * n + j] /= L[j * n + j];
        }
    for (int32_t a = r; a < f->count; a++)
        for (int32_t b = r; b <= a; b++) {
            L[a * n + b] = a == b ? 1.0 : 0.0;
            for (int32_t k = 0; k < r; k++) L[a * n + b] += L[a * n + k] * L[b * n + k];
        }
    (void)fm_cholesky_factor(L + r * n + r, f->count - r, n);
}

/* x <- the least forces with these rates: y of the laws that are eliminated would be enough; the others take
 * z = (I + W W')^-1 W y, and y becomes y - W' z. */
static void solve(const fm_instance *s, int32_t n, const factors *f, double *x)
{
    const double *L = s->laws.L;
    const int32_t r = f->rank;
    double y[FM_STICKING];
    for (int32_t a = 0; a < f->count; a++) y[a] = a < r ? x[f->order[a]] / f->size[f->order[a]] : 0.0;
    for (int32_t a = 0; a < r; a++) {
        for (int32_t k = 0; k < a; k++) y[a] -= L[a * n + k] * y[k];
        y[a] /= L[a * n + a];
    }
    for (int32_t a = r - 1; a >= 0; a--) {
        for (int32_t k = a + 1; k < r; k++) y[a] -= L[k * n + a] * y[k];
        y[a] /= L[a * n + a];
    }
    for (int32_t a = r; a < f->count; a++)
        for (int32_t k = 0; k < r; k++) y[a] += L[a * n + k] * y[k];
    fm_cholesky_solve(L + r * n + r, f->count - r, n, y + r);
    for (int32_t a = r; a < f->count; a++)
        for (int32_t k = 0; k < r; k++) y[k] -= L[a * n + k] * y[a];
    for (int32_t a = 0; a < f->count; a++) x[f->order[a]] = y[a] / f->size[f->order[a]];
}

/* The rate of a law with forces f of all n. */
double fm_sticking_rate(const fm_instance *s, int32_t n, int32_t i, const double *f)
{
    double rate = s->laws.a[i];
    for (int32_t j = 0; j < n; j++) rate += s->laws.A[i * n + j] * f[j];
    return rate;
}

/* Whether the rate of a law with the forces laws.f is at most a fraction of what it is the sum of. */
int fm_sticking_small(const fm_instance *s, int32_t n, int32_t i, double fraction)
{
    double size = 0.0;
    for (int32_t j = 0; j < n; j++) size = fmax(size, fabs(s->laws.a[j]) / fm_law_unit(s, s->laws.held[j]));
    size *= fm_law_unit(s, s->laws.held[i]);
    for (int32_t j = 0; j < n; j++) size += fabs(s->laws.A[i * n + j] * s->laws.f[j]);
    return fabs(fm_sticking_rate(s, n, i, s->laws.f)) <= fraction * size;
}

/* The forces of the laws that are FM_BETWEEN for which their rates vanish, given the others' and starting from f: the
 * nearest to f, each in units in which its own response is one, so that laws which act alike share a force equally.
 * Rounds end as rates no longer halve, so that there are at most as many as a double has exponents. */
void fm_sticking_solve(fm_instance *s, int32_t n, const int32_t *where, double *f)
{
    double *x = s->laws.x, before = INFINITY;
    factors found;
    factor(s, n, where, &found);
    for (;;) {
        double rates = 0.0;
        for (int32_t i = 0; i < n; i++) {
            x[i] = is_sought(s, where, i) ? -fm_sticking_rate(s, n, i, f) : 0.0;
            rates += fabs(x[i]);
        }
        if (!(rates < 0.5 * before) || rates == 0.0) return; /* round-off is left */
        before = rates;
        solve(s, n, &found, x);
        for (int32_t i = 0; i < n; i++)
            if (is_sought(s, where, i)) f[i] += x[i];
    }
}

/* Moves the forces of those between from f towards `aim`, up to the first bound, where that law is fixed. Returns it,
 * -1: none; the part of the way. */
static int32_t stop_at_bound(fm_instance *s, int32_t n, int32_t *where, const double *aim, double *f,
                             double *part_of_way)
{
    const double *range = s->laws.range;
    double way = 1.0;
    int32_t first = -1;
    for (int32_t i = 0; i < n; i++) {
        if (!is_sought(s, where, i) || (aim[i] >= range[2 * i] && aim[i] <= range[2 * i + 1])) continue;
        const double part = ((aim[i] < range[2 * i] ? range[2 * i] : range[2 * i + 1]) - f[i]) / (aim[i] - f[i]);
        if (first < 0 || part < way) way = part, first = i;
    }
    for (int32_t i = 0; i < n; i++)
        if (where[i] == FM_BETWEEN) f[i] += way * (aim[i] - f[i]);
    *part_of_way = way;
    if (first < 0) return -1;
    where[first] = aim[first] < range[2 * first] ? FM_AT_LEAST : FM_AT_MOST;
    f[first] = range[2 * first + (where[first] == FM_AT_MOST)];
    return first;
}

/* The first law at a bound of its range whose rate drives it off that bound, but not one of those that `stay`; -1:
 * none. */
static int32_t first_wrong(const fm_instance *s, int32_t n, const int32_t *stay)
{
    for (int32_t i = 0; i < n; i++) {
        if (s->laws.where[i] == FM_BETWEEN || s->laws.locked[i] || stay[i] ||
            fm_sticking_small(s, n, i, FM_BOX_ROUND_OFF))
            continue;
        const double rate = fm_sticking_rate(s, n, i, s->laws.f);
        if (s->laws.where[i] == FM_AT_LEAST ? rate < 0.0 : rate > 0.0) return i;
    }
    return -1;
}

/* f' A f / 2 + a0' f, at the forces laws.f. */
static double objective(const fm_instance *s, int32_t n)
{
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) sum += 0.5 * s->laws.f[i] * (fm_sticking_rate(s, n, i, s->laws.f) + s->laws.a[i]);
    return sum;
}

/* Which laws are at bounds after a change, to see whether the changes go round. */
typedef struct sets {
    int32_t where[FM_STICKING], stay[FM_STICKING], freed;
    double least;       /* the objective there */
    int64_t count, next; /* changes so far; those after which the sets are noted again, twice as many each time */
} sets;

/* Whether the same laws are at bounds as once before, although the objective has not become less since. */
static int go_round(const fm_instance *s, int32_t n, const int32_t *stay, int32_t freed, sets *noted)
{
    const size_t size = (size_t)n * sizeof *stay;
    const double now = objective(s, n);
    const int again =
        freed == noted->freed && memcmp(s->laws.where, noted->where, size) == 0 && memcmp(stay, noted->stay, size) == 0;
    if (!isfinite(now) || (again && noted->count > 0 && !(now < noted->least))) return 1;
    if (again) noted->least = now;
    if (noted->count++ < noted->next) return 0;
    memcpy(noted->where, s->laws.where, size);
    memcpy(noted->stay, stay, size);
    noted->freed = freed, noted->least = now, noted->next = 2 * noted->count;
    return 0;
}

/* The middle of a range; of one without an end, its other end. */
static double middle_of(const double range[2])
{
    if (!isfinite(range[1])) return range[0];
    return isfinite(range[0]) ? 0.5 * (range[0] + range[1]) : range[1];
}

/* Minimises f' A f / 2 + a0' f over the box by an active set method, in laws.f and laws.where. Of several laws that
 * could change, the first does, both ways: with exact numbers no set of laws at bounds then comes twice (Y.-Y. Chang,
 * R. W. Cottle, Math. Programming 18 (1980) 127). One that is let go and does not move is at its bound but for
 * round-off, and stays there until others move. 0: rounding makes it go round, or numbers are not finite. Sets that
 * come again with a lesser objective end at last, as there are finitely many numbers. */
int fm_sticking_box(fm_instance *s, int32_t n)
{
    double *f = s->laws.f, *aim = s->laws.aim;
    int32_t *where = s->laws.where, stay[FM_STICKING] = {0}, freed = -1;
    sets noted = {.freed = -2};
    for (int32_t i = 0; i < n; i++) {
        const int32_t locked = s->laws.locked[i];
        f[i] = locked ? fm_locked_force(s, i) : middle_of(s->laws.range + 2 * i);
        where[i] = locked == FM_LOCKED_RISING ? FM_AT_LEAST : locked == FM_LOCKED_FALLING ? FM_AT_MOST : FM_BETWEEN;
    }
    while (!go_round(s, n, stay, freed, &noted)) {
        memcpy(aim, f, (size_t)n * sizeof *aim);
        fm_sticking_solve(s, n, where, aim);
        double way;
        const int32_t stopped = stop_at_bound(s, n, where, aim, f, &way);
        if (freed >= 0 && way > 0.0) memset(stay, 0, sizeof stay);
        if (stopped >= 0 && stopped == freed) stay[stopped] = !(way > 0.0), freed = -1;
        if (stopped >= 0) continue;
        freed = first_wrong(s, n, stay);
        if (freed < 0) return 1;
        where[freed] = FM_BETWEEN;
    }
    return 0;
}

/* Whether a law at a bound of its range stays at rest, as others hold it, too. Requires fm_sticking_box. */
int fm_sticking_rests(const fm_instance *s, int32_t n, int32_t i)
{
    return n > 1 && !s->laws.locked[i] && fm_sticking_small(s, n, i, FM_AT_REST);
}

/* The range of a law's force at the bound between two pieces, signed to drive the velocity: that of sliding to either
 * side, `wider` about its middle, the factor of breaking away, or 1; at a wall all forces that push away from it.
 * Requires work.control. */
void fm_sticking_range(const fm_instance *s, int32_t law, const int32_t pieces[2], double x, double bound, double wider,
                       double *range)
{
    const double factor = fm_law_factor(s, law);
    if (s->image.law_hard[law]) {
        range[0] = pieces[0] >= 0 ? -INFINITY : 0.0;
        range[1] = pieces[1] >= 0 ? INFINITY : 0.0;
        return;
    }
    for (int k = 0; k < 2; k++)
        range[k] = fm_law_along(s, law, factor * fm_law_polynomial(&s->image, pieces[k], x, bound));
    if (wider == 1.0) return;
    const double middle = 0.5 * (range[0] + range[1]);
    for (int k = 0; k < 2; k++) range[k] = middle + wider * (range[k] - middle);
}

/* The ranges of the forces of all sticking laws at y, in laws.range. */
static void place_ranges(fm_instance *s, int32_t n, const double *y)
{
    for (int32_t i = 0; i < n; i++) {
        double bound = 0.0, x, v;
        int32_t pieces[2] = {-1, -1};
        fm_law_at(s, s->laws.held[i], y, &x, &v);
        (void)fm_law_sticks(s, s->laws.held[i], &pieces[0], &pieces[1], &bound);
        fm_sticking_range(s, s->laws.held[i], pieces, x, bound, s->law_breakaway[s->laws.held[i]],
                          s->laws.range + 2 * i);
    }
}

/* Whether the forces of all sticking laws that are not locked are in their ranges. */
static int in_ranges(const fm_instance *s, int32_t n)
{
    int all = 1;
    for (int32_t i = 0; i < n; i++) {
        const double *range = s->laws.range + 2 * i;
        all = all && (s->laws.locked[i] || (s->laws.f[i] >= range[0] && s->laws.f[i] <= range[1]));
    }
    return all;
}

/* Whether all listed laws can stick within their ranges, as they were chosen to; if several act alike, many forces can
 * do it. They are stored in laws.f. */
static int share(fm_instance *s, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (!(s->laws.range[2 * i] < s->laws.range[2 * i + 1])) return 0;
    if (!fm_sticking_box(s, n)) return 0;
    for (int32_t i = 0; i < n; i++)
        if (s->laws.where[i] != FM_BETWEEN && !s->laws.locked[i] && !fm_sticking_small(s, n, i, FM_STILL_AT_REST))
            return 0;
    return 1;
}

/* The forces of locked laws; of one whose velocity leaves its bound, beyond its range, so that it slides. */
static void place_locked(fm_instance *s, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        double size = s->laws.range[2 * i + 1] - s->laws.range[2 * i];
        if (!s->laws.locked[i]) continue;
        if (!isfinite(size)) size = fm_law_trial(s, s->laws.held[i]);
        s->laws.f[i] = fm_locked_force(s, i);
        if (s->laws.locked[i] == FM_LOCKED_RISING) s->laws.f[i] -= size;
        if (s->laws.locked[i] == FM_LOCKED_FALLING) s->laws.f[i] += size;
    }
}

/* The forces for which all sticking laws have zero rates: the smallest ones in their ranges, if there are any. */
static void find_forces(fm_instance *s, int32_t n, const double *y)
{
    if (!s->laws.off) place_ranges(s, n, y);
    for (int turn = 0; turn < 2; turn++) {
        for (int32_t i = 0; i < n; i++) s->laws.f[i] = 0.0, s->laws.where[i] = FM_BETWEEN;
        fm_sticking_solve(s, n, s->laws.where, s->laws.f);
        if (n < 2 || s->laws.off || turn > 0 || in_ranges(s, n) || share(s, n)) break;
    }
    if (!s->laws.off) place_locked(s, n);
}

/* An evaluation with sticking laws; their forces are left in laws.force. */
void fm_laws_stick(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const int32_t n = list_sticking(s);
    fm_sticking_matrix(s, how, n, udot);
    find_forces(s, n, how->y);
    for (int32_t i = 0; i < n; i++) s->laws.force[s->laws.held[i]] = fm_law_along(s, s->laws.held[i], s->laws.f[i]);
    how->make(s, how, udot);
}
