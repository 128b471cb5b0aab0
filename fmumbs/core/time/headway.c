/* headway.c: whether the steps of an fm_step still advance, and what is known where they do not.
 *
 * Steps that the error control shortens to a billionth of the run's longest one, or to a millionth of the mean one with
 * which the most steps reach the end, end the fm_step after a thousand in a row. The message says where the mechanism
 * changes fastest, and why a trial was rejected last.
 *
 * Where drives lose their effect (loops/realised.c) accelerations are unbounded, or wrong by round-off that grows
 * without bound, so that no step ends near it. Trials that pass such a position bracket it; the next steps halve the
 * bracket. It is located when the bracket, or a trial within it that is rejected for another reason, is FM_BRACKETED
 * of the trial that found it; also by short trials that are rejected where hardly any effect is left.
 */
#include "headway.h"

#include "../instance/instance.h"
#include "../maths/text.h"
#include "../loops/scratch.h"
#include "../motion/scratch.h"
#include "../assembly/internal_dynamics.h"
#include "scratch.h"
#include "stages.h"

#include <math.h>

#define FM_BRACKETED 1e-3 /* of the first trial that passes the position */
#define FM_CERTAIN 2e-2 /* the same where it is a singular position, which its neighbourhood shows (crossings.c) */
/* of the run's longest step: a trial this short that is rejected, where the effect is at most FM_GONE, */
#define FM_SHORT_TRIAL 1e-6
#define FM_GONE 1e-5    /* locates it as well */
#define FM_FADED 0.05   /* the drives' effect there, of 1 where they act as the programs' ideal forces do */

void fm_headway_begin(fm_instance *s)
{
    s->integrator->slow = 0;
    s->integrator->rejection = FM_NOT_REJECTED;
    s->integrator->lost_at = INFINITY;
    s->integrator->lost_width = 0.0;
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

/* Whether a rejected trial to `arrival` locates a position at which the drives lose their effect. */
int fm_drives_block(fm_instance *s, double arrival)
{
    const double t = s->clock[FM_TIME_HEAD], h = arrival - t,
                 most = (s->realised->crossed ? FM_CERTAIN : FM_BRACKETED) * s->integrator->lost_width;
    if (s->realised->count == 0) return 0;
    if (h < FM_SHORT_TRIAL * s->clock[FM_LONGEST] && fm_drives_fade(s, t, s->head, FM_GONE))
        return s->realised->lost = 1;
    if (!(t < s->integrator->lost_at && s->integrator->lost_at < INFINITY) || !(h <= most)) return 0;
    if (s->realised->crossed || fm_drives_fade(s, t, s->head, FM_FADED)) return s->realised->lost = 1;
    s->integrator->lost_at = INFINITY;
    return 0;
}

/* A step of h, or to the middle of the bracket of such a position. */
double fm_before_loss(const fm_instance *s, double h)
{
    const double left = s->integrator->lost_at - s->clock[FM_TIME_HEAD];
    return left > 0.0 ? fmin(h, 0.5 * left) : h;
}

/* The joint of a velocity variable, -1: one of a flexible body. */
static int32_t joint_of(const fm_image *m, int32_t u)
{
    for (int32_t j = 0; j < m->n.joints; j++)
        if (u >= m->joint_u[j] && u < m->joint_u[j] + m->joint_nu[j]) return j;
    return -1;
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
        const double udot = fabs(s->slope[positions + u]),
                     part = udot == 0.0 ? 0.0
                                        : udot / fmax(s->clock[FM_RATE] * s->scale[positions + u],
                                                      fabs(s->head[positions + u]));
        const int32_t own = joint_of(&s->image, u);
        if (own >= 0 && !(part <= most)) most = part, rate = udot, joint = own, linear = s->image.mode_linear[u];
    }
    if (joint < 0) (void)fm_print(out, capacity, "%s", why[s->integrator->rejection]);
    else
        (void)fm_print(out, capacity, "joint '%.60s' changes fastest, by %.3g %s; %s",
                       s->image.text + s->image.joint_name[joint], rate, linear ? "m/s2" : "rad/s2",
                       why[s->integrator->rejection]);
}
