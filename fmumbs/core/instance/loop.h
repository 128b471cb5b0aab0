/* loop.h: what is known of the joints that close loops, and of their rows. */
#ifndef FM_LOOP_H
#define FM_LOOP_H

#include "link.h"

FM_HIDDEN_BEGIN

/* The rows of one secondary joint, or one coupling, in the order of elimination (loop_plan.c). */
typedef struct fm_block {
    int32_t first, rows;
    int32_t path, length;  /* in loop_path: the velocity variables that its reactions act on, from the tips */
    int32_t below, belows; /* in loop_meeting: the later blocks that its column of K's factor reaches */
    int32_t used, use[FM_FREEDOMS]; /* its rows in use, counted from the first; in the plane at most FM_PLANE_ROWS */
    size_t y, L; /* its innovations, a path after another; its own part of the factor */
} fm_block;

typedef struct fm_meeting {
    int32_t block;     /* the later one */
    int32_t run, runs; /* in loop_run: where their paths run together, in either, and how far; none: it only fills in */
    size_t L;          /* rows of the later by rows of the earlier */
} fm_meeting;

typedef struct fm_loop_plan {
    int32_t blocks;
    size_t meetings, runs, paths, y, L; /* how many numbers */
    fm_block *block;
    fm_meeting *meeting;
    int32_t *run, *path, *link; /* the link of each mode of a path */
} fm_loop_plan;

/* Of a secondary joint. */
typedef struct fm_coordinates {
    double p[FM_FREEDOMS + 1], u[FM_FREEDOMS], udot[FM_FREEDOMS];
} fm_coordinates;

#define FM_INDEPENDENT 1e-9 /* a pivot of the scaled K below it, once a coordinate is held: that depends on the others */
#define FM_DEPENDENT 1e-11 /* a pivot of the scaled K below it: the row follows from the others */
#define FM_WORN 0.1    /* of what the pivot of a row has been: below it other rows are looked for */
#define FM_TIE 1e-13   /* of the same, added to K's diagonal: it can then be factored anywhere */
#define FM_NARROW 0.02 /* the same: below it a singular position may be near */

/* A frame of a secondary joint in the world. */
typedef struct fm_place {
    double r[3], v[3], w[3], a[3], alpha[3]; /* a: true acceleration, only where `moving` asked for it */
} fm_place;

/* The frames of a secondary joint, which its rows share; joint -1: none yet. */
typedef struct fm_ends {
    int32_t joint;
    fm_place F, M;
} fm_ends;

/* Row i: value and first two derivatives, force and torque of a unit multiplier on M's link at M's origin. */
typedef struct fm_constraint {
    double c[3], force[3], torque[3], r[3];
} fm_constraint;

/* What evaluations beside the motion do not change. */
typedef struct fm_bridge_kept {
    double corrected, iterated;
} fm_bridge_kept;

/* What a factorisation of K at y for a correction of one level came to. */
typedef enum fm_factored {
    FM_NO_FACTOR, /* K is singular */
    FM_FACTORED,
    FM_BRIDGED    /* a singular position is near: y has been brought onto its branch */
} fm_factored;

typedef int (*fm_factoring)(fm_instance *s, double *y, int level);

typedef enum fm_multipliers {
    FM_OWN_MULTIPLIERS,
    FM_NO_MULTIPLIERS,   /* they are zero */
    FM_NEAR_MULTIPLIERS, /* those near singular.lambda that make up singular.rhs */
    FM_KEPT_MULTIPLIERS  /* singular.lambda */
} fm_multipliers;

#define FM_LOOP_ARRAYS(A)                                                                                      \
    A(double, y, n.columns)         /* innovations of the rows' multipliers along their paths */               \
    A(double, z, n.columns)         /* the same over the pivots */                                             \
    A(double, L, n.factor)          /* the Delassus matrix K, then its factor */                               \
    A(double, diagonal, n.rows)     /* of K */                                                                 \
    A(double, bound, n.rows)        /* how large a diagonal entry of K can be */                               \
    A(double, row, n.speeds)        /* zeros, but while a row is made */                                       \
    A(double, phi, n.closed * 12 * n.links) /* of a link with one free mode: phi, then U over the pivot, in world axes */ \
    A(double, c, 3 * n.rows)        /* of each row: value and derivatives */                                   \
    A(double, wrench, 6 * n.rows)   /* torque and force on M's link at M */                                    \
    A(double, rhs, n.rows)                                                                                     \
    A(double, lambda, n.rows)       /* Lagrange multipliers */                                                 \
    A(double, kept, n.rows)         /* which rows are active, kept meanwhile */                                \
    A(double, pivot, n.speeds)                                                                                 \
    A(double, change, n.speeds)

typedef struct fm_loop {
#define A(type, name, count) type *name;
    FM_LOOP_ARRAYS(A)
#undef A
    int32_t worn;          /* 1: the last factor of K has a pivot far below row_pivot, or there is none */
    int32_t near_singular; /* 1: and very far below; 2: there is none */
    int32_t multipliers;   /* fm_multipliers: what an evaluation does about them */
    double softening;      /* of row_pivot: what fm_factor_K adds to K's diagonal */
} fm_loop;

FM_HIDDEN_END

#endif
