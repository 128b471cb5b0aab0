/* work.h: scratch arrays, recomputed whenever they are needed. */
#ifndef FM_WORK_H
#define FM_WORK_H

#include "../maths/float_mode.h"
#include "link.h"

FM_HIDDEN_BEGIN

#define FM_NODES 12 /* nodes of the interpolation across a singular position */

/* Evaluation and integration step. */
#define FM_WORK_ARRAYS(A)                                                                                  \
    A(double, tau, n.speeds)         /* applied forces of all modes: inputs, springs, dampers */           \
    A(double, input, n.inputs)       /* inputs at the time of an evaluation: tau, loads, controls */            \
    A(double, control, n.controls)   /* controls at that time */                                           \
    A(double, seed, n.inputs)        /* as input: direction of directional derivatives */                  \
    A(double, applied, 6 * n.links)  /* wrench of springs and loads, link axes, at the link's origin */       \
    A(double, cut_wrench, 6 * n.cut_joints) /* wrench applied along the modes of a cut joint, on M at M, world axes */ \
    A(fm_cut_search, cut_search, n.cut_modes) /* at the first mode of each cut joint */                      \
    A(double, udot, n.speeds)        /* at the present time */                                             \
    A(double, stage, FM_STAGES * n.ny)                                                                     \
    A(double, trial, n.ny)                                                                                 \
    A(double, step_end, n.closed * n.ny)       /* end of the step being tried, before its correction */     \
    A(double, step_corrected, n.closed * n.ny) /* and after */                                             \
    A(double, probe, 2 * n.ny)       /* scratch of derivatives */

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

typedef struct fm_work {
#define A(type, name, count) type *name;
    FM_WORK_ARRAYS(A)
#undef A
    const double *evaluated, *accelerated; /* the y of the present evaluation, and its udot without multipliers */
    double time;                  /* of the positions in use [s] */
    double step_from, step_until; /* bounds of the present integration step [s] (excitation.c) */
    int32_t still; /* 1: laws act without friction, and excited modes stand (statics/balance.c); 2: these alone */
    int32_t resting; /* 1: evaluations give forces at rest in place of accelerations (loops/rest_forces.c) */
    int32_t forced, cuts; /* 1: `applied`, `cut_wrench` is not zero */
    int32_t lost; /* a joint that has no coordinates at the end of a step, or is at its limit; -1: none */
    double far; /* the coordinate of that joint which is too large to be resolved; 0: none is */
    int32_t far_slides; /* 1: it is a translation */
    double evaluations; /* number of evaluations in the present fm_step */
    double rate; /* beside which velocities count in the present integration step [1/s] */
    fm_rejection rejection; /* of its last rejected trial step (time/headway.c) */
    int32_t slow; /* its last steps that made no headway */
    double lost_at, lost_width; /* a time after drives lost their effect, INFINITY: none is known; the length of the
                                   trial that found it */
} fm_work;

/* Evaluations with the joints' stiffness and damping beside the mass matrix (motion/stiffness.c). */
#define FM_STIFF_ARRAYS(A)                                                             \
    A(double, K, n.speeds) /* diagonal of the stiffness, [N.m/rad] or [N/m] */         \
    A(double, D, n.speeds) /* of the damping */                                        \
    A(double, f, n.speeds) /* forces beside those of the ordinary evaluation */         \
    A(double, kept, n.speeds)                                                           \
    A(double, along, n.speeds) /* the unit force along a direction */                   \
    A(double, push, n.compliances)                                                     \
    A(double, J, FM_COMPLIANCE_SETS * n.compliances * n.speeds) /* of each set */      \
    A(double, C, FM_COMPLIANCE_SETS * n.compliances * n.speeds)                        \
    A(double, L, FM_COMPLIANCE_SETS * n.compliances * n.compliances)                   \
    A(double, JC, FM_COMPLIANCE_SETS * n.compliances * n.compliances)                  \
    A(double, rho, FM_COMPLIANCE_SETS * n.compliances)                                 \
    A(double, resists, FM_COMPLIANCE_SETS * n.compliances)                             \
    A(int32_t, rubs, FM_COMPLIANCE_SETS * n.compliances)                               \
    A(double, gk, FM_COMPLIANCE_SETS * n.compliances)                                  \
    A(double, W, n.small * n.small) /* M^-1, of mechanisms with few coordinates (radau_small.c) */ \
    A(double, dense_K, FM_COMPLIANCE_SETS * n.small * n.small)                         \
    A(double, dense_D, FM_COMPLIANCE_SETS * n.small * n.small)                         \
    A(double, dense_B, 9 * n.small * n.small) /* factors of the system of all stages */ \
    A(double, dense_P, n.small * n.small)     /* and of the error's filter */          \
    A(double, dense_x, 6 * n.small)                                                    \
    A(int32_t, exchanged, 4 * n.small)

