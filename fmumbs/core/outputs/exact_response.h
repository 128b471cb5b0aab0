/* exact_response.h: functions of exact_response.c. */
#ifndef FM_EXACT_RESPONSE_H
#define FM_EXACT_RESPONSE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_exact_pull(const fm_instance *s);
void fm_exact_solve(fm_instance *s);
void fm_exact_pull_forward(fm_instance *s, double a);
void fm_exact_solve_back(fm_instance *s);
void fm_exact_force_by_positions(fm_instance *s, const double *toward);
void fm_exact_pull_back(fm_instance *s, double a);

FM_HIDDEN_END

#endif
