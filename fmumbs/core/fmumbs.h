/* fmumbs.h: the one public header of the core.
 *
 * A model image (read-only bytes, made by the compiler) and an instance (everything that changes). Every
 * function that can fail returns an fm_status and leaves a finished sentence in fm_message(). No function but
 * fm_open allocates. Value references are indices into the image's variable table.
 */
#ifndef FMUMBS_H
#define FMUMBS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) /* nothing of the core is seen outside of the library that it is linked into */
#pragma GCC visibility push(hidden)
#endif

typedef struct fm_instance fm_instance;

typedef enum fm_status {
    FM_OK = 0,
    FM_DISCARD = 1, /* the step failed, the instance lives at fm_time() */
    FM_ERROR = 2    /* the call was refused, nothing changed */
} fm_status;

typedef enum fm_owner { FM_MODEL, FM_JOINT, FM_BODY, FM_POINT, FM_LOAD, FM_SPRING, FM_COUPLING } fm_owner;
typedef enum fm_causality { FM_INPUT, FM_OUTPUT, FM_PARAMETER, FM_LOCAL } fm_causality; /* local: a constant */
typedef enum fm_type { FM_REAL, FM_INTEGER, FM_BOOLEAN } fm_type;

/* One kind of variable: "J.q", "B.mass", "solver.energy" ... */
typedef struct fm_kind_info {
    const char *suffix;      /* "q": the variable is OWNER.q or OWNER.q[i] */
    const char *unit;        /* of a rotational or undirected quantity, "" without dimension */
    const char *unit_linear; /* of the same quantity where the mode is a translation */
    const char *description; /* a sentence without a full stop */
    int32_t owner;           /* fm_owner */
    int32_t causality;       /* fm_causality */
    int32_t type;            /* fm_type */
    int32_t tunable;         /* parameters: may change while the simulation runs */
    int32_t state;           /* outputs: a state, whose start value is exact */
} fm_kind_info;

typedef struct fm_variable_info {
    int32_t kind;      /* index for fm_kind */
    int32_t object;    /* which joint, body, ... */
    int32_t component; /* 0-based, or -1 where the variable has one component only */
    int32_t causality;
    int32_t type;
    int32_t tunable;
    int32_t state;
    const char *unit;
} fm_variable_info;

/* A start value that the loops changed: a coordinate, or all of an orientation. */
typedef struct fm_start_change {
    char name[96];        /* "A.q", "S.w[2]", cut if it is longer */
    const char *unit;
    int32_t count;        /* how many numbers: 4 of a quaternion */
    int32_t velocity;     /* 1: of velocities, 0: of positions */
    int32_t mode, modes;  /* the velocity variable, in the order of the image's modes, and how many belong to it */
    int32_t set;          /* 1: it was set to another value than the model's; 0: the model gives it */
    double given[6], value[6];
} fm_start_change;

/* One array of the image: what the packer writes and the reader checks. */
typedef struct fm_array_info {
    const char *name;
    const char *unit;
    const char *section;
    char type; /* 'i' int32, 'd' float64, 'b' byte */
    int32_t columns;
    const char *rows;  /* name of the size that counts the rows */
    const char *bound; /* name of the size that its values index, "" where they are no indices */
} fm_array_info;

/* Lifetime ------------------------------------------------------------------------------------------- */

/* Checks the image and copies it. On failure *out is NULL and `message` holds the sentence. Allocates. */
fm_status fm_open(const void *image, size_t bytes, fm_instance **out, char *message, size_t capacity);
void fm_close(fm_instance *instance);
/* The bits of a new instance. */
fm_status fm_reset(fm_instance *instance);

/* Simulation ------------------------------------------------------------------------------------------ */

/* A consistent start at time t [s] from the positions and velocities that were set, after a step from the present ones. An
 * earlier start leaves no trace in it. */
fm_status fm_assemble(fm_instance *instance, double t);
/* Whether inertia opposes every free mode where the joints lie anyhow, loops being open; else the sentence names one. */
fm_status fm_check_inertia(fm_instance *instance);
/* The start values that fm_assemble changed: those that were set, then those that the model gives, positions before
 * velocities, each in the model's order of joints: as many as there is room for; returns how many there are. Values that fit the loops are
 * as they were given, and so are all outside of loops. */
