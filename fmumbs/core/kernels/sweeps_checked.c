/* sweeps_checked.c: the plain sweeps with a record of their pivots, for the check at assembly. */
#include "../instance/instance.h"
#include "kernels.h"
#define FM_NOTES_PIVOTS
#define FM_KERNELS fm_kernels_checked
#define FM_ORIENT fm_orient_plain
#define FM_LOCAL fm_local_plain
#define FM_INERTIAL fm_inertial_plain
#define FM_LOCAL_OUTWARD fm_local_outward_plain
#include "sweeps.inc"
