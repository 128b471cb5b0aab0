/* friction.h: data of the joints' friction in an evaluation (motion/friction.c, motion/normal_forces.c). */
#ifndef FM_FRICTION_DATA_H
#define FM_FRICTION_DATA_H

#include "link.h"

FM_HIDDEN_BEGIN

/* Three numbers a friction: its sliding directions. */
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
