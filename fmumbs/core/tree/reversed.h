/* reversed.h: functions of reversed.c. */
#ifndef FM_REVERSED_H
#define FM_REVERSED_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_reversed_structure(fm_instance *s);
void fm_run_orientations(fm_instance *s, const double *y);
void fm_run_speeds(fm_instance *s, const double *y);
const double *fm_linked(const fm_instance *s, const double *y);
const double *fm_linked_forces(fm_instance *s, const double *tau);
void fm_from_links(const fm_instance *s, double *udot);
void fm_run_sweeps(fm_instance *s, const double *y, const double *tau, double *udot);
void fm_run_outward(fm_instance *s, double *udot);

FM_HIDDEN_END

#endif
