/* fuzz_calls.c: an input is a sequence of FMI 2.0 calls on two instances, of Co-Simulation or of Model Exchange, legal
 * and illegal ones, with valid and invalid arguments. About every second call advances an instance's life cycle, so
 * that sequences get far.
 *
 * A refused call must leave the instance's state unchanged, every message must be a valid format, and memory from the
 * importer's functions must be returned.
 */
#include "master.h"

#include "fmi/fmi2Functions.h"

#define MOST_CALLS 50
#define SPAN 0.02   /* [s] longest step with ordinary values */
#define SLOWEST 6   /* most fixed steps at once */
#define REFUSED 1e9 /* the core refuses more fixed steps at once */
#define LONGEST 100.0 /* [s] up to here periodic paths stop the integrator often enough */
#define ENDLESS 1e12  /* [s] the core refuses to follow them that far */

typedef enum phase { NONE, INSTANTIATED, SET_UP, INITIALIZING, RUNNING, EVENTS, CONTINUOUS, TERMINATED } phase;

typedef struct slave {
    const model *m;
    fmi2Component c;
    fmi2CallbackFunctions functions;
    phase at;
    int exchange; /* 1: of Model Exchange */
    int wild;     /* 1: a value was set that may make the motion stiff */
    double start;
    fmi2FMUstate state[STATES];
    phase state_at[STATES];
    fmi2Byte *bytes;
    size_t size;
    phase bytes_at;
} slave;

static slave slaves[SLAVES];
static unsigned long calls, good_calls, steps;
static int several; /* the choice makes several calls: one may be refused after another has changed something */

void fuzz_report(char *text, size_t capacity)
{
    (void)snprintf(text, capacity, "%lu calls, %lu answered OK, %lu steps", calls, good_calls, steps);
}

/* Callbacks ------------------------------------------------------------------------------------------------ */

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
    CHECK(snprintf(formatted, sizeof formatted, message) > 0); /* it must be a format without arguments */
    if (verbose) (void)fprintf(stderr, "slave %d: %s\n", (int)(environment != slaves), formatted);
}

/* canNotUseMemoryManagementFunctions: they are never called. */
static void *give(size_t n, size_t size)
{
    CHECK(!"allocateMemory was called");
    (void)n, (void)size;
    return NULL;
}

static void take_back(void *memory)
{
    CHECK(!"freeMemory was called");
    (void)memory;
}

