/* fuzz_calls.c: an input is a sequence of calls of the FMI 2.0 functions on two instances, legal and illegal ones, with
 * good arguments and bad. Every second call or so goes on in an instance's life, so that the sequences get far.
 *
 * A refused call must leave the instance's state as it was, every message must be fit to be a format, and what the
 * master's memory functions gave must come back. */
#include "fuzz.h"

#include "fmi2/fmi2Functions.h"

#include <sys/stat.h>
#include <unistd.h>

#define RESOURCES "build/fuzz/resources"
#define LARGEST 8000 /* bytes of an image: a larger one takes longer and reaches nothing new */
#define SLAVES 2
#define STATES 3
#define MOST_CALLS 50
#define ENOUGH 1000000     /* allocations of the master's */
#define SPAN 0.02          /* [s] longest step with ordinary values */
#define SLOWEST 6          /* fixed steps in one go */
#define REFUSED 1e9        /* more fixed steps than this in one go are refused by the core */

typedef struct model {
    image file;
    char guid[64], folder[1200], uri[1300];
    uint32_t count, scheme, step;
    uint32_t *of[4]; /* inputs, parameters, states, outputs */
    size_t number[4];
} model;

typedef enum phase { NONE, INSTANTIATED, SET_UP, INITIALIZING, RUNNING, TERMINATED } phase;

typedef struct slave {
    const model *m;
    fmi2Component c;
    fmi2CallbackFunctions functions;
    phase at;
    int wild; /* a value was set that may make the motion stiff */
    double start;
    fmi2FMUstate state[STATES];
    phase state_at[STATES];
    fmi2Byte *bytes;
    size_t size;
    phase bytes_at;
} slave;

typedef struct tape {
    const uint8_t *at, *end;
} tape;

static model models[MOST_IMAGES];
static size_t model_count;
static slave slaves[SLAVES];
static size_t live, allocations_left = ENOUGH;
static unsigned long calls, good_calls, steps;
static int several; /* the last choice called several functions, of which one may be refused after another changed things */
static int aloud; /* FUZZ_ALOUD is set: choices and messages are shown */

/* Before all -------------------------------------------------------------------------------------------- */

static void describe(model *m, const char *here)
{
    fm_instance *s = open_image(&m->file);
    m->count = fm_variable_count(s);
    for (int i = 0; i < 4; i++) m->of[i] = allocate(m->count, sizeof *m->of[i]);
    for (uint32_t i = 0; i < m->count; i++) {
        fm_variable_info v;
        CHECK(fm_variable(s, i, &v) == FM_OK);
        const int list = v.causality == FM_INPUT ? 0 : v.causality == FM_PARAMETER ? 1 : v.state ? 2 : 3;
        m->of[list][m->number[list]++] = i;
    }
    m->scheme = (uint32_t)solver_variable(s, "solver.scheme");
    m->step = (uint32_t)solver_variable(s, "solver.step");
    (void)snprintf(m->guid, sizeof m->guid, "%s", fm_guid(s));
    fm_close(s);
    char link[1400], target[200];
    (void)snprintf(m->folder, sizeof m->folder, RESOURCES "/%s", m->file.name);
    (void)snprintf(link, sizeof link, "%s/model.fmb", m->folder);
    (void)snprintf(target, sizeof target, "../../../images/%s", m->file.name);
    (void)mkdir("build/fuzz", 0777);
    (void)mkdir(RESOURCES, 0777);
    (void)mkdir(m->folder, 0777);
    (void)symlink(target, link);
    (void)snprintf(m->uri, sizeof m->uri, "file://%s/%s", here, m->folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static image images[MOST_IMAGES];
    char here[1000];
    (void)argc;
    (void)argv;
    CHECK(getcwd(here, sizeof here) != NULL);
    aloud = getenv("FUZZ_ALOUD") != NULL;
    model_count = read_images(images, LARGEST);
    for (size_t i = 0; i < model_count; i++) {
        models[i].file = images[i];
        describe(models + i, here);
    }
    return 0;
}

/* Random bytes are good sequences. */
void fuzz_seeds(void (*add)(const uint8_t *data, size_t size))
{
    uint8_t data[400];
    uint64_t seed = 88172645463325252u;
    for (int n = 0; n < 16; n++) {
        for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)any_below(&seed, 256);
        add(data, sizeof data);
    }
}

