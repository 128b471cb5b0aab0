/* scratch.h: memory of this room: the implicit scheme's evaluations, independent states, friction of joints, singular
 * positions, minimum-norm reactions. */
#ifndef FM_MOTION_SCRATCH_H
#define FM_MOTION_SCRATCH_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

/* Evaluations with the joints' stiffness and damping beside the mass matrix (stiffness.c). */
#define FM_IMPLICIT_ARRAYS(A)                                                             \
    A(double, f, n.speeds) /* forces beside those of the ordinary evaluation */         \
    A(double, kept, n.speeds)                                                           \
    A(double, along, n.speeds) /* the unit force along a direction */                   \
    A(double, base, n.stateful) /* the damping without that of own states */           \
    A(double, own_slopes, (FM_OWN_STATES + 1) * n.bristles) /* A and B of each in a stage */ \
    A(double, push, n.compliances)                                                     \
    A(double, J, FM_COMPLIANCE_SETS * n.compliances * n.speeds) /* of each set */      \
    A(double, C, FM_COMPLIANCE_SETS * n.compliances * n.speeds)                        \
    A(double, L, FM_COMPLIANCE_SETS * n.compliances * n.compliances)                   \
    A(double, JC, FM_COMPLIANCE_SETS * n.compliances * n.compliances)                  \
    A(double, rho, FM_COMPLIANCE_SETS * n.compliances)                                 \
    A(double, resists, FM_COMPLIANCE_SETS * n.compliances)                             \
    A(int32_t, rubs, FM_COMPLIANCE_SETS * n.compliances)                               \
    A(double, gk, FM_COMPLIANCE_SETS * n.compliances)

#define FM_COMPLIANCES 256   /* most directions of a set, forty bushings: more cost memory, and an evaluation each */
#define FM_COMPLIANCE_SETS 4 /* of the stages, and of the error's filter */

/* The directions in which point springs, springs in cut joints and matrices in joints of the tree resist, at one g
 * (compliances.c). */
typedef struct fm_compliances {
    int32_t count, fixed; /* the first ones, which stay, are those of the tree */
    double *J, *C,
        *L; /* rows of their rates; the velocities that a unit impulse along each gives; factors of 1/rho + J C */
    double *JC, *rho, *gk;
    double *resists; /* rho over the least inertia that opposes */
    int32_t *rubs; /* the mode of a cut joint along which it is friction that resists, -1: springs and dampers */
    double g; /* [s] */
    double least; /* of `resists` */
} fm_compliances;

typedef struct fm_implicit {
#define A(type, name, count) type *name;
    FM_IMPLICIT_ARRAYS(A)
#undef A
    const fm_kernels *ordinary; /* the kernels of ordinary evaluations, meanwhile */
    int32_t room; /* for directions of compliances.c */
    fm_compliances set[FM_COMPLIANCE_SETS];
} fm_implicit;

/* What follows from the independent states of a host (independent.c). */
typedef enum fm_follow { FM_IS_FREE, FM_FOLLOWS, FM_IS_PINNED } fm_follow;

/* A component of a quaternion that is independent beside others that follow: the ball's first velocity variable and
 * position, and where it is in y. */
typedef struct fm_pin {
    int32_t u, p, at;
} fm_pin;

#define FM_FOLLOWING_ARRAYS(A)                                                          \
    A(int32_t, follows, n.independent * n.ny) /* fm_follow of each element of y */       \
    A(int32_t, column, n.following)           /* the velocity variable of each unknown */ \
    A(int32_t, place, n.following)            /* its position, or the ball's first */    \
    A(int32_t, turn, n.following)             /* 1 to 3: its axis of a ball; 0 */        \
    A(fm_pin, pin, n.following)                                                         \
    A(double, A, n.following * n.following)   /* the system, then its factor */          \
    A(double, x, n.following)                                                           \
    A(double, one, n.following)                                                         \
    A(double, over, n.following)              /* of each row of the system, its length */ \
    A(int32_t, exchanged, n.following)                                                  \
    A(double, row, n.independent * n.speeds)                                            \
    A(double, goal, n.independent * n.ny)     /* y as the host set it */                 \
    A(double, aim, n.independent * n.ny)      /* positions at the end of a part of the way */ \
    A(double, last, n.independent * n.ny)

typedef struct fm_following {
#define A(type, name, count) type *name;
    FM_FOLLOWING_ARRAYS(A)
#undef A
    int32_t unknowns, pins;
} fm_following;

#define FM_LOOKED_AT 38 /* fractions of a step at which a search for a row's least root looks (tangent.c) */

/* Interpolation across singular positions (crossings.c). */
#define FM_SINGULAR_ARRAYS(A)                                                                     \
    A(double, node, n.closed * FM_NODES * n.ny)                                                   \
    A(double, root, (FM_NODES + 1) * n.rows) /* square roots of the pivots: at the state, then at the nodes */ \
    A(double, part, n.closed * FM_LOOKED_AT) /* fractions of the step at which one has looked, */ \
    A(double, part_root, FM_LOOKED_AT * n.rows) /* and the roots there */                          \
    A(double, direction, n.closed * n.speeds) /* of the line of nodes */                          \
    A(double, udot, 3 * n.closed * n.speeds)                                                      \
    A(double, found, n.closed * n.speeds)                                                         \
    A(double, smooth, n.rows)      /* multipliers that stay finite there */                        \
    A(double, y, n.closed * n.ny)                                                                 \
    A(int32_t, label, n.closed * n.speeds)   /* the part of the mechanism in which a coordinate moves, 0: none */

