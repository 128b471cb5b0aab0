/* fmumbs.h: the public interface of the core, in one header.
 *
 * A model image is read-only bytes, written by the compiler. An instance holds everything that changes. Every function
 * that can fail returns an fm_status and leaves a complete sentence in fm_message(). Only fm_open allocates memory.
 * Value references are indices into the image's table of variables. SI units, angles in radians.
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

/* What determines an output: positions; velocities too; parameters too; anything, such as forces and accelerations */
typedef enum fm_level { FM_OF_POSITIONS, FM_OF_VELOCITIES, FM_OF_SPRINGS, FM_OF_ALL } fm_level;

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
    int32_t components;      /* of each variable; 0: as many as the joint or the body has modes */
} fm_kind_info;

typedef struct fm_variable_info {
    int32_t kind;      /* index for fm_kind() */
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
void fm_close(fm_instance *instance);
/* Resets to the initial state, bit for bit. */
fm_status fm_reset(fm_instance *instance);

/* Simulation ------------------------------------------------------------------------------------------ */

/* Assembles the mechanism at time t [s]: finds consistent positions and velocities from the values that were set (after
 * a step: from the present ones). With solver.equilibrium it goes on to the static equilibrium near them, at rest; excited
 * modes keep their velocities. The result does not depend on earlier assemblies. */
fm_status fm_assemble(fm_instance *instance, double t);
/* The position variables of the spanning tree at the present time, in the image's order: at most `capacity` of them.
 * Returns how many there are. */
size_t fm_positions(const fm_instance *instance, double *positions, size_t capacity);
/* The number of velocity variables of the spanning tree. */
int32_t fm_speed_count(const fm_instance *instance);
/* At rest at the present positions of an assembled instance, with excited modes that stand and laws without friction:
 * out = M^-1 K direction, both of fm_speed_count() velocity variables, K the tangent stiffness by central differences with steps of `step` [rad],
 * or times the model's length; and its inverse, out = K^-1 M direction, by Krylov spaces. What the loops do not allow is
 * left out. */
fm_status fm_tangent(fm_instance *instance, double step, const double *direction, double *out);
fm_status fm_flexibility(fm_instance *instance, const double *direction, double *out);
/* How the last assembly with solver.equilibrium found it: 0 Newton's method, 1 by descent, 2 Newton's method with
 * shortened steps, 3 not at all; and in how many evaluations of accelerations. */
int32_t fm_equilibrium_found(const fm_instance *instance, double *evaluations);
/* Whether the equilibrium of the last assembly is stable: 0 if so, and without solver.equilibrium; else the growth rate [1/s] of a
 * motion that departs from it, and the name of the coordinate that moves most in it, "" for a vibration (flutter); NAN if it was
 * not found out, as where forces without a potential act on more than 40 velocity variables. */
double fm_departure(const fm_instance *instance, char *name, size_t capacity);
/* The first deformation since assembly that left the linear range, a rotation [rad] or strain above solver.deformation, and a
 * sentence on it without the last full stop; 0: none did. */
double fm_deformation(const fm_instance *instance, char *message, size_t capacity);
/* How many coordinates are locked in the equilibrium of the last assembly; the generalised force [N.m] or [N] that keeps one at its
 * start value, and its name. */
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
/* Registers a callback, NULL for none, that a long step calls about ten times a second; a result other than 0 ends the
 * step with FM_DISCARD. Completed steps give the same bits with and without a callback. */
void fm_interrupt(fm_instance *instance, int (*wanted)(void *host), void *host);
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
 * are zero. Returns how many doubles J has. */
size_t fm_jacobian(fm_instance *instance, double *J, size_t capacity);

/* Values: all as doubles ------------------------------------------------------------------------------ */

fm_status fm_get(fm_instance *instance, const uint32_t *reference, size_t count, double *value);
fm_status fm_set(fm_instance *instance, const uint32_t *reference, size_t count, const double *value);
/* Taylor coefficients of inputs about the present time, valid for one fm_step; orders 1 to 3. */
fm_status fm_set_input_derivatives(fm_instance *instance, const uint32_t *reference, size_t count,
                                   const int32_t *order, const double *value);
fm_status fm_get_output_derivatives(fm_instance *instance, const uint32_t *reference, size_t count,
                                    const int32_t *order, double *value);
/* result (unknowns) = (d unknown / d known) seed, with inputs as knowns, at the present time. */
fm_status fm_directional_derivative(fm_instance *instance, const uint32_t *unknown, size_t unknowns,
                                    const uint32_t *known, size_t knowns, const double *seed, double *result);

/* Where the bodies are at the present positions: for each body, in the image's order, its origin r (3) [m] and its rotation
 * matrix R (3, 3) by rows, from body axes to world axes; then the modal coordinates of each flexible body. `capacity`:
 * doubles that there is room for; what does not fit is left out. Returns how many there are. */
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
uint32_t fm_kind_count(void);
const fm_kind_info *fm_kind(uint32_t index);
/* Whether a variable of a kind may have a value, `diagonal`: of a matrix an entry on its diagonal, or any other parameter. If
 * not, `why` has the bound, then after a colon the fix: "it must be at least 0: give zero or a positive number". */
int fm_value_fits(int32_t kind, int diagonal, double value, char *why, size_t capacity);
/* The same for an inertia xx yy zz xy xz yz of a body, and whether a symmetric matrix of n <= 6 rows has no negative
 * eigenvalue beyond round-off, relative to its diagonal. */
int fm_inertia_fits(const double inertia[6], int measured, char *why, size_t capacity);
int fm_matrix_fits(const double *matrix, int32_t n);
int32_t fm_kind_rate(int32_t kind); /* the kind that is its time derivative, -1 for none */
fm_level fm_kind_level(int32_t kind);
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
