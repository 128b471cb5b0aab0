/* locked_laws.h: functions of locked_laws.c. */
#ifndef FM_LOCKED_LAWS_H
#define FM_LOCKED_LAWS_H

#include "../instance/instance.h"
#include "evaluation.h"

FM_HIDDEN_BEGIN

void fm_find_locked_laws(fm_instance *s, const fm_evaluation *how, int32_t n, double *udot);
double fm_locked_force(const fm_instance *s, int32_t i);

FM_HIDDEN_END

#endif
