/* modal.h: functions of modal.c. */
#ifndef FM_MODAL_H
#define FM_MODAL_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_modal_structure(fm_instance *s);
void fm_modal_derive(fm_instance *s);
void fm_modal_bend(fm_modal *b, const double *q);
int fm_modal_column(const fm_instance *s, int32_t link, int32_t mode, double column[6]);
double fm_modal_angle(fm_instance *s, int32_t link, const double *y);
void fm_modal_quaternion(const fm_instance *s, int32_t link, const double *y, double q[4]);
void fm_modal_place(fm_instance *s, const double *y, int planar);
void fm_modal_own(fm_instance *s, int32_t body, const double *y);
void fm_modal_velocity(const fm_instance *s, int32_t link, const double *y, double w[3], double v[3]);
void fm_modal_angular_velocity(fm_instance *s, int32_t link, const double *wp, double *w, const double *y);
void fm_modal_bias(fm_instance *s, const double *y);
void fm_modal_add_frame(fm_instance *s, int32_t link, const fm_articulated *c, const double *r);
void fm_modal_project(fm_instance *s, int32_t link, fm_articulated *c, const double *tau);
void fm_modal_outward(fm_instance *s, int32_t link, double *alpha, double *a, double *udot);
void fm_modal_frame_acceleration(const fm_instance *s, int32_t link, double *alpha, double *a, const double *udot);
void fm_modal_forces(const fm_instance *s, int32_t link, const double *y, double *tau);
void fm_modal_weigh(const fm_instance *s, int32_t link, const double *udot, double wrench[6]);
double fm_modal_energy(const fm_instance *s, int32_t link, const double *spin, const double *v);

FM_HIDDEN_END

#endif
