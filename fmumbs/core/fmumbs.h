/* fmumbs.h: the public interface of the core, in one header.
 *
 * A model image is read-only bytes, written by the compiler. An instance holds everything that changes. Every function
 * that can fail returns an fm_status and leaves a complete sentence in fm_message(). Only fm_open allocates memory.
 * Value references are indices into the image's table of variables; those beyond it are the time, then the continuous
 * states, their rates, and the event indicators. SI units, angles in radians.
 */
#ifndef FMUMBS_H
#define FMUMBS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) /* the core's symbols stay hidden outside the library it is linked into */
#pragma GCC visibility push(hidden)
#endif

typedef struct fm_instance fm_instance;

typedef enum fm_status {
    FM_OK = 0,
    FM_DISCARD = 1, /* the step failed; the instance remains valid at fm_time() */
    FM_ERROR = 2    /* the call was refused, nothing changed */
} fm_status;

typedef enum fm_causality { FM_INPUT, FM_OUTPUT, FM_PARAMETER, FM_LOCAL } fm_causality; /* local: a constant */
typedef enum fm_type { FM_REAL, FM_INTEGER, FM_BOOLEAN } fm_type;

/* Which elements have a kind of variable, and how many components where its number is 0. */
typedef enum fm_elements {
    FM_HAVE_EVERY,               /* every element of the owner */
    FM_HAVE_NAMED,               /* points with a name */
    FM_HAVE_FLEXIBLE,            /* bodies with modes: one for each */
    FM_HAVE_RIGID,               /* bodies without */
    FM_HAVE_ORIENTED,            /* bodies with Euler angles */
    FM_HAVE_TERMS,               /* couplings: one for each coordinate */
    FM_HAVE_CAMS,                /* couplings with a profile */
    FM_HAVE_RUBBING,             /* frictions: one for each mode */
    FM_HAVE_PRESSED,             /* frictions whose normal force has an input */
    FM_HAVE_SCALED,              /* frictions and laws that an input scales */
    FM_HAVE_INDUCTIVE,           /* motors with an inductance, whose current is a state */
    FM_HAVE_RESISTIVE,           /* motors without */
    FM_HAVE_ROTATING,            /* motors on joints that have a rotor */
    FM_HAVE_CUT,                 /* motors whose voltage has a limit */
    FM_HAVE_CURBED,              /* motors whose current has one */
    FM_HAVE_LOSSY,               /* motors whose gear has losses */
    FM_HAVE_LOSSLESS,            /* motors whose gear has none */
    FM_HAVE_FLOWING,             /* cylinders whose flows are inputs */
    FM_HAVE_VALVED,              /* those with a valve */
    FM_HAVE_SPOTS,               /* contacts: one for each spot */
    FM_HAVE_SPOT_PLACES,         /* three for each */
    FM_HAVE_BRISTLED,            /* tyres, and contacts with bristles: three for each spot */
    FM_HAVE_RUBBED,              /* contacts with friction */
    FM_HAVE_BRUSHED,             /* those with bristles, tyres apart */
    FM_HAVE_CREEPING,            /* those without, tyres apart */
    FM_HAVE_DRY,                 /* contacts with friction that are no tyres */
    FM_HAVE_DAMPED,              /* tyres, and contacts with bristles */
    FM_HAVE_TYRED,               /* tyres */
    FM_HAVE_ROLLING,             /* contacts that resist rolling and drilling */
    FM_HAVE_ROLLING_SPOTS,       /* those: one for each spot */
    FM_HAVE_ROLLED,              /* three for each */
    FM_HAVE_SOFT,                /* laws but stops with a restitution */
    FM_HAVE_HARD,                /* stops with a restitution */
    FM_HAVE_CLOSED,              /* models with loops */
    FM_HAVE_DEFORMED,            /* models with flexible bodies or links */
    FM_HAVE_STEADY,              /* loads in world axes */
    FM_HAVE_FOLLOWER,            /* loads in the axes of their points */
    FM_HAVE_SIDES,               /* ropes: one for each side */
    FM_HAVE_REEVED,              /* ropes: one for each pulley */
    FM_HAVE_WOUND,               /* ropes whose length is an input */
    FM_HAVE_UNWOUND,             /* those whose length is a parameter */
    FM_HAVE_FORCED,              /* joints: free modes of one translation, or those of a free joint */
    FM_HAVE_TORQUED,             /* the other free modes; rotations of ball and free joints */
    FM_HAVE_COORDINATES,         /* free modes of ordinary joints, positions of nonholonomic ones */
    FM_HAVE_RATES,               /* free modes of ordinary joints */
    FM_HAVE_NONHOLONOMIC,        /* free modes of nonholonomic joints */
    FM_HAVE_TURNING,             /* ball and free joints */
    FM_HAVE_FREE,                /* free joints */
    FM_HAVE_SPRUNG,              /* joints: entries of their matrix, or their modes */
    FM_HAVE_RESTING,             /* the same modes without a matrix's other entries */
    FM_HAVE_GEARED,              /* free modes of joints all of whose modes are screws */
    FM_HAVE_EXCITED,             /* excited modes */
    FM_HAVE_BY_ACCELERATION,     /* those whose acceleration is given */
    FM_HAVE_FOLLOWING,           /* those whose acceleration is not given */
    FM_HAVE_BY_POSITION,         /* those that follow a position */
    FM_HAVE_PROGRAMMED,          /* excited modes of programs */
    FM_ELEMENTS_COUNT
} fm_elements;

