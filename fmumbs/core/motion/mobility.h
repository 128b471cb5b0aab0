/* mobility.h: functions of mobility.c. */
#ifndef FM_MOBILITY_H
#define FM_MOBILITY_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_most_mobile(const fm_instance *s, int32_t link, const fm_constraint *on);
double fm_most_mobile_at(const fm_instance *s, int32_t link, const double r[3], int32_t linear);

FM_HIDDEN_END

#endif
