/* jacobian.h: functions of jacobian.c. */
#ifndef FM_JACOBIAN_H
#define FM_JACOBIAN_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_wrench_along(const fm_instance *s, int32_t F, int32_t M, const fm_constraint *row, double *J,
                       const double *weight);
void fm_cut_mode_row(const fm_instance *s, int32_t joint, int32_t u, double *J);
void fm_whole_row(const fm_instance *s, int32_t i, const fm_constraint *row, double *J);
double fm_row_along(const fm_instance *s, int32_t i, const fm_constraint *row, double *J, const double *weight);

FM_HIDDEN_END

#endif
