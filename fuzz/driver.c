/* driver.c: runs a libFuzzer target where only gcc is available.
 *
 *     TARGET [-runs=N] [-seed=S] [-max_total_time=T] [-max_len=L] [-artifact_prefix=P] [CORPUS | FILE...]
 *
 * It mutates inputs with a seeded generator and keeps those that reach new code (compiled with
 * -fsanitize-coverage=trace-pc); with a folder CORPUS it stores them there for the next run. Files are run once. A case
 * that crashes, fails a check, leaks or does not end is written to a file, in build/fuzz/ unless P specifies another
 * place, and ends the run; the slowest case is written too if it takes more than a second. Cases from a FILE are not
 * written.
 */
#define _GNU_SOURCE
#include "mutate.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MAP 65536            /* counters of edges */
#define MOST_KEPT 4096       /* inputs in memory */
#define PATIENCE 20          /* [s] of processor time for one case */
#define SLOW 1.0             /* the same: a slower case is written to a file */
#define RANDOM_LENGTH 600    /* bytes */
#define USUAL_LENGTH 8192    /* the same: longer inputs are chosen less often */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_seeds(void (*add)(const uint8_t *data, size_t size));
void fuzz_report(char *text, size_t capacity);
/* From the sanitizers' interface, whose headers gcc does not install everywhere. */
void __sanitizer_set_death_callback(void (*callback)(void));
size_t __sanitizer_get_current_allocated_bytes(void);
void __sanitizer_cov_trace_pc(void);
const char *__asan_default_options(void);

static struct {
    unsigned long runs;
    double seconds;
    size_t longest;
    const char *prefix, *corpus, *name;
} options = {1000, 1e9, 0, "build/fuzz/", NULL, ""}; /* longest: at least the longest initial input */

static input kept[MOST_KEPT], now; /* `now`: the current case */
static size_t inputs, seeds;
static unsigned long cases;
static uint8_t counter[MAP], seen[MAP];
static uintptr_t last_place;
static int running, from_file;
static double slowest; /* [s] */

/* Findings ---------------------------------------------------------------------------------------------- */

static void write_file(const char *path, const input *one)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) return;
    (void)fwrite(one->data, 1, one->size, file);
    (void)fclose(file);
}

/* Called when a case dies, for any reason. */
static void keep_finding(void)
{
    char path[1000];
    if (!running) return;
    running = 0;
    if (from_file) return;
    (void)snprintf(path, sizeof path, "%scrash-%s-%lu", options.prefix, options.name, cases);
    write_file(path, &now);
    (void)fprintf(stderr, "%s: a finding in case %lu; its input is %s\n", options.name, cases, path);
}

static void report_endless(int signal)
{
    (void)signal;
    (void)fprintf(stderr, "%s: a case does not end within %d s\n", options.name, PATIENCE);
    abort();
}

const char *__asan_default_options(void)
{
    return "handle_abort=1:allocator_may_return_null=1:max_allocation_size_mb=1024:hard_rss_limit_mb=4000";
}

