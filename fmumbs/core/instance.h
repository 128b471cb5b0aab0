/* instance.h: what the files of the core share. Nothing here is seen outside.
 *
 * The image is constant; an instance is one arena of flat arrays: what is saved with the state (FM_STATE_ARRAYS,
 * one block of doubles) and what can be computed again.
 */
#ifndef FM_INSTANCE_H
#define FM_INSTANCE_H

#include "float_mode.h"
#include "fmumbs.h"
#include "table.h"
#include "variables.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

#define FM_STAGES 7    /* of Dormand-Prince 5(4) */
#define FM_TAYLOR 3    /* highest order of input derivatives */
#define FM_FREEDOMS 6  /* most screws that a link may have */
#define FM_NODES 12   /* of an interpolation through a singular position */
#define FM_HELD 64     /* most laws that may hold velocities at a time */
#define FM_PASSING (-2.0) /* second number of the mode of a law that holds nothing */
#define FM_UNKNOWN (-3.0) /* both, where nothing is known */
#define FM_MODES 24    /* most modes of a flexible body */

typedef struct fm_sizes {
#define S(name, meaning) int32_t name;
    FM_SIZES(S)
#undef S
} fm_sizes;

#define FM_C_TYPE_i int32_t
#define FM_C_TYPE_d double
#define FM_C_TYPE_b char

/* The arrays of the image, by name. */
typedef struct fm_image {
    fm_sizes n;
    uint8_t hash[32];
#define A(name, type, columns, rows, bound, lowest, unit, section) const FM_C_TYPE_##type *name;
    FM_IMAGE_ARRAYS(A)
#undef A
} fm_image;

/* Everything that a saved state holds, all of it doubles: V(name, how many), m the model. `ny` is positions and speeds. */
#define FM_STATE_ARRAYS(V)                                                                   \
    V(clock, FM_CLOCK_SIZE)                                                                  \
    V(y, m->ny)                /* positions, then speeds, at the present time */             \
    V(guess, m->ny)            /* the same as they were last set: what a start is made from */ \
    V(base, m->ny)             /* the same as the model gives them, or after the last step: before they were set */ \
    V(head, m->ny)             /* the same where the integrator is */                        \
    V(slope, m->ny)            /* derivative there */                                        \
    V(dense, 5 * m->ny)        /* interpolation over the integrator's last step */           \
    V(tau, m->n.modes)         /* inputs: generalised applied forces */                      \
    V(load, 6 * m->n.loads)    /* force, torque of each load in world axes */                \
    V(tau_taylor, FM_TAYLOR * m->n.modes)                                                   \
    V(load_taylor, FM_TAYLOR * 6 * m->n.loads)                                               \
    V(gravity, 3)                                                                            \
    V(closure, 4)                                                                            \
    V(options, 3)                                                                            \
    V(stiffness, m->n.modes)                                                                \
    V(damping, m->n.modes)                                                                  \
    V(rest, m->n.modes)                                                                     \
    V(rotor_inertia, m->n.modes)                                                            \
    V(mass, m->n.bodies)                                                                     \
    V(inertia, 6 * m->n.bodies)                                                              \
    V(spring_stiffness, m->n.springs)                                                        \
    V(spring_damping, m->n.springs)                                                          \
    V(spring_free_length, m->n.springs)                                                      \
    V(law_mode, 2 * m->n.laws) /* two numbers of each law's mode (laws.c) where the integrator is */ \
    V(law_last, 2 * m->n.laws) /* the same of its last step */                               \
    V(cut_p, m->n.cut_positions) /* of secondary joints, at the last accepted positions */   \
    V(row_active, m->n.rows)   /* 1: the row is in use, it was found to be independent */     \
    V(row_pivot, m->n.rows)    /* its pivot in K when rows were chosen, or the largest since */

typedef enum fm_clock { /* what stands in `clock` */
    FM_TIME,        /* the present (communication) time [s] */
    FM_TIME_HEAD,   /* where the integrator is */
    FM_TIME_TAIL,   /* where its last step began */
    FM_TIME_DENSE,  /* where that would have ended: the dense output reaches so far */
    FM_H,           /* the step it would take next, 0 before the first */
    FM_ERROR_LAST,  /* error of the step before, for the controller */
    FM_FRESH,       /* 1: the slope at the head is known */
    FM_AHEAD,       /* 1: the head may be used, nothing changed since */
    FM_TAYLOR_ON,   /* 1: inputs have derivatives in the coming step */
    FM_ASSEMBLED,
    FM_STEPS_DONE,
    FM_STEPS_REJECTED,
    FM_CORRECTED, /* corrections, and their iterations */
    FM_ITERATED,
    FM_SWITCHED, /* when a law last switched, and how often since then at once */
    FM_FLURRY,
    FM_FOLLOWED, /* when cut_p was noted */
    FM_MOVED,    /* 1: there was a step since the model's start */
    FM_CLOCK_SIZE
} fm_clock;

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

