/* one_file.h: what begins an FMU's C file, in which all of the core is one translation unit (export/one_file.py).
 *
 * Multiplications and additions must not be contracted, nor must numbers be wider than double between them, for the
 * same bits as the FMU's binary. -std=c99 is enough for GCC; what would change the bits is refused or undone here.
 */
#ifndef FMI_ONE_FILE_H
#define FMI_ONE_FILE_H

#include <float.h>

#if (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || defined(__ASSOCIATIVE_MATH__) || \
    defined(__RECIPROCAL_MATH__) || defined(_M_FP_FAST)
#error "-ffast-math, its parts and -Ofast change results: compile with -O3 or less, or /fp:precise"
#endif
#if defined(FLT_EVAL_METHOD) && (FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD > 64)
#error "numbers would be wider than double: compile for SSE2 on x86, with -msse2 -mfpmath=sse"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

#if defined(__GNUC__)
#define FM_ONE_FILE static __attribute__((unused)) /* an FMU calls a part of fmumbs.h only */
#else
#define FM_ONE_FILE static
#endif

#endif
