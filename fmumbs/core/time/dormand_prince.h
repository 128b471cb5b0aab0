/* dormand_prince.h: functions of dormand_prince.c. */
#ifndef FM_DORMAND_PRINCE_H
#define FM_DORMAND_PRINCE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

#define FM_DORMAND_PRINCE_LAST 6 /* the stage at the end of the step */

double fm_dormand_prince_try(fm_instance *s, double t, double h);
void fm_dormand_prince_keep(fm_instance *s, double h, const double *next);

FM_HIDDEN_END

#endif
