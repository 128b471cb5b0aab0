/* excitation.c: modes whose motion is prescribed (joint-representation, Eqs 3.15 and 5.1).
 *
 * The position eta and the velocity kappa of such a mode are states; the sweeps read its acceleration kappa' from the
 * mode's element of the applied forces:
 *     acceleration   kappa' is the input itself
 *     position       kappa' = omega^2 (input - eta) - 2 omega kappa, a critically damped filter
 *     path           kappa' = path''(t); eta and kappa are set to the path's after every step
 * A path is piecewise polynomial: it stops at the end of its last piece, or repeats with a period. Where it is not
 * smooth its piece is marked as a stop: an integration step ends there, so that one piece is used in the whole step.
 *
 * The target of a program may fade out a deviation d and its rate v at the start within the time T, with x = t / T:
 *     eta = target + d (1 - 10 x^3 + 15 x^4 - 6 x^5) + v T (x - 6 x^3 + 8 x^4 - 3 x^5)
 */
#include "excitation.h"

#include "../maths/decay.h"
#include "../maths/trigonometry.h"
#include "../instance/instance.h"

#include <float.h>
#include <math.h>

#define FM_FILTER_SETTLED 12.0  /* times 1/cutoff, after which a filtered target is at its input */
#define FM_FORESEEN 0.25 /* [rad], or times the model's length: how far a target is followed at its present rate */

/* Times closer to t than this are equal to it. */
static double close_to(double t)
{
    return 32.0 * DBL_EPSILON * fabs(t);
}

typedef struct place {
    double round; /* number of completed periods */
    int32_t piece;
} place;

/* Start time of a piece in a given period; always by the same operations, so that comparisons are exact. */
static double begins(const fm_image *m, int32_t path, double round, int32_t piece)
{
    const double *time = m->piece_time + m->path_piece[path], period = m->path_period[path];
    return period > 0.0 ? (time[0] + round * period) + (time[piece] - time[0]) : time[piece];
}

static place place_at(const fm_image *m, int32_t path, double t)
{
    const double first = m->piece_time[m->path_piece[path]], period = m->path_period[path];
    place at = {0.0, 0};
    if (period > 0.0) {
        at.round = floor((t - first) / period);
        if (t >= begins(m, path, at.round + 1.0, 0)) at.round += 1.0;
        else if (t < begins(m, path, at.round, 0)) at.round -= 1.0;
    }
    int32_t low = 0, high = m->path_pieces[path];
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (t >= begins(m, path, at.round, middle)) low = middle;
        else high = middle;
    }
    at.piece = low;
    return at;
}

/* The time that decides which piece of a path is used at time t: it lies in the present step. */
static double within_step(const fm_instance *s, double t)
{
    double within = t + close_to(t);
    if (within < s->work.step_from + close_to(s->work.step_from))
        within = s->work.step_from + close_to(s->work.step_from);
    if (within >= s->work.step_until) within = s->work.step_until - close_to(s->work.step_until);
    return within;
}

/* A coordinate of a point on a circle, from its angle and the angle's derivatives. */
static void go_round(const double *wave, double at[3])
{
    double across, along;
    fm_cos_and_sin(at[0] + wave[2], &along, &across);
    across *= wave[1], along *= wave[1];
    at[2] = -along * at[1] * at[1] - across * at[2];
    at[1] = -across * at[1];
    at[0] = wave[0] + along;
}

/* The polynomial of a piece at x from where it begins, and its derivatives. */
static void polynomial_at(const double *c, double x, double out[3])
{
    out[0] = c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * (c[4] + x * (c[5] + x * (c[6] + x * c[7]))))));
    out[1] = c[1] + x * (2.0 * c[2] +
                         x * (3.0 * c[3] + x * (4.0 * c[4] + x * (5.0 * c[5] + x * (6.0 * c[6] + x * (7.0 * c[7]))))));
    out[2] =
        2.0 * c[2] + x * (6.0 * c[3] + x * (12.0 * c[4] + x * (20.0 * c[5] + x * (30.0 * c[6] + x * (42.0 * c[7])))));
}

static const double *polynomial_of(const fm_image *m, int32_t path, place at)
{
    return m->piece_polynomial + FM_PATH_POWERS * (m->path_piece[path] + at.piece);
}

/* Position, velocity and acceleration of a path at time t, from a piece. */
static void piece_at(const fm_image *m, int32_t path, place at, double t, double out[3])
{
    polynomial_at(polynomial_of(m, path, at), t - begins(m, path, at.round, at.piece), out);
    if (m->path_wave[3 * path + 1] != 0.0) go_round(m->path_wave + 3 * path, out);
}