/* Where the values of a kind of variable are stored. */
typedef enum fm_storage {
    FM_AT_NOWHERE, /* computed */
    FM_AT_TAU,     /* inputs of modes */
    FM_AT_LOAD_FORCE,
    FM_AT_LOAD_TORQUE,
    FM_AT_CONTROL,  /* inputs of actuators, frictions and laws */
    FM_AT_POSITION, /* the state, and its rates, of a joint's free modes */
    FM_AT_QUATERNION,
    FM_AT_SPEED,
    FM_AT_ACCELERATION,
    FM_AT_EXCITED, /* positions of excited modes */
    FM_AT_BRISTLE,
    FM_AT_OWN_STATE, /* of force elements */
    FM_AT_MODAL_POSITION, /* the state, and its rates, of a flexible body */
    FM_AT_MODAL_SPEED,
    FM_AT_MODAL_ACCELERATION,
    FM_AT_PARAMETER, /* the array of FM_PARAMETERS or FM_SETTINGS */
    FM_STORAGE_COUNT
} fm_storage;

/* What an output follows. On all from FM_FOLLOWS_ACCELERATIONS on, inputs act at once. */
typedef enum fm_follows {
    FM_FOLLOWS_NOTHING, /* no output */
    FM_FOLLOWS_POSITIONS,
    FM_FOLLOWS_VELOCITIES,
    FM_FOLLOWS_SPRING, /* positions, velocities and parameters; a law may hold a spring: then as FM_FOLLOWS_LAW */
    FM_FOLLOWS_STATE,  /* anything but inputs */
    FM_FOLLOWS_ACCELERATIONS, /* inputs that accelerate what it belongs to */
    FM_FOLLOWS_EXCITATION,    /* the excited mode's own input */
    FM_FOLLOWS_BALANCE,       /* inputs whose forces pass it */
    FM_FOLLOWS_LAW,           /* what accelerates the law's ends */
    FM_FOLLOWS_ROPE,          /* the rope's own input */
    FM_FOLLOWS_FRICTION,      /* the friction's own inputs, and all where a reaction loads it */
    FM_FOLLOWS_OWN,           /* the element's own inputs */
    FM_FOLLOWS_GIVEN_MOTION,  /* all inputs of an image that asks for inverse dynamics */
    FM_FOLLOWS_COUNT
} fm_follows;

/* One kind of variable: "J.q", "B.mass", "solver.energy" ... */
typedef struct fm_kind_info {
    const char *suffix;      /* "q": the variable is OWNER.q or OWNER.q[i] */
    const char *unit;        /* of a rotational or undirected quantity; "" if dimensionless */
    const char *unit_linear; /* of the same quantity if the mode is a translation */
    const char *description; /* a sentence without a full stop */
    int32_t owner;           /* index of what it belongs to */
    int32_t causality;       /* an fm_causality */
    int32_t type;            /* an fm_type */
    int32_t tunable;         /* parameters: may change during the simulation */
    int32_t state;           /* outputs: 1 for a state, whose start value FMI calls exact */
    const char *owner_name;  /* "JOINT", "BODY", ..., "MODEL" */
    int32_t components;      /* of each variable; 0: as many as `elements` says */
    int32_t elements;        /* an fm_elements */
    int32_t place;           /* an fm_storage */
    int32_t follows;         /* an fm_follows */
    int32_t of_inverse;      /* 1: of images that ask for inverse dynamics */
} fm_kind_info;

