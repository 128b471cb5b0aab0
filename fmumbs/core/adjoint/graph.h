/* graph.h: inverse dynamics, constraints and outputs as a fixed sequence of vector operations, which is run three ways.
 *
 * A node computes one number, vector, quaternion or rotation from earlier ones; vectors are in world axes. The first
 * numbers are those of the leaves, copied from the instance. Values are run from the first node to the last; tangents,
 * the directional derivatives, likewise; adjoints, the derivatives of a sum of weighted results by every number, from
 * the last to the first. A rotation is stored by rows; its tangent is the rotation vector of its change, its adjoint a
 * torque, both in its first three numbers.
 */
#ifndef FM_GRAPH_H
#define FM_GRAPH_H

#include "../instance/instance.h"
#include "../motion/scratch.h"

FM_HIDDEN_BEGIN

/* Results of a joint of one freedom, the motion of its link first, and behind them its constants. */
enum {
    FM_MOTION_R = 0,
    FM_MOTION_PLACE = 9,
    FM_MOTION_W = 12,
    FM_MOTION_V = 15,
    FM_MOTION_ALPHA = 18,
    FM_MOTION_A = 21,
    FM_JOINT_AXIS = 24,
    FM_JOINT_ARM = 27,
    FM_JOINT_TURNED = 30, /* w_p x l */
    FM_JOINT_AROUND = 33, /* w_p x e */
    FM_JOINT_R0 = 36,
    FM_JOINT_AT = 45,
    FM_JOINT_TURN = 48,
    FM_JOINT_SLIDE = 49,
    FM_JOINT_SIGN = 50,
    FM_JOINT_ABOUT = 51, /* which of its axes */
    FM_JOINT_TURNS = 52, /* 0: R0 is the identity */
    FM_JOINT_NUMBERS = 53
};

enum { FM_POINT_AT = 3 }; /* of a point, behind its arm */

/* Results of a body behind its wrench, the last four in the axes of its inertia. */
enum {
    FM_BODY_CENTRE = 6, /* from its link's origin */
    FM_BODY_TURNED = 9, /* w x c */
    FM_BODY_ACCELERATION = 12,
    FM_BODY_SPIN = 15,
    FM_BODY_SPUN = 18, /* angular acceleration */
    FM_BODY_BY_SPIN = 21, /* the inertia times these */
    FM_BODY_BY_SPUN = 24,
    FM_BODY_NUMBERS = 27
};

/* As many numbers as a flexible body has shapes, a system has unknowns, a matrix has entries, and a cut joint has
 * positions and velocities. */
enum { FM_EACH_SHAPE = -1, FM_EACH_SCREW = -2, FM_EACH_ENTRY = -3, FM_EACH_POSITION = -4, FM_EACH_SPEED = -5 };

/* O(id, numbers, at a, at b, at c): what a node computes from its operands a, b, c, and how many numbers it reads
 * there; rotations stand in front of CARRY. STILL operations are those where the knowns change no motion, but
 * accelerations of origins at most (outputs/exact_plan.c). */