typedef struct fm_singular {
#define A(type, name, count) type *name;
    FM_SINGULAR_ARRAYS(A)
#undef A
    double noise; /* of interpolated accelerations [rad/s^2], or relative to the length */
    double relative_noise; /* the same beside the largest acceleration at a node */
    int32_t on_branch; /* 1: accelerations are those of the nearest state on the branch */
    int32_t interpolated; /* 1: the last rates are interpolated, at the state on the branch that is in y */
    int32_t was_near; /* 1: the last step came close to a singular position */
    int32_t parts; /* at which the roots of a step are known */
    int32_t tangent_row, tangent_joint; /* row whose branches touch, -1: none; joint to hold (tangent.c) */
    double tangent_time;
} fm_singular;

/* Minimum-norm reactions (least.c). */
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

/* Actuators of a motion that is given (actuated.c). */
#define FM_ACTUATED_ARRAYS(A)                                                                              \
    A(int32_t, place, n.actuators)  /* in tau, or after it in the loads, where its force is stored */     \
    A(double, force, n.actuators)   /* found last */                                                      \
    A(double, taken, n.acting * n.speeds) /* by the motion of the tree */                                 \
    A(double, need, n.acting * n.speeds) /* the same in units of the coordinates, without that of drives */ \
    A(double, column, n.acting * n.speeds)                                                                \
    A(int32_t, all, n.acting * n.speeds)  /* all coordinates */                                           \
    A(double, x, n.acting * n.rows + n.actuators)                                                         \
    A(int32_t, row, n.acting * n.rows + n.actuators) /* of the loops, or -1 less the actuator's number */

/* What of a motion does not fit. */
typedef enum fm_misfit {
    FM_OPENS, /* its positions open the loops */
    FM_OPENS_BY_VELOCITIES,
    FM_OPENS_BY_ACCELERATIONS,
    FM_NO_MOTION_OF_ITS_OWN, /* an actuator has none */
    FM_LACKS_A_FORCE,
    FM_DETERMINED
} fm_misfit;

typedef struct fm_actuated {
#define A(type, name, count) type *name;
    FM_ACTUATED_ARRAYS(A)
#undef A
    fm_reflections rows; /* of the loops and the actuators, in units of the coordinates */
    int32_t fault;   /* fm_misfit of the last evaluation, */
    int32_t culprit; /* the row, actuator or velocity variable, */
    double amount;
} fm_actuated;

/* Friction of joints (friction.c, normal_forces.c). Three numbers a friction: its sliding directions. */
#define FM_FRICTION_ARRAYS(A)                                                                         \
    A(double, v, 3 * n.frictions)    /* sliding velocities [rad/s] or [m/s] */                        \
    A(double, rate, 3 * n.frictions) /* of the bristles, z' */                                        \
    A(double, mu, 3 * n.frictions)   /* friction per normal force, before the factor */               \
    A(double, factor, n.frictions)   /* of all coefficients */                                        \
    A(double, slip, n.frictions)     /* |z| / g */                                                    \
    A(double, w, n.frictions)        /* |v| / g [1/s] */                                              \
    A(double, slope, n.frictions)    /* its derivative by |v| */                                      \
    A(double, load, n.frictions)     /* normal force [N.m] or [N] */                                  \
    A(double, own, n.frictions)      /* the part of it from the joint's own reaction */               \
    A(double, load_seed, n.frictions) /* directional derivatives of the load and of the factor */     \
    A(double, own_seed, n.frictions)                                                                  \
    A(double, factor_seed, n.frictions)                                                               \
    A(double, D, n.friction_modes)   /* damping of each mode in a stage of the implicit scheme */     \
    A(double, most, n.friction_modes) /* the most it is as slow sliding turns round */                \
    A(double, base, n.friction_modes) /* stiff.D without friction */                                  \
    A(double, tau, n.friction_modes) /* applied forces with friction */                               \
    A(int32_t, owned, n.owned)       /* the frictions that the joint's own reaction loads */          \
    A(double, slope_of, 6 * n.owned) /* derivative of each own part by torque and force, world axes */ \
    A(double, at_rest, 6 * n.owned)  /* torque and force of each joint without own parts */           \
    A(double, by_load, 6 * n.owned * n.owned) /* and by a unit of each own part */                    \
    A(double, column, 6 * n.owned)                                                                    \
    A(double, axis, 3 * n.owned)     /* world axes; zero for a ball */                                \
    A(double, by_own, n.owned * n.speeds) /* accelerations by a unit of each own part */              \
    A(double, lambda, n.owning * n.rows)  /* of one of them: multipliers, */                          \
    A(double, f, n.owning * n.speeds)     /* forces on the modes, in terms of links, */               \
    A(double, wrench, 6 * n.owning * n.links) /* that the parent exerts, world axes, at the link's origin */ \
    A(double, row_load, 12 * n.owning * n.rows) /* of a unit multiplier on the links of M and F, likewise */ \
    A(double, aim, n.owned)                                                                           \
    A(double, x, n.owned)                                                                             \
    A(double, off, n.owned)                                                                           \
    A(double, trial, n.owned)                                                                         \
    A(double, A, n.owned * n.owned)

typedef struct fm_friction {
#define A(type, name, count) type *name;
    FM_FRICTION_ARRAYS(A)
#undef A
    int32_t count;   /* of `owned` */
    int32_t on_cuts; /* 1: some friction acts in a cut joint */
    int32_t apart;   /* 1: the own parts are in the last accelerations, not among the forces of the last evaluation */
    int32_t jammed;  /* the friction for which no normal force was found, -1: none */
} fm_friction;

FM_HIDDEN_END

#endif
