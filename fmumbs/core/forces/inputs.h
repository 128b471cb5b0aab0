/* inputs.h: functions of inputs.c. */
#ifndef FM_INPUTS_H
#define FM_INPUTS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

const double *fm_inputs_at(fm_instance *s, double t, const double *value, const double *taylor, int32_t count,
                           double *now);
void fm_controls_at(fm_instance *s, double t);

FM_HIDDEN_END

#endif
