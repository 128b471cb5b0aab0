/* variables.h: every kind of variable, once, and all that is known about it: K(id, owner, suffix, components, role,
 * elements, place, needs, follows, unit, unit of a translation, description).
 *
 * `role` is a row of FM_ROLES. `elements` says which elements of the owner have it (fm_elements); how many components
 * these have, too, where `components` is 0. `place` is where a value is stored (fm_storage), `needs` what must be up to
 * date before it is computed (fm_results, instance.h), `follows` what an output follows (fm_follows). Checks of the
 * image, reading, writing, refusals, derivatives, and Python's view of the variables are made from these columns.
 *
 * The kinds from FM_FIRST_INVERSE on are of images that ask for inverse dynamics (motion/required.c): a motion that is
 * given (G_...), stored beside the state where the state of the same name is in it, and what it takes (R_...).
 * G(id, like): the input that gives what the kind `like` is, in all other columns as this. */
#ifndef FM_VARIABLES_H
#define FM_VARIABLES_H

#include "schemes.h"

/* The force elements, in the order in which their forces are applied: O(id, one, all), as FM_OWNERS. forces/one.c has
 * what one of them does (forces/elements.h). */
#define FM_FORCE_ELEMENTS(O)                                                             \
    O(SPRING, spring, springs)                                                           \
    O(LOAD, load, loads)                                                                 \
    O(ROPE, rope, ropes)                                                                 \
    O(ACTUATOR, actuator, actuators)                                                     \
    O(MOTOR, motor, motors)                                                              \
    O(GEAR, gear, gears)                                                                 \
    O(CYLINDER, cylinder, cylinders)                                                     \
    O(CONTACT, contact, contacts)                                                        \
    O(SPOT, spot, spots)                                                                 \
    O(ROLL, roll, rolls)

/* What variables belong to beside the model: O(id, one, all), with the array one_name and the size `all` of table.h. */
#define FM_OWNERS(O)                                                                     \
    O(JOINT, joint, joints)                                                              \
    O(BODY, body, bodies)                                                                \
    O(POINT, point, points)                                                              \
    FM_FORCE_ELEMENTS(O)                                                                 \
    O(COUPLING, coupling, couplings)                                                     \
    O(FRICTION, friction, frictions)                                                     \
    O(LAW, law, laws)                                                                    \
    O(GAUGE, gauge, gauges)

/* Tunable parameters with one row for each element, or each mode of a joint: P(V, kind, array, columns, rows). The
 * image's array of that name is the start value, the state's the present one. V is passed on. */
#define FM_PARAMETERS(P, V)                                                              \
    P(V, J_STIFFNESS, stiffness, 1, modes)                                               \
    P(V, J_DAMPING, damping, 1, modes)                                                   \
    P(V, J_REST, rest, 1, modes)                                                         \
    P(V, J_ROTOR, rotor_inertia, 1, modes)                                               \
    P(V, B_MASS, mass, 1, bodies)                                                        \
    P(V, B_INERTIA, inertia, 6, bodies)                                                  \
    P(V, S_STIFFNESS, spring_stiffness, 1, springs)                                      \
    P(V, S_DAMPING, spring_damping, 1, springs)                                          \
    P(V, S_FREE_LENGTH, spring_free_length, 1, springs)                                  \
    P(V, RO_STIFFNESS, rope_stiffness, 1, ropes)                                         \
    P(V, RO_DAMPING, rope_damping, 1, ropes)                                             \
    P(V, RO_LENGTH, rope_length, 1, ropes)                                               \
    P(V, RO_RADIUS, pulley_radius, 1, pulleys)                                           \
    P(V, M_RESISTANCE, motor_resistance, 1, motors)                                      \
    P(V, M_INDUCTANCE, motor_inductance, 1, motors)                                      \
    P(V, M_CONSTANT, motor_constant, 1, motors)                                          \
    P(V, M_GEAR, motor_gear, 1, motors)                                                  \
    P(V, M_ROTOR, motor_rotor_inertia, 1, motors)                                        \
    P(V, M_VOLTAGE_LIMIT, motor_voltage_limit, 1, motors)                                \
    P(V, M_CURRENT_LIMIT, motor_current_limit, 1, motors)                                \
    P(V, M_EFFICIENCY, motor_efficiency, 1, motors)                                      \
    P(V, T_RATIO, gear_ratio, 1, gears)                                                  \
    P(V, T_OFFSET, gear_offset, 1, gears)                                                \
    P(V, T_BACKLASH, gear_backlash, 1, gears)                                            \
    P(V, T_STIFFNESS, gear_stiffness, 1, gears)                                          \
    P(V, T_DAMPING, gear_damping, 1, gears)                                              \
    P(V, C_PHASE, coupling_phase, 1, couplings)                                          \
    P(V, C_OFFSET, coupling_offset, 1, couplings)                                        \
    P(V, C_SCALE, coupling_scale, 1, couplings)                                          \
    P(V, CY_AREA_A, cylinder_area_A, 1, cylinders)                                       \
    P(V, CY_AREA_B, cylinder_area_B, 1, cylinders)                                       \
    P(V, CY_STROKE, cylinder_stroke, 1, cylinders)                                       \
    P(V, CY_CLOSED_LENGTH, cylinder_closed_length, 1, cylinders)                         \
    P(V, CY_DEAD_VOLUME_A, cylinder_dead_volume_A, 1, cylinders)                         \
    P(V, CY_DEAD_VOLUME_B, cylinder_dead_volume_B, 1, cylinders)                         \
    P(V, CY_BULK_MODULUS, cylinder_bulk_modulus, 1, cylinders)                           \
    P(V, CY_LEAKAGE, cylinder_leakage, 1, cylinders)                                     \
    P(V, CY_VAPOUR, cylinder_vapour, 1, cylinders)                                       \
    P(V, CY_RATED_FLOW, cylinder_rated_flow, 1, cylinders)                               \
    P(V, CY_RATED_DROP, cylinder_rated_drop, 1, cylinders)                               \
    P(V, CY_SUPPLY, cylinder_supply, 1, cylinders)                                       \
    P(V, CY_TANK, cylinder_tank, 1, cylinders)                                           \
    P(V, CT_STIFFNESS, contact_stiffness, 1, contacts)                                   \
    P(V, CT_EXPONENT, contact_exponent, 1, contacts)                                     \
    P(V, CT_DAMPING, contact_damping, 1, contacts)                                       \
    P(V, CT_MU, contact_mu, 1, contacts)                                                 \
    P(V, CT_STATIC, contact_static, 1, contacts)                                         \
    P(V, CT_STRIBECK, contact_stribeck, 1, contacts)                                     \
    P(V, CT_RUB_STIFFNESS, contact_tangential, 1, contacts)                              \
    P(V, CT_RUB_DAMPING, contact_tangential_damping, 1, contacts)                        \
    P(V, CT_CREEP, contact_creep, 1, contacts)                                           \
    P(V, CT_ROLLING, contact_rolling, 1, contacts)                                       \
    P(V, CT_DRILLING, contact_drilling, 1, contacts)                                     \
    P(V, CT_TURN_STIFFNESS, contact_turning, 1, contacts)                                \
    P(V, CT_TURN_DAMPING, contact_turning_damping, 1, contacts)                          \
    P(V, CT_SLIP_STIFFNESS, contact_slip_stiffness, 2, contacts)                         \
    P(V, CT_RELAXATION, contact_relaxation, 2, contacts)                                 \
    P(V, FR_STATIC, friction_static, 1, frictions)                                       \
    P(V, FR_KINETIC, friction_kinetic, 1, frictions)                                     \
    P(V, FR_STRIBECK, friction_stribeck, 1, frictions)                                   \
    P(V, FR_STIFFNESS, friction_stiffness, 1, frictions)                                 \
    P(V, FR_DAMPING, friction_damping, 1, frictions)                                     \
    P(V, FR_VISCOUS, friction_viscous, 1, frictions)                                     \
    P(V, FR_PRELOAD, friction_preload, 1, frictions)                                     \
    P(V, FR_SCALE, friction_scale, 1, frictions)                                         \
    P(V, LAW_SCALE, law_scale, 1, laws)                                                  \
    P(V, LAW_BREAKAWAY, law_breakaway, 1, laws)                                          \
    P(V, LAW_RESTITUTION, law_restitution, 1, laws)

