/* tangent.h: functions of tangent.c. */
#ifndef FM_STATICS_TANGENT_H
#define FM_STATICS_TANGENT_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_tangent_along(fm_instance *s, double step, const double *v, double *out);
fm_status fm_do_tangent(fm_instance *s, double step, const double *direction, double *out);
fm_status fm_do_flexibility(fm_instance *s, const double *direction, double *out);

FM_HIDDEN_END

#endif