/* The same, from the piece that is used in the present step. */
static void path_at(const fm_instance *s, int32_t path, double t, double out[3])
{
    piece_at(&s->image, path, place_at(&s->image, path, within_step(s, t)), t, out);
}

/* The value of a path over a coordinate x, and its derivatives by x. */
void fm_profile_at(const fm_image *m, int32_t path, double x, double out[3])
{
    piece_at(m, path, place_at(m, path, x), x, out);
}

/* Its third derivative. */
double fm_profile_third(const fm_image *m, int32_t path, double x)
{
    const place at = place_at(m, path, x);
    const double *c = polynomial_of(m, path, at), *wave = m->path_wave + 3 * path;
    const double from = x - begins(m, path, at.round, at.piece);
    const double third =
        6.0 * c[3] + from * (24.0 * c[4] + from * (60.0 * c[5] + from * (120.0 * c[6] + from * (210.0 * c[7]))));
    double angle[3], along, across;
    if (wave[1] == 0.0) return third;
    polynomial_at(c, from, angle);
    fm_cos_and_sin(angle[0] + wave[2], &along, &across);
    return wave[1] * (across * (angle[1] * angle[1] * angle[1] - third) - 3.0 * along * angle[1] * angle[2]);
}

/* When a deviation at the start has been faded out; -INFINITY if there is none. */
static double faded_at(const fm_instance *s, int32_t i)
{
    const double *fade = s->fade + 3 * i;
    return fade[0] != 0.0 || fade[1] != 0.0 ? fade[2] + s->image.excitation_transition[i] : -INFINITY;
}

/* What is left at time t of an excited mode's deviation at the start, and its derivatives. 0: nothing. */
static int fade_at(const fm_instance *s, int32_t i, double t, double out[3])
{
    const double *fade = s->fade + 3 * i, T = s->image.excitation_transition[i];
    out[0] = out[1] = out[2] = 0.0;
    if (within_step(s, t) >= faded_at(s, i)) return 0;
    const double x = (t - fade[2]) / T, d = fade[0], v = T * fade[1];
    out[0] =
        d * (1.0 + x * x * x * (-10.0 + x * (15.0 - 6.0 * x))) + v * x * (1.0 + x * x * (-6.0 + x * (8.0 - 3.0 * x)));
    out[1] = (d * x * x * (-30.0 + x * (60.0 - 30.0 * x)) + v * (1.0 + x * x * (-18.0 + x * (32.0 - 15.0 * x)))) / T;
    out[2] = (d * x * (-60.0 + x * (180.0 - 120.0 * x)) + v * x * (-36.0 + x * (96.0 - 60.0 * x))) / (T * T);
    return 1;
}

/* The first stop of a path after time t, INFINITY if there is none. */
static double stop_after(const fm_image *m, int32_t path, double t)
{
    const int32_t *stop = m->piece_stop + m->path_piece[path], pieces = m->path_pieces[path];
    const place at = place_at(m, path, t);
    for (int32_t i = at.piece + 1; i < pieces; i++)
        if (stop[i]) return begins(m, path, at.round, i);
    for (int32_t i = 0; m->path_period[path] > 0.0 && i < pieces; i++)
        if (stop[i]) return begins(m, path, at.round + 1.0, i);
    return INFINITY;
}

/* Begins a step at time t. Returns the time until which all paths are smooth, INFINITY if they are from then on. */
double fm_begin_smooth(fm_instance *s, double t)
{
    const fm_image *m = &s->image;
    s->work.step_from = t;
    s->work.step_until = INFINITY;
    for (int32_t i = 0; i < m->n.excitations; i++) {
        const double faded = faded_at(s, i);
        if (faded > t + close_to(t) && faded < s->work.step_until) s->work.step_until = faded;
        if (m->excitation_kind[i] != FM_EXCITED_BY_PATH) continue;
        const double stop = stop_after(m, m->excitation_path[i], t + close_to(t));
        if (stop > t && stop < s->work.step_until) s->work.step_until = stop;
    }
    return s->work.step_until;
}

/* Approximate number of times that the paths stop the integrator in a time span. */
double fm_stops_within(const fm_instance *s, double span)
{
    const fm_image *m = &s->image;
    double stops = 0.0;
    for (int32_t i = 0; i < m->n.excitations; i++) {
        const int32_t path = m->excitation_path[i];
        if (path >= 0 && m->path_period[path] > 0.0) stops += m->path_pieces[path] * (span / m->path_period[path]);
    }
    return stops;
}

/* Ends a step: from now on the piece of a path is that of the time itself, the later one where two meet. */
void fm_end_smooth(fm_instance *s)
{
    s->work.step_from = -DBL_MAX;
    s->work.step_until = INFINITY;
}

