/* loop.h: data of the cut joints and of their constraint rows. */
#ifndef FM_LOOP_H
#define FM_LOOP_H

#include "link.h"

FM_HIDDEN_BEGIN

/* The constraint rows of one cut joint or one coupling, in the order of elimination (loop_plan.c). */
typedef struct fm_block {
    int32_t first, rows;
    int32_t path, length;  /* in plan.path: the velocity variables that its reactions act on, from the leaves */
    int32_t below, belows; /* in plan.meeting: the later blocks in its column of K's factor */
    int32_t used, use[FM_JOINT_MODES]; /* its active rows, counted from the first; in the plane at most FM_PLANE_ROWS */
    size_t y, L; /* offsets of its innovations (a path after another) and of its diagonal block of the factor */
} fm_block;

typedef struct fm_meeting {
    int32_t block; /* the later one */
    int32_t run, runs; /* in plan.run: the common parts of the two paths, and their lengths; none: fill-in only */
    size_t L; /* offset of rows of the later by rows of the earlier */
} fm_meeting;

typedef struct fm_loop_plan {
    int32_t blocks;
    size_t meetings, runs, paths, y, L; /* sizes of the arrays */
    fm_block *block;
    fm_meeting *meeting;
    int32_t *run, *path, *link; /* the link of each mode on a path */
} fm_loop_plan;

/* Coordinates of a cut joint. */
typedef struct fm_coordinates {
    double p[FM_JOINT_MODES + 1], u[FM_JOINT_MODES], udot[FM_JOINT_MODES];
} fm_coordinates;

#define FM_INDEPENDENT 1e-9 /* a held coordinate whose pivot in the scaled K is below this is dependent */
#define FM_DEPENDENT 1e-11 /* a row whose pivot in the scaled K is below this is redundant */
#define FM_WORN 0.1    /* fraction of a row's former pivot below which the choice of rows is checked again */
#define FM_TIE 1e-13   /* fraction of a row's former pivot, added to K's diagonal so that it can always be factored */
#define FM_NARROW 0.02 /* fraction of a row's former pivot below which a singular position may be near */

#define FM_NARROW_REDUCED 2e-3 /* the same for pivots of J J' (reduced.c), which are found without the round-off of K */

/* Motion of a cut joint's frame M relative to F, in F's axes. */
typedef struct fm_relation {
    double R[9], r[3], velocity[6];
    double F[9], M[9], at[3]; /* axes of F and M, and M's origin, in the world */
    double extent; /* largest coordinate of the two origins in the world [m] */
    double acceleration[6]; /* of use only if it was asked for; last, so that the others can be compared without it */
} fm_relation;

/* A cut joint's product of modes: pose of M in F, the free modes at M, M's bias acceleration. */
typedef struct fm_chain {
    double R[9], r[3], phi[FM_JOINT_MODES][6], bias[6];
    int32_t n;
} fm_chain;

/* What a search for a cut joint's coordinates finds. Bias of the chain: of these velocities, with accelerations only.
 */
typedef struct fm_cut_found {
    int32_t known; /* 0: there are no coordinates */
    fm_coordinates at;
    fm_chain chain;
    fm_dual dual;
} fm_cut_found;

/* The last search for a cut joint's coordinates: for which relation, from which positions, what was found. */
typedef struct fm_cut_search {
    fm_relation to;
    double from[FM_JOINT_MODES + 1], since; /* since: the time from those positions on [s] */
    int32_t moving; /* with accelerations */
    fm_cut_found found;
} fm_cut_search;

/* A frame of a cut joint in the world. */
typedef struct fm_place {
    double r[3], v[3], w[3], a[3], alpha[3]; /* a: without gravity subtracted, set only if `moving` */
} fm_place;

/* The frames of a cut joint, shared by its rows, and what mode_rows.c finds for them; joint -1: not yet computed. */
typedef struct fm_ends {
    int32_t joint, found; /* found: mode rows are those of `joint` */
    fm_place F, M;
    double row[FM_JOINT_MODES][6], c[FM_JOINT_MODES][3]; /* of mode rows: wrench at M in world axes, and c */
} fm_ends;

