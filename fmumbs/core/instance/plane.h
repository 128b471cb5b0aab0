/* plane.h: data of the planar kernels. */
#ifndef FM_PLANE_H
#define FM_PLANE_H

#include "link.h"

FM_HIDDEN_BEGIN

/* Trees that move in a plane (planar.c, planar.inc); their links are numbered separately, depth first. */
typedef enum fm_plane_kind {
    FM_PLANE_PIN,
    FM_PLANE_SLIDE,
    FM_PLANE_FIXED,
    FM_PLANE_MODAL, /* the floating frame of a flexible body (planar_modal.inc) */
    FM_PLANE_FRAME  /* a frame that moves with its modes */
} fm_plane_kind;

#define FM_PLANE_ROWS 4 /* rows of a joint side by side */

typedef struct fm_plane_link {
    int8_t kind;
    int8_t driven;    /* a pin or slide whose acceleration is prescribed */
    int8_t jumps;     /* its parent is not the link before it */
    int8_t straight; /* a pin that passes its inertia and bias force on directly, with its origin on its parent's x */
    int8_t regular; /* of the first in a block: position variables are consecutive */
    int32_t first_in_slot; /* 1: first child that writes its parent's slot */
    int32_t link; /* index of the link */
    int32_t parent; /* index of the parent among planar links, -1: the ground */
    int32_t pending; /* slot that sums the contributions of its other children, -1: none */
    int32_t slot; /* slot of its parent that takes its own, -1: none */
    int32_t p, u; /* of a fixed one: p of any mode, u -1 */
    double sign; /* rotation about the normal, or translation along x, per unit of u */
    double side; /* direction of its own axis along the normal: 1 or -1 */
} fm_plane_link;

typedef struct fm_plane_axes {
    double x[3], y[3], n[3]; /* plane's axes and normal in link axes */
    double along; /* acceleration along the normal, less gravity */
} fm_plane_axes;

typedef struct fm_plane_articulated {
    double J, hx, hy, p, q, w, n, fx, fy; /* the planar S and e; M = [p q; q w], torque n */
} fm_plane_articulated;

/* Lanes of these links, in planar axes; those used together come in pairs that start at even indices, to be
 * contiguous. */
#define FM_PLANE_LANES(L)                                                                   \
    L(sign) /* of a pin: rotation about the normal per unit of u */                         \
    L(before) /* moment of inertia of the previous planar link about its origin */          \
    L(c0) L(s0) /* rotation of its axes in its parent's at zero */                          \
    L(tx) L(ty) /* translation of its origin per alpha, relative to its parent's; parent's axes */ \
    L(rx0) L(ry0) /* of a frame on a flexible body: its origin in the undeformed body */                 \
    L(m) L(hx) L(hy) /* mass; H, the torque of acceleration */                              \
    L(n) L(fx) L(fy) /* inertial torque and force at zero acceleration, less applied ones */ \
    L(cosine) L(sine) /* of its angle about the normal */                                   \
    L(c) L(s) /* rotation of its axes in its parent's */                                    \
    L(vx) L(vy) /* t in its own axes */                                                     \
    L(cc) L(ss) L(sc) L(rest) /* products of c and s, the last c c - s s */                 \
    L(vxx) L(vxy) L(vyy) /* products of vx and vy, the second doubled */                    \
    L(w) L(parent_w) /* angular velocities, its own and its parent's */                      \
    L(alpha) /* angular acceleration */                                                     \
    L(bias_x) L(bias_y) /* bias acceleration of its origin, parent's axes */                        \
    L(Ux) L(Uy) L(D) L(g) /* of a pin: H, 1 / J and the parent-independent part of udot; of a slide: U */ \
    L(own_bias_x) L(own_bias_y) L(Wx) L(Wy) L(uv) L(E) /* for the outward sweep: planar.inc */              \
    L(ax) L(ay) /* acceleration of the origin, less gravity */

#define FM_PLANE_WIDTH 4 /* links side by side */

typedef enum fm_plane_lane {
#define L(name) FM_PLANE_##name,
    FM_PLANE_LANES(L)
#undef L
        FM_PLANE_COUNT
} fm_plane_lane;

typedef struct fm_plane_motion { /* a link's pose and velocity in the plane's axes */
    double c, s, x, y, vx, vy, w;
} fm_plane_motion;

typedef struct fm_plane_root { /* the frame that carries a root, or the ground */
    fm_plane_motion at;
    double ax, ay; /* its acceleration less gravity, in the root's axes at zero */
} fm_plane_root;

/* A cut joint in the plane: the planar links of F and M (-1: ground), its points in their planar axes, and their
 * distance along the normal [m]. */
typedef struct fm_plane_joint {
    int32_t F, M;
    double at_F[2], at_M[2], apart;
    double high_F, high_M; /* heights of the links' origins above the ground's, along the normal */
    double pin_F[2], pin_M[2], side; /* of a pin: a direction in each, equal at zero; its axis is side times n */
} fm_plane_joint;

