/* exact_pull.h: functions of exact_pull.c. */
#ifndef FM_EXACT_PULL_H
#define FM_EXACT_PULL_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_exact_pull(const fm_instance *s);
void fm_exact_begin_pull(fm_instance *s);
void fm_exact_pull_forward(fm_instance *s, double a);
void fm_exact_pull_back(fm_instance *s, double a);
void fm_exact_pull_back_further(fm_instance *s);

FM_HIDDEN_END

#endif
