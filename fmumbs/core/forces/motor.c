/* motor.c: direct-current motors on a mode of a joint, behind a gear.
 *
 * With the voltage V, the current i, the rate v of the mode, resistance R, inductance L, constant k, gear ratio N and
 * inertia J of the rotor,
 *
 *     L i' = V - R i - N k v,     T = N k i,     torque on the joint = c T,     N^2 J beside the mode's own inertia.
 *
 * The current is an own state; at L = 0 it is that at which its rate is zero. A generator's torque and voltage have the
 * same constant, so that the power V i goes to R i^2, to L i i' and to the gear, which passes on T v times c. In
 * statics the current is the one at rest.
 *
 * Limits: V is cut to the largest voltage. A current at its limit stays there as long as V would let it grow: the drive
 * lowers the voltage to R i + N k v. Laws without force watch both, so that steps end where they begin and end. Their
 * positions are V, and the current i or, where it is at its limit, that to which V would bring it.
 *
 * Losses: with the efficiency e of the gear, c = e where the motor drives, T v > 0, and c = 1/e where it is driven. The
 * force law (c - 1) T, over T and v, has a piece for each quadrant. At rest it sticks: the gear holds what would need a
 * torque between both. In statics c = 1.
 */
#include "motor.h"

#include "elements.h"

#include "../instance/instance.h"
#include "circuit.h"
#include "laws.h"

#include <math.h>
#include <string.h>

#define FM_UNBOUNDED 1e300

/* Makes the pieces of a law that watches a limit: below, between and above. */
static void watch_limit(fm_instance *s, int32_t law, double most)
{
    const double bounds[4] = {-FM_UNBOUNDED, -most, most, FM_UNBOUNDED};
    for (int n = 0; n < 3 && law >= 0; n++) {
        double *range = s->laws.own_range + 5 * (s->image.law_first[law] + n);
        range[0] = bounds[n], range[1] = bounds[n + 1];
    }
}

/* Makes those of the losses: torques below and above 0, and velocities below and above 0 of each. */
static void lose(fm_instance *s, int32_t law, double efficiency)
{
    for (int n = 0; n < 4 && law >= 0; n++) {
        const int32_t piece = s->image.law_first[law] + n;
        const int above = n >= 2, rises = n % 2;
        const double range[5] = {above ? 0.0 : -FM_UNBOUNDED, above ? FM_UNBOUNDED : 0.0, rises ? 0.0 : -FM_UNBOUNDED,
                                 rises ? FM_UNBOUNDED : 0.0, 0.0};
        double *c = s->laws.own_polynomial + FM_LAW_TERMS * piece;
        memcpy(s->laws.own_range + 5 * piece, range, sizeof range);
        memset(c, 0, FM_LAW_TERMS * sizeof *c);
        c[FM_LAW_POWERS_V] = (above == rises ? efficiency : 1.0 / efficiency) - 1.0;
    }
}

/* Makes the pieces of all laws of motors. */
void fm_motors_derive(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.motors; i++) {
        watch_limit(s, s->image.motor_voltage_law[i], s->motor_voltage_limit[i]);
        watch_limit(s, s->image.motor_current_law[i], s->motor_current_limit[i]);
        lose(s, s->image.motor_loss_law[i], s->motor_efficiency[i]);
    }
}

/* What the gear adds to a torque, per torque, while its law slides. */
static double lost_per_torque(const fm_instance *s, int32_t i, const double *y)
{
    double by_x = 0.0, by_v;
    if (s->image.motor_loss_law[i] >= 0) (void)fm_law_slopes(s, s->image.motor_loss_law[i], y, &by_x, &by_v);
    return by_x;
}

static void act(fm_instance *s, int32_t i, const double *y, double *tau)
{
    const fm_circuit at = fm_motor_at(s, i, y);
    tau[s->image.motor_u[i]] += at.strength * fm_motor_current(s, i, &at, y);
}

static void react(fm_instance *s, int32_t i, double *tau)
{
    tau[s->image.motor_u[i]] += fm_motor_strength(s, i) * fm_motor_current_seed(s, i, s->work.control_seed);
}

static double energy(const fm_instance *s, int32_t i)
{
    const int32_t state = s->image.motor_state[i];
    if (state < 0) return 0.0;
    const double own = s->y[s->model.bristles + state];
    return 0.5 * s->motor_inductance[i] * (own * own);
}

static int states(const fm_instance *s, int32_t i, const double *y, fm_own_states *own)
{
    const int32_t state = s->image.motor_state[i];
    const fm_circuit at = fm_motor_at(s, i, y);
    const double L = s->motor_inductance[i], R = s->motor_resistance[i], k = at.strength;
    const double passed = 1.0 + lost_per_torque(s, i, y);
    own->u = s->image.motor_u[i], own->along[0] = at.rate, own->nominal[0] = s->image.motor_nominal[i];
    own->damping = state < 0 && !at.held ? passed * k * k / R : 0.0;
    if (state < 0) return 0;
    own->first = s->model.bristles + state;
    own->settled[0] = fm_motor_settled(s, i, &at);
    own->C[0] = passed * k;
    if (at.held) return 1;
    own->rate[0] = ((at.voltage - k * at.rate) - R * y[own->first]) / L;
    own->A[0][0] = -R / L, own->B[0] = -k / L, own->seed[0] = fm_motor_voltage_seed(s, i, s->work.control_seed) / L;
    return 1;
}

/* The torque on the joint, or, with `laws.off`, what seeds of the inputs change of it. */
static double torque(const fm_instance *s, int32_t i, const fm_circuit *at)
{
    const int32_t law = s->image.motor_loss_law[i];
    const double now =
        s->laws.off ? fm_motor_current_seed(s, i, s->work.control_seed) : fm_motor_current(s, i, at, s->y);
    return at->strength * now + (law >= 0 ? fm_law_force(s, law, s->y) : 0.0);
}

static double value(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    const fm_circuit at = fm_motor_at(s, i, s->y);
    const double now = fm_motor_current(s, i, &at, s->y);
    (void)part;
    if (kind == FM_M_TORQUE || kind == FM_M_TORQUE_LEFT) return torque(s, i, &at);
    if (kind != FM_M_POWER) return now;
    return at.held ? (s->motor_resistance[i] * now + at.strength * at.rate) * now : at.voltage * now;
}

static double seed(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    const fm_circuit at = fm_motor_at(s, i, s->y);
    const double change = fm_motor_current_seed(s, i, s->work.control_seed);
    (void)part;
    if (kind == FM_M_CURRENT_AT_ONCE) return change;
    if (kind == FM_M_TORQUE) return at.strength * change;
    if (at.held) return 0.0;
    return fm_motor_voltage_seed(s, i, s->work.control_seed) * fm_motor_current(s, i, &at, s->y) + at.voltage * change;
}

const fm_force_element fm_motor_element = {
    .act = act,
    .react = react,
    .energy = energy,
    .states = states,
    .value = value,
    .seed = seed,
};
