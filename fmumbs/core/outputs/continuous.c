/* continuous.c: references beyond the table of variables: the time, the continuous states, their rates, and the
 * event indicators. */
#include "continuous.h"

#include "../instance/instance.h"

/* The number of event indicators. */
int32_t fm_count_indicators(const fm_instance *s)
{
    return s->model.inverse ? 0 : s->image.n.laws;
}

/* What a reference stands for; *index: the element of y, or the indicator, unless index is NULL. */
fm_beyond_kind fm_beyond(const fm_instance *s, uint32_t reference, int32_t *index)
{
    const uint32_t table = (uint32_t)s->image.n.variables, states = (uint32_t)s->hosted.states;
    if (reference < table) return FM_BEYOND_NOT;
    const uint32_t at = reference - table;
    if (at == 0) return FM_BEYOND_TIME;
    if (at > 2 * states) {
        if (at > 2 * states + (uint32_t)fm_count_indicators(s)) return FM_BEYOND_NOTHING;
        if (index != NULL) *index = (int32_t)(at - 2 * states - 1);
        return FM_BEYOND_INDICATOR;
    }
    if (index != NULL) *index = s->hosted.place[at <= states ? at - 1 : at - 1 - states];
    return at <= states ? FM_BEYOND_STATE : FM_BEYOND_RATE;
}
