/* response.h: functions of response.c. */
#ifndef FM_RESPONSE_H
#define FM_RESPONSE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_respond_by_motion(fm_instance *s, const double *tau);
void fm_respond(fm_instance *s, const double *tau, const double *load);

FM_HIDDEN_END

#endif
