/* drift.c: corrections of states of mechanisms with nonholonomic joints.
 *
 * Positions are corrected along velocities that the mechanism may have (projection.c). Where rows of velocities and
 * those of loops are dependent, as those of a ball that rolls along a guide, no such velocity leads back onto a
 * constraint of positions from which errors of integration led away. What rows of velocities forbid is no constraint of
 * positions, so that these are then moved by the screws of the joints, as at the start.
 */
#include "drift.h"

#include "../instance/instance.h"
#include "../instance/message.h"
#include "../loops/constraints.h"
#include "../loops/cut_joints.h"
#include "../loops/delassus.h"
#include "../loops/projection.h"
#include "../loops/velocity_rows.h"
#include "../motion/correct.h"
#include "../motion/independent.h"
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

/* Closes the loops near y, and projects its velocities there, so that momentum changes along the constraints alone. */
static int close_and_project(fm_instance *s, double *y)
{
    const int32_t positions = s->image.n.positions;
    if (!fm_correct_drift(s, y, 0)) return 0;
    memcpy(y + positions, s->hosted.pulled + positions, (size_t)s->image.n.speeds * sizeof *y);
    return fm_correct_drift(s, y, 0);
}

/* Moves the present state to cams whose parameters were set. FM_DISCARD: the loops cannot be closed from there; the
 * state is as it was. */
fm_status fm_close_cams(fm_instance *s)
{
    const size_t bytes = (size_t)s->model.ny * sizeof(double);
    char names[200];
    double gap, unit;
    memcpy(s->hosted.pulled, s->y, bytes);
    s->work.time = s->clock[FM_TIME];
    if (close_and_project(s, s->y)) {
        if (s->image.n.cut_positions > 0) (void)fm_follow_cut_joints(s);
        s->clock[FM_AHEAD] = 0.0;
        fm_note_closed(s);
        return FM_OK;
    }
    memcpy(s->y, s->hosted.pulled, bytes);
    fm_place_loops(s, s->y, 0);
    const int32_t worst = fm_worst_row(s, 0, &gap, &unit);
    fm_loop_names(s, worst, names, sizeof names);
    return fm_say(
        s, FM_DISCARD,
        "at t = %.9g s the %s cannot close where a parameter of a cam was set to: it is open by %.3g %s. Set it "
        "nearer to what it was, in several steps, or assemble again",
        s->clock[FM_TIME], names, gap, fm_row_turns(&s->image, worst) ? "rad" : "m");
}