static void choose_functions(draws *t, slave *s)
{
    const unsigned kind = next(t) % 8;
    const fmi2CallbackFunctions all = {kind == 1 ? NULL : log_message, kind == 2 ? NULL : give,
                                       kind == 3 ? NULL : take_back, NULL, s};
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

static const char *location(draws *t, const model *m, char *buffer, size_t capacity)
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

static void instantiate(draws *t, slave *s, int well)
{
    char place[1400], name[40], guid[60];
    if (s->c) free_slave(s);
    s->m = models + next(t) % model_count;
    choose_functions(t, s);
    if (one_in(t, 16)) allocations_left = next(t) % 32;
    const char *called = well || !one_in(t, 4) ? "100%s #1#" : one_in(t, 2) ? NULL : text(t, name, sizeof name);
    const char *identity = well || !one_in(t, 4) ? s->m->guid : one_in(t, 2) ? NULL : text(t, guid, sizeof guid);
    const char *resources = well ? s->m->uri : location(t, s->m, place, sizeof place);
    const fmi2Type type = one_in(t, 3) ? fmi2ModelExchange : fmi2CoSimulation;
    const fmi2CallbackFunctions *functions = !well && one_in(t, 8) ? NULL : &s->functions;
    const fmi2Boolean visible = (fmi2Boolean)next(t), logging = (fmi2Boolean)(next(t) % 2);
    s->c = fmi2Instantiate(called, type, identity, resources, functions, visible, logging);
    if (functions == NULL) memset(&s->functions, 0, sizeof s->functions);
    s->at = s->c ? INSTANTIATED : NONE;
    s->exchange = type == fmi2ModelExchange;
    s->wild = 0;
    good_calls += s->c != NULL;
}

/* The serialised state, NULL if it is not available. */
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

/* Life cycle -------------------------------------------------------------------------------------------- */

static fmi2Status went(slave *s, fmi2Status status, phase to)
{
    if (status == fmi2OK) s->at = to;
    return status;
}

static fmi2Status set_up(draws *t, slave *s)
{
    const unsigned when = next(t);
    const double start = when % 8 == 0 ? number(t) : when % 2 ? LATE : when % 4 ? 0.0 : -LATE;
    const fmi2Boolean stops = (fmi2Boolean)one_in(t, 8), tolerant = (fmi2Boolean)one_in(t, 4);
    const double tolerance = one_in(t, 2) ? 1e-4 : number(t), stop = start + fabs(number(t));
    const fmi2Status status = fmi2SetupExperiment(s->c, tolerant, tolerance, start, stops, stop);
    if (status == fmi2OK) s->start = start;
    if (status == fmi2OK && s->at == INSTANTIATED) s->at = SET_UP;
    return status;
}

static fmi2Status enter(slave *s)
{
    return went(s, fmi2EnterInitializationMode(s->c), INITIALIZING);
}

static fmi2Status leave(draws *t, slave *s)
{
    const fmi2Integer scheme = (fmi2Integer)(next(t) % (FM_SCHEME_COUNT + 1));
    const double longest = next(t) % 16 ? 0.001 : number(t);
    several = 1;
    (void)fmi2SetInteger(s->c, &s->m->scheme, 1, &scheme);
    (void)fmi2SetReal(s->c, &s->m->step, 1, &longest);
    if (one_in(t, 6)) {
        const fmi2Integer resting = (fmi2Integer)(next(t) % 3);
        (void)fmi2SetInteger(s->c, &s->m->equilibrium, 1, &resting);
    }
    return went(s, fmi2ExitInitializationMode(s->c), s->exchange ? EVENTS : RUNNING);
}

static fmi2Status terminate(slave *s)
{
    return went(s, fmi2Terminate(s->c), TERMINATED);
}

static fmi2Status reset(slave *s)
{
    const fmi2Status status = went(s, fmi2Reset(s->c), INSTANTIATED);
    if (status == fmi2OK) s->wild = 0;
    return status;
}

/* A length that takes only a few integration steps, so that every case ends soon. */
static double bounded(slave *s, double size)
{
    double now, longest = 0.0, fixed;
    fmi2Integer scheme;
    if (!(size > 0.0) || !isfinite(size)) return size;
    if (fmi2GetRealStatus(s->c, fmi2LastSuccessfulTime, &now) != fmi2OK) return size;
    if (fmi2GetInteger(s->c, &s->m->scheme, 1, &scheme) != fmi2OK) return 0.0;
    if (fmi2GetReal(s->c, &s->m->step, 1, &fixed) != fmi2OK) return 0.0;
    if (has_fixed_steps(scheme)) {
        if (fixed > 0.0 && size / fixed > 2.0 * REFUSED) return size;
        longest = SLOWEST * fabs(fixed);
        if (size > ENDLESS && size <= longest) return size;
        longest = longest < LONGEST ? longest : LONGEST;
    } else {
        longest = few_steps(now);
        if (!s->wild && longest < SPAN) longest = SPAN;
    }
    return size < longest ? size : longest;
}

static fmi2Status do_step(slave *s, double from, double size)
{
    const double length = bounded(s, size);
    if (verbose) (void)fprintf(stderr, "%s from %g by %g, wild %d\n", s->m->file.name, from, length, s->wild);
    double before = -INFINITY, now;
    if (s->c) (void)fmi2GetRealStatus(s->c, fmi2LastSuccessfulTime, &before);
    const fmi2Status status = fmi2DoStep(s->c, from, length, fmi2True);
    if (status == fmi2Error || !s->c) return status;
    steps++;
    CHECK(fmi2GetRealStatus(s->c, fmi2LastSuccessfulTime, &now) == fmi2OK);
    const double end = regular_time(from + length); /* one that is lost in round-off changes nothing */
    CHECK(status == fmi2OK ? regular_time(now) == fmax(regular_time(before), end) : now < from + length);
    return status;
}

static fmi2Status end_events(draws *t, slave *s)
{
    fmi2EventInfo info;
    several = 1;
    const fmi2Status status = fmi2NewDiscreteStates(s->c, one_in(t, 32) ? NULL : &info);
    if (status != fmi2OK) return status;
    CHECK(!info.terminateSimulation && (!info.nextEventTimeDefined || isfinite(info.nextEventTime)));
    return went(s, fmi2EnterContinuousTimeMode(s->c), CONTINUOUS);
}

static fmi2Status enter_events(slave *s)
{
    return went(s, fmi2EnterEventMode(s->c), EVENTS);
}

/* A step of Euler's method. */
static fmi2Status integrate(draws *t, slave *s)
{
    double x[MOST_STATES], rates[MOST_STATES], now = 0.0;
    fmi2Boolean event = 0, ends = 0;
    const size_t n = s->m->continuous;
    several = 1;
    const double h = one_in(t, 4) ? fabs(number(t)) : 1e-3;
    if (n > MOST_STATES || fmi2GetReal(s->c, &s->m->count, 1, &now) != fmi2OK) return fmi2Error;
    if (fmi2GetContinuousStates(s->c, x, n) != fmi2OK || fmi2GetDerivatives(s->c, rates, n) != fmi2OK) return fmi2Error;
    for (size_t i = 0; i < n; i++) x[i] += h * rates[i];
    if (fmi2SetTime(s->c, now + h) != fmi2OK || fmi2SetContinuousStates(s->c, x, n) != fmi2OK) return fmi2Error;
    steps++;
    const fmi2Status status = fmi2CompletedIntegratorStep(s->c, fmi2True, &event, &ends);
    CHECK(!ends);
    return status == fmi2OK && (event || one_in(t, 8)) ? enter_events(s) : status;
}

/* Any call of Model Exchange, whether it is its time or not; its numbers have as much memory as they take. */
static fmi2Status exchange(draws *t, slave *s)
{
    const unsigned which = next(t) % 10;
    const model *m = s->m ? s->m : models;
    fmi2EventInfo info;
    fmi2Boolean event, ends;
    size_t n = which == 4 ? m->indicators : m->continuous;
    n += one_in(t, 16);
    n -= n > 0 && one_in(t, 16);
    double *x = memory(t, n, sizeof *x);
    for (size_t i = 0; x && i < n; i++) x[i] = number(t);
    fmi2Status status;
    s->wild = 1;
    switch (which) {
    case 0: status = fmi2SetContinuousStates(s->c, x, n); break;
    case 1: status = fmi2GetContinuousStates(s->c, x, n); break;
    case 2: status = fmi2GetDerivatives(s->c, x, n); break;
    case 3: status = fmi2GetNominalsOfContinuousStates(s->c, x, n); break;
    case 4: status = fmi2GetEventIndicators(s->c, x, n); break;
    case 5: status = fmi2SetTime(s->c, number(t)); break;
    case 6: status = fmi2CompletedIntegratorStep(s->c, fmi2True, one_in(t, 8) ? NULL : &event, &ends); break;
    case 7: status = enter_events(s); break;
    case 8: status = fmi2NewDiscreteStates(s->c, one_in(t, 8) ? NULL : &info); break;
    default: status = went(s, fmi2EnterContinuousTimeMode(s->c), CONTINUOUS);
    }
    free(x);
    return status;
}

static fmi2Status advance(draws *t, slave *s)
{
    double now = 0.0;
    switch (s->at) {
    case NONE: instantiate(t, s, 1); return fmi2OK;
    case INSTANTIATED: return set_up(t, s);
    case SET_UP: return enter(s);
    case INITIALIZING: return leave(t, s);
    case EVENTS: return end_events(t, s);
    case CONTINUOUS: return integrate(t, s);
    case RUNNING:
        if (fmi2GetRealStatus(s->c, fmi2LastSuccessfulTime, &now) != fmi2OK) return fmi2Error;
        if (one_in(t, 8)) return do_step(s, now, fabs(number(t)));
        return do_step(s, now, few_steps(now) > SPAN ? few_steps(now) : SPAN);
    default: return reset(s);
    }
}

/* Values ------------------------------------------------------------------------------------------------ */

static void note(slave *s, const arrays *a)
{
    for (size_t i = 0; i < a->n; i++) s->wild |= !is_tame(a->real[i]);
}

static fmi2Status values(draws *t, slave *s)
{
    arrays a = make_arrays(t, s->m ? s->m : models);
    fmi2Status status = fmi2OK;
    fmi2Boolean flag[2] = {0, 1};
    fmi2String string[2] = {NULL, ""};
    const size_t few = a.n < 2 ? a.n : 2;
    switch (next(t) % 10) {
    case 0:
    case 1: status = fmi2GetReal(s->c, a.vr, a.n, a.real); break;
    case 2:
    case 3:
    case 4:
        if (a.real) note(s, &a);
        status = fmi2SetReal(s->c, a.vr, a.n, a.real);
        break;
    case 5: status = fmi2GetInteger(s->c, a.vr, a.n, a.integer); break;
    case 6: status = fmi2SetInteger(s->c, a.vr, a.n, a.integer); break;
    case 7: status = fmi2GetBoolean(s->c, a.vr, few, one_in(t, 4) ? NULL : flag); break;
    case 8: status = fmi2SetBoolean(s->c, a.vr, few, flag); break;
    default: status = next(t) % 2 ? fmi2GetString(s->c, a.vr, few, string) : fmi2SetString(s->c, a.vr, few, string);
    }
    free_arrays(&a);
    return status;
}

static fmi2Status derivatives(draws *t, slave *s)
{
    const model *m = s->m ? s->m : models;
    arrays a = make_arrays(t, m), b = make_arrays(t, m);
    fmi2Status status;
    if (a.integer && !one_in(t, 4))
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

static fmi2Status get_status(draws *t, slave *s)
{
    const fmi2StatusKind kind = (fmi2StatusKind)(next(t) % 6);
    const int nowhere = one_in(t, 8);
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

static fmi2Status set_logging(draws *t, slave *s)
{
    static const char *const names[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError", "log%s",
                                        NULL};
    fmi2String category[3];
    const size_t n = next(t) % 4;
    for (size_t i = 0; i < 3; i++) category[i] = names[next(t) % 6];
    return fmi2SetDebugLogging(s->c, (fmi2Boolean)next(t), n, one_in(t, 8) ? NULL : category);
}

/* FMU states -------------------------------------------------------------------------------------------- */

static fmi2Status set_state(slave *s, fmi2FMUstate state, phase at)
{
    const fmi2Status status = went(s, fmi2SetFMUstate(s->c, state), at);
    if (status == fmi2OK) s->wild = 1;
    return status;
}

static fmi2Status as_bytes(draws *t, slave *s, fmi2FMUstate *state, phase *at)
{
    size_t size = 0;
    fmi2Status status;
    switch (next(t) % (FM_SCHEME_COUNT + 1)) {
    case 0:
        free(s->bytes);
        s->bytes = serialised(s, &s->size);
        s->bytes_at = s->at;
        return fmi2OK;
    case 1:
        s->wild = 1;
        damage(t, (unsigned char *)s->bytes, s->size);
        /* fall through */
    case 2:
        size = s->size - (s->bytes && one_in(t, 16));
        status = fmi2DeSerializeFMUstate(s->c, s->bytes, size, one_in(t, 16) ? NULL : state);
        if (status == fmi2OK) *at = s->bytes_at;
        if (status == fmi2OK && one_in(t, 2)) return set_state(s, *state, *at);
        return status;
    default:
        status = fmi2SerializedFMUstateSize(s->c, *state, one_in(t, 8) ? NULL : &size);
        fmi2Byte *bytes = malloc(size + 1);
        size -= status == fmi2OK && one_in(t, 8);
        if (status == fmi2OK) status = fmi2SerializeFMUstate(s->c, *state, one_in(t, 8) ? NULL : bytes, size);
        free(bytes);
        return status;
    }
}

static fmi2Status states(draws *t, slave *s)
{
    const unsigned slot = next(t) % STATES;
    const slave *other = slaves + (s == slaves);
    fmi2FMUstate *state = s->state + slot, foreign = other->state[slot];
    fmi2Status status;
    switch (next(t) % 8) {
    case 0:
    case 1:
        status = fmi2GetFMUstate(s->c, one_in(t, 16) ? NULL : state);
        if (status == fmi2OK) s->state_at[slot] = s->at;
        return status;
    case 2:
    case 3: return set_state(s, one_in(t, 16) ? foreign : *state, s->state_at[slot]);
    case 4: {
        fmi2FMUstate copy = *state;
        /* the pointer may be passed again */
        status = fmi2FreeFMUstate(s->c, one_in(t, 8) ? NULL : one_in(t, 2) ? &copy : state);
        return status;
    }
    default: return as_bytes(t, s, state, s->state_at + slot);
    }
}

/* Sequences --------------------------------------------------------------------------------------------- */

static fmi2Status call(draws *t, slave *s)
{
    const unsigned which = next(t);
    if (which < 100) return advance(t, s);
    if (which < 150) return values(t, s);
    if (which < 170) return derivatives(t, s);
    if (which < 200) return states(t, s);
    if (which < 206) return get_status(t, s);
    if (which < 224) return exchange(t, s);
    switch (which % 16) {
    case 0: return set_logging(t, s);
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

#include "sequence.h"
