/* runge_kutta.c: the classical Runge-Kutta 4 in equal steps. */
#include "runge_kutta.h"

#include "../instance/instance.h"
#include "../instance/message.h"
#include "../motion/linear_range.h"
#include "../tree/positions.h"
#include "../tree/rate.h"
#include "../forces/excitation.h"
#include "../forces/laws.h"
#include "../motion/normal_forces.h"
#include "../motion/law_modes.h"
#include "../motion/rates.h"
#include "failures.h"
#include "stages.h"
#include "step_end.h"

#include <math.h>
#include <string.h>

#define FM_MOVES 1e-5 /* [rad], or lengths: less is not judged */

/* Whether a step of h from s->y is beyond the limit of stability, 2.8 over the highest frequency: the slopes of its second and
 * third stage then differ by up to twice the slopes of the first two, in a stable step by less. Near a singular position slopes
 * tell nothing about it; what fails there is found by the correction. */
static int is_too_long(const fm_instance *s, double h)
{
    const int32_t np = s->image.n.positions, nu = s->image.n.speeds;
    const double *first = fm_stage(s, 0) + np, *second = fm_stage(s, 1) + np, *third = fm_stage(s, 2) + np;
    double apart = 0.0, most = 0.0;
    for (int32_t u = 0; u < nu; u++) {
        const double unit = h * h / (s->image.mode_linear[u] ? s->image.length[0] : 1.0);
        apart = fmax(apart, unit * fabs(third[u] - second[u]));
        most = fmax(most, unit * fmax(fabs(first[u]), fabs(second[u])));
    }
    return apart > FM_MOVES && apart > 2.0 * most;
}

static fm_status step_too_long(fm_instance *s, double t, double h, double t_end)
{
    s->clock[FM_TIME] = t;
    if (fm_near_limit(s, t_end)) return FM_DISCARD;
    return fm_say(s, FM_DISCARD,
                  "the step to t = %.9g s failed: at t = %.9g s the scheme becomes unstable. The fixed step of %.3g s is too long for "
                  "this motion: use a smaller solver.step, or solver.scheme 0", t_end, t, h);
}

/* Equal steps from `start` to `goal`, towards t_end. */
static fm_status runge_kutta_to(fm_instance *s, double start, double goal, double t_end)
{
    static const double node[4] = {0.0, 0.5, 0.5, 1.0};
    const int32_t ny = s->model.ny;
    const double span = goal - start;
    double steps = ceil(span / s->options[FM_OPTION_STEP] - 1e-9);
    steps = steps > 1.0 ? steps : 1.0;
    const double h = span / steps;
    for (double n = 0.0; n < steps; n += 1.0) {
        const double t = start + n * h;
        if (fm_step_interrupted(s)) {
            s->clock[FM_TIME] = t;
            return fm_say_interrupted(s, t_end);
        }
        if (s->image.n.laws > 0) fm_laws_note(s, s->y);
        for (int j = 0; j < 4; j++) {
            const double *slope = fm_stage(s, j > 0 ? j - 1 : 0);
            for (int32_t i = 0; i < ny; i++) s->work.trial[i] = j == 0 ? s->y[i] : s->y[i] + node[j] * h * slope[i];
            fm_rates(s, t + node[j] * h, s->work.trial, fm_stage(s, j));
            if (fm_begins_on_branch(s)) j = -1;
        }
        fm_note_rate(s, fm_stage(s, 0), h);
        s->work.rate = s->clock[FM_RATE];
        s->singular.was_near = s->singular.on_branch, s->singular.on_branch = 0;
        if (!s->loop.near_singular && is_too_long(s, h)) return step_too_long(s, t, h, t_end);
        for (int32_t i = 0; i < ny; i++) {
            double middle = fm_stage(s, 1)[i] + fm_stage(s, 2)[i];
            s->work.trial[i] = s->y[i] + h / 6.0 * ((fm_stage(s, 0)[i] + fm_stage(s, 3)[i]) + 2.0 * middle);
        }
        if (!fm_all_finite(s->work.trial, ny) || !fm_normalise(s, s->work.trial, NULL)) {
            s->clock[FM_TIME] = t;
            if (s->friction.jammed >= 0) return fm_jammed(s, t_end);
            if (s->realised.lost) return fm_drives_failed(s, t_end);
            if (fm_near_limit(s, t_end)) return FM_DISCARD;
            return fm_say(s, FM_DISCARD,
                          "the step to t = %.9g s failed: at t = %.9g s the state is no longer finite. The fixed step "
                          "of %.3g s is too long for this motion: use a smaller solver.step, or solver.scheme 0",
                          t_end, t, h);
        }
        fm_note_normal_forces(s);
        if (!fm_correct_fixed(s, t, h)) return fm_step_failed(s, t_end);
        s->clock[FM_STEPS_DONE] += 1.0;
        fm_watch_deformation(s, t + h, s->y);
        if (s->image.n.laws > 0 && !fm_choose_law_modes(s, t + h, s->y)) {
            s->clock[FM_TIME] = t + h;
            return fm_step_failed_by_law(s, t_end);
        }
    }
    return FM_OK;
}

fm_status fm_runge_kutta(fm_instance *s, double t_end)
{
    if (!fm_laws_begin(s, s->y)) return fm_step_failed_by_law(s, t_end);
    for (double t = s->clock[FM_TIME]; t < t_end;) {
        const double stop = fm_begin_smooth(s, t), goal = stop < t_end ? stop : t_end;
        fm_status status = runge_kutta_to(s, t, goal, t_end);
        if (status != FM_OK) return status;
        t = goal;
    }
    memcpy(s->law_last, s->law_mode, 2 * (size_t)s->image.n.laws * sizeof(double));
    s->clock[FM_TIME] = t_end;
    return FM_OK;
}