size_t fm_start_changes(fm_instance *instance, fm_start_change *change, size_t capacity);
/* Goes on to t_end [s]. FM_DISCARD: stopped at fm_time(), whose state is valid. */
fm_status fm_step(fm_instance *instance, double t_end);
/* Who is asked, about every tenth of a second of a step that takes long, whether the step shall end: other than 0 ends it
 * with FM_DISCARD. The results of a step that goes on are the same bits whether anybody is asked or not. NULL: nobody. */
void fm_interrupt(fm_instance *instance, int (*wanted)(void *host), void *host);
double fm_time(const fm_instance *instance);
/* Evaluates the dynamics `times` times at the present state, for those who measure. */
fm_status fm_evaluate(fm_instance *instance, size_t times);
/* Which rows of the joints that close loops were found to be independent when it was assembled: 1 or 0 for each, as far
 * as `active` has room; returns how many rows there are. */
size_t fm_active(const fm_instance *instance, int32_t *active, size_t capacity);
/* How many freedoms the loops leave to the mechanism that was assembled, excited modes not being any. */
int32_t fm_mobility(const fm_instance *instance);
/* How many modes are excited. */
int32_t fm_excited(const fm_instance *instance);
/* J of these rows at the present state, their rates being J times the velocities of all joints: (rows, speeds), where
 * `capacity` is that of all of them; rows of held coordinates are zero. Returns how many there are. */
size_t fm_jacobian(fm_instance *instance, double *J, size_t capacity);

/* Values: all as doubles ------------------------------------------------------------------------------ */

fm_status fm_get(fm_instance *instance, const uint32_t *reference, size_t count, double *value);
fm_status fm_set(fm_instance *instance, const uint32_t *reference, size_t count, const double *value);
/* Taylor coefficients of inputs from the present time, valid for one fm_step; orders 1 to 3. */
fm_status fm_set_input_derivatives(fm_instance *instance, const uint32_t *reference, size_t count,
                                   const int32_t *order, const double *value);
fm_status fm_get_output_derivatives(fm_instance *instance, const uint32_t *reference, size_t count,
                                    const int32_t *order, double *value);
/* result (unknowns) = d unknown / d known (inputs) seed, at the present time. */
fm_status fm_directional_derivative(fm_instance *instance, const uint32_t *unknown, size_t unknowns,
                                    const uint32_t *known, size_t knowns, const double *seed, double *result);

/* State: version, hash of the image and checksum go with it, pointers do not ------------------------------- */

size_t fm_state_size(const fm_instance *instance);
fm_status fm_state_save(const fm_instance *instance, void *bytes, size_t size);
fm_status fm_state_load(fm_instance *instance, const void *bytes, size_t size);

/* What there is ------------------------------------------------------------------------------------------ */

const char *fm_message(const fm_instance *instance);
uint32_t fm_variable_count(const fm_instance *instance);
fm_status fm_variable(const fm_instance *instance, uint32_t reference, fm_variable_info *info);
/* The name of a variable, cut to `capacity`; returns its length. */
size_t fm_variable_name(const fm_instance *instance, uint32_t reference, char *name, size_t capacity);
uint32_t fm_kind_count(void);
const fm_kind_info *fm_kind(uint32_t index);
/* The sizes that count the rows of the image's arrays, in the image's order. */
uint32_t fm_size_count(void);
const char *fm_size_name(uint32_t index);
uint32_t fm_array_count(void);
const fm_array_info *fm_array(uint32_t index);
uint32_t fm_image_version(void);
/* The checksum that an image's header carries of all that follows it. */
uint64_t fm_checksum(const void *bytes, size_t count);
/* 1 where the hash in an image's header, which names the image, is the SHA-256 of all that follows it; else 0. fm_open
 * checks the checksum alone, which finds damage but is soon repaired by who alters an image. */
int fm_hash_fits(const void *image, size_t bytes);
/* The identity of the image as FMI writes it, from its hash: "{8-4-4-4-12}". */
const char *fm_guid(const fm_instance *instance);
/* The instruction sets that this library was built for and this machine has: 0 plain, 1 AVX2. */
int32_t fm_level_best(void);
fm_status fm_level_use(fm_instance *instance, int32_t level);
/* 1, as an instance begins: trees that move in a plane have kernels of their own; 0: none has. For comparisons.
 * Returns how many links have them. */
int32_t fm_planar_use(fm_instance *instance, int32_t on);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
