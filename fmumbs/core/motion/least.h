/* least.h: functions of least.c. */
#ifndef FM_LEAST_H
#define FM_LEAST_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_least_reactions(fm_instance *s, double *change);
void fm_least_structure(fm_instance *s);

FM_HIDDEN_END

#endif
