/* instance.h: an instance of an image: everything that changes.
 *
 * What several rooms share is in the headers of this folder: link.h (tree), loop.h, plane.h, laws.h, reduced.h, work.h
 * (one evaluation), saved.h (state). What one room needs for itself, and those above it read, is in its scratch.h. In
 * their tables of arrays the last column is the number of elements. SI units; a wrench is torque [N.m], then force [N].
 */
#ifndef FM_INSTANCE_H
#define FM_INSTANCE_H

#include "hosted.h"
#include "laws.h"
#include "link.h"
#include "loop.h"
#include "plane.h"
#include "reduced.h"
#include "saved.h"
#include "work.h"

FM_HIDDEN_BEGIN

#define FM_STICKING 64     /* most laws that may stick at a time */
#define FM_SLIDING (-2.0) /* second number of the mode of a law that does not stick */
#define FM_UNKNOWN (-3.0) /* both numbers of an unknown mode */
#define FM_LAW_JUMP 1e-9 /* a smaller jump of a law, relative to the forces, is ignored */

typedef struct fm_model {
    fm_sizes n;
    int32_t ny; /* numbers of the state: positions, speeds, deflections of bristles and own states of elements */
    int32_t bristles; /* where in it the last two begin */
    int32_t pendings;
    int32_t angles; /* links that rotate by an angle */
    int32_t balls;
    int32_t reversed; /* balls of joints that are traversed from M to F */
    int32_t slides; /* links whose origin translates */
    int32_t planars; /* links of trees that move in a plane */
    int32_t plane_pendings;
    double plane_tip; /* moment of inertia of the last of them [kg.m2] */
    int32_t ranges, spatial_angles, spatial_slides; /* counts for the spatial sweeps */
    int32_t coupled;  /* 1: some joint's springs couple its modes (matrix_laws.c) */
    double mass;      /* of all bodies, with their inertias about the links over the squared length [kg] */
    int32_t deforms;  /* 1: some coordinates are deformations (linear_range.c) */
    int32_t resisted; /* 1: some joint has a spring or a damper */
    int32_t obeys;    /* 1: the present parameters obey the rules on several of them (motion/rules.c) */
    int32_t excited;  /* 1: some mode is excited */
    int32_t reduced;  /* 1: the image asks for the reduced formulation */
    int32_t turning;  /* joints that turn about three axes (loops/turning_axes.c) */
    int32_t realised; /* drives that realise programs */
    int32_t inverse;  /* 1: the image asks for inverse dynamics: its motion is given (motion/required.c) */
    int32_t actuators; /* forces that it asks for */
    int32_t forced; /* 1: some force element acts on links */
    int32_t acted; /* 1: some force element acts on velocity variables */
    int32_t stateful; /* force elements that may have own states */
    int32_t acting; /* laws before those of spots, which have no force and never stick */
    int32_t acts;      /* 1: they are not those of all coordinates of a tree (motion/actuated.c) */
    size_t state_doubles;
} fm_model;

/* The functions compiled for each instruction set. */
typedef struct fm_kernels {
    void (*orient)(fm_instance *s, const double *y); /* cosines, sines, rotations of links; called by reversed.c */
    /* forward dynamics of the tree; after orient */
    void (*accelerate)(fm_instance *s, const double *y, const double *tau, double *udot);
    void (*outward)(fm_instance *s, double *udot); /* its outward sweep alone, after a change of the forces */
    void (*inertial)(fm_instance *s); /* fm_inertial of all links, by the velocities of the last evaluation */
    void (*velocities)(fm_instance *s,
                       const double *y); /* its first sweep alone: velocities, bias accelerations, local terms */
    /* in the plane (planar.inc, planar_loops.inc): */
    void (*plane_place)(fm_instance *s, const double *y); /* after orient: origins of the links that translate */
    void (*plane_world)(fm_instance *s, const double *y); /* then: poses and velocities in the plane */
    double (*plane_violation)(fm_instance *s, int level);
    int (*plane_factor)(fm_instance *s, const double *y);
    void (*plane_multiplier_response)(fm_instance *s, const double *lambda, double *out);
} fm_kernels;

typedef enum fm_valid {
    FM_VALID_NOTHING,
    FM_VALID_WORLD = 1,
    FM_VALID_MOTION = 2, /* udot */
    FM_VALID_JOINT_FORCES = 4,
    FM_VALID_LINKS = 8,  /* results of the spatial sweeps in each link */
    FM_VALID_LAWS = 16,  /* modes of the force laws */
    FM_VALID_GIVEN = 32, /* the motion that is given is the present one */
    FM_VALID_QUATERNIONS = 64, /* of the links */
    FM_VALID_GRAPH = 128, /* values of graph->valued nodes of the graph of exact derivatives, and its conditions */
    FM_VALID_LAWS_AND_GRAPH = FM_VALID_LAWS | FM_VALID_GRAPH,
    FM_VALID_WORLD_AND_MOTION = FM_VALID_WORLD | FM_VALID_MOTION,
    FM_VALID_WORLD_AND_LAWS = FM_VALID_WORLD | FM_VALID_LAWS,
    FM_VALID_WORLD_AND_LINKS = FM_VALID_WORLD | FM_VALID_LINKS
} fm_valid;

/* An evaluation that can be repeated with other forces of the sticking laws (sticking.c). */
typedef struct fm_evaluation {
    void (*make)(fm_instance *s, const struct fm_evaluation *how, double *udot);
    double t;
    const double *y, *tau, *load;
} fm_evaluation;

