/* fmi2_component.h: what the files behind the FMI 2.0 functions share. Of the core they know fmumbs.h alone.
 *
 *   fmi2.c            life of an instance: instantiate, initialise, terminate, reset, free
 *   fmi2_step.c       fmi2DoStep and what a master may ask about it
 *   fmi2_values.c     values and derivatives of variables
 *   fmi2_state.c      states of the FMU, also as bytes
 *   fmi2_component.c  which call is allowed when, messages
 *   fmi2_resource.c   finds and reads the image
 *
 * A refused call changes nothing but the log: it returns fmi2Error, and the instance goes on. Memory comes from the C
 * library: canNotUseMemoryManagementFunctions is true, and the master's functions for it are never called.
 */
#ifndef FMI2_COMPONENT_H
#define FMI2_COMPONENT_H

#include "fmi2Functions.h"

#include <stddef.h>
#include <stdint.h>

/* Also where sources/ are compiled without any flag, what is declared here is not seen outside: two FMUs in one
 * process must not take each other's functions. */
#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

#include "../fmumbs.h"

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
    FMU_LOG_PROBLEMS = 7, /* the three above, which loggingOn = fmi2False leaves on */
    FMU_LOG_EVENTS = 8,
    FMU_LOG_ALL = 15
} fmu_category;

/* What the calls change, beside the core. Saved with the state of the FMU. */
typedef struct fmu_experiment {
    double start;         /* [s] */
    double stop;          /* [s] */
    int32_t stop_defined;
    int32_t phase;        /* fmu_phase */
    int32_t unassembled;  /* values changed in initialization mode since the last fm_assemble */
    int32_t last_step;    /* fmi2Status of the last fmi2DoStep */
} fmu_experiment;

enum { FMU_MESSAGE = 1024 };

typedef struct fmu_component {
    fm_instance *core;
    fmi2CallbackFunctions callbacks;
    char *name;
    fmu_experiment experiment;
    struct fmu_state *states; /* those handed out and not yet freed */
    unsigned log;             /* fmu_category bits */
    fmu_call call;            /* the one that is being answered */
    char text[FMU_MESSAGE];
    char escaped[2 * FMU_MESSAGE];
} fmu_component;

/* Opens a call: the component, or NULL with a message where the call is not allowed now. */
fmu_component *fmu_begin(fmi2Component c, fmu_call call);
/* Sends "call: message" to the logger, and returns `status` for the caller to return. */
fmi2Status fmu_say(fmu_component *c, fmi2Status status, const char *format, ...);
/* What the core said of the call it just answered. */
fmi2Status fmu_answer(fmu_component *c, fm_status status);
/* A message of fmi2Instantiate, which has no component yet. */
void fmu_say_early(const fmi2CallbackFunctions *callbacks, fmi2String name, const char *format, ...);
/* Bits of a category by its name, 0: there is none. */
unsigned fmu_category_bits(const char *name);
/* In initialization mode: a consistent start, if values changed since the last. */
fmi2Status fmu_assembled(fmu_component *c);
/* Frees the states of the FMU that were not given back. */
void fmu_drop_states(fmu_component *c);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
