/* test_watch.c: a host that reads everything at the end of each integration step changes no bit; one that ends steps
 * early finds the instance there, and goes on. */
#include "images.h"
#include "image/schemes.h"

#define STEP 0.02 /* [s] */
#define STEPS 4
#define NEAR 1e-3 /* of a velocity or position, relative to the largest: what other steps change at TOLERANCE */
#define TOLERANCE 1e-8

typedef struct watcher {
    fm_instance *s;
    size_t count; /* of the variables, */
    uint32_t *reference;
    double *value;
    double last; /* time seen last */
    double from; /* fraction of a step after which it is ended early; 1: never */
    double begin;
    double wanted;
    unsigned long seen, events;
} watcher;

static double look(void *host, double end, int event)
{
    watcher *w = host;
    const double now = fm_time(w->s);
    CHECK(now > w->last && now < end);
    CHECK(fm_get(w->s, w->reference, w->count, w->value) != FM_ERROR);
    w->last = now;
    w->seen++;
    w->events += event != 0;
    if (!(now >= w->begin + w->from * (end - w->begin))) return end;
    w->wanted = w->seen % 2 ? now : 0.5 * (now + end);
    return w->wanted;
}

static watcher watch(fm_instance *s)
{
    watcher w = {s, fm_variable_count(s), NULL, NULL, -1.0, 1.0, 0.0, -1.0, 0, 0};
    w.count += 1 + 2 * (size_t)fm_continuous_count(s) + (size_t)fm_indicator_count(s);
    w.reference = allocate(w.count, sizeof *w.reference);
    w.value = allocate(w.count, sizeof *w.value);
    for (size_t i = 0; i < w.count; i++) w.reference[i] = (uint32_t)i;
    return w;
}

static void drop(watcher *w)
{
    free(w->reference);
    free(w->value);
    fm_close(w->s);
}

static void check_same_state(const fm_instance *a, const fm_instance *b)
{
    const size_t size = fm_state_size(a);
    unsigned char *one = allocate(size, 1), *other = allocate(size, 1);
    CHECK(fm_state_save(a, one, size) == FM_OK && fm_state_save(b, other, size) == FM_OK);
    CHECK(memcmp(one, other, size) == 0);
    free(one);
    free(other);
}

static unsigned long all_seen = 0, all_events = 0;

static void check_watched(const image *one, double scheme)
{
    fm_instance *alone = open_image(one);
    watcher w = watch(open_image(one));
    CHECK(choose(alone, scheme, 0.1 * STEP, TOLERANCE) && choose(w.s, scheme, 0.1 * STEP, TOLERANCE));
    CHECK(fm_assemble(alone, 0.0) == FM_OK && fm_assemble(w.s, 0.0) == FM_OK);
    for (int i = 1; i <= STEPS; i++) {
        const fm_status status = fm_step(alone, i * STEP);
        fm_watch(w.s, look, &w);
        CHECK(fm_step(w.s, i * STEP) == status);
        fm_watch(w.s, NULL, NULL);
        if (status != FM_OK) break;
        CHECK(fm_time(alone) == fm_time(w.s));
        check_same_state(alone, w.s);
    }
    all_seen += w.seen, all_events += w.events;
    fm_close(alone);
    drop(&w);
}

/* Steps that end early end where the host wants it, and the rest of the step leads to the same motion. */
static void check_early(const image *one, double scheme)
{
    fm_instance *alone = open_image(one);
    watcher w = watch(open_image(one));
    CHECK(choose(alone, scheme, 0.1 * STEP, TOLERANCE) && choose(w.s, scheme, 0.1 * STEP, TOLERANCE));
    CHECK(fm_assemble(alone, 0.0) == FM_OK && fm_assemble(w.s, 0.0) == FM_OK);
    fm_status status = fm_step(alone, STEP);
    fm_watch(w.s, look, &w);
    for (double part = 0.3; fm_time(w.s) < STEP && status == FM_OK; part += 0.3) {
        w.begin = fm_time(w.s), w.from = part < 1.0 ? part : 1.0;
        w.wanted = STEP;
        status = fm_step(w.s, STEP);
        if (status == FM_OK) CHECK(fm_time(w.s) == w.wanted);
    }
    if (status == FM_OK) {
        const size_t n = (size_t)fm_continuous_count(alone);
        double *x = allocate(n, sizeof *x), *y = allocate(n, sizeof *y), most = 1.0;
        fm_get_continuous(alone, x);
        fm_get_continuous(w.s, y);
        for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
        for (size_t i = 0; i < n; i++) CHECK(fabs(x[i] - y[i]) <= NEAR * most);
        free(x);
        free(y);
    }
    fm_close(alone);
    drop(&w);
}

static void test(const image *one)
{
    double scheme = 0.0;
    for (size_t i = turn(2); fm_scheme_at((uint32_t)i) != NULL; i += each_of(2)) {
        scheme = (double)i;
        check_watched(one, scheme);
        check_early(one, scheme);
    }
}

int main(void)
{
    const int result = walk(test, EVERY);
    CHECK(all_seen > 1000 && all_events > 0);
    return result;
}
