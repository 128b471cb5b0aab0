/* dual.h: functions of dual.c. */
#ifndef FM_DUAL_H
#define FM_DUAL_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_make_dual(const fm_instance *s, double (*phi)[6], int32_t n, fm_dual *d);
void fm_dual_wrench(const fm_dual *d, double x[6]);
void fm_dual_rates(const fm_dual *d, double x[6]);

FM_HIDDEN_END

#endif
