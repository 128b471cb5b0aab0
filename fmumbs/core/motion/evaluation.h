/* evaluation.h: functions of evaluation.c. */
#ifndef FM_EVALUATION_H
#define FM_EVALUATION_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_sweep_and_close(fm_instance *s, const double *y, const double *tau, double *udot);
const double *fm_apply_all(fm_instance *s, double t, const double *y);
fm_evaluation fm_evaluation_at(double t, const double *y);
void fm_accelerations(fm_instance *s, double t, const double *y, double *udot);
void fm_accelerations_alone(fm_instance *s, double t, const double *y, double *udot);

FM_HIDDEN_END

#endif
