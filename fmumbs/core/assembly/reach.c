/* reach.c: how far a mechanism stays from the paths of programs that it cannot follow.
 *
 * The gap of a program is the distance of its target from the mechanism with closed loops. The descent to the smallest
 * gap ends at a minimum near where it begins, so that it is repeated from elsewhere, and the smallest gap found counts.
 * Of these the largest on the rest of the paths is reported, with its time.
 */
#include "reach.h"

#include "../instance/instance.h"
#include "../forces/excitation.h"
#include "../loops/delassus.h"
#include "../loops/programs.h"
#include "assembly.h"
#include "restarts.h"
#include "scratch.h"
#include "units.h"

#include <math.h>
#include <string.h>

#define FM_STARTS 24 /* from which the smallest gap is sought, beside the first */
#define FM_TRIAL_DISTANCE 0.25 /* distance of the first pair [rad], or relative to the length; of each next one more */
#define FM_EVEN_TIMES 24  /* at which paths are tried, evenly spaced; before the first, ever nearer */
#define FM_NEARER_TIMES 6
#define FM_TRIED_TIMES (FM_NEARER_TIMES + FM_EVEN_TIMES)

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

/* The program of positions that is furthest from its target, and how far; -1: there are none. */
static int32_t furthest(const fm_instance *s, double *gap)
{
    const fm_image *m = &s->image;
    int32_t found = -1;
    *gap = 0.0;
    for (int32_t j = 0; j < m->n.joints; j++) {
        const int32_t first = m->joint_excitation[j];
        if (m->joint_excited[j] == 0 || m->excitation_row[first] < 0 ||
            m->row_part[m->excitation_row[first]] != FM_OF_POSITION)
            continue;
        const double off = fm_program_gap(s, j);
        if (found < 0 || off > *gap) *gap = off, found = j;
    }
    return found;
}

/* Closes the loops near y without the programs. */
static void close_loops(fm_instance *s, double *y)
{
    s->assembly->released = FM_RELEASE_ALL;
    (void)fm_assemble_upright(s, y);
    s->assembly->released = FM_RELEASE_NONE;
}

/* Descends from y to a minimum of the gap, and closes the loops there. Returns whether programs and loops close. */
static int descend(fm_instance *s, double *y)
{
    if (fm_assemble_upright(s, y)) return 1;
    close_loops(s, y);
    return 0;
}

/* Makes y the positions with the smallest gap that are found from `origin` and around it, with the drives where they
 * are there. Returns the program that is furthest from its target, -1 if all are reached. */
int32_t fm_nearest_gap(fm_instance *s, const double *origin, double *y, double *gap)
{
    double *best = s->assembly->trial, least = INFINITY;
    const size_t size = (size_t)s->model.ny * sizeof *y;
    int32_t found = -1;
    fm_hold_fixed(s, 1, 0);
    for (int n = -1; n < FM_STARTS; n++) {
        double off;
        memcpy(y, origin, size);
        if (n >= 0) {
            fm_move_away(s, y, origin, n, FM_TRIAL_DISTANCE * (double)(1 + n / 2));
            close_loops(s, y);
        }
        if (descend(s, y)) {
            found = -1, *gap = 0.0;
            break;
        }
        const int32_t joint = furthest(s, &off);
        if (joint < 0 || !(off < least) || fm_turned_over(s) >= 0) continue;
        memcpy(best, y, size);
        found = joint, *gap = least = off;
    }
    if (found >= 0) memcpy(y, best, size);
    fm_hold_none(s);
    return found;
}

/* At each time that is tried: the program whose target is out of reach, -1: none is, and its gap. */
typedef struct outlook {
    double at[FM_TRIED_TIMES], off[FM_TRIED_TIMES];
    int32_t program[FM_TRIED_TIMES];
} outlook;

/* Follows the targets from y at t, each time from the positions at the one before. */
static void look_ahead(fm_instance *s, double t, const double *y, outlook *ahead)
{
    double *other = s->assembly->from;
    const double part = (fm_foresight(s, t, y) - t) / FM_EVEN_TIMES;
    fm_end_smooth(s);
    memcpy(other, y, (size_t)s->model.ny * sizeof *y);
    for (int k = 0; k < FM_TRIED_TIMES; k++) {
        ahead->at[k] = t + (k < FM_NEARER_TIMES ? part * ldexp(1.0, 2 * (k - FM_NEARER_TIMES))
                                                : part * (double)(k - FM_NEARER_TIMES + 1));
        fm_foresee_targets(s, t, y, ahead->at[k], other);
        fm_hold_fixed(s, 1, 0);
        ahead->program[k] = descend(s, other) ? -1 : furthest(s, ahead->off + k);
        fm_hold_none(s);
    }
}

/* The time with the largest gap, once it has been sought from elsewhere, once each; -1: there is none. */
static int largest_gap(fm_instance *s, double t, const double *y, outlook *ahead)
{
    double *origin = s->assembly->given;
    int sought[FM_TRIED_TIMES] = {0};
    for (;;) {
        double least;
        int worst = -1;
        for (int k = 0; k < FM_TRIED_TIMES; k++)
            if (ahead->program[k] >= 0 && (worst < 0 || ahead->off[k] > ahead->off[worst])) worst = k;
        if (worst < 0 || sought[worst]) return worst;
        sought[worst] = 1;
        memcpy(origin, y, (size_t)s->model.ny * sizeof *y);
        fm_foresee_targets(s, t, y, ahead->at[worst], origin);
        ahead->program[worst] = fm_nearest_gap(s, origin, s->assembly->from, &least);
        ahead->off[worst] = fmin(ahead->off[worst], least);
    }
}

/* Where the targets of programs are out of reach after t, those of inputs if these stay as they are: the program's
 * drive, the time at which the smallest gap is largest, and this gap; -1: they are within reach as far as this looks.
 * y: a state at t, which is not changed. */
int32_t fm_out_of_reach(fm_instance *s, double t, const double *y, double *when, double *gap)
{
    outlook ahead;
    if (s->image.n.rows == 0) return -1;
    memcpy(s->kept, s->state, s->model.state_doubles * sizeof(double)); /* the attempts choose rows and follow angles */
    look_ahead(s, t, y, &ahead);
    const int worst = largest_gap(s, t, y, &ahead);
    const int32_t found = worst < 0 ? -1 : ahead.program[worst];
    if (found >= 0) *gap = ahead.off[worst], *when = ahead.at[worst];
    memcpy(s->state, s->kept, s->model.state_doubles * sizeof(double));
    fm_use_rows(s);
    s->valid = FM_VALID_NOTHING;
    s->planar.is_placed = 0;
    return found;
}
