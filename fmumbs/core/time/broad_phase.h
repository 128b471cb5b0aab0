/* broad_phase.h: functions of broad_phase.c. */
#ifndef FM_BROAD_PHASE_H
#define FM_BROAD_PHASE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_watch_near_laws(fm_instance *s);

FM_HIDDEN_END

#endif