static double clock_now(clockid_t which)
{
    struct timespec t;
    (void)clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One case ---------------------------------------------------------------------------------------------- */

/* Called at every branch of instrumented code: counts edges. */
__attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc(void)
{
    const uintptr_t here = (uintptr_t)__builtin_return_address(0) - (uintptr_t)&LLVMFuzzerTestOneInput;
    const uintptr_t place = (here * 0x9e3779b1u >> 8) % MAP;
    counter[place ^ last_place]++;
    last_place = place >> 1;
}

/* counts are grouped: 1, 2, 3, 4 to 7, 8 to 15, ... */
static uint8_t class_of(uint8_t times)
{
    if (times < 4) return (uint8_t)((1 << times) >> 1);
    return times < 8 ? 8 : times < 16 ? 16 : times < 32 ? 32 : times < 128 ? 64 : 128;
}

__attribute__((no_sanitize("address", "undefined"))) static int reached_new(void)
{
    int found = 0;
    for (size_t i = 0; i < MAP; i += 8) {
        uint64_t eight;
        memcpy(&eight, counter + i, 8);
        for (size_t j = i; eight != 0 && j < i + 8; j++) {
            const uint8_t class = class_of(counter[j]);
            if (class & ~seen[j]) found = 1;
            seen[j] |= class;
        }
    }
    return found;
}

static void run_once(void)
{
    const struct itimerval patience = {{0, 0}, {PATIENCE, 0}}, none = {{0, 0}, {0, 0}};
    memset(counter, 0, sizeof counter);
    last_place = 0;
    running = 1;
    (void)setitimer(ITIMER_PROF, &patience, NULL);
    (void)LLVMFuzzerTestOneInput(now.data, now.size);
    (void)setitimer(ITIMER_PROF, &none, NULL);
    running = 0;
}

/* Slow cases may lead to one that never ends. */
static void keep_slow(double seconds)
{
    char path[1000];
    if (seconds <= slowest) return;
    slowest = seconds;
    if (slowest < SLOW || from_file) return;
    (void)snprintf(path, sizeof path, "%sslow-%s", options.prefix, options.name);
    write_file(path, &now);
}

/* Runs the case `now`; returns whether it reached new code. Memory that a second and a third run allocate again was
 * leaked. */
static int run_case(void)
{
    size_t before = __sanitizer_get_current_allocated_bytes(), after;
    const double start = clock_now(CLOCK_PROCESS_CPUTIME_ID);
    cases++;
    run_once();
    keep_slow(clock_now(CLOCK_PROCESS_CPUTIME_ID) - start);
    after = __sanitizer_get_current_allocated_bytes();
    if (after > before) {
        size_t lost[2];
        for (int i = 0; i < 2; i++) {
            before = __sanitizer_get_current_allocated_bytes();
            run_once();
            after = __sanitizer_get_current_allocated_bytes();
            lost[i] = after > before ? after - before : 0;
        }
        if (lost[0] > 0 && lost[1] > 0) {
            (void)fprintf(stderr, "%s: a case loses %lu bytes of memory\n", options.name, (unsigned long)lost[1]);
            running = 1;
            abort();
        }
    }
    return reached_new();
}

/* The corpus -------------------------------------------------------------------------------------------- */

static void keep(const input *one)
{
    if (inputs == MOST_KEPT) return;
    kept[inputs].data = malloc(one->size + 1);
    if (kept[inputs].data == NULL) return;
    memcpy(kept[inputs].data, one->data, one->size);
    kept[inputs++].size = one->size;
}

static void set_now(const uint8_t *data, size_t size)
{
    free(now.data);
    now.data = malloc(size + (size == 0)); /* of exactly its size: the sanitizer detects reads beyond it */
    if (now.data == NULL) abort();
    if (size > 0) memcpy(now.data, data, size);
    now.size = size;
}

static void keep_on_disk(void)
{
    char path[1000];
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < now.size; i++) hash = (hash ^ now.data[i]) * 1099511628211u;
    (void)snprintf(path, sizeof path, "%s/%016llx", options.corpus, (unsigned long long)hash);
    write_file(path, &now);
}