/* Writes kappa' of every excited mode to its element of the applied forces. */
void fm_excite(const fm_instance *s, double t, const double *y, const double *input, double *tau)
{
    const fm_image *m = &s->image;
    const double *speed = y + m->n.positions;
    for (int32_t i = 0; i < m->n.excitations; i++) {
        const int32_t u = m->excitation_u[i];
        const double omega = m->excitation_cutoff[i];
        double path[3], fade[3];
        switch (m->excitation_kind[i]) {
        case FM_EXCITED_BY_PATH:
            path_at(s, m->excitation_path[i], t, path);
            tau[u] = path[2];
            break;
        case FM_EXCITED_BY_POSITION:
            tau[u] = omega * (omega * (input[u] - y[m->excitation_p[i]]) - 2.0 * speed[u]);
            break;
        default: tau[u] = input[u];
        }
        if (!fade_at(s, i, t, fade)) continue;
        if (m->excitation_kind[i] == FM_EXCITED_BY_POSITION) tau[u] += omega * (omega * fade[0] + 2.0 * fade[1]);
        tau[u] += fade[2];
    }
}

/* Sets eta and kappa of the modes that follow a path to the path's values at time t. */
void fm_follow_paths(const fm_instance *s, double t, double *y)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.excitations; i++) {
        double path[3], fade[3];
        if (m->excitation_kind[i] != FM_EXCITED_BY_PATH) continue;
        path_at(s, m->excitation_path[i], t, path);
        if (fade_at(s, i, t, fade)) path[0] += fade[0], path[1] += fade[1];
        y[m->excitation_p[i]] = path[0];
        y[m->n.positions + m->excitation_u[i]] = path[1];
    }
}

/* The time after t as far as which fm_foresee_targets is worth a look, from the state y: each target then has come to
 * the end of its path or round, to its input, or as far as its rate is followed. At least t. */
double fm_foresight(const fm_instance *s, double t, const double *y)
{
    const fm_image *m = &s->image;
    double until = t;
    for (int32_t i = 0; i < m->n.excitations; i++) {
        const int32_t u = m->excitation_u[i], path = m->excitation_path[i];
        const double rate = fabs(y[m->n.positions + u]);
        double last = t;
        if (m->excitation_row[i] < 0) continue;
        if (m->excitation_kind[i] == FM_EXCITED_BY_POSITION) last = t + FM_FILTER_SETTLED / m->excitation_cutoff[i];
        else if (m->excitation_kind[i] == FM_EXCITED_BY_PATH)
            last = m->path_period[path] > 0.0 ? t + m->path_period[path]
                                              : m->piece_time[m->path_piece[path] + m->path_pieces[path] - 1];
        else if (rate > 0.0) last = t + FM_FORESEEN * s->scale[m->excitation_p[i]] / rate;
        until = fmax(until, fmax(last, faded_at(s, i)));
    }
    return until;
}

/* Sets eta of all excited modes to what it will be at a time after t, from their state `now` at t: the path's, the
 * filter's with its present input, or where the present rate leads. */
void fm_foresee_targets(const fm_instance *s, double t, const double *now, double then, double *y)
{
    const fm_image *m = &s->image;
    const double x = then - t;
    for (int32_t i = 0; i < m->n.excitations; i++) {
        const int32_t p = m->excitation_p[i], u = m->excitation_u[i];
        const double omega = m->excitation_cutoff[i], rate = now[m->n.positions + u], off = now[p] - s->tau[u];
        if (m->excitation_kind[i] == FM_EXCITED_BY_POSITION)
            y[p] = s->tau[u] + (off + (rate + omega * off) * x) * fm_decay(omega * x);
        else if (m->excitation_kind[i] == FM_EXCITED_BY_ACCELERATION) y[p] = now[p] + rate * x;
    }
    fm_follow_paths(s, then, y);
}

/* The target of an excited mode at time t and state y, without its transition, and its rate. */
void fm_target(const fm_instance *s, int32_t i, double t, const double *y, double out[2])
{
    const fm_image *m = &s->image;
    double at[3];
    if (m->excitation_kind[i] == FM_EXCITED_BY_PATH) {
        path_at(s, m->excitation_path[i], t, at);
        out[0] = at[0], out[1] = at[1];
        return;
    }
    (void)fade_at(s, i, t, at);
    out[0] = y[m->excitation_p[i]] - at[0];
    out[1] = y[m->n.positions + m->excitation_u[i]] - at[1];
}

/* Converts seeds of the inputs of excited modes to seeds of kappa', for directional derivatives. */
void fm_excite_seed(const fm_instance *s, double *seed)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.excitations; i++)
        if (m->excitation_kind[i] == FM_EXCITED_BY_POSITION)
            seed[m->excitation_u[i]] *= m->excitation_cutoff[i] * m->excitation_cutoff[i];
}
