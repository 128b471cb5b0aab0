/* levels.c: the kernels' instruction sets: which of them the processor and its operating system support, and their use.
 *
 * AVX2 and AVX-512 need the processor's instructions (CPUID leaf 7) and an operating system that saves the registers
 * (CPUID leaf 1: OSXSAVE; XCR0). GCC's library finds that out once, when it is loaded. Clang's check depends on a
 * library that ziglang, by which other platforms' binaries are built, has without content: there nothing is supported.
 */
#include "../instance/instance.h"
#include "../instance/message.h"
#include "kernels.h"

#if defined(FM_HAVE_AVX2) && !defined(__clang__)
int32_t fm_level_best(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2")) return 0;
#ifdef FM_HAVE_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return 2;
#endif
    return 1;
}
#elif defined(FM_HAVE_AVX2)
#include <cpuid.h>

#define FM_OSXSAVE (1u << 27)                       /* leaf 1, ecx */
#define FM_AVX2 (1u << 5)                           /* leaf 7, ebx */
#define FM_AVX512 (1u << 16 | 1u << 17 | 1u << 31)  /* F, DQ, VL */
#define FM_SAVED 0x06u                              /* XCR0: the registers of SSE and AVX */
#define FM_SAVED_512 0xE6u                          /* and masks, wider and further registers */

int32_t fm_level_best(void)
{
    unsigned a, b, c, d, saved, high;
    if (__get_cpuid_max(0, NULL) < 7) return 0;
    __cpuid(1, a, b, c, d);
    if ((c & FM_OSXSAVE) == 0) return 0;
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    __cpuid_count(7, 0, a, b, c, d);
    if ((saved & FM_SAVED) != FM_SAVED || (b & FM_AVX2) == 0) return 0;
#ifdef FM_HAVE_AVX512
    if ((saved & FM_SAVED_512) == FM_SAVED_512 && (b & FM_AVX512) == FM_AVX512) return 2;
#endif
    return 1;
}
#else
int32_t fm_level_best(void)
{
    return 0;
}
#endif

void fm_choose_kernels(fm_instance *s, int32_t level)
{
    (void)level;
    s->kernels = &fm_kernels_plain, s->stiff_kernels = &fm_kernels_stiff;
#ifdef FM_HAVE_AVX2
    if (level >= 1) s->kernels = &fm_kernels_avx2, s->stiff_kernels = &fm_kernels_stiff_avx2;
#endif
#ifdef FM_HAVE_AVX512
    if (level >= 2) s->kernels = &fm_kernels_avx512;
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
