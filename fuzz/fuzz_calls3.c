/* fuzz_calls3.c: an input is a sequence of FMI 3.0 calls on two instances, of Co-Simulation, with event mode and early
 * return or without, or of Model Exchange, with scalars or arrays; legal and illegal calls, with valid and invalid
 * arguments. About every second call advances an instance's life cycle, so that sequences get far.
 *
 * A refused call must leave the instance's state unchanged; in an intermediate update values may be read and inputs be
 * set, nothing else.
 */
#include "master.h"

#include "fmi/fmi3Functions.h"

#define MOST_CALLS 60
#define SPAN 0.02      /* [s] longest step with ordinary values */
#define SLOWEST 6      /* most fixed steps at once */
#define LONGEST 100.0  /* [s] up to here periodic paths stop the integrator often enough */

typedef enum phase { NONE, INSTANTIATED, INITIALIZING, EVENTS, STEPPING, CONTINUOUS, TERMINATED } phase;

typedef struct slave {
    const model *m;
    fmi3Instance c;
    phase at;
    int exchange, events, early, arrays;
    int wild; /* 1: a value was set that may make the motion stiff */
    fmi3FMUState state[STATES];
    phase state_at[STATES];
    fmi3Byte *bytes;
    size_t size;
    phase bytes_at;
} slave;

static slave slaves[SLAVES];
static unsigned long calls, good_calls, steps, updates;
static int several;   /* the choice makes several calls: one may be refused after another has changed something */
static draws *inside; /* for the intermediate updates of the present step */

void fuzz_report(char *text, size_t capacity)
{
    (void)snprintf(text, capacity, "%lu calls, %lu answered OK, %lu steps, %lu intermediate updates", calls, good_calls,
                   steps, updates);
}

/* Callbacks --------------------------------------------------------------------------------------------- */

static void log_message(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message)
{
    CHECK(environment == slaves || environment == slaves + 1);
    CHECK((int)status >= fmi3OK && status <= fmi3Error && message != NULL && message[0] != 0);
    CHECK(strncmp(category, "log", 3) == 0);
    if (verbose) (void)fprintf(stderr, "slave %d: %s\n", (int)(environment != slaves), message);
}

/* Reads a value, tries to set the time, sets an input, and ends the step now, later or never. */
static void update(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set, fmi3Boolean get,
                   fmi3Boolean finished, fmi3Boolean may_return, fmi3Boolean *early, fmi3Float64 *when)
{
    const slave *s = environment;
    double value = 0.0;
    CHECK((s == slaves || s == slaves + 1) && s->c && set && get && finished && may_return == (s->early != 0));
    updates++;
    fmi3ValueReference at = s->m->count; /* the time */
    CHECK(fmi3GetFloat64(s->c, &at, 1, &value, 1) == fmi3OK && value == time);
    CHECK(fmi3SetFloat64(s->c, &at, 1, &value, 1) == fmi3Error);
    CHECK(fmi3Reset(s->c) == fmi3Error && fmi3DoStep(s->c, time, 1.0, 0, early, early, early, when) == fmi3Error);
    if (inside && s->m->number[3] > 0 && length_at(s->m, s->m->of[3][0]) == 1)
        (void)fmi3GetFloat64(s->c, s->m->of[3], 1, &value, 1);
    if (inside && s->m->number[0] > 0 && length_at(s->m, s->m->of[0][0]) == 1 && one_in(inside, 4)) {
        value = number(inside); /* none that makes this step take millions of integration steps */
        if (is_tame(fabs(value)) || !isfinite(value)) (void)fmi3SetFloat64(s->c, s->m->of[0], 1, &value, 1);
    }
    *early = inside && one_in(inside, 4);
    *when = inside && one_in(inside, 2) ? time + fabs(number(inside)) : time;
}

/* Instances --------------------------------------------------------------------------------------------- */

static void free_slave(slave *s)
{
    const slave none = {.m = s->m};
    fmi3FreeInstance(s->c);
    free(s->bytes);
    *s = none;
}