/* Parameters of the model: S(V, kind, name, array, first, components). The image's array has the start values, too. */
#define FM_SETTINGS(S, V)                                                                \
    S(V, GRAVITY, "gravity", gravity, 0, 3)                                              \
    S(V, SCHEME, "solver.scheme", options, FM_OPTION_SCHEME, 1)                          \
    S(V, STEP, "solver.step", options, FM_OPTION_STEP, 1)                                \
    S(V, TOLERANCE, "solver.tolerance", options, FM_OPTION_TOLERANCE, 1)                 \
    S(V, DEFORMATION, "solver.deformation", options, FM_OPTION_DEFORMATION, 1)           \
    S(V, EQUILIBRIUM, "solver.equilibrium", options, FM_OPTION_EQUILIBRIUM, 1)           \
    S(V, CORRECTION, "solver.correction", closure, FM_CLOSURE_CORRECTION, 1)             \
    S(V, CLOSURE, "solver.closure", closure, FM_CLOSURE_TOLERANCE, 1)                    \
    S(V, BAUMGARTE, "solver.baumgarte", closure, FM_CLOSURE_ALPHA, 2)

/* Roles: R(name, causality, type, tunable, state). */
#define FM_ROLES(R)                                                                      \
    R(INPUT, FM_INPUT, FM_REAL, 0, 0)                                                    \
    R(STATE, FM_OUTPUT, FM_REAL, 0, 1)                                                   \
    R(OUTPUT, FM_OUTPUT, FM_REAL, 0, 0)                                                  \
    R(COUNTER, FM_OUTPUT, FM_INTEGER, 0, 0)                                              \
    R(TUNABLE, FM_PARAMETER, FM_REAL, 1, 0)                                              \
    R(FIXED, FM_PARAMETER, FM_REAL, 0, 0)                                                \
    R(CHOICE, FM_PARAMETER, FM_INTEGER, 0, 0)                                            \
    R(FACT, FM_LOCAL, FM_INTEGER, 0, 0)                                                  \
    R(FLAG, FM_LOCAL, FM_BOOLEAN, 0, 0)

