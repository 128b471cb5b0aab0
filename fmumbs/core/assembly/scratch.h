/* scratch.h: memory of this room. Modes are in the model's order of joints. */
#ifndef FM_ASSEMBLY_SCRATCH_H
#define FM_ASSEMBLY_SCRATCH_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

enum { FM_DROPPED = -1, FM_FREE, FM_FIXED, FM_CHOSEN, FM_GUESSED }; /* hold: values above FM_FREE are fixed */

#define FM_ASSEMBLY_ARRAYS(A)                                                                            \
    A(int32_t, order, n.modes)                                                                           \
    A(int32_t, link, n.placed)        /* link of a mode or screw; for a cut joint's mode, the joint */   \
    A(int32_t, hold, n.placed)        /* above FM_FREE: fixed */                                         \
    A(int32_t, list, n.units)         /* those that should be fixed */                                   \
    A(double, bound, n.rows)          /* upper bound of each row's contribution to K */                  \
    A(double, unit, n.rows)           /* in which its violations count: 1 rad, or the model's length */  \
    A(double, given, n.closed * n.ny)                                                                    \
    A(double, trial, n.closed * n.ny)                                                                    \
    A(double, moved, n.closed * n.ny)    /* a state beside the one to assemble */                        \
    A(double, from, 3 * n.closed * n.ny)                                                                 \
    A(double, near, 2 * n.closed * n.ny)  /* the nearest configuration to the guesses, and a trial */      \
    A(double, cut_p, n.closed * n.cut_positions)                                                         \
    A(double, cut_near, n.closed * n.cut_positions)                                                      \
    A(double, kept, n.closed * n.state) /* a copy of the state while a correction moves positions by screws */

typedef enum fm_released { FM_RELEASE_NONE, FM_RELEASE_FADING, FM_RELEASE_ALL } fm_released; /* which programs */

typedef struct fm_assembly {
#define A(type, name, count) type *name;
    FM_ASSEMBLY_ARRAYS(A)
#undef A
    fm_loop_plan plan; /* that of positions if there are general links; while it is in use, the other one */
    int32_t base; /* 1: assembled without the values that were set */
    int32_t closed; /* 1: the loops are closed already */
    int32_t released; /* fm_released: assembled without the rows of programs */
    int32_t brief, failed; /* 1: iterations stop early; number of attempts that did */
} fm_assembly;

FM_HIDDEN_END

#endif
