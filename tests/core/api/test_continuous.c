/* test_continuous.c: a host that integrates by the functions for it alone moves as the core's own integrator does.
 *
 * The host's integrator is the classical Runge-Kutta scheme with fixed steps, which finds the zeros of the indicators
 * by halving its step.
 */
#include "images.h"

#define END 0.6   /* [s] */
#define LATER 2.5 /* [s], after blocks that stuck slipped again */
#define STEP 5e-4 /* [s] */
#define EQUAL 1e-10 /* round-off of the motion, relative to the nominals */
#define LOCATED 1e-9 /* the same, and the error of the scheme beside springs */
#define HALVINGS 50
#define MOST_UPDATES 2000
#define RK4 1.0
#define DOP853 4.0
#define TOLERANCE 1e-9 /* the host corrects drift from ten times it */
#define PULLED 3.0 /* times the core's error by the same scheme, which corrects each step; a pull leaves drift */
#define FINE 1e-12

typedef struct host {
    fm_instance *s;
    size_t states, indicators;
    double *x, *next, *rate, *sum, *before, *after;
    fm_events events;
    int updates, crossings;
} host;

static host open_host(const image *one)
{
    host h = {0};
    h.s = open_image(one);
    CHECK(choose(h.s, DOP853, STEP, TOLERANCE) && fm_assemble(h.s, 0.0) == FM_OK);
    h.states = (size_t)fm_continuous_count(h.s);
    h.indicators = (size_t)fm_indicator_count(h.s);
    h.x = allocate(h.states, sizeof *h.x), h.next = allocate(h.states, sizeof *h.x);
    h.rate = allocate(h.states, sizeof *h.x), h.sum = allocate(h.states, sizeof *h.x);
    h.before = allocate(h.indicators, sizeof *h.x), h.after = allocate(h.indicators, sizeof *h.x);
    return h;
}

static void close_host(host *h)
{
    free(h->x), free(h->next), free(h->rate), free(h->sum), free(h->before), free(h->after);
    fm_close(h->s);
}

/* A step from x at time t to `end`; the state and its indicators there. */
static void try_step(host *h, double t, double end)
{
    static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    const double step = end - t;
    for (size_t i = 0; i < h->states; i++) h->sum[i] = h->rate[i] = 0.0;
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < h->states; i++) h->next[i] = h->x[i] + step * at[k] * h->rate[i];
        CHECK(fm_set_continuous(h->s, t + at[k] * step, h->next) == FM_OK);
        CHECK(fm_continuous_rates(h->s, h->rate) == FM_OK);
        for (size_t i = 0; i < h->states; i++) h->sum[i] += weight[k] / 6.0 * h->rate[i];
    }
    for (size_t i = 0; i < h->states; i++) h->next[i] = h->x[i] + step * h->sum[i];
    CHECK(fm_set_continuous(h->s, end, h->next) == FM_OK);
    CHECK(fm_indicators(h->s, h->after) == FM_OK);
}

static int has_crossed(const host *h)
{
    for (size_t i = 0; i < h->indicators; i++)
        if ((h->before[i] > 0.0) != (h->after[i] > 0.0)) return 1;
    return 0;
}

static void update(host *h)
{
    CHECK(fm_update_events(h->s, &h->events) == FM_OK);
    CHECK(h->events.next > fm_time(h->s));
    CHECK(++h->updates < MOST_UPDATES);
}

/* The indicators of a state are the same whatever was evaluated before. */
static void check_again(host *h, double t)
{
    try_step(h, t, t + STEP);
    CHECK(fm_set_continuous(h->s, t, h->x) == FM_OK && fm_indicators(h->s, h->after) == FM_OK);
    CHECK(memcmp(h->before, h->after, h->indicators * sizeof *h->after) == 0);
}

/* Steps to `end`, and updates the events on the way. */
static void run(host *h, double end)
{
    update(h);
    for (double t = fm_time(h->s); t < end; t = fm_time(h->s)) {
        int32_t event;
        const double goal = h->events.next < end ? h->events.next : end;
        double until = goal - t < 1.000001 * STEP ? goal : t + STEP;
        fm_get_continuous(h->s, h->x);
        CHECK(fm_indicators(h->s, h->before) == FM_OK);
        check_again(h, t);
        try_step(h, t, until);
        const int crossed = has_crossed(h);
        for (double low = t, i = 0; crossed && i < HALVINGS; i++) {
            const double middle = low + 0.5 * (until - low);
            try_step(h, t, middle);
            if (has_crossed(h)) until = middle;
            else low = middle;
        }
        if (crossed) try_step(h, t, until);
        CHECK(fm_completed_step(h->s, &event) == FM_OK && fm_time(h->s) == until);
        h->crossings += crossed;
        if (crossed || event || until == h->events.next) update(h);
    }
}

/* The states at the end by the core's own scheme. */
static host by_core(const image *one, double scheme, double end)
{
    host own = open_host(one);
    CHECK(choose(own.s, scheme, STEP, FINE) && fm_step(own.s, end) == FM_OK);
    return own;
}

/* The largest distance of two states, relative to their nominals. */
static double distance(host *a, host *b)
{
    double most = 0.0;
    fm_get_continuous(a->s, a->x);
    fm_get_continuous(b->s, b->x);
    fm_nominals(a->s, a->rate);
    for (size_t i = 0; i < a->states; i++) most = fmax(most, fabs(a->x[i] - b->x[i]) / a->rate[i]);
    return most;
}

static double value_of(host *h, const char *suffix)
{
    uint32_t reference = (uint32_t)solver_variable(h->s, suffix);
    double value;
    CHECK(fm_get(h->s, &reference, 1, &value) == FM_OK);
    return value;
}

