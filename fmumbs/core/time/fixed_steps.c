/* fixed_steps.c: equal steps to the end of a communication step, by a scheme without error control. */
#include "fixed_steps.h"

#include "../forces/cylinder.h"
#include "../instance/host.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../motion/linear_range.h"
#include "../tree/positions.h"
#include "../tree/rate.h"
#include "../forces/excitation.h"
#include "../forces/laws.h"
#include "../forces/missed.h"
#include "../loops/scratch.h"
#include "../motion/normal_forces.h"
#include "../motion/law_modes.h"
#include "../motion/rates.h"
#include "../motion/scratch.h"
#include "failures.h"
#include "scheme.h"
#include "scratch.h"
#include "stages.h"
#include "step_end.h"

#include <math.h>
#include <string.h>

static fm_status step_too_long(fm_instance *s, double t, double h, double t_end)
{
    s->clock[FM_TIME] = t;
    if (fm_near_limit(s, t_end)) return FM_DISCARD;
    return fm_say(s, FM_DISCARD,
                  "the step to t = %.9g s failed: at t = %.9g s the scheme becomes unstable. The fixed step of %.3g s "
                  "is too long for this motion: use a smaller solver.step, or solver.scheme 0",
                  t_end, t, h);
}

/* A step whose end, or a normal force or an effect of drives on the way there, is not finite. */
static fm_status not_finite(fm_instance *s, double t, double h, double t_end)
{
    s->clock[FM_TIME] = t;
    if (s->friction->jammed >= 0) return fm_jammed(s, t_end);
    if (s->realised->lost) return fm_drives_failed(s, t_end);
    if (fm_near_limit(s, t_end)) return FM_DISCARD;
    return fm_say(s, FM_DISCARD,
                  "the step to t = %.9g s failed: at t = %.9g s the state is no longer finite. The fixed step "
                  "of %.3g s is too long for this motion: use a smaller solver.step, or solver.scheme 0",
                  t_end, t, h);
}

/* Shows the host the end t of a step; returns when the present fm_step is to end. */
static double show_end(fm_instance *s, double t, double t_end, int event)
{
    fm_laws_keep(s);
    const double end = fm_show_step_end(s, t, t_end, event);
    (void)fm_begin_smooth(s, t);
    return end;
}

/* Equal steps from `start` to `goal`, towards *end, which becomes earlier where the host wants that; *reached: where
 * they end. */
static fm_status steps_to(fm_instance *s, double start, double goal, double *end, double *reached)
{
    const fm_scheme *scheme = fm_scheme_of(s);
    const double span = goal - start;
    double steps = ceil(span / s->options[FM_OPTION_STEP] - 1e-9);
    steps = steps > 1.0 ? steps : 1.0;
    const double h = span / steps, t_end = *end;
    *reached = goal;
    for (double n = 0.0; n < steps; n += 1.0) {
        const double t = start + n * h;
        if (fm_step_interrupted(s)) {
            s->clock[FM_TIME] = t;
            return fm_say_interrupted(s, t_end);
        }
        if (s->image.n.laws > 0) fm_laws_note(s, s->y);
        fm_note_rate(s, s->y + s->image.n.positions, h);
        if (!scheme->step(s, t, h)) return step_too_long(s, t, h, t_end);
        if (!fm_all_finite(s->integrator->trial, s->model.ny) || !fm_normalise(s, s->integrator->trial, NULL))
            return not_finite(s, t, h, t_end);
        fm_note_normal_forces(s);
        if (!fm_correct_fixed(s, t, h)) return fm_step_failed(s, t_end);
        s->clock[FM_STEPS_DONE] += 1.0;
        fm_watch_deformation(s, t + h, s->y);
        fm_watch_cavitation(s, t + h, s->y);
        fm_watch_contacts(s, t + h, h, s->head, s->y);
        if (s->image.n.laws > 0 && !fm_choose_law_modes(s, t + h, s->y)) {
            s->clock[FM_TIME] = t + h;
            return fm_step_failed_by_law(s, t_end);
        }
        const double at = n + 1.0 < steps ? t + h : goal;
        if (!fm_is_watched(s) || at == t_end) continue;
        *end = show_end(s, at, t_end, at == goal);
        if (*end == t_end) continue;
        *reached = at;
        return FM_OK;
    }
    return FM_OK;
}

fm_status fm_fixed_steps(fm_instance *s, double t_end)
{
    s->laws.resolved = s->options[FM_OPTION_STEP];
    if (!fm_laws_begin(s, s->y)) return fm_step_failed_by_law(s, t_end);
    for (double t = s->clock[FM_TIME]; t < t_end;) {
        const double stop = fm_begin_smooth(s, t), goal = stop < t_end ? stop : t_end;
        fm_status status = steps_to(s, t, goal, &t_end, &t);
        if (status != FM_OK) return status;
    }
    fm_laws_keep(s);
    s->clock[FM_TIME] = t_end;
    return FM_OK;
}
