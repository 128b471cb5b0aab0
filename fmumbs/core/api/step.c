/* step.c: advances an instance in time. */
#include "step.h"

#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../forces/excitation.h"
#include "../motion/required.h"
#include "../motion/resolution.h"
#include "../motion/rules.h"
#include "../time/hosted.h"
#include "../time/integrate.h"
#include "../time/failures.h"
#include "../time/scheme.h"
#include "../outputs/update.h"
#include "../outputs/values.h"

#include <math.h>

#define FM_MOST_STEPS 1e9 /* most fixed steps in one fm_step, */
#define FM_MOST_STOPS 1e7 /* and most pieces of periodic paths, at each of which the integrator stops */

/* Refuses times that are further apart than the step that the model asks for. */
fm_status fm_check_time(fm_instance *s, double t)
{
    if (!(fm_spacing(t) > s->options[FM_OPTION_STEP])) return FM_OK;
    return fm_say(s, FM_ERROR,
                  "at t = %.9g s numbers are %.3g s apart, more than solver.step = %g s. Start nearer to zero", t,
                  fm_spacing(t), s->options[FM_OPTION_STEP]);
}

double fm_time(const fm_instance *s)
{
    return s->clock[FM_TIME];
}

fm_status fm_do_step(fm_instance *s, double t_end)
{
    const double t = s->clock[FM_TIME];
    if (fm_check_assembled(s) != FM_OK) return FM_ERROR;
    if (!isfinite(t_end - t) || t_end < t)
        return fm_say(s, FM_ERROR,
                      "a step from t = %.9g s to t = %.9g s: the end must be finite and not before the start", t,
                      t_end);
    if (s->model.inverse) return fm_go_given(s, t_end);
    if (fm_check_time(s, t_end) != FM_OK) return FM_ERROR;
    if (fm_check_rules(s, FM_DISCARD) != FM_OK) return FM_DISCARD;
    if (fm_scheme_of(s)->step != NULL && (t_end - t) / s->options[FM_OPTION_STEP] > FM_MOST_STEPS)
        return fm_say(s, FM_ERROR,
                      "a step of %.9g s would take more than %g of solver.step = %g s: choose a longer one", t_end - t,
                      FM_MOST_STEPS, s->options[FM_OPTION_STEP]);
    if (fm_stops_within(s, t_end - t) > FM_MOST_STOPS)
        return fm_say(s, FM_ERROR, "a step of %.9g s takes more than %g pieces of periodic paths: choose a shorter one",
                      t_end - t, FM_MOST_STOPS);
    if (t_end - t == 0.0) { /* also if t_end is later by a subnormal number, which is zero in the core's mode */
        if (t_end > t) s->clock[FM_TIME] = t_end, s->clock[FM_AHEAD] = 0.0;
        return FM_OK;
    }
    if (fm_settle(s) != FM_OK) return FM_DISCARD;
    fm_end_hosted(s);
    const fm_status status = fm_integrate(s, t_end);
    copy(s->guess, s->y, s->model.ny);
    copy(s->base, s->y, s->model.ny);
    s->clock[FM_MOVED] = 1.0;
    return status;
}

/* The positions of the tree at y, as many as there is room for; returns how many there are. */
size_t fm_read_positions(const fm_instance *s, double *positions, size_t capacity)
{
    const size_t count = (size_t)s->image.n.positions;
    for (size_t i = 0; i < count && i < capacity; i++) positions[i] = s->y[i];
    return count;
}

fm_status fm_do_run(fm_instance *s, const double *times, size_t count, const uint32_t *reference, size_t width,
                    double *values, const size_t step[2], double *positions, size_t *rows)
{
    const size_t each = (size_t)s->image.n.positions;
    *rows = 0;
    for (size_t i = 0; i < count; i++) {
        fm_status status = fm_do_step(s, times[i]);
        if (status == FM_OK) status = fm_do_get(s, reference, width, values + i * step[0], step[1]);
        if (status != FM_OK) return status;
        if (positions != NULL) (void)fm_read_positions(s, positions + i * each, each);
        *rows = i + 1;
        s->host.worked += (double)width;
        if (fm_step_interrupted(s)) return fm_say_interrupted(s, times[i]);
    }
    return FM_OK;
}

void fm_interrupt(fm_instance *s, int (*wanted)(void *host), void *host)
{
    s->host.wanted = wanted;
    s->host.data = host;
}

void fm_watch(fm_instance *s, double (*step_ended)(void *host, double end, int event), void *host)
{
    s->host.step_ended = step_ended;
    s->host.watching = host;
}

fm_status fm_do_evaluate(fm_instance *s, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        s->valid = FM_VALID_NOTHING;
        fm_update(s, FM_VALID_MOTION);
    }
    return FM_OK;
}
