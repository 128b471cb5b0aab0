/* multipliers.h: functions of multipliers.c. */
#ifndef FM_MULTIPLIERS_H
#define FM_MULTIPLIERS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_find_multipliers(fm_instance *s);
double fm_wanted_of_row(const fm_instance *s, const double c[3]);
void fm_close_loops(fm_instance *s, double *udot);
void fm_multiplier_response(fm_instance *s, const double *lambda, double *out);
void fm_force_response(fm_instance *s, double *lambda, double *out);
void fm_load_links(fm_instance *s, const double *lambda);
void fm_loop_wrench(const fm_instance *s, int32_t joint, double torque[3], double force[3]);
double fm_coupling_force(const fm_instance *s, int32_t coupling, int32_t term);

FM_HIDDEN_END

#endif
