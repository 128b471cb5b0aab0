/* work.h: what the rooms hand to one another in an evaluation, recomputed whenever it is needed. Memory that one room
 * declares for itself and for those above it is in its own scratch.h. */
#ifndef FM_WORK_H
#define FM_WORK_H

#include "../maths/float_mode.h"
#include "link.h"

FM_HIDDEN_BEGIN

#define FM_WORK_ARRAYS(A)                                                                                  \
    A(double, tau, n.speeds)         /* applied forces of all modes: inputs, springs, dampers */           \
    A(double, input, n.inputs)       /* inputs at the time of an evaluation: tau, loads, controls */            \
    A(double, control, n.controls)   /* controls at that time */                                           \
    A(double, control_seed, n.controls) /* changes of the controls, of the last response to inputs */       \
    A(double, own_seed, n.bristles)     /* what these change of the rates of own states */                      \
    A(double, seed, n.inputs)        /* as input: direction of directional derivatives */                  \
    A(double, applied, 6 * n.links)  /* wrench of springs and loads, link axes, at the link's origin */       \
    A(double, cut_wrench, 6 * n.cut_joints) /* wrench applied along the modes of a cut joint, on M at M, world axes */ \
    A(fm_cut_search, cut_search, n.cut_modes) /* at the first mode of each cut joint */                      \
    A(double, udot, n.speeds)        /* at the present time */                                             \
    A(double, held, 3 * n.spots)     /* in statics: points in A's link that bristles hold (contact.c) */   \
    A(double, required, n.required)  /* forces that the given motion takes */                              \
    A(double, probe, 2 * n.ny)       /* states of derivatives, and of motions that a host gives */

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
    int32_t no_inertial; /* 1: the last evaluation did not keep fm_inertial (fm_complete_inertial) */
    double evaluations; /* number of evaluations in the present fm_step */
    double rate; /* beside which velocities count in the present integration step [1/s] */
} fm_work;

/* An evaluation with the joints' stiffness and damping beside the mass matrix (motion/stiffness.c). */
#define FM_STIFF_ARRAYS(A)                                                     \
    A(double, K, n.speeds) /* diagonal of the stiffness, [N.m/rad] or [N/m] */ \
    A(double, D, n.speeds) /* of the damping */

typedef struct fm_stiff {
#define A(type, name, count) type *name;
    FM_STIFF_ARRAYS(A)
#undef A
    double time; /* g of the present evaluation [s], 0: an ordinary one */
    int32_t matrices; /* joints up to this one, for whose matrices there is room (motion/compliances.c) */
} fm_stiff;

/* The calling program. */
typedef struct fm_host {
    int (*wanted)(void *data); /* whether to stop the present step; NULL: never */
    void *data;
    double (*step_ended)(void *data, double end, int event); /* sees the end of each integration step; NULL: nobody */
    void *watching;
    fm_float_mode mode; /* the mode to restore when the present public call returns */
    double worked; /* evaluations, weighted by links and rows, since the host was asked */
    int stopped; /* 1: it wants the present call to end */
} fm_host;

FM_HIDDEN_END

#endif
