/* sweeps_plain.c: the sweeps for any processor. */
#include "../instance/instance.h"
#include "kernels.h"
#define FM_KERNELS fm_kernels_plain
#define FM_TURN fm_turn_plain
#define FM_LOCAL fm_local_plain
#define FM_LOCAL_BACK fm_local_back_plain
#include "sweeps.inc"
