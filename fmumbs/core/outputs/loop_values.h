/* loop_values.h: functions of loop_values.c. */
#ifndef FM_LOOP_VALUES_H
#define FM_LOOP_VALUES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

size_t fm_do_jacobian(fm_instance *s, double *J, size_t capacity);
size_t fm_do_violations(fm_instance *s, double *c, size_t capacity);

FM_HIDDEN_END

#endif
