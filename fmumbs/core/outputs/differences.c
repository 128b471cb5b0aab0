/* differences.c: derivatives of outputs and of the states' rates with respect to states and parameters.
 *
 * Central differences along the direction of the seeds, with step sizes H, H/2, H/4 ..., are extrapolated to zero
 * (Ridders 1982): the entry of the table that differs least from its neighbours counts. H moves the known that moves
 * most, relative to its size, by FM_FIRST_DIFFERENCE of that. Between the two sides laws keep their modes and paths
 * their pieces.
 */
#include "differences.h"

#include "../instance/instance.h"
#include "../motion/parameters.h"
#include "../time/hosted.h"
#include "../tree/rate.h"
#include "continuous.h"
#include "update.h"
#include "values.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FM_FIRST_DIFFERENCE 0.05
#define FM_ENOUGH 1e-13 /* relative error of a derivative from which smaller steps gain nothing */
#define FM_NOISE 8.0    /* times DBL_EPSILON, of the values: their round-off */

/* The rate of the present motion, which accelerations have where it turns back; 1 if nothing moves. */
static double rate_of_motion(fm_instance *s)
{
    const int32_t positions = s->image.n.positions;
    if (s->model.inverse) return 1.0; /* which has no states */
    (void)fm_present_rates(s);
    const double rate = fmax(fm_rate_of(s, s->y + positions), sqrt(fm_fastest(s, s->hosted.rates + positions)));
    return rate > 0.0 && isfinite(rate) ? rate : 1.0;
}

/* The step by which the knowns move at first, relative to their seeds; 0: none moves. */
static double widest(fm_instance *s, const fm_seeds *along)
{
    const double rate = rate_of_motion(s);
    double most = 0.0;
    for (int32_t i = 0; i < s->model.ny; i++) /* of 1 rad or the model's length, velocities of that times the rate */
        most = fmax(most, fabs(s->hosted.toward[i]) / (s->scale[i] * (fm_is_speed(s, i) ? rate : 1.0)));
    for (size_t i = 0; i < along->knowns; i++) {
        const double *at = fm_parameter_at(s, along->known[i]);
        if (at != NULL) most = fmax(most, fabs(along->seed[i]) / (*at != 0.0 ? fabs(*at) : 1.0));
    }
    return most > 0.0 ? FM_FIRST_DIFFERENCE / most : 0.0;
}

/* Moves the instance to the state in s->kept plus h times the seeds. */
static void move(fm_instance *s, const fm_seeds *along, double h)
{
    int derived = 0;
    memcpy(s->state, s->kept, s->model.state_doubles * sizeof(double));
    for (int32_t i = 0; i < s->model.ny; i++) s->y[i] += h * s->hosted.toward[i];
    for (size_t i = 0; i < along->knowns; i++) derived |= fm_add_to_parameter(s, along->known[i], h * along->seed[i]);
    if (derived) fm_derive(s);
    fm_note_set(s);
    s->valid = FM_VALID_LAWS;
}

/* Values of `count` unknowns; not finite where the loops cannot be closed. */
static void evaluate(fm_instance *s, const uint32_t *unknown, size_t count, double *value)
{
    int rates = 0;
    if (fm_settle(s) != FM_OK) {
        for (size_t i = 0; i < count; i++) value[i] = NAN;
        return;
    }
    for (size_t i = 0; i < count; i++) rates |= fm_beyond(s, unknown[i], NULL) == FM_BEYOND_RATE;
    if (rates) (void)fm_present_rates(s);
    fm_keep_pieces(s);
    for (size_t i = 0; i < count; i++) value[i] = fm_value_at(s, unknown[i]);
}

static int is_good(const double best[2], double round_off)
{
    return best[1] <= fmax(FM_ENOUGH * fabs(best[0]), round_off);
}

/* Row k of an unknown's table from the difference d over h; keeps the best entry. 1: it is good enough. */
static int extrapolate(double *row, double *best, int k, double d, double round_off)
{
    double before = row[0], power = 1.0;
    row[0] = d;
    if (!isfinite(d)) {
        for (int j = 0; j <= k; j++) row[j] = NAN;
        return 0;
    }
    for (int j = 1; j <= k; j++) {
        const double last = row[j];
        power *= 4.0;
        row[j] = (power * row[j - 1] - before) / (power - 1.0);
        const double error = fmax(fabs(row[j] - row[j - 1]), fabs(row[j] - before));
        if (error <= best[1]) best[0] = row[j], best[1] = error;
        before = last;
    }
    return is_good(best, round_off);
}

/* At most as many unknowns as there is room for. */
static int differ_some(fm_instance *s, const fm_seeds *along, double widest_step, const uint32_t *unknown, size_t count,
                       double *result)
{
    double *ahead = s->hosted.ahead, *behind = ahead + count, *best = s->hosted.best;
    size_t good = 0;
    double h = widest_step;
    for (size_t i = 0; i < count; i++) best[2 * i] = NAN, best[2 * i + 1] = INFINITY;
    for (int k = 0; k < FM_STEP_SIZES && good < count; k++, h *= 0.5) {
        move(s, along, h);
        evaluate(s, unknown, count, ahead);
        move(s, along, -h);
        evaluate(s, unknown, count, behind);
        good = 0;
        for (size_t i = 0; i < count; i++) {
            const double noise = FM_NOISE * DBL_EPSILON * fmax(fabs(ahead[i]), fabs(behind[i])) / h;
            good += is_good(best + 2 * i, noise) || /* smaller steps may agree better by chance */
                    extrapolate(s->hosted.table + FM_STEP_SIZES * i, best + 2 * i, k,
                                (ahead[i] - behind[i]) / (2.0 * h), noise);
        }
    }
    for (size_t i = 0; i < count; i++) result[i] = best[2 * i];
    for (size_t i = 0; i < count; i++)
        if (!isfinite(result[i])) return 0;
    return 1;
}

/* result (count) = (d unknown / d known) seed, of states, whose seeds are in hosted.toward, and parameters. 0: one is
 * not finite. */
int fm_differ(fm_instance *s, const fm_seeds *along, const uint32_t *unknown, size_t count, double *result)
{
    const double h = widest(s, along);
    const size_t room = (size_t)s->model.ny + FM_UNKNOWNS;
    const int32_t obeys = s->model.obeys;
    int fits = 1;
    if (h == 0.0) return 1;
    fm_update(s, FM_VALID_LAWS);
    memcpy(s->kept, s->state, s->model.state_doubles * sizeof(double));
    for (size_t i = 0; i < count && fits; i += room)
        fits = differ_some(s, along, h, unknown + i, count - i < room ? count - i : room, result + i);
    memcpy(s->state, s->kept, s->model.state_doubles * sizeof(double));
    fm_derive(s);
    s->model.obeys = obeys;
    s->valid = FM_VALID_NOTHING;
    return fits;
}
