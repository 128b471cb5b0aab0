/* link.h: what the sweeps read of a link, and what they leave there. */
#ifndef FM_LINK_H
#define FM_LINK_H

#include "../image/image.h"

FM_HIDDEN_BEGIN

#define FM_LEAVES_LAST (-2) /* a root at which the sweep from the tips ends: no other, or a planar tree, is before it */

/* A link as the sweeps read it: three cache lines, made from the image and the tunable parameters. */
typedef struct fm_link {
    int32_t kind, parent, p, u;
    int32_t chained; /* link + 1 is a child of this one */
    int32_t pending; /* slot where its other children wait, -1: none */
    int32_t turned;  /* R is not the identity */
    int32_t root;    /* hangs on the ground */
    int32_t leaves;  /* slot of its parent where its cut waits, -1: handed on at once, or root; FM_LEAVES_LAST */
    int32_t opens;   /* the first to come there */
    int32_t along;   /* the axis that r lies along, 3: none */
    int32_t ball;    /* of a ball: which */
    int32_t mirror;  /* of a ball: what arrives is an upper triangle */
    int32_t general; /* of a general link: which */
    double sign;
    double r[3];
    double m, h[3], J[6]; /* mass, first moment, inertia about the origin, as in the lanes; bent as it is (modal.c) */
    double pitch, slide;  /* rotation about the axis and slide along it per unit of u */
    double rotor;
} fm_link;

/* What the sweeps leave in each link. In a planar tree c and s are there after fm_make_world, turn, alpha and a (and the
 * lanes w, carrier, torque, force and lift) after fm_planar_expand, U, g and D never. */
typedef struct fm_motion {
    double c, s;      /* cosine and sine, of the signed angle */
    double turn[3];   /* velocity product of the angular acceleration, link's axes */
    double alpha[3];  /* angular acceleration, link's axes */
    double a[3];      /* acceleration of the origin less gravity, link's axes */
    double U[6], g;   /* free mode's row over the pivot, and the forced part */
    double D;         /* one over the pivot */
} fm_motion;

/* What is local to a link lies in lanes, the same number of several links side by side, so that one instruction
 * serves several links: name, how many numbers. */
#define FM_LANES(L)                                                                                 \
    L(w, 3)    /* angular velocity, in the link's axes */                                           \
    L(carrier, 3) /* the parent's, in the parent's axes */                                          \
    L(r, 3)    /* origin in the parent's axes, from the parent's origin */                          \
    L(h, 3)    /* first moment */                                                                   \
    L(J, 6)    /* inertia about the origin: xx xy xz yy yz zz */                                    \
    L(torque, 3) /* that the motion itself takes, about the origin, link's axes */                  \
    L(force, 3)                                                                                     \
    L(lift, 3) /* velocity product of the origin's acceleration, parent's axes */

#define FM_LANE_WIDTH 8 /* so many links lie side by side */

typedef struct fm_lanes {
#define L(name, count) double name[count][FM_LANE_WIDTH];
    FM_LANES(L)
#undef L
} fm_lanes;

/* What only links with a general orientation have: axes of the link in its parent's, and a ball's factors. */
typedef struct fm_turned {
    double R[9];
    double R0[9]; /* the same at zero */
} fm_turned;

/* What only a ball has, in rows of four. */
typedef struct fm_ball {
    double T[3][4];          /* axes of the link in its parent's, one a row */
    double W[3][4];          /* J^-1 H, for the way back */
    double factor[6];        /* J = L D L': reciprocals of D, then L's 10, 20, 21 */
} fm_ball;

/* Freedoms that go out of a cut all at once (group.c). */
typedef struct fm_group {
    int32_t n, width;    /* how many; from row to row of L */
    double (*U)[6], *L;  /* wrench from each; S_qq, by its lower triangle, then its factor */
    double *D, *g;       /* reciprocals of the pivots, the forced part of udot */
} fm_group;

/* What only a link of several screws has (general.c); free modes first, then excited ones. */
typedef struct fm_general {
    int32_t link, first, screws; /* its screws in the image */
    int32_t rows, free, speeds;  /* free screws, free modes, all modes */
    int32_t after;               /* the screws before the rows' axes */
    int32_t place[FM_FREEDOMS];  /* of each screw: its position variable */
    const double *row;
    double tail[3];
    double c[8], s[8]; /* of each screw's angle */
    double R[FM_FREEDOMS][9], r[FM_FREEDOMS][3]; /* from screw to screw */
    double rows_R[9];  /* axes of the link in the rows' */
    double J[FM_FREEDOMS][6], inverse[FM_FREEDOMS][FM_FREEDOMS], Y[FM_FREEDOMS][FM_FREEDOMS];
    double phi[FM_FREEDOMS][6]; /* modes: angular velocity and velocity at M, link's axes */
    double v[6], drift[6];      /* velocity against the parent, acceleration at udot = 0 */
    double U[FM_FREEDOMS][6], L[FM_FREEDOMS][FM_FREEDOMS], D[FM_FREEDOMS]; /* phi' S phi = L / D L' */
    double g[FM_FREEDOMS];      /* forced part of udot, given ones after the free */
    fm_group group;
} fm_general;

