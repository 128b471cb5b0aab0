/* computed.h: functions of computed.c. */
#ifndef FM_COMPUTED_H
#define FM_COMPUTED_H

#include "../instance/instance.h"

#define FM_WHOLE (FM_JOINT_MODES + 1) /* most components of a vector that is computed as a whole, or read at once */

FM_HIDDEN_BEGIN

int fm_is_cut_motion(const fm_image *m, int32_t kind, int32_t object);
double fm_element_seed(const fm_instance *s, int32_t kind, int32_t object, int32_t component);
const double *fm_compute(fm_instance *s, int32_t kind, int32_t object, int32_t part, int32_t count,
                         double room[FM_WHOLE]);

FM_HIDDEN_END

#endif
