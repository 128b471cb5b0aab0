/* krylov.h: functions of krylov.c. */
#ifndef FM_KRYLOV_H
#define FM_KRYLOV_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_krylov(fm_instance *s, double mu, const double *b, double tolerance, double least, double *x);

FM_HIDDEN_END

#endif