#define FM_KINDS(K, G)                                                                                                \
    K(J_TAU, JOINT, "tau", 0, INPUT, TORQUED, TAU, NOTHING, NOTHING, "N.m", "N",                                      \
      "generalised applied torque of the joint's free mode")                                                          \
    K(J_F, JOINT, "f", 0, INPUT, FORCED, TAU, NOTHING, NOTHING, "N", "N",                                             \
      "generalised applied force of the joint's free mode")                                                           \
    K(J_KAPPA_DOT_IN, JOINT, "kappa_dot", 0, INPUT, BY_ACCELERATION, TAU, NOTHING, NOTHING, "rad/s2", "m/s2",         \
      "acceleration of the joint's excited mode")                                                                     \
    K(J_ETA_IN, JOINT, "eta_in", 0, INPUT, BY_POSITION, TAU, NOTHING, NOTHING, "rad", "m",                            \
      "position that the joint's excited mode follows through its filter")                                            \
    K(L_FORCE, LOAD, "force", 3, INPUT, STEADY, LOAD_FORCE, NOTHING, NOTHING, "N", "N",                               \
      "force of the load in world axes")                                                                              \
    K(L_TORQUE, LOAD, "torque", 3, INPUT, STEADY, LOAD_TORQUE, NOTHING, NOTHING, "N.m", "N.m",                        \
      "torque of the load in world axes")                                                                             \
    K(L_FORCE_ON_POINT, LOAD, "force", 3, INPUT, FOLLOWER, LOAD_FORCE, NOTHING, NOTHING, "N", "N",                    \
      "force of the load in the axes of its point, with which it turns")                                              \
    K(L_TORQUE_ON_POINT, LOAD, "torque", 3, INPUT, FOLLOWER, LOAD_TORQUE, NOTHING, NOTHING, "N.m", "N.m",             \
      "torque of the load in the axes of its point, with which it turns")                                             \
    K(FR_NORMAL, FRICTION, "normal", 1, INPUT, PRESSED, CONTROL, NOTHING, NOTHING, "N.m", "N",                        \
      "input that adds to the normal force of the friction, for a turning joint times its radius")                    \
    K(LAW_SCALED, LAW, "scale_in", 1, INPUT, SCALED, CONTROL, NOTHING, NOTHING, "", "",                               \
      "input that scales the force law")                                                                              \
    K(FR_SCALED, FRICTION, "scale_in", 1, INPUT, SCALED, CONTROL, NOTHING, NOTHING, "", "",                           \
      "input that scales the friction")                                                                               \
    K(RO_LENGTH_IN, ROPE, "length", 1, INPUT, WOUND, CONTROL, NOTHING, NOTHING, "m", "m",                             \
      "unstretched length of the rope, which a winch pays out at its last end")                                       \
    K(A_FORCE, ACTUATOR, "force", 1, INPUT, EVERY, CONTROL, NOTHING, NOTHING, "N", "N",                               \
      "force of the actuator, which pushes its points apart")                                                         \
    K(M_VOLTAGE, MOTOR, "voltage", 1, INPUT, EVERY, CONTROL, NOTHING, NOTHING, "V", "V",                              \
      "voltage of the motor")                                                                                         \
    K(CY_FLOW_A, CYLINDER, "flow_A", 1, INPUT, FLOWING, CONTROL, NOTHING, NOTHING, "m3/s", "m3/s",                    \
      "flow into chamber A of the cylinder, behind its piston")                                                       \
    K(CY_FLOW_B, CYLINDER, "flow_B", 1, INPUT, FLOWING, CONTROL, NOTHING, NOTHING, "m3/s", "m3/s",                    \
      "flow into chamber B of the cylinder, around its rod")                                                          \
    K(CY_OPENING, CYLINDER, "opening", 1, INPUT, VALVED, CONTROL, NOTHING, NOTHING, "", "",                           \
      "opening of the cylinder's valve, cut to -1 to 1: above 0 chamber A is at the supply")                          \
    K(J_Q, JOINT, "q", 0, STATE, COORDINATES, POSITION, NOTHING, POSITIONS, "rad", "m",                               \
      "joint position")                                                                                               \
    K(J_QD, JOINT, "qd", 0, STATE, RATES, SPEED, NOTHING, VELOCITIES, "rad/s", "m/s",                                 \
      "joint velocity")                                                                                               \
    K(J_QDD, JOINT, "qdd", 0, OUTPUT, RATES, ACCELERATION, MOTION, ACCELERATIONS, "rad/s2", "m/s2",                   \
      "joint acceleration")                                                                                           \
    K(J_QUAT, JOINT, "q", 4, STATE, TURNING, QUATERNION, NOTHING, POSITIONS, "", "",                                  \
      "quaternion w x y z of frame M in frame F")                                                                     \
    K(J_W, JOINT, "w", 3, STATE, TURNING, SPEED, NOTHING, VELOCITIES, "rad/s", "rad/s",                               \
      "angular velocity of M relative to F in M's axes")                                                              \
    K(J_ALPHA, JOINT, "alpha", 3, OUTPUT, TURNING, ACCELERATION, MOTION, ACCELERATIONS, "rad/s2", "rad/s2",           \
      "time derivative of w in M's axes")                                                                             \
    K(J_R, JOINT, "r", 3, STATE, FREE, POSITION, NOTHING, POSITIONS, "m", "m",                                        \
      "position of M's origin in F")                                                                                  \
    K(J_V, JOINT, "v", 3, STATE, FREE, SPEED, NOTHING, VELOCITIES, "m/s", "m/s",                                      \
      "velocity of M's origin relative to F in F's axes")                                                             \
    K(J_A, JOINT, "a", 3, OUTPUT, FREE, ACCELERATION, MOTION, ACCELERATIONS, "m/s2", "m/s2",                          \
      "time derivative of v in F's axes")                                                                             \
    K(J_U, JOINT, "u", 0, STATE, NONHOLONOMIC, SPEED, NOTHING, VELOCITIES, "rad/s", "m/s",                            \
      "velocity variable of a nonholonomic joint")                                                                    \
    K(J_UDOT, JOINT, "udot", 0, OUTPUT, NONHOLONOMIC, ACCELERATION, MOTION, ACCELERATIONS, "rad/s2", "m/s2",          \
      "time derivative of u")                                                                                         \
    K(J_ETA, JOINT, "eta", 0, STATE, EXCITED, EXCITED, NOTHING, POSITIONS, "rad", "m",                                \
      "position of the joint's excited mode")                                                                         \
    K(J_KAPPA, JOINT, "kappa", 0, STATE, EXCITED, SPEED, NOTHING, VELOCITIES, "rad/s", "m/s",                         \
      "velocity of the joint's excited mode")                                                                         \
    K(J_KAPPA_DOT, JOINT, "kappa_dot", 0, OUTPUT, FOLLOWING, ACCELERATION, MOTION, EXCITATION, "rad/s2", "m/s2",      \
      "acceleration of the joint's excited mode")                                                                     \
    K(J_TARGET, JOINT, "target", 0, OUTPUT, PROGRAMMED, NOWHERE, NOTHING, STATE, "rad", "m",                          \
      "target of the program, without its transition")                                                                \
    K(J_POSITION, JOINT, "position", 0, OUTPUT, PROGRAMMED, NOWHERE, WORLD, STATE, "rad", "m",                        \
      "programmed coordinate of the mechanism")                                                                       \
    K(J_VIOLATION, JOINT, "violation", 1, OUTPUT, PROGRAMMED, NOWHERE, WORLD, STATE, "rad", "m",                      \
      "distance of the position from the target")                                                                     \
    K(J_DRIVE, JOINT, "drive", 0, OUTPUT, EXCITED, NOWHERE, JOINT_FORCES, BALANCE, "N.m", "N",                        \
      "generalised force of the actuator of the joint's excited mode")                                                \
    K(J_REACTION_F, JOINT, "reaction.f", 3, OUTPUT, EVERY, NOWHERE, JOINT_FORCES, BALANCE, "N", "N",                  \
      "constraint force that the parent exerts on the child, in F's axes")                                            \
    K(J_REACTION_T, JOINT, "reaction.t", 3, OUTPUT, EVERY, NOWHERE, JOINT_FORCES, BALANCE, "N.m", "N.m",              \
      "constraint torque that the parent exerts on the child, reduced at M, in F's axes")                             \
    K(J_WRENCH_F, JOINT, "wrench.f", 3, OUTPUT, EVERY, NOWHERE, JOINT_FORCES, BALANCE, "N", "N",                      \
      "total force, applied and constraint, that the parent exerts on the child, in F's axes")                        \
    K(J_WRENCH_T, JOINT, "wrench.t", 3, OUTPUT, EVERY, NOWHERE, JOINT_FORCES, BALANCE, "N.m", "N.m",                  \
      "total torque, applied and constraint, that the parent exerts on the child, reduced at M, in F's axes")         \
    K(J_UNIQUE_F, JOINT, "reaction_unique.f", 3, FLAG, EVERY, NOWHERE, NOTHING, NOTHING, "", "",                      \
      "whether this component of reaction.f is unique, as determined at the start")                                   \
    K(J_UNIQUE_T, JOINT, "reaction_unique.t", 3, FLAG, EVERY, NOWHERE, NOTHING, NOTHING, "", "",                      \
      "whether this component of reaction.t is unique, as determined at the start")                                   \
    K(B_R, BODY, "r", 3, OUTPUT, EVERY, NOWHERE, WORLD, POSITIONS, "m", "m",                                          \
      "position of the body frame's origin in the world")                                                             \
    K(B_QUAT, BODY, "quat", 4, OUTPUT, EVERY, NOWHERE, QUATERNIONS, POSITIONS, "", "",                                \
      "quaternion w x y z of the body frame in the world")                                                            \
    K(B_V, BODY, "v", 3, OUTPUT, EVERY, NOWHERE, WORLD, VELOCITIES, "m/s", "m/s",                                     \
      "velocity of the body frame's origin in world axes")                                                            \
    K(B_W, BODY, "w", 3, OUTPUT, EVERY, NOWHERE, WORLD, VELOCITIES, "rad/s", "rad/s",                                 \
      "angular velocity of the body in world axes")                                                                   \
    K(B_A, BODY, "a", 3, OUTPUT, EVERY, NOWHERE, WORLD_AND_LINKS, ACCELERATIONS, "m/s2", "m/s2",                      \
      "acceleration of the body frame's origin in world axes")                                                        \
    K(B_ALPHA, BODY, "alpha", 3, OUTPUT, EVERY, NOWHERE, WORLD_AND_LINKS, ACCELERATIONS, "rad/s2", "rad/s2",          \
      "angular acceleration of the body in world axes")                                                               \
    K(B_EULER, BODY, "euler", 3, OUTPUT, ORIENTED, NOWHERE, WORLD, POSITIONS, "rad", "rad",                           \
      "Euler angle of the body in the world, in the order of its sequence")                                           \
    K(B_EULER_MARGIN, BODY, "euler_margin", 1, OUTPUT, ORIENTED, NOWHERE, WORLD, POSITIONS, "", "",                   \
      "sine of the angle between the first and the third axis: 0 where their Euler angles are not unique")            \
    K(B_Q, BODY, "q", 0, STATE, FLEXIBLE, MODAL_POSITION, NOTHING, POSITIONS, "m", "m",                               \
      "modal coordinate of the flexible body")                                                                        \
    K(B_QD, BODY, "qd", 0, STATE, FLEXIBLE, MODAL_SPEED, NOTHING, VELOCITIES, "m/s", "m/s",                           \
      "time derivative of the flexible body's modal coordinate")                                                      \
    K(B_QDD, BODY, "qdd", 0, OUTPUT, FLEXIBLE, MODAL_ACCELERATION, MOTION, ACCELERATIONS, "m/s2", "m/s2",             \
      "second time derivative of the flexible body's modal coordinate")                                               \
    K(P_R, POINT, "r", 3, OUTPUT, NAMED, NOWHERE, WORLD, POSITIONS, "m", "m",                                         \
      "position of the point in the world")                                                                           \
    K(P_V, POINT, "v", 3, OUTPUT, NAMED, NOWHERE, WORLD, VELOCITIES, "m/s", "m/s",                                    \
      "velocity of the point in world axes")                                                                          \
    K(P_A, POINT, "a", 3, OUTPUT, NAMED, NOWHERE, WORLD_AND_LINKS, ACCELERATIONS, "m/s2", "m/s2",                     \
      "acceleration of the point in world axes")                                                                      \
    K(GA_STRESS, GAUGE, "stress", 6, OUTPUT, EVERY, NOWHERE, NOTHING, POSITIONS, "Pa", "Pa",                          \
      "stress xx yy zz xy xz yz at a node of the flexible body, in its axes")                                         \
    K(GA_MISES, GAUGE, "mises", 1, OUTPUT, EVERY, NOWHERE, NOTHING, POSITIONS, "Pa", "Pa",                            \
      "equivalent stress of von Mises at a node of the flexible body")                                                \
    K(S_LENGTH, SPRING, "length", 1, OUTPUT, EVERY, NOWHERE, WORLD, POSITIONS, "m", "m",                              \
      "distance between the spring's points")                                                                         \
    K(S_F, SPRING, "f", 1, OUTPUT, EVERY, NOWHERE, WORLD, SPRING, "N", "N",                                           \
      "force of the spring, positive when it pulls")                                                                  \
    K(RO_TENSION, ROPE, "tension", 0, OUTPUT, SIDES, NOWHERE, WORLD_AND_LAWS, ROPE, "N", "N",                         \
      "tension of the side of the rope, 0 while it is slack")                                                         \
    K(RO_PATH, ROPE, "path_length", 0, OUTPUT, SIDES, NOWHERE, WORLD, STATE, "m", "m",                                \
      "distance along the way of the side of the rope")                                                               \
    K(RO_SLACK, ROPE, "slack", 0, OUTPUT, SIDES, NOWHERE, WORLD_AND_LAWS, ROPE, "m", "m",                             \
      "unstretched length of the side of the rope less its path_length, 0 while it is stretched")                     \
    K(RO_POWER, ROPE, "power", 1, OUTPUT, EVERY, NOWHERE, WORLD_AND_LAWS, ROPE, "W", "W",                             \
      "power that the rope puts into the bodies")                                                                     \
    K(A_LENGTH, ACTUATOR, "length", 1, OUTPUT, EVERY, NOWHERE, WORLD, POSITIONS, "m", "m",                            \
      "distance between the actuator's points")                                                                       \
    K(A_POWER, ACTUATOR, "power", 1, OUTPUT, EVERY, NOWHERE, WORLD, OWN, "W", "W",                                    \
      "power of the actuator: its force times the rate of its length")                                                \
    K(M_CURRENT, MOTOR, "current", 1, STATE, INDUCTIVE, OWN_STATE, NOTHING, STATE, "A", "A",                          \
      "current of the motor")                                                                                         \
    K(M_CURRENT_AT_ONCE, MOTOR, "current", 1, OUTPUT, RESISTIVE, NOWHERE, LAWS, OWN, "A", "A",                     \
      "current of the motor, which has no inductance")                                                                \
    K(M_TORQUE, MOTOR, "torque", 1, OUTPUT, LOSSLESS, NOWHERE, LAWS, OWN, "N.m", "N",                                 \
      "torque or force of the motor on its joint, behind the gear")                                                   \
    K(M_TORQUE_LEFT, MOTOR, "torque", 1, OUTPUT, LOSSY, NOWHERE, WORLD_AND_MOTION, LAW, "N.m", "N",                   \
      "torque or force of the motor on its joint, behind the gear and its losses")                                    \
    K(M_POWER, MOTOR, "power", 1, OUTPUT, EVERY, NOWHERE, LAWS, OWN, "W", "W",                                     \
      "electrical power that the motor takes")                                                                        \
    K(T_POSITION, GEAR, "position", 1, OUTPUT, EVERY, NOWHERE, NOTHING, STATE, "rad", "m",                            \
      "position of the first joint less that to which the second one turns it, from the middle of the play")          \
    K(T_FORCE, GEAR, "force", 1, OUTPUT, EVERY, NOWHERE, NOTHING, STATE, "N.m", "N",                                  \
      "torque or force of the teeth on the first joint")                                                              \
    K(T_POWER, GEAR, "power", 1, OUTPUT, EVERY, NOWHERE, NOTHING, STATE, "W", "W",                                    \
      "power that the teeth give to the second joint")                                                                \
    K(CY_PRESSURE_A, CYLINDER, "pressure_A", 1, STATE, EVERY, OWN_STATE, NOTHING, STATE, "Pa", "Pa",                  \
      "pressure of chamber A of the cylinder, above that of the surroundings")                                        \
    K(CY_PRESSURE_B, CYLINDER, "pressure_B", 1, STATE, EVERY, OWN_STATE, NOTHING, STATE, "Pa", "Pa",                  \
      "pressure of chamber B of the cylinder, above that of the surroundings")                                        \
    K(CY_LENGTH, CYLINDER, "length", 1, OUTPUT, EVERY, NOWHERE, WORLD, POSITIONS, "m", "m",                           \
      "distance between the cylinder's points")                                                                       \
    K(CY_POSITION, CYLINDER, "position", 1, OUTPUT, EVERY, NOWHERE, WORLD, STATE, "m", "m",                           \
      "place of the piston, 0 where the cylinder is closed")                                                          \
    K(CY_FORCE, CYLINDER, "force", 1, OUTPUT, EVERY, NOWHERE, NOTHING, STATE, "N", "N",                               \
      "force of the cylinder, which pushes its points apart")                                                         \
    K(CY_POWER, CYLINDER, "power", 1, OUTPUT, EVERY, NOWHERE, WORLD, STATE, "W", "W",                                 \
      "power of the cylinder: its force times the rate of its length")                                                \
    K(CY_CAVITATION, CYLINDER, "cavitation", 1, OUTPUT, EVERY, NOWHERE, NOTHING, STATE, "", "",                       \
      "0; 1, 2 or 3 while the pressure of chamber A, of B or of both is below that of vapour")                        \
    K(CY_FLOW_A_OUT, CYLINDER, "flow_A", 1, OUTPUT, VALVED, NOWHERE, WORLD_AND_LAWS, OWN, "m3/s", "m3/s",             \
      "flow of the valve into chamber A of the cylinder")                                                             \
    K(CY_FLOW_B_OUT, CYLINDER, "flow_B", 1, OUTPUT, VALVED, NOWHERE, WORLD_AND_LAWS, OWN, "m3/s", "m3/s",             \
      "flow of the valve into chamber B of the cylinder")                                                             \
    K(CT_GAP, CONTACT, "gap", 0, OUTPUT, SPOTS, NOWHERE, WORLD, POSITIONS, "m", "m",                                  \
      "distance of the surfaces at the spot, negative where they overlap")                                            \
    K(CT_NORMAL, CONTACT, "normal", 0, OUTPUT, SPOTS, NOWHERE, WORLD_AND_LAWS, STATE, "N", "N",                       \
      "force that presses the surfaces apart")                                                                        \
    K(CT_FRICTION, CONTACT, "friction", 0, OUTPUT, SPOTS, NOWHERE, WORLD_AND_LAWS, STATE, "N", "N",                   \
      "size of the friction at the spot")                                                                             \
    K(CT_SLIP, CONTACT, "slip", 0, OUTPUT, SPOTS, NOWHERE, WORLD, STATE, "m/s", "m/s",                                \
      "speed with which the surfaces move past each other")                                                           \
    K(CT_STATE, CONTACT, "state", 0, OUTPUT, SPOTS, NOWHERE, WORLD_AND_LAWS, STATE, "", "",                           \
      "0 without contact, 1 where it sticks, or has no friction, 2 where it slips")                                   \
    K(CT_POINT, CONTACT, "point", 0, OUTPUT, SPOT_PLACES, NOWHERE, WORLD, POSITIONS, "m", "m",                        \
      "x, y and z of each spot in world axes")                                                                        \
    K(CT_FORCE, CONTACT, "force", 3, OUTPUT, EVERY, NOWHERE, WORLD_AND_LAWS, STATE, "N", "N",                         \
      "force on the first body in world axes")                                                                        \
    K(CT_Z, CONTACT, "z", 0, STATE, BRISTLED, OWN_STATE, NOTHING, STATE, "m", "m",                                    \
      "deflection of the bristles of each spot, in the axes of the second body; of a tyre ahead, aside, and 0")       \
    K(CT_ROLLING_MOMENT, CONTACT, "rolling_moment", 0, OUTPUT, ROLLING_SPOTS, NOWHERE, WORLD_AND_LAWS, STATE,         \
      "N.m", "N.m", "size of the moment against rolling at the spot")                                                 \
    K(CT_DRILLING_MOMENT, CONTACT, "drilling_moment", 0, OUTPUT, ROLLING_SPOTS, NOWHERE, WORLD_AND_LAWS, STATE,       \
      "N.m", "N.m", "size of the moment about the normal at the spot")                                                \
    K(CT_TREAD, CONTACT, "tread", 2, OUTPUT, TYRED, NOWHERE, WORLD_AND_LAWS, STATE, "N", "N",                         \
      "force on the tyre ahead, and aside, in its axis")                                                              \
    K(CT_TURN, CONTACT, "turn", 0, STATE, ROLLED, OWN_STATE, NOTHING, STATE, "rad", "rad",                            \
      "turning of the bristles of each spot that resist rolling and drilling, in the axes of the second body")        \
    K(C_TAU, COUPLING, "tau", 0, OUTPUT, TERMS, NOWHERE, JOINT_FORCES, BALANCE, "N.m", "N",                           \
      "generalised force that the coupling exerts on the coordinate")                                                 \
    K(C_POWER, COUPLING, "power", 1, OUTPUT, CAMS, NOWHERE, JOINT_FORCES, BALANCE, "W", "W",                          \
      "power of the cam's force on its follower, which it takes where it turns")                                      \
    K(FR_FORCE, FRICTION, "force", 0, OUTPUT, RUBBING, NOWHERE, MOTION, FRICTION, "N.m", "N",                         \
      "generalised force of the friction on the joint's mode, which drives M with respect to F")                      \
    K(FR_Z, FRICTION, "z", 0, STATE, RUBBING, BRISTLE, NOTHING, STATE, "rad", "m",                                    \
      "deflection of the bristles")                                                                                   \
    K(FR_SLIP, FRICTION, "slip", 1, OUTPUT, EVERY, NOWHERE, MOTION, STATE, "", "",                                    \
      "deflection of the bristles relative to that of steady sliding: 1 slides, less sticks")                         \
    K(LAW_FORCE, LAW, "force", 1, OUTPUT, EVERY, NOWHERE, WORLD_AND_MOTION, LAW, "N.m", "N",                          \
      "force of the law: on a joint it drives M with respect to F, in a spring it is tension")                        \
    K(LAW_SLIP, LAW, "slip", 1, OUTPUT, EVERY, NOWHERE, MOTION, LAW, "", "",                                          \
      "0 while the law sticks, else 1")                                                                               \
    K(LAW_CLOSED, LAW, "closed", 1, OUTPUT, HARD, NOWHERE, MOTION, LAW, "", "",                                       \
      "1 while the stop holds at its upper end, -1 while it does at its lower end, else 0")                           \
    K(LAW_IMPULSE, LAW, "impulse", 1, OUTPUT, HARD, NOWHERE, NOTHING, STATE, "N.m.s", "N.s",                          \
      "impulse of the stop's last impact, signed as its force")                                                       \
    K(LAW_LOSS, LAW, "loss", 1, OUTPUT, HARD, NOWHERE, NOTHING, STATE, "J", "J",                                      \
      "energy that impacts of the stop have taken since the start")                                                   \
    K(LAW_RESTED, LAW, "rested", 1, OUTPUT, HARD, NOWHERE, NOTHING, STATE, "s", "s",                                  \
      "time at which the last series of impacts ends at rest, -1 before the first one")                               \
    K(LAW_IMPACTS, LAW, "impacts", 1, COUNTER, HARD, NOWHERE, NOTHING, STATE, "", "",                                 \
      "impacts of the stop since the start")                                                                          \
    K(FR_LOAD, FRICTION, "load", 1, OUTPUT, EVERY, NOWHERE, MOTION, FRICTION, "N.m", "N",                             \
      "normal force of the friction, for a turning joint times its radius")                                           \
    K(ENERGY, MODEL, "solver.energy", 1, OUTPUT, EVERY, NOWHERE, WORLD, STATE, "J", "J",                              \
      "kinetic and potential energy of the model")                                                                    \
    K(POSITION_VIOLATION, MODEL, "solver.position_violation", 1, OUTPUT, EVERY, NOWHERE, WORLD, STATE, "", "",        \
      "largest constraint violation at position level [m or rad]")                                                    \
    K(VELOCITY_VIOLATION, MODEL, "solver.velocity_violation", 1, OUTPUT, EVERY, NOWHERE, WORLD, STATE, "", "",        \
      "largest constraint violation at velocity level [m/s or rad/s]")                                                \
    K(STEPS, MODEL, "solver.steps", 1, COUNTER, EVERY, NOWHERE, NOTHING, STATE, "", "",                               \
      "accepted integration steps")                                                                                   \
    K(IMPLICIT_STEPS, MODEL, "solver.implicit", 1, COUNTER, EVERY, NOWHERE, NOTHING, STATE, "", "",                   \
      "accepted steps of the implicit scheme")                                                                        \
    K(EVALUATED, MODEL, "solver.evaluations", 1, COUNTER, EVERY, NOWHERE, NOTHING, STATE, "", "",                     \
      "evaluations of accelerations in steps")                                                                        \
    K(REJECTED, MODEL, "solver.rejected", 1, COUNTER, EVERY, NOWHERE, NOTHING, STATE, "", "",                         \
      "rejected integration steps")                                                                                   \
    K(CORRECTIONS, MODEL, "solver.corrections", 1, COUNTER, EVERY, NOWHERE, NOTHING, STATE, "", "",                   \
      "corrections of constraint violations")                                                                         \
    K(ITERATIONS, MODEL, "solver.iterations", 1, COUNTER, EVERY, NOWHERE, NOTHING, STATE, "", "",                     \
      "iterations of these corrections")                                                                              \
    K(B_MASS, BODY, "mass", 1, TUNABLE, RIGID, PARAMETER, NOTHING, NOTHING, "kg", "kg",                               \
      "mass of the body")                                                                                             \
    K(B_INERTIA, BODY, "inertia", 6, TUNABLE, RIGID, PARAMETER, NOTHING, NOTHING, "kg.m2", "kg.m2",                   \
      "inertia about the centre of mass in body axes: xx yy zz xy xz yz")                                             \
    K(J_STIFFNESS, JOINT, "stiffness", 0, TUNABLE, SPRUNG, PARAMETER, NOTHING, NOTHING, "N.m/rad", "N/m",             \
      "stiffness of the joint's mode; of a matrix the diagonal, then the entries 12, 13, ..., 23, ...")               \
    K(J_DAMPING, JOINT, "damping", 0, TUNABLE, SPRUNG, PARAMETER, NOTHING, NOTHING, "N.m.s/rad", "N.s/m",             \
      "damping of the joint's mode; of a matrix the diagonal, then the entries 12, 13, ..., 23, ...")                 \
    K(J_REST, JOINT, "rest", 0, TUNABLE, RESTING, PARAMETER, NOTHING, NOTHING, "rad", "m",                            \
      "position at which the joint's spring exerts no force")                                                         \
    K(J_ROTOR, JOINT, "rotor_inertia", 0, TUNABLE, GEARED, PARAMETER, NOTHING, NOTHING, "kg.m2", "kg",                \
      "reflected inertia of the drive")                                                                               \
    K(S_STIFFNESS, SPRING, "stiffness", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "N/m", "N/m",                 \
      "stiffness of the spring")                                                                                      \
    K(S_DAMPING, SPRING, "damping", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "N.s/m", "N.s/m",                 \
      "damping of the spring")                                                                                        \
    K(S_FREE_LENGTH, SPRING, "free_length", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "m", "m",                 \
      "length at which the spring exerts no force")                                                                   \
    K(RO_STIFFNESS, ROPE, "stiffness", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "N", "N",                      \
      "stiffness EA of the rope: its tension per strain")                                                             \
    K(RO_DAMPING, ROPE, "damping", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "N.s", "N.s",                      \
      "damping of the rope: its tension per rate of strain")                                                          \
    K(RO_LENGTH, ROPE, "length", 1, TUNABLE, UNWOUND, PARAMETER, NOTHING, NOTHING, "m", "m",                          \
      "unstretched length of the rope, without what lies on pulleys at the start")                                    \
    K(RO_RADIUS, ROPE, "radius", 0, TUNABLE, REEVED, PARAMETER, NOTHING, NOTHING, "m", "m",                           \
      "radius of the rope's pulley")                                                                                  \
    K(M_RESISTANCE, MOTOR, "resistance", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "Ohm", "Ohm",                \
      "resistance of the motor")                                                                                      \
    K(M_INDUCTANCE, MOTOR, "inductance", 1, TUNABLE, INDUCTIVE, PARAMETER, NOTHING, NOTHING, "H", "H",                \
      "inductance of the motor")                                                                                      \
    K(M_CONSTANT, MOTOR, "constant", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "N.m/A", "N.m/A",                \
      "torque per current of the rotor, and voltage per its speed")                                                   \
    K(M_GEAR, MOTOR, "gear", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "", "rad/m",                             \
      "rate of the rotor over that of the joint")                                                                     \
    K(M_ROTOR, MOTOR, "rotor_inertia", 1, TUNABLE, ROTATING, PARAMETER, NOTHING, NOTHING, "kg.m2", "kg.m2",           \
      "inertia of the rotor")                                                                                         \
    K(M_VOLTAGE_LIMIT, MOTOR, "voltage_limit", 1, TUNABLE, CUT, PARAMETER, NOTHING, NOTHING, "V", "V",              \
      "largest voltage of the motor, in both directions")                                                             \
    K(M_CURRENT_LIMIT, MOTOR, "current_limit", 1, TUNABLE, CURBED, PARAMETER, NOTHING, NOTHING, "A", "A",             \
      "largest current of the motor, in both directions")                                                             \
    K(M_EFFICIENCY, MOTOR, "efficiency", 1, TUNABLE, LOSSY, PARAMETER, NOTHING, NOTHING, "", "",                      \
      "part of the power that the motor's gear passes on, in both directions")                                        \
    K(T_RATIO, GEAR, "ratio", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "", "",                                 \
      "rate of the first joint over that of the second")                                                              \
    K(T_OFFSET, GEAR, "offset", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "rad", "m",                           \
      "middle of the play: position of the first joint less ratio times that of the second")                          \
    K(T_BACKLASH, GEAR, "backlash", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "rad", "m",                       \
      "whole play of the teeth, as the first joint moves")                                                            \
    K(T_STIFFNESS, GEAR, "stiffness", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "N.m/rad", "N/m",               \
      "stiffness of the teeth at the first joint")                                                                    \
    K(T_DAMPING, GEAR, "damping", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "N.m.s/rad", "N.s/m",               \
      "damping of the teeth at the first joint, while they are pressed further")                                      \
    K(C_PHASE, COUPLING, "phase", 1, TUNABLE, CAMS, PARAMETER, NOTHING, NOTHING, "rad", "m",                          \
      "position of the cam at which its profile is that at 0")                                                        \
    K(C_OFFSET, COUPLING, "offset", 1, TUNABLE, CAMS, PARAMETER, NOTHING, NOTHING, "rad", "m",                        \
      "position of the cam's follower where the profile is 0")                                                        \
    K(C_SCALE, COUPLING, "scale", 1, TUNABLE, CAMS, PARAMETER, NOTHING, NOTHING, "", "",                              \
      "factor of the cam's profile")                                                                                  \
    K(CY_AREA_A, CYLINDER, "area_A", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "m2", "m2",                      \
      "area of the piston in chamber A")                                                                              \
    K(CY_AREA_B, CYLINDER, "area_B", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "m2", "m2",                      \
      "area of the piston in chamber B, without the rod")                                                             \
    K(CY_STROKE, CYLINDER, "stroke", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "m", "m",                        \
      "stroke of the piston, by which the volume of chamber B is counted")                                            \
    K(CY_CLOSED_LENGTH, CYLINDER, "closed_length", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "m", "m",          \
      "distance of the points at which the piston is at its lower end")                                               \
    K(CY_DEAD_VOLUME_A, CYLINDER, "dead_volume_A", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "m3", "m3",        \
      "volume of chamber A with its pipe at the lower end")                                                           \
    K(CY_DEAD_VOLUME_B, CYLINDER, "dead_volume_B", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "m3", "m3",        \
      "volume of chamber B with its pipe at the upper end")                                                           \
    K(CY_BULK_MODULUS, CYLINDER, "bulk_modulus", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "Pa", "Pa",          \
      "bulk modulus of the oil")                                                                                      \
    K(CY_LEAKAGE, CYLINDER, "leakage", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "m3/s.Pa", "m3/s.Pa",          \
      "flow from chamber A to B per difference of pressures")                                                         \
    K(CY_VAPOUR, CYLINDER, "vapour", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "Pa", "Pa",                      \
      "pressure below which the oil cavitates, above that of the surroundings")                                       \
    K(CY_RATED_FLOW, CYLINDER, "rated_flow", 1, TUNABLE, VALVED, PARAMETER, NOTHING, NOTHING, "m3/s", "m3/s",         \
      "flow through one edge of the valve fully open, at rated_drop")                                                 \
    K(CY_RATED_DROP, CYLINDER, "rated_drop", 1, TUNABLE, VALVED, PARAMETER, NOTHING, NOTHING, "Pa", "Pa",             \
      "pressure drop across one edge of the valve at rated_flow")                                                     \
    K(CY_SUPPLY, CYLINDER, "supply", 1, TUNABLE, VALVED, PARAMETER, NOTHING, NOTHING, "Pa", "Pa",                     \
      "pressure of the valve's supply")                                                                               \
    K(CY_TANK, CYLINDER, "tank", 1, TUNABLE, VALVED, PARAMETER, NOTHING, NOTHING, "Pa", "Pa",                         \
      "pressure of the valve's tank")                                                                                 \
    K(LAW_SCALE, LAW, "scale", 1, TUNABLE, SOFT, PARAMETER, NOTHING, NOTHING, "", "",                                \
      "factor of the force law")                                                                                      \
    K(LAW_BREAKAWAY, LAW, "breakaway", 1, TUNABLE, SOFT, PARAMETER, NOTHING, NOTHING, "", "",                         \
      "factor of the range of forces in which the law sticks")                                                        \
    K(LAW_RESTITUTION, LAW, "restitution", 1, TUNABLE, HARD, PARAMETER, NOTHING, NOTHING, "", "",                     \
      "restitution of the stop: what is left of the velocity after an impact")                                        \
    K(CT_STIFFNESS, CONTACT, "stiffness", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "", "",                     \
      "stiffness of the contact [N/m^exponent]")                                                                      \
    K(CT_EXPONENT, CONTACT, "exponent", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "", "",                       \
      "power of the overlap with which the force grows")                                                              \
    K(CT_DAMPING, CONTACT, "damping", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "s/m", "s/m",                   \
      "what a rate of the overlap adds to the force, as a part of it")                                                \
    K(CT_MU, CONTACT, "mu", 1, TUNABLE, RUBBED, PARAMETER, NOTHING, NOTHING, "", "",                                  \
      "coefficient of friction of a contact that slips")                                                              \
    K(CT_STATIC, CONTACT, "static", 1, TUNABLE, DRY, PARAMETER, NOTHING, NOTHING, "", "",                          \
      "coefficient of friction at rest")                                                                              \
    K(CT_STRIBECK, CONTACT, "stribeck", 1, TUNABLE, DRY, PARAMETER, NOTHING, NOTHING, "m/s", "m/s",                \
      "speed at which friction falls from the one to the other")                                                      \
    K(CT_RUB_STIFFNESS, CONTACT, "tangential_stiffness", 1, TUNABLE, BRUSHED, PARAMETER, NOTHING, NOTHING,            \
      "N/m", "N/m", "stiffness of the bristles")                                                                      \
    K(CT_RUB_DAMPING, CONTACT, "tangential_damping", 1, TUNABLE, DAMPED, PARAMETER, NOTHING, NOTHING,                \
      "N.s/m", "N.s/m", "damping of the bristles")                                                                    \
    K(CT_CREEP, CONTACT, "creep", 1, TUNABLE, CREEPING, PARAMETER, NOTHING, NOTHING, "m/s", "m/s",                    \
      "speed at which the friction is 0.707 of what it is at high speed")                                             \
    K(CT_ROLLING, CONTACT, "rolling_arm", 1, TUNABLE, ROLLING, PARAMETER, NOTHING, NOTHING, "m", "m",                 \
      "arm of the normal force against rolling")                                                                      \
    K(CT_DRILLING, CONTACT, "drilling_arm", 1, TUNABLE, ROLLING, PARAMETER, NOTHING, NOTHING, "m", "m",               \
      "arm of the normal force against turning about the normal")                                                     \
    K(CT_TURN_STIFFNESS, CONTACT, "turning_stiffness", 1, TUNABLE, ROLLING, PARAMETER, NOTHING, NOTHING,              \
      "N.m/rad", "N.m/rad", "stiffness of the bristles against rolling and drilling")                                 \
    K(CT_TURN_DAMPING, CONTACT, "turning_damping", 1, TUNABLE, ROLLING, PARAMETER, NOTHING, NOTHING,                  \
      "N.m.s/rad", "N.m.s/rad", "damping of these bristles")                                                          \
    K(CT_SLIP_STIFFNESS, CONTACT, "slip_stiffness", 2, TUNABLE, TYRED, PARAMETER, NOTHING, NOTHING, "N", "N",         \
      "force of the tyre for each unit of slip ahead, and aside")                                                     \
    K(CT_RELAXATION, CONTACT, "relaxation", 2, TUNABLE, TYRED, PARAMETER, NOTHING, NOTHING, "m", "m",                 \
      "way within which a change of the slip acts, ahead and aside")                                                  \
    K(FR_STATIC, FRICTION, "static", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "", "",                          \
      "coefficient of static friction")                                                                               \
    K(FR_KINETIC, FRICTION, "kinetic", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "", "",                        \
      "coefficient of kinetic friction")                                                                              \
    K(FR_STRIBECK, FRICTION, "stribeck", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "rad/s", "m/s",              \
      "Stribeck velocity")                                                                                            \
    K(FR_STIFFNESS, FRICTION, "stiffness", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "1/rad", "1/m",            \
      "stiffness of the bristles per normal force")                                                                   \
    K(FR_DAMPING, FRICTION, "damping", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "s/rad", "s/m",                \
      "damping of the bristles per normal force")                                                                     \
    K(FR_VISCOUS, FRICTION, "viscous", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "s/rad", "s/m",                \
      "viscous friction per normal force")                                                                            \
    K(FR_PRELOAD, FRICTION, "preload", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "N.m", "N",                    \
      "constant part of the normal force, for a turning joint times its radius")                                      \
    K(FR_SCALE, FRICTION, "scale", 1, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "", "",                            \
      "factor of all coefficients of the friction")                                                                   \
    K(GRAVITY, MODEL, "gravity", 3, TUNABLE, EVERY, PARAMETER, NOTHING, NOTHING, "m/s2", "m/s2",                      \
      "gravity in world axes")                                                                                        \
    K(SCHEME, MODEL, "solver.scheme", 1, CHOICE, EVERY, PARAMETER, NOTHING, NOTHING, "", "",                          \
      "integration scheme: " FM_SCHEME_METHODS)                                                                       \
    K(DYNAMICS, MODEL, "solver.dynamics", 1, FACT, EVERY, NOWHERE, NOTHING, NOTHING, "", "",                          \
      "formulation of the dynamics: 0 riccati, multipliers in the sweeps, 1 copcod, the reduced form")                \
    K(STEP, MODEL, "solver.step", 1, FIXED, EVERY, PARAMETER, NOTHING, NOTHING, "s", "s",                             \
      "longest step of the fixed-step scheme")                                                                        \
    K(EQUILIBRIUM, MODEL, "solver.equilibrium", 1, CHOICE, EVERY, PARAMETER, NOTHING, NOTHING, "", "",                \
      "where the motion starts: 0 at the start values, 1 at rest in the static equilibrium near them, 2 in "          \
      "that with released programs")                                                                                  \
    K(CORRECTION, MODEL, "solver.correction", 1, CHOICE, CLOSED, PARAMETER, NOTHING, NOTHING, "", "",                 \
      "how loops are kept closed: 0 direct correction, 1 Baumgarte's stabilisation, 2 not at all")                    \
    K(CLOSURE, MODEL, "solver.closure", 1, FIXED, CLOSED, PARAMETER, NOTHING, NOTHING, "", "",                        \
      "largest violation after the direct correction, relative to the model's length")                                \
    K(BAUMGARTE, MODEL, "solver.baumgarte", 2, FIXED, CLOSED, PARAMETER, NOTHING, NOTHING, "1/s", "1/s",              \
      "alpha and beta of Baumgarte's stabilisation: c'' + 2 alpha c' + beta^2 c = 0")                                 \
    K(DEFORMATION, MODEL, "solver.deformation", 1, TUNABLE, DEFORMED, PARAMETER, NOTHING, NOTHING, "", "",            \
      "rotation [rad] or strain, by one mode of a flexible body or in one element of a flexible link, above "         \
      "which a warning is given")                                                                                     \
    K(TOLERANCE, MODEL, "solver.tolerance", 1, FIXED, EVERY, PARAMETER, NOTHING, NOTHING, "", "",                     \
      "relative tolerance of the error control")                                                                      \
    G(G_Q, J_Q)                                                                                                       \
    G(G_QD, J_QD)                                                                                                     \
    G(G_QDD, J_QDD)                                                                                                   \
    K(G_QUAT, JOINT, "q", 4, INPUT, TURNING, QUATERNION, NOTHING, NOTHING, "", "",                                    \
      "quaternion w x y z of frame M in frame F, of any length but 0")                                                \
    G(G_W, J_W)                                                                                                       \
    G(G_ALPHA, J_ALPHA)                                                                                               \
    G(G_R, J_R)                                                                                                       \
    G(G_V, J_V)                                                                                                       \
    G(G_A, J_A)                                                                                                       \
    G(G_U, J_U)                                                                                                       \
    G(G_UDOT, J_UDOT)                                                                                                 \
    G(G_ETA, J_ETA)                                                                                                   \
    G(G_KAPPA, J_KAPPA)                                                                                               \
    K(G_KAPPA_DOT, JOINT, "kappa_dot", 0, INPUT, EXCITED, ACCELERATION, NOTHING, NOTHING, "rad/s2", "m/s2",           \
      "acceleration of the joint's excited mode")                                                                     \
    G(G_B_Q, B_Q)                                                                                                     \
    G(G_B_QD, B_QD)                                                                                                   \
    G(G_B_QDD, B_QDD)                                                                                                 \
    K(R_TAU, JOINT, "tau", 0, OUTPUT, TORQUED, NOWHERE, MOTION, GIVEN_MOTION, "N.m", "N",                             \
      "generalised torque of the joint's free mode that the motion takes")                                            \
    K(R_F, JOINT, "f", 0, OUTPUT, FORCED, NOWHERE, MOTION, GIVEN_MOTION, "N", "N",                                    \
      "generalised force of the joint's free mode that the motion takes")                                             \
    K(R_DRIVE, JOINT, "drive", 0, OUTPUT, EXCITED, NOWHERE, MOTION, GIVEN_MOTION, "N.m", "N",                         \
      "generalised force of the drive of the joint's excited mode that the motion takes")                             \
    K(R_B_F, BODY, "f", 0, OUTPUT, FLEXIBLE, NOWHERE, MOTION, GIVEN_MOTION, "N", "N",                                 \
      "generalised force on the flexible body's mode that the motion takes, 0 of a motion that "                      \
      "its elasticity makes")                                                                                         \
    K(R_L_FORCE, LOAD, "force", 3, OUTPUT, EVERY, NOWHERE, MOTION, GIVEN_MOTION, "N", "N",                            \
      "force of the load that the motion takes, in the load's axes")                                                  \
    K(R_L_TORQUE, LOAD, "torque", 3, OUTPUT, EVERY, NOWHERE, MOTION, GIVEN_MOTION, "N.m", "N.m",                      \
      "torque of the load that the motion takes, in the load's axes")