#define FM_FEW_SPEEDS 8           /* most velocity variables for which radau_small.c is used */
#define FM_COMPLIANCES 256   /* most directions of a set, forty bushings: more cost memory, and an evaluation each */
#define FM_COMPLIANCE_SETS 4 /* of the stages, and of the error's filter */

/* The directions in which point springs, springs in cut joints and matrices in joints of the tree resist, at one g
 * (motion/compliances.c). */
typedef struct fm_compliances {
    int32_t count, fixed; /* the first ones, which stay, are those of the tree */
    double *J, *C,
        *L; /* rows of their rates; the velocities that a unit impulse along each gives; factors of 1/rho + J C */
    double *JC, *rho, *gk;
    double *resists; /* rho over the least inertia that opposes */
    int32_t *rubs; /* the mode of a cut joint along which it is friction that resists, -1: springs and dampers */
    double g; /* [s] */
} fm_compliances;

typedef struct fm_stiff {
#define A(type, name, count) type *name;
    FM_STIFF_ARRAYS(A)
#undef A
    double time; /* g of the present evaluation [s], 0: an ordinary one */
    const struct fm_kernels *ordinary; /* the kernels of those, meanwhile */
    int32_t room; /* for directions of compliances.c */
    int32_t small, dense; /* velocity variables if radau_small.c may be used, else 0; 1: it is, in this step */
    int32_t iterations; /* of the stages of the last trial (time/radau.c) */
    int32_t matrices; /* joints up to this one, for whose matrices there is room */
    fm_compliances set[FM_COMPLIANCE_SETS];
} fm_stiff;

#define FM_KRYLOV 40 /* most directions of a Krylov space, ... */
#define FM_OUTER 12  /* ... and of one of the inverse map, each of whose products takes a Krylov space */

/* Static equilibrium (statics/). */
#define FM_STATICS_ARRAYS(A)                                                                       \
    A(double, start, n.ny)                                                                         \
    A(double, now, n.ny)     /* where the search is, and where it tries to go */                   \
    A(double, next, n.ny)                                                                          \
    A(double, base, n.ny)    /* where the forces are linearised */                                 \
    A(double, probe, n.ny)                                                                         \
    A(double, cut_p, n.cut_positions)                                                              \
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
    A(double, nu, n.rows)                                                                          \
    A(double, lambda, n.rows)      /* the multipliers of the forces at the base */

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
    double shift; /* times the inertia, added to the products of krylov.c */
    double growth; /* of the motion that departs [1/s]; 0: none does, NAN: not found out */
    int32_t room; /* directions of a Krylov space */
    int32_t raw_count; /* and of the last one */
    int32_t method; /* which method found the last equilibrium */
    int32_t posing, releasing; /* 1: rows are as in statics (pose.c); programs are released */
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

/* Interpolation across singular positions (motion/crossings.c). */
#define FM_SINGULAR_ARRAYS(A)                                                                     \
    A(double, node, n.closed * FM_NODES * n.ny)                                                   \
    A(double, root, (FM_NODES + 1) * n.rows) /* square roots of the pivots: at the state, then at the nodes */ \
    A(double, direction, n.closed * n.speeds) /* of the line of nodes */                          \
    A(double, udot, 3 * n.closed * n.speeds)                                                      \
    A(double, found, n.closed * n.speeds)                                                         \
    A(double, lambda, n.rows)                                                                     \
    A(double, smooth, n.rows)      /* multipliers that stay finite there */                        \
    A(double, rhs, n.rows)                                                                        \
    A(double, y, n.closed * n.ny)                                                                 \
    A(int32_t, label, n.closed * n.speeds)   /* the part of the mechanism in which a coordinate moves, 0: none */

