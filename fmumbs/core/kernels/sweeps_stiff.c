/* sweeps_stiff.c: the plain sweeps once more, with inertia that springs and dampers add to the joints (stiff.inc). */
#include "../instance/instance.h"
#include "kernels.h"
#define FM_STIFF
#define FM_KERNELS fm_kernels_stiff
#define FM_ORIENT fm_orient_plain
#define FM_LOCAL fm_local_plain
#define FM_INERTIAL fm_inertial_plain
#define FM_LOCAL_OUTWARD fm_local_outward_plain
#include "sweeps.inc"
