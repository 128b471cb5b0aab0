/* sweeps_plain.c: the sweeps for any processor. */
#include "instance.h"
#define FM_KERNELS fm_kernels_plain
#include "sweeps.inc"
