/* fmu.h: an FMU's instance, the same for every version of FMI, over fmumbs.h alone.
 *
 *   fmu_component.c  opens, resets and frees it
 *   fmu_calls.c      what computes, in the core's floating-point mode
 *   fmu_start.c      the experiment; assembly; messages about the start
 *   fmu_step.c       a step
 *   fmu_continuous.c Model Exchange: events, continuous states, their rates
 *   fmu_values.c     values and derivatives of variables, by reference
 *   fmu_arrays.c     references of the elements of arrays
 *   fmu_state.c      saved states, also serialised
 *   fmu_messages.c   calls refused in a phase; messages to the importer
 *   fmu_resource.c   finds and reads the image
 *
 * A version is one file (fmi2.c, fmi3.c): it has the functions of the standard, which say in which phases they are
 * allowed, and an fmu_version. A refused call changes nothing but the log: it returns FMU_ERROR, and the instance
 * remains usable. Memory comes from the C library, never from the importer.
 */
#ifndef FMU_H
#define FMU_H

#include "../fmumbs.h"
#include "../maths/float_mode.h"
#include "../maths/hidden.h"

#include <stddef.h>
#include <stdint.h>

/* The functions stay hidden outside the binary even if sources/ are compiled without any flag: two FMUs in one process
 * must not use each other's. */
FM_HIDDEN_BEGIN

/* Statuses, numbered as in every version of FMI. */
typedef enum fmu_status { FMU_OK, FMU_WARNING, FMU_DISCARD, FMU_ERROR } fmu_status;

typedef enum fmu_kind { FMU_MODEL_EXCHANGE, FMU_CO_SIMULATION } fmu_kind;

/* States of the state machines of both kinds (FMI 2.0.4, sections 3.2.3 and 4.2.4; FMI 3.0, sections 3.2 and 4.2). */
typedef enum fmu_phase {
    FMU_INSTANTIATED = 1,
    FMU_INITIALIZATION = 2,
    FMU_STEP_COMPLETE = 4,
    FMU_STEP_FAILED = 8, /* the instance remains at the last successful time: values may be set and the step repeated */
    FMU_TERMINATED = 16,
    FMU_EVENT_MODE = 32, /* of Model Exchange */
    FMU_CONTINUOUS_TIME = 64,
    FMU_STEP_EVENT = 128, /* event mode of Co-Simulation, since FMI 3.0 */
    FMU_INTERMEDIATE = 256 /* within a step, in the importer's intermediate update */
} fmu_phase;

/* The phases in which something is allowed. */
enum {
    FMU_MAY_SET_START = FMU_INSTANTIATED | FMU_INITIALIZATION, /* start values and fixed parameters */
    FMU_MAY_STEP = FMU_STEP_COMPLETE | FMU_STEP_FAILED,
    FMU_HOSTED = FMU_EVENT_MODE | FMU_CONTINUOUS_TIME,
    FMU_RUNNING = FMU_MAY_STEP | FMU_STEP_EVENT | FMU_HOSTED,
    FMU_MAY_SET = FMU_MAY_SET_START | FMU_RUNNING,
    FMU_STARTED = FMU_RUNNING | FMU_TERMINATED,
    FMU_OUTSIDE_STEPS = FMU_INSTANTIATED | FMU_INITIALIZATION | FMU_STARTED,
    FMU_MAY_GET = FMU_INITIALIZATION | FMU_STARTED | FMU_INTERMEDIATE,
    FMU_MAY_SET_INPUTS = FMU_MAY_SET | FMU_INTERMEDIATE /* and in the other phases what else may be set there */
};

/* Bits of fmu_component.log: the categories that reach the logger. */
typedef enum fmu_category {
    FMU_LOG_WARNING = 1,
    FMU_LOG_DISCARD = 2,
    FMU_LOG_ERROR = 4,
    FMU_LOG_PROBLEMS = 7, /* the three above; what is left on without debug logging */
    FMU_LOG_EVENTS = 8,
    FMU_LOG_ALL = 15
} fmu_category;

typedef struct fmu_host fmu_host;
typedef struct fmu_component fmu_component;

