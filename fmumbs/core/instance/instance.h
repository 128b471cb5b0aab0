/* instance.h: everything that changes: an instance of an image. */
#ifndef FM_INSTANCE_H
#define FM_INSTANCE_H

#include "../maths/float_mode.h"
#include "link.h"
#include "loop.h"
#include "plane.h"
#include "saved.h"

FM_HIDDEN_BEGIN

#define FM_STAGES 7    /* of Dormand-Prince 5(4) */
#define FM_NODES 12   /* of an interpolation through a singular position */
#define FM_HELD 64     /* most laws that may hold velocities at a time */
#define FM_PASSING (-2.0) /* second number of the mode of a law that holds nothing */
#define FM_UNKNOWN (-3.0) /* both, where nothing is known */
#define FM_AT 1e-12     /* a velocity that is so near to a bound of a law is there, beside 1 and itself */
#define FM_LAW_JUMP 1e-9 /* a smaller jump of a law, beside the forces, is none */

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

/* Where the force of a law at a jump lies in its range. */
typedef enum fm_held_at { FM_BETWEEN, FM_AT_LEAST, FM_AT_MOST } fm_held_at;

enum { FM_POSITIONS, FM_VELOCITIES };
enum { FM_DROPPED = -1, FM_FREE, FM_FIXED, FM_TAKEN }; /* start_hold: what is beyond FM_FREE holds */

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

/* The numbers of a planar link: a lane every FM_PLANE_WIDTH. */
#define FM_PLANE_BLOCK(s, place) ((s)->plane + (uint32_t)(place) / FM_PLANE_WIDTH * FM_PLANE_SIZE)

static inline double *fm_plane_at(const fm_instance *s, int32_t place)
{
    return FM_PLANE_BLOCK(s, place) + (uint32_t)place % FM_PLANE_WIDTH;
}

static inline fm_modal *fm_modal_of(const fm_instance *s, int32_t link)
{
    return s->modal + s->image.link_modal[link];
}

FM_HIDDEN_END

#endif