#define FM_OPERATIONS(O)                                                                             \
    O(JOINT, FM_JOINT_NUMBERS, 1, 1, 1) /* on motion k: rate a, coordinate b, its second derivative c \
                                         * (link_operations.c) */ \
    O(BODY, FM_BODY_NUMBERS, 9, 6, 3) /* the wrench of body k, added to b: axes of inertia in a, centre in the \
                                       * link's in c */ \
    O(STILL_JOINT, FM_JOINT_NUMBERS, 1, 1, 1) \
    O(STILL_BODY, FM_BODY_NUMBERS, 9, 6, 3) \
    O(STILL_WRENCH, 6, 6, 6, 3) \
    O(STILL_RESIDUAL, 3, 3, 6, 1) \
    O(ADD_WRENCH, 6, 6, 6, 3) /* a + b, a torque and a force at the arm c */ \
    O(ADD_FORCE, 6, 6, 3, 3) /* a + k b, a force at the arm c */ \
    O(ADD_TORQUE, 6, 6, 3, 0) /* a + k b, a torque */ \
    O(RESIDUAL, 3, 3, 6, 1) /* of link k, by its axis a, the wrench b that it takes, the applied force c */ \
    O(BALL, 9, 9, 4, 10) /* a R0 R(q): q in b, R0 in c, the sign of its vector part behind R0 */ \
    O(PLACE, 9, 9, 0, 9) /* a R0: R0 in c */ \
    O(COMPOSE, 9, 9, 0, 9) /* a c, two rotations */ \
    O(ROTATE, 9, 9, 3, 0) /* a exp([t]), or, if k is below 0, a exp(-[t]), t in b */ \
    O(CARRY, 3, 9, 3, 0) /* a b, a rotation */ \
    O(BACK, 3, 9, 3, 0) /* a' b */ \
    O(ADD, 3, 3, 3, 0) \
    O(SUBTRACT, 3, 3, 3, 0) \
    O(SCALE, 3, 1, 3, 0) /* the number a times b */ \
    O(ADD_SCALED, 3, 3, 1, 3) /* a + the number b times c */ \
    O(CROSS, 3, 3, 3, 0) \
    O(ADD_CROSS, 3, 3, 3, 3) /* a + b x c */ \
    O(INERTIA, 3, 9, 3, 6) /* a I a' b: I in c, xx yy zz xy xz yz */ \
    O(SOLVE, 6, FM_EACH_ENTRY, FM_EACH_SCREW, 0) /* M^-1 b of n numbers, or M'^-1 b if k is -n: M in a, n x n by \
                                                  * rows */ \
    O(SYMMETRIC, 3, 3, 3, 3) /* a matrix times c: its diagonal in a, its entries 12, 13, 23 in b */ \
    O(BEND, 3, 4, 0, 0) /* rotation vector of the quaternion a */ \
    O(VECTOR, 3, 1, 1, 1) /* of the numbers a, b, c */ \
    O(TURNS, 3, 3, 0, 0) /* rotation vector of turns by the angles a about x, y, z */ \
    O(SPIN, 3, 3, 3, 0) /* A(a) b: the angular velocity of such turns with the rates b, behind them */ \
    O(SPIN_BACK, 3, 3, 3, 0) /* A(a)' b */ \
    O(POINT, 12, 0, 3, 0) /* of link k, -1 the ground, at b in its axes: arm, place, velocity, acceleration */ \
    O(STILL_POINT, 12, 0, 3, 0) \
    O(CARRIED, 9, 0, 3, 0) /* by link k, b in its axes: a vector and its first two derivatives */ \
    O(APART, 9, 9, 9, 0) /* a - b, of k numbers */ \
    O(PRODUCT_ROW, 3, 9, 9, 1) /* a . b - c of moving vectors a, b, and its first two derivatives \
                                * (row_operations.c) */ \
    O(DOT, 1, 3, 3, 0) \
    O(LENGTH, 1, 3, 0, 0) \
    O(UNIT, 3, 3, 0, 0) /* a over its length, 0 of none */ \
    O(SUM, 1, 1, 1, 0) \
    O(DIFFERENCE, 1, 1, 1, 0) \
    O(PRODUCT, 1, 1, 1, 0) \
    O(ADD_PRODUCT, 1, 1, 1, 1) /* a + b c */ \
    O(QUOTIENT, 1, 1, 1, 0) \
    O(ROOT, 1, 1, 0, 0) \
    O(POWER, 1, 1, 1, 0) /* a to the power b, odd in a */ \
    O(LIMIT, 1, 1, 1, 0) /* a, between -b and b */ \
    O(SPAN, 4, 3, 1, 0) /* length and slope of a rope's span to a from a pulley of radius b, at via k \
                         * (forces/sides.h) */ \
    O(ABSOLUTE, 1, 1, 0, 0) \
    O(POSITIVE, 1, 1, 0, 0) /* a, 0 below that */ \
    O(DECAY, 1, 1, 0, 0) /* exp(-a) */ \
    O(LAW, 1, 1, 1, 0) /* the piece of force law k that slides at a position a and a velocity b (forces/laws.h) */ \
    O(STUMPFF, 1, 1, 0, 0) /* sum over i of (-a)^i / (2 i + k)! */ \
    O(SERIES, 1, 1, 0, 0) /* (1 - h cot h) / a, h = sqrt(a) / 2 (forces/matrix_laws.c) */ \
    O(PROFILE, 3, 1, 0, 0) /* the path k over a coordinate a, and its first two derivatives by that */ \
    O(ROAD, 7, 9, 3, 9) /* of spot k, axes of B in a, A's centre from B's point in b, axes of A in c: the foot on \
                         * its road, the normal, and the road's x there (road_operations.c) */ \
    O(OIL, 1, 1, 1, 0) /* what oil at the pressure a, of the bulk modulus b, stores in a unit of volume */ \
    O(ANGLE, 1, 1, 1, 1) /* of a over b, in the turn of c */ \
    O(QUATERNION, 4, 9, 4, 4) /* unit quaternion of a rotation a, that of a, of any length, in b, times a constant \
                               * one c */ \
    O(SIZE, 1, 4, 0, 0) /* of the quaternion a */ \
    O(STRETCH, 4, 1, 4, 0) /* the number a times the quaternion b */ \
    O(QUATERNION_RATE, 4, 4, 3, 1) /* q (0, w) / 2 + c (1 - q'q) q / 2: q in a, w in b */ \
    O(OF_MODES, 3, FM_EACH_SHAPE, 0, 0) /* sum over the modes of frame k of translations, or rotation vectors \
                                         * (frame ~k), times a */ \
    O(ON_MODES, 0, 3, 3, 0) /* the forces on its modes of a force a and a moment b there, or their opposite (frame \
                             * ~k) */ \
    O(STRESS, 6, FM_EACH_SHAPE, 0, 0) /* at node k of a flexible body, of its modal coordinates a */ \
    O(ADD_MODES, 0, FM_EACH_SHAPE, FM_EACH_SHAPE, 0) /* a + b, numbers of as many as body k has shapes */ \
    O(SHAPES, 0, FM_EACH_SHAPE, FM_EACH_SHAPE, FM_EACH_SHAPE) /* of body k: coordinates of all its shapes, their \
                                                               * rates and accelerations */ \
    O(SHAPE_FORCES, 0, FM_EACH_SHAPE, 0, 0) /* the forces on the modes of body k, of those a on all its shapes */ \
    O(FLEXIBLE, 0, 3, 3, 3) /* of body k, what its modes add to the inertial torque and force, and the forces on \
                             * them: w in a, alpha in b, acceleration in c (flexible_operations.c) */ \
    O(FLEXIBLE_ENERGY, 1, 3, 3, 3) /* what they add to its energy: w in a, v in b, gravity in c */ \
    O(PAIR, 6, 3, 3, 0) /* of the vectors a, b */ \
    O(CUT_POSITION, 0, 9, 9, 3) /* of cut joint k (cut_operations.c): its positions; axes of F in a, of M in b, \
                                 * and the place of M in F's axes in c */ \
    O(CUT_RATE, 0, FM_EACH_POSITION, 0, 6) /* velocities at the positions a, for the relative motion c, angular \
                                            * part first */ \
    O(CUT_SECOND, 0, FM_EACH_POSITION, FM_EACH_SPEED, 6) /* accelerations: velocities in b */ \
    O(CUT_WRENCH, 6, FM_EACH_POSITION, FM_EACH_SPEED, 0) /* the wrench of the forces b along its modes, in F's axes */ \
    O(STILL_CUT_WRENCH, 6, FM_EACH_POSITION, FM_EACH_SPEED, 0)