static int read_now(const char *path)
{
    static uint8_t buffer[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    const size_t size = fread(buffer, 1, sizeof buffer, file);
    (void)fclose(file);
    set_now(buffer, size);
    return 1;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Reads the corpus of earlier runs; inputs that reach nothing new, since the core has changed, are removed. Without
 * coverage instrumentation all are kept. */
static void read_corpus(void)
{
    struct dirent **entries;
    const int count = scandir(options.corpus, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        char path[1000];
        (void)snprintf(path, sizeof path, "%s/%s", options.corpus, entries[i]->d_name);
        free(entries[i]);
        if (!read_now(path)) continue;
        if (run_case() || last_place == 0) keep(&now);
        else (void)unlink(path);
    }
    if (count >= 0) free(entries);
}

static void add_seed(const uint8_t *data, size_t size)
{
    set_now(data, size);
    (void)run_case();
    keep(&now);
    if (size > options.longest) options.longest = size;
    seeds = inputs;
    if (options.corpus != NULL && options.runs == 0) keep_on_disk(); /* for libFuzzer */
}

/* The next case --------------------------------------------------------------------------------------- */

static size_t make_random(uint8_t *data)
{
    const size_t size = below(RANDOM_LENGTH);
    for (size_t i = 0; i < size; i++) data[i] = (uint8_t)any();
    return size;
}

/* Any input; longer ones less often, as they run longer. */
static const input *any_kept(size_t among)
{
    const input *one = kept + below(among);
    while (below(1 + one->size / USUAL_LENGTH) != 0) one = kept + below(among);
    return one;
}

/* Of two inputs the shorter is preferred. Half of them are initial inputs: those kept for a new way of being refused
 * lead to nothing else. */
static void make_case(uint8_t *buffer)
{
    const size_t among = below(2) ? seeds : inputs;
    const input *one = any_kept(among), *other = any_kept(among);
    if (other->size < one->size && below(4)) one = other;
    size_t size = one->size < options.longest ? one->size : options.longest;
    if (inputs == 0 || below(64) == 0) {
        size = make_random(buffer);
    } else {
        memcpy(buffer, one->data, size);
        for (size_t n = 1 + below(1 + below(8)); n > 0; n--) {
            size = mutate(buffer, size, options.longest, kept + below(inputs));
            size = size < options.longest ? size : options.longest;
        }
    }
    set_now(buffer, size);
}

/* The run ----------------------------------------------------------------------------------------------- */

static void report_progress(double seconds, const char *end)
{
    char report[200] = "";
    size_t edges = 0;
    for (size_t i = 0; i < MAP; i++) edges += seen[i] != 0;
    fuzz_report(report, sizeof report);
    (void)printf("%s: %lu of %lu cases, %.0f s, %.0f cases/s, %lu edges, corpus %lu, slowest %.2g s; %s%s",
                 options.name, cases, options.runs, seconds, (double)cases / (seconds > 0.0 ? seconds : 1.0),
                 (unsigned long)edges, (unsigned long)inputs, slowest, report, end);
    (void)fflush(stdout);
}

static void fuzz(void)
{
    const int screen = isatty(1);
    const double start = clock_now(CLOCK_MONOTONIC);
    double reported = start, t = start;
    fuzz_seeds(add_seed);
    uint8_t *buffer = malloc(2 * (options.longest + (1 << 20)));
    if (buffer == NULL) abort();
    if (options.corpus != NULL && options.runs > 0) read_corpus();
    while (cases < options.runs && t - start < options.seconds) {
        make_case(buffer);
        if (run_case()) {
            keep(&now);
            if (options.corpus != NULL) keep_on_disk();
        }
        t = clock_now(CLOCK_MONOTONIC);
        if (t - reported < (screen ? 1.0 : 20.0)) continue;
        reported = t;
        report_progress(t - start, screen ? " \r" : "\n");
    }
    report_progress(t - start, "; no finding\n");
    free(buffer);
}

/* Returns 1 if the argument was this option. */
static int is_option(const char *argument, const char *name, const char **value)
{
    const size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0) return 0;
    *value = argument + length;
    return 1;
}

static void read_option(const char *argument)
{
    const char *value;
    if (is_option(argument, "-runs=", &value)) options.runs = strtoul(value, NULL, 10);
    else if (is_option(argument, "-seed=", &value)) mutation_seed = strtoull(value, NULL, 10) * 0x9e3779b97f4a7c15u + 1;
    else if (is_option(argument, "-max_total_time=", &value)) options.seconds = strtod(value, NULL);
    else if (is_option(argument, "-max_len=", &value)) options.longest = (size_t)strtoul(value, NULL, 10);
    else if (is_option(argument, "-artifact_prefix=", &value)) options.prefix = value;
    else (void)fprintf(stderr, "%s: option %s is unknown here\n", options.name, argument);
}

static int is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

int main(int argc, char **argv)
{
    int files = 0;
    const char *slash = strrchr(argv[0], '/');
    options.name = slash ? slash + 1 : argv[0];
    __sanitizer_set_death_callback(keep_finding);
    if (atexit(keep_finding) != 0 || signal(SIGPROF, report_endless) == SIG_ERR) return 2;
    (void)LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            read_option(argv[i]);
        } else if (is_folder(argv[i])) {
            options.corpus = argv[i];
        } else if (read_now(argv[i])) {
            from_file = 1;
            (void)run_case();
            (void)printf("%s: %s: no finding\n", options.name, argv[i]);
            files++;
        } else {
            (void)fprintf(stderr, "%s: %s cannot be read\n", options.name, argv[i]);
            return 2;
        }
    }
    if (files == 0) fuzz();
    return 0;
}
