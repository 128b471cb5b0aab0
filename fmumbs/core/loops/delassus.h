/* delassus.h: functions of delassus.c. */
#ifndef FM_DELASSUS_H
#define FM_DELASSUS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_use_rows(fm_instance *s);
void fm_make_pivots(fm_instance *s);
void fm_make_rows(fm_instance *s, int moving, int choose);
void fm_make_delassus(fm_instance *s);
void fm_eliminate(fm_instance *s, const fm_block *a);
void fm_solve_delassus(const fm_instance *s, const double *b, double *x);
void fm_subtract_product(const fm_instance *s, const double *x, double *b);
void fm_add_response(fm_instance *s, const fm_block *b, int32_t r, double force);
int fm_factor_delassus(fm_instance *s);
int fm_factor_and_solve(fm_instance *s, const double *b, double *x);

FM_HIDDEN_END

#endif
