/* peer.h: what every peer answers, so that all of them are timed by the same caller in the same way.
 *
 * A tree of rigid bodies, each hung from its parent by one joint at its own frame's origin; loops of it are closed
 * by holding a point of one body at a point of another. Angles and
 * velocities are flat, joint after joint: a revolute has one position and one velocity, a ball joint the
 * quaternion w x y z of body in parent, and the angular velocity [rad/s], torque [N.m] and angular
 * acceleration [rad/s2] in the body's axes.
 */
#ifndef PEER_H
#define PEER_H

#include <stdint.h>

enum peer_joint { PEER_REVOLUTE_X, PEER_REVOLUTE_Y, PEER_REVOLUTE_Z, PEER_BALL };

typedef struct peer_tree {
    int32_t bodies;
    const int32_t *parent; /* (bodies,) index of the parent, which comes first; -1 the ground */
    const int32_t *joint;  /* (bodies,) peer_joint */
    const double *hinge;   /* (bodies, 3) the joint's place on the parent, parent's axes [m] */
    const double *com;     /* (bodies, 3) centre of mass, body's axes [m] */
    const double *mass;    /* (bodies,) [kg] */
    const double *inertia; /* (bodies, 3) principal moments about the centre of mass [kg.m2] */
    int32_t loops;
    const int32_t *closing; /* (loops, 2) indices of two bodies; -1 the ground */
    const double *point;    /* (loops, 2, 3) the point of each, its body's axes [m] */
    double gravity[3];      /* [m/s2] */
} peer_tree;

typedef struct peer peer;

#ifdef __cplusplus
extern "C" {
#endif

/* `variant`: which of the peer's algorithms, from 0. NULL when the peer cannot hold the tree. */
peer *peer_open(const peer_tree *tree, int32_t variant);
void peer_close(peer *p);
void peer_set(peer *p, const double *position, const double *velocity, const double *torque);
/* Computes the accelerations `times` times. */
void peer_evaluate(peer *p, int64_t times);
void peer_accelerations(const peer *p, double *acceleration);

#ifdef __cplusplus
}
#endif

#endif
