/* start_changes.h: functions of start_changes.c. */
#ifndef FM_START_CHANGES_H
#define FM_START_CHANGES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_say_deformation(const fm_instance *s, char *out, size_t capacity);
void fm_name_position(const fm_instance *s, int32_t u, char *out, size_t capacity);
void fm_name_moving(const fm_instance *s, const double *v, char *out, size_t capacity);

FM_HIDDEN_END

#endif
