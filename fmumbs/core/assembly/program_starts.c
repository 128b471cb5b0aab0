/* program_starts.c: starts off the path of a program, which its transition fades out.
 *
 * The loops are closed without the rows of these programs, so that the mechanism starts where its own values place it.
 * The deviations from the targets there, and their rates, are what excitation.c fades out.
 */
#include "program_starts.h"

#include "../instance/instance.h"
#include "../forces/excitation.h"
#include "../loops/constraints.h"
#include "../loops/delassus.h"
#include "../loops/programs.h"
#include "assembly.h"
#include "held_values.h"
#include "units.h"

#include <math.h>
#include <string.h>

#define FM_SOON 1e-3 /* [s]: the first and the last time ahead at which a path that cannot be followed is tried */
#define FM_LATE 1.5

int fm_any_transition(const fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.excitations; i++)
        if (s->image.excitation_transition[i] > 0.0) return 1;
    return 0;
}

/* The distance of the mechanism from the faded target of the program with this drive. Requires world kinematics. */
double fm_program_gap(const fm_instance *s, int32_t joint)
{
    const int32_t first = s->image.joint_excitation[joint];
    double position[FM_JOINT_MODES], rate[FM_JOINT_MODES], square = 0.0;
    fm_programmed(s, joint, position, rate);
    for (int32_t i = 0; i < s->image.joint_excited[joint]; i++) {
        const double off = position[i] - s->work.evaluated[s->image.excitation_p[first + i]];
        square += off * off;
    }
    return sqrt(square);
}

/* Where the paths of programs are out of reach soon after t: the program's drive, the time at which the smallest gap is
 * largest, and this gap; -1: they are within reach as far as this looks. y: a state at t, which is not changed. */
int32_t fm_out_of_reach(fm_instance *s, double t, const double *y, double *when, double *gap)
{
    const fm_image *m = &s->image;
    double *other = s->assembly.given;
    int32_t found = -1;
    if (m->n.rows == 0) return -1;
    *gap = 0.0;
    memcpy(s->kept, s->state, s->model.state_doubles * sizeof(double)); /* the attempts choose rows and follow angles */
    fm_end_smooth(s);
    memcpy(other, y, (size_t)s->model.ny * sizeof *other);
    for (double later = FM_SOON; later < FM_LATE; later *= 2.0) {
        double off;
        fm_follow_paths(s, t + later, other);
        fm_hold_fixed(s, 1, 0);
        const int closes = fm_assemble_positions(s, other);
        memset(s->assembly.hold, 0, (size_t)m->n.modes * sizeof *s->assembly.hold);
        const int32_t mode = closes ? -1 : m->row_excitation[fm_worst_row(s, 0, &off)];
        off = mode < 0 ? 0.0 : fm_program_gap(s, m->excitation_joint[mode]);
        if (off <= *gap) continue;
        *gap = off, *when = t + later;
        found = m->excitation_joint[mode];
    }
    memcpy(s->state, s->kept, s->model.state_doubles * sizeof(double));
    fm_use_rows(s);
    s->valid = FM_VALID_NOTHING;
    s->planar.is_placed = 0;
    return found;
}

/* Before an assembly: forgets the deviations of an earlier one. What moves by inputs goes back to its target, if y is a
 * state of the motion and not the model's start. */
void fm_reset_fades(fm_instance *s, double t, double *y)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.excitations; i++) {
        double target[2];
        fm_target(s, i, t, y, target);
        if (m->excitation_kind[i] != FM_EXCITED_BY_PATH && s->clock[FM_MOVED] != 0.0) {
            y[m->excitation_p[i]] = target[0];
            y[m->n.positions + m->excitation_u[i]] = target[1];
        }
        s->fade[3 * i] = s->fade[3 * i + 1] = 0.0;
        s->fade[3 * i + 2] = t;
    }
}

/* Assembles y without the programs that fade out their starts, then moves their targets to the mechanism. Returns how
 * many of the two levels could be closed. */
int fm_start_off_path(fm_instance *s, double t, double *y)
{
    const fm_image *m = &s->image;
    const int levels = fm_assemble_released(s, y);
    if (levels < 2) return levels;
    fm_assembly_place(s, y);
    for (int32_t j = 0; j < m->n.joints; j++) {
        const int32_t first = m->joint_excitation[j], end = first + m->joint_excited[j];
        double position[FM_JOINT_MODES], rate[FM_JOINT_MODES], target[2];
        if (end == first || !(m->excitation_transition[first] > 0.0)) continue;
        fm_programmed(s, j, position, rate);
        for (int32_t i = first; i < end; i++) {
            fm_target(s, i, t, y, target);
            s->fade[3 * i] = position[i - first] - target[0];
            s->fade[3 * i + 1] = rate[i - first] - target[1];
        }
        for (int32_t i = first; i < end; i++) {
            y[m->excitation_p[i]] = position[i - first];
            y[m->n.positions + m->excitation_u[i]] = rate[i - first];
        }
    }
    return 2;
}
