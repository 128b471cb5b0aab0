/* builder.h: a graph while it is built, on the heap. */
#ifndef FM_BUILDER_H
#define FM_BUILDER_H

#include "graph.h"

FM_HIDDEN_BEGIN

/* Places of a link's motion in the world, and of the wrench at its origin that it takes with all links after it. */
typedef struct fm_link_slots {
    int32_t R, r, w, v, alpha, a;
    int32_t axis; /* of a joint of one freedom; of a ball the axes of its velocities */
    int32_t arm;  /* from the parent's origin; none: they coincide */
    int32_t wrench; /* none so far */
    int32_t size; /* of its quaternion, the product of those of the balls before it; none: 1 */
    int32_t theta, x, c2; /* of a frame on a flexible body: its rotation vector, its square, and c_2, c_3 of it */
    int32_t c3, modes;    /* of a flexible body: the forces on its modes, none so far */
    int32_t resisted;     /* of a ball: the torque of its spring and damper less what else acts along its axes */
} fm_link_slots;

/* A vector and its first two derivatives; the second one of a place is less gravity, which drops out of differences. */
typedef struct fm_moving {
    int32_t at, rate, second;
} fm_moving;

/* The line between two points, from P to Q: its length, and how fast that grows. */
typedef struct fm_line_slots {
    int32_t length, speed;
} fm_line_slots;

/* Of a link of several screws, in the axes of its frame in the parent, R: its matrix of free screws, the columns of all
 * by turn and slide, rates, and which screw has which position. */
typedef struct fm_general_slots {
    int32_t R, matrix, turn[FM_JOINT_MODES], slide[FM_JOINT_MODES], rate[FM_JOINT_MODES];
} fm_general_slots;

/* Of a joint. */
typedef struct fm_cut_output {
    fm_moving between;     /* M's origin from F's */
    int32_t p, u;          /* positions and velocities; none: it has none */
    int32_t along, spin;   /* of a pin: axis, relative angular velocity; none: no pin */
    int32_t F, M, place;   /* of others: F's and M's axes, M's place in F */
    int32_t force, torque; /* of the rows on M at M */
    int32_t applied[2];    /* the torque and force of inputs, springs, dampers and friction beside */
} fm_cut_output;

typedef struct fm_friction_slots {
    int32_t load, slip, force[3];
} fm_friction_slots;

typedef struct fm_motor_slots {
    int32_t voltage, current, torque;
} fm_motor_slots;

typedef struct fm_gear_slots {
    int32_t position, force;
} fm_gear_slots;

/* Of a cylinder: the line, where the piston is, its force; of each chamber volume, pressure and flow. */
typedef struct fm_cylinder_slots {
    fm_line_slots line;
    int32_t x, force, volume[2], pressure[2], flow[2];
} fm_cylinder_slots;

/* Of a spot of a contact: the axes in which bristles are held; in the world's the normal, where it is, the gap and
 * its rate; how A turns in B, moves at its centre past B, and its z; slip and speed; N, friction less its sign, the
 * force on A; moments against rolling and drilling; the forces of a tyre's tread. */
typedef struct fm_spot_slots {
    int32_t held, n, at, gap, rate, turn, ahead, axis, slip, speed, normal, rub, force, moment[2], tread[2];
} fm_spot_slots;

/* A side of a rope as fm_side (forces/sides.h) has it; its tension and what a pulley takes beside, 0 while it is
 * slack. */
typedef struct fm_side_slots {
    int32_t length, rate, own, own_rate, tension, winding;
} fm_side_slots;

/* A span of a rope's side: its length, its slope in world axes and its rate; the link and place of its end, with the
 * arm there, and its base's link. */
typedef struct fm_span_slots {
    int32_t length, slope, rate, end, r, arm, base;
} fm_span_slots;

/* What builders leave for others: A(type, name, number of elements), m the image. */
#define FM_BUILDER_ARRAYS(A)                                                                                         \
    A(fm_link_slots, links, m->n.links + 1)       /* the ground first */                                             \
    A(fm_general_slots, general, m->n.generals)                                                                      \
    A(fm_line_slots, spring, m->n.springs)                                                                           \
    A(int32_t, pull, m->n.springs)                /* of each spring */                                               \
    A(fm_line_slots, actuator, m->n.actuators)                                                                       \
    A(fm_motor_slots, motor, m->n.motors)                                                                            \
    A(fm_gear_slots, gear, m->n.gears)                                                                               \
    A(fm_cylinder_slots, cylinder, m->n.cylinders)                                                                   \
    A(fm_spot_slots, spot, m->n.spots)                                                                               \
    A(fm_side_slots, side, m->n.sides)                                                                               \
    A(fm_span_slots, span, m->n.vias)             /* from each place of a side to the next */                        \
    A(fm_cut_output, cut, m->n.joints)                                                                               \
    A(int32_t, law, m->n.laws)                    /* the force of each */                                            \
    A(fm_friction_slots, friction, m->n.frictions)                                                                   \
    A(int32_t, bent, m->n.joints)                 /* of each with a spring on its rotation vector, this */           \
    A(int32_t, ratio, m->n.terms)                 /* of each term of a coupling, at the present state */             \
    A(int32_t, applied, m->n.modes)               /* the force on each mode beside its spring and damper */          \
    A(int32_t, rotor, m->n.modes)                 /* the inertia of its drive, with those of motors */

typedef struct fm_builder {
    const fm_image *m;
    const fm_model *model;
    fm_graph *g;
#define A(type, name, count) type *name;
    FM_BUILDER_ARRAYS(A)
#undef A
    fm_link_slots *link; /* link[-1] is the ground */
    size_t node_room, value_room;
    int32_t zero, identity; /* a vector, or a wrench; a rotation */
    int32_t failed;         /* 1: no memory */
} fm_builder;

/* A point fixed in a link, -1 the ground: its place, velocity and acceleration (less gravity) in the world. */
typedef struct fm_point_slots {
    int32_t r, v, a, arm;
} fm_point_slots;

FM_HIDDEN_END

#endif
