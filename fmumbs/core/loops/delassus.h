/* delassus.h: functions of delassus.c. */
#ifndef FM_DELASSUS_H
#define FM_DELASSUS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_use_rows(fm_instance *s);
void fm_make_rows(fm_instance *s, int moving, int choose);
void fm_make_delassus(fm_instance *s);
void fm_eliminate(fm_instance *s, const fm_block *a);
void fm_solve_delassus(const fm_instance *s, const double *b, double *x);
int fm_factor_delassus(fm_instance *s);
void fm_load_links(fm_instance *s, const double *lambda);
void fm_find_multipliers(fm_instance *s);
void fm_close_loops(fm_instance *s, double *udot);
void fm_multiplier_response(fm_instance *s, const double *lambda, double *out);
void fm_loop_wrench(const fm_instance *s, int32_t joint, double torque[3], double force[3]);
double fm_coupling_force(const fm_instance *s, int32_t coupling, int32_t term);

FM_HIDDEN_END

#endif
