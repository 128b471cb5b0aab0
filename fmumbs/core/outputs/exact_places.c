/* exact_places.c: where the knowns and unknowns of exact derivatives are among the values of the graph. */
#include "exact_places.h"

#include "../adjoint/graph.h"
#include "../adjoint/leaves.h"
#include "../image/kinds.h"
#include "../instance/instance.h"
#include "../maths/text.h"
#include "continuous.h"
#include "places.h"
#include "values.h"

/* Whether a known changes no derivative: a bound of warnings, or of the range in which a law sticks, or what is left
 * after impacts. */
static int is_without_effect(const fm_instance *s, uint32_t known)
{
    const int32_t kind = s->image.variable_kind[known];
    return kind == FM_DEFORMATION || kind == FM_LAW_BREAKAWAY || kind == FM_LAW_RESTITUTION || kind == FM_CY_VAPOUR;
}

static fm_known_place place_of_state(const fm_instance *s, int32_t state)
{
    const fm_known_place place = {state >= 0 ? fm_graph_place(s, s->y + state) : FM_NO_SLOT, 1};
    return place;
}

/* Of a variable of the table. */
static fm_known_place find_known(fm_instance *s, uint32_t known)
{
    const fm_known_place nowhere = {0, 0};
    const int32_t state = fm_any_state(s, known);
    if (is_without_effect(s, known)) return nowhere;
    if (state >= 0) return place_of_state(s, state);
    const double *at = fm_parameter_at(s, known);
    if (at == NULL && fm_input_place(s, known) >= 0)
        at = fm_stored(s, s->image.variable_kind[known], s->image.variable_object[known],
                       s->image.variable_component[known]);
    const fm_known_place place = {at == NULL ? FM_NO_SLOT : fm_graph_place(s, at), fm_stands_for(s, known)};
    return place;
}

/* Called once, when an instance with a graph opens: finds the places of knowns, and of unknowns that are states. */
void fm_find_knowns(fm_instance *s)
{
    if (!s->graph->built) return;
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        const int32_t state = fm_state_place(s, i);
        s->graph->known[i] = find_known(s, i);
        if (state >= 0) s->graph->output[i] = fm_graph_place(s, s->y + state);
    }
}

/* The place of any known. */
fm_known_place fm_place_of_known(fm_instance *s, uint32_t known)
{
    return known < fm_variable_count(s) ? s->graph->known[known] : place_of_state(s, fm_any_state(s, known));
}

/* Whether multipliers are not unique. */
static int has_redundant_rows(const fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (!fm_row_rests(s, i) && s->row_active[i] == 0.0) return 1;
    return 0;
}

/* The place of an unknown among the values. */
int32_t fm_place_of_unknown(fm_instance *s, uint32_t unknown)
{
    int32_t i = 0;
    const fm_graph *g = s->graph;
    if (unknown < fm_variable_count(s))
        return g->reacts[unknown] && has_redundant_rows(s) ? FM_NO_SLOT : g->output[unknown];
    const fm_beyond_kind beyond = fm_beyond(s, unknown, &i);
    if (beyond == FM_BEYOND_RATE) return fm_is_speed(s, i) ? g->acceleration[i - s->image.n.positions] : g->rate[i];
    return beyond == FM_BEYOND_STATE ? fm_graph_place(s, s->y + i) : FM_NO_SLOT;
}

/* Whether a variable of the table is an unknown or a known without an adjoint; violations of constraints, which are
 * round-off, do not count. */
static int is_left_out(fm_instance *s, uint32_t reference)
{
    fm_variable_info info;
    if (fm_variable(s, reference, &info) != FM_OK || info.type != FM_REAL) return 0;
    if (info.kind == FM_POSITION_VIOLATION || info.kind == FM_VELOCITY_VIOLATION) return 0;
    if (info.causality == FM_INPUT || info.tunable) return fm_place_of_known(s, reference).at == FM_NO_SLOT;
    if (info.causality != FM_OUTPUT || fm_state_place(s, reference) >= 0) return 0;
    return s->graph->reacts[reference] || s->graph->output[reference] == FM_NO_SLOT;
}

/* Whether all derivatives of the model's variables have an adjoint, whatever the state; if not, `why` names the first
 * that has none. */
int fm_has_adjoint(fm_instance *s, char *why, size_t capacity)
{
    const char *pinned = s->following->pins > 0 ? "independent components of an orientation" : "";
    if (capacity > 0) (void)fm_print(why, capacity, "%s", s->graph->built ? pinned : s->graph->why);
    if (!s->graph->built || pinned[0] != 0) return 0;
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        if (!is_left_out(s, i)) continue;
        (void)fm_variable_name(s, i, why, capacity);
        return 0;
    }
    return 1;
}