typedef enum fm_operation {
#define O(id, ...) FM_DO_##id,
    FM_OPERATIONS(O)
#undef O
        FM_OPERATION_COUNT
} fm_operation;

typedef struct fm_node {
    int32_t operation, out, a, b, c; /* places in the values */
    int32_t k; /* the axis of FM_DO_TURN, or what it is part of */
} fm_node;

/* Where the motion of a link is among the values: axes, place of its origin, velocities, accelerations. */
typedef struct fm_motion_places {
    int32_t R, r, w, v, alpha, a;
} fm_motion_places;

/* Where a known is among the values, FM_NO_SLOT: the graph does not read it; and how many numbers it sets there: 0 of
 * what changes no derivative. */
typedef struct fm_known_place {
    int32_t at, numbers;
} fm_known_place;

/* The leaves: L(name, array of the instance, numbers), m the model. The first ones are stored in the state. */
#define FM_STORED_LEAVES(L)                                            \
    L(y, y, m->ny)                                                     \
    L(tau, tau, m->n.modes)                                            \
    L(load, load, 6 * m->n.loads)                                      \
    L(gravity, gravity, 3)                                             \
    L(stiffness, stiffness, m->n.modes)                                \
    L(damping, damping, m->n.modes)                                    \
    L(rest, rest, m->n.modes)                                          \
    L(rotor_inertia, rotor_inertia, m->n.modes)                        \
    L(coupled_stiffness, coupled_stiffness, m->n.coupled)              \
    L(coupled_damping, coupled_damping, m->n.coupled)                  \
    L(mass, mass, m->n.bodies)                                         \
    L(inertia, inertia, 6 * m->n.bodies)                               \
    L(screw_stiffness, screw_stiffness, m->n.screws)                   \
    L(screw_damping, screw_damping, m->n.screws)                       \
    L(screw_rest, screw_rest, m->n.screws)                             \
    L(spring_stiffness, spring_stiffness, m->n.springs)                \
    L(spring_damping, spring_damping, m->n.springs)                    \
    L(spring_free_length, spring_free_length, m->n.springs)            \
    L(rope_stiffness, rope_stiffness, m->n.ropes)                      \
    L(rope_damping, rope_damping, m->n.ropes)                          \
    L(rope_length, rope_length, m->n.ropes)                            \
    L(pulley_radius, pulley_radius, m->n.pulleys)                      \
    L(motor_resistance, motor_resistance, m->n.motors)                 \
    L(motor_inductance, motor_inductance, m->n.motors)                 \
    L(motor_constant, motor_constant, m->n.motors)                     \
    L(motor_gear, motor_gear, m->n.motors)                             \
    L(motor_rotor_inertia, motor_rotor_inertia, m->n.motors)           \
    L(motor_voltage_limit, motor_voltage_limit, m->n.motors)           \
    L(motor_current_limit, motor_current_limit, m->n.motors)           \
    L(motor_efficiency, motor_efficiency, m->n.motors)                 \
    L(gear_ratio, gear_ratio, m->n.gears)                              \
    L(gear_offset, gear_offset, m->n.gears)                            \
    L(gear_backlash, gear_backlash, m->n.gears)                        \
    L(gear_stiffness, gear_stiffness, m->n.gears)                      \
    L(gear_damping, gear_damping, m->n.gears)                          \
    L(cylinder_area_A, cylinder_area_A, m->n.cylinders)                \
    L(cylinder_area_B, cylinder_area_B, m->n.cylinders)                \
    L(cylinder_stroke, cylinder_stroke, m->n.cylinders)                \
    L(cylinder_closed_length, cylinder_closed_length, m->n.cylinders)  \
    L(cylinder_dead_volume_A, cylinder_dead_volume_A, m->n.cylinders)  \
    L(cylinder_dead_volume_B, cylinder_dead_volume_B, m->n.cylinders)  \
    L(cylinder_bulk_modulus, cylinder_bulk_modulus, m->n.cylinders)    \
    L(cylinder_leakage, cylinder_leakage, m->n.cylinders)              \
    L(cylinder_rated_flow, cylinder_rated_flow, m->n.cylinders)        \
    L(cylinder_rated_drop, cylinder_rated_drop, m->n.cylinders)        \
    L(cylinder_supply, cylinder_supply, m->n.cylinders)                \
    L(cylinder_tank, cylinder_tank, m->n.cylinders)                    \
    L(contact_stiffness, contact_stiffness, m->n.contacts)             \
    L(contact_exponent, contact_exponent, m->n.contacts)               \
    L(contact_damping, contact_damping, m->n.contacts)                 \
    L(contact_mu, contact_mu, m->n.contacts)                           \
    L(contact_static, contact_static, m->n.contacts)                   \
    L(contact_stribeck, contact_stribeck, m->n.contacts)               \
    L(contact_tangential, contact_tangential, m->n.contacts)           \
    L(contact_tangential_damping, contact_tangential_damping, m->n.contacts) \
    L(contact_creep, contact_creep, m->n.contacts)                     \
    L(contact_rolling, contact_rolling, m->n.contacts)                 \
    L(contact_drilling, contact_drilling, m->n.contacts)               \
    L(contact_turning, contact_turning, m->n.contacts)                 \
    L(contact_turning_damping, contact_turning_damping, m->n.contacts) \
    L(contact_slip_stiffness, contact_slip_stiffness, 2 * m->n.contacts) \
    L(contact_relaxation, contact_relaxation, 2 * m->n.contacts)       \
    L(law_scale, law_scale, m->n.laws)                                 \
    L(control, control, m->n.controls)                                 \
    L(coupling_phase, coupling_phase, m->n.couplings)                  \
    L(coupling_offset, coupling_offset, m->n.couplings)                \
    L(coupling_scale, coupling_scale, m->n.couplings)                  \
    L(friction_static, friction_static, m->n.frictions)                \
    L(friction_kinetic, friction_kinetic, m->n.frictions)              \
    L(friction_stribeck, friction_stribeck, m->n.frictions)            \
    L(friction_stiffness, friction_stiffness, m->n.frictions)          \
    L(friction_damping, friction_damping, m->n.frictions)              \
    L(friction_viscous, friction_viscous, m->n.frictions)              \
    L(friction_preload, friction_preload, m->n.frictions)              \
    L(friction_scale, friction_scale, m->n.frictions)                  \
    L(cut_p, cut_p, m->n.cut_positions)
