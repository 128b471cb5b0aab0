/* work.h: scratch: what is computed again whenever it is needed. */
#ifndef FM_WORK_H
#define FM_WORK_H

#include "../maths/float_mode.h"
#include "link.h"

FM_HIDDEN_BEGIN

#define FM_STAGES 7 /* of Dormand-Prince 5(4) */
#define FM_NODES 12 /* of an interpolation through a singular position */

/* An evaluation and a step. */
#define FM_WORK_ARRAYS(A)                                                                                  \
    A(double, tau, n.speeds)         /* applied forces of all modes: inputs, springs, dampers, rotor */    \
    A(double, input, n.inputs)       /* inputs at the time of an evaluation: tau, then loads */            \
    A(double, seed, n.inputs)        /* the same shape, for directional derivatives */                     \
    A(double, applied, 6 * n.links)  /* torque and force from springs and loads, link's axes at its origin */ \
    A(double, cut_wrench, 6 * n.cut_joints) /* what is applied along a secondary joint's modes, on M in world axes at M */ \
    A(double, udot, n.speeds)        /* at the present time */                                             \
    A(double, stage, FM_STAGES * n.ny)                                                                     \
    A(double, trial, n.ny)                                                                                 \
    A(double, step_end, n.closed * n.ny)       /* where a step that is tried ends, before its correction */ \
    A(double, step_corrected, n.closed * n.ny) /* and after */                                             \
    A(double, probe, 2 * n.ny)       /* for derivatives */

typedef struct fm_work {
#define A(type, name, count) type *name;
    FM_WORK_ARRAYS(A)
#undef A
    const double *evaluated, *accelerated; /* the y of the evaluation under way, its udot without loops */
    double time;                  /* of the positions that are looked at */
    double step_from, step_until; /* the integration step under way lies between these times (excitation.c) */
    int32_t forced, cuts;         /* something stands in `applied`, in `cut_wrench` */
} fm_work;

/* Motions through singular positions (motion/singular.c). */
#define FM_SINGULAR_ARRAYS(A)                                                                     \
    A(double, node, n.closed * FM_NODES * n.ny)                                                   \
    A(double, root, (FM_NODES + 1) * n.rows) /* roots of the pivots: at the state, then at the nodes */ \
    A(double, direction, n.closed * n.speeds) /* in which nodes lie */                            \
    A(double, udot, 3 * n.closed * n.speeds)                                                      \
    A(double, found, n.closed * n.speeds)                                                         \
    A(double, lambda, n.rows)                                                                     \
    A(double, rhs, n.rows)                                                                        \
    A(double, y, n.closed * n.ny)                                                                 \
    A(int32_t, label, n.closed * n.speeds)   /* the part of the mechanism that a coordinate is moved with, 0: none */

typedef struct fm_singular {
#define A(type, name, count) type *name;
    FM_SINGULAR_ARRAYS(A)
#undef A
    int32_t under_way;    /* 1: nodes are being made */
    int32_t interpolated; /* 1: the last evaluation or correction was made of nodes */
    int32_t on_branch;    /* 1: accelerations are those of the state that is next on the branch */
    int32_t was_near;     /* 1: the last step came near a singular position */
    int32_t tangent_row, tangent_joint; /* row whose branches share a tangent, -1: none; joint to hold (motion/touch.c) */
    double tangent_time;
} fm_singular;

/* Assembly: modes in the model's order of joints. */
#define FM_ASSEMBLY_ARRAYS(A)                                                                            \
    A(int32_t, order, n.modes)                                                                           \
    A(int32_t, link, n.modes)         /* of a mode, or, of a secondary joint's, that joint */            \
    A(int32_t, hold, n.modes)         /* what is beyond FM_FREE holds */                                 \
    A(int32_t, list, n.units)         /* those that should */                                            \
    A(double, weight, n.speeds)       /* the square of what counts as one */                             \
    A(double, bound, n.rows)          /* the most of each row's part of K */                             \
    A(double, given, n.closed * n.ny)                                                                    \
    A(double, trial, n.closed * n.ny)                                                                    \
    A(double, from, 3 * n.closed * n.ny)                                                                 \
    A(double, cut_p, n.closed * n.cut_positions)

typedef struct fm_assembly {
#define A(type, name, count) type *name;
    FM_ASSEMBLY_ARRAYS(A)
#undef A
    int32_t base;          /* 1: assembled without what was set */
    int32_t brief, failed; /* 1: closing gives up early; attempts that did */
} fm_assembly;

/* Least reactions (outputs/least.c). */
#define FM_LEAST_ARRAYS(A)                                                                           \
    A(double, idle, n.rows)              /* rows that are idle */                                    \
    A(double, p, n.rows)                                                                             \
    A(double, step, n.rows)                                                                          \
    A(double, fall, n.rows)                                                                          \
    A(double, more, n.rows)                                                                          \
    A(double, change, n.rows)                                                                        \
    A(double, R, 6 * n.closed * n.joints) /* reactions at M in world axes */                         \
    A(double, along, 6 * n.closed * n.joints)                                                        \
    A(double, at, 3 * n.closed * n.joints) /* M in the world */                                      \
    A(double, metric, n.closed * n.speeds)

typedef struct fm_least {
#define A(type, name, count) type *name;
    FM_LEAST_ARRAYS(A)
#undef A
} fm_least;

/* Who called. */
typedef struct fm_host {
    int (*wanted)(void *data); /* whether the step shall end; NULL: it ends by itself alone */
    void *data;
    fm_float_mode mode; /* to which the public call under way goes back */
    double worked;      /* evaluations of links and rows since the host was asked */
} fm_host;

FM_HIDDEN_END

#endif