/* Where the start value of a parameter is in the image: entry `first` of an array of so many columns for each element.
 */
typedef struct fm_parameter_info {
    int32_t kind;
    const char *array;
    int32_t first, columns;
} fm_parameter_info;

/* One scheme of integration; its number is the value of solver.scheme. */
typedef struct fm_scheme_info {
    const char *name;
    const char *method;  /* "Runge-Kutta 4 with fixed step" */
    const char *purpose; /* "of order 4, with fixed steps" */
    int32_t order;       /* of its steps */
    int32_t fixed;       /* 1: equal steps of at most solver.step; 0: steps by solver.tolerance */
    int32_t stages;      /* derivatives of the state that a step works with */
} fm_scheme_info;

typedef struct fm_variable_info {
    int32_t kind;      /* index for fm_kind(); beyond the table -1, of event indicators -2 */
    int32_t object;    /* index of the joint, body, ... that owns it */
    int32_t component; /* 0-based; -1 if the variable has one component only */
    int32_t causality;
    int32_t type;
    int32_t tunable;
    int32_t state;
    const char *unit;
} fm_variable_info;

/* A start value that assembly changed to close the loops: one coordinate, or a whole orientation. */
typedef struct fm_start_change {
    char name[96];        /* "A.q", "S.w[2]"; truncated if longer */
    const char *unit;
    int32_t count;        /* numbers in given and value: 4 for a quaternion */
    int32_t velocity;     /* 1: a velocity, 0: a position */
    int32_t mode, modes;  /* the velocity variable, in the order of the image's modes, and how many belong together */
    int32_t set;          /* 1: it was set to a value other than the model's; 0: the value is the model's */
    double given[6], value[6];
} fm_start_change;

/* What an event changed, for a host that integrates itself. */
typedef struct fm_events {
    int32_t changed; /* 1: continuous states */
    double next;     /* time of the next event that is known before [s], INFINITY for none */
} fm_events;

/* One array of the image, for the packer that writes it and the reader that checks it. */
typedef struct fm_array_info {
    const char *name;
    const char *unit;
    const char *section;
    char type; /* 'i' int32, 'd' float64, 'b' byte */
    int32_t columns;
    const char *rows;  /* name of the size that counts its rows */
    const char *bound; /* name of the size that its values index; "" if they are not indices */
} fm_array_info;

/* Lifetime ------------------------------------------------------------------------------------------- */

/* Checks the image and copies it. On failure *out is NULL and `message` holds the reason. Allocates. */
fm_status fm_open(const void *image, size_t bytes, fm_instance **out, char *message, size_t capacity);
/* The same, with what exact derivatives need beside, about 10 kB a body: fm_directional_derivative is then exact where
 * it would be a difference, and there is fm_adjoint_derivative, if the model is covered. */
fm_status fm_open_with_derivatives(const void *image, size_t bytes, fm_instance **out, char *message, size_t capacity);
void fm_close(fm_instance *instance);
/* Resets to the initial state, bit for bit. */
fm_status fm_reset(fm_instance *instance);

/* Simulation ------------------------------------------------------------------------------------------ */

/* Assembles the mechanism at time t [s]: finds consistent positions and velocities from the values that were set (after
 * a step: from the present ones). With solver.equilibrium it goes on to the static equilibrium near them, at rest;
 * excited modes keep their velocities. The result does not depend on earlier assemblies. */
fm_status fm_assemble(fm_instance *instance, double t);
/* The position variables of the spanning tree at the present time, in the image's order: at most `capacity` of them.
 * Returns how many there are; 0 if they do not follow from the independent states that a host set, and the message
 * says why. */
size_t fm_positions(fm_instance *instance, double *positions, size_t capacity);
/* The number of velocity variables of the spanning tree. */
int32_t fm_speed_count(const fm_instance *instance);
/* At rest at the present positions of an assembled instance, with excited modes that stand and laws without friction:
 * out = M^-1 K direction, both of fm_speed_count() velocity variables, K the tangent stiffness by central differences
 * with steps of `step` [rad], or times the model's length; and its inverse, out = K^-1 M direction, by Krylov spaces.
 * What the loops do not allow is left out. */
