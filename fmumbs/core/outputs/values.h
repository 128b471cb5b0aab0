/* values.h: functions of values.c. */
#ifndef FM_VALUES_H
#define FM_VALUES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int32_t fm_state_place(fm_instance *s, uint32_t reference);
int32_t fm_validity(const fm_image *m, int32_t kind, int32_t object);
double fm_value(fm_instance *s, int32_t kind, int32_t object, int32_t component);
double fm_value_at(fm_instance *s, uint32_t reference);
int32_t fm_any_state(fm_instance *s, uint32_t reference);
fm_status fm_do_get(fm_instance *s, const uint32_t *reference, size_t count, double *value, size_t step);
int32_t fm_stands_for(const fm_instance *s, uint32_t reference);
double *fm_parameter_at(fm_instance *s, uint32_t reference);
int fm_add_to_parameter(fm_instance *s, uint32_t reference, double more);
fm_status fm_refuse_reference(fm_instance *s, uint32_t reference, const char *why);
fm_status fm_do_set(fm_instance *s, const uint32_t *reference, size_t count, const double *value);

FM_HIDDEN_END

#endif
