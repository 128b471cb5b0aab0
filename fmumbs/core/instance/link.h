/* link.h: a link's parameters as the sweeps read them, and their results.
 *
 * The sweeps are the Riccati transformation of the transfer matrix method: at each section, Lambda = S z + e, where
 * Lambda is the wrench that the parent exerts and z the acceleration; S is the articulated-body inertia and e the bias
 * force of Featherstone's algorithm.
 */
#ifndef FM_LINK_H
#define FM_LINK_H

#include "../image/image.h"

FM_HIDDEN_BEGIN

#define FM_SWEEP_ENDS (-2) /* slot of a root before which there is no link, or a planar tree: the inward sweep ends */

/* A link, computed from the image and the tunable parameters. */
typedef struct fm_link {
    int8_t kind;
    int8_t chained;       /* link + 1 is a child of this one */
    int8_t rotated;       /* its rotation at zero is not the identity */
    int8_t root;          /* its parent is the ground */
    int8_t first_in_slot; /* 1: first child that writes its parent's slot */
    int8_t along;         /* the axis that r is parallel to, 3: none */
    int8_t mirror;        /* 1: only the upper triangle of the inertia that arrives at this ball is set */
    int32_t parent, p, u;
    int32_t pending; /* slot that sums the contributions of its other children, -1: none */
    int32_t slot; /* its parent's slot for its S and e; -1: passed on directly, or a root; or FM_SWEEP_ENDS */
    int32_t nth;  /* index of a ball, or of a general link */
    double sign;
    double pitch, slide; /* rotation about the axis [1] and translation along it [m] per unit of u */
    double rotor; /* inertia of the drive of a screw; in an evaluation of stiffness.c, R of any one-freedom joint or
                     ball too */
} fm_link;

/* A link as a rigid body; the sweeps read the lanes, which have the same. */
typedef struct fm_rigid {
    double r[3]; /* origin in the parent's axes, from the parent's origin, at zero */
    double m, h[3], J[6]; /* mass, first moment, inertia about the origin: xx xy xz yy yz zz; deformed (modal.c) */
} fm_rigid;

/* A link that rotates by an angle, as orientations read it. */
typedef struct fm_angle {
    double factor; /* signed angle per unit of p */
    int32_t link, p;
} fm_angle;

typedef struct fm_turn {
    double c, s; /* cosine and sine, of the signed angle */
} fm_turn;

/* What the outward sweep reads of the inward one's results, in each link, and D. */
typedef struct fm_projected {
    double bias[3]; /* bias (velocity-product) angular acceleration, link axes [rad/s2] */
    double U[6], g; /* U = S phi over the pivot; the part of udot that is independent of the parent */
    double D;       /* reciprocal of the pivot phi' S phi */
} fm_projected;

/* Results of the sweeps in each link. Of a planar tree, fm_planar_expand sets them, both biases, w and fm_inertial,
 * and fm_make_world sets fm_turn; U, g and D are never set. */
typedef struct fm_motion {
    double alpha[3]; /* angular acceleration, link axes [rad/s2] */
    double a[3];     /* acceleration of the origin less gravity, link axes [m/s2] */
} fm_motion;

/* Quantities local to a link are stored in lanes, FM_LANE_WIDTH links side by side, so that one instruction serves
 * several links: L(name, numbers). */
#define FM_LANES(L)                                                                                 \
    L(w, 3)    /* angular velocity, link axes */                                                    \
    L(r, 3)    /* origin in the parent's axes, from the parent's origin */                          \
    L(m, 1)    /* mass */                                                                           \
    L(h, 3)    /* first moment */                                                                   \
    L(J, 6)    /* inertia about the origin: xx xy xz yy yz zz */                                    \
    L(bias, 3) /* bias (velocity-product) acceleration of the origin, parent's axes */

#define FM_LANE_WIDTH 8 /* links side by side */

typedef struct fm_lanes {
#define L(name, count) double name[count][FM_LANE_WIDTH];
    FM_LANES(L)
#undef L
} fm_lanes;

/* The inertial wrench of a link at zero acceleration, about its origin, link axes, as the lanes. */
typedef struct fm_inertial {
    double torque[3][FM_LANE_WIDTH], force[3][FM_LANE_WIDTH];
} fm_inertial;

