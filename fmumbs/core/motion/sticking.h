/* sticking.h: functions of sticking.c. */
#ifndef FM_STICKING_H
#define FM_STICKING_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_any_law_sticks(const fm_instance *s);
void fm_sticking_matrix(fm_instance *s, const fm_evaluation *how, int32_t count, double *udot);
void fm_sticking_solve(fm_instance *s, int32_t n, const int32_t *where, double *f);
int fm_sticking_box(fm_instance *s, int32_t n);
double fm_sticking_rate(const fm_instance *s, int32_t n, int32_t i, const double *f);
int fm_sticking_small(const fm_instance *s, int32_t n, int32_t i, double fraction);
int fm_sticking_rests(const fm_instance *s, int32_t n, int32_t i);
void fm_sticking_range(const fm_instance *s, int32_t law, const int32_t pieces[2], double x, double bound, double wider,
                       double *range);
void fm_laws_stick(fm_instance *s, const fm_evaluation *how, double *udot);

FM_HIDDEN_END

#endif