static void instantiate(draws *t, slave *s, int well)
{
    char token[80], junk[60];
    if (s->c) free_slave(s);
    s->m = models + next(t) % model_count;
    const unsigned kind = next(t);
    s->exchange = kind % 2, s->events = kind / 2 % 2, s->early = kind / 4 % 2, s->arrays = kind / 8 % 2;
    (void)snprintf(token, sizeof token, "%s%s", s->m->guid, s->arrays ? "/arrays" : "");
    const char *name = well || !one_in(t, 4) ? "100%s #1#" : one_in(t, 2) ? NULL : "";
    const char *identity = well || !one_in(t, 4) ? token : one_in(t, 2) ? NULL : text(t, junk, sizeof junk);
    const char *place = well || !one_in(t, 4) ? s->m->folder : one_in(t, 2) ? NULL : "/nowhere";
    fmi3LogMessageCallback log = one_in(t, 8) && !verbose ? NULL : log_message;
    if (one_in(t, 16)) allocations_left = next(t) % 32;
    if (s->exchange) s->c = fmi3InstantiateModelExchange(name, identity, place, 0, next(t) % 2, s, log);
    else
        s->c = fmi3InstantiateCoSimulation(name, identity, place, 0, next(t) % 2, s->events, s->early, NULL, 0, s, log,
                                           one_in(t, 4) ? NULL : update);
    CHECK(fmi3InstantiateScheduledExecution(name, identity, place, 0, 0, s, log, NULL, NULL, NULL) == NULL);
    s->at = s->c ? INSTANTIATED : NONE;
    good_calls += s->c != NULL;
}

/* The serialised state, NULL if it is not available. */
static fmi3Byte *serialised(slave *s, size_t *size)
{
    fmi3FMUState state = NULL;
    fmi3Byte *bytes = NULL;
    if (!s->c || fmi3GetFMUState(s->c, &state) != fmi3OK) return NULL;
    CHECK(fmi3SerializedFMUStateSize(s->c, state, size) == fmi3OK);
    bytes = allocate(*size, 1);
    CHECK(fmi3SerializeFMUState(s->c, state, bytes, *size) == fmi3OK);
    CHECK(fmi3FreeFMUState(s->c, &state) == fmi3OK && state == NULL);
    return bytes;
}

/* In initialization mode, in which a forged state may be, too, reading it assembles the mechanism. */
static double time_of(slave *s)
{
    double time = 0.0;
    several |= s->at == INITIALIZING || s->wild;
    return fmi3GetFloat64(s->c, &s->m->count, 1, &time, 1) == fmi3OK ? time : 0.0;
}

/* Life cycle -------------------------------------------------------------------------------------------- */

static fmi3Status went(slave *s, fmi3Status status, phase to)
{
    if (status == fmi3OK) s->at = to;
    return status;
}

static fmi3Status enter(draws *t, slave *s)
{
    const double start = one_in(t, 4)   ? LATE
                         : one_in(t, 8) ? number(t)
                                        : 0.0,
                 tolerance = one_in(t, 2) ? 1e-4 : number(t);
    return went(s, fmi3EnterInitializationMode(s->c, one_in(t, 4), tolerance, start, one_in(t, 8), start + number(t)),
                INITIALIZING);
}

static fmi3Status leave(draws *t, slave *s)
{
    const fmi3Int32 scheme = (fmi3Int32)(next(t) % (FM_SCHEME_COUNT + 1));
    const double longest = next(t) % 16 ? 0.001 : number(t);
    several = 1;
    (void)fmi3SetInt32(s->c, &s->m->scheme, 1, &scheme, 1);
    (void)fmi3SetFloat64(s->c, &s->m->step, 1, &longest, 1);
    return went(s, fmi3ExitInitializationMode(s->c), s->exchange || s->events ? EVENTS : STEPPING);
}

static fmi3Status end_events(draws *t, slave *s)
{
    fmi3Boolean flag[5];
    double when;
    several = 1;
    const fmi3Status status =
        fmi3UpdateDiscreteStates(s->c, flag, flag + 1, flag + 2, flag + 3, one_in(t, 32) ? NULL : flag + 4, &when);
    if (status != fmi3OK) return status;
    return s->exchange ? went(s, fmi3EnterContinuousTimeMode(s->c), CONTINUOUS)
                       : went(s, fmi3EnterStepMode(s->c), STEPPING);
}

/* A length that takes only a few integration steps, so that every case ends soon. */
static double bounded(slave *s, double size)
{
    double longest = few_steps(time_of(s)), fixed;
    fmi3Int32 scheme;
    if (!(size > 0.0) || !isfinite(size)) return size;
    if (fmi3GetInt32(s->c, &s->m->scheme, 1, &scheme, 1) != fmi3OK) return 0.0;
    if (fmi3GetFloat64(s->c, &s->m->step, 1, &fixed, 1) != fmi3OK) return 0.0;
    if (has_fixed_steps(scheme)) longest = fmin(SLOWEST * fabs(fixed), LONGEST);
    else if (!s->wild && longest < SPAN) longest = SPAN;
    return fmin(size, longest);
}