#define FM_LEAVES(L)                                                   \
    FM_STORED_LEAVES(L)                                                \
    L(quaternion, quaternion, 4 * m->n.links)                          \
    L(udot, work.udot, m->n.speeds)                                    \
    L(lambda, loop.lambda, m->n.rows)                                  \
    L(held, laws.force, m->n.laws)      /* of laws that stick, else 0 */ \
    L(own, friction->own, m->n.frictions)                              \
    L(cut_now, cut_p, m->n.cut_positions)  /* the present ones, where the graph needs them */

/* Places of the leaves in the values; hosted: 1 if the host integrates, else 0; taut: of each side of a rope 1 if it
 * is, else 0; flank, pressed: of each gear 1 above its play, -1 below, 0 within, and 1 while its teeth are pressed
 * further, else 0; feeds: of each cylinder 1 while its valve leads the supply to chamber A, else 0; follows: 1 or -1,
 * by which chamber that is, times 1 while its opening is not cut, else 0; cut: 1 where follows is 0, else 0;
 * curbed: of each motor 1 or -1 while its current is held at its limit, else 0; driving, driven: 1 while the law
 * of its losses slides and the motor drives, or is driven, else 0; touches, slips: of each spot of a contact 1 while it
 * touches, and slips, else 0; rolls: of each spot that resists rolling and drilling two, 1 while that slips, else 0. */