/* A link as the sweeps over revolutes and balls read it, in half a cache line. */
typedef struct fm_brief {
    int8_t kind, chained, root, along, mirror; /* as in fm_link */
    int8_t collects; /* 1: other children than the next link contribute */
    int8_t stores;   /* 1: S and e go to the parent's slot; -1: the inward sweep ends */
    int8_t follows; /* 1: its parent, and that of each link between it and the first of its lanes, is the link before */
    int32_t parent, u, nth;
    double sign;
} fm_brief;

/* Links with a general orientation: rotation from link axes to parent axes. */
typedef struct fm_axes {
    double R[9];
    double R0[9]; /* the same at zero */
} fm_axes;

/* Balls, in rows of four. */
typedef struct fm_ball {
    double T[3][4]; /* transposed rotation, one axis a row */
    double W[3][4]; /* J^-1 H, for the outward sweep */
    double factor[6]; /* J = L D L': reciprocals of D, then L's entries 10, 20, 21 */
} fm_ball;

/* x <- (L D L')^-1 x by a ball's factor. */
static inline void fm_ball_solve(const double factor[6], double x[3])
{
    const double y1 = x[1] - factor[3] * x[0], y2 = (x[2] - factor[4] * x[0]) - factor[5] * y1;
    x[2] = y2 * factor[2];
    x[1] = y1 * factor[1] - factor[5] * x[2];
    x[0] = (x[0] * factor[0] - factor[3] * x[1]) - factor[4] * x[2];
}

/* Degrees of freedom that are eliminated together (group.c). */
typedef struct fm_group {
    int32_t n, width; /* how many; row stride of L */
    double (*U)[6], *L; /* wrench of each; S_qq in its lower triangle, then its factor */
    double *D, *g; /* reciprocals of the pivots; the part of udot that does not depend on the parent's acceleration */
} fm_group;

/* Links of several screws (general.c); free modes first, then excited ones. */
typedef struct fm_general {
    int32_t link, first, screws; /* its screws in the image */
    int32_t rows, free, speeds; /* free screws, free modes, all modes */
    int32_t after; /* screws before the axes of the velocity rows */
    int32_t place[FM_JOINT_MODES]; /* position variable of each screw, */
    double unit[FM_JOINT_MODES]; /* and the unit of each free one: 1 rad or the model's length */
    const double *row;
    double tail[3];
    double c[8], s[8]; /* of each screw's angle */
    double R[FM_JOINT_MODES][9], r[FM_JOINT_MODES][3]; /* pose in the screw before */
    double rows_R[9]; /* rotation from link axes to the axes of the rows */
    double J[FM_JOINT_MODES][6], inverse[FM_JOINT_MODES][FM_JOINT_MODES], Y[FM_JOINT_MODES][FM_JOINT_MODES];
    double phi[FM_JOINT_MODES][6]; /* modes: angular velocity and velocity at M, link axes */
    double v[6], bias[6]; /* velocity relative to the parent, bias acceleration */
    double U[FM_JOINT_MODES][6], L[FM_JOINT_MODES][FM_JOINT_MODES], D[FM_JOINT_MODES]; /* phi' S phi = L / D L' */
    double g[FM_JOINT_MODES]; /* the part of udot that does not depend on the parent; prescribed ones after the free */
    double stiffness[FM_JOINT_MODES][FM_JOINT_MODES],
        damping[FM_JOINT_MODES][FM_JOINT_MODES]; /* of u, for the implicit scheme */
    fm_group group;
} fm_general;

/* How a frame on a flexible body turns with its modes (bend.c). */
typedef struct fm_bend {
    const double
        *start; /* of each shape: translation [1], rotation vector [rad/m], in the axes of the floating frame */
    const double *rows; /* of each mode at the present shape of the body: start, or `now` if some are of second order */
    double *now;
    double *turn; /* of each mode: angular velocity at its unit rate, in these axes [rad/m] */
    double moved[6], theta[3], x, a, b, da, db; /* moved: translation and theta */
    int32_t planar; /* 1: all modes turn it about z */
} fm_bend;

