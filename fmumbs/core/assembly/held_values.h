/* held_values.h: functions of held_values.c. */
#ifndef FM_HELD_VALUES_H
#define FM_HELD_VALUES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_assembly_structure(fm_instance *s);
void fm_nearest_to(fm_instance *s, const double *given, double *y);
int fm_assemble_released(fm_instance *s, double *y);
int fm_assemble_loops(fm_instance *s, double *y, char *why, size_t capacity);

FM_HIDDEN_END

#endif