typedef struct fm_plane_row {
    int32_t kind; /* as in the image; FM_ROW_KINDS: satisfied identically */
    double f[2], g[2]; /* its vectors in the links' planar axes */
    double length;
} fm_plane_row;

/* Flexible bodies (planar_modal.c, planar_modal.inc), in the planar axes of their floating frames. */
typedef struct fm_plane_shape { /* of a mode at a frame: rotation [rad/m], translation [1] */
    double turn, x, y;
} fm_plane_shape;

typedef struct fm_plane_mode {
    double first[2], trace0, cross0; /* integrals of phi, and of r phi': its trace and r x phi, undeformed */
    double trace, cross; /* these at the present shape */
    double at[3]; /* force and torque of a unit acceleration, with what follows */
    fm_plane_shape phi; /* motion of the floating frame relative to its parent */
    double n, fx, fy; /* column of U */
    double f, D, g, push; /* as in fm_modal; push: innovations of the multipliers over the pivots */
    double felt[FM_PLANE_ROWS]; /* force of each multiplier's column */
} fm_plane_mode;

typedef struct fm_plane_modal {
    int32_t n, all, p, u; /* all: shapes */
    const fm_modal *shape; /* coordinates of all shapes, and what follows of second order */
    const fm_plane_shape *base; /* frame on the body that carries it, NULL: that does not move in it */
    const double *mass, *stiffness, *damping; /* (all, all) */
    double *trace, *cross; /* (all, all) integrals of phi_j phi_k': trace and phi_j x phi_k */
    double *L; /* (n, n) S_qq, then its factor */
    fm_plane_mode *mode;
    double J0, h0[2], p0[2], r0[2]; /* as in fm_modal; r0 in the parent's planar axes */
    double J, torque, at[2]; /* inertia, torque due to modal rates, origin of the frame that carries it */
} fm_plane_modal;

#define FM_PLANE_SIZE (FM_PLANE_COUNT * FM_PLANE_WIDTH) /* doubles of a block */
#define FM_PARALLEL 1e-14 /* directions that differ by less are parallel; both are products of rounded rotations */

#define FM_PLANAR_ARRAYS(A)                                                                                    \
    A(int32_t, place, n.links)                   /* of each link: its index among the planar links, -1: not planar */ \
    A(fm_plane_link, link, n.planars)                                                                          \
    A(fm_plane_axes, axes, n.planars)                                                                          \
    A(fm_plane_articulated, pending, n.planars / 2 + 1)                                                                \
    A(double, lanes, n.plane_blocks * FM_PLANE_SIZE) /* in blocks of FM_PLANE_WIDTH links */                   \
    A(double, placed, n.plane_loops * n.ny)      /* state of the last orient, plane_place, plane_world */ \
    A(fm_plane_motion, world, n.plane_loops * n.planars + 1) /* the ground, then each planar link */           \
    A(double, rotor, n.planars)                  /* inertias of stiffness.c */                                 \
    A(fm_plane_root, root, n.planars)            /* the frame that carries each root */                        \
    A(fm_plane_joint, joint, n.plane_loops * n.blocks)                                                         \
    A(int32_t, block, n.plane_loops * n.joints)  /* of each joint, -1: none */                                 \
    A(fm_plane_row, row, n.plane_loops * n.rows)                                                               \
    A(int32_t, mode, n.plane_loops * n.paths) /* of each mode on the loops' paths: its planar link, or -1 less the \
                                                 index of a flexible body's mode */                             \
    A(fm_plane_modal, modal, n.modals)           /* only those in planar trees are set */                       \
    A(fm_plane_mode, modal_mode, n.shapes)                                                                     \
    A(fm_plane_shape, shape, n.frame_shapes)                                                                   \
    A(fm_plane_shape, shape_now, n.followers > 0 ? n.frame_shapes : 0) /* at the present shape of the body */  \
    A(double, modal_trace, n.shape_pairs)                                                                      \
    A(double, modal_cross, n.shape_pairs)                                                                      \
    A(double, modal_L, n.shape_pairs)

typedef struct fm_planar {
#define A(type, name, count) type *name;
    FM_PLANAR_ARRAYS(A)
#undef A
    fm_plane_axes ground; /* the plane of a mechanism with loops */
    double ax, ay; /* the ground's acceleration less gravity, in that plane [m/s2] */
    int32_t used; /* 1: the planar kernels are in use */
    int32_t bends; /* 1: there are flexible bodies in planar trees */
    int32_t free_cuts; /* cut joints that have coordinates but no rows: these follow from the motion in space */
    int32_t drives; /* number of driven pins and slides in planar trees */
    int32_t torques; /* 1: lane n is not zero */
    int32_t is_placed; /* 1: `placed` is set */
    int32_t in_place; /* 1: the present evaluation starts from those results */
} fm_planar;

FM_HIDDEN_END

#endif
