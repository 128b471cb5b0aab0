/* lemke.h: functions of lemke.c. */
#ifndef FM_LEMKE_H
#define FM_LEMKE_H

#include "hidden.h"

#include <stdint.h>

FM_HIDDEN_BEGIN

/* What a search found: a solution; that there is none; neither, since round-off repeats its pivots. */
typedef enum fm_complementary { FM_COMPLEMENTARY, FM_NO_COMPLEMENTARY, FM_ROUND_OFF_GOES_ROUND } fm_complementary;

fm_complementary fm_lemke(const double *M, const double *q, int32_t n, double *room, int32_t *basis, double *z);

FM_HIDDEN_END

#endif