/* What a version of FMI calls things, in messages, and how it logs. */
typedef struct fmu_version {
    const char *prefix; /* of its functions: "fmi2" */
    const char *identity; /* what identifies a model: "GUID" */
    const char *kinds; /* what an importer passes for each kind: "fmi2ModelExchange or fmi2CoSimulation" */
    const char *state; /* "FMUstate" */
    const char *set_state; /* "fmi2SetFMUstate" */
    const char *types[3]; /* by fm_type: "Real", "Integer", "Boolean" */
    void (*log)(const fmu_host *host, const char *name, fmu_status status, const char *category, const char *text);
    /* shows the importer the end of an integration step; returns when the step is to end (fm_watch). NULL: never */
    double (*step_ended)(fmu_component *c, double end, int event);
    const char *arrays; /* follows the identity of an FMU whose vectors are arrays; NULL: all variables are scalars */
} fmu_version;

/* Who uses the instance: a version of FMI, and the importer. */
struct fmu_host {
    const fmu_version *version;
    void (*logger)(void); /* the importer's, of the version's type; NULL: none */
    void *environment;
    void (*update)(void); /* the importer's intermediate update, of the version's type; NULL: none */
    int events; /* 1: Co-Simulation with event mode */
    int early; /* 1: steps may end early */
};

/* State beyond the core's; saved with it. */
typedef struct fmu_experiment {
    double start; /* [s] */
    double stop; /* [s] */
    int32_t stop_defined;
    int32_t phase; /* an fmu_phase */
    int32_t unassembled; /* 1: values changed in initialization mode since the last fm_assemble */
    int32_t last_step; /* the fmu_status of the last step */
    int32_t told_deformation; /* 1: a deformation beyond the linear range was reported */
    int32_t told_cavitation; /* 1: oil that cavitates was */
    int32_t told_missed; /* 1: a contact that a step missed was */
} fmu_experiment;

enum { FMU_MESSAGE = 1024 };

struct fmu_component {
    fm_instance *core;
    fmu_host host;
    fmu_kind kind;
    const char *name;
    fmu_experiment experiment;
    struct fmu_state *states; /* saved states that were returned and not freed */
    unsigned log; /* fmu_category bits */
    const char *call; /* the function in progress, without its prefix */
    fm_float_mode mode; /* the importer's floating-point mode in it */
    int at_event; /* 1: the last step ended early, at an event */
    int changed; /* 1: inputs were changed in the last intermediate update */
    double goal; /* the end of the present step [s] */
    uint32_t *elements; /* two lists of as many references as there are variables; NULL: all variables are scalars */
    char text[FMU_MESSAGE];
};

/* Begins a call: the component, or NULL if that is, or, after a message, if the call is not allowed in its phase. */
fmu_component *fmu_begin(void *component, const char *call, unsigned phases);

/* Sends "call: message" to the logger, in the importer's floating-point mode, and returns `status`. */
fmu_status fmu_say(fmu_component *c, fmu_status status, const char *format, ...);
/* The status of the core's last call, whose message it sends unless it is FM_OK. */
fmu_status fmu_answer(fmu_component *c, fm_status status);
/* Switches categories of messages on or off. None named: all, or only warnings, discarded steps and errors. */
fmu_status fmu_set_logging(fmu_component *c, int on, size_t count, const char *const *categories);

/* NULL, after a message, if it cannot be opened. identity: of the model, as in its description; resources: the URI or
 * path of the folder with the image. */
fmu_component *fmu_open(const fmu_host *host, const char *name, fmu_kind kind, const char *identity,
                        const char *resources, int logging);
void fmu_close(fmu_component *c);
fmu_status fmu_enter_initialization(fmu_component *c);
fmu_status fmu_terminate(fmu_component *c);
fmu_status fmu_reset(fmu_component *c);

