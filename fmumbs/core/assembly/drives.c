/* drives.c: drives that the loops do not allow to move independently. */
#include "drives.h"
#include "../maths/text.h"

#include "../instance/instance.h"
#include "../loops/delassus.h"
#include "assembly.h"
#include "scratch.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/* The first drive that depends on the loops and the drives before it, and one of those that it depends on, or -1, as
 * indices of excitations. Requires closed positions y; active rows are not changed. 0: all drives are independent. */
static int dependent_drives(fm_instance *s, const double *y, int32_t pair[2])
{
    const fm_image *m = &s->image;
    const size_t size = (size_t)m->n.rows * sizeof(double);
    int found = 0;
    memcpy(s->loop.kept, s->row_active, size);
    fm_hold_none(s);
    fm_assembly_place(s, y);
    fm_assembly_rows(s);
    const int32_t rank = fm_assembly_rank(s, FM_INDEPENDENT);
    fm_hold_fixed(s, 1, 0);
    if (fm_assembly_rank(s, FM_INDEPENDENT) < rank) {
        fm_hold_none(s);
        for (pair[1] = 0; pair[1] < m->n.excitations; pair[1]++) {
            s->assembly->hold[m->excitation_u[pair[1]]] = FM_FIXED;
            if (fm_assembly_rank(s, FM_INDEPENDENT) < rank) break;
        }
        for (pair[0] = pair[1] - 1; pair[0] >= 0; pair[0]--) {
            s->assembly->hold[m->excitation_u[pair[0]]] = FM_FREE;
            if (fm_assembly_rank(s, FM_INDEPENDENT) == rank) break;
            s->assembly->hold[m->excitation_u[pair[0]]] = FM_FIXED;
        }
        found = 1;
    }
    fm_hold_none(s);
    memcpy(s->row_active, s->loop.kept, size);
    fm_use_rows(s);
    s->planar.is_placed = 0;
    return found;
}

static int any_input(const fm_instance *s, const int32_t pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0 && s->image.excitation_kind[pair[i]] != FM_EXCITED_BY_PATH) return 1;
    return 0;
}

static int is_programmed(const fm_instance *s, int32_t excitation)
{
    return excitation >= 0 && s->image.excitation_row[excitation] >= 0;
}

/* The mobility without the programs, at y; active rows are not changed. */
static int32_t mobility_without_programs(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    const size_t size = (size_t)m->n.rows * sizeof(double);
    memcpy(s->loop.kept, s->row_active, size);
    s->assembly->released = FM_RELEASE_ALL;
    fm_assembly_place(s, y);
    fm_assembly_rows(s);
    fm_hold_fixed(s, 1, 0);
    const int32_t rank = fm_assembly_rank(s, FM_INDEPENDENT);
    s->assembly->released = FM_RELEASE_NONE;
    fm_hold_none(s);
    memcpy(s->row_active, s->loop.kept, size);
    fm_use_rows(s);
    s->planar.is_placed = 0;
    return m->n.speeds - m->n.excitations - rank;
}

/* Writes why a program cannot be followed at y; pair: of dependent_drives. */
static void name_program(fm_instance *s, const double *y, const int32_t pair[2], char *out, size_t capacity)
{
    const fm_image *m = &s->image;
    const int32_t mine = is_programmed(s, pair[1]) ? 1 : 0;
    const char *name = m->text + m->joint_name[m->excitation_joint[pair[mine]]];
    const char *other = pair[1 - mine] >= 0 ? m->text + m->joint_name[m->excitation_joint[pair[1 - mine]]] : name;
    int32_t programmed = 0;
    for (int32_t i = 0; i < m->n.excitations; i++) programmed += is_programmed(s, i);
    const int32_t mobility = mobility_without_programs(s, y);
    if (programmed > mobility)
        (void)fm_print(out, capacity,
                       "the programs prescribe %ld coordinates, but the mobility of the mechanism is %ld. Leave out a "
                       "coordinate of program '%.60s'",
                       (long)programmed, (long)mobility, name);
    else if (other != name)
        (void)fm_print(
            out, capacity,
            "program '%.60s' and '%.60s' prescribe dependent coordinates at this position, which is refused also "
            "where they agree. Leave one out, or move them away from it",
            name, other);
    else
        (void)fm_print(
            out, capacity,
            "program '%.60s' prescribes what the mechanism cannot do at this position, which is singular for it or "
            "locked by the loops. Leave a coordinate out, or move the path away from there",
            name);
}

/* Writes which drives conflict at y. 0: none do. `only_inputs`: ignore drives by paths, which may be compatible, unless
 * they are of programs. */
int fm_name_drives(fm_instance *s, const double *y, int only_inputs, char *out, size_t capacity)
{
    const fm_image *m = &s->image;
    int32_t pair[2];
    if (m->n.excitations == 0 || m->n.rows == 0 || !dependent_drives(s, y, pair)) return 0;
    if (is_programmed(s, pair[0]) || is_programmed(s, pair[1])) {
        name_program(s, y, pair, out, capacity);
        return 1;
    }
    if (only_inputs && !any_input(s, pair)) return 0;
    const char *second = m->text + m->joint_name[m->excitation_joint[pair[1]]];
    if (pair[0] < 0)
        (void)fm_print(out, capacity,
                       "the drive of joint '%.60s' cannot move: the loops lock it. Free another of their joints",
                       second);
    else
        (void)fm_print(
            out, capacity,
            "the drives of joints '%.60s' and '%.60s' conflict: the loops allow only one of them to move as commanded. "
            "Leave one of them free, or couple them",
            m->text + m->joint_name[m->excitation_joint[pair[0]]], second);
    return 1;
}