/* The rows of one secondary joint, or one coupling, in the order of elimination (loop_plan.c). */
typedef struct fm_block {
    int32_t first, rows;
    int32_t path, length;  /* in loop_path: the velocity variables that its reactions act on, from the tips */
    int32_t below, belows; /* in loop_meeting: the later blocks that its column of K's factor reaches */
    int32_t used, use[FM_FREEDOMS]; /* its rows in use, counted from the first; in the plane at most FM_PLANE_ROWS */
    size_t y, L; /* its innovations, a path after another; its own part of the factor */
} fm_block;

typedef struct fm_meeting {
    int32_t block;     /* the later one */
    int32_t run, runs; /* in loop_run: where their paths run together, in either, and how far; none: it only fills in */
    size_t L;          /* rows of the later by rows of the earlier */
} fm_meeting;

typedef struct fm_loop_plan {
    int32_t blocks;
    size_t meetings, runs, paths, y, L; /* how many numbers */
    fm_block *block;
    fm_meeting *meeting;
    int32_t *run, *path, *link; /* the link of each mode of a path */
} fm_loop_plan;

/* World kinematics of a link, made when somebody asks. */
typedef struct fm_world {
    double R[9], r[3], w[3], v[3];
} fm_world;

typedef struct fm_model {
    fm_sizes n;
    int32_t ny;
    int32_t pendings;
    int32_t angles; /* links with an angle */
    int32_t balls;
    int32_t reversed; /* balls of joints that point towards the ground */
    int32_t slides; /* links whose origin slides */
    int32_t planars; /* links of trees that move in a plane */
    int32_t plane_pendings;
    double plane_tip; /* moment of inertia of the last of them */
    int32_t ranges, spatial_angles, spatial_slides; /* what the sweeps in space look at */
    int32_t resisted; /* some joint has a spring or a damper */
    int32_t excited;  /* some mode is excited */
    size_t state_doubles;
} fm_model;

/* What is built for each instruction set. */
typedef struct fm_kernels {
    void (*turn)(fm_instance *s, const double *y); /* cosines, sines and axes of every link; call these by reversed.c */
    void (*local)(fm_instance *s);                 /* torque, force and lift of every link from its motion */
    void (*accelerate)(fm_instance *s, const double *y, const double *tau, double *udot); /* after turn */
    void (*back)(fm_instance *s, double *udot);    /* its last part again, after a change of the forced parts */
    /* in the plane (planar.inc, planar_loops.inc): */
    void (*plane_place)(fm_instance *s, const double *y); /* after turn: what slides */
    void (*plane_world)(fm_instance *s, const double *y); /* then */
    double (*plane_violation)(fm_instance *s, int level);
    int (*plane_factor)(fm_instance *s, const double *y);
    void (*plane_spread)(fm_instance *s, const double *lambda, double *out);
} fm_kernels;

/* Three numbers of one link: fm_lane_get(s, torque, i, out). */
#define fm_lane_at(s, name, i) ((s)->lane[(i) / FM_LANE_WIDTH].name), (i) % FM_LANE_WIDTH
#define fm_lane_get(s, name, i, out) fm_lane_read(fm_lane_at(s, name, i), out)
#define fm_lane_set(s, name, i, in) fm_lane_write(fm_lane_at(s, name, i), in)

static inline void fm_lane_read(double lane[][FM_LANE_WIDTH], int32_t at, double out[3])
{
    for (int j = 0; j < 3; j++) out[j] = lane[j][at];
}

static inline void fm_lane_write(double lane[][FM_LANE_WIDTH], int32_t at, const double in[3])
{
    for (int j = 0; j < 3; j++) lane[j][at] = in[j];
}

typedef enum fm_valid {
    FM_VALID_NOTHING,
    FM_VALID_WORLD = 1,
    FM_VALID_MOTION = 2, /* udot */
    FM_VALID_CUTS = 4,
    FM_VALID_LINKS = 8,  /* what the sweeps leave in each link, in space */
    FM_VALID_LAWS = 16   /* the modes of the force laws */
} fm_valid;