/* Times in seconds; with_...: whether the importer gives one. */
fmu_status fmu_set_up(fmu_component *c, int with_tolerance, double tolerance, double start, int with_stop, double stop);
/* Ends initialization mode. */
fmu_status fmu_start(fmu_component *c);
/* A step from time `from`, which is the instance's but for round-off. */
fmu_status fmu_step(fmu_component *c, double from, double step);
/* The work of these three, in the core's floating-point mode. */
fmu_status fmu_do_set_up(fmu_component *c, int with_tolerance, double tolerance, double start, int with_stop,
                         double stop);
fmu_status fmu_do_start(fmu_component *c);
fmu_status fmu_do_step(fmu_component *c, double from, double step);
/* Assembles the mechanism if values changed in initialization mode since the last time. */
fmu_status fmu_assembled(fmu_component *c);
/* Warns, each once a run, of a deformation that left the linear range, and of oil that cavitates. */
void fmu_tell_ranges(fmu_component *c);

/* Model Exchange. Arrays of states and indicators have as many elements as the model has, which `count` must be. */
fmu_status fmu_update_events(fmu_component *c, fm_events *events);
fmu_status fmu_enter_phase(fmu_component *c, fmu_phase phase);
fmu_status fmu_completed_step(fmu_component *c, int32_t *event);
fmu_status fmu_set_time(fmu_component *c, double time);
fmu_status fmu_set_states(fmu_component *c, const double *x, size_t count);
fmu_status fmu_get_states(fmu_component *c, double *x, size_t count);
fmu_status fmu_get_rates(fmu_component *c, double *rates, size_t count);
fmu_status fmu_get_indicators(fmu_component *c, double *indicators, size_t count);
fmu_status fmu_get_nominals(fmu_component *c, double *nominals, size_t count);

/* Replaces *count references by those of all elements of these variables, which must be as many as `values`; 0, after a
 * message, if they are not. The references stay until the next call for the same list, 0 or 1. */
int fmu_elements(fmu_component *c, int list, const uint32_t **reference, size_t *count, size_t values);

/* All `count` references are checked before any value changes. type: an fm_type; whole numbers are not FM_REAL. */
fmu_status fmu_get_real(fmu_component *c, const uint32_t *reference, size_t count, double *value);
fmu_status fmu_set_real(fmu_component *c, const uint32_t *reference, size_t count, const double *value);
fmu_status fmu_get_whole(fmu_component *c, fm_type type, const uint32_t *reference, size_t count, int32_t *value);
fmu_status fmu_set_whole(fmu_component *c, fm_type type, const uint32_t *reference, size_t count, const int32_t *value);
/* Whether all may be set now; refuses with a message if not. */
fmu_status fmu_may_set(fmu_component *c, fm_type type, const uint32_t *reference, size_t count, const void *values);
/* Refuses variables of a type that the FMU has none of. */
fmu_status fmu_no_type(fmu_component *c, size_t count, const char *type);
/* Taylor coefficients of inputs, orders 1 to 3; derivatives of outputs by time, order 1. */
fmu_status fmu_set_input_derivatives(fmu_component *c, const uint32_t *reference, size_t count, const int32_t *order,
                                     const double *value);
fmu_status fmu_get_output_derivatives(fmu_component *c, const uint32_t *reference, size_t count, const int32_t *order,
                                      double *value);
/* result (unknowns) = (d unknown / d known) seed (knowns) */
fmu_status fmu_directional_derivative(fmu_component *c, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                      size_t knowns, const double *seed, double *result);
fmu_status fmu_adjoint_derivative(fmu_component *c, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                  size_t knowns, const double *seed, double *result);

/* Saves into *state, or into a new state if that is NULL. A state belongs to the component and is freed with it. */
fmu_status fmu_state_save(fmu_component *c, void **state);
fmu_status fmu_state_load(fmu_component *c, void *state);
fmu_status fmu_state_free(fmu_component *c, void **state);
fmu_status fmu_state_size(fmu_component *c, void *state, size_t *size);
fmu_status fmu_state_write(fmu_component *c, void *state, void *bytes, size_t size);
fmu_status fmu_state_read(fmu_component *c, const void *bytes, size_t size, void **state);
/* Frees all states. */
void fmu_drop_states(fmu_component *c);

FM_HIDDEN_END

#endif
