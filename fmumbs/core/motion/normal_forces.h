/* normal_forces.h: functions of normal_forces.c. */
#ifndef FM_NORMAL_FORCES_H
#define FM_NORMAL_FORCES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_any_own_friction(const fm_instance *s);
void fm_find_normal_forces(fm_instance *s, const fm_evaluation *how, int only_udot, double *udot);
void fm_normal_forces_follow(fm_instance *s, const fm_evaluation *how, double *udot);
void fm_begin_normal_forces(fm_instance *s);
void fm_note_normal_forces(fm_instance *s);

FM_HIDDEN_END

#endif
