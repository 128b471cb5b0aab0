/* friction.h: functions of friction.c. */
#ifndef FM_FRICTION_H
#define FM_FRICTION_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_friction_derive(fm_instance *s);
void fm_friction_place(fm_instance *s, const double *y);
const double *fm_friction_add(fm_instance *s, const double *tau);
void fm_friction_rates(const fm_instance *s, double *ydot);
double fm_friction_force(const fm_instance *s, int32_t friction, int32_t part);
void fm_friction_stage(fm_instance *s, double t, const double *y, double g, double *rates);
void fm_friction_relax(const fm_instance *s, double g, const double *k, double *r, double *y);
void fm_friction_push(fm_instance *s, double g, const double *r, double *f);
void fm_friction_row(fm_instance *s, int32_t i, int32_t k, double *row);
double fm_friction_parts(const fm_instance *s, int32_t i, int32_t k, const double *y, double part[3]);
void fm_friction_follow(fm_instance *s, double g, const double *change, double *r);
void fm_friction_seed(fm_instance *s, const double *control);
const double *fm_friction_add_seed(fm_instance *s, const double *tau);
double fm_friction_force_seed(const fm_instance *s, int32_t friction, int32_t part);

FM_HIDDEN_END

#endif
