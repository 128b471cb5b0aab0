/* rows.h: rows of four numbers, one instruction each where the compiler and the processor have them.
 *
 * The fourth number is padding. The same operations in the same order give the same bits with and without.
 */
#ifndef FM_ROWS_H
#define FM_ROWS_H

#include <string.h>

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi" /* no row crosses a call: all is inlined */
#define FM_INLINE static inline __attribute__((always_inline))
#define FM_NOINLINE static __attribute__((noinline)) /* a loop that wants all registers for itself */
typedef double fm_row __attribute__((vector_size(32)));
#else
#define FM_INLINE static __inline
#define FM_NOINLINE static
typedef struct fm_row {
    double x[4];
} fm_row;
#endif

#if defined(__GNUC__)
FM_INLINE fm_row fm_splat(double x)
{
    return (fm_row){x, x, x, x};
}

FM_INLINE fm_row fm_row_of(double x, double y, double z)
{
    return (fm_row){x, y, z, 0.0};
}

FM_INLINE fm_row fm_row_all(const double *x)
{
    return (fm_row){x[0], x[1], x[2], x[3]};
}

FM_INLINE fm_row fm_add(fm_row a, fm_row b)
{
    return a + b;
}

FM_INLINE fm_row fm_subtract(fm_row a, fm_row b)
{
    return a - b;
}

FM_INLINE fm_row fm_scale(double x, fm_row a)
{
    return fm_splat(x) * a;
}

FM_INLINE fm_row fm_times(fm_row a, fm_row b)
{
    return a * b;
}
#else
FM_INLINE fm_row fm_splat(double x)
{
    fm_row out = {{x, x, x, x}};
    return out;
}

FM_INLINE fm_row fm_row_of(double x, double y, double z)
{
    fm_row out = {{x, y, z, 0.0}};
    return out;
}

FM_INLINE fm_row fm_row_all(const double *x)
{
    fm_row out = {{x[0], x[1], x[2], x[3]}};
    return out;
}

FM_INLINE fm_row fm_add(fm_row a, fm_row b)
{
    for (int i = 0; i < 4; i++) a.x[i] += b.x[i];
    return a;
}

FM_INLINE fm_row fm_subtract(fm_row a, fm_row b)
{
    for (int i = 0; i < 4; i++) a.x[i] -= b.x[i];
    return a;
}

FM_INLINE fm_row fm_scale(double x, fm_row a)
{
    for (int i = 0; i < 4; i++) a.x[i] *= x;
    return a;
}

FM_INLINE fm_row fm_times(fm_row a, fm_row b)
{
    for (int i = 0; i < 4; i++) a.x[i] *= b.x[i];
    return a;
}
#endif

FM_INLINE fm_row fm_row_load(const double *from)
{
    fm_row out;
    memcpy(&out, from, sizeof out);
    return out;
}

FM_INLINE void fm_row_store(double *to, fm_row row)
{
    memcpy(to, &row, sizeof row);
}


#endif
