/* scratch.h: memory of this room: programs that drives realise (realised.c), of size zero if there are none. That of
 * cut joints and their rows is in instance/loop.h, which the kernels share. */
#ifndef FM_LOOPS_SCRATCH_H
#define FM_LOOPS_SCRATCH_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

#define FM_INTERNAL 120 /* most velocity variables of which the internal dynamics' stability is checked */

#define FM_REALISED_ARRAYS(A)                                                                                      \
    A(int32_t, row, n.realised)                   /* the row of each programmed coordinate */                      \
    A(int32_t, link, n.realised)                  /* the link that its drive moves */                              \
    A(int32_t, order, n.realised)                                                                                  \
    A(double, y, n.realised * n.speeds)           /* innovations of each drive's unit force in all free modes */   \
    A(double, z, n.realised * n.speeds)           /* the same divided by the pivots */                             \
    A(double, r, n.realised * n.rows)             /* J M^-1 B of each drive */                                     \
    A(double, x, n.realised * n.rows)             /* K^-1 of that: the ideal multipliers that a unit force saves */ \
    A(double, A, n.realised * n.realised)         /* these of the programs' rows, a row of A each */               \
    A(double, L, n.realised * n.realised)         /* A's factor */                                                 \
    A(double, S, n.realised * n.realised)                                                                          \
    A(double, solved, n.driven * n.rows)                                                                   \
    A(double, u, n.realised)                                                                                       \
    /* in the reduced form */                                                                                       \
    A(double, T, n.opposed * n.speeds * n.speeds) /* H_B' M H: H_B of the rows of loops and drives, as H of J */      \
    A(double, W, n.opposed * n.speeds * n.speeds) /* W' M N, then its factor */                                    \
    A(int32_t, free, n.opposed * n.speeds)                                                                         \
    A(int32_t, exchange, n.opposed * n.speeds)                                                                     \
    A(double, force, n.opposed * n.speeds)                                                                         \
    /* at the start: motions that the rows allow, of positions and of velocities, and how these change */          \
    A(double, N, 2 * n.internal * n.internal)                                                                      \
    A(double, map, 4 * n.internal * n.internal)                                                                    \
    A(double, at, n.driven * n.ny)                                                                         \
    A(double, rates, 5 * n.driven * n.speeds)

typedef struct fm_realised {
#define A(type, name, count) type *name;
    FM_REALISED_ARRAYS(A)
#undef A
    fm_reflections rows; /* of the loops and the drives, in the reduced form */
    int32_t count;
    int32_t crossed; /* 1: in the present fm_step they lost it at nodes of crossings.c, which are no more evaluated */
    int32_t lost; /* 1: in the present step the drives lost their effect on what they realise */
} fm_realised;

FM_HIDDEN_END

#endif
