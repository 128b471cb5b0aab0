/* row_factor.h: rows as sums of orthonormal ones. */
#ifndef FM_ROW_FACTOR_H
#define FM_ROW_FACTOR_H

#include <stdint.h>

/* Rows J = L Q by reflections (reflections.c): room for `rows` of them, of `speeds` coordinates each. */
#define FM_REFLECTION_ARRAYS(A, rows, speeds)                                                             \
    A(double, v, rows * speeds)     /* of each reflection: its entries, */                                 \
    A(int32_t, at, rows * speeds)   /* their coordinates, */                                               \
    A(int32_t, count, rows)         /* their number, 0: it is none, */                                     \
    A(double, beta, rows)           /* 2 / v'v, */                                                         \
    A(int32_t, pivot, rows)         /* the coordinate that keeps an entry; -1: nothing is left of the row, */ \
    A(int32_t, next, rows)          /* and the next row that shares coordinates with it, -1: none */        \
    A(int32_t, reached, rows)       /* of the present row */                                               \
    A(double, L, rows * rows)                                                                              \
    A(int32_t, first, speeds)       /* the first reflection that acts on a coordinate; -1: none */          \
    A(int32_t, listed, speeds)      /* 1: of those of the present row */                                     \
    A(int32_t, taken, speeds)       /* 1: a pivot, or an excited coordinate; the others are independent */

typedef struct fm_reflections {
#define A(type, name, count) type *name;
    FM_REFLECTION_ARRAYS(A, , )
#undef A
    int32_t rank, rows, speeds; /* rows so far, room for them, coordinates */
} fm_reflections;

#endif
