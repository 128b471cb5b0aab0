/* reduced.h: functions of reduced.c. */
#ifndef FM_REDUCED_H
#define FM_REDUCED_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_reduced_accelerations(fm_instance *s, const double *y, const double *tau, double *udot);
void fm_reduced_multipliers(fm_instance *s);
void fm_reduced_response(fm_instance *s, const double *forces, double *lambda, double *udot);
void fm_reduced_show(fm_instance *s, const double *udot, const double *lambda, double noise);
int fm_reduced_factor(fm_instance *s, const double *y);
void fm_reduced_answer(fm_instance *s);
void fm_reduced_change(fm_instance *s, double *change);
double fm_reduced_row(fm_instance *s, const fm_block *k, int32_t i, int moving, fm_ends *ends, double *J);
int fm_reduced_add_row(fm_instance *s, const fm_block *k, int32_t i, int moving, fm_ends *ends);
int fm_reduced_rows(fm_instance *s, int moving);

FM_HIDDEN_END

#endif
