/* loop_plan.h: functions of loop_plan.c. */
#ifndef FM_LOOP_PLAN_H
#define FM_LOOP_PLAN_H

#include "../instance/loop.h"

FM_HIDDEN_BEGIN

void fm_free_plan(fm_loop_plan *plan);
int fm_plan_loops(const fm_image *m, int placing, fm_loop_plan *out);

FM_HIDDEN_END

#endif