void fuzz_report(char *text, size_t capacity)
{
    (void)snprintf(text, capacity, "%lu calls, %lu answered OK, %lu steps", calls, good_calls, steps);
}

/* Arguments --------------------------------------------------------------------------------------------- */

static unsigned next(tape *t)
{
    return t->at < t->end ? *t->at++ : 0;
}

/* One in `n`, from the tape. */
static int seldom(tape *t, unsigned n)
{
    return next(t) % n == n - 1;
}

static double number(tape *t)
{
    static const double extreme[] = {NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 1e300, 1e-300, 5e-324, 1e12, -1e12, 1e-9, 1e9, -0.0};
    const unsigned kind = next(t);
    double value;
    uint8_t raw[8];
    if (kind % 4 != 0) return (double)(int8_t)next(t) / 16.0;
    if (kind % 8 == 0) return extreme[next(t) % (sizeof extreme / sizeof *extreme)];
    for (int i = 0; i < 8; i++) raw[i] = (uint8_t)next(t);
    memcpy(&value, raw, sizeof value);
    return value;
}

static int is_tame(double value)
{
    return value <= 8.0 && value >= 1.0 / 16.0; /* a negative damper drives */
}

static fmi2ValueReference reference(tape *t, const model *m)
{
    const unsigned list = next(t);
    if (list < 16) return (fmi2ValueReference)(list % 2 ? m->count + list / 2 : UINT32_MAX - list);
    if (list < 64) return next(t) % m->count;
    const size_t n = m->number[list % 4];
    return n > 0 ? m->of[list % 4][(next(t) + 256 * next(t)) % n] : 0;
}

/* n references and as many values, in memory of just their size; NULL now and then. */
typedef struct arrays {
    size_t n;
    fmi2ValueReference *vr;
    fmi2Real *real;
    fmi2Integer *integer;
} arrays;

static void *memory(tape *t, size_t n, size_t width)
{
    if (seldom(t, 64)) return NULL;
    void *here = malloc(n * width + (n == 0));
    CHECK(here != NULL);
    return here;
}

static arrays make_arrays(tape *t, const model *m)
{
    const unsigned size = next(t);
    arrays a = {size < 8 ? 0 : size < 16 ? 65 + size : 1 + size % 5, NULL, NULL, NULL};
    a.vr = memory(t, a.n, sizeof *a.vr);
    a.real = memory(t, a.n, sizeof *a.real);
    a.integer = memory(t, a.n, sizeof *a.integer);
    for (size_t i = 0; i < a.n; i++) {
        const double value = number(t);
        if (a.vr) a.vr[i] = reference(t, m);
        if (a.real) a.real[i] = value;
        if (a.integer) a.integer[i] = seldom(t, 8) ? (fmi2Integer)(0x7fffffffu + next(t)) : (fmi2Integer)(next(t) % 5) - 1;
    }
    return a;
}

static void free_arrays(arrays *a)
{
    free(a->vr);
    free(a->real);
    free(a->integer);
}

static const char *text(tape *t, char *buffer, size_t capacity)
{
    static const char alphabet[] = "/\\:%0fFeEilC|.#sn{}-";
    size_t n = 0;
    for (const size_t length = next(t) % capacity; n < length; n++) {
        const unsigned byte = next(t);
        buffer[n] = byte < 200 ? alphabet[byte % (sizeof alphabet - 1)] : (char)byte;
    }
    buffer[n] = 0;
    return buffer;
}

/* What the master gives ------------------------------------------------------------------------------------ */

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String message, ...)
{
    static const char *const known[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError"};
    char formatted[4096];
    int found = 0;
    CHECK(environment == slaves || environment == slaves + 1);
    CHECK(name != NULL && (int)status >= fmi2OK && status <= fmi2Error && message != NULL && message[0] != 0);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) found += strcmp(category, known[i]) == 0;
    CHECK(found == 1);
    CHECK(snprintf(formatted, sizeof formatted, message) > 0); /* a format without arguments */
    if (aloud) (void)fprintf(stderr, "slave %d: %s\n", (int)(environment != slaves), formatted);
}

static void *give(size_t n, size_t size)
{
    if (allocations_left == 0) return NULL;
    allocations_left--;
    live++;
    return calloc(n, size);
}

static void take_back(void *memory)
{
    live -= memory != NULL;
    free(memory);
}