fm_status fm_tangent(fm_instance *instance, double step, const double *direction, double *out);
fm_status fm_flexibility(fm_instance *instance, const double *direction, double *out);
/* How the last assembly with solver.equilibrium found it: 0 Newton's method, 1 by descent, 2 Newton's method with
 * shortened steps, 3 not at all; and in how many evaluations of accelerations. */
int32_t fm_equilibrium_found(const fm_instance *instance, double *evaluations);
/* Whether the equilibrium of the last assembly is stable: 0 if so, and without solver.equilibrium; else the growth rate
 * [1/s] of a motion that departs from it, and the name of the coordinate that moves most in it, "" for a vibration
 * (flutter); NAN if it was not found out, as where forces without a potential act on more than 40 velocity variables.
 */
double fm_departure(const fm_instance *instance, char *name, size_t capacity);
/* The first deformation since assembly that left the linear range, a rotation [rad] or strain above solver.deformation,
 * and a sentence on it without the last full stop; 0: none did. */
double fm_deformation(const fm_instance *instance, char *message, size_t capacity);
/* The words by which a message of an FMU is known to tell of it (fm_cavitation, fm_missed_contact). */
#define FM_OIL_CAVITATES "oil cavitates"
#define FM_CONTACT_MISSED "steps are too long for contact"
/* Whether the oil of a chamber of a cylinder cavitated since assembly, and a sentence on the first, without the last
 * full stop. */
int fm_cavitation(const fm_instance *instance, char *message, size_t capacity);
/* Whether a fixed step, or a step of a host that integrates, missed a contact since assembly, and a sentence on the
 * first, without the last full stop. */
int fm_missed_contact(const fm_instance *instance, char *message, size_t capacity);
/* How many coordinates are locked in the equilibrium of the last assembly; the generalised force [N.m] or [N] that
 * keeps one at its start value, and its name. */
int32_t fm_lock_count(const fm_instance *instance);
double fm_lock(const fm_instance *instance, int32_t index, char *name, size_t capacity);
/* FM_OK if every free mode has inertia at some general position, with loops left open; otherwise an error that names a
 * mode without. */
fm_status fm_check_inertia(fm_instance *instance);
/* FM_OK if the parameters obey the rules on several of them (motion/rules.c), which fm_step asks for, and a host should
 * before it takes the start as final; otherwise an error that names one. Between two calls they need not hold. */
fm_status fm_check_parameters(fm_instance *instance);
/* The start values that fm_assemble changed: first those that were set, then those of the model; positions before
 * velocities, each in the model's order of joints. Writes at most `capacity` of them and returns how many there are.
 * Values that already close the loops, and all values outside loops, are kept exactly. */
size_t fm_start_changes(fm_instance *instance, fm_start_change *change, size_t capacity);
/* Advances to t_end [s]. FM_DISCARD: stopped early at fm_time(), where the state is valid. */
fm_status fm_step(fm_instance *instance, double t_end);
/* Advances to each of `times` (count) [s] in turn, as fm_step does, and writes a row at each: values of the variables
 * `reference` (width), as fm_get does, the j-th of row i to values[i * step[0] + j * step[1]], and positions (count,
 * positions), as fm_positions does, unless it is NULL. *rows: how many rows are complete. FM_DISCARD: stopped early, as
 * by fm_step; the host may also end the run between two steps. */
fm_status fm_run(fm_instance *instance, const double *times, size_t count, const uint32_t *reference, size_t width,
                 double *values, const size_t step[2], double *positions, size_t *rows);
/* Registers a callback, NULL for none, that a long step or run calls about ten times a second; a result other than 0
 * ends it with FM_DISCARD. Completed steps give the same bits with and without a callback. */
void fm_interrupt(fm_instance *instance, int (*wanted)(void *host), void *host);
/* Registers a callback, NULL for none, that fm_step calls at the end of each integration step before its own end.
 * There, at fm_time(), values may be read, and nothing be set; event: 1 if a force law or a path went over to its
 * next piece. It returns the time at which fm_step is to end: `end`, or an earlier one. Results are the same bits
 * with a callback that returns `end` and without. A step with derivatives of inputs is not shown. */
void fm_watch(fm_instance *instance, double (*step_ended)(void *host, double end, int event), void *host);
double fm_time(const fm_instance *instance);
/* Evaluates the dynamics `times` times at the present state, for benchmarking. */
fm_status fm_evaluate(fm_instance *instance, size_t times);
/* Which constraint rows assembly found to be independent: 1 or 0 for each, at most `capacity` of them. Returns the
 * number of rows. */