typedef struct fm_singular {
#define A(type, name, count) type *name;
    FM_SINGULAR_ARRAYS(A)
#undef A
    double noise; /* of interpolated accelerations [rad/s^2], or relative to the length */
    double relative_noise; /* the same beside the largest acceleration at a node */
    int32_t on_branch; /* 1: accelerations are those of the nearest state on the branch */
    int32_t was_near; /* 1: the last step came close to a singular position */
    int32_t tangent_row, tangent_joint; /* row whose branches touch, -1: none; joint to hold (motion/tangent.c) */
    double tangent_time;
} fm_singular;

/* Assembly; modes are in the model's order of joints. */
#define FM_ASSEMBLY_ARRAYS(A)                                                                            \
    A(int32_t, order, n.modes)                                                                           \
    A(int32_t, link, n.modes)         /* link of a mode; for a cut joint's mode, the joint */            \
    A(int32_t, hold, n.modes)         /* above FM_FREE: fixed */                                         \
    A(int32_t, list, n.units)         /* those that should be fixed */                                   \
    A(double, weight, n.speeds)       /* square of the unit of each coordinate */                        \
    A(double, bound, n.rows)          /* upper bound of each row's contribution to K */                  \
    A(double, unit, n.rows)           /* in which its violations count: 1 rad, or the model's length */  \
    A(double, given, n.closed * n.ny)                                                                    \
    A(double, trial, n.closed * n.ny)                                                                    \
    A(double, from, 3 * n.closed * n.ny)                                                                 \
    A(double, near, 2 * n.closed * n.ny)  /* the nearest configuration to the guesses, and a trial */      \
    A(double, cut_p, n.closed * n.cut_positions)                                                         \
    A(double, cut_near, n.closed * n.cut_positions)

typedef enum fm_released { FM_RELEASE_NONE, FM_RELEASE_FADING, FM_RELEASE_ALL } fm_released; /* which programs */

typedef struct fm_assembly {
#define A(type, name, count) type *name;
    FM_ASSEMBLY_ARRAYS(A)
#undef A
    int32_t base; /* 1: assembled without the values that were set */
    int32_t holonomic; /* 1: without rows of velocities */
    int32_t closed; /* 1: the loops are closed already */
    int32_t released; /* fm_released: assembled without the rows of programs */
    int32_t brief, failed; /* 1: iterations stop early; number of attempts that did */
} fm_assembly;

/* Minimum-norm reactions (motion/least.c). */
#define FM_LEAST_ARRAYS(A)                                                                           \
    A(double, idle, n.rows)              /* size of an inactive row's multiplier; 0: active */       \
    A(double, p, n.rows)                                                                             \
    A(double, step, n.rows)                                                                          \
    A(double, fall, n.rows)                                                                          \
    A(double, more, n.rows)                                                                          \
    A(double, change, n.rows)                                                                        \
    A(double, R, 6 * n.closed * n.joints) /* reactions at M, world axes */                           \
    A(double, along, 6 * n.closed * n.joints)                                                        \
    A(double, at, 3 * n.closed * n.joints) /* M's origin in the world [m] */                         \
    A(double, metric, n.closed * n.speeds)

typedef struct fm_least {
#define A(type, name, count) type *name;
    FM_LEAST_ARRAYS(A)
#undef A
} fm_least;

/* The calling program. */
typedef struct fm_host {
    int (*wanted)(void *data); /* whether to stop the present step; NULL: never */
    void *data;
    fm_float_mode mode; /* the mode to restore when the present public call returns */
    double worked; /* evaluations, weighted by links and rows, since the host was asked */
    int stopped; /* 1: it wants the present call to end */
} fm_host;

FM_HIDDEN_END

#endif