static void choose_functions(tape *t, slave *s)
{
    const unsigned kind = next(t) % 8;
    const fmi2CallbackFunctions all = {kind == 1 ? NULL : log_message, kind == 2 ? NULL : give, kind == 3 ? NULL : take_back,
                                       NULL, s};
    s->functions = all;
}

/* Instances --------------------------------------------------------------------------------------------- */

static void forget(slave *s)
{
    const slave none = {.m = s->m};
    free(s->bytes);
    *s = none;
}

static void free_slave(slave *s)
{
    fmi2FreeInstance(s->c);
    forget(s);
}

static const char *location(tape *t, const model *m, char *buffer, size_t capacity)
{
    switch (next(t) % 32) {
    case 0: return NULL;
    case 1: return "";
    case 2: return text(t, buffer, capacity);
    case 3: (void)snprintf(buffer, capacity, "file:%s%%2F..//%s/", m->folder, m->file.name); return buffer;
    case 4: (void)snprintf(buffer, capacity, "FILE://localhost%s", m->uri + 7); return buffer;
    case 5: (void)snprintf(buffer, capacity, "%s%%zz%%0", m->uri); return buffer;
    case 6: return m->folder;
    default: return m->uri;
    }
}

static void instantiate(tape *t, slave *s, int well)
{
    char place[1400], name[40], guid[60];
    if (s->c) free_slave(s);
    s->m = models + next(t) % model_count;
    choose_functions(t, s);
    if (seldom(t, 16)) allocations_left = next(t) % 4;
    const char *called = well || !seldom(t, 4) ? "100%s #1#" : seldom(t, 2) ? NULL : text(t, name, sizeof name);
    const char *identity = well || !seldom(t, 4) ? s->m->guid : seldom(t, 2) ? NULL : text(t, guid, sizeof guid);
    const char *resources = well ? s->m->uri : location(t, s->m, place, sizeof place);
    const fmi2Type type = well || !seldom(t, 8) ? fmi2CoSimulation : fmi2ModelExchange;
    const fmi2CallbackFunctions *functions = !well && seldom(t, 8) ? NULL : &s->functions;
    s->c = fmi2Instantiate(called, type, identity, resources, functions, (fmi2Boolean)next(t), (fmi2Boolean)(next(t) % 2));
    if (functions == NULL) memset(&s->functions, 0, sizeof s->functions);
    s->at = s->c ? INSTANTIATED : NONE;
    s->wild = 0;
    good_calls += s->c != NULL;
}

/* The serialised state, NULL where there is none to be had. */
static fmi2Byte *serialised(slave *s, size_t *size)
{
    fmi2FMUstate state = NULL;
    fmi2Byte *bytes = NULL;
    if (!s->c || fmi2GetFMUstate(s->c, &state) != fmi2OK) return NULL;
    CHECK(fmi2SerializedFMUstateSize(s->c, state, size) == fmi2OK);
    bytes = allocate(*size, 1);
    CHECK(fmi2SerializeFMUstate(s->c, state, bytes, *size) == fmi2OK);
    CHECK(fmi2FreeFMUstate(s->c, &state) == fmi2OK && state == NULL);
    return bytes;
}

/* Life -------------------------------------------------------------------------------------------------- */

static fmi2Status set_up(tape *t, slave *s)
{
    const unsigned when = next(t);
    const double start = when % 8 == 0 ? number(t) : when % 2 ? LATE : when % 4 ? 0.0 : -LATE;
    const fmi2Boolean stops = (fmi2Boolean)seldom(t, 8), tolerant = (fmi2Boolean)seldom(t, 4);
    const double tolerance = seldom(t, 2) ? 1e-4 : number(t), stop = start + fabs(number(t));
    const fmi2Status status = fmi2SetupExperiment(s->c, tolerant, tolerance, start, stops, stop);
    if (status == fmi2OK) s->start = start;
    if (status == fmi2OK && s->at == INSTANTIATED) s->at = SET_UP;
    return status;
}

static fmi2Status enter(slave *s)
{
    const fmi2Status status = fmi2EnterInitializationMode(s->c);
    if (status == fmi2OK) s->at = INITIALIZING;
    return status;
}

