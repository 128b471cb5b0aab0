/* fmu_state.c: saved states.
 *
 * A state is a record of the experiment (times, phase) followed by the core's bytes. It contains no pointers, so its
 * serialised form is the record itself, with a checksum; the core's bytes contain the hash of the image. The component
 * keeps a list of the states that it returned: other pointers are refused, and states that were never freed are freed
 * with the instance.
 */
#include "fmu.h"

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
    if (!state) (void)fmu_say(c, FMU_ERROR, "this is not a state of this instance, or it was freed");
    return state;
}

static struct fmu_state *new_state(fmu_component *c)
{
    size_t size = record_size(c);
    struct fmu_state *state = calloc(1, offsetof(struct fmu_state, record) + size);
    if (!state) {
        (void)fmu_say(c, FMU_ERROR, "not enough memory");
        return NULL;
    }
    state->size = size;
    state->next = c->states;
    c->states = state;
    return state;
}

/* The state to write: *pointer, or a new one if that is NULL. */
static struct fmu_state *target(fmu_component *c, void **pointer)
{
    if (pointer) return *pointer ? known(c, *pointer) : new_state(c);
    (void)fmu_say(c, FMU_ERROR, "%s is NULL", c->host.version->state);
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

/* Save, load, free -------------------------------------------------------------------------------------- */

fmu_status fmu_state_save(fmu_component *c, void **pointer)
{
    struct fmu_state *state = target(c, pointer);
    fmu_status status;
    if (!state) return FMU_ERROR;
    memcpy(state->record.tag, TAG, sizeof TAG);
    state->record.checksum = 0;
    state->record.experiment = c->experiment;
    status = fmu_answer(c, fm_state_save(c->core, core_bytes(state), state->size - sizeof state->record));
    if (status == FMU_OK) {
        *pointer = state;
    } else if (*pointer == NULL) {
        drop(c, state);
    }
    return status;
}

fmu_status fmu_state_load(fmu_component *c, void *pointer)
{
    struct fmu_state *state = known(c, pointer);
    fmu_status status;
    if (!state) return FMU_ERROR;
    if (state->record.experiment.phase & (c->kind == FMU_MODEL_EXCHANGE ? FMU_MAY_STEP | FMU_STEP_EVENT : FMU_HOSTED))
        return fmu_say(c, FMU_ERROR, "the state is one of an instance for %s, this instance is for %s",
                       c->kind == FMU_MODEL_EXCHANGE ? "Co-Simulation" : "Model Exchange",
                       c->kind == FMU_MODEL_EXCHANGE ? "Model Exchange" : "Co-Simulation");
    status = fmu_answer(c, fm_state_load(c->core, core_bytes(state), state->size - sizeof state->record));
    if (status == FMU_OK) c->experiment = state->record.experiment;
    return status;
}

fmu_status fmu_state_free(fmu_component *c, void **pointer)
{
    struct fmu_state *state;
    if (!pointer || !*pointer) return FMU_OK;
    state = known(c, *pointer);
    if (!state) return FMU_ERROR;
    drop(c, state);
    *pointer = NULL;
    return FMU_OK;
}

/* Serialisation ------------------------------------------------------------------------------------------ */

fmu_status fmu_state_size(fmu_component *c, void *pointer, size_t *size)
{
    const struct fmu_state *state = known(c, pointer);
    if (!state) return FMU_ERROR;
    if (!size) return fmu_say(c, FMU_ERROR, "size is NULL");
    *size = state->size;
    return FMU_OK;
}

fmu_status fmu_state_write(fmu_component *c, void *pointer, void *bytes, size_t size)
{
    struct fmu_state *state = known(c, pointer);
    if (!state) return FMU_ERROR;
    if (!bytes || size < state->size) {
        return fmu_say(c, FMU_ERROR, "the buffer of %lu bytes is NULL or less than the state's %lu bytes",
                       (unsigned long)size, (unsigned long)state->size);
    }
    state->record.checksum = checksum(record_bytes(state), state->size);
    memcpy(bytes, record_bytes(state), state->size);
    return FMU_OK;
}

/* Whether a deserialised experiment is one that a component can have. */
static int is_valid(const fmu_experiment *e)
{
    int phase = e->phase == FMU_INSTANTIATED || e->phase == FMU_INITIALIZATION || e->phase == FMU_STEP_COMPLETE ||
                e->phase == FMU_STEP_FAILED || e->phase == FMU_TERMINATED || e->phase == FMU_EVENT_MODE ||
                e->phase == FMU_CONTINUOUS_TIME || e->phase == FMU_STEP_EVENT;
    int step = e->last_step == FMU_OK || e->last_step == FMU_DISCARD;
    return phase && step && isfinite(e->start) && isfinite(e->stop);
}

static const char *bad_bytes(const fmu_component *c, const void *bytes, size_t size)
{
    fmu_record record;
    if (!bytes || size != record_size(c)) return "the number of bytes is not that of a state of this FMU";
    memcpy(&record, bytes, sizeof record);
    if (memcmp(record.tag, TAG, sizeof TAG) != 0) return "the bytes are not a state of an FMU of this kind";
    if (record.checksum != checksum(bytes, size) || !is_valid(&record.experiment))
        return "the bytes were changed since they were serialised";
    return NULL;
}

fmu_status fmu_state_read(fmu_component *c, const void *bytes, size_t size, void **pointer)
{
    const char *problem = bad_bytes(c, bytes, size);
    struct fmu_state *state;
    if (problem) return fmu_say(c, FMU_ERROR, "%s", problem);
    state = target(c, pointer);
    if (!state) return FMU_ERROR;
    memcpy(record_bytes(state), bytes, size);
    *pointer = state;
    return FMU_OK;
}