/* Runs the host, and checks that it is as near the motion as the core is by the same scheme, or, as that does not
 * locate switches, within round-off. */
static host moved(const char *name, double end, int switches)
{
    image one = read_image(name);
    current = name;
    host h = open_host(&one), same = by_core(&one, RK4, end), exact = by_core(&one, DOP853, end);
    run(&h, end);
    const double off = distance(&h, &exact), allowed = distance(&same, &exact);
    if (getenv("VERBOSE"))
        printf("%s: off %.2e, core %.2e, %d updates, %d crossings\n", name, off, allowed, h.updates, h.crossings);
    CHECK(off <= (switches ? LOCATED : EQUAL + PULLED * allowed));
    free(one.bytes);
    close_host(&same), close_host(&exact);
    return h;
}

static void check_smooth(void)
{
    host pendulum = moved("pendulum.fmb", END, 0);
    CHECK(pendulum.updates == 1 && pendulum.crossings == 0 && !(pendulum.events.next < INFINITY));
    close_host(&pendulum);
    host top = moved("heavy_top.fmb", END, 0); /* a quaternion */
    close_host(&top);
}

/* The pull in the rates keeps the loop closed, so that no completed step asks for an update. */
static void check_loop(void)
{
    host h = moved("four_bar.fmb", END, 0);
    CHECK(h.updates == 1 && value_of(&h, "solver.position_violation") < 10.0 * TOLERANCE);
    close_host(&h);
}

/* Laws that stick and slide: the indicators tell when, and the velocities that stick are those of their bounds. */
static void check_switches(void)
{
    host h = moved("stick_slip.fmb", LATER, 1);
    CHECK(h.crossings >= 3);
    close_host(&h);
    h = moved("stopped.fmb", END, 1); /* positions between two pieces and outside them, then rest */
    CHECK(h.crossings >= 6);
    close_host(&h);
}

/* A path by pieces, with its period. */
static void check_paths(void)
{
    host h = moved("kicked.fmb", END, 0);
    CHECK(h.updates >= 2 && h.events.next < INFINITY);
    close_host(&h);
}

/* What is out of order is refused; fm_step goes on from the host's state with the same modes. */
static void check_order(const image *one)
{
    host h = open_host(one);
    int32_t event;
    CHECK(fm_continuous_rates(h.s, h.rate) == FM_ERROR && fm_indicators(h.s, h.after) == FM_ERROR);
    CHECK(fm_set_continuous(h.s, 0.0, h.x) == FM_ERROR && fm_completed_step(h.s, &event) == FM_ERROR);
    run(&h, 2.0 * STEP);
    fm_get_continuous(h.s, h.x);
    h.x[h.states - 1] = NAN;
    CHECK(fm_set_continuous(h.s, 2.0 * STEP, h.x) == FM_ERROR && fm_set_continuous(h.s, INFINITY, h.x) == FM_ERROR);
    CHECK(fm_step(h.s, 0.01) == FM_OK && fm_continuous_rates(h.s, h.rate) == FM_ERROR);
    CHECK(fm_reset(h.s) == FM_OK && fm_update_events(h.s, &h.events) == FM_ERROR);
    close_host(&h);
}

/* Every continuous state that is a variable is one only. */
static void check_places(const image *one)
{
    host h = open_host(one);
    int *taken = allocate(h.states, sizeof *taken);
    fm_get_continuous(h.s, h.x);
    for (uint32_t i = 0; i < fm_variable_count(h.s); i++) {
        double value;
        const int32_t place = fm_continuous_place(h.s, i);
        fm_variable_info info;
        CHECK(fm_variable(h.s, i, &info) == FM_OK && (place >= 0) == info.state);
        if (place < 0) continue;
        CHECK(place < (int32_t)h.states && taken[place]++ == 0);
        CHECK(fm_get(h.s, &i, 1, &value) == FM_OK && same_value(value, h.x[place]));
    }
    free(taken);
    close_host(&h);
}

/* The tree state has the continuous states in their order; put back, it gives the same rates, bit for bit. */
static void check_tree_state(const image *one)
{
    host h = open_host(one);
    const size_t size = fm_tree_state(h.s, NULL, 0);
    double *y = allocate(2 * size, sizeof *y), *rates = y + size;
    size_t at = 0, states = 0;
    CHECK(fm_set_tree_state(h.s, y) == FM_ERROR && fm_tree_rates(h.s, rates, size) == FM_ERROR);
    run(&h, 2.0 * STEP);
    CHECK(fm_tree_state(h.s, y, size) == size);
    fm_get_continuous(h.s, h.x);
    CHECK(fm_continuous_rates(h.s, h.rate) == FM_OK && fm_set_tree_state(h.s, y) == FM_OK);
    CHECK(fm_tree_nominals(h.s, NULL, 0) == size);
    CHECK(size == 0 || (fm_tree_rates(h.s, NULL, size - 1) == FM_ERROR && strstr(fm_message(h.s), "room") != NULL));
    CHECK(fm_tree_rates(h.s, rates, size) == FM_OK);
    for (; at < size && states < h.states; at++) /* between them is what follows a path */
        if (same_value(y[at], h.x[states]) && same_value(rates[at], h.rate[states])) states++;
    CHECK(states == h.states);
    y[0] = NAN;
    CHECK(size == 0 || fm_set_tree_state(h.s, y) == FM_ERROR);
    free(y);
    close_host(&h);
}

static void check_image(const image *one)
{
    check_order(one);
    check_places(one);
    check_tree_state(one);
}

int main(void)
{
    check_smooth();
    check_loop();
    check_switches();
    check_paths();
    return walk(check_image, EVERY);
}
