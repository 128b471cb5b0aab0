/* excitation.h: functions of excitation.c. */
#ifndef FM_EXCITATION_H
#define FM_EXCITATION_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_begin_smooth(fm_instance *s, double t);
double fm_stops_within(const fm_instance *s, double span);
void fm_end_smooth(fm_instance *s);
double fm_profile_third(const fm_image *m, int32_t path, double x);
void fm_profile_at(const fm_image *m, int32_t path, double x, double out[3]);
void fm_excite(const fm_instance *s, double t, const double *y, const double *input, double *tau);
void fm_follow_paths(const fm_instance *s, double t, double *y);
double fm_foresight(const fm_instance *s, double t, const double *y);
void fm_foresee_targets(const fm_instance *s, double t, const double *now, double then, double *y);
void fm_target(const fm_instance *s, int32_t i, double t, const double *y, double out[2]);
void fm_excite_seed(const fm_instance *s, double *seed);

FM_HIDDEN_END

#endif
