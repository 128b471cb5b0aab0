/* constraints.h: functions of constraints.c. */
#ifndef FM_CONSTRAINTS_H
#define FM_CONSTRAINTS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_constraint_at(const fm_instance *s, int32_t i, int moving, fm_ends *ends, fm_constraint *out);
void fm_world_modes(fm_instance *s);
double fm_most_torque(const fm_instance *s, const double torque[3], const double force[3]);
void fm_pass_loop(const fm_instance *s, int32_t joint, const fm_constraint *row, double *y, double *most);
void fm_pass_force(const fm_instance *s, int32_t link, int32_t part, double force, double *y, double *most);
void fm_pass_coupling(const fm_instance *s, int32_t i, double *y, double *most);
double fm_violation(fm_instance *s, int level);
int fm_row_turns(const fm_image *m, int32_t row);
double fm_row_unit(const fm_instance *s, int32_t row, const fm_constraint *one);
int32_t fm_worst_row(fm_instance *s, int level, double *gap, double *unit);
void fm_loop_names(const fm_instance *s, int32_t row, char *out, size_t capacity);

FM_HIDDEN_END

#endif
