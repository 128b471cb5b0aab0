/* secondary.h: functions of secondary.c. */
#ifndef FM_SECONDARY_H
#define FM_SECONDARY_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_cut_coordinates(const fm_instance *s, int32_t joint, int moving, fm_coordinates *out);
void fm_cut_row(const fm_instance *s, int32_t joint, int32_t part, fm_constraint *out);
double fm_cut_angle(const fm_instance *s, int32_t joint);
void fm_follow_cuts(fm_instance *s);
int fm_cuts_forced(const fm_instance *s, const double *tau);
void fm_apply_cuts(fm_instance *s, const double *tau, int laws);
double fm_cut_energy(const fm_instance *s);

FM_HIDDEN_END

#endif
