/* general.h: functions of general.c. */
#ifndef FM_GENERAL_H
#define FM_GENERAL_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_general_structure(fm_instance *s);
void fm_general_place(fm_instance *s, fm_general *g, const double *y);
void fm_general_at(const fm_instance *s, fm_general *g, const double *p);
void fm_general_resist(const fm_instance *s, const fm_general *g, const double *y, double *tau);
void fm_general_stiffen(const fm_instance *s, fm_general *g);
double fm_general_inertia(const fm_instance *s, const fm_general *g, int32_t i, int32_t j);
double fm_general_energy(const fm_instance *s, const fm_general *g, const double *y);
void fm_general_rates(const fm_general *g, const double *u, double *pdot);
void fm_general_velocity(const fm_general *g, const double *u, double out[6]);
void fm_general_angular_velocity(fm_instance *s, int32_t link, const double *wp, double *w, const double *u);
void fm_general_bias(fm_instance *s, int32_t i);
void fm_general_project(fm_instance *s, int32_t link, fm_articulated *c, const double *tau);
void fm_general_outward(fm_instance *s, int32_t link, double *alpha, double *a, double *udot);
void fm_general_pass(const fm_general *g, double wrench[6], double *innovations);

FM_HIDDEN_END

#endif
