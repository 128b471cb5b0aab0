/* scratch.h: memory of this room: the step being tried, and what schemes keep beside the state. */
#ifndef FM_TIME_SCRATCH_H
#define FM_TIME_SCRATCH_H

#include "../instance/instance.h"
#include "../motion/scratch.h"

FM_HIDDEN_BEGIN

#define FM_MOST_APART 12 /* and K and D of each stage in one system */
/* Most velocity variables and rows of loops for which radau_small.c is used. Time beside that of the iteration by
 * stages, of chains of 8, 16, 24 and 40 hinges: 0.68, 0.88, 1.04, 1.6 with a spring across every second joint, 0.56,
 * 0.42, 0.35, 0.31 with one across each, 0.52, 0.52, 0.55, 0.71 with two. */
#define FM_MOST_DENSE 40
#define FM_MOST_ITERATED 12 /* iterations of the stages of radau.c */

#define FM_INTEGRATOR_ARRAYS(A)                                                                         \
    A(double, stage, FM_STAGES * n.ny)                                                                  \
    A(double, trial, n.ny)                                                                              \
    A(double, step_end, n.closed * n.ny)       /* end of the step being tried, before its correction */ \
    A(double, step_corrected, n.closed * n.ny) /* and after */                                          \
    /* radau_small.c: */                                                                                \
    A(double, dense_M, n.small * n.small) /* M, K and D at a stage, transposed */                       \
    A(double, dense_K, 3 * n.small * n.small)                                                           \
    A(double, dense_D, 3 * n.small * n.small)                                                           \
    A(double, dense_J, n.dense_rows * n.small)    /* rows of the loops */                               \
    A(int32_t, drive, n.dense_rows)               /* the mode along which a row's force acts; -1: along the row */ \
    A(double, slides, n.dense_bristles * n.small) /* rows of the sliding velocities */                  \
    A(double, rubs, n.dense_bristles * n.small)   /* and the forces of a unit of friction */            \
    A(double, bristle, 3 * n.dense_bristles)      /* w, B and p */                                      \
    A(double, dense_E, (n.dense <= FM_MOST_APART ? 10 : 3) * n.dense * n.dense) /* factors */           \
    A(double, dense_x, 4 * n.dense)                                                                     \
    A(double, dense_v, 3 * n.small)                                                                     \
    A(double, dense_q, 3 * n.small)                                                                     \
    A(double, dense_z, 3 * n.dense_bristles)                                                            \
    A(double, row_unit, 3 * n.dense) /* of the rows of a matrix that is being factored */               \
    A(int32_t, exchanged, 4 * n.dense)                                                                  \
    /* broad_phase.c: */                                                                                \
    A(double, reach, 2 * n.spotted * n.ny) /* of each position within the step; and from `expected` on */ \
    A(double, expected, n.spotted * n.ny)  /* positions at the end of the step's dense output */    \
    A(fm_travel, travel, 2 * n.spotted * (n.links + 1)) /* of ground and links, by each of these */   \
    A(fm_spare, spare, n.spots)

/* Why a trial step was rejected. */
typedef enum fm_rejection {
    FM_NOT_REJECTED,
    FM_TOO_INACCURATE,
    FM_NOT_FINITE,
    FM_NOT_FOUND,
    FM_NOT_CLOSED,
    FM_JAMMED,
    FM_LOST_DRIVES
} fm_rejection;

/* How the stages of a step of radau.c are iterated: one after the other; by a real and a complex system
 * (radau_small.c), or by one with K and D of each stage. */
typedef enum fm_iteration { FM_BY_STAGES, FM_TOGETHER, FM_APART } fm_iteration;

/* How far a link's origin moves, at most, and how far a unit vector fixed in it. */
typedef struct fm_travel {
    double shift, turn;
} fm_travel;

/* What is left of the gap of a spot that was looked at before, at least, and its arms, at most (contact.c). */
typedef struct fm_spare {
    double gap, arm[2];
} fm_spare;

typedef struct fm_integrator {
#define A(type, name, count) type *name;
    FM_INTEGRATOR_ARRAYS(A)
#undef A
    int32_t lost; /* a joint that has no coordinates at the end of a step, or is at its limit; -1: none */
    double far; /* the coordinate of that joint which is too large to be resolved; 0: none is */
    int32_t far_slides; /* 1: it is a translation */
    int32_t rope; /* that went too far about a pulley in a step; -1: none */
    int32_t left; /* a pulley that a taut rope left in a step; -1: none */
    fm_rejection rejection; /* of the last rejected trial step (headway.c) */
    int32_t slow; /* the last steps that made no headway */
    double lost_at, lost_width; /* a time after drives lost their effect, INFINITY: none is known; the length of the
                                   trial that found it */
    double lost_from, lost_ahead; /* a time before, and what is left from there by its neighbourhood */
    int32_t small; /* velocity variables if radau_small.c may be used, else 0 */
    int32_t rows;  /* of dense_J */
    fm_iteration dense; /* in this step */
    double stiff; /* how near the explicit scheme's last trial was to the limit of stability (dormand_prince.c) */
    int32_t patience; /* most iterations of the stages of a trial (radau.c) */
    int32_t iterations; /* of the stages of the last trial (radau.c) */
} fm_integrator;

FM_HIDDEN_END

#endif
