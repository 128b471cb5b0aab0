/* correct.c: projects positions and velocities onto the constraints after a step.
 *
 * Positions, then velocities, are corrected by the smallest change in the mass norm,
 *     dq = -M^-1 J' K^-1 c,   du = -M^-1 J' K^-1 c'.
 */
#include "correct.h"

#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "../loops/projection.h"
#include "crossings.h"
#include "singular.h"

#include <string.h>

/* Places the links at y, for the coordinates of cut joints. */
void fm_place_links(fm_instance *s, const double *y)
{
    if (s->plan.blocks > 0) { /* else no cut joint has constraint rows */
        fm_place_loops(s, y, 0);
        return;
    }
    fm_run_orientations(s, y);
    fm_make_world(s, y);
}

/* Corrections after a step -------------------------------------------------------------------------------------------
 */

/* Factors K at y, with the violations of a level in s->loop.c; or, near a singular position, interpolates y on its
 * branch. */
static int factor_or_interpolate(fm_instance *s, double *y, int level)
{
    const int fits = fm_factor_loops(s, y);
    if (!s->loop.near_singular) return fits ? FM_FACTORED : FM_NO_FACTOR;
    if (fm_singular_state(s, y)) return FM_INTERPOLATED;
    fm_place_loops(s, y, 0);
    if (!fm_factor_loops(s, y)) return FM_NO_FACTOR;
    (void)fm_loop_gap(s, level);
    return FM_FACTORED;
}

/* Projects positions, then velocities; `near`: the last evaluation was near y. 0: the constraints cannot be satisfied
 * from here. */
static int fm_correct_directly(fm_instance *s, double *y, int near)
{
    if (near && s->loop.near_singular && fm_rests_singular(s, y)) return 0;
    if (near && s->loop.near_singular && fm_singular_state(s, y)) return 1;
    const int factored = near && s->loop.factored && !s->loop.near_singular;
    fm_place_loops(s, y, 0);
    return fm_correct_levels(s, y, 0, 1, factored, near && s->loop.near_singular, factor_or_interpolate);
}

/* The same, unless another method keeps the constraints. The links are then placed for the coordinates of the cut
 * joints. */
int fm_correct(fm_instance *s, double *y, int near)
{
    const int directly = s->closure[FM_CLOSURE_CORRECTION] == (double)FM_CORRECT_DIRECTLY;
    s->valid = FM_VALID_NOTHING;
    if (s->plan.blocks == 0) {
        fm_place_links(s, y);
        return 1;
    }
    if (!directly && s->image.n.cut_positions == 0) return 1;
    if (directly && !fm_correct_directly(s, y, near)) return 0;
    if (!directly) fm_place_loops(s, y, 0);
    if (s->planar.used) { /* the next evaluation can reuse their poses if it is of y */
        memcpy(s->planar.placed, y, (size_t)s->model.ny * sizeof *y);
        s->planar.is_placed = 1;
    }
    return 1;
}
