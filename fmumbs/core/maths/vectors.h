/* vectors.h: vectors of 3, of 6 (torque, force), and rotation matrices stored by rows. */
#ifndef FM_VECTORS_H
#define FM_VECTORS_H

#include <stdint.h>
#include <string.h>

static inline void copy(double *to, const double *from, int32_t count)
{
    if (count > 0) memcpy(to, from, (size_t)count * sizeof *to);
}

static inline double dot(const double *a, const double *b)
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

static inline double dot6(const double *a, const double *b)
{
    return ((a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]) + ((a[3] * b[3] + a[4] * b[4]) + a[5] * b[5]);
}

static inline void cross(const double *a, const double *b, double *out)
{
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y, out[2] = z;
}

/* out = A B */
static inline void product(const double *A, const double *B, double *out)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = (A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j]) + A[3 * i + 2] * B[6 + j];
}

/* out = R v */
static inline void rotate_out(const double *R, const double *v, double *out)
{
    const double x = R[0] * v[0] + R[1] * v[1] + R[2] * v[2], y = R[3] * v[0] + R[4] * v[1] + R[5] * v[2];
    const double z = R[6] * v[0] + R[7] * v[1] + R[8] * v[2];
    out[0] = x, out[1] = y, out[2] = z;
}

/* Component i of R v. */
static inline double row_of(const double *R, int i, const double *v)
{
    return R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2];
}

/* out = R' v */
static inline void rotate_in(const double *R, const double *v, double *out)
{
    const double x = R[0] * v[0] + R[3] * v[1] + R[6] * v[2], y = R[1] * v[0] + R[4] * v[1] + R[7] * v[2];
    const double z = R[2] * v[0] + R[5] * v[1] + R[8] * v[2];
    out[0] = x, out[1] = y, out[2] = z;
}

#endif
