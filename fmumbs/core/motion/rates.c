/* rates.c: the right-hand side that the integrators call. */
#include "rates.h"

#include "../instance/instance.h"
#include "../tree/positions.h"
#include "evaluation.h"
#include "crossings.h"
#include "friction.h"
#include "stiffness.h"

/* ydot at time t; invalidates the results for outputs. */
void fm_rates(fm_instance *s, double t, const double *y, double *ydot)
{
    s->valid &= FM_VALID_LAWS;
    fm_accelerations(s, t, y, ydot + s->image.n.positions);
    fm_position_rates(s, y, ydot);
    fm_friction_rates(s, ydot);
    if (s->loop.near_singular && fm_singular_rates(s, t, y, ydot + s->image.n.positions)) return;
    if (s->singular.on_branch) fm_rates_on_branch(s, t, y, ydot + s->image.n.positions);
}

/* The accelerations at time t and y with the inertias R of the time g and the forces in s->stiff.f (stiffness.c). */
void fm_stiff_accelerations(fm_instance *s, double t, const double *y, double g, double *udot)
{
    const int32_t worn = s->loop.worn, near_singular = s->loop.near_singular;
    s->valid = s->valid & FM_VALID_LAWS;
    fm_stiff_begin(s, g);
    fm_accelerations(s, t, y, udot);
    fm_stiff_end(s);
    s->loop.worn = worn, s->loop.near_singular = near_singular; /* the pivots were not those of the loops themselves */
}
