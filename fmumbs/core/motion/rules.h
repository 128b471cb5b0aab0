/* rules.h: functions of rules.c. */
#ifndef FM_RULES_H
#define FM_RULES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_check_rules(fm_instance *s, fm_status status);
fm_status fm_check_quaternions(fm_instance *s, const double *y);

FM_HIDDEN_END

#endif
