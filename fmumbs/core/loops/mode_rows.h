/* mode_rows.h: functions of mode_rows.c. */
#ifndef FM_MODE_ROWS_H
#define FM_MODE_ROWS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_mode_row(const fm_instance *s, int32_t row, int moving, fm_ends *ends, fm_constraint *out);

FM_HIDDEN_END

#endif
