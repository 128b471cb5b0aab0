/* rows.h: rows of four doubles: one AVX register, or two registers of two where the compiler has vector types.
 *
 * A compiler splits vectors that are longer than the processor's own into single numbers, hence the pairs. The fourth
 * number is padding. The same operations in the same order give the same bits on every processor.
 */
#ifndef FM_ROWS_H
#define FM_ROWS_H

#include <string.h>

#if defined(__GNUC__)
#define FM_INLINE static inline __attribute__((always_inline))
#define FM_NOINLINE static __attribute__((noinline)) /* for a loop that needs all registers */
#else
#define FM_INLINE static __inline
#define FM_NOINLINE static
#endif

#if defined(__GNUC__) && defined(__AVX__)
#pragma GCC diagnostic ignored "-Wpsabi" /* no row is passed through a call: all functions are inlined */
typedef double fm_row __attribute__((vector_size(32)));

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

FM_INLINE fm_row fm_times(fm_row a, fm_row b)
{
    return a * b;
}
#elif defined(__GNUC__)
#define FM_PAIRS
typedef double fm_pair __attribute__((vector_size(16)));
typedef struct fm_row {
    fm_pair low, high;
} fm_row;

FM_INLINE fm_row fm_row_all(const double *x)
{
    return (fm_row){{x[0], x[1]}, {x[2], x[3]}};
}

FM_INLINE fm_row fm_add(fm_row a, fm_row b)
{
    return (fm_row){a.low + b.low, a.high + b.high};
}

FM_INLINE fm_row fm_subtract(fm_row a, fm_row b)
{
    return (fm_row){a.low - b.low, a.high - b.high};
}

FM_INLINE fm_row fm_times(fm_row a, fm_row b)
{
    return (fm_row){a.low * b.low, a.high * b.high};
}
#else
typedef struct fm_row {
    double x[4];
} fm_row;

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

FM_INLINE fm_row fm_times(fm_row a, fm_row b)
{
    for (int i = 0; i < 4; i++) a.x[i] *= b.x[i];
    return a;
}
#endif

FM_INLINE fm_row fm_row_of(double x, double y, double z)
{
    const double all[4] = {x, y, z, 0.0};
    return fm_row_all(all);
}

FM_INLINE fm_row fm_splat(double x)
{
    const double all[4] = {x, x, x, x};
    return fm_row_all(all);
}

FM_INLINE fm_row fm_scale(double x, fm_row a)
{
    return fm_times(fm_splat(x), a);
}

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

/* The same if only the first `count` numbers are read afterwards: without the second pair the compiler leaves out all
 * that it is computed from. */
FM_INLINE fm_row fm_row_load_first(const double *from, const int count)
{
#ifdef FM_PAIRS
    fm_row out = {{0.0, 0.0}, {0.0, 0.0}};
    memcpy(&out.low, from, sizeof out.low);
    if (count > 2) memcpy(&out.high, from + 2, sizeof out.high);
    return out;
#else
    (void)count;
    return fm_row_load(from);
#endif
}

FM_INLINE void fm_row_store_first(double *to, fm_row row, const int count)
{
#ifdef FM_PAIRS
    memcpy(to, &row.low, sizeof row.low);
    if (count > 2) memcpy(to + 2, &row.high, sizeof row.high);
#else
    (void)count;
    fm_row_store(to, row);
#endif
}

#endif
