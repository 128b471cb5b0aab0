/* exact_plan.h: functions of exact_plan.c. */
#ifndef FM_EXACT_PLAN_H
#define FM_EXACT_PLAN_H

#include "../adjoint/graph.h"

FM_HIDDEN_BEGIN

int fm_is_plan_for(const fm_instance *s, const uint32_t *known, size_t knowns);
int fm_plan_for(fm_instance *s, const uint32_t *known, size_t knowns, int32_t computed);

FM_HIDDEN_END

#endif
