/* dense.h: functions of dense.c. */
#ifndef FM_DENSE_H
#define FM_DENSE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_dense(const fm_instance *s, double t, double *y);
void fm_dense_reach(const fm_instance *s, int32_t n, double *reach);

FM_HIDDEN_END

#endif