typedef enum fm_multipliers {
    FM_OWN_MULTIPLIERS,
    FM_NO_MULTIPLIERS,  /* they are zero */
    FM_NEAR_MULTIPLIERS, /* those near bridge_lambda that make up bridge_rhs */
    FM_KEPT_MULTIPLIERS /* bridge_lambda */
} fm_multipliers;

/* An evaluation that can be made again with other forces of the laws that hold (holding.c). */
typedef struct fm_evaluation {
    void (*make)(fm_instance *s, const struct fm_evaluation *how, double *udot);
    double t;
    const double *y, *tau, *load;
} fm_evaluation;

struct fm_instance {
    fm_image image;
    fm_model model;
    const fm_kernels *kernels;
    int32_t level;
    int32_t planar; /* planar kernels are in use */
    char guid[40];
    int32_t laws_off;  /* only laws that hold a velocity act */
    int32_t law_fault; /* the law for which the step cannot go on, -1: none */
    int32_t valid; /* fm_valid bits: what belongs to the present y and inputs */
    char message[512];
    void *bytes; /* the arena */
    double *state; /* the block that is saved */
    double *kept;  /* a copy of it, while fm_assemble tries */
#define V(name, count) double *name;
    FM_STATE_ARRAYS(V)
#undef V
    /* work */
    fm_link *link;
    fm_motion *motion;
    double *pivot;    /* 2 a link, by fm_kernels_checked: one over the pivot (a ball's least), what to compare it with */
    fm_lanes *lane;
    int32_t *slide_link; /* as angle_link: first those that the sweeps in space look at */
    int32_t *range;      /* 2 each: the links from one to before another, for the sweeps in space */
    int32_t *plane_place; /* of each link: its place in the row of planar links, -1: none */
    fm_plane_link *plane_link;
    fm_plane_axes *plane_axes;
    fm_plane_cut *plane_pending;
    double *plane; /* lanes, in blocks of FM_PLANE_WIDTH links */
    fm_plane_axes plane_ground;  /* of a mechanism with loops */
    double plane_ax, plane_ay;   /* the ground's acceleration less gravity, in these */
    int32_t plane_torques; /* 1: the lane n is not zero */
    double *placed;    /* ny: the state for which turn, plane_place and plane_world have been called last, */
    int32_t is_placed; /* if this is 1 */
    int32_t in_place;  /* 1: the evaluation under way begins with what they left */
    fm_plane_motion *plane_world; /* the ground, then each planar link */
    fm_plane_root *plane_root;    /* where each root hangs */
    fm_plane_joint *plane_joint; /* of each block */
    int32_t *plane_block;        /* of each joint: its block, -1: none */
    fm_plane_row *plane_row;     /* of each row */
    int32_t *plane_mode;         /* the place of each mode of the loops' paths */
    fm_turned *turned;
    fm_ball *ball;
    fm_general *general;
    fm_modal *modal;
    fm_world *world;
    fm_cut *pending;
    int32_t *angle_link;
    int32_t *ball_link; /* ascending, so that ball b belongs to link ball_link[b] */
    double *tau_now;  /* applied forces of all modes: inputs, springs, dampers, rotor */
    int32_t *in_loop;  /* of each link: whether some row of a loop or a coupling depends on its joint's position */
    int32_t forced, cuts; /* something stands in `applied`, in `cut_wrench` */
    double *cut_wrench; /* 6 a joint: what is applied along a secondary one's modes, on M in world axes at M */
    double *applied;  /* 6 a link: torque and force from springs and loads, link's axes at its origin */
    double *wrench;   /* 6 a link: what its parent puts on it, link's axes at its origin */
    const double *evaluated, *accelerated; /* the y of the evaluation under way, its udot without loops */
    double *udot;     /* at the present time */
    double *stage;    /* FM_STAGES * ny */
    double *trial;    /* ny */
    double *step_end, *step_corrected; /* ny: where a step that is tried ends, before and after its correction */
    double *least;    /* ny: a state below it is near zero */
    double *probe;    /* 2 * ny, for derivatives */
    double *input_now; /* inputs at the time of an evaluation: tau, then loads */
    fm_loop_plan loop;
    double *loop_y, *loop_z; /* innovations of the rows' multipliers along their paths; the same over the pivots */
    double *loop_L;   /* K, then its factor */
    double *loop_diagonal; /* rows: of K */
    double *loop_modes;    /* speeds: zeros, but while a row is made */
    double *loop_turned;   /* 12 a link that has one freedom: phi, then U over the pivot, in world axes */
    double *loop_c;   /* 3 a row: value and derivatives */
    double *loop_wrench; /* 6 a row: torque, force on M's link at M */
    double *loop_rhs, *lambda; /* rows */
    double *loop_most; /* rows: how large a diagonal entry of K can be */
    double *loop_kept; /* rows: which are active, kept meanwhile */
    double at_time;    /* of the positions that are looked at */
    int32_t loop_worn; /* 1: the last factor of K has a pivot far below row_pivot, or there is none */
    int32_t loop_narrow; /* 1: and very far below; 2: there is none */
    double loop_soft;    /* of row_pivot: what fm_factor_K adds to K's diagonal */
    /* bridge.c */
    int32_t bridging, bridged; /* 1: nodes are being made; the last evaluation or correction was made of nodes */
    int32_t was_narrow;    /* 1: the last step came near a singular position */
    int32_t touch_row, touch_joint; /* touch.c: row whose branches touch, -1: none; joint to hold */
    double touch_time;
    int32_t on_branch;     /* 1: accelerations are those of the state that is next on the branch */
    double *bridge_node;   /* FM_NODES * ny */
    double *bridge_root;   /* roots of the pivots: at the state, then at the nodes */
    double *bridge_way;    /* speeds: direction in which nodes lie */
    double *bridge_udot;   /* 3 * speeds */
    double *bridge_rate;   /* speeds */
    double *bridge_lambda, *bridge_rhs; /* rows */
    int32_t loop_given;    /* fm_multipliers: what an evaluation does about them */
    double *bridge_y;      /* ny */
    int32_t *bridge_label; /* speeds: the part of the mechanism that a coordinate is moved with, 0: none */
    double *loop_pivot, *loop_change; /* speeds */
    /* start.c, assembly.c: modes: variables in the model's order of joints, their link or, of secondary joints, that; which
     * hold, and which should; what counts as one, squared; rows: the most of each; states; positions of secondary joints */
    int32_t *start_order, *start_link, *start_hold, *start_list;
    double *start_free, *start_most, *start_at, *start_try, *start_from, *start_cut;
    int32_t start_base; /* 1: assembled without what was set */
    int32_t start_brief, start_failed; /* 1: closing gives up early; attempts that did */
    /* least.c: rows: those that are idle, with what they put on the joints; then what its gradients go on with */
    double *least_idle, *least_p, *least_step, *least_fall, *least_more, *least_change;
    double *least_R, *least_along; /* 6 a joint: reactions at M in world axes */
    double *least_at;     /* 3 a joint: M in the world */
    double *least_metric; /* speeds */
    double *seed;     /* the same shape, for directional derivatives */
    int32_t *reversed_ball; /* the balls of joints that point towards the ground */
    double *linked, *linked_tau; /* y and applied forces as the links have them, where there are any */
    double *law_use;   /* the modes that evaluations go by: those of the state, or law_now */
    double *law_now;   /* 2 a law: modes at the present time, for outputs */
    double *law_force; /* of each law that holds */
    double *law_v;     /* velocity of each law a moment ago */
    double *law_seen;  /* 4 a law: position and velocity at one look within a step, then at the next */
    double *law_rates; /* ny + speeds */
    int32_t *held, *held_where, *held_side; /* the laws that meet, and where their forces are in their ranges */
    double *held_range; /* 2 each */
    double *held_a, *held_f, *held_x, *held_aim, *held_A, *held_L;
    int (*interrupt_wanted)(void *host); /* NULL: a step ends by itself alone */
    void *host;
    fm_float_mode host_mode; /* to which the public call under way goes back */
    double worked; /* evaluations of links and rows since it was asked */
    double step_from, step_until; /* the integration step under way lies between these times (excitation.c) */
};