size_t fm_active(const fm_instance *instance, int32_t *active, size_t capacity);
/* Degrees of freedom that the loops leave to the assembled mechanism, without excited modes. */
int32_t fm_mobility(const fm_instance *instance);
/* The number of excited modes. */
int32_t fm_excited(const fm_instance *instance);
/* The constraint Jacobian J at the present state, (rows, speeds) by rows: rates of the constraints = J times the
 * velocity variables of the spanning tree. `capacity`: doubles that J has room for. The rows of prescribed start values
 * are zero. Returns how many doubles J has, 0 as fm_positions. */
size_t fm_jacobian(fm_instance *instance, double *J, size_t capacity);
/* By how much each row is violated at the present state, (rows, 2): its value [m] or [1], 0 for rows of velocities, and
 * its rate. Returns how many doubles c has, 0 as fm_positions. */
size_t fm_violations(fm_instance *instance, double *c, size_t capacity);

/* Integration by the host, as FMI's Model Exchange asks for ---------------------------------------------
 *
 * In place of fm_step, after fm_assemble: fm_update_events begins; then fm_set_continuous at the times and states that
 * the host's integrator chooses, with rates and event indicators there. Each step that it accepts is completed at its
 * end by fm_completed_step. fm_update_events follows at the time of an event: where a completed step asks for one,
 * where an indicator changed its sign, at the time that the last event announced, and after a jump of an input or a
 * parameter. fm_step and fm_assemble take the integration back. Arrays have fm_continuous_count() or
 * fm_indicator_count() elements. Outputs are those of the present state, as always.
 */

/* The continuous states: position variables of the spanning tree, its velocity variables, deflections of bristles,
 * without those of modes that follow a path. Their rates contain a pull to the constraints (motion/pull.c). Of an image
 * with independent states these alone: the others follow when something is asked for, FM_DISCARD where the loops cannot
 * be closed there. */
int32_t fm_continuous_count(const fm_instance *instance);
/* The continuous state that a variable is, -1 if it is none. */
int32_t fm_continuous_place(fm_instance *instance, uint32_t reference);
/* The same for a component of a kind that need not be in the table: -1 for a scalar. */
int32_t fm_continuous_of(fm_instance *instance, int32_t kind, int32_t object, int32_t component);
/* Their magnitudes, below which errors are absolute: 1 rad, or the model's length L [m], and for velocities that times
 * sqrt(g / L), the rate of a fall; without gravity times the rate of the fastest joint, 1 /s if nothing moves. */
void fm_nominals(const fm_instance *instance, double *nominal);
void fm_get_continuous(const fm_instance *instance, double *x);
/* At time t [s], not before the last event; x NULL: the present states. FM_ERROR where a number is not finite. */
fm_status fm_set_continuous(fm_instance *instance, double t, const double *x);
/* FM_DISCARD: there are none at the present state, a shorter step may avoid it. */
fm_status fm_continuous_rates(fm_instance *instance, double *rates);
/* One for each force law, positive as long as it stays in its piece, or sticks: the distance to where it does not any
 * more, relative to the law's own unit. Continuous between events. */
int32_t fm_indicator_count(const fm_instance *instance);
fm_status fm_indicators(fm_instance *instance, double *indicator);
/* Ends a step of the host at the present state. *event is 1 if fm_update_events must follow: constraints or quaternions
 * have drifted by more than ten times solver.tolerance, or laws at rest change their modes. FM_DISCARD: the motion
 * cannot come here; the instance is again at fm_time(), the end of the step before. */
fm_status fm_completed_step(fm_instance *instance, int32_t *event);
/* Updates what is constant between events: modes of the force laws, with the velocities that stick, and pieces of the
 * paths; projects the state onto the constraints. */
fm_status fm_update_events(fm_instance *instance, fm_events *events);
/* The tree state (positions + speeds + bristles): the continuous states, and among them what follows a path.
 * fm_set_tree_state puts the latter anywhere, until fm_set_continuous; its rates are those of the path at fm_time().
 * `capacity`: doubles that there is room for; nothing is written where that is too few, and fm_tree_rates is refused.
 * fm_tree_state and fm_tree_nominals return how many there are, fm_tree_state 0 as fm_positions. */
