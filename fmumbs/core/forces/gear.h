/* gear.h: functions of gear.c. */
#ifndef FM_GEAR_H
#define FM_GEAR_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

/* Where the teeth of a gear are: on the flank above the gap, 1, below it, -1, or within, 0; 1: pressed further. */
typedef struct fm_teeth {
    int flank, pressed;
} fm_teeth;

fm_teeth fm_teeth_of(const fm_image *m, int32_t gear, int32_t piece);
void fm_gears_derive(fm_instance *s);

FM_HIDDEN_END

#endif