/* What only a flexible body has (modal.c), in the axes of its link, the floating frame. */
typedef struct fm_modal {
    int32_t link, n, first;   /* its modes, the first in the image */
    const double *pair_mass, *pair_stiffness, *pair_damping, *pair_product; /* n x n */
    const double *base;       /* n rows of the frame by which it hangs, NULL: that does not move in it */
    double J0[6], h0[3], p0[3]; /* inertia, first moment and the origin of that frame without deformation */
    double r0[3];             /* that origin in the link before */
    double p[3];              /* and in the floating frame with deformation */
    double N[FM_MODES][9];    /* integrals of r phi' at the present shape */
    double own[FM_MODES][6];  /* torque and force that a mode's acceleration takes */
    double phi[FM_MODES][6];  /* motion of its link against the one before */
    double v[3], drift[3];    /* velocity and acceleration of its origin against that, at constant rates */
    double M[FM_MODES][FM_MODES], f[FM_MODES]; /* S_qq, lower triangle, and f while the cuts are made */
    double U[FM_MODES][6], L[FM_MODES][FM_MODES], D[FM_MODES], g[FM_MODES];
    fm_group group;
} fm_modal;

/* A cut through a joint: torque and force = S (angular acceleration, acceleration) + e, about the cut's point.
 * H: torque from acceleration; J, M: upper triangles, and all of M where a ball follows. Padded to rows. */
typedef struct fm_cut {
    double J[3][3], n[3], H[3][4], M[3][4], f[4];
} fm_cut;

/* World kinematics of a link, made when somebody asks. */
typedef struct fm_world {
    double R[9], r[3], w[3], v[3];
} fm_world;

/* The directions in which forces along a joint's modes act (reactions.c): torques, then forces; A = Phi' B. */
typedef struct fm_dual {
    int32_t n, turning;
    double along[FM_FREEDOMS][3], A[FM_FREEDOMS][FM_FREEDOMS];
} fm_dual;

/* How many there are, for the arrays of an instance. */
typedef struct fm_counts {
    size_t links, speeds, modes, ny, inputs, joints, balls, generals, modals;
    size_t reversed, reversed_speeds; /* positions and speeds, where balls of joints that point towards the ground are */
    size_t planars, plane_blocks;     /* links, and blocks of FM_PLANE_WIDTH of them */
    size_t plane_loops;               /* 1: loops that move in a plane */
    size_t closed;                    /* 1: rows of joints that close loops, or couplings */
    size_t rows, blocks, paths, columns, factor, cut_positions, cut_joints, units;
    size_t laws, held;
} fm_counts;

/* The arrays of the tree: A(type, name, how many), n the counts. */
#define FM_TREE_ARRAYS(A)                                                                                          \
    A(fm_link, link, n.links)                                                                                      \
    A(double, pivot, 2 * n.links)     /* by fm_kernels_checked: one over the pivot (a ball's least), what to compare it with */ \
    A(fm_motion, motion, n.links)                                                                                  \
    A(fm_lanes, lane, n.links / FM_LANE_WIDTH + 1)                                                                 \
    A(fm_turned, turned, n.links)                                                                                  \
    A(fm_ball, ball, n.balls)                                                                                      \
    A(fm_general, general, n.generals)                                                                             \
    A(fm_modal, modal, n.modals)                                                                                   \
    A(fm_world, world, n.links)                                                                                    \
    A(fm_cut, pending, n.links / 2 + 1)                                                                            \
    A(int32_t, angle_link, n.links)   /* links with an angle: first those that the sweeps in space look at */      \
    A(int32_t, ball_link, n.links)    /* ascending, so that ball b belongs to link ball_link[b] */                 \
    A(int32_t, slide_link, n.links)   /* as angle_link */                                                          \
    A(int32_t, range, 2 * (n.links / 2 + 1)) /* the links from one to before another, for the sweeps in space */    \
    A(int32_t, in_loop, n.links)      /* whether some row of a loop or a coupling depends on its joint's position */ \
    A(double, wrench, 6 * n.links)    /* torque and force of its parent on it, link's axes at its origin */        \
    A(double, scale, n.ny)            /* of a state: 1 rad or rad/s, or the model's length; far below it is near zero */ \
    A(int32_t, reversed_ball, n.balls) /* the balls of joints that point towards the ground */                     \
    A(double, linked, n.reversed)     /* y and applied forces as the links have them, where there are any */       \
    A(double, linked_tau, n.reversed_speeds)

FM_HIDDEN_END

#endif
