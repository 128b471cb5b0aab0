/* units.h: functions of units.c. */
#ifndef FM_UNITS_H
#define FM_UNITS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_is_of_cut_joint(const fm_instance *s, int32_t u);
int32_t fm_unit_size(const fm_instance *s, int level, int32_t u);
int32_t fm_unit_positions(const fm_instance *s, int32_t u, int32_t *first);
int fm_is_set(const fm_instance *s, int level, int32_t u);
int fm_is_given(const fm_instance *s, int level, int32_t u);
int fm_unit_in_loop(const fm_instance *s, int32_t u);
void fm_hold_fixed(fm_instance *s, int drives, int joints);

FM_HIDDEN_END

#endif
