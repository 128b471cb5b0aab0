/* rates.c: the right-hand side that the integrators call. */
#include "rates.h"

#include "../instance/instance.h"
#include "../tree/positions.h"
#include "evaluation.h"
#include "crossings.h"

/* ydot at time t; invalidates the results for outputs. */
void fm_rates(fm_instance *s, double t, const double *y, double *ydot)
{
    s->valid &= FM_VALID_LAWS;
    fm_accelerations(s, t, y, ydot + s->image.n.positions);
    fm_position_rates(s, y, ydot);
    s->singular.interpolated = 0;
    if (s->loop.near_singular && fm_singular_rates(s, t, y, ydot + s->image.n.positions)) return;
    if (s->singular.on_branch) fm_rates_on_branch(s, t, y, ydot + s->image.n.positions);
}
