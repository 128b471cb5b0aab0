/* rules.h: functions of rules.c. */
#ifndef FM_RULES_H
#define FM_RULES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_check_rules(fm_instance *s, fm_status status);

FM_HIDDEN_END

#endif
