/* laws.h: data of the force laws in an evaluation and a step. */
#ifndef FM_LAWS_STATE_H
#define FM_LAWS_STATE_H

#include "link.h"

FM_HIDDEN_BEGIN

/* Which laws act: all; those that stick, and seeds of the others; none. */
typedef enum fm_laws_off { FM_ALL_LAWS, FM_STICKING_LAWS, FM_NO_LAWS } fm_laws_off;

#define FM_LAW_ARRAYS(A)                                                                                 \
    A(double, now, 2 * n.laws)      /* modes at the present time, for outputs */                         \
    A(double, force, n.laws)        /* of each sticking law [N or N.m] */                                \
    A(double, v, n.laws)            /* velocity of each law at the previous sample */                    \
    A(double, pushes, n.laws)       /* of each stop with a restitution at rest, as found so far (statics/stops.c), */ \
    A(double, stiff, n.laws)        /* its stiffness there, */                                           \
    A(double, from, n.laws)         /* its position where a step of the search begins, */                \
    A(int32_t, bears, n.laws)       /* and the wall that bears it, -1: none */                           \
    A(double, seed, n.laws)         /* derivative of each sliding law's force along seeds of the controls */ \
    A(double, looks, 6 * n.laws)    /* position and velocity at one sample within a step, at the next, between them */ \
    A(int32_t, all, n.laws)         /* every law */                                                      \
    A(int32_t, some, n.laws)        /* those that may leave their modes within the last step (broad_phase.c) */ \
    A(double, rates, (n.laws > 0) * (n.ny + n.speeds))                                                   \
    A(double, udot, (n.laws > 0) * n.speeds) /* accelerations without the forces of laws that stick */   \
    A(double, own_range, 5 * n.own_pieces) /* of gears and motors, whose parameters make them */ \
    A(double, own_polynomial, FM_LAW_TERMS * n.own_pieces)                                               \
    A(int32_t, held, n.held)        /* the laws that interact */                                         \
    A(int32_t, where, n.held)       /* fm_sticking_at: where their forces lie in their ranges */             \
    A(int32_t, side, n.held)                                                                             \
    A(double, range, 2 * n.held)                                                                         \
    A(double, a, n.held)                                                                                 \
    A(double, free, n.held)         /* the diagonal of A without loops and programs, -1: not needed (locked_laws.c) */ \
    A(double, moved, n.held)        /* the largest acceleration with the trial force of each (locked_laws.c) */ \
    A(int32_t, locked, n.held)      /* fm_locking: whether the tree, loops or programs fix the velocity */ \
    A(double, f, n.held)                                                                                 \
    A(double, x, n.held)                                                                                 \
    A(double, aim, n.held)                                                                               \
    A(double, lemke, n.struck * (3 * n.struck + 4)) /* a problem of impulses, and its tableau (impacts.c) */ \
    A(double, struck, (n.laws > 0) * n.speeds) /* velocities before an impact (impacts.c) */             \
    A(double, A, n.held * n.held)                                                                        \
    A(double, L, n.held * n.held)

typedef struct fm_laws {
#define A(type, name, count) type *name;
    FM_LAW_ARRAYS(A)
#undef A
    const int32_t *watched; /* the laws to look at, `all` or `some`, */
    int32_t watching;       /* and how many */
    double *use;   /* the modes that evaluations use: those of the state, or `now` */
    double fastest; /* the largest velocity where laws were placed, relative to 1 rad or the model's length [1/s] */
    double resolved; /* flights between impacts that are shorter end at once: a fixed step [s], else 0 */
    int32_t off;     /* fm_laws_off */
    int32_t linear;  /* 1: stops at rest go on bearing, or go on not to (statics/stops.c) */
    /* the law for which the step cannot continue, -1: none; the number of laws: too many stick; more: undecided, that
     * number and one more for each law; more than these: a stop that nothing can leave; than these: a stop at whose
     * impact round-off decides */
    int32_t fault;
} fm_laws;

FM_HIDDEN_END

#endif
