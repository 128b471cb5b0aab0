/* exact_response.h: functions of exact_response.c. */
#ifndef FM_EXACT_RESPONSE_H
#define FM_EXACT_RESPONSE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_exact_clear_forces(fm_instance *s);
void fm_exact_force_by_positions(fm_instance *s, const double *toward);
void fm_exact_respond(fm_instance *s);
void fm_exact_change(fm_instance *s);
void fm_exact_solve(fm_instance *s);
void fm_exact_solve_back(fm_instance *s);

FM_HIDDEN_END

#endif
