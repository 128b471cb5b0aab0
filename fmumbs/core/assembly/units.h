/* units.h: functions of units.c. */
#ifndef FM_UNITS_H
#define FM_UNITS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_is_of_cut_joint(const fm_instance *s, int32_t u);
int fm_is_variable(const fm_instance *s, int level, int32_t x);
int32_t fm_unit_modes(const fm_instance *s, int level, int32_t u);
int32_t fm_unit_size(const fm_instance *s, int level, int32_t u);
int32_t fm_unit_variable(const fm_instance *s, int level, int32_t u, int32_t j);
int32_t fm_unit_with(const fm_instance *s, int32_t x);
int32_t fm_unit_positions(const fm_instance *s, int32_t u, int32_t *first);
int fm_is_set(const fm_instance *s, int level, int32_t u);
int fm_is_given(const fm_instance *s, int level, int32_t u);
int fm_unit_in_loop(const fm_instance *s, int32_t u);
void fm_hold_unit(fm_instance *s, int level, int32_t u, int32_t how);
void fm_hold_none(fm_instance *s);
void fm_hold_fixed(fm_instance *s, int drives, int joints);

FM_HIDDEN_END

#endif
