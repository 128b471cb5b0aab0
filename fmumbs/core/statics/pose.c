/* pose.c: what holds a mechanism while its equilibrium is sought and not while it moves, and the other way round.
 *
 * A lock is a row q' = 0 of one coordinate of the tree (FM_OF_LOCK). It takes part here alone, and its multiplier is
 * the force that keeps the coordinate at its start value. Programs that are released take no part here: their drives
 * exert nothing. After the search both are as ever, so that the motion begins where the locks open and the programs
 * take hold.
 */
#include "pose.h"

#include "../assembly/assembly.h"
#include "../instance/instance.h"
#include "../loops/delassus.h"
#include "../loops/loop_rank.h"
#include "../loops/programs.h"
#include "../loops/projection.h"
#include "../motion/evaluation.h"
#include "../tree/planar.h"
#include "../loops/scratch.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

static int is_lock(const fm_image *m, int32_t row)
{
    return m->row_kind[row] == FM_ROW_COUPLED && m->row_part[row] == FM_OF_LOCK;
}

/* Whether rows take part here that do not in the motion, or the other way round. */
static int differs(const fm_instance *s)
{
    const int released = s->options[FM_OPTION_EQUILIBRIUM] == (double)FM_START_RELEASED;
    if (s->options[FM_OPTION_EQUILIBRIUM] == (double)FM_START_GIVEN) return 0;
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (is_lock(&s->image, i) || (released && s->image.row_excitation[i] >= 0)) return 1;
    return 0;
}

/* From here on, until fm_pose_end, locks hold and released programs do not; rows are chosen at y. */
void fm_pose_begin(fm_instance *s, const double *y)
{
    const size_t rows = (size_t)s->image.n.rows;
    s->loop.posing = differs(s);
    if (!s->loop.posing) return;
    s->loop.releasing = s->options[FM_OPTION_EQUILIBRIUM] == (double)FM_START_RELEASED;
    s->statics->in_plane = s->planar.used;
    s->statics->realised = s->realised->count;
    if (s->statics->in_plane) (void)fm_planar_use(s, 0);
    if (s->loop.releasing) s->realised->count = 0;
    memcpy(s->statics->posed, s->row_active, rows * sizeof(double));
    memcpy(s->statics->posed + rows, s->row_pivot, rows * sizeof(double));
    memset(s->row_pivot, 0, rows * sizeof(double));
    (void)fm_choose_at(s, y);
    if (fm_factor_delassus(s)) fm_note_pivots(s);
    s->loop.worn = s->loop.near_singular = 0;
    s->valid = FM_VALID_NOTHING;
}

void fm_pose_end(fm_instance *s)
{
    const size_t rows = (size_t)s->image.n.rows;
    if (!s->loop.posing) return;
    s->loop.posing = s->loop.releasing = 0;
    s->realised->count = s->statics->realised;
    memcpy(s->row_active, s->statics->posed, rows * sizeof(double));
    memcpy(s->row_pivot, s->statics->posed + rows, rows * sizeof(double));
    fm_use_rows(s);
    s->loop.worn = s->loop.near_singular = 0;
    if (s->statics->in_plane) (void)fm_planar_use(s, 1);
    s->planar.is_placed = 0;
    s->valid = FM_VALID_NOTHING;
}

/* Keeps the forces of the locks at y, which rests in equilibrium. */
void fm_note_locks(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    s->statics->locks = 0;
    if (!s->loop.posing) return;
    fm_accelerations(s, s->clock[FM_TIME], y, s->statics->rate);
    for (int32_t i = 0; i < m->n.rows; i++) {
        if (!is_lock(m, i)) continue;
        const int32_t term = m->coupling_first[m->row_coupling[i]];
        s->statics->locked[s->statics->locks] = s->link[m->term_link[term]].u;
        s->statics->holds[s->statics->locks++] = s->row_active[i] > 0.0 ? s->loop.lambda[i] * m->term_ratio[term] : 0.0;
    }
}

/* Of a released program without a transition, how far y is from the target, in `gap`; the index of its joint, -1: none
 * is off by more than the loops may be. */
int32_t fm_released_gap(fm_instance *s, const double *y, double *gap)
{
    const fm_image *m = &s->image;
    int32_t worst = -1;
    if (m->n.rows == 0 || s->options[FM_OPTION_EQUILIBRIUM] != (double)FM_START_RELEASED) return -1;
    double most = fm_closed_within(s);
    fm_assembly_place(s, y);
    for (int32_t j = 0; j < m->n.joints; j++) {
        const int32_t first = m->joint_excitation[j];
        double position[FM_JOINT_MODES], rate[FM_JOINT_MODES], square = 0.0;
        if (m->joint_excited[j] == 0 || m->excitation_row[first] < 0 || m->excitation_transition[first] > 0.0) continue;
        if (m->row_part[m->excitation_row[first]] != FM_OF_POSITION) continue;
        fm_programmed(s, j, position, rate);
        for (int32_t i = 0; i < m->joint_excited[j]; i++) {
            const double off = position[i] - y[m->excitation_p[first + i]];
            square += off * off;
        }
        const double part = sqrt(square) / s->scale[m->excitation_p[first]];
        if (part > most) most = part, *gap = sqrt(square), worst = j;
    }
    return worst;
}