typedef struct fm_leaves {
#define L(name, array, numbers) int32_t name;
    FM_LEAVES(L)
#undef L
    int32_t hosted, taut, flank, pressed, feeds, follows, cut, curbed, driving, driven, touches, slips, rolls, end;
} fm_leaves;

#define FM_NO_SLOT (-1)

/* Numbers that are conditions' unknowns: m the model. Each has an equation that it solves with the accelerations and
 * multipliers: of a law that sticks, its force, and the rate of its velocity that vanishes; of a friction, the normal
 * force by its own joint's reaction, less this function of the reaction. */
#define FM_CONDITIONS(m) ((m)->n.laws + (m)->n.frictions)

#define FM_MOTIONS(m) ((m)->n.links + 2 + 2 * (m)->n.screws)

/* The arrays of a graph: A(type, name, number of elements), g the graph and m the model. */
#define FM_GRAPH_ARRAYS(A)                                                                     \
    A(fm_node, node, g->nodes)                                                                 \
    A(double, value, g->values)                                                                \
    A(fm_motion_places, motion, FM_MOTIONS(m)) /* of each link, the ground first; what rests; of each screw of \
                                                * nonholonomic joints two, at no rates and at its own */ \
    A(int32_t, residual, m->n.speeds)   /* of each velocity variable; none: its acceleration is given */ \
    A(int32_t, acceleration, m->n.speeds)                                                      \
    A(int32_t, rate, m->ny)             /* of each position variable and each bristle */       \
    A(int32_t, shapes, m->n.modals)     /* of each flexible body with shapes of second order, theirs; else none */ \
    A(int32_t, row, 3 * m->n.rows)      /* of each constraint row and its first two derivatives */ \
    A(int32_t, unknown, FM_CONDITIONS(m)) /* a leaf */                                         \
    A(int32_t, equation, FM_CONDITIONS(m)) /* none: there is no such condition */              \
    A(int32_t, piece, m->n.laws)        /* of each law the one that slides; -1: none */            \
    A(int32_t, reacts, m->n.variables)  /* 1: it follows multipliers, which redundant rows leave open */ \
    A(fm_known_place, known, m->n.variables) /* of each variable that is a known, filled by outputs/exact_places.c */ \
    A(int32_t, output, m->n.variables)  /* of each variable of the interface that is computed */

