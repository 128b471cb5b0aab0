/* continuous.c: references beyond the table of variables: the time, the continuous states, and their rates. */
#include "continuous.h"

#include "../instance/instance.h"
#include "update.h"
#include "values.h"

/* What a reference stands for; *index: the element of y, unless index is NULL. */
fm_beyond_kind fm_beyond(const fm_instance *s, uint32_t reference, int32_t *index)
{
    const uint32_t table = (uint32_t)s->image.n.variables, states = (uint32_t)s->hosted.states;
    if (reference < table) return FM_BEYOND_NOT;
    const uint32_t at = reference - table;
    if (at == 0) return FM_BEYOND_TIME;
    if (at > 2 * states) return FM_BEYOND_NOTHING;
    if (index != NULL) *index = s->hosted.place[(at - 1) % states];
    return at <= states ? FM_BEYOND_STATE : FM_BEYOND_RATE;
}

/* The value of any reference; rates are those in hosted.rates. */
double fm_value_at(fm_instance *s, uint32_t reference)
{
    const fm_image *m = &s->image;
    int32_t i = 0;
    switch (fm_beyond(s, reference, &i)) {
    case FM_BEYOND_TIME: return s->clock[FM_TIME];
    case FM_BEYOND_STATE: return s->y[i];
    case FM_BEYOND_RATE: return s->hosted.rates[i];
    default: break;
    }
    fm_update(s, fm_validity(m, m->variable_kind[reference], m->variable_object[reference]));
    return fm_value(s, m->variable_kind[reference], m->variable_object[reference], m->variable_component[reference]);
}

/* The element of y that a variable or a reference beyond the table is as a state, -1: none. */
int32_t fm_any_state(fm_instance *s, uint32_t reference)
{
    int32_t i = -1;
    return fm_beyond(s, reference, &i) == FM_BEYOND_STATE ? i : fm_state_place(s, reference);
}
