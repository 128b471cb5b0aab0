/* step.c: advances an instance in time. */
#include "step.h"

#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../forces/excitation.h"
#include "../time/integrate.h"
#include "../outputs/update.h"

#include <math.h>

#define FM_MOST_STEPS 1e9 /* most fixed steps in one fm_step */

fm_status fm_check_options(fm_instance *s)
{
    const double scheme = s->options[FM_OPTION_SCHEME];
    if (!(scheme >= 0.0 && scheme < (double)FM_SCHEME_COUNT && scheme == floor(scheme)))
        return fm_say(s, FM_ERROR,
                      "solver.scheme is %g: 0 is Dormand-Prince 5(4), 1 is Runge-Kutta 4, 2 is Radau IIA, 3 is 0 or 2 as it suits, "
                      "4 is DOP853",
                      scheme);
    if (s->options[FM_OPTION_EQUILIBRIUM] != 0.0 && s->options[FM_OPTION_EQUILIBRIUM] != 1.0)
        return fm_say(s, FM_ERROR, "solver.equilibrium is %g: 0 starts at the start values, 1 in the static equilibrium near them",
                      s->options[FM_OPTION_EQUILIBRIUM]);
    if (!(s->options[FM_OPTION_STEP] > 0.0)) return fm_say(s, FM_ERROR, "solver.step is %g s: it must be positive", s->options[FM_OPTION_STEP]);
    if (!(s->options[FM_OPTION_TOLERANCE] >= 1e-14 && s->options[FM_OPTION_TOLERANCE] <= 0.1))
        return fm_say(s, FM_ERROR, "solver.tolerance is %g: it must lie between 1e-14 and 0.1", s->options[FM_OPTION_TOLERANCE]);
    if (s->closure[FM_CLOSURE_CORRECTION] != (double)FM_CORRECT_DIRECTLY && s->closure[FM_CLOSURE_CORRECTION] != (double)FM_CORRECT_BAUMGARTE &&
        s->closure[FM_CLOSURE_CORRECTION] != (double)FM_CORRECT_NEVER)
        return fm_say(s, FM_ERROR, "solver.correction is %g: 0 is direct, 1 is Baumgarte's, 2 is none", s->closure[FM_CLOSURE_CORRECTION]);
    if (!(s->closure[FM_CLOSURE_TOLERANCE] >= 1e-16 && s->closure[FM_CLOSURE_TOLERANCE] <= 0.01))
        return fm_say(s, FM_ERROR, "solver.closure is %g: it must lie between 1e-16 and 0.01", s->closure[FM_CLOSURE_TOLERANCE]);
    if (!(s->closure[FM_CLOSURE_ALPHA] >= 0.0 && s->closure[FM_CLOSURE_ALPHA] <= 1e9 && s->closure[FM_CLOSURE_BETA] >= 0.0 && s->closure[FM_CLOSURE_BETA] <= 1e9))
        return fm_say(s, FM_ERROR, "solver.baumgarte is %g and %g: both must lie between 0 and 1e9", s->closure[FM_CLOSURE_ALPHA],
                      s->closure[FM_CLOSURE_BETA]);
    return FM_OK;
}

fm_status fm_check_matrix(fm_instance *s, fm_status status)
{
    if (s->stiff.negative < 0) return FM_OK;
    return fm_say(s, status, "the %s matrix of joint '%s' has a negative eigenvalue: it would drive some motion. Nothing is lost: set "
                  "its entries to those of a matrix without one, and go on", s->stiff.negative_damping ? "damping" : "stiffness",
                  s->image.text + s->image.joint_name[s->stiff.negative]);
}

double fm_time(const fm_instance *s)
{
    return s->clock[FM_TIME];
}

fm_status fm_do_step(fm_instance *s, double t_end)
{
    const double t = s->clock[FM_TIME];
    if (s->clock[FM_ASSEMBLED] == 0.0) return fm_say(s, FM_ERROR, "the instance is not assembled: assemble first");
    if (!isfinite(t_end - t) || t_end < t)
        return fm_say(s, FM_ERROR, "a step from t = %.9g s to t = %.9g s: the end must be finite and not before the start", t, t_end);
    if (fm_check_options(s) != FM_OK) return FM_ERROR;
    if (fm_check_matrix(s, FM_DISCARD) != FM_OK) return FM_DISCARD;
    if (s->options[FM_OPTION_SCHEME] == (double)FM_RUNGE_KUTTA && (t_end - t) / s->options[FM_OPTION_STEP] > FM_MOST_STEPS)
        return fm_say(s, FM_ERROR, "a step of %.9g s would take more than %g of solver.step = %g s: choose a longer one",
                      t_end - t, FM_MOST_STEPS, s->options[FM_OPTION_STEP]);
    if (fm_stops_within(s, t_end - t) > FM_MOST_STEPS)
        return fm_say(s, FM_ERROR, "a step of %.9g s takes more than %g pieces of periodic paths: choose a shorter one",
                      t_end - t, FM_MOST_STEPS);
    if (t_end - t == 0.0) { /* also if t_end is later by a subnormal number, which is zero in the core's mode */
        if (t_end > t) s->clock[FM_TIME] = t_end, s->clock[FM_AHEAD] = 0.0;
        return FM_OK;
    }
    const fm_status status = fm_integrate(s, t_end);
    copy(s->guess, s->y, s->model.ny);
    copy(s->base, s->y, s->model.ny);
    s->clock[FM_MOVED] = 1.0;
    return status;
}

void fm_interrupt(fm_instance *s, int (*wanted)(void *host), void *host)
{
    s->host.wanted = wanted;
    s->host.data = host;
}

fm_status fm_do_evaluate(fm_instance *s, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        s->valid = FM_VALID_NOTHING;
        fm_update(s, FM_VALID_MOTION);
    }
    return FM_OK;
}
