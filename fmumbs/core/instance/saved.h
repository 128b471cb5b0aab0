/* saved.h: what a saved state contains. */
#ifndef FM_SAVED_H
#define FM_SAVED_H

#include "../image/image.h"

FM_HIDDEN_BEGIN

#define FM_TAYLOR 3    /* highest order of input derivatives */

#define FM_SAVED_PARAMETER(V, kind, array, columns, rows) V(array, (columns) * m->n.rows)

/* The arrays of a saved state, all doubles: V(name, numbers), m the model. */
#define FM_STATE_ARRAYS(V)                                                                   \
    V(clock, FM_CLOCK_SIZE)                                                                  \
    V(y, m->ny)                /* positions, speeds, bristles and own states, at the present time */ \
    V(guess, m->ny)            /* as last set: the guess of assembly */                        \
    V(base, m->ny)             /* the model's start values, or those after the last step, before any were set */    \
    V(head, m->ny)             /* at the integrator's time */                                \
    V(slope, m->ny)            /* derivative there */                                        \
    V(dense, FM_DENSE_TERMS * m->ny) /* interpolation over the integrator's last step */           \
    V(tau, m->n.modes)         /* inputs: generalised applied forces */                      \
    V(load, 6 * m->n.loads)    /* force, torque of each load, in its axes */                  \
    V(tau_taylor, FM_TAYLOR * m->n.modes)                                                   \
    V(load_taylor, FM_TAYLOR * 6 * m->n.loads)                                               \
    V(control, m->n.controls)  /* inputs of actuators, friction and laws */                  \
    V(control_taylor, FM_TAYLOR * m->n.controls)                                             \
    V(given, m->inverse * (m->n.positions + 2 * m->n.speeds)) /* inputs: positions, speeds, accelerations */ \
    V(normal_last, m->n.frictions) /* own normal forces at the end of the last step, with which the next one begins */ \
    V(gravity, 3)                                                                            \
    V(closure, 4)                                                                            \
    V(options, FM_OPTIONS)                                                                   \
    V(coupled_stiffness, m->n.coupled)                                                      \
    V(coupled_damping, m->n.coupled)                                                        \
    V(screw_stiffness, m->n.screws)                                                         \
    V(screw_damping, m->n.screws)                                                           \
    V(screw_rest, m->n.screws)                                                              \
    FM_PARAMETERS(FM_SAVED_PARAMETER, V)                                                     \
    V(law_mode, 2 * m->n.laws) /* two numbers of each law's mode (laws.c) at the integrator's time */ \
    V(law_last, 2 * m->n.laws) /* those of its last step */                                  \
    V(law_struck, FM_STRUCK * m->n.laws) /* of each law's impacts (fm_struck), at the integrator's time */ \
    V(law_struck_last, FM_STRUCK * m->n.laws) /* those of its last step */                   \
    V(cut_p, m->n.cut_positions) /* of cut joints, at the last accepted positions */         \
    V(via_angle, m->n.vias)    /* where ropes touch pulleys, at the last accepted positions [rad] (sides.c) */ \
    V(fade, 3 * m->n.excitations) /* of a program: deviation of position and rate at the start, and its time */ \
    V(closed, m->n.dependent_u > 0 ? m->ny : 0) /* y where the loops of independent states were closed */ \
    V(row_active, m->n.rows)   /* 1: the row is active, found to be independent */            \
    V(drive_side, m->realised > 0) /* sign of the drives' effect on what they realise, at the start (realised.c) */ \
    V(row_pivot, m->n.rows)    /* its pivot in K when rows were chosen, or the largest since */

/* What is known of the impacts of a stop (motion/impacts.c): the last impulse, along the velocity [N.s or N.m.s], the
 * energy lost [J], the time at which the last series ends [s], and how many there were. */
enum { FM_STRUCK_IMPULSE, FM_STRUCK_LOSS, FM_STRUCK_RESTED, FM_STRUCK_COUNT, FM_STRUCK };

typedef enum fm_clock { /* indices into `clock` */
                        FM_TIME,        /* the present (communication) time [s] */
                        FM_TIME_HEAD,   /* the integrator's time [s] */
                        FM_TIME_TAIL,   /* start of its last step */
                        FM_TIME_DENSE,  /* intended end of that step, where the dense output ends */
                        FM_H,           /* the next step size, 0 before the first */
                        FM_ERROR_LAST,  /* error of the previous step, for the controller */
                        FM_FRESH,       /* 1: the slope at the head is known */
                        FM_AHEAD,       /* 1: nothing changed since the head was computed, it may be used */
                        FM_TAYLOR_ON,   /* 1: inputs have derivatives in the next step */
                        FM_ASSEMBLED,
                        FM_STEPS_DONE,
                        FM_STEPS_REJECTED,
                        FM_CORRECTED, /* numbers of corrections of drift, and of their iterations */
                        FM_ITERATED,
                        FM_SWITCHED, /* time of the last switch of a law, and number of switches that closely followed
                                        another */
                        FM_FLURRY,
                        FM_FOLLOWED, /* time to which cut_p belongs */
                        FM_IMPLICIT, /* 1: the last step was one of the implicit scheme */
                        FM_IMPLICIT_DONE, /* number of those */
                        FM_EVALUATIONS,   /* number of evaluations in steps */
                        FM_NEAR, /* 1: the last step was near the limit of the explicit scheme's stability (FM_AUTO) */
                        FM_LOST, /* evaluations by which it was dearer to try the other scheme than to go on */
                        FM_PAYS, /* while the implicit scheme is on probation: the step [s] with which it stays, and
                                    steps so far; else 0 */
                        FM_PROVED,
                        FM_TURNING, /* steps of the implicit scheme that take K and D of each stage (radau_small.c) */
                        FM_MOVED, /* 1: a step has been made since the model's start */
                        FM_LONGEST, /* the longest step so far [s] */
                        FM_RATE, /* how fast the mechanism moves (tree/rate.c) [1/s] */
                        FM_DEFORMED, /* the first deformation beyond its bound (linear_range.c), 0: none; its velocity
                                        variable and time [s] */
                        FM_DEFORMED_MODE,
                        FM_DEFORMED_AT,
                        FM_CAVITY, /* the first chamber whose oil cavitated, from 1 on, 0: none; and when [s] */
                        FM_CAVITATED_AT,
                        FM_PASSED_OVER, /* the first spot whose contact a step missed, from 1 on, 0: none; its end and
                                      length [s] */
                        FM_PASSED_OVER_AT,
                        FM_PASSED_OVER_IN,
                        FM_HOSTED, /* 1: the host integrates (time/hosted.c) */
                        FM_EVENT, /* time of its last event */
                        FM_LOOPS_OPEN, /* 1: independent states or parameters of cams were set, where the loops are not
                                          closed yet */
                        FM_CLOCK_SIZE
} fm_clock;

FM_HIDDEN_END

#endif