/* What parameters can be set to: B(kind, entries, lower, upper). Those that are not listed, and the entries of a matrix
 * beside its diagonal where `entries` is FM_DIAGONAL, lie within +-FM_LARGEST; a stiffness among them, as that of a
 * buckled spring is negative; those that are FM_NOT_ZERO are FM_LEAST or more away from zero. Numbers below DBL_MIN
 * count as zero, as in the core's floating-point mode; Integers are whole. The rules on several values: an inertia is
 * that of a solid, or a measured one (body_measured); the matrices of a joint have no negative eigenvalue; kinetic
 * friction is not above static friction (motion/rules.c). */
#define FM_LARGEST 1e100 /* squares, and products of three, do not overflow */
#define FM_LEAST 1e-100  /* of what divides */
#define FM_BOUNDS(B)                                                                     \
    B(B_MASS, FM_EACH, 0.0, FM_LARGEST)                                                  \
    B(B_INERTIA, FM_DIAGONAL, 0.0, FM_LARGEST)                                           \
    B(J_DAMPING, FM_DIAGONAL, 0.0, FM_LARGEST)                                           \
    B(J_ROTOR, FM_EACH, 0.0, FM_LARGEST)                                                 \
    B(S_DAMPING, FM_EACH, 0.0, FM_LARGEST)                                               \
    B(S_FREE_LENGTH, FM_EACH, 0.0, FM_LARGEST)                                           \
    B(RO_STIFFNESS, FM_EACH, FM_LEAST, FM_LARGEST)                                       \
    B(RO_DAMPING, FM_EACH, 0.0, FM_LARGEST)                                              \
    B(RO_LENGTH, FM_EACH, FM_LEAST, FM_LARGEST)                                          \
    B(RO_RADIUS, FM_EACH, FM_LEAST, FM_LARGEST)                                          \
    B(M_RESISTANCE, FM_EACH, FM_LEAST, FM_LARGEST)                                       \
    B(M_INDUCTANCE, FM_EACH, FM_LEAST, FM_LARGEST)                                       \
    B(M_CONSTANT, FM_EACH, 0.0, FM_LARGEST)                                              \
    B(M_ROTOR, FM_EACH, 0.0, FM_LARGEST)                                                 \
    B(M_VOLTAGE_LIMIT, FM_EACH, FM_LEAST, FM_LARGEST)                                    \
    B(M_CURRENT_LIMIT, FM_EACH, FM_LEAST, FM_LARGEST)                                    \
    B(M_EFFICIENCY, FM_EACH, FM_LEAST, 1.0)                                              \
    B(T_RATIO, FM_NOT_ZERO, -FM_LARGEST, FM_LARGEST)                                     \
    B(T_BACKLASH, FM_EACH, 0.0, FM_LARGEST)                                              \
    B(T_STIFFNESS, FM_EACH, FM_LEAST, FM_LARGEST)                                        \
    B(T_DAMPING, FM_EACH, 0.0, FM_LARGEST)                                               \
    B(C_SCALE, FM_NOT_ZERO, -FM_LARGEST, FM_LARGEST)                                     \
    B(CY_AREA_A, FM_EACH, FM_LEAST, FM_LARGEST)                                          \
    B(CY_AREA_B, FM_EACH, FM_LEAST, FM_LARGEST)                                          \
    B(CY_STROKE, FM_EACH, FM_LEAST, FM_LARGEST)                                          \
    B(CY_CLOSED_LENGTH, FM_EACH, 0.0, FM_LARGEST)                                        \
    B(CY_DEAD_VOLUME_A, FM_EACH, FM_LEAST, FM_LARGEST)                                   \
    B(CY_DEAD_VOLUME_B, FM_EACH, FM_LEAST, FM_LARGEST)                                   \
    B(CY_BULK_MODULUS, FM_EACH, FM_LEAST, FM_LARGEST)                                    \
    B(CY_LEAKAGE, FM_EACH, 0.0, FM_LARGEST)                                              \
    B(CY_RATED_FLOW, FM_EACH, FM_LEAST, FM_LARGEST)                                      \
    B(CY_RATED_DROP, FM_EACH, FM_LEAST, FM_LARGEST)                                      \
    B(CT_STIFFNESS, FM_EACH, FM_LEAST, FM_LARGEST)                                       \
    B(CT_EXPONENT, FM_EACH, 1.0, 10.0)                                                   \
    B(CT_DAMPING, FM_EACH, 0.0, FM_LARGEST)                                              \
    B(CT_MU, FM_EACH, 0.0, FM_LARGEST)                                                   \
    B(CT_STATIC, FM_EACH, 0.0, FM_LARGEST)                                               \
    B(CT_STRIBECK, FM_EACH, FM_LEAST, FM_LARGEST)                                        \
    B(CT_RUB_STIFFNESS, FM_EACH, FM_LEAST, FM_LARGEST)                                   \
    B(CT_RUB_DAMPING, FM_EACH, FM_LEAST, FM_LARGEST)                                     \
    B(CT_CREEP, FM_EACH, FM_LEAST, FM_LARGEST)                                           \
    B(CT_ROLLING, FM_EACH, 0.0, FM_LARGEST)                                              \
    B(CT_DRILLING, FM_EACH, 0.0, FM_LARGEST)                                             \
    B(CT_TURN_STIFFNESS, FM_EACH, FM_LEAST, FM_LARGEST)                                  \
    B(CT_TURN_DAMPING, FM_EACH, FM_LEAST, FM_LARGEST)                                    \
    B(CT_SLIP_STIFFNESS, FM_EACH, FM_LEAST, FM_LARGEST)                                  \
    B(CT_RELAXATION, FM_EACH, FM_LEAST, FM_LARGEST)                                      \
    B(LAW_SCALE, FM_EACH, 0.0, FM_LARGEST)                                               \
    B(LAW_BREAKAWAY, FM_EACH, 1.0, FM_LARGEST)                                           \
    B(LAW_RESTITUTION, FM_EACH, 0.0, 1.0)                                                \
    B(FR_STATIC, FM_EACH, FM_LEAST, FM_LARGEST)                                          \
    B(FR_KINETIC, FM_EACH, FM_LEAST, FM_LARGEST)                                         \
    B(FR_STRIBECK, FM_EACH, FM_LEAST, FM_LARGEST)                                        \
    B(FR_STIFFNESS, FM_EACH, FM_LEAST, FM_LARGEST)                                       \
    B(FR_DAMPING, FM_EACH, 0.0, FM_LARGEST)                                              \
    B(FR_VISCOUS, FM_EACH, 0.0, FM_LARGEST)                                              \
    B(FR_PRELOAD, FM_EACH, 0.0, FM_LARGEST)                                              \
    B(FR_SCALE, FM_EACH, 0.0, FM_LARGEST)                                                \
    B(SCHEME, FM_EACH, 0.0, FM_SCHEME_COUNT - 1)                                         \
    B(STEP, FM_EACH, FM_LEAST, FM_LARGEST)                                               \
    B(EQUILIBRIUM, FM_EACH, 0.0, 2.0)                                                    \
    B(CORRECTION, FM_EACH, 0.0, 2.0)                                                     \
    B(CLOSURE, FM_EACH, 1e-16, 0.01)                                                     \
    B(BAUMGARTE, FM_EACH, 0.0, 1e9)                                                      \
    B(TOLERANCE, FM_EACH, 1e-14, 0.1)                                                    \
    B(DEFORMATION, FM_EACH, FM_LEAST, FM_LARGEST)

/* The kinds that are time derivatives of others, component by component: R(kind, its derivative). */
#define FM_RATES(R)                                                                      \
    R(J_Q, J_QD) R(J_QD, J_QDD) R(J_W, J_ALPHA) R(J_R, J_V) R(J_V, J_A) R(J_U, J_UDOT)   \
    R(J_ETA, J_KAPPA) R(J_KAPPA, J_KAPPA_DOT)                                            \
    R(B_R, B_V) R(B_V, B_A) R(B_W, B_ALPHA) R(B_Q, B_QD) R(B_QD, B_QDD)                  \
    R(P_R, P_V) R(P_V, P_A)

typedef enum fm_bounded { FM_EACH, FM_DIAGONAL, FM_NOT_ZERO } fm_bounded;

typedef enum fm_owner {
    FM_MODEL,
#define O(id, one, all) FM_##id,
    FM_OWNERS(O)
#undef O
        FM_OWNER_COUNT
} fm_owner;

typedef enum fm_kind_id {
#define K(id, ...) FM_##id,
#define G(id, like) FM_##id,
    FM_KINDS(K, G)
#undef K
#undef G
        FM_KIND_COUNT,
    FM_FIRST_INVERSE = FM_G_Q
} fm_kind_id;

#endif
