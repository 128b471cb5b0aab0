/* velocity_rows.h: functions of velocity_rows.c. */
#ifndef FM_VELOCITY_ROWS_H
#define FM_VELOCITY_ROWS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_is_rate_row(const fm_image *m, int32_t row);
void fm_rate_row(const fm_instance *s, int32_t row, fm_constraint *out);
void fm_velocity_row(const fm_instance *s, int32_t row, const fm_ends *ends, fm_constraint *out);

FM_HIDDEN_END

#endif
