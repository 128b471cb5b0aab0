/* singular.h: functions of singular.c. */
#ifndef FM_SINGULAR_H
#define FM_SINGULAR_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_singular_roots(const fm_instance *s, double *out);
int fm_singular_measure(fm_instance *s, const double *y, double *out);
int fm_singular_factor(fm_instance *s, const double *y, double *out);
int32_t fm_singular_label(const fm_instance *s, const fm_block *b, int all);
int fm_singular_direction(fm_instance *s, const double *u);
fm_singular_kept fm_singular_begin(fm_instance *s);
void fm_singular_end(fm_instance *s, fm_singular_kept kept);
int fm_rests_singular(fm_instance *s, const double *y);
const fm_block *fm_block_of(const fm_instance *s, int32_t row);
int32_t fm_singular_row(fm_instance *s, const double *y, int32_t *joint);

FM_HIDDEN_END

#endif
