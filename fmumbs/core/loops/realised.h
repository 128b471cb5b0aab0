/* realised.h: functions of realised.c. */
#ifndef FM_REALISED_H
#define FM_REALISED_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_find_drives(fm_instance *s);
int fm_is_realised(const fm_image *m, int32_t row);
void fm_place_drives(fm_instance *s);
int fm_judge_drives(fm_instance *s, double sign);
void fm_row_accelerations(const fm_instance *s, const double *z, double *r);
void fm_replace_ideal(fm_instance *s, double *lambda);
int fm_realise(fm_instance *s);
int32_t fm_drives_rank(fm_instance *s, double least, int32_t *drive);
double fm_drives_response(fm_instance *s);
double fm_drives_side(fm_instance *s);
void fm_add_drives(const fm_instance *s, const double *lambda, double *x);

FM_HIDDEN_END

#endif