size_t fm_tree_state(fm_instance *instance, double *y, size_t capacity);
fm_status fm_set_tree_state(fm_instance *instance, const double *y);
fm_status fm_tree_rates(fm_instance *instance, double *rates, size_t capacity);
size_t fm_tree_nominals(const fm_instance *instance, double *nominal, size_t capacity);

/* What motions require, whatever the present state -----------------------------------------------------------
 *
 * Of the spanning tree, with loops left open, at `count` instants in rows: positions (count, positions) in the order of
 * fm_positions, normalised quaternions; speeds and accelerations (count, speeds) of the
 * velocity variables; with the parameters and inputs that are set. FM_ERROR: a number is not finite, or the parameters
 * break a rule. The state remains, what was computed of it does not.
 */

/* forces (count, speeds) = M accelerations + h(positions, speeds) - Q [N.m] or [N], h with gravity; Q, unless `applied`
 * is 0, what inputs, springs, dampers, friction that slides, and laws exert on the velocity variables. Inputs of
 * excited modes are no forces: theirs are what drives exert. FM_ERROR: friction loaded by its own joint's reaction. */
fm_status fm_required_forces(fm_instance *instance, size_t count, int applied, const double *positions,
                             const double *speeds, const double *accelerations, double *forces);
/* Of an image of inverse dynamics with actuators: forces (count, actuators) of these, in the order of its variables,
 * that make the motion with loops closed. The motion of the last instant remains as the one that is given. FM_ERROR: it
 * does not close the loops that were assembled, or the actuators do not determine it, with the instant. */
fm_status fm_actuated_forces(fm_instance *instance, size_t count, const double *positions, const double *speeds,
                             const double *accelerations, double *forces);
/* mass (count, speeds, speeds): M, symmetric. */
fm_status fm_mass_matrix(fm_instance *instance, size_t count, const double *positions, double *mass);
/* J (count, 6, speeds): the velocity of a point, then the angular velocity of its link, in world axes, are J speeds. r
 * [m]: the point in the axes of a link of the image, -1 for the ground. */
fm_status fm_point_jacobian(fm_instance *instance, size_t count, const double *positions, int32_t link,
                            const double r[3], double *J);
/* momenta (count, 10): mass [kg], centre of mass [m], momentum [N.s], angular momentum about it [N.m.s], world axes. */
fm_status fm_momenta(fm_instance *instance, size_t count, const double *positions, const double *speeds,
                     double *momenta);

/* Values: all as doubles ------------------------------------------------------------------------------ */

fm_status fm_get(fm_instance *instance, const uint32_t *reference, size_t count, double *value);
fm_status fm_set(fm_instance *instance, const uint32_t *reference, size_t count, const double *value);
/* Taylor coefficients of inputs about the present time, valid for one fm_step; orders 1 to 3. */
fm_status fm_set_input_derivatives(fm_instance *instance, const uint32_t *reference, size_t count, const int32_t *order,
                                   const double *value);
fm_status fm_get_output_derivatives(fm_instance *instance, const uint32_t *reference, size_t count,
                                    const int32_t *order, double *value);
/* result (unknowns) = (d unknown / d known) seed at the present time, with inputs, states and tunable parameters as
 * knowns, outputs and rates of continuous states as unknowns; force laws keep their modes. FM_DISCARD: one is not
 * finite. */
fm_status fm_directional_derivative(fm_instance *instance, const uint32_t *unknown, size_t unknowns,
                                    const uint32_t *known, size_t knowns, const double *seed, double *result);
/* result (knowns) = (d unknown / d known)' seed, seed (unknowns): the derivatives of a weighted sum of unknowns by all
 * knowns, in one sweep whose cost does not grow with their number. Of an instance that was opened with derivatives.
 * FM_ERROR: there is none of this model, unknown or known, and why. FM_DISCARD: one is not finite. */
fm_status fm_adjoint_derivative(fm_instance *instance, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                size_t knowns, const double *seed, double *result);
/* 1: of an instance with derivatives, if all outputs have adjoints with respect to all inputs, states and tunable
 * parameters, but for violations of constraints. 0: not, and `why` names what has none. */
int fm_has_adjoint(fm_instance *instance, char *why, size_t capacity);

/* Where the bodies are at the present positions: for each body, in the image's order, its origin r (3) [m] and its
 * rotation matrix R (3, 3) by rows, from body axes to world axes; then the modal coordinates of each flexible body.
 * `capacity`: doubles that there is room for; what does not fit is left out. Returns how many there are, 0 as
 * fm_positions. */
