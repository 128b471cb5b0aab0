/* sums.h: what tangents and adjoints add up. */
#ifndef FM_SUMS_H
#define FM_SUMS_H

#include "../maths/vectors.h"

static inline void add_to(double *out, const double *v)
{
    for (int j = 0; j < 3; j++) out[j] += v[j];
}

static inline void add_times(double *out, double factor, const double *v)
{
    for (int j = 0; j < 3; j++) out[j] += factor * v[j];
}

static inline void add_cross(double *out, const double *a, const double *b)
{
    double x[3];
    cross(a, b, x);
    add_to(out, x);
}

#endif
