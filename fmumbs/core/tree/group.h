/* group.h: functions of group.c. */
#ifndef FM_GROUP_H
#define FM_GROUP_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_articulated_times(const fm_articulated *c, const double *v, double *out);
void fm_group_factor(fm_group *b, const double *most, double note[2]);
void fm_group_eliminate(fm_group *b, fm_articulated *c, double *x);
void fm_group_push(fm_articulated *c, const double push[6]);
void fm_group_outward(const fm_group *b, const double z[6], double *udot);
void fm_group_pass(const fm_group *b, double *x, double wrench[6], double *innovations);
void fm_group_add(fm_group *b, double *innovations);

FM_HIDDEN_END

#endif