size_t fm_poses(fm_instance *instance, double *poses, size_t capacity);

/* State: version, image hash, checksum and numbers, but no pointers ------------------------------------------- */

size_t fm_state_size(const fm_instance *instance);
fm_status fm_state_save(const fm_instance *instance, void *bytes, size_t size);
fm_status fm_state_load(fm_instance *instance, const void *bytes, size_t size);

/* Introspection ----------------------------------------------------------------------------------------- */

const char *fm_message(const fm_instance *instance);
uint32_t fm_variable_count(const fm_instance *instance);
fm_status fm_variable(const fm_instance *instance, uint32_t reference, fm_variable_info *info);
/* The name of a variable, truncated to `capacity`; returns its full length. */
size_t fm_variable_name(const fm_instance *instance, uint32_t reference, char *name, size_t capacity);
/* The number of elements of the array that begins at a reference, if vectors of a fixed length are arrays: 1 for a
 * scalar, 0 for an element after the first. Components that were declared one by one, or not all, are scalars; so are
 * those of joints' modes, whose units differ, states, and their rates. */
uint32_t fm_array_length(const fm_instance *instance, uint32_t reference);
uint32_t fm_kind_count(void);
const fm_kind_info *fm_kind(uint32_t index);
uint32_t fm_parameter_count(void);
const fm_parameter_info *fm_parameter(uint32_t index);
/* Whether a variable of a kind may have a value, `diagonal`: of a matrix an entry on its diagonal, or any other
 * parameter. If not, `why` has the bound, then after a colon the fix: "it must be at least 0: give zero or a positive
 * number". */
int fm_value_fits(int32_t kind, int diagonal, double value, char *why, size_t capacity);
/* The same for an inertia xx yy zz xy xz yz of a body, and whether a symmetric matrix of n <= 6 rows has no negative
 * eigenvalue beyond round-off, relative to its diagonal. */
int fm_inertia_fits(const double inertia[6], int measured, char *why, size_t capacity);
int fm_matrix_fits(const double *matrix, int32_t n);
int32_t fm_kind_rate(int32_t kind); /* the kind that is its time derivative, -1 for none */
int32_t fm_kind_own_state(int32_t kind); /* of a kind that is an own state: how many of its element come before it */
/* The sequence of Euler angles that a word such as "ZYX" or "xyz" names, by fm_euler_axes; 0: none. */
int32_t fm_euler_sequence(const char *word);
/* For a compiler: the variables of some kinds that a model with these arrays and sizes has, in the order of fm_array()
 * and fm_size_name(): of each the kind, the element, and the component, -1 for a scalar. Arrays of variables and what
 * the kinds do not ask for may be NULL. Returns how many; kind NULL: only that. */
int32_t fm_list_variables(const void *const *arrays, const int32_t *sizes, const int32_t *kinds, int32_t kinds_count,
                          int32_t *kind, int32_t *element, int32_t *component);
const fm_scheme_info *fm_scheme_at(uint32_t number); /* NULL beyond the last one */
/* Names of the sizes that count the rows of the image's arrays, in the image's order. */
uint32_t fm_size_count(void);
const char *fm_size_name(uint32_t index);
uint32_t fm_array_count(void);
const fm_array_info *fm_array(uint32_t index);
uint32_t fm_image_version(void);
/* The checksum of all bytes after the header, as the header stores it. */
uint64_t fm_checksum(const void *bytes, size_t count);
/* 1 if the hash in the image's header is the SHA-256 of all bytes after the header, else 0. fm_open verifies only the
 * checksum, which detects damage; anyone who alters an image on purpose can recompute that. */
int fm_hash_fits(const void *image, size_t bytes);
/* The image's identity as an FMI GUID, from its hash: "{8-4-4-4-12}". */
const char *fm_guid(const fm_instance *instance);
/* The best instruction set that both this build and this processor support: 0 plain, 1 AVX2, 2 AVX-512. */
int32_t fm_level_best(void);
fm_status fm_level_use(fm_instance *instance, int32_t level);
/* Switches the planar kernels for trees that move in a plane: 1 on (the default), 0 off, for comparisons. Returns how
 * many links use them. */
int32_t fm_planar_use(fm_instance *instance, int32_t on);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
