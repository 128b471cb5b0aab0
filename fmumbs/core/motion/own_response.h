/* own_response.h: functions of own_response.c. */
#ifndef FM_OWN_RESPONSE_H
#define FM_OWN_RESPONSE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_own_responds(const fm_instance *s);
void fm_own_response(fm_instance *s, const double *y, const double *udot);
void fm_own_add(const fm_instance *s, double *udot);

FM_HIDDEN_END

#endif