/* The directions in which forces along a joint's modes act (reactions.c): torques, then forces; A = Phi' B. */
typedef struct fm_dual {
    int32_t n, turning;
    double along[FM_FREEDOMS][3], A[FM_FREEDOMS][FM_FREEDOMS];
} fm_dual;

/* Of a secondary joint. */
typedef struct fm_coordinates {
    double p[FM_FREEDOMS + 1], u[FM_FREEDOMS], udot[FM_FREEDOMS];
} fm_coordinates;

static inline int fm_is_cut(const fm_image *m, int32_t joint)
{
    return m->joint_first[joint] < 0;
}

/* The numbers of a planar link: a lane every FM_PLANE_WIDTH. */
#define FM_PLANE_BLOCK(s, place) ((s)->plane + (uint32_t)(place) / FM_PLANE_WIDTH * FM_PLANE_SIZE)

static inline double *fm_plane_at(const fm_instance *s, int32_t place)
{
    return FM_PLANE_BLOCK(s, place) + (uint32_t)place % FM_PLANE_WIDTH;
}

/* calls.c; the work of the public calls is in other files */
int fm_ask_host(fm_instance *s);
fm_status fm_do_open(const void *image, size_t bytes, fm_instance **out, char *message, size_t capacity);
fm_status fm_do_reset(fm_instance *s);
fm_status fm_do_assemble(fm_instance *s, double t);
fm_status fm_do_check_inertia(fm_instance *s);
fm_status fm_do_step(fm_instance *s, double t_end);
fm_status fm_do_evaluate(fm_instance *s, size_t times);
size_t fm_do_jacobian(fm_instance *s, double *J, size_t capacity);
fm_status fm_do_get(fm_instance *s, const uint32_t *reference, size_t count, double *value);
fm_status fm_do_set(fm_instance *s, const uint32_t *reference, size_t count, const double *value);
fm_status fm_do_set_input_derivatives(fm_instance *s, const uint32_t *reference, size_t count, const int32_t *order,
                                      const double *value);
