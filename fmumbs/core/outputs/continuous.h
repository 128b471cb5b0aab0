/* continuous.h: functions of continuous.c. */
#ifndef FM_CONTINUOUS_H
#define FM_CONTINUOUS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

typedef enum fm_beyond_kind {
    FM_BEYOND_NOT, /* a variable of the table */
    FM_BEYOND_TIME,
    FM_BEYOND_STATE,
    FM_BEYOND_RATE,
    FM_BEYOND_INDICATOR,
    FM_BEYOND_NOTHING
} fm_beyond_kind;

int32_t fm_count_indicators(const fm_instance *s);
fm_beyond_kind fm_beyond(const fm_instance *s, uint32_t reference, int32_t *index);

FM_HIDDEN_END

#endif
