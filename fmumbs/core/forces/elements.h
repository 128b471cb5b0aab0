/* elements.h: what each force element of FM_FORCE_ELEMENTS (variables.h) is to the rest of the core.
 *
 * The file of an element, spring.c, has its verbs as static functions in this order and one fm_force_element of them.
 * All require world kinematics. A verb that an element does not have is NULL.
 */
#ifndef FM_ELEMENTS_H
#define FM_ELEMENTS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

#define FM_DIRECTIONS 3 /* in which an element resists, at most */

/* A direction in which something between links F and M (-1: ground) resists a motion: the wrench of a unit force on M,
 * and the opposite of that on F; its stiffness and its damping, neither below 0. */
typedef struct fm_direction {
    fm_constraint on_M, on_F;
    int32_t F, M;
    double k, d;
} fm_direction;

#define FM_OWN_STATES 3 /* of an element, at most */

/* The own states of an element from `first` on in y: their rates at y, and the values at which these are zero at its
 * velocities; what is small; and along the velocity variable u, or if that is -1 the line from P to Q, per unit, A of
 * each rate by each state, B by the velocity `along`, C of the force by each state, and the damping of the force at
 * constant states. Of a spot, without u and P, three across a contact, whose force is that of its directions, and whose
 * A and B follow velocities. */
typedef struct fm_own_states {
    int32_t first, u, P, Q;
    double along[FM_OWN_STATES];
    double rate[FM_OWN_STATES], settled[FM_OWN_STATES], nominal[FM_OWN_STATES];
    double A[FM_OWN_STATES][FM_OWN_STATES], B[FM_OWN_STATES], C[FM_OWN_STATES], damping;
    int follows;                /* A and B follow velocities */
    double seed[FM_OWN_STATES]; /* what work.control_seed changes of each rate */
} fm_own_states;

typedef struct fm_force_element {
    /* Adds its wrenches to those applied to the links (wrenches.h, point_pair.h); `load`: of all loads, from the
     * inputs. */
    void (*apply)(fm_instance *s, int32_t i, const double *load);
    /* Adds what inputs and sticking laws change of them alone: `load`, work.control_seed and the laws are then those
     * changes. */
    void (*respond)(fm_instance *s, int32_t i, const double *load);
    /* The same of forces on velocity variables, which it adds to tau: at y, and what work.control_seed changes. */
    void (*act)(fm_instance *s, int32_t i, const double *y, double *tau);
    void (*react)(fm_instance *s, int32_t i, double *tau);
    /* Its own states at y; returns how many. Requires work.control, and world kinematics of what acts along a line. */
    int (*states)(const fm_instance *s, int32_t i, const double *y, fm_own_states *own);
    /* Whether its own states rest whatever y is, which costs less to ask: their rates are then zeroed in ydot. */
    int (*rests)(const fm_instance *s, int32_t i, double *ydot);
    /* Its energy [J]: potential, and of its own states. */
    double (*energy)(const fm_instance *s, int32_t i);
    /* The two links that it acts between. */
    void (*links)(const fm_image *m, int32_t i, int32_t links[2]);
    /* The directions in which it resists at y; returns how many. Those of ropes are in compliances.c. For the implicit
     * scheme and statics alone: what it leaves out slows an iteration down, and changes nothing of where it ends. An
     * element with this has `links`. */
    int (*stiffness)(const fm_instance *s, int32_t i, const double *y, fm_direction at[FM_DIRECTIONS]);
    /* Its outputs of variables.h. */
    double (*value)(const fm_instance *s, int32_t kind, int32_t i, int32_t part);
    /* What work.control_seed changes of those that follow its own inputs at once (FM_FOLLOWS_OWN). */
    double (*seed)(const fm_instance *s, int32_t kind, int32_t i, int32_t part);
} fm_force_element;

#define O(id, one, all) extern const fm_force_element fm_##one##_element;
FM_FORCE_ELEMENTS(O)
#undef O

int32_t fm_count_directions(const fm_image *m);
int32_t fm_count_stateful(const fm_image *m);
void fm_own_rates(const fm_instance *s, const double *y, double *ydot);
int fm_own_states_of(const fm_instance *s, int32_t number, const double *y, fm_own_states *own);
int32_t fm_count_pairs(const fm_image *m);
void fm_pair_links(const fm_image *m, int32_t pair, int32_t links[2]);

FM_HIDDEN_END

#endif
