/* balance.h: functions of balance.c. */
#ifndef FM_BALANCE_H
#define FM_BALANCE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_balance_unit(const fm_instance *s, int32_t u);
double fm_largest(const double *v, int32_t count);
double fm_norm(const double *v, int32_t count);
int fm_balance_exhausted(fm_instance *s);
void fm_balance_trap(fm_instance *s, double *y, int back);
void fm_balance_begin(fm_instance *s);
void fm_balance_end(fm_instance *s);
void fm_balance_move(fm_instance *s, const double *from, const double *v, double part, double *to);
int fm_balance_close(fm_instance *s, double *y);
int fm_balance_at(fm_instance *s, const double *y, double *F);
int fm_balance_allow(fm_instance *s, const double *y, double *v);
int fm_balance_seed(fm_instance *s, double *x);
int fm_balance_place(fm_instance *s, const double *y);
int fm_balance_product(fm_instance *s, double mu, const double *v, double *out);
int fm_balance_inertia(fm_instance *s, const double *v, double *out);

FM_HIDDEN_END

#endif