static fmi3Status do_step(draws *t, slave *s, double from, double size)
{
    const double length = bounded(s, size), before = regular_time(time_of(s));
    fmi3Boolean event = 0, ends = 0, early = 0;
    double last = from;
    inside = t;
    const fmi3Status status =
        fmi3DoStep(s->c, from, length, one_in(t, 2), &event, &ends, one_in(t, 32) ? NULL : &early, &last);
    inside = NULL;
    if (status == fmi3Error || !s->c) return status;
    steps++;
    const double end = fmax(before, regular_time(from + length));
    CHECK(!ends && last == time_of(s) && (s->early || !early) && (s->events || !event));
    CHECK(status == fmi3OK && !early ? regular_time(last) == end : last < from + length);
    if (event) return went(s, fmi3EnterEventMode(s->c), EVENTS);
    return status;
}

/* A step of Euler's method. */
static fmi3Status integrate(draws *t, slave *s)
{
    double x[MOST_STATES], rates[MOST_STATES];
    fmi3Boolean event = 0, ends = 0;
    size_t n = 0;
    several = 1;
    const double h = one_in(t, 4) ? fabs(number(t)) : 1e-3, now = time_of(s);
    CHECK(fmi3GetNumberOfContinuousStates(s->c, &n) == fmi3OK);
    if (n > MOST_STATES || fmi3GetContinuousStates(s->c, x, n) != fmi3OK) return fmi3Error;
    if (fmi3GetContinuousStateDerivatives(s->c, rates, n) != fmi3OK) return fmi3Error;
    for (size_t i = 0; i < n; i++) x[i] += h * rates[i];
    if (fmi3SetTime(s->c, now + h) != fmi3OK || fmi3SetContinuousStates(s->c, x, n) != fmi3OK) return fmi3Error;
    steps++;
    const fmi3Status status = fmi3CompletedIntegratorStep(s->c, 1, &event, &ends);
    if (status == fmi3OK && (event || one_in(t, 8))) return went(s, fmi3EnterEventMode(s->c), EVENTS);
    return status;
}

static fmi3Status reset(slave *s)
{
    s->wild = 0;
    return went(s, fmi3Reset(s->c), INSTANTIATED);
}

static fmi3Status advance(draws *t, slave *s)
{
    switch (s->at) {
    case NONE: instantiate(t, s, 1); return fmi3OK;
    case INSTANTIATED: return enter(t, s);
    case INITIALIZING: return leave(t, s);
    case EVENTS: return end_events(t, s);
    case CONTINUOUS: return integrate(t, s);
    case STEPPING: return do_step(t, s, time_of(s), one_in(t, 8) ? fabs(number(t)) : SPAN);
    default: return reset(s);
    }
}

/* Values ------------------------------------------------------------------------------------------------ */

/* How many values some variables have; seldom another number. Their memory has exactly that size. */
static size_t size_values(draws *t, const slave *s, arrays *a)
{
    size_t n = a->n;
    if (s->arrays && a->vr) {
        n = 0;
        for (size_t i = 0; i < a->n; i++) n += length_at(s->m, a->vr[i]);
    }
    n += one_in(t, 16);
    n -= n > 0 && one_in(t, 16);
    if (!a->real) return n;
    free(a->real);
    a->real = allocate(n + 1, sizeof *a->real);
    for (size_t i = 0; i < n; i++) a->real[i] = number(t);
    return n;
}

static fmi3Status values(draws *t, slave *s)
{
    arrays a = make_arrays(t, s->m ? s->m : models);
    const size_t n = s->m ? size_values(t, s, &a) : a.n;
    fmi3Status status = fmi3OK;
    fmi3Boolean flag[80] = {0, 1};
    fmi3Float32 single[80];
    const size_t few = a.n < 80 && n < 80 ? a.n : 0, some = few ? n : 0;
    switch (next(t) % 9) {
    case 0:
    case 1:
    case 2: status = fmi3GetFloat64(s->c, a.vr, a.n, a.real, n); break;
    case 3:
    case 4:
        for (size_t i = 0; a.real && i < n; i++) s->wild |= !is_tame(a.real[i]);
        status = fmi3SetFloat64(s->c, a.vr, a.n, a.real, n);
        break;
    case 5: status = fmi3GetInt32(s->c, a.vr, a.n, a.integer, a.n); break;
    case 6: status = fmi3SetInt32(s->c, a.vr, a.n, a.integer, a.n); break;
    case 7:
        status =
            one_in(t, 2) ? fmi3GetBoolean(s->c, a.vr, few, flag, some) : fmi3SetBoolean(s->c, a.vr, few, flag, some);
        break;
    default: status = one_in(t, 2) ? fmi3GetFloat32(s->c, a.vr, few, single, few) : fmi3GetClock(s->c, a.vr, few, flag);
    }
    free_arrays(&a);
    return status;
}

