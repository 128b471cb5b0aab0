/* own_states.h: functions of own_states.c. */
#ifndef FM_OWN_STATES_H
#define FM_OWN_STATES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_own_seed(fm_instance *s);
void fm_own_settle(const fm_instance *s, double *y);
void fm_own_derive(fm_instance *s);
void fm_own_stage(fm_instance *s, double t, const double *y, double g, double *rates);
void fm_own_relax(const fm_instance *s, double g, const double *k, double *r, double *y);
void fm_own_push(fm_instance *s, double g, const double *y, const double *r, double *f);
void fm_own_follow(fm_instance *s, double g, const double *change, double *r);

FM_HIDDEN_END

#endif
