/* krylov.h: functions of krylov.c. */
#ifndef FM_KRYLOV_H
#define FM_KRYLOV_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_orthogonalise(const double *space, int32_t count, int32_t n, double *w, double *h);
int32_t fm_krylov_space(fm_instance *s, const double *x);
int fm_krylov(fm_instance *s, double mu, const double *b, double tolerance, double least, double *x);
double fm_krylov_curvature(fm_instance *s, double mu);

FM_HIDDEN_END

#endif
