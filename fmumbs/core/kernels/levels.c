/* levels.c: the kernels' instruction sets: which of them the processor and its operating system support, and their use.
 *
 * AVX2 needs the processor's instructions (CPUID leaf 7) and an operating system that saves the 32-byte registers (CPUID
 * leaf 1: OSXSAVE; XCR0: the bits of SSE and AVX). GCC's library finds that out once, when it is loaded. Clang's check
 * depends on a library that ziglang, by which other platforms' binaries are built, only pretends to have: there nothing is
 * supported.
 */
#include "../instance/instance.h"
#include "../instance/message.h"
#include "kernels.h"

#if defined(FM_HAVE_AVX2) && !defined(__clang__)
int32_t fm_level_best(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? 1 : 0;
}
#elif defined(FM_HAVE_AVX2)
#include <cpuid.h>

#define FM_OSXSAVE (1u << 27) /* leaf 1, ecx */
#define FM_AVX2 (1u << 5)     /* leaf 7, ebx */
#define FM_SAVED 6u           /* XCR0: registers of SSE and AVX */

int32_t fm_level_best(void)
{
    unsigned a, b, c, d, saved, high;
    if (__get_cpuid_max(0, NULL) < 7) return 0;
    __cpuid(1, a, b, c, d);
    if ((c & FM_OSXSAVE) == 0) return 0;
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if ((saved & FM_SAVED) != FM_SAVED) return 0;
    __cpuid_count(7, 0, a, b, c, d);
    return (b & FM_AVX2) != 0 ? 1 : 0;
}
#else
int32_t fm_level_best(void)
{
    return 0;
}
#endif

void fm_choose_kernels(fm_instance *s, int32_t level)
{
    s->kernels = &fm_kernels_plain, s->stiff_kernels = &fm_kernels_stiff;
#ifdef FM_HAVE_AVX2
    if (level == 1) s->kernels = &fm_kernels_avx2, s->stiff_kernels = &fm_kernels_stiff_avx2;
#endif
    s->valid = FM_VALID_NOTHING;
}

fm_status fm_level_use(fm_instance *s, int32_t level)
{
    if (level < 0 || level > fm_level_best())
        return fm_say(s, FM_ERROR, "level %ld of the kernels is not available on this machine", (long)level);
    fm_choose_kernels(s, level);
    return FM_OK;
}
