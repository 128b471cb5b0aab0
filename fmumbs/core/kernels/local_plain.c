/* local_plain.c: what is local to the links, for any processor. */
#include "../instance/instance.h"
#include "kernels.h"
#define FM_TURN fm_turn_plain
#define FM_LOCAL fm_local_plain
#define FM_LOCAL_BACK fm_local_back_plain
#include "local.inc"
