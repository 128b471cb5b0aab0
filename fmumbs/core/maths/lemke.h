/* lemke.h: functions of lemke.c. */
#ifndef FM_LEMKE_H
#define FM_LEMKE_H

#include "hidden.h"

#include <stdint.h>

FM_HIDDEN_BEGIN

int fm_lemke(const double *M, const double *q, int32_t n, double *room, int32_t *basis, double *z);

FM_HIDDEN_END

#endif
