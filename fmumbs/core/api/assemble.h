/* assemble.h: functions of assemble.c. */
#ifndef FM_ASSEMBLE_H
#define FM_ASSEMBLE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_do_check_inertia(fm_instance *s);
fm_status fm_do_assemble(fm_instance *s, double t);

FM_HIDDEN_END

#endif