/* Flexible bodies (modal.c), in the axes of their link, the floating frame. */
typedef struct fm_modal {
    int32_t link, n, all, first; /* number of modes, and of shapes, the first in the image */
    const double *pair_mass, *pair_stiffness, *pair_damping, *pair_product; /* (all, all) each */
    const double *follower; /* (all - n, n, n) C of each coordinate of second order */
    const double *mass; /* (n, n): modal mass at the present shape: pair_mass, or `mass_now` */
    double *mass_now;
    const struct fm_bend *base; /* frame on the body that carries it, NULL: that does not move in it */
    double J0[6], h0[3], p0[3]; /* inertia, first moment and that frame's origin, undeformed */
    double r0[3]; /* that origin in the parent link */
    double p[3]; /* and in the floating frame, deformed */
    double bent[FM_BODY_MODES + FM_BODY_SECONDS]; /* coordinates of all shapes, */
    double lean[FM_BODY_SECONDS][FM_BODY_MODES]; /* and what those of second order follow of each rate */
    double N[FM_BODY_MODES + FM_BODY_SECONDS][9]; /* integrals of r phi' of all shapes at the present one */
    double own[FM_BODY_MODES + FM_BODY_SECONDS][6]; /* torque and force of a unit modal acceleration; of second order
                                                       those of the shapes by themselves */
    double phi[FM_BODY_MODES][6]; /* velocity of the link relative to its parent per modal velocity */
    double v[3], bias[3]; /* relative velocity, and bias acceleration, of its origin */
    double M[FM_BODY_MODES][FM_BODY_MODES],
        f[FM_BODY_MODES + FM_BODY_SECONDS]; /* S_qq, lower triangle, and f during the inward sweep */
    double U[FM_BODY_MODES][6], L[FM_BODY_MODES][FM_BODY_MODES], D[FM_BODY_MODES], g[FM_BODY_MODES];
    fm_group group;
} fm_modal;

/* Articulated-body inertia and bias force at a section: torque and force = S (angular acceleration, acceleration) + e,
 * about the section's point. S = [J H; H' M]: J, M upper triangles (all of M if a ball follows); e = (n, f). Padded to
 * rows of four. */
typedef struct fm_articulated {
    double J[3][3], n[3], H[3][4], M[3][4], f[4];
} fm_articulated;

/* World kinematics of a link, computed on demand. */
typedef struct fm_world {
    double R[9], r[3], w[3], v[3];
} fm_world;

/* Wrench directions along a joint's modes (reactions.c): torques, then forces; A = Phi' B. */
typedef struct fm_dual {
    int32_t n, turning;
    double along[FM_JOINT_MODES][3], A[FM_JOINT_MODES][FM_JOINT_MODES];
    double unit[FM_JOINT_MODES], length; /* of each mode, 1 rad or the model's length; that length */
} fm_dual;

/* Element counts for the tables of arrays. */
typedef struct fm_counts {
    uint64_t links, speeds, modes, ny, inputs, joints, balls, generals, modals, shapes, shape_pairs, frames,
        frame_shapes, followers;
    uint64_t reversed, reversed_speeds; /* ny and speeds if there are balls of joints traversed from M to F, else 0 */
    uint64_t required; /* inputs where the motion is given (motion/required.c), else 0 */
    uint64_t actuators, acting; /* of such a motion in loops (motion/actuated.c); 1: there are some */
    uint64_t planars, plane_blocks; /* planar links, and blocks of FM_PLANE_WIDTH of them */
    uint64_t plane_loops; /* 1: there are loops in a plane */
    uint64_t state; /* doubles of the state */
    uint64_t closed; /* 1: there are constraint rows */
    uint64_t placed; /* modes, then free screws of general links */
    uint64_t rows, blocks, paths, columns, factor, cut_positions, cut_joints, cut_modes, units, vias;
    uint64_t laws, held, struck /* at most: stops with a restitution */, compliances, small, krylov;
    uint64_t dense, dense_rows, dense_bristles; /* of the systems of radau_small.c, or 0 */
    uint64_t frictions, friction_modes, bristles, controls,
        owned; /* friction_modes: modes if there is friction, else 0 */
    uint64_t owning, passing; /* 1: some friction is owned; that, or there are constraint rows */
    uint64_t own_pieces; /* pieces of force laws if there are gears or motors, else 0 */
    uint64_t spots, spotted; /* of contacts; 1: there are some */
    uint64_t stateful; /* speeds if some force element has own states, else 0 */
    uint64_t reduced; /* 1: the reduced formulation is asked for */
    uint64_t weighed; /* 1: the mass matrix is needed as a whole, for it or for radau_small.c */
    uint64_t graph; /* values of the graph of exact derivatives (adjoint/graph.h), or 0 */
    uint64_t graph_nodes, graph_inner, graph_room; /* its nodes and values before those of outputs, references in its
                                                    * lists, or 0 */
    uint64_t conditions; /* of that graph */
    uint64_t matrix, matrix_columns,
        profile; /* statics/matrix.c: speeds, entries of J, entries below the diagonal; or 0 */
    uint64_t independent, following; /* 1: states of a host are independent; unknowns that follow from them */
    uint64_t realised, driven, opposed,
        internal; /* drives of programs; 1: there are some; in the reduced form; speeds for their check */
} fm_counts;

