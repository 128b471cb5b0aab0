/* rates.c: the right-hand side that the integrators call. */
#include "rates.h"

#include "../instance/instance.h"
#include "../forces/elements.h"
#include "../tree/positions.h"
#include "evaluation.h"
#include "crossings.h"
#include "friction.h"
#include "own_response.h"
#include "own_states.h"
#include "scratch.h"
#include "sticking.h"
#include "stiffness.h"

#include <string.h>

/* ydot at time t; invalidates the results for outputs. */
void fm_rates(fm_instance *s, double t, const double *y, double *ydot)
{
    s->valid &= FM_VALID_LAWS;
    fm_accelerations_alone(s, t, y, ydot + s->image.n.positions);
    fm_position_rates(s, y, ydot);
    fm_friction_rates(s, ydot);
    fm_own_rates(s, y, ydot);
    s->singular->interpolated = s->loop.near_singular && fm_singular_rates(s, t, y, ydot + s->image.n.positions);
    if (s->singular->on_branch && !s->singular->interpolated)
        (void)fm_rates_on_branch(s, t, y, ydot + s->image.n.positions);
}

/* The accelerations at time t and y with the inertias R of the time g and the forces in s->implicit->f (stiffness.c).
 */
void fm_stiff_accelerations(fm_instance *s, double t, const double *y, double g, double *udot)
{
    const int32_t worn = s->loop.worn, near_singular = s->loop.near_singular;
    s->valid = s->valid & FM_VALID_LAWS;
    fm_stiff_begin(s, g);
    fm_accelerations_alone(s, t, y, udot);
    fm_stiff_end(s);
    s->loop.worn = worn, s->loop.near_singular = near_singular; /* the pivots were not those of the loops themselves */
}

/* The same with further forces on the velocity variables, after fm_stiff_accelerations for the same t, y and g: forces
 * and kinematics are those that this left, normal forces too, unless laws stick. */
void fm_stiff_again(fm_instance *s, double t, const double *y, double g, const double *force, double *udot)
{
    const int32_t worn = s->loop.worn, near_singular = s->loop.near_singular, n = s->image.n.speeds;
    const int depends = fm_any_law_sticks(s);
    double *tau = depends ? s->implicit->f : s->implicit->kept;
    if (depends) memcpy(s->implicit->kept, s->implicit->f, (size_t)n * sizeof *tau);
    else memcpy(tau, s->work.tau, (size_t)n * sizeof *tau);
    for (int32_t i = 0; i < n; i++) tau[i] += force[i];
    if (depends) {
        fm_stiff_accelerations(s, t, y, g, udot);
        memcpy(s->implicit->f, s->implicit->kept, (size_t)n * sizeof *tau);
        return;
    }
    fm_stiff_begin(s, g);
    s->work.evaluations += 1.0;
    fm_sweep_and_close(s, y, tau, udot);
    if (s->friction->apart) fm_own_add(s, udot);
    fm_stiff_end(s);
    s->loop.worn = worn, s->loop.near_singular = near_singular;
}
