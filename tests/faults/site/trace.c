/* Linked to a copy that is compiled with -fsanitize-coverage=trace-pc: which of its basic blocks were entered. A block
 * is the address behind its call, from the start of the library. What was entered since the last time is appended to a
 * file, as 32-bit numbers: FM_TRACE with .fmu behind it for the binary of an FMU, else with .core. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST (1 << 24)

extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char *fmi2GetVersion(void) __attribute__((weak));
static unsigned char entered[MOST];
static uint32_t last;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    const uintptr_t at = (uintptr_t)__builtin_return_address(0) - (uintptr_t)&__ehdr_start;
    if (at >= MOST) return;
    entered[at] = 1;
    if (at > last) last = (uint32_t)at;
}

__attribute__((visibility("default"))) void fm_trace(void);
__attribute__((visibility("default"), destructor)) void fm_trace(void)
{
    const char *base = getenv("FM_TRACE");
    char path[4096];
    if (!base || !last) return;
    snprintf(path, sizeof path, "%s.%s", base, fmi2GetVersion ? "fmu" : "core");
    FILE *file = fopen(path, "ab");
    for (uint32_t at = 0; file && at <= last; at++) {
        if (entered[at]) fwrite(&at, sizeof at, 1, file);
        entered[at] = 0;
    }
    if (file) fclose(file);
    last = 0;
}
