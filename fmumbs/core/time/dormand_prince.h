/* dormand_prince.h: functions of dormand_prince.c. */
#ifndef FM_DORMAND_PRINCE_H
#define FM_DORMAND_PRINCE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_dormand_prince_try(fm_instance *s, double t, double h);
void fm_dormand_prince_keep(fm_instance *s, double h, const double *next);
double fm_dormand_prince_factor(const fm_instance *s, double error);

FM_HIDDEN_END

#endif
