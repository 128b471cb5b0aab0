/* fmi2_component.h: shared by the files behind the FMI 2.0 functions, which use the core through fmumbs.h only.
 *
 *   fmi2.c            life cycle: instantiate, initialise, terminate, reset, free
 *   fmi2_calls.c      the functions that compute themselves, in the core's floating-point mode
 *   fmi2_step.c       steps and their status functions
 *   fmi2_values.c     values and derivatives of variables
 *   fmi2_state.c      FMU states, also serialised
 *   fmi2_component.c  which call is allowed when, messages
 *   fmi2_resource.c   finds and reads the image
 *
 * A refused call changes nothing but the log: it returns fmi2Error, and the instance remains usable. Memory comes from
 * the C library: canNotUseMemoryManagementFunctions is true, and the importer's memory functions are never called.
 */
#ifndef FMI2_COMPONENT_H
#define FMI2_COMPONENT_H

#include "fmi2Functions.h"

#include <stddef.h>
#include <stdint.h>

/* The declarations stay hidden outside the binary even if sources/ are compiled without any flag: two FMUs in one
 * process must not use each other's functions. */
#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

#include "../fmumbs.h"
#include "../maths/float_mode.h"

/* States of the co-simulation state machine (FMI 2.0.1, section 4.2.4). */
typedef enum fmu_phase {
    FMU_INSTANTIATED = 1,
    FMU_INITIALIZATION = 2,
    FMU_STEP_COMPLETE = 4,
    FMU_STEP_FAILED = 8,
    FMU_TERMINATED = 16
} fmu_phase;

typedef enum fmu_call {
    FMU_SET_DEBUG_LOGGING,
    FMU_SETUP_EXPERIMENT,
    FMU_ENTER_INITIALIZATION,
    FMU_EXIT_INITIALIZATION,
    FMU_TERMINATE,
    FMU_RESET,
    FMU_GET_REAL,
    FMU_GET_INTEGER,
    FMU_GET_BOOLEAN,
    FMU_GET_STRING,
    FMU_SET_REAL,
    FMU_SET_INTEGER,
    FMU_SET_BOOLEAN,
    FMU_SET_STRING,
    FMU_GET_STATE,
    FMU_SET_STATE,
    FMU_FREE_STATE,
    FMU_STATE_SIZE,
    FMU_SERIALIZE,
    FMU_DESERIALIZE,
    FMU_DIRECTIONAL_DERIVATIVE,
    FMU_SET_INPUT_DERIVATIVES,
    FMU_GET_OUTPUT_DERIVATIVES,
    FMU_DO_STEP,
    FMU_CANCEL_STEP,
    FMU_GET_STATUS,
    FMU_GET_REAL_STATUS,
    FMU_GET_INTEGER_STATUS,
    FMU_GET_BOOLEAN_STATUS,
    FMU_GET_STRING_STATUS,
    FMU_CALLS
} fmu_call;

/* Bits of fmu_component.log: the categories that reach the logger. */
typedef enum fmu_category {
    FMU_LOG_WARNING = 1,
    FMU_LOG_DISCARD = 2,
    FMU_LOG_ERROR = 4,
    FMU_LOG_PROBLEMS = 7, /* the three above; what loggingOn = fmi2False leaves on */
    FMU_LOG_EVENTS = 8,
    FMU_LOG_ALL = 15
} fmu_category;

/* State beyond the core's; saved with the FMU state. */
typedef struct fmu_experiment {
    double start;         /* [s] */
    double stop;          /* [s] */
    int32_t stop_defined;
    int32_t phase;        /* an fmu_phase */
    int32_t unassembled;  /* 1: values changed in initialization mode since the last fm_assemble */
    int32_t last_step;    /* the fmi2Status of the last fmi2DoStep */
    int32_t told;         /* 1: a deformation beyond the linear range was reported */
} fmu_experiment;

enum { FMU_MESSAGE = 1024 };

typedef struct fmu_component {
    fm_instance *core;
    fmi2CallbackFunctions callbacks;
    char *name;
    fmu_experiment experiment;
    struct fmu_state *states; /* FMU states that were returned and not freed */
    unsigned log;             /* fmu_category bits */
    fmu_call call;            /* the call in progress */
    fm_float_mode host;       /* the importer's floating-point mode in this call */
    char text[FMU_MESSAGE];
    char escaped[2 * FMU_MESSAGE];
} fmu_component;

/* Begins a call: the component, or NULL, after sending a message, if the call is not allowed now. */
fmu_component *fmu_begin(fmi2Component c, fmu_call call);
/* Sends "call: message" to the logger, in the importer's floating-point mode, and returns `status`. */
fmi2Status fmu_say(fmu_component *c, fmi2Status status, const char *format, ...);
/* The status of the core's last call, whose message it sends unless it is FM_OK. */
fmi2Status fmu_answer(fmu_component *c, fm_status status);
/* Sends a message of fmi2Instantiate, which has no component yet. */
void fmu_say_early(const fmi2CallbackFunctions *callbacks, fmi2String name, const char *format, ...);
/* The bits of a category, 0 if there is none of this name. */
unsigned fmu_category_bits(const char *name);
/* Assembles the mechanism if values changed in initialization mode since the last time. */
fmi2Status fmu_assembled(fmu_component *c);
/* The work of fmi2SetupExperiment, fmi2ExitInitializationMode and fmi2DoStep; times in seconds. */
fmi2Status fmu_set_up(fmu_component *c, int with_tolerance, double tolerance, double start, int with_stop, double stop);
fmi2Status fmu_start(fmu_component *c);
fmi2Status fmu_step(fmu_component *c, double from, double step);
/* Warns, once a run, of a deformation that left the linear range. */
void fmu_tell_deformation(fmu_component *c);
/* Frees all remaining FMU states. */
void fmu_drop_states(fmu_component *c);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
