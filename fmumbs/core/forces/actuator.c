/* actuator.c: actuators, which push two points P and Q apart along their line with the force of an input.
 *
 * With e the direction from P to Q, the force F puts -F e on P and F e on Q; its power is F dl/dt. Where the points
 * coincide it does nothing.
 */
#include "elements.h"

#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "point_pair.h"

static void push(fm_instance *s, int32_t i, double force)
{
    const int32_t P = s->image.actuator_P[i], Q = s->image.actuator_Q[i];
    double line[3], rate;
    (void)fm_line(s, P, Q, line, &rate);
    fm_pull_together(s, P, Q, line, -force);
}

static void apply(fm_instance *s, int32_t i, const double *load)
{
    (void)load;
    push(s, i, s->work.control[s->image.actuator_force[i]]);
}

static void respond(fm_instance *s, int32_t i, const double *load)
{
    (void)load;
    push(s, i, s->work.control_seed[s->image.actuator_force[i]]);
}

static double value(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    double line[3], rate;
    (void)part;
    const double length = fm_line(s, s->image.actuator_P[i], s->image.actuator_Q[i], line, &rate);
    return kind == FM_A_LENGTH ? length : s->control[s->image.actuator_force[i]] * rate;
}

static double seed(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    double line[3], rate;
    (void)kind, (void)part;
    (void)fm_line(s, s->image.actuator_P[i], s->image.actuator_Q[i], line, &rate);
    return s->work.control_seed[s->image.actuator_force[i]] * rate;
}

const fm_force_element fm_actuator_element = {.apply = apply, .respond = respond, .value = value, .seed = seed};