static fmi2Status leave(tape *t, slave *s)
{
    const fmi2Integer scheme = (fmi2Integer)(next(t) % 2);
    const double longest = next(t) % 16 ? 0.001 : number(t);
    several = 1;
    (void)fmi2SetInteger(s->c, &s->m->scheme, 1, &scheme);
    (void)fmi2SetReal(s->c, &s->m->step, 1, &longest);
    const fmi2Status status = fmi2ExitInitializationMode(s->c);
    if (status == fmi2OK) s->at = RUNNING;
    return status;
}

static fmi2Status terminate(slave *s)
{
    const fmi2Status status = fmi2Terminate(s->c);
    if (status == fmi2OK) s->at = TERMINATED;
    return status;
}

static fmi2Status reset(slave *s)
{
    const fmi2Status status = fmi2Reset(s->c);
    if (status == fmi2OK) {
        s->at = INSTANTIATED;
        s->wild = 0;
    }
    return status;
}

/* No longer than a few steps of the integrator take, so that every case ends soon. */
static double bounded(slave *s, double size)
{
    double now, longest = 0.0, fixed;
    fmi2Integer scheme;
    if (!(size > 0.0) || !isfinite(size)) return size;
    if (fmi2GetRealStatus(s->c, fmi2LastSuccessfulTime, &now) != fmi2OK) return size;
    if (fmi2GetInteger(s->c, &s->m->scheme, 1, &scheme) != fmi2OK || fmi2GetReal(s->c, &s->m->step, 1, &fixed) != fmi2OK)
        return 0.0;
    if (scheme == 1) {
        if (fixed > 0.0 && size / fixed > 2.0 * REFUSED) return size;
        longest = SLOWEST * fabs(fixed);
    } else {
        longest = few_steps(now);
        if (!s->wild && longest < SPAN) longest = SPAN;
    }
    return size < longest ? size : longest;
}

static fmi2Status do_step(slave *s, double from, double size)
{
    const double length = bounded(s, size);
    if (aloud) (void)fprintf(stderr, "slave %d: %s from %g by %g, wild %d\n", (int)(s != slaves), s->m->file.name, from, length, s->wild);
    const fmi2Status status = fmi2DoStep(s->c, from, length, fmi2True);
    double now;
    if (status == fmi2Error || !s->c) return status;
    steps++;
    CHECK(fmi2GetRealStatus(s->c, fmi2LastSuccessfulTime, &now) == fmi2OK);
    CHECK(status == fmi2OK ? now == from + length : now < from + length);
    return status;
}

static fmi2Status go_on(tape *t, slave *s)
{
    double now = 0.0;
    switch (s->at) {
    case NONE: instantiate(t, s, 1); return fmi2OK;
    case INSTANTIATED: return set_up(t, s);
    case SET_UP: return enter(s);
    case INITIALIZING: return leave(t, s);
    case RUNNING:
        if (fmi2GetRealStatus(s->c, fmi2LastSuccessfulTime, &now) != fmi2OK) return fmi2Error;
        return do_step(s, now, seldom(t, 8) ? fabs(number(t)) : few_steps(now) > SPAN ? few_steps(now) : SPAN);
    default: return reset(s);
    }
}

/* Values ------------------------------------------------------------------------------------------------ */

static void note(slave *s, const arrays *a)
{
    for (size_t i = 0; i < a->n; i++) s->wild |= !is_tame(a->real[i]);
}

static fmi2Status values(tape *t, slave *s)
{
    arrays a = make_arrays(t, s->m ? s->m : models);
    fmi2Status status = fmi2OK;
    fmi2Boolean flag[2] = {0, 1};
    fmi2String string[2] = {NULL, ""};
    const size_t few = a.n < 2 ? a.n : 2;
    switch (next(t) % 10) {
    case 0: case 1: status = fmi2GetReal(s->c, a.vr, a.n, a.real); break;
    case 2: case 3: case 4:
        if (a.real) note(s, &a);
        status = fmi2SetReal(s->c, a.vr, a.n, a.real);
        break;
    case 5: status = fmi2GetInteger(s->c, a.vr, a.n, a.integer); break;
    case 6: status = fmi2SetInteger(s->c, a.vr, a.n, a.integer); break;
    case 7: status = fmi2GetBoolean(s->c, a.vr, few, seldom(t, 4) ? NULL : flag); break;
    case 8: status = fmi2SetBoolean(s->c, a.vr, few, flag); break;
    default:
        status = next(t) % 2 ? fmi2GetString(s->c, a.vr, few, string) : fmi2SetString(s->c, a.vr, few, string);
    }
    free_arrays(&a);
    return status;
}

