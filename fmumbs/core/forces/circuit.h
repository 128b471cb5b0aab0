/* circuit.h: functions of circuit.c. */
#ifndef FM_CIRCUIT_H
#define FM_CIRCUIT_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

/* A drive at a state: torque per current, which is voltage per rate; the rate of its mode; its voltage; the current at
 * which the rate of the current is zero; on which side it is held at its limit, 1 or -1, or 0. */
typedef struct fm_circuit {
    double strength, rate, voltage, settled;
    int held;
} fm_circuit;

double fm_motor_strength(const fm_instance *s, int32_t i);
fm_circuit fm_motor_at(const fm_instance *s, int32_t i, const double *y);
double fm_motor_settled(const fm_instance *s, int32_t i, const fm_circuit *at);
double fm_motor_current(const fm_instance *s, int32_t i, const fm_circuit *at, const double *y);
void fm_motor_watch(const fm_instance *s, int32_t law, const double *y, double *x, double *v);
int fm_motor_held(const fm_instance *s, int32_t motor);
int fm_motors_curb(const fm_instance *s, double *y);
double fm_motor_voltage_seed(const fm_instance *s, int32_t i, const double *control);
double fm_motor_current_seed(const fm_instance *s, int32_t i, const double *control);

FM_HIDDEN_END

#endif
