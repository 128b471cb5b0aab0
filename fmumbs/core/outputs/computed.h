/* computed.h: functions of computed.c. */
#ifndef FM_COMPUTED_H
#define FM_COMPUTED_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_is_cut_motion(const fm_image *m, int32_t kind, int32_t object);
void fm_compute(fm_instance *s, int32_t kind, int32_t object, int32_t part, int32_t count, double *out);

FM_HIDDEN_END

#endif
