/* headway.c: whether the steps of an fm_step still advance, and what is known where they do not.
 *
 * Steps that the error control shortens to a billionth of the run's longest one, or to a millionth of the mean one with
 * which the most steps reach the end, end the fm_step after a thousand in a row. The message says where the mechanism
 * changes fastest, and why a trial was rejected last.
 *
 * Where drives lose their effect (loops/realised.c) accelerations are unbounded, or wrong by round-off that grows
 * without bound, so that no step ends near it. Trials that pass such a position bracket it. The next steps end shortly
 * before where the determinant of the drives' response would become zero, or halve the bracket. It is located when the
 * bracket, or a trial within it that is rejected for another reason, is FM_BRACKETED of the trial that found it; also
 * by short trials that are rejected where hardly any effect is left, and by any that fails so near it that the motion
 * as it is leads there within FM_AT_LOSS.
 */
#include "headway.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "../maths/text.h"
#include "../tree/positions.h"
#include "../tree/rate.h"
#include "../loops/projection.h"
#include "../loops/scratch.h"
#include "../motion/scratch.h"
#include "../assembly/drives.h"
#include "../assembly/internal_dynamics.h"
#include "scratch.h"
#include "stages.h"

#include <math.h>
#include <string.h>

#define FM_BRACKETED 1e-3 /* of the first trial that passes the position */
#define FM_CERTAIN 2e-2 /* the same where it is a singular position, which its neighbourhood shows (crossings.c) */
/* or within this distance [rad], or relative to the length: accelerations there need the nodes, which show the loss */
#define FM_AT_LOSS 0.015
/* of the run's longest step: a trial this short that is rejected, where the effect is at most FM_GONE, */
#define FM_SHORT_TRIAL 1e-6
#define FM_GONE 1e-5    /* locates it as well */
#define FM_FADED 0.05   /* the drives' effect there, of 1 where they act as the programs' ideal forces do */
#define FM_SHORT_OF 0.98 /* of the estimated way to such a position: the next step */
#define FM_PASSING 1.5    /* times that way: a step that should pass the position early */
#define FM_PARABOLAS 2   /* further parabolas of an estimate */
#define FM_AHEAD_PART 1e-4 /* of what is left of the bracket: step of the determinant's difference */

void fm_headway_begin(fm_instance *s)
{
    s->integrator->slow = 0;
    s->integrator->rejection = FM_NOT_REJECTED;
    s->integrator->lost_at = INFINITY;
    s->integrator->lost_width = 0.0;
    s->integrator->lost_from = INFINITY;
    s->realised->crossed = 0;
}

/* The length below which a step from `t` makes no headway. */
double fm_slow_step(const fm_instance *s, double t, double t_end)
{
    return fmax(FM_NO_HEADWAY * s->clock[FM_LONGEST], FM_NO_SHARE * (t_end - t) / FM_MOST_ACCEPTED);
}

/* Counts an accepted step from time `before`. 0: too many in a row made no headway. */
int fm_headway_made(fm_instance *s, double before, double t_end)
{
    const double covered = s->clock[FM_TIME_HEAD] - before;
    s->integrator->slow = covered < fm_slow_step(s, before, t_end) ? s->integrator->slow + 1 : 0;
    s->clock[FM_LONGEST] = fmax(s->clock[FM_LONGEST], covered);
    return s->integrator->slow < FM_MOST_SLOW;
}

/* Notes why a trial step to `arrival` is rejected; error: INFINITY where the stages of the implicit scheme are not
 * found, or loops not closed. */
void fm_rejected(fm_instance *s, int implicit, double error, double arrival)
{
    const double t = s->clock[FM_TIME_HEAD];
    s->integrator->rejection = s->realised->lost          ? FM_LOST_DRIVES
                               : s->friction->jammed >= 0 ? FM_JAMMED
                               : isnan(error)             ? FM_NOT_FINITE
                               : !isinf(error)            ? FM_TOO_INACCURATE
                               : implicit                 ? FM_NOT_FOUND
                                                          : FM_NOT_CLOSED;
    if (!s->realised->lost) return;
    if (!(t < s->integrator->lost_at)) s->integrator->lost_width = arrival - t, s->integrator->lost_at = INFINITY;
    if (s->integrator->lost_at == INFINITY) s->integrator->lost_width = arrival - t;
    s->integrator->lost_at = fmin(s->integrator->lost_at, arrival);
}

/* The length of a trial that locates such a position. */
static double narrow(fm_instance *s)
{
    const double fastest = fm_fastest(s, s->head + s->image.n.positions), width = s->integrator->lost_width;
    if (!s->realised->crossed) return FM_BRACKETED * width;
    return fastest > 0.0 ? fmax(FM_CERTAIN * width, FM_AT_LOSS / fastest) : FM_CERTAIN * width;
}

/* The determinant of the drives' response at the head moved on by its velocities and accelerations for so long. */
static double response_after(fm_instance *s, double time)
{
    const int32_t positions = s->image.n.positions;
    double *y = s->integrator->trial;
    memcpy(y, s->head, (size_t)s->model.ny * sizeof *y);
    fm_place_loops(s, y, 0);
    s->planar.is_placed = 0;
    for (int32_t i = 0; i < s->image.n.speeds; i++)
        s->loop.change[i] = time * (y[positions + i] + 0.5 * time * s->slope[positions + i]);
    fm_move_positions(s, y, s->loop.change);
    (void)fm_normalise(s, y, NULL);
    return fm_drives_response_at(s, s->clock[FM_TIME_HEAD] + time, y);
}