static fmi2Status derivatives(tape *t, slave *s)
{
    const model *m = s->m ? s->m : models;
    arrays a = make_arrays(t, m), b = make_arrays(t, m);
    fmi2Status status;
    if (a.integer && !seldom(t, 4))
        for (size_t i = 0; i < a.n; i++) a.integer[i] = 1;
    switch (next(t) % 3) {
    case 0: status = fmi2GetDirectionalDerivative(s->c, a.vr, a.n, b.vr, b.n, b.real, a.real); break;
    case 1:
        s->wild = 1;
        status = fmi2SetRealInputDerivatives(s->c, a.vr, a.n, a.integer, a.real);
        break;
    default: status = fmi2GetRealOutputDerivatives(s->c, a.vr, a.n, a.integer, a.real);
    }
    free_arrays(&a);
    free_arrays(&b);
    return status;
}

static fmi2Status ask(tape *t, slave *s)
{
    const fmi2StatusKind kind = (fmi2StatusKind)(next(t) % 6);
    const int nowhere = seldom(t, 8);
    fmi2Status status;
    fmi2Real real;
    fmi2Integer integer;
    fmi2Boolean flag;
    fmi2String string;
    switch (next(t) % 6) {
    case 0: return fmi2GetStatus(s->c, kind, nowhere ? NULL : &status);
    case 1: return fmi2GetRealStatus(s->c, kind, nowhere ? NULL : &real);
    case 2: return fmi2GetIntegerStatus(s->c, kind, nowhere ? NULL : &integer);
    case 3: return fmi2GetBooleanStatus(s->c, kind, nowhere ? NULL : &flag);
    case 4: return fmi2GetStringStatus(s->c, kind, nowhere ? NULL : &string);
    default: return fmi2CancelStep(s->c);
    }
}

