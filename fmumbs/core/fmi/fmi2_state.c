/* fmi2_state.c: FMU states.
 *
 * A state is a record of the experiment (times, phase) followed by the core's bytes. It contains no pointers, so its
 * serialised form is the record itself, with a checksum; the core's bytes contain the hash of the image. The component
 * keeps a list of the states that it returned: other pointers are refused, and states that were never freed are freed
 * with the instance.
 */
#include "fmi2_component.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char TAG[8] = {'f', 'm', 'u', 'm', 'b', 's', ' ', '1'};

typedef struct fmu_record {
    char tag[8];
    uint64_t checksum; /* of all that follows; 0 until serialised */
    fmu_experiment experiment;
} fmu_record;

struct fmu_state {
    struct fmu_state *next;
    size_t size; /* of the record and the core's bytes */
    fmu_record record;
};

static void *core_bytes(struct fmu_state *state)
{
    return state + 1;
}

/* The record, followed by the core's bytes. */
static unsigned char *record_bytes(struct fmu_state *state)
{
    return (unsigned char *)state + offsetof(struct fmu_state, record);
}

static size_t record_size(const fmu_component *c)
{
    return sizeof(fmu_record) + fm_state_size(c->core);
}

/* FNV-1a over the bytes after tag and checksum. */
static uint64_t checksum(const unsigned char *record, size_t size)
{
    uint64_t sum = 14695981039346656037ULL;
    size_t i;
    for (i = sizeof TAG + sizeof sum; i < size; i++) sum = (sum ^ record[i]) * 1099511628211ULL;
    return sum;
}

/* List of states ----------------------------------------------------------------------------------------- */

/* The state at `pointer`, or NULL with a message if it is unknown. */
static struct fmu_state *known(fmu_component *c, const void *pointer)
{
    struct fmu_state *state = c->states;
    while (state && state != pointer) state = state->next;
    if (!state) (void)fmu_say(c, fmi2Error, "this is not a state of this instance, or it was freed");
    return state;
}

static struct fmu_state *new_state(fmu_component *c)
{
    size_t size = record_size(c);
    struct fmu_state *state = calloc(1, offsetof(struct fmu_state, record) + size);
    if (!state) {
        (void)fmu_say(c, fmi2Error, "not enough memory");
        return NULL;
    }
    state->size = size;
    state->next = c->states;
    c->states = state;
    return state;
}

/* The state to write: *FMUstate, or a new one if that is NULL. */
static struct fmu_state *target(fmu_component *c, fmi2FMUstate *FMUstate)
{
    if (FMUstate) return *FMUstate ? known(c, *FMUstate) : new_state(c);
    (void)fmu_say(c, fmi2Error, "FMUstate is NULL");
    return NULL;
}

static void drop(fmu_component *c, struct fmu_state *state)
{
    struct fmu_state **link = &c->states;
    while (*link != state) link = &(*link)->next;
    *link = state->next;
    free(state);
}

void fmu_drop_states(fmu_component *c)
{
    while (c->states) drop(c, c->states);
}

/* Get, set, free ---------------------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *FMUstate)
{
    fmu_component *c = fmu_begin(component, FMU_GET_STATE);
    struct fmu_state *state = c ? target(c, FMUstate) : NULL;
    fmi2Status status;
    if (!state) return fmi2Error;
    memcpy(state->record.tag, TAG, sizeof TAG);
    state->record.checksum = 0;
    state->record.experiment = c->experiment;
    status = fmu_answer(c, fm_state_save(c->core, core_bytes(state), state->size - sizeof state->record));
    if (status == fmi2OK) {
        *FMUstate = state;
    } else if (*FMUstate == NULL) {
        drop(c, state);
    }
    return status;
}

fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate FMUstate)
{
    fmu_component *c = fmu_begin(component, FMU_SET_STATE);
    struct fmu_state *state = c ? known(c, FMUstate) : NULL;
    fmi2Status status;
    if (!state) return fmi2Error;
    status = fmu_answer(c, fm_state_load(c->core, core_bytes(state), state->size - sizeof state->record));
    if (status == fmi2OK) c->experiment = state->record.experiment;
    return status;
}

fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *FMUstate)
{
    fmu_component *c = fmu_begin(component, FMU_FREE_STATE);
    struct fmu_state *state;
    if (!c) return fmi2Error;
    if (!FMUstate || !*FMUstate) return fmi2OK;
    state = known(c, *FMUstate);
    if (!state) return fmi2Error;
    drop(c, state);
    *FMUstate = NULL;
    return fmi2OK;
}

/* Serialisation ------------------------------------------------------------------------------------------ */

fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate FMUstate, size_t *size)
{
    fmu_component *c = fmu_begin(component, FMU_STATE_SIZE);
    struct fmu_state *state = c ? known(c, FMUstate) : NULL;
    if (!state) return fmi2Error;
    if (!size) return fmu_say(c, fmi2Error, "size is NULL");
    *size = state->size;
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate FMUstate, fmi2Byte serializedState[],
                                 size_t size)
{
    fmu_component *c = fmu_begin(component, FMU_SERIALIZE);
    struct fmu_state *state = c ? known(c, FMUstate) : NULL;
    if (!state) return fmi2Error;
    if (!serializedState || size < state->size) {
        return fmu_say(c, fmi2Error, "the buffer of %lu bytes is NULL or less than the state's %lu bytes",
                       (unsigned long)size, (unsigned long)state->size);
    }
    state->record.checksum = checksum(record_bytes(state), state->size);
    memcpy(serializedState, record_bytes(state), state->size);
    return fmi2OK;
}

/* Whether a deserialised experiment is one that a component can have. */
static int is_valid(const fmu_experiment *e)
{
    int phase = e->phase == FMU_INSTANTIATED || e->phase == FMU_INITIALIZATION ||
                e->phase == FMU_STEP_COMPLETE || e->phase == FMU_STEP_FAILED || e->phase == FMU_TERMINATED;
    int step = e->last_step == fmi2OK || e->last_step == fmi2Discard;
    return phase && step && isfinite(e->start) && isfinite(e->stop);
}

static const char *bad_bytes(const fmu_component *c, const fmi2Byte *bytes, size_t size)
{
    fmu_record record;
    if (!bytes || size != record_size(c)) return "the number of bytes is not that of a state of this FMU";
    memcpy(&record, bytes, sizeof record);
    if (memcmp(record.tag, TAG, sizeof TAG) != 0) return "the bytes are not a state of an FMU of this kind";
    if (record.checksum != checksum((const unsigned char *)bytes, size) || !is_valid(&record.experiment))
        return "the bytes were changed since they were serialised";
    return NULL;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte serializedState[], size_t size,
                                   fmi2FMUstate *FMUstate)
{
    fmu_component *c = fmu_begin(component, FMU_DESERIALIZE);
    const char *problem = c ? bad_bytes(c, serializedState, size) : NULL;
    struct fmu_state *state;
    if (!c) return fmi2Error;
    if (problem) return fmu_say(c, fmi2Error, "%s", problem);
    state = target(c, FMUstate);
    if (!state) return fmi2Error;
    memcpy(record_bytes(state), serializedState, size);
    *FMUstate = state;
    return fmi2OK;
}