/* What a run needs besides. */
#define FM_GRAPH_SCRATCH(A)      \
    A(double, tangent, n.graph)  \
    A(double, adjoint, n.graph)  \
    A(unsigned char, follows, n.graph_inner) /* whether it follows from a known of the plan */ \
    A(unsigned char, needed, n.graph_inner) /* 1: adjoints of the plan need its value */ \
    A(uint32_t, planned, n.graph_room) /* the knowns of the plan */ \
    A(fm_known_place, planned_place, n.graph_room) \
    A(uint32_t, asked, n.graph_room)     /* the last unknowns of an adjoint, and where these are */ \
    A(int32_t, asked_place, n.graph_room) \
    A(fm_node, lean_value, n.graph_nodes) /* the nodes of the plan with values, and with adjoints */ \
    A(fm_node, lean_adjoint, n.graph_nodes) \
    A(int32_t, active, n.conditions)                                                \
    A(int32_t, exchanged, n.conditions)                                             \
    A(double, matrix, n.conditions * n.conditions) /* how equations follow unknowns */ \
    A(double, off, n.conditions)                                                    \
    A(double, column, n.conditions * (n.speeds + n.rows)) /* accelerations and multipliers of each unknown */ \
    A(double, acceleration_now, n.speeds) /* at the present state */ \
    A(double, multiplier_now, n.rows) \
    A(double, unpulled, n.speeds + n.rows) /* tangents of residuals and rows there */ \
    A(double, pull, 2 * (n.speeds + n.rows)) /* of each level, with multipliers (outputs/exact_pull.c) */ \
    A(double, pulling, 2 * (n.speeds + n.rows)) /* the responses to their weights */ \
    A(double, slope, n.speeds) /* derivatives of the pull's rate */

/* What adjoints by parameters and inputs alone need (outputs/exact_plan.c): for how many knowns it is, 0: there is
 * none; up to which node there are unknowns; how many nodes have values, have adjoints, and of these are up to that
 * one. */
typedef struct fm_plan {
    int32_t knowns, computed, values, adjoints, first;
    int cuts; /* 1: positions of cut joints are needed */
    int valued; /* 1: its values are there, while FM_VALID_GRAPH is set */
} fm_plan;

typedef struct fm_graph {
#define A(type, name, count) type *name;
    FM_GRAPH_ARRAYS(A)
    FM_GRAPH_SCRATCH(A)
#undef A
    fm_leaves leaf;
    int32_t cuts; /* 1: positions of cut joints are needed */
    int32_t built; /* 1: the instance was opened with derivatives, and its model is covered */
    int32_t nodes, values;
    int32_t room; /* of lists of references */
    int32_t valued; /* nodes with values, while FM_VALID_GRAPH is set */
    fm_plan plan;
    int32_t unknowns, fixed; /* how many were asked for; 1: their places do not follow from the state */
    int32_t to_branch; /* 1: rates pull to a branch of the motion (motion/pull.c), which has differences only */
    int32_t before_outputs; /* values of the leaves and of all nodes but those of outputs */
    int32_t dynamics, conditions; /* nodes of residuals and rows; with those of equations; those of outputs follow */
    int32_t actives; /* conditions at the present state */
    double much[2]; /* how often the pull of each level is added to accelerations; 0: not at all */
    char why[200]; /* what the graph does not cover, "" if it covers the dynamics */
} fm_graph;

FM_HIDDEN_END

#endif
