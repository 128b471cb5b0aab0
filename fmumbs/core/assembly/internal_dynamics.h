/* internal_dynamics.h: functions of internal_dynamics.c. */
#ifndef FM_INTERNAL_DYNAMICS_H
#define FM_INTERNAL_DYNAMICS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_drives_realise(fm_instance *s, double t, const double *y, char *out, size_t capacity);
int fm_drives_fade(fm_instance *s, double t, const double *y, double least);
double fm_drives_response_at(fm_instance *s, double t, const double *y);
int fm_drives_lost(fm_instance *s);
void fm_name_realised(const fm_instance *s, char *out, size_t capacity);

FM_HIDDEN_END

#endif
