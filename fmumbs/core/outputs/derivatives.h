/* derivatives.h: functions of derivatives.c. */
#ifndef FM_DERIVATIVES_H
#define FM_DERIVATIVES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_do_set_input_derivatives(fm_instance *s, const uint32_t *reference, size_t count, const int32_t *order,
                                      const double *value);
fm_status fm_do_get_output_derivatives(fm_instance *s, const uint32_t *reference, size_t count, const int32_t *order,
                                       double *value);
fm_status fm_do_directional_derivative(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                       size_t knowns, const double *seed, double *result);

FM_HIDDEN_END

#endif