/* The arrays of the tree: A(type, name, number of elements), n an fm_counts. */
#define FM_TREE_ARRAYS(A)                                                                                          \
    A(fm_link, link, n.links)                                                                                      \
    A(fm_rigid, rigid, n.links)                                                                                    \
    A(double, rotor, n.speeds)        /* inertia of the drives of each velocity variable */                        \
    A(double, pivot, 2 * n.links)     /* by fm_kernels_checked: 1 / pivot (of a ball the least), its reference size */ \
    A(fm_turn, turn, n.links)                                                                                      \
    A(fm_projected, projected, n.links)                                                                            \
    A(fm_motion, motion, n.links)                                                                                  \
    A(fm_brief, brief, n.links)                                                                                    \
    A(fm_inertial, inertial, n.links / FM_LANE_WIDTH + 1)                                                          \
    A(fm_lanes, lane, n.links / FM_LANE_WIDTH + 1)                                                                 \
    A(fm_axes, axes,   n.links)                                                                                  \
    A(fm_ball, ball, n.balls)                                                                                      \
    A(fm_general, general, n.generals)                                                                             \
    A(fm_modal, modal, n.modals)                                                                                   \
    A(fm_bend, bend, n.frames) /* frames on flexible bodies */                                                     \
    A(double, frame_turn, 3 * n.frame_shapes) /* their columns (bend.c) */                                         \
    A(double, frame_now, n.followers > 0 ? 6 * n.frame_shapes : 0) /* their rows at the present shape */           \
    A(double, mass_now, n.followers > 0 ? n.shape_pairs : 0) /* modal masses at the present shape */               \
    A(fm_world, world, n.links)                                                                                    \
    A(double, quaternion, 4 * n.links) /* of each link in the world, computed on demand */                         \
    A(fm_articulated, pending, n.links / 2 + 1) \
    A(fm_angle, angle, n.links)       /* links that rotate by an angle, those of the spatial sweeps first */       \
    A(int32_t, ball_link, n.links)    /* ascending: ball b belongs to link ball_link[b] */                         \
    A(int32_t, slide_link, n.links)   /* links that translate, in the same order */                                \
    A(int32_t, range, 2 * (n.links / 2 + 1)) /* [first, end) of consecutive links in the spatial sweeps */          \
    A(int32_t, in_loop, n.links)      /* 1: a constraint row depends on the joint's position */                      \
    A(double, wrench, 6 * n.links)    /* wrench that the parent exerts, link axes, at its origin */                \
    A(double, scale, n.ny)     /* unit of each state variable, and of its rates: 1 rad, or the model's length */ \
    A(int32_t, order, n.ny)    /* which derivative by time it is: 0 a position, 1 a velocity; more of a target */ \
    A(int32_t, reversed_ball, n.balls) /* the balls of joints that are traversed from M to F */                    \
    A(double, linked, n.reversed)     /* y and applied forces in the links' own direction, if there are such balls */ \
    A(double, linked_tau, n.reversed_speeds)

FM_HIDDEN_END

#endif