/* Row i: constraint c and its first two time derivatives; force and torque of a unit multiplier on M's link at M's
 * origin. */
typedef struct fm_constraint {
    double c[3], force[3], torque[3], r[3];
} fm_constraint;

/* Counters that evaluations off the trajectory must not change. */
typedef struct fm_singular_kept {
    double corrected, iterated;
} fm_singular_kept;

/* Result of factorising K at y for a correction of positions or velocities. */
typedef enum fm_factored {
    FM_NO_FACTOR, /* K is singular */
    FM_FACTORED,
    FM_INTERPOLATED /* a singular position is near: y was interpolated on the branch instead */
} fm_factored;

typedef int (*fm_factoring)(fm_instance *s, double *y, int level);

typedef enum fm_multipliers {
    FM_OWN_MULTIPLIERS,
    FM_NO_MULTIPLIERS, /* they are zero */
    FM_NEAR_MULTIPLIERS, /* those closest to given_lambda that satisfy given_rhs */
    FM_KEPT_MULTIPLIERS /* given_lambda itself */
} fm_multipliers;

#define FM_WITH_ONE_FACTOR 16 /* most rows that are chosen with one factor of K (loop_rank.c); bounds memory */

#define FM_LOOP_ARRAYS(A)                                                                                      \
    A(double, y, n.columns)         /* innovations of the rows' multipliers along their paths */               \
    A(double, z, n.columns)         /* the same divided by the pivots */                                       \
    A(double, L, n.factor)          /* the Delassus matrix K, then its factor */                               \
    A(double, diagonal, n.rows)     /* of K */                                                                 \
    A(double, bound, n.rows)        /* upper bound of each diagonal entry of K */                              \
    A(double, row, n.placed)        /* zero except while a row is computed */                                  \
    A(double, phi, n.passing * 12 * n.links) /* of a one-DOF link: phi, then U over the pivot, in world axes */ \
    A(double, c, 3 * n.rows)        /* of each row: constraint c and its first two time derivatives */         \
    A(double, wrench, 6 * n.rows)   /* torque and force of a unit multiplier on M's link at M, world axes */   \
    A(double, rhs, n.rows)                                                                                     \
    A(double, lambda, n.rows)       /* Lagrange multipliers */                                                 \
    A(double, given_lambda, n.rows) /* for fm_multipliers */                                                   \
    A(double, given_rhs, n.rows)                                                                               \
    A(double, rest_lambda, n.rows)  /* multipliers of the forces at rest (rest_forces.c) */                    \
    A(double, taken, 2 * n.speeds)  /* scratch of those */                                                     \
    A(double, weight, n.placed)     /* square of the unit of each coordinate */                                \
    A(double, kept, n.rows)         /* saved copy of row_active */                                             \
    A(double, left, n.rows)         /* what other rows leave of a row in doubt, relative to its bound */       \
    A(double, columns, FM_WITH_ONE_FACTOR * n.rows) /* of the Cholesky factor of rows in doubt */              \
    A(double, pivot, n.speeds)                                                                                 \
    A(double, better, n.ny)         /* the state before a correction that may leave more */                     \
    A(double, change, n.placed)

typedef struct fm_loop {
#define A(type, name, count) type *name;
    FM_LOOP_ARRAYS(A)
#undef A
    int32_t worn; /* 1: the last factor of K has a pivot far below row_pivot, or factorisation failed */
    int32_t near_singular; /* 1: a pivot is close to that of a singular position; 2: factorisation failed */
    int32_t factored; /* 1: the factor of K, or of its reduced form, is that of the last evaluation */
    int32_t multipliers; /* fm_multipliers: how an evaluation finds them */
    int32_t placing; /* 1: positions are assembled: without rows of velocities, general links by their screws */
    int32_t posing, releasing; /* 1: rows are as in statics (statics/pose.c); programs are released */
    double softening; /* fraction of row_pivot that fm_factor_delassus adds to the diagonal of K */
} fm_loop;

FM_HIDDEN_END

#endif
