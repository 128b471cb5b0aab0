/* kernels.h: the kernels, compiled for each instruction set. */
#ifndef FM_KERNELS_H
#define FM_KERNELS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

extern const fm_kernels fm_kernels_plain, fm_kernels_checked, fm_kernels_stiff;
void fm_orient_plain(fm_instance *s, const double *y);
void fm_local_plain(fm_instance *s, int32_t block, fm_inertial *own);
void fm_inertial_plain(const fm_lanes *k, fm_inertial *own);
void fm_local_outward_plain(fm_instance *s);
#ifdef FM_HAVE_AVX2
extern const fm_kernels fm_kernels_avx2, fm_kernels_stiff_avx2;
void fm_orient_avx2(fm_instance *s, const double *y);
void fm_local_avx2(fm_instance *s, int32_t block, fm_inertial *own);
void fm_inertial_avx2(const fm_lanes *k, fm_inertial *own);
void fm_local_outward_avx2(fm_instance *s);
#endif
#ifdef FM_HAVE_AVX512
extern const fm_kernels fm_kernels_avx512;
#endif

/* Uses the kernels of a level, which this machine must support. */
void fm_choose_kernels(fm_instance *s, int32_t level);

FM_HIDDEN_END

#endif
