/* scratch.h: memory of this room: the search for a static equilibrium. */
#ifndef FM_STATICS_SCRATCH_H
#define FM_STATICS_SCRATCH_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

#define FM_KRYLOV 40 /* most directions of a Krylov space, ... */
#define FM_OUTER 12  /* ... and of one of the inverse map, each of whose products takes a Krylov space */

#define FM_STATICS_ARRAYS(A)                                                                       \
    A(double, start, n.ny)                                                                         \
    A(double, now, n.ny)     /* where the search is, and where it tries to go */                   \
    A(double, next, n.ny)                                                                          \
    A(double, base, n.ny)    /* where the forces are linearised */                                 \
    A(double, probe, n.ny)                                                                         \
    A(double, cut_p, n.cut_positions)                                                              \
    A(double, via_angle, n.vias)                                                                   \
    A(double, rows, 2 * n.rows)                                                                    \
    A(double, F, n.speeds)                                                                         \
    A(double, change, n.speeds)                                                                    \
    A(double, simplified, n.speeds)                                                                \
    A(double, back, n.speeds)                                                                      \
    A(double, rate, 2 * n.speeds)                                                                  \
    A(double, inert, n.speeds)                                                                     \
    A(double, motion, n.speeds) /* that departs from the equilibrium */                             \
    A(double, space, (n.krylov + 1) * n.speeds) /* of a Krylov space: its directions, */           \
    A(double, H, (n.krylov + 1) * n.krylov)     /* the map in it, and its reduction to a triangle */ \
    A(double, raw, n.krylov * n.krylov)         /* and as it was, by columns */                     \
    A(double, turn, 2 * n.krylov)                                                                  \
    A(double, left, n.krylov + 1)                                                                  \
    A(int32_t, exchanged, n.krylov)                                                                \
    A(double, small, n.krylov * n.krylov)                                                          \
    A(double, outer, (FM_OUTER + 1) * n.speeds) /* of the inverse map: directions, the map in them */ \
    A(double, outer_H, (FM_OUTER + 1) * FM_OUTER)                                                  \
    A(double, lower, n.profile) /* the matrix of matrix.c: L by rows, U by columns, */            \
    A(double, upper, n.profile)                                                                    \
    A(double, pivot, n.matrix)  /* the diagonal of U */                                            \
    A(double, whole, n.matrix)  /* and that of the matrix without penalties */                     \
    A(int32_t, none, n.matrix)  /* 1: the pivot is round-off */                                    \
    A(int32_t, variable, n.matrix) /* the velocity variable of each row */                         \
    A(double, forces, n.matrix)                                                                    \
    A(double, found, n.matrix)                                                                     \
    A(double, ahead, n.matrix)                                                                     \
    A(double, J, n.matrix_columns) /* rows of the constraints along their paths, */                \
    A(double, weight, n.rows)      /* their penalties and multipliers, */                          \
    A(double, posed, 2 * n.rows) /* active rows and pivots of the motion (pose.c) */              \
    A(double, holds, n.rows)     /* forces of the locks, */                                       \
    A(int32_t, locked, n.rows)   /* and of each the velocity variable */                          \
    A(double, nu, n.rows)

/* Which entries the matrix of matrix.c has (profile.c). In the order of its rows, but `place`: of each velocity
 * variable. */
#define FM_PROFILE_ARRAYS 5
typedef struct fm_profile {
    int32_t n, colours; /* rows, 0: there is no matrix; sets of columns whose rows do not overlap */
    size_t entries; /* below the diagonal */
    int32_t *place, *first, *last, *colour, *start;
} fm_profile;

typedef struct fm_statics {
#define A(type, name, count) type *name;
    FM_STATICS_ARRAYS(A)
#undef A
    double time; /* square root of length over gravity [s] */
    double unsolved; /* what the last linear system left of its right-hand side */
    double correction; /* fm_correction of the model, meanwhile */
    double evaluations; /* in the last search */
    double most; /* and how many it may take */
    double stop_gap, stop_stiffness; /* what the last search left at stops, and their k over that at first (stops.c) */
    double shift; /* times the inertia, added to the products of krylov.c */
    double growth; /* of the motion that departs [1/s]; 0: none does, NAN: not found out */
    int32_t room; /* directions of a Krylov space */
    int32_t raw_count; /* and of the last one */
    int32_t method; /* which method found the last equilibrium */
    int32_t in_plane, realised, locks; /* planar.used and realised.count of the motion; number of `locked` */
    int32_t vibrates; /* 1: what departs is a vibration */
    int32_t climbed; /* 1: Newton's method was where a motion departs */
    int32_t by_matrix; /* 1: linear systems by a factor of the matrix (matrix.c), 0: by Krylov spaces (krylov.c) */
    fm_profile profile;
    int32_t factored; /* 1: the matrix belongs to the base, for the factors of B and of M / t^2 in factored_for */
    double factored_for[2];
    uint64_t key; /* of the state that it belongs to, 0: that of the present search */
    int32_t dropped, negative, departs; /* pivots that are none, negative ones, the most negative one's row */
} fm_statics;

FM_HIDDEN_END

#endif
