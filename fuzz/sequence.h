/* sequence.h: the end of fuzz_calls.c and fuzz_calls3.c: an input as a sequence of calls on two instances. Included
 * behind their slave, its free_slave() and serialised(), and call(), the next choice; statuses have the same numbers in
 * both versions of FMI.
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "master.h"

enum { STATUS_OK, STATUS_WARNING, STATUS_DISCARD, STATUS_ERROR };

/* Makes the call, and checks that a refusal changes nothing. */
static void call_checked(draws *t, slave *s)
{
    const int watched = next(t) % 4 == 0, starved = one_in(t, 64);
    const void *before_instance = s->c;
    const unsigned which = t->at < t->end ? *t->at : 0;
    size_t size = 0, after_size = 0;
    several = 0;
    void *before = watched ? serialised(s, &size) : NULL;
    allocations_left = starved ? 0 : ENOUGH;
    const int status = (int)call(t, s);
    allocations_left = ENOUGH;
    if (verbose) (void)fprintf(stderr, "slave %d: choice %u: status %d\n", (int)(s != slaves), which, status);
    calls++;
    good_calls += status == STATUS_OK;
    CHECK(status >= STATUS_OK && status <= STATUS_ERROR);
    if (before && status == STATUS_ERROR && s->c == before_instance && !several) {
        void *after = serialised(s, &after_size);
        CHECK(after != NULL && after_size == size && memcmp(before, after, size) == 0);
        free(after);
    }
    free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    draws t = {data, data + size};
    const size_t before = live;
    slaves[0].m = slaves[1].m = models;
    for (int n = 0; n < MOST_CALLS && t.at < t.end; n++) call_checked(&t, slaves + one_in(&t, 5));
    for (int i = 0; i < SLAVES; i++) free_slave(slaves + i);
    CHECK(live == before);
    return 0;
}

#endif
