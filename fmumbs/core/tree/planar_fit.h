/* planar_fit.h: functions of planar_fit.c. */
#ifndef FM_PLANAR_FIT_H
#define FM_PLANAR_FIT_H

#include "../image/image.h"

FM_HIDDEN_BEGIN

int32_t fm_planar_row(const fm_image *m, int32_t i, const double *nF, const double *nM);
int32_t fm_planar_normals(const fm_image *m, double *normal, double *ground);
int32_t fm_planar_count(const fm_image *m);

FM_HIDDEN_END

#endif
