/* hosted.h: what integration by the host has beside the instance's state (time/hosted.c). */
#ifndef FM_INSTANCE_HOSTED_H
#define FM_INSTANCE_HOSTED_H

#include "link.h"

FM_HIDDEN_BEGIN

#define FM_STEP_SIZES 14 /* most step sizes of a difference (outputs/differences.c) */
#define FM_UNKNOWNS 64  /* unknowns beside the states' rates whose differences are taken at once */

#define FM_HOSTED_ARRAYS(A)                                                                          \
    A(int32_t, place, n.ny)  /* the element of y that each continuous state is */                    \
    A(int32_t, state, n.ny)  /* the continuous state that each element of y is, -1: follows a path */ \
    A(double, rates, n.ny)   /* of y, at the present state */                                        \
    A(double, indicators, n.laws) /* at the present state */                                          \
    A(double, pulled, 2 * n.ny) /* y with the velocities of a pull, and its rates (motion/pull.c) */ \
    A(double, toward, n.ny)  /* the direction in y in which differences are taken */                 \
    A(double, table, FM_STEP_SIZES * (n.ny + FM_UNKNOWNS)) /* their extrapolation, for each unknown */  \
    A(double, best, 2 * (n.ny + FM_UNKNOWNS))  /* of each: the derivative, its error */               \
    A(double, ahead, 2 * (n.ny + FM_UNKNOWNS)) /* values on both sides */                            \
    A(uint32_t, differed, n.ny + FM_UNKNOWNS) /* unknowns that have differences, */                  \
    A(double, difference, n.ny + FM_UNKNOWNS) /* and these (outputs/derivatives.c) */

typedef struct fm_hosted {
#define A(type, name, count) type *name;
    FM_HOSTED_ARRAYS(A)
#undef A
    int32_t states; /* number of continuous states */
} fm_hosted;

FM_HIDDEN_END

#endif
