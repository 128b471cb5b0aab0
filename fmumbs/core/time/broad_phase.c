/* broad_phase.c: which contacts can begin within the integrator's last step. The laws of the others need no look.
 *
 * The coefficients of the dense output bound how far each position variable gets from the start of the step, and these
 * bound how far the origin of each link is shifted, and how far a unit vector fixed in it moves. With p its parent,
 *
 *     turn = turn_p + |turn of the joint|,   shift = shift_p + turn_p |arm| + |slide of the joint|,
 *
 * whatever the rotations are, as differences of products are no more than the sums of those of their factors. A gap
 * changes by no more than shift + turn arm on either side. So a spot whose gap at the start is larger stays open. From
 * the gap that it had when it was looked at last, what was travelled since is subtracted, and it is not looked at again
 * before nothing is left: that spares looks, and decides nothing, since a fresh gap would exclude it as well.
 */
#include "broad_phase.h"

#include "../forces/contact.h"
#include "../forces/inputs.h"
#include "../forces/laws.h"
#include "../image/kinds.h"
#include "../instance/instance.h"
#include "../maths/vectors.h"
#include "dense.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

/* The joint of a link from its parent, by how far its variables get: the shift of its origin, and the turn. Those of
 * several screws and of flexible bodies, and programs, have no bound here: their spots are always looked at. */
static fm_travel travel_in_parent(const fm_link *k, const double *reach)
{
    fm_travel out = {0.0, 0.0};
    if (k->kind >= FM_LINK_DRIVEN) out.shift = out.turn = INFINITY;
    else if (k->kind == FM_LINK_SPHERICAL) {
        const double *q = reach + k->p; /* of unit quaternions: sin(turn/2) <= |change|, scaled to unit length */
        out.turn = 2.0 * sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
    } else if (k->u >= 0) {
        out.turn = fabs(k->pitch) * reach[k->p];
        out.shift = fabs(k->slide) * reach[k->p];
    }
    return out;
}

/* That of ground and of each link. */
static void add_up(const fm_instance *s, const double *reach, fm_travel *travel)
{
    travel[0].shift = travel[0].turn = 0.0;
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        const fm_travel *parent = travel + (k->root ? 0 : k->parent + 1), own = travel_in_parent(k, reach);
        const double *r = s->rigid[i].r;
        travel[i + 1].turn = parent->turn + own.turn;
        travel[i + 1].shift = parent->shift + own.shift;
        if (!(parent->turn > 0.0)) continue;
        double arm = sqrt(dot(r, r));
        if (k->kind < FM_LINK_DRIVEN && k->kind != FM_LINK_SPHERICAL && k->u >= 0)
            arm += fabs(k->slide * s->dense[k->p]);
        travel[i + 1].shift += parent->turn * arm;
    }
}

/* How far each link gets within the step; and with what its start is off the end that was expected of the one before,
 * by a switch, a correction or a state that was set: returns which of the two applies to what was known before. */
static int note_travel(fm_instance *s)
{
    const int32_t n = s->image.n.positions, ny = s->model.ny;
    double *reach = s->integrator->reach, *expected = s->integrator->expected;
    int moved = 0;
    fm_dense_reach(s, n, reach);
    for (int32_t i = 0; i < n; i++) {
        const double off = fabs(s->dense[i] - expected[i]);
        reach[ny + i] = reach[i] + off;
        moved |= !(off == 0.0);
        expected[i] = s->dense[i] + s->dense[ny + i];
    }
    add_up(s, reach, s->integrator->travel);
    if (moved) add_up(s, reach + ny, s->integrator->travel + s->image.n.links + 1);
    return moved;
}

/* By how much the gap of a spot changes, at most. */
static double change_of(const fm_image *m, int32_t i, const fm_travel *travel, const double arm[2])
{
    const fm_travel *A = travel + m->point_link[m->spot_P[i]] + 1, *B = travel + m->point_link[m->spot_Q[i]] + 1;
    return ((A->shift + A->turn * arm[0]) + B->shift) + B->turn * arm[1];
}

/* Whether a spot stays open in the step by what was known of it before. */
static int is_known_open(const fm_instance *s, int32_t i, const fm_travel *since)
{
    fm_spare *left = s->integrator->spare + i;
    const double change = change_of(&s->image, i, since, left->arm);
    left->gap -= change, left->arm[1] += change;
    return left->gap > 0.0;
}

/* Whether it does by its gap at the start of the step, where the links are. */
static int is_found_open(const fm_instance *s, int32_t i)
{
    fm_spare *left = s->integrator->spare + i;
    const double gap = fm_spot_apart(s, i, left->arm),
                 change = change_of(&s->image, i, s->integrator->travel, left->arm);
    left->gap = gap - change, left->arm[1] += change;
    return left->gap > 0.0;
}

/* From here on the laws are looked at that may have left their modes within the last step. */
void fm_watch_near_laws(fm_instance *s)
{
    const fm_image *m = &s->image;
    double *y = s->integrator->trial;
    int placed = 0;
    if (m->n.spots == 0) return;
    const fm_travel *since = s->integrator->travel + (note_travel(s) ? m->n.links + 1 : 0);
    memcpy(s->laws.some, s->laws.all, (size_t)s->model.acting * sizeof(int32_t));
    s->laws.watched = s->laws.some, s->laws.watching = s->model.acting;
    for (int32_t i = 0; i < m->n.spots; i++) {
        const int open = fm_spot_is_open(s, i);
        if (open && is_known_open(s, i, since)) continue;
        if (open && !placed) {
            fm_dense(s, s->clock[FM_TIME_TAIL], y);
            fm_controls_at(s, s->clock[FM_TIME_TAIL]);
            fm_laws_place(s, y);
            placed = 1;
        }
        if (open && is_found_open(s, i)) continue;
        s->integrator->spare[i].gap = -INFINITY;
        for (int k = 0; k < fm_spot_laws(m, i); k++) s->laws.some[s->laws.watching++] = m->spot_law[i] + k;
    }
}
