/* drift.c: corrections of states of mechanisms with nonholonomic joints.
 *
 * Positions are corrected along velocities that the mechanism may have (projection.c). Where rows of velocities and
 * those of loops are dependent, as those of a ball that rolls along a guide, no such velocity leads back onto a
 * constraint of positions from which errors of integration led away. What rows of velocities forbid is no constraint of
 * positions, so that these are then moved by the screws of the joints, as at the start.
 */
#include "drift.h"

#include "../instance/instance.h"
#include "../loops/delassus.h"
#include "../loops/velocity_rows.h"
#include "../motion/correct.h"
#include "assembly.h"
#include "scratch.h"
#include "units.h"

#include <string.h>

/* Whether velocities cannot lead to all positions near the present ones. */
static int is_nonholonomic(const fm_image *m)
{
    for (int32_t i = 0; i < m->n.generals; i++)
        if (m->general_speeds[i] < m->general_screws[i]) return 1;
    for (int32_t i = 0; i < m->n.rows; i++)
        if (m->row_kind[i] != FM_ROW_COUPLED && fm_is_rate_row(m, i)) return 1;
    return 0;
}

/* Closes the loops near y by all screws, as long as steps halve what is left; all else of the state stays. 0: fails. */
static int close_by_screws(fm_instance *s, double *y)
{
    const size_t size = s->model.state_doubles * sizeof(double);
    double *moved = s->assembly->moved, *kept = s->assembly->kept;
    const int32_t brief = s->assembly->brief;
    memcpy(moved, y, (size_t)s->model.ny * sizeof *y);
    memcpy(kept, s->state, size); /* rows are chosen, angles followed */
    s->assembly->brief = 1;
    fm_hold_fixed(s, 1, 0);
    const int closed = fm_assemble_positions(s, moved);
    fm_hold_none(s);
    s->assembly->brief = brief;
    memcpy(s->state, kept, size);
    fm_use_rows(s);
    s->loop.factored = 0;
    s->planar.is_placed = 0;
    if (closed) memcpy(y, moved, (size_t)s->image.n.positions * sizeof *y);
    return closed;
}

/* fm_correct; where it fails with a nonholonomic joint, after positions were moved by screws. */
int fm_correct_drift(fm_instance *s, double *y, int near)
{
    if (fm_correct(s, y, near)) return 1;
    return is_nonholonomic(&s->image) && close_by_screws(s, y) && fm_correct(s, y, 0);
}