fm_status fm_do_get_output_derivatives(fm_instance *s, const uint32_t *reference, size_t count, const int32_t *order,
                                       double *value);
fm_status fm_do_directional_derivative(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                       size_t knowns, const double *seed, double *result);
fm_status fm_do_state_load(fm_instance *s, const void *bytes, size_t size);
/* message.c */
fm_status fm_say(fm_instance *s, fm_status status, const char *format, ...);
/* image.c, check.c: 1 fine, 0 with the reason in `why` */
int fm_image_read(fm_image *image, const void *bytes, size_t size, char *why, size_t capacity);
int fm_image_check(const fm_image *image, char *why, size_t capacity);
int32_t fm_kind_components(const fm_image *image, int32_t kind, int32_t object);
/* derive.c */
void fm_derive(fm_instance *s);
void fm_derive_structure(fm_instance *s);
/* planar.c */
int32_t fm_planar_count(const fm_image *image);
void fm_planar_structure(fm_instance *s);
void fm_planar_derive(fm_instance *s);
void fm_planar_turns(fm_instance *s);
void fm_planar_expand(fm_instance *s);
/* planar_loops.c */
int fm_planar_loops_fit(const fm_image *m, const double *ground, const double *normal);
void fm_planar_loops_structure(fm_instance *s, const double *normal);
void fm_planar_weigh(fm_instance *s);
/* forces.c */
void fm_make_world(fm_instance *s, const double *y);
void fm_apply_forces(fm_instance *s, const double *load, int springs);
void fm_apply_modes(fm_instance *s, const double *y, const double *input, double *tau);
double fm_energy(fm_instance *s);
void fm_rotation_vector(const double *q, double out[3]);
void fm_turn_quaternion(const double v[3], double q[4]);
void fm_apply_wrench(fm_instance *s, int32_t link, const double at[3], const double wrench[6], double sign);
double fm_spring_line(const fm_instance *s, int32_t spring, double direction[3], double *rate);
void fm_point_place(const fm_instance *s, int32_t point, double r[3], double v[3]);
/* dynamics.c */
fm_evaluation fm_evaluation_at(double t, const double *y);
void fm_accelerations(fm_instance *s, double t, const double *y, double *udot);
void fm_rates(fm_instance *s, double t, const double *y, double *ydot);
void fm_position_rates(const fm_instance *s, const double *y, double *pdot);
void fm_update(fm_instance *s, int32_t what);
void fm_respond(fm_instance *s, const double *tau, const double *load);
/* laws.c */
void fm_laws_on_modes(const fm_instance *s, const double *y, double *tau);
double fm_laws_on_spring(const fm_instance *s, int32_t spring, const double *y);
/* loop_plan.c */
int fm_plan_loops(const fm_image *image, fm_loop_plan *out);
void fm_forget_plan(fm_loop_plan *plan);
/* constraints.c */
void fm_loop_names(const fm_instance *s, int32_t row, char *out, size_t capacity);
double fm_violation(fm_instance *s, int level);
int32_t fm_worst_row(fm_instance *s, int level, double *gap);
void fm_laws_place(fm_instance *s, const double *y);
void fm_laws_note(fm_instance *s, const double *y);
int32_t fm_laws_switch(fm_instance *s, double *t, double *y);
void fm_law_at(const fm_instance *s, int32_t law, const double *y, double *x, double *v);
int32_t fm_law_piece(const fm_image *image, int32_t law, double x, double v, int below);
int fm_law_bound(const fm_image *image, int32_t law, double x, double from, double v, double *bound);
double fm_law_polynomial(const fm_image *image, int32_t piece, double x, double v);
int fm_law_holds(const fm_instance *s, int32_t law, int32_t *above, int32_t *below, double *bound);
const char *fm_law_carrier(const fm_instance *s, int32_t law, const char **what);
/* holding.c */
int fm_laws_holding(const fm_instance *s);
void fm_laws_hold(fm_instance *s, const fm_evaluation *how, double *udot);
int fm_laws_choose(fm_instance *s, double t, double *y, int move);
void fm_laws_present(fm_instance *s);
int fm_laws_begin(fm_instance *s, double *y);
/* loops.c */
void fm_close_loops(fm_instance *s, double *udot);
/* secondary.c */
void fm_cut_coordinates(const fm_instance *s, int32_t joint, int moving, fm_coordinates *out);
double fm_cut_angle(const fm_instance *s, int32_t joint);
int32_t fm_cut_part(const fm_image *m, int32_t joint, int32_t part, int32_t *at);
void fm_follow_cuts(fm_instance *s);
int fm_cuts_forced(const fm_instance *s, const double *tau);
void fm_apply_cuts(fm_instance *s, const double *tau, int laws);
double fm_cut_energy(const fm_instance *s);
double fm_coupling_force(const fm_instance *s, int32_t coupling, int32_t term);
void fm_load_links(fm_instance *s, const double *lambda);
/* least.c */
int fm_least_reactions(fm_instance *s, double *change);
void fm_least_structure(fm_instance *s);
void fm_use_rows(fm_instance *s);
void fm_watch_rows(fm_instance *s, const double *y);
void fm_loop_wrench(const fm_instance *s, int32_t joint, double torque[3], double force[3]);
/* bridge.c */
int32_t fm_singular_row(fm_instance *s, const double *y, int32_t *joint);
void fm_bridge_present(fm_instance *s, double t, const double *y, double *udot);
void fm_rates_on_branch(fm_instance *s, double t, const double *y, double *udot);
int fm_bridge_rates(fm_instance *s, double t, const double *y, double *udot);
/* touch.c */
int fm_passed_touch(fm_instance *s, double t, double h, const double *y, const double *end);
/* correct.c */
int fm_correct(fm_instance *s, double *y, int near);
int32_t fm_active_rows(const fm_instance *s);
/* start.c, assembly.c */
void fm_start_structure(fm_instance *s);
int fm_close_start(fm_instance *s, double *y, char *why, size_t capacity);
int fm_name_drives(fm_instance *s, const double *y, int only_inputs, char *out, size_t capacity);
int fm_start_on_branch(fm_instance *s, double *y);
int32_t fm_rank_nearby(fm_instance *s, const double *y, int way, int32_t *row);
/* general.c */
void fm_general_structure(fm_instance *s);
void fm_general_place(fm_instance *s, fm_general *g, const double *y);
void fm_general_rates(const fm_general *g, const double *u, double *pdot);
void fm_general_velocity(const fm_general *g, const double *u, double out[6]);
void fm_general_swing(fm_instance *s, int32_t link, const double *wp, double *w, const double *u);
void fm_general_lift(fm_instance *s, int32_t i);
void fm_general_cut(fm_instance *s, int32_t link, fm_cut *c, const double *tau);
void fm_general_back(fm_instance *s, int32_t link, double *alpha, double *a, double *udot);
void fm_general_pass(const fm_general *g, double wrench[6], double *innovations);
/* group.c */
void fm_cut_times(const fm_cut *c, const double *v, double *out);
void fm_group_factor(fm_group *b, const double *most, double note[2]);
void fm_group_eliminate(fm_group *b, fm_cut *c, double *x);
void fm_group_push(fm_cut *c, const double push[6]);
void fm_group_back(const fm_group *b, const double z[6], double *udot);
void fm_group_pass(const fm_group *b, double *x, double wrench[6], double *innovations);
void fm_group_add(fm_group *b, double *innovations);
/* modal.c */
static inline fm_modal *fm_modal_of(const fm_instance *s, int32_t link)
{
    return s->modal + s->image.link_modal[link];
}
int fm_modal_column(const fm_instance *s, int32_t link, int32_t mode, double column[6]);
void fm_modal_structure(fm_instance *s);
void fm_modal_derive(fm_instance *s);
double fm_modal_turn(const fm_instance *s, int32_t link, const double *y);
void fm_modal_place(fm_instance *s, const double *y);
void fm_modal_velocity(const fm_instance *s, int32_t link, const double *y, double w[3], double v[3]);
void fm_modal_swing(fm_instance *s, int32_t link, const double *wp, double *w, const double *y);
void fm_modal_lift(fm_instance *s, const double *y);
void fm_modal_take(fm_instance *s, int32_t link, const fm_cut *c, const double *r);
void fm_modal_cut(fm_instance *s, int32_t link, fm_cut *c, const double *tau);
void fm_modal_back(fm_instance *s, int32_t link, double *alpha, double *a, double *udot);
void fm_modal_carry(const fm_instance *s, int32_t link, double *alpha, double *a, const double *udot);
void fm_modal_forces(const fm_instance *s, int32_t link, const double *y, double *tau);
void fm_modal_weigh(const fm_instance *s, int32_t link, const double *udot, double wrench[6]);
double fm_modal_energy(const fm_instance *s, int32_t link, const double *spin, const double *v);
/* excitation.c */
double fm_begin_smooth(fm_instance *s, double t);
double fm_stops_within(const fm_instance *s, double span);
void fm_end_smooth(fm_instance *s);
void fm_excite(const fm_instance *s, double t, const double *y, const double *input, double *tau);
void fm_excite_seed(const fm_instance *s, double *seed);
void fm_follow_paths(const fm_instance *s, double t, double *y);
/* check_modes.c */
const char *fm_check_modes(const fm_image *image);
const char *fm_check_excitations(const fm_image *image);
int32_t fm_link_positions(const fm_image *image, int32_t link);
int32_t fm_link_speeds(const fm_image *image, int32_t link);
/* sweeps */
extern const fm_kernels fm_kernels_plain, fm_kernels_checked;
void fm_turn_plain(fm_instance *s, const double *y);
void fm_local_plain(fm_instance *s);
void fm_local_back_plain(fm_instance *s);
#ifdef FM_HAVE_AVX2
extern const fm_kernels fm_kernels_avx2;
void fm_turn_avx2(fm_instance *s, const double *y);
void fm_local_avx2(fm_instance *s);
void fm_local_back_avx2(fm_instance *s);
#endif
/* integrate.c */
fm_status fm_integrate(fm_instance *s, double t_end);
void fm_dense(const fm_instance *s, double t, double *y);
int fm_normalise(const fm_instance *s, double *y, double *slope);
/* reversed.c */
void fm_reversed_structure(fm_instance *s);
void fm_run_turns(fm_instance *s, const double *y);
const double *fm_linked(const fm_instance *s, const double *y);
void fm_run_sweeps(fm_instance *s, const double *y, const double *tau, double *udot);
void fm_run_back(fm_instance *s, double *udot);
void fm_from_links(const fm_instance *s, double *udot);
/* reactions.c */
void fm_joint_wrench(const fm_instance *s, int32_t joint, double wrench[6]);
int fm_make_dual(const fm_instance *s, double (*phi)[6], int32_t n, fm_dual *d);
void fm_dual_wrench(const fm_dual *d, double x[6]);
void fm_dual_rates(const fm_dual *d, double x[6]);
void fm_take_free_modes(const fm_instance *s, int32_t joint, double wrench[6]);
double fm_drive(const fm_instance *s, int32_t joint, int32_t part);
/* values.c */
double fm_value(fm_instance *s, int32_t kind, int32_t object, int32_t component);
double fm_acceleration(const fm_instance *s, int32_t link, const double *at, int32_t part);
int32_t fm_validity(const fm_image *image, int32_t kind, int32_t object);
void fm_quaternion_of(const double *R, double q[4]);
void fm_multiply_quaternions(const double *a, const double *b, double out[4]);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