static fmi3Status derivatives(draws *t, slave *s)
{
    arrays a = make_arrays(t, s->m), b = make_arrays(t, s->m);
    const size_t rows = size_values(t, s, &a), columns = size_values(t, s, &b);
    fmi3Status status;
    for (size_t i = 0; a.integer && !one_in(t, 4) && i < a.n; i++) a.integer[i] = 1;
    if (one_in(t, 2)) status = fmi3GetOutputDerivatives(s->c, a.vr, a.n, a.integer, a.real, rows);
    else if (one_in(t, 8)) status = fmi3GetAdjointDerivative(s->c, a.vr, a.n, b.vr, b.n, a.real, rows, b.real, columns);
    else status = fmi3GetDirectionalDerivative(s->c, a.vr, a.n, b.vr, b.n, b.real, columns, a.real, rows);
    free_arrays(&a);
    free_arrays(&b);
    return status;
}

/* Any call of Model Exchange and of event mode, whether it is its time or not. */
static fmi3Status exchange(draws *t, slave *s)
{
    double x[MOST_STATES] = {0.0}, when;
    fmi3Boolean flag[5];
    size_t n = 0;
    (void)fmi3GetNumberOfContinuousStates(s->c, one_in(t, 8) ? NULL : &n);
    if (one_in(t, 2)) (void)fmi3GetNumberOfEventIndicators(s->c, one_in(t, 8) ? NULL : &n);
    if (n > MOST_STATES) return fmi3OK;
    n += n < MOST_STATES && one_in(t, 16);
    double *values = one_in(t, 32) ? NULL : x;
    for (size_t i = 0; i < n; i++) x[i] = number(t);
    s->wild = 1;
    switch (next(t) % 10) {
    case 0: return fmi3SetContinuousStates(s->c, values, n);
    case 1: return fmi3GetContinuousStates(s->c, values, n);
    case 2: return fmi3GetContinuousStateDerivatives(s->c, values, n);
    case 3: return fmi3GetNominalsOfContinuousStates(s->c, values, n);
    case 4: return fmi3GetEventIndicators(s->c, values, n);
    case 5: return fmi3SetTime(s->c, number(t));
    case 6: return fmi3CompletedIntegratorStep(s->c, 1, one_in(t, 8) ? NULL : flag, flag + 1);
    case 7: return went(s, fmi3EnterEventMode(s->c), EVENTS);
    case 8: return fmi3UpdateDiscreteStates(s->c, flag, flag + 1, flag + 2, flag + 3, flag + 4, &when);
    default: return fmi3EvaluateDiscreteStates(s->c);
    }
}

/* FMU states -------------------------------------------------------------------------------------------- */

static fmi3Status set_state(slave *s, fmi3FMUState state, phase at)
{
    const fmi3Status status = went(s, fmi3SetFMUState(s->c, state), at);
    if (status == fmi3OK) s->wild = 1;
    return status;
}

static fmi3Status states(draws *t, slave *s)
{
    const unsigned slot = next(t) % STATES;
    fmi3FMUState *state = s->state + slot, foreign = slaves[s == slaves].state[slot];
    fmi3Status status;
    switch (next(t) % 6) {
    case 0:
        status = fmi3GetFMUState(s->c, one_in(t, 16) ? NULL : state);
        if (status == fmi3OK) s->state_at[slot] = s->at;
        return status;
    case 1: return set_state(s, one_in(t, 16) ? foreign : *state, s->state_at[slot]);
    case 2: return fmi3FreeFMUState(s->c, one_in(t, 8) ? NULL : state);
    case 3:
        free(s->bytes);
        s->bytes = serialised(s, &s->size);
        s->bytes_at = s->at;
        return fmi3OK;
    case 4: damage(t, s->bytes, s->size); /* fall through */
    default:
        status = fmi3DeserializeFMUState(s->c, s->bytes, s->size - (s->bytes && one_in(t, 16)), state);
        if (status == fmi3OK) s->state_at[slot] = s->bytes_at;
        return status == fmi3OK && one_in(t, 2) ? set_state(s, *state, s->state_at[slot]) : status;
    }
}

/* Sequences --------------------------------------------------------------------------------------------- */

static fmi3Status call(draws *t, slave *s)
{
    const unsigned which = next(t);
    if (which < 110 || !s->m) return advance(t, s);
    if (which < 150) return values(t, s);
    if (which < 170) return derivatives(t, s);
    if (which < 195) return states(t, s);
    if (which < 225) return exchange(t, s);
    switch (which % 8) {
    case 0: return fmi3SetDebugLogging(s->c, next(t) % 2, 0, NULL);
    case 1: return enter(t, s);
    case 2: return leave(t, s);
    case 3: return went(s, fmi3Terminate(s->c), TERMINATED);
    case 4: return reset(s);
    case 5: one_in(t, 2) ? free_slave(s) : instantiate(t, s, 0); return fmi3OK;
    case 6: return fmi3EnterConfigurationMode(s->c);
    default: return do_step(t, s, number(t), number(t));
    }
}

#include "sequence.h"
