/* clock.c: the processor's real clock, from a chain of operations that must wait for each other. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <time.h>

enum { STEPS = 1 << 22, CYCLES = 4 /* of one multiplication and one addition on present x86-64 and arm64 */ };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID /* what other programs take does not count */, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* [GHz], the best of several tries. */
double clock_gigahertz(void)
{
    static volatile uint64_t sink;
    double best = 0;
    for (int attempt = 0; attempt < 10; ++attempt) {
        const double start = seconds();
        uint64_t x = sink;
        for (int i = 0; i < STEPS; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
        sink = x;
        const double gigahertz = 1e-9 * STEPS * CYCLES / (seconds() - start);
        best = gigahertz > best ? gigahertz : best;
    }
    return best;
}
