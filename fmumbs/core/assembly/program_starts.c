/* program_starts.c: starts off the path of a program, which its transition fades out.
 *
 * The loops are closed without the rows of these programs, so that the mechanism starts where its own values place it.
 * The deviations from the targets there, and their rates, are what excitation.c fades out.
 */
#include "program_starts.h"

#include "../instance/instance.h"
#include "../forces/excitation.h"
#include "../loops/programs.h"
#include "assembly.h"
#include "held_values.h"

int fm_any_transition(const fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.excitations; i++)
        if (s->image.excitation_transition[i] > 0.0) return 1;
    return 0;
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
