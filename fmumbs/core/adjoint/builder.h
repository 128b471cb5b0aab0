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
    int32_t force, torque; /* none so far */
    int32_t size; /* of its quaternion, the product of those of the balls before it; none: 1 */
    int32_t theta, x, c2; /* of a frame on a flexible body: its rotation vector, its square, and c_2, c_3 of it */
    int32_t c3, modes;    /* of a flexible body: the forces on its modes, none so far */
} fm_link_slots;

/* A vector and its first two derivatives; the second one of a place is less gravity, which drops out of differences. */
typedef struct fm_moving {
    int32_t at, rate, second;
} fm_moving;

typedef struct fm_builder {
    const fm_image *m;
    const fm_model *model;
    fm_graph *g;
    fm_link_slots *link; /* link[-1] is the ground */
    struct fm_spring_slots {
        int32_t length, pull;
    } *spring;
    struct fm_cut_output {
        fm_moving between;     /* M's origin from F's */
        int32_t p, u;          /* positions and velocities; none: it has none */
        int32_t along, spin;   /* of a pin: axis, relative angular velocity; none: no pin */
        int32_t F, M, place;   /* of others: F's and M's axes, M's place in F */
        int32_t force, torque;      /* of the rows on M at M */
        int32_t applied[2];    /* the torque and force of inputs, springs, dampers and friction beside */
    } *cut; /* of each joint */
    int32_t *law; /* the force of each */
    struct fm_friction_slots {
        int32_t load, slip, force[3];
    } *friction;
    int32_t *bent;    /* of each joint with a spring on its rotation vector, this */
    int32_t *applied; /* the force on each mode beside its spring and damper: the input, laws and friction */
    size_t node_room, value_room;
    int32_t zero, identity; /* a vector, a rotation */
    int32_t failed;         /* 1: no memory */
} fm_builder;

/* A point fixed in a link, -1 the ground: its place, velocity and acceleration (less gravity) in the world. */
typedef struct fm_point_slots {
    int32_t r, v, a, arm;
} fm_point_slots;

FM_HIDDEN_END

#endif