static fmi2Status log_what(tape *t, slave *s)
{
    static const char *const names[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError", "log%s", NULL};
    fmi2String category[3];
    const size_t n = next(t) % 4;
    for (size_t i = 0; i < 3; i++) category[i] = names[next(t) % 6];
    return fmi2SetDebugLogging(s->c, (fmi2Boolean)next(t), n, seldom(t, 8) ? NULL : category);
}

/* States of the FMU ------------------------------------------------------------------------------------- */

/* FNV-1a, which seals what fmi2SerializeFMUstate writes; 0 where it is found nowhere. */
static size_t outer_seal(const unsigned char *bytes, size_t size, uint64_t *sum)
{
    for (size_t at = 0; at + 8 <= size && at < 64; at += 8) {
        *sum = 14695981039346656037u;
        for (size_t i = at + 8; i < size; i++) *sum = (*sum ^ bytes[i]) * 1099511628211u;
        if (word_at(bytes + at) == *sum) return at;
    }
    return 0;
}

/* Changes the serialised state, and mends both checksums or does not. */
static void damage(tape *t, slave *s)
{
    unsigned char *bytes = (unsigned char *)s->bytes;
    uint64_t sum;
    if (!bytes || s->size < 200) return;
    const size_t outer = outer_seal(bytes, s->size, &sum);
    if (outer == 0) return;
    const seal inner = find_seal(bytes, s->size);
    for (unsigned n = next(t) % 4; n > 0; n--) {
        const size_t at = (next(t) + 256 * next(t)) % (s->size - 8) & ~(size_t)7;
        const double value = number(t);
        memcpy(bytes + at, &value, sizeof value);
    }
    if (seldom(t, 4)) return;
    sum = fm_checksum(bytes + inner.from, s->size - inner.from);
    memcpy(bytes + inner.at, &sum, sizeof sum);
    sum = 14695981039346656037u;
    for (size_t i = outer + 8; i < s->size; i++) sum = (sum ^ bytes[i]) * 1099511628211u;
    memcpy(bytes + outer, &sum, sizeof sum);
}

static fmi2Status as_bytes(tape *t, slave *s, fmi2FMUstate *state, phase *at)
{
    size_t size = 0;
    fmi2Status status;
    switch (next(t) % 4) {
    case 0:
        free(s->bytes);
        s->bytes = serialised(s, &s->size);
        s->bytes_at = s->at;
        return fmi2OK;
    case 1:
        s->wild = 1;
        damage(t, s);
        /* fall through */
    case 2:
        status = fmi2DeSerializeFMUstate(s->c, s->bytes, s->size - (s->bytes && seldom(t, 16)), seldom(t, 16) ? NULL : state);
        if (status == fmi2OK) *at = s->bytes_at;
        return status;
    default:
        status = fmi2SerializedFMUstateSize(s->c, *state, seldom(t, 8) ? NULL : &size);
        fmi2Byte *bytes = malloc(size + 1);
        if (status == fmi2OK) status = fmi2SerializeFMUstate(s->c, *state, seldom(t, 8) ? NULL : bytes, size - (size_t)seldom(t, 8));
        free(bytes);
        return status;
    }
}

static fmi2Status states(tape *t, slave *s)
{
    const unsigned slot = next(t) % STATES;
    const slave *other = slaves + (s == slaves);
    fmi2FMUstate *state = s->state + slot, foreign = other->state[slot];
    fmi2Status status;
    switch (next(t) % 8) {
    case 0: case 1:
        status = fmi2GetFMUstate(s->c, seldom(t, 16) ? NULL : state);
        if (status == fmi2OK) s->state_at[slot] = s->at;
        return status;
    case 2: case 3:
        status = fmi2SetFMUstate(s->c, seldom(t, 16) ? foreign : *state);
        if (status == fmi2OK) {
            s->at = s->state_at[slot];
            s->wild = 1;
        }
        return status;
    case 4: {
        fmi2FMUstate copy = *state;
        status = fmi2FreeFMUstate(s->c, seldom(t, 8) ? NULL : seldom(t, 2) ? &copy : state); /* the pointer may stay */
        return status;
    }
    default: return as_bytes(t, s, state, s->state_at + slot);
    }
}

/* Sequences --------------------------------------------------------------------------------------------- */

static fmi2Status call(tape *t, slave *s)
{
    const unsigned which = next(t);
    if (which < 100) return go_on(t, s);
    if (which < 150) return values(t, s);
    if (which < 170) return derivatives(t, s);
    if (which < 200) return states(t, s);
    if (which < 210) return ask(t, s);
    switch (which % 16) {
    case 0: return log_what(t, s);
    case 1: return set_up(t, s);
    case 2: return enter(s);
    case 3: return leave(t, s);
    case 4: return terminate(s);
    case 5: return reset(s);
    case 6: free_slave(s); return fmi2OK;
    case 7: instantiate(t, s, 0); return fmi2OK;
    case 8: CHECK(strcmp(fmi2GetVersion(), "2.0") == 0 && fmi2GetTypesPlatform() != NULL); return fmi2OK;
    default: {
        const double from = number(t);
        return do_step(s, from, number(t));
    }
    }
}

/* The call, and whether a refusal left everything as it was. */
static void call_checked(tape *t, slave *s)
{
    const int watched = next(t) % 4 == 0, starved = seldom(t, 64);
    const fmi2Component before_component = s->c;
    const unsigned which = t->at < t->end ? *t->at : 0;
    several = 0;
    size_t size = 0, after_size = 0;
    fmi2Byte *before = watched ? serialised(s, &size) : NULL;
    allocations_left = starved ? 0 : ENOUGH;
    const fmi2Status status = call(t, s);
    allocations_left = ENOUGH;
    if (aloud) (void)fprintf(stderr, "slave %d: choice %u: status %d\n", (int)(s != slaves), which, (int)status);
    calls++;
    good_calls += status == fmi2OK;
    CHECK(status == fmi2OK || status == fmi2Discard || status == fmi2Error);
    if (before && status == fmi2Error && s->c == before_component && !several) {
        fmi2Byte *after = serialised(s, &after_size);
        CHECK(after != NULL && after_size == size && memcmp(before, after, size) == 0);
        free(after);
    }
    free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tape t = {data, data + size};
    const size_t before = live;
    slaves[0].m = slaves[1].m = models;
    for (int n = 0; n < MOST_CALLS && t.at < t.end; n++) call_checked(&t, slaves + seldom(&t, 5));
    for (int i = 0; i < SLAVES; i++) free_slave(slaves + i);
    CHECK(live == before);
    return 0;
}
