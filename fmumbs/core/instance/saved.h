/* saved.h: what is saved with the state. */
#ifndef FM_SAVED_H
#define FM_SAVED_H

#include "../image/image.h"

FM_HIDDEN_BEGIN

#define FM_TAYLOR 3    /* highest order of input derivatives */

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

FM_HIDDEN_END

#endif
