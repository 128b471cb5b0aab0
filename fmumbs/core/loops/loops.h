/* loops.h: functions of loops.c. */
#ifndef FM_LOOPS_H
#define FM_LOOPS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_use_rows(fm_instance *s);
void fm_make_rows(fm_instance *s, int moving, int choose);
void fm_make_K(fm_instance *s);
void fm_eliminate(fm_instance *s, const fm_block *a);
void fm_solve_K(const fm_instance *s, const double *b, double *x);
int fm_factor_K(fm_instance *s);
void fm_load_links(fm_instance *s, const double *lambda);
void fm_find_multipliers(fm_instance *s);
void fm_close_loops(fm_instance *s, double *udot);
void fm_spread(fm_instance *s, const double *lambda, double *out);
void fm_loop_wrench(const fm_instance *s, int32_t joint, double torque[3], double force[3]);
double fm_coupling_force(const fm_instance *s, int32_t coupling, int32_t term);

FM_HIDDEN_END

#endif
