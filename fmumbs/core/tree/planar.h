/* planar.h: functions of planar.c. */
#ifndef FM_PLANAR_H
#define FM_PLANAR_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_planar_structure(fm_instance *s);
void fm_planar_weigh(fm_instance *s);
void fm_planar_derive(fm_instance *s);
void fm_planar_orient(fm_instance *s, const double *y);
void fm_planar_expand(fm_instance *s);

FM_HIDDEN_END

#endif
