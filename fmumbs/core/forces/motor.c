/* motor.c: direct-current motors on a mode of a joint, behind a gear.
 *
 * With the voltage V, which a limit may cut, the current i, the rate v of the mode, resistance R, inductance L,
 * constant k, gear ratio N and inertia J of the rotor,
 *
 *     L i' = V - R i - N k v,     torque on the joint = N k i,     N^2 J beside the mode's own inertia.
 *
 * The current is an own state; at L = 0 it is that at which its rate is zero. A generator's torque and voltage have the
 * same constant, so that the power V i goes to R i^2, to L i i' and to the joint. In statics the current is the one at
 * rest.
 */
#include "elements.h"

#include "../instance/instance.h"

#include <math.h>

static double voltage(const fm_instance *s, int32_t i, double given)
{
    const double most = s->motor_voltage_limit[i];
    return given > most ? most : given < -most ? -most : given;
}

static double rate_of(const fm_instance *s, int32_t i, const double *y)
{
    return y[s->image.n.positions + s->image.motor_u[i]];
}

/* Torque per current, and voltage per rate. */
static double strength(const fm_instance *s, int32_t i)
{
    return s->motor_gear[i] * s->motor_constant[i];
}

/* The current at which its rate is zero. */
static double settled(const fm_instance *s, int32_t i, double given, double rate)
{
    return (voltage(s, i, given) - strength(s, i) * rate) / s->motor_resistance[i];
}

static double current(const fm_instance *s, int32_t i, double given, const double *y)
{
    const int32_t state = s->image.motor_state[i];
    if (s->work.still) return settled(s, i, given, 0.0);
    return state >= 0 ? y[s->model.bristles + state] : settled(s, i, given, rate_of(s, i, y));
}

static void act(fm_instance *s, int32_t i, const double *y, double *tau)
{
    tau[s->image.motor_u[i]] += strength(s, i) * current(s, i, s->work.control[s->image.motor_voltage[i]], y);
}

/* What work.control_seed changes of the voltage. */
static double voltage_seed(const fm_instance *s, int32_t i)
{
    const int32_t input = s->image.motor_voltage[i];
    return fabs(s->control[input]) > s->motor_voltage_limit[i] ? 0.0 : s->work.control_seed[input];
}

/* The same of the current at once. */
static double current_seed(const fm_instance *s, int32_t i)
{
    return s->image.motor_state[i] >= 0 ? 0.0 : voltage_seed(s, i) / s->motor_resistance[i];
}

static void react(fm_instance *s, int32_t i, double *tau)
{
    tau[s->image.motor_u[i]] += strength(s, i) * current_seed(s, i);
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
    const double L = s->motor_inductance[i], R = s->motor_resistance[i], k = strength(s, i);
    const double given = s->work.control[s->image.motor_voltage[i]], rate = rate_of(s, i, y);
    own->u = s->image.motor_u[i], own->along = rate, own->nominal[0] = s->image.motor_nominal[i];
    own->damping = state < 0 ? k * k / R : 0.0;
    if (state < 0) return 0;
    own->first = s->model.bristles + state;
    own->settled[0] = settled(s, i, given, rate);
    own->rate[0] = ((voltage(s, i, given) - k * rate) - R * y[own->first]) / L;
    own->A[0][0] = -R / L, own->B[0] = -k / L, own->C[0] = k, own->seed[0] = voltage_seed(s, i) / L;
    return 1;
}

static double value(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    const double given = s->control[s->image.motor_voltage[i]], now = current(s, i, given, s->y);
    (void)part;
    return kind == FM_M_TORQUE ? strength(s, i) * now : kind == FM_M_POWER ? voltage(s, i, given) * now : now;
}

static double seed(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    const double given = s->control[s->image.motor_voltage[i]], change = current_seed(s, i);
    (void)part;
    if (kind == FM_M_CURRENT_AT_ONCE) return change;
    if (kind == FM_M_TORQUE) return strength(s, i) * change;
    return voltage_seed(s, i) * current(s, i, given, s->y) + voltage(s, i, given) * change;
}

const fm_force_element fm_motor_element = {
    .act = act,
    .react = react,
    .energy = energy,
    .states = states,
    .value = value,
    .seed = seed,
};
