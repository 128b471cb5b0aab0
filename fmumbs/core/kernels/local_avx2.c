/* local_avx2.c: the local terms for AVX2; without FMA, so that the bits agree. */
#include "../instance/instance.h"
#include "kernels.h"
#ifdef FM_HAVE_AVX2
#define FM_ORIENT fm_orient_avx2
#define FM_LOCAL fm_local_avx2
#define FM_INERTIAL fm_inertial_avx2
#define FM_LOCAL_OUTWARD fm_local_outward_avx2
#include "local.inc"
#else
typedef int fm_no_avx2; /* a translation unit must not be empty */
#endif
