/* circuit.c: the circuits of motors: their voltages, currents and limits, by the equations of motor.c. */
#include "circuit.h"

#include "../instance/instance.h"
#include "laws.h"

#include <math.h>

double fm_motor_strength(const fm_instance *s, int32_t i)
{
    return s->motor_gear[i] * s->motor_constant[i];
}

static double cut(double value, double most)
{
    return value > most ? most : value < -most ? -most : value;
}

/* On which side of its limits the position x of a law is, 1 or -1, or 0 between them: in the piece in use, if one is.
 */
static int side_of(const fm_instance *s, int32_t law, double most, double x)
{
    int32_t piece;
    if (law < 0) return 0;
    if (fm_law_slides(s, law, &piece) && piece >= 0) return (int)(piece - s->image.law_first[law]) - 1;
    return x >= most ? 1 : x < -most ? -1 : 0;
}

/* Without its current's limit. */
static fm_circuit driven(const fm_instance *s, int32_t i, const double *y)
{
    fm_circuit at;
    const double given = s->work.control[s->image.motor_voltage[i]];
    const int side = s->work.still ? 0 : side_of(s, s->image.motor_voltage_law[i], s->motor_voltage_limit[i], given);
    at.strength = fm_motor_strength(s, i);
    at.rate = s->work.still ? 0.0 : y[s->image.n.positions + s->image.motor_u[i]];
    at.voltage = s->work.still ? cut(given, s->motor_voltage_limit[i])
                 : side        ? side * s->motor_voltage_limit[i]
                               : given;
    at.settled = (at.voltage - at.strength * at.rate) / s->motor_resistance[i];
    at.held = 0;
    return at;
}

/* What the law of the current's limit watches. */
static double curbed(const fm_instance *s, int32_t i, const fm_circuit *at, const double *y)
{
    const int32_t state = s->image.motor_state[i];
    const double most = s->motor_current_limit[i];
    if (state < 0) return at->settled;
    const double own = y[s->model.bristles + state], sign = own < 0.0 ? -1.0 : 1.0;
    const double now = sign * own, to = sign * at->settled;
    return sign * fmax(now >= most ? to : fmin(now, most + (to - now)), 0.0);
}

/* Requires work.control. */
fm_circuit fm_motor_at(const fm_instance *s, int32_t i, const double *y)
{
    const int32_t law = s->image.motor_current_law[i];
    fm_circuit at = driven(s, i, y);
    if (law >= 0 && !s->work.still) at.held = side_of(s, law, s->motor_current_limit[i], curbed(s, i, &at, y));
    return at;
}

/* The current at which its rate is zero. */
double fm_motor_settled(const fm_instance *s, int32_t i, const fm_circuit *at)
{
    return cut(at->settled, s->motor_current_limit[i]);
}

double fm_motor_current(const fm_instance *s, int32_t i, const fm_circuit *at, const double *y)
{
    const int32_t state = s->image.motor_state[i];
    if (s->work.still) return fm_motor_settled(s, i, at);
    if (state >= 0) return y[s->model.bristles + state];
    return at->held ? at->held * s->motor_current_limit[i] : at->settled;
}

/* Position and velocity of a law of a motor. Requires work.control. */
void fm_motor_watch(const fm_instance *s, int32_t law, const double *y, double *x, double *v)
{
    const int32_t i = s->image.law_motor[law];
    const fm_circuit at = fm_motor_at(s, i, y);
    *v = 0.0;
    if (law == s->image.motor_voltage_law[i]) *x = s->work.control[s->image.motor_voltage[i]];
    else if (law == s->image.motor_current_law[i]) *x = curbed(s, i, &at, y);
    else *x = at.strength * fm_motor_current(s, i, &at, y), *v = y[s->image.n.positions + s->image.motor_u[i]];
}

/* On which side the current of a motor is held at its limit, 1 or -1; 0: it is not. Requires work.control. */
int fm_motor_held(const fm_instance *s, int32_t motor)
{
    return fm_motor_at(s, motor, s->y).held;
}

/* Cuts currents that are beyond their limits, where the modes of the laws are chosen; whether there were any. */
int fm_motors_curb(const fm_instance *s, double *y)
{
    int any = 0;
    for (int32_t i = 0; i < s->image.n.motors; i++) {
        const int32_t state = s->image.motor_state[i];
        if (state < 0) continue;
        double *own = y + s->model.bristles + state;
        const double within = cut(*own, s->motor_current_limit[i]);
        any |= within != *own;
        *own = within;
    }
    return any;
}

/* What seeds of the inputs change of the voltage. */
double fm_motor_voltage_seed(const fm_instance *s, int32_t i, const double *control)
{
    const int32_t input = s->image.motor_voltage[i];
    return side_of(s, s->image.motor_voltage_law[i], s->motor_voltage_limit[i], s->work.control[input]) != 0
               ? 0.0
               : control[input];
}

/* The same of the current at once. */
double fm_motor_current_seed(const fm_instance *s, int32_t i, const double *control)
{
    if (s->image.motor_state[i] >= 0 || fm_motor_held(s, i)) return 0.0;
    return fm_motor_voltage_seed(s, i, control) / s->motor_resistance[i];
}
