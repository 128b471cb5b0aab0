/* float_mode.h: the floating-point mode of the core, independent of the host's.
 *
 * Subnormal numbers are flushed to zero: a motion that decays along a chain starting from rest passes through them, and
 * arithmetic with them is about a hundred times slower. Rounding is to nearest and no exception traps, so that results
 * do not depend on the host's settings. Each public call that computes (calls.c) enters this mode and restores the
 * host's on return, exception flags included. x86 with SSE2 and aarch64 are supported. On 32-bit x86 a C library may
 * use the x87 for floor() and its like: its traps, rounding and precision are set too, of which that of double is
 * enough. Other processors compute in the host's mode.
 */
#ifndef FM_FLOAT_MODE_H
#define FM_FLOAT_MODE_H

#include <stdint.h>

typedef uint64_t fm_float_mode;

#if defined(__TINYC__) && defined(__x86_64__) /* has neither intrinsics nor names of these two instructions */
#define FM_FLOAT_SSE
static inline unsigned _mm_getcsr(void)
{
    uint32_t mode = 0;
    __asm__ volatile(".byte 0x0f, 0xae, 0x1a" : : "d"(&mode) : "memory"); /* stmxcsr (%rdx) */
    return mode;
}

static inline void _mm_setcsr(unsigned given)
{
    const uint32_t mode = given;
    __asm__ volatile(".byte 0x0f, 0xae, 0x12" : : "d"(&mode) : "memory"); /* ldmxcsr (%rdx) */
}
#elif defined(__SSE2__) || defined(_M_X64)
#define FM_FLOAT_SSE
#include <xmmintrin.h>
#endif

#if defined(FM_FLOAT_SSE)
#define FM_FLOAT_CONTROL 0xFFC0u /* MXCSR: flush to zero, rounding, masks, denormals are zero; flags below */
#define FM_FLOAT_CORE 0x9FC0u

#if defined(__i386__) && defined(__GNUC__)
#define FM_FLOAT_X87 0x0F3Fu /* rounding, precision and masks in its control word: bits 32 to 47 of the mode */
#define FM_FLOAT_MASKS 0x3Fu /* and the flags in its status word, above them */
#define FM_FLOAT_EITHER ((uint64_t)0x0100u << 32) /* precision of double, that of Windows, or more */
#undef FM_FLOAT_CONTROL
#undef FM_FLOAT_CORE
#define FM_FLOAT_CONTROL (0xFFC0u | (uint64_t)FM_FLOAT_X87 << 32)
#define FM_FLOAT_CORE (0x9FC0u | (uint64_t)0x033Fu << 32)

static inline fm_float_mode fm_float_read(void)
{
    uint16_t control, status;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    __asm__ volatile("fnstsw %0" : "=m"(status));
    return _mm_getcsr() | (uint64_t)control << 32 | (uint64_t)(status & FM_FLOAT_MASKS) << 48;
}

/* Control word and flags change together: a flag without its mask would trap. */
static inline void fm_float_write(fm_float_mode mode)
{
    struct {
        uint32_t control, status, rest[5];
    } x87;
    _mm_setcsr((unsigned)mode);
    if (fm_float_read() >> 32 == mode >> 32) return;
    __asm__ volatile("fnstenv %0" : "=m"(x87)); /* which masks all traps */
    x87.control = (uint32_t)(mode >> 32) & 0xFFFFu;
    x87.status = (x87.status & ~FM_FLOAT_MASKS) | (uint32_t)(mode >> 48);
    __asm__ volatile("fldenv %0" : : "m"(x87));
}
#else
static inline fm_float_mode fm_float_read(void)
{
    return _mm_getcsr();
}

static inline void fm_float_write(fm_float_mode mode)
{
    _mm_setcsr((unsigned)mode);
}
#endif
#elif defined(__aarch64__) && defined(__GNUC__)
#define FM_FLOAT_CONTROL 0xFFFFFFFFu /* FPCR; FPSR, the flags, is above it */
#define FM_FLOAT_CORE 0x1000000u     /* flush to zero */

static inline fm_float_mode fm_float_read(void)
{
    uint64_t control, flags;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags));
    return (control & FM_FLOAT_CONTROL) | flags << 32;
}

static inline void fm_float_write(fm_float_mode mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode & FM_FLOAT_CONTROL));
    __asm__ volatile("msr fpsr, %0" : : "r"(mode >> 32));
}
#else
#define FM_FLOAT_CONTROL 0u
#define FM_FLOAT_CORE 0u

static inline fm_float_mode fm_float_read(void)
{
    return 0;
}

static inline void fm_float_write(fm_float_mode mode)
{
    (void)mode;
}
#endif

#ifndef FM_FLOAT_EITHER
#define FM_FLOAT_EITHER 0u
#endif

/* Enters the core's mode and returns the host's. */
static inline fm_float_mode fm_float_enter(void)
{
    const fm_float_mode host = fm_float_read();
    if (((host | FM_FLOAT_EITHER) & FM_FLOAT_CONTROL) != FM_FLOAT_CORE)
        fm_float_write((host & ~(fm_float_mode)FM_FLOAT_CONTROL) | FM_FLOAT_CORE);
    return host;
}

static inline void fm_float_leave(fm_float_mode host)
{
    if (fm_float_read() != host) fm_float_write(host);
}

#endif