/* The time from the head to where the determinant of the drives' response becomes zero, by a parabola with its value
 * and slope at the head, through its value at the start of the last step, and then where the parabola before ended;
 * INFINITY: nowhere ahead. */
static double way_to_loss(fm_instance *s, double left)
{
    const double t = s->clock[FM_TIME_HEAD], before = t - s->clock[FM_TIME_TAIL], step = FM_AHEAD_PART * left;
    const double here = fm_drives_response_at(s, t, s->head), slope = (response_after(s, step) / here - 1.0) / step;
    double way = -before, value = before > 0.0 ? fm_drives_response_at(s, t - before, s->dense) / here : 1.0;
    for (int n = 0;; n++) {
        const double bend = way != 0.0 ? (value - 1.0 - slope * way) / (way * way) : 0.0;
        const double sum = sqrt(slope * slope - 4.0 * bend) - slope;
        way = sum > 0.0 ? 2.0 / sum : INFINITY;
        if (n == FM_PARABOLAS) return way;
        way = fmin(way, left);
        value = response_after(s, way) / here;
    }
}

/* Whether a trial that failed, near a singular position or where hardly any effect is left, ended so near such a
 * position that it locates it: the motion as it is at the head leads there within FM_AT_LOSS. */
static int leads_to_loss(fm_instance *s, double error)
{
    const double fastest = fm_fastest(s, s->head + s->image.n.positions), reach = FM_AT_LOSS / fastest;
    if (!(fastest > 0.0) || !(s->realised->crossed || isinf(error))) return 0;
    if (!s->realised->crossed && !fm_drives_fade(s, s->clock[FM_TIME_HEAD], s->head, FM_FADED)) return 0;
    return way_to_loss(s, reach) <= reach;
}

/* Whether a rejected trial to `arrival` locates a position at which the drives lose their effect; error: as for
 * fm_rejected. */
int fm_drives_block(fm_instance *s, double error, double arrival)
{
    const double t = s->clock[FM_TIME_HEAD], h = arrival - t;
    if (s->realised->count == 0) return 0;
    if (h < FM_SHORT_TRIAL * s->clock[FM_LONGEST] && fm_drives_fade(s, t, s->head, FM_GONE))
        return s->realised->lost = 1;
    if (!(t < s->integrator->lost_at && s->integrator->lost_at < INFINITY))
        return s->realised->lost = leads_to_loss(s, error);
    if (!(h <= narrow(s))) return 0;
    if (s->realised->crossed || fm_drives_fade(s, t, s->head, FM_FADED)) return s->realised->lost = 1;
    s->integrator->lost_at = INFINITY;
    return 0;
}

/* Whether a rejected trial of h locates a position at which the loops lock drives: velocities grow without bound before
 * it, each step covers only a part of the rest, and at the head the drives, which were independent at the last
 * communication point, are dependent already. */
int fm_loops_lock_drives(fm_instance *s, double h)
{
    char why[300];
    if (!(s->loop.near_singular && h < FM_SHORT_TRIAL * s->clock[FM_LONGEST])) return 0;
    s->loop.factored = 0;
    return fm_name_drives(s, s->head, 0, why, sizeof why) && !fm_name_drives(s, s->y, 0, why, sizeof why);
}

/* A step of h, or a shorter one within the bracket of such a position: one that locates it, or to shortly before it. If
 * the estimate is beyond the bracket, whose end an inaccurate trial may have set, to the middle of the bracket, or,
 * where a trial locates the position, past its end. */
double fm_before_loss(fm_instance *s, double h)
{
    const double t = s->clock[FM_TIME_HEAD], left = s->integrator->lost_at - t;
    if (!(left > 0.0 && left < INFINITY)) return h;
    if (s->integrator->lost_from != t) {
        s->integrator->lost_from = t;
        s->integrator->lost_ahead = way_to_loss(s, left);
    }
    const double way = s->integrator->lost_ahead, located = narrow(s), least = fmin(located, left);
    if (FM_PASSING * way <= least) return fmin(h, least);
    if (way < left) return fmin(h, FM_SHORT_OF * way);
    return fmin(h, left <= located ? fmin(FM_PASSING * left, located) : 0.5 * left);
}

/* Writes which joint changes fastest at the head and why a trial was rejected last. */
void fm_print_known(const fm_instance *s, char *out, size_t capacity)
{
    static const char *const why[] = {"no trial step was rejected",
                                      "the last trial step was rejected for its error",
                                      "the last trial step met a state that is not finite",
                                      "the stages of the last trial step did not converge",
                                      "the last trial step could not close the loops",
                                      "friction jammed in the last trial step",
                                      "the drives lost their effect in the last trial step"};
    const int32_t positions = s->image.n.positions;
    int32_t joint = -1, linear = 0;
    double most = 0.0, rate = 0.0;
    for (int32_t u = 0; u < s->image.n.speeds; u++) {
        const double udot = fabs(s->slope[positions + u]), part = udot / s->scale[positions + u];
        const int32_t own = fm_joint_of_mode(&s->image, u);
        if (own >= 0 && !(part <= most)) most = part, rate = udot, joint = own, linear = s->image.mode_linear[u];
    }
    if (joint < 0) (void)fm_print(out, capacity, "%s", why[s->integrator->rejection]);
    else
        (void)fm_print(out, capacity, "joint '%.60s' changes fastest, by %.3g %s; %s",
                       s->image.text + s->image.joint_name[joint], rate, linear ? "m/s2" : "rad/s2",
                       why[s->integrator->rejection]);
}
