/* sweeps_avx512.c: the sweeps on rows of AVX's size with the 32 registers of AVX-512, if the build supports it; without
 * FMA, so that the bits agree. Local terms and stiff sweeps gain nothing by more registers.
 */
#include "../instance/instance.h"
#include "kernels.h"
#ifdef FM_HAVE_AVX512
#define FM_KERNELS fm_kernels_avx512
#define FM_ORIENT fm_orient_avx2
#define FM_LOCAL fm_local_avx2
#define FM_INERTIAL fm_inertial_avx2
#define FM_LOCAL_OUTWARD fm_local_outward_avx2
#include "sweeps.inc"
#else
typedef int fm_no_avx512; /* a translation unit must not be empty */
#endif
