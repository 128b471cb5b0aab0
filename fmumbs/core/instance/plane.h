/* plane.h: what the planar kernels keep. */
#ifndef FM_PLANE_H
#define FM_PLANE_H

#include "link.h"

FM_HIDDEN_BEGIN

/* Trees that move in a plane (planar.c, planar.inc): their links stand in a row of their own, depth first. */
typedef enum fm_plane_kind { FM_PLANE_PIN, FM_PLANE_SLIDE, FM_PLANE_FIXED } fm_plane_kind;

typedef struct fm_plane_link {
    int8_t kind;
    int8_t jumps;     /* its parent is not the one before */
    int8_t straight;  /* a pin whose cut is handed on at once, its origin on its parent's x */
    int8_t regular;   /* of the first in a block: their p follow one another */
    int32_t opens;    /* the first to come to its parent's slot */
    int32_t link;     /* which it is */
    int32_t parent;   /* its place in the row, -1: the ground */
    int32_t pending;  /* slot where its other children wait, -1: none */
    int32_t leaves;   /* slot of its parent where its cut waits, -1: none */
    int32_t p, u;     /* of a fixed one: p of any mode, u -1 */
    double sign;      /* turn about the normal, or slide along x, per unit of u */
    double side;      /* its own axis along the normal: 1 or -1 */
} fm_plane_link;

typedef struct fm_plane_axes {
    double x[3], y[3], n[3]; /* planar axes and normal in the link's axes */
    double along;            /* acceleration along the normal, less gravity */
} fm_plane_axes;

typedef struct fm_plane_cut {
    double J, hx, hy, p, q, w, n, fx, fy; /* M: xx, xy, yy; n: torque */
} fm_plane_cut;

/* Lanes of these links, in planar axes; what is used together stands in pairs that begin at even places, as memory does. */
#define FM_PLANE_LANES(L)                                                                   \
    L(turn) /* of a pin: turn about the normal per unit of u */                             \
    L(before) /* moment of inertia of the link before in the row, about its origin */       \
    L(c0) L(s0) /* turn of its axes in its parent's at zero */                              \
    L(tx) L(ty) /* what alpha moves its origin by, against its parent's; parent's axes */   \
    L(m) L(hx) L(hy) /* mass, torque from acceleration */                                   \
    L(n) L(fx) L(fy) /* torque and force that its own motion takes, less what is applied */ \
    L(cosine) L(sine) /* of its angle about the normal */                                   \
    L(c) L(s) /* turn of its axes in its parent's */                                        \
    L(vx) L(vy) /* t in its own axes */                                                     \
    L(cc) L(ss) L(sc) L(rest) /* products of c and s, the last c c - s s */                 \
    L(vxx) L(vxy) L(vyy) /* products of vx and vy, the second twice */                      \
    L(w) L(carrier) /* angular velocities, its own and its parent's */                      \
    L(alpha) /* acceleration */                                                             \
    L(lx) L(ly) /* velocity product of its origin's acceleration, parent's axes */          \
    L(Ux) L(Uy) L(D) L(g) /* of a pin: H, one over J and the forced part; of a slide: U */  \
    L(Lx) L(Ly) L(Wx) L(Wy) L(uv) L(E) /* for the way back: planar.inc */                   \
    L(ax) L(ay) /* acceleration of the origin, less gravity */

#define FM_PLANE_WIDTH 4 /* so many links lie side by side */

typedef enum fm_plane_lane {
#define L(name) FM_PLANE_##name,
    FM_PLANE_LANES(L)
#undef L
    FM_PLANE_COUNT
} fm_plane_lane;

typedef struct fm_plane_motion { /* a link in the axes of the plane */
    double c, s, x, y, vx, vy, w;
} fm_plane_motion;

typedef struct fm_plane_root { /* where a root hangs, or the ground */
    fm_plane_motion at;
    double ax, ay; /* its acceleration less gravity, in the root's axes at zero */
} fm_plane_root;

/* A block's joint in the plane: the places of its links, -1 the ground, its points in their planar axes, and how far
 * they are apart along the normal. */
typedef struct fm_plane_joint {
    int32_t F, M;
    double at_F[2], at_M[2], apart;
    double high_F, high_M; /* the origins of the links above the ground's, along the normal */
    double turn_F[2], turn_M[2], side; /* of a pin: a direction in either that is the same at zero; its axis is side times n */
} fm_plane_joint;

typedef struct fm_plane_row {
    int32_t kind;      /* as in the image, FM_ROW_KINDS: it holds by itself */
    double f[2], g[2]; /* its vectors in the links' planar axes */
    double length;
} fm_plane_row;

#define FM_PLANE_SIZE (FM_PLANE_COUNT * FM_PLANE_WIDTH) /* doubles in a block */
#define FM_PLANE_ROWS 4 /* so many rows of a joint lie side by side */
#define FM_PARALLEL 1e-14 /* directions that differ by less are the same: both are products of rounded rotations */

#define FM_PLANAR_ARRAYS(A)                                                                                    \
    A(int32_t, place, n.links)                   /* of each link in the row of planar links, -1: none */       \
    A(fm_plane_link, link, n.planars)                                                                          \
    A(fm_plane_axes, axes, n.planars)                                                                          \
    A(fm_plane_cut, pending, n.planars / 2 + 1)                                                                \
    A(double, lanes, n.plane_blocks * FM_PLANE_SIZE) /* in blocks of FM_PLANE_WIDTH links */                   \
    A(double, placed, n.plane_loops * n.ny)      /* the state for which turn, plane_place and plane_world were called */ \
    A(fm_plane_motion, world, n.plane_loops * n.planars + 1) /* the ground, then each planar link */           \
    A(fm_plane_root, root, n.planars)            /* where each root is connected */                            \
    A(fm_plane_joint, joint, n.plane_loops * n.blocks)                                                         \
    A(int32_t, block, n.plane_loops * n.joints)  /* of each joint, -1: none */                                 \
    A(fm_plane_row, row, n.plane_loops * n.rows)                                                               \
    A(int32_t, mode, n.plane_loops * n.paths)    /* the place of each mode of the loops' paths */

typedef struct fm_planar {
#define A(type, name, count) type *name;
    FM_PLANAR_ARRAYS(A)
#undef A
    fm_plane_axes ground; /* of a mechanism with loops */
    double ax, ay;        /* the ground's acceleration less gravity, in these */
    int32_t used;         /* 1: planar kernels are in use */
    int32_t torques;      /* 1: the lane n is not zero */
    int32_t is_placed;    /* 1: `placed` is known */
    int32_t in_place;     /* 1: the evaluation under way begins with what was placed */
} fm_planar;

FM_HIDDEN_END

#endif