struct fm_instance {
    fm_image image;
    fm_model model;
    const fm_kernels *kernels, *stiff_kernels;
    int32_t valid; /* fm_valid bits: which results belong to the present y and inputs */
    char guid[40];
    char message[512];
    void *bytes;   /* the memory block of all arrays */
    double *state; /* the block that is saved */
    double *kept;  /* a copy of it during fm_assemble */
#define V(name, count) double *name;
    FM_STATE_ARRAYS(V)
#undef V
#define A(type, name, count) type *name;
    FM_TREE_ARRAYS(A)
#undef A
    fm_loop_plan plan;
    fm_loop loop;
    fm_planar planar;
    fm_laws laws;
    fm_work work;
    fm_stiff stiff;
    fm_reduced reduced;
    fm_hosted hosted;
    fm_host host;
    /* memory of single rooms, in the scratch.h of each */
    struct fm_realised *realised;     /* loops */
    struct fm_following *following;   /* motion: what follows from independent states */
    struct fm_implicit *implicit;     /* motion */
    struct fm_friction *friction;     /* motion */
    struct fm_singular *singular;     /* motion */
    struct fm_least *least;           /* motion */
    struct fm_actuated *actuated;     /* motion */
    struct fm_assembly *assembly;     /* assembly */
    struct fm_integrator *integrator; /* time */
    struct fm_graph *graph;           /* adjoint */
    struct fm_statics *statics;       /* statics */
};

/* Where the force of a sticking law lies in its range. */
typedef enum fm_locking { /* a law's velocity can be changed, or is fixed at rest, or fixed to rise, to fall
                             (motion/locked_laws.c) */
                          FM_NOT_LOCKED,
                          FM_LOCKED_AT_REST,
                          FM_LOCKED_RISING,
                          FM_LOCKED_FALLING
} fm_locking;
typedef enum fm_sticking_at { FM_BETWEEN, FM_AT_LEAST, FM_AT_MOST } fm_sticking_at;

enum { FM_POSITIONS, FM_VELOCITIES };

/* Access to three numbers of one link: fm_lane_get(s, w, i, out). */
#define fm_inertial_at(s, name, i) ((s)->inertial[(i) / FM_LANE_WIDTH].name), (i) % FM_LANE_WIDTH
#define fm_inertial_get(s, name, i, out) fm_lane_read(fm_inertial_at(s, name, i), out)
#define fm_inertial_set(s, name, i, in) fm_lane_write(fm_inertial_at(s, name, i), in)
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

/* The angular velocity of a link's parent, in the parent's axes. */
static inline void fm_parent_w(const fm_instance *s, int32_t parent, double out[3])
{
    if (parent < 0) out[0] = out[1] = out[2] = 0.0;
    else fm_lane_get(s, w, parent, out);
}

/* The numbers of a planar link are FM_PLANE_WIDTH apart. */
#define FM_PLANE_BLOCK(s, place) ((s)->planar.lanes + (uint32_t)(place) / FM_PLANE_WIDTH * FM_PLANE_SIZE)

static inline double *fm_plane_at(const fm_instance *s, int32_t place)
{
    return FM_PLANE_BLOCK(s, place) + (uint32_t)place % FM_PLANE_WIDTH;
}

static inline fm_modal *fm_modal_of(const fm_instance *s, int32_t link)
{
    return s->modal + s->image.link_modal[link];
}

static inline fm_plane_modal *fm_plane_modal_of(const fm_instance *s, const fm_plane_link *k)
{
    return s->planar.modal + s->image.link_modal[k->link];
}

/* The shapes of a frame on a flexible body, or of the one that carries it. */
static inline const fm_plane_shape *fm_plane_shapes_of(const fm_instance *s, const fm_plane_link *k)
{
    const int32_t first = s->image.frame_first[s->image.link_frame[k->link]];
    return (fm_plane_modal_of(s, k)->all > fm_plane_modal_of(s, k)->n ? s->planar.shape_now : s->planar.shape) + first;
}

/* Whether a row takes no part now: a given start value, which assembly alone knows; a lock but in statics; there a
 * program that is released (statics/pose.c). */
static inline int fm_row_rests(const fm_instance *s, int32_t row)
{
    const fm_image *m = &s->image;
    if (m->row_kind[row] == FM_ROW_GIVEN) return 1;
    if (m->row_kind[row] == FM_ROW_COUPLED && m->row_part[row] == FM_OF_LOCK) return !s->loop.posing;
    return s->loop.releasing && m->row_excitation[row] >= 0;
}

/* The number of variables of rows and changes: modes, then, while positions are assembled, free screws of general
 * links.
 */
static inline int32_t fm_placed(const fm_instance *s)
{
    return s->image.n.modes + s->image.n.velocity_rows;
}

/* Whether element i of a state is a velocity. */
static inline int fm_is_speed(const fm_instance *s, int32_t i)
{
    return i >= s->image.n.positions && i < s->model.bristles;
}

/* Where in a state a friction's bristles are. */
static inline int32_t fm_bristles_of(const fm_instance *s, int32_t friction)
{
    return s->model.bristles + s->image.friction_z[friction];
}

/* Whether the planar kernels move a link. */
static inline int fm_moves_in_plane(const fm_instance *s, int32_t link)
{
    return s->planar.used && s->planar.place[link] >= 0;
}

FM_HIDDEN_END

#endif
