/* projection.h: functions of projection.c. */
#ifndef FM_PROJECTION_H
#define FM_PROJECTION_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_round_off(const fm_instance *s);
double fm_closed_within(const fm_instance *s);
double fm_extent(const fm_instance *s);
double fm_longest_round_off(const fm_instance *s);
double fm_velocities_within(const fm_instance *s, double rate);
double fm_coarse(double gap);
void fm_place_loops(fm_instance *s, const double *y, int level);
int fm_factor_loops(fm_instance *s, const double *y);
int fm_loop_pivots(fm_instance *s, const double *y);
double fm_loop_gap(fm_instance *s, int level);
void fm_smallest_change(fm_instance *s);
void fm_correct_once(fm_instance *s, double *y, int level);
int32_t fm_active_rows(const fm_instance *s);
int fm_correct_levels(fm_instance *s, double *y, int level, int last_level, int factored, int closely,
                      fm_factoring factoring);
int fm_project(fm_instance *s, double *y, int level);

FM_HIDDEN_END

#endif
