/* reflections.h: functions of reflections.c. */
#ifndef FM_REFLECTIONS_H
#define FM_REFLECTIONS_H

#include "hidden.h"
#include "row_factor.h"

FM_HIDDEN_BEGIN

void fm_reflect_begin(fm_reflections *r, const int32_t *excited, int32_t count);
double fm_reflect_row(fm_reflections *r, double *x, const int32_t *path, int32_t length);
void fm_reflect_drop(fm_reflections *r);
void fm_reflect_to(const fm_reflections *r, double *x);
void fm_reflect_back(const fm_reflections *r, double *x);
void fm_reflect_columns(const fm_reflections *r, double *A, double *part);
void fm_reflect_both(const fm_reflections *r, double *M, double *part);
void fm_reflect_multiply(const fm_reflections *r, const double *lambda, double *out);
void fm_reflect_solve(const fm_reflections *r, double *force, double *lambda);
double fm_reflect_sign(const fm_reflections *r, const int32_t *excited, int32_t count);

FM_HIDDEN_END

#endif
