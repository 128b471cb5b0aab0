/* planar_modal.h: functions of planar_modal.c. */
#ifndef FM_PLANAR_MODAL_H
#define FM_PLANAR_MODAL_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_planar_modal_structure(fm_instance *s);
void fm_planar_modal_derive(fm_instance *s);
void fm_planar_modal_orient(fm_instance *s, const double *y);
void fm_planar_modal_expand(fm_instance *s, const double *y);

FM_HIDDEN_END

#endif
