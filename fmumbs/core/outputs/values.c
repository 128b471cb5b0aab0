/* values.c: variables by value reference: reading and writing. */
#include "values.h"

#include "../image/bounds.h"
#include "../image/kinds.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../forces/excitation.h"
#include "../motion/independent.h"
#include "../motion/parameters.h"
#include "../motion/required.h"
#include "../time/hosted.h"
#include "computed.h"
#include "continuous.h"
#include "places.h"
#include "update.h"

#include <math.h>
#include <string.h>

static const int32_t needs[FM_KIND_COUNT] = {
#define K(id, owner, suffix, components, role, elements, place, needs, follows, unit, linear, text) FM_VALID_##needs,
#define G(id, like) FM_VALID_NOTHING,
    FM_KINDS(K, G)
#undef K
#undef G
};

/* Reading ----------------------------------------------------------------------------------------------------- */

/* The results that a kind requires. The position of a program for accelerations is one; a law that sticks may hold a
 * spring, by a force that follows from the motion. */
int32_t fm_validity(const fm_image *m, int32_t kind, int32_t object)
{
    if (fm_is_cut_motion(m, kind, object))
        return fm_kinds[kind].place == FM_AT_ACCELERATION ? FM_VALID_WORLD_AND_LINKS : FM_VALID_WORLD;
    const int of_program = needs[kind] == FM_VALID_WORLD && fm_kinds[kind].elements == FM_HAVE_PROGRAMMED;
    if (of_program && m->row_part[m->excitation_row[m->joint_excitation[object]]] == FM_OF_ACCELERATION)
        return FM_VALID_WORLD_AND_LINKS;
    return fm_kinds[kind].follows == FM_FOLLOWS_SPRING && m->n.laws > 0 ? needs[kind] | FM_VALID_MOTION : needs[kind];
}

/* The values of `count` components from `part` on, in `room`, where it says. Requires the results that fm_validity
 * lists. */
static const double *read_components(fm_instance *s, int32_t kind, int32_t object, int32_t part, int32_t count,
                                     double room[FM_WHOLE])
{
    const double *at = fm_stored(s, kind, object, part);
    if (at == NULL) return fm_compute(s, kind, object, part, count, room);
    for (int32_t i = 0; i < count; i++) room[i] = *(i == 0 ? at : fm_stored(s, kind, object, part + i));
    return room;
}

/* The value of a variable. Requires the results that fm_validity lists. */
double fm_value(fm_instance *s, int32_t kind, int32_t object, int32_t component)
{
    double room[FM_WHOLE];
    return *read_components(s, kind, object, component < 0 ? 0 : component, 1, room);
}

/* The continuous state that a variable is, -1 if it is none. */
int32_t fm_state_place(fm_instance *s, uint32_t reference)
{
    fm_variable_info info;
    if (fm_variable(s, reference, &info) != FM_OK || !info.state) return -1;
    return (int32_t)(fm_stored(s, info.kind, info.object, info.component) - s->y);
}

/* The value of any reference; rates and indicators are those in hosted. */
double fm_value_at(fm_instance *s, uint32_t reference)
{
    const fm_image *m = &s->image;
    int32_t i = 0;
    switch (fm_beyond(s, reference, &i)) {
    case FM_BEYOND_TIME: return s->clock[FM_TIME];
    case FM_BEYOND_STATE: return s->y[i];
    case FM_BEYOND_RATE: return s->hosted.rates[i];
    case FM_BEYOND_INDICATOR: return s->hosted.indicators[i];
    default: break;
    }
    fm_update(s, fm_validity(m, m->variable_kind[reference], m->variable_object[reference]));
    return fm_value(s, m->variable_kind[reference], m->variable_object[reference], m->variable_component[reference]);
}

/* The element of y that a variable or a reference beyond the table is as a state, -1: none, or it follows from
 * independent ones. */
int32_t fm_any_state(fm_instance *s, uint32_t reference)
{
    int32_t i = -1;
    if (fm_beyond(s, reference, &i) != FM_BEYOND_STATE) i = fm_state_place(s, reference);
    return i >= 0 && fm_is_dependent(s, i) ? -1 : i;
}

static fm_status unknown(fm_instance *s, uint32_t reference)
{
    return fm_say(s, FM_ERROR, "there is no variable with reference %lu: the model has 0 to %lu",
                  (unsigned long)reference, (unsigned long)fm_variable_count(s) - 1);
}

/* How many of the references are, from the first one on, consecutive components of one vector. */
static int32_t count_components(const fm_image *m, const uint32_t *reference, size_t most)
{
    const uint32_t first = reference[0];
    size_t count = 1;
    while (count < most && reference[count] < (uint32_t)m->n.variables &&
           m->variable_kind[reference[count]] == m->variable_kind[first] &&
           m->variable_object[reference[count]] == m->variable_object[first] &&
           m->variable_component[reference[count]] == m->variable_component[first] + (int32_t)count)
        count++;
    return (int32_t)count;
}

/* Reads the first reference, and with it those after it that belong to the same vector, each `step` behind the one
 * before; returns how many, at most `most`. */
static size_t read_vector(fm_instance *s, const uint32_t *reference, size_t most, double *value, size_t step)
{
    double room[FM_WHOLE];
    const fm_image *m = &s->image;
    if (reference[0] >= (uint32_t)m->n.variables) {
        value[0] = fm_value_at(s, reference[0]);
        return 1;
    }
    const int32_t kind = m->variable_kind[reference[0]], object = m->variable_object[reference[0]];
    const int32_t component = m->variable_component[reference[0]], count = count_components(m, reference, most);
    fm_update(s, fm_validity(m, kind, object));
    const double *from = read_components(s, kind, object, component < 0 ? 0 : component, count, room);
    for (int32_t i = 0; i < count; i++) value[(size_t)i * step] = from[i];
    return (size_t)count;
}

/* Writes each value `step` behind the one before. */
fm_status fm_do_get(fm_instance *s, const uint32_t *reference, size_t count, double *value, size_t step)
{
    int rates = 0, indicators = 0, computed = 0;
    for (size_t i = 0; i < count; i++) {
        if (reference[i] < (uint32_t)s->image.n.variables) {
            const int32_t kind = s->image.variable_kind[reference[i]];
            if (s->model.inverse) computed |= fm_validity(&s->image, kind, s->image.variable_object[reference[i]]);
            continue;
        }
        const fm_beyond_kind beyond = fm_beyond(s, reference[i], NULL);
        if (beyond == FM_BEYOND_NOTHING) return unknown(s, reference[i]);
        rates |= beyond == FM_BEYOND_RATE;
        indicators |= beyond == FM_BEYOND_INDICATOR;
    }
    if (computed != FM_VALID_NOTHING && fm_check_given(s) != FM_OK) return FM_ERROR;
    fm_status status = rates ? fm_present_rates(s) : FM_OK;
    if (status == FM_OK && indicators) status = fm_present_indicators(s);
    fm_keep_pieces(s);
    for (size_t i = 0, read; i < count && status == FM_OK; i += read) {
        const size_t left = count - i;
        read = read_vector(s, reference + i, left < FM_WHOLE ? left : FM_WHOLE, value + i * step, step);
    }
    fm_end_smooth(s);
    return status;
}

/* Writing ----------------------------------------------------------------------------------------------------- */

/* Whether a component of a parameter that is a matrix, or of any other, has the bounds of its kind (bounds.c). */
static int is_diagonal(const fm_image *m, int32_t kind, int32_t object, int32_t component)
{
    if (kind == FM_B_INERTIA) return component < 3;
    return fm_kinds[kind].owner != FM_JOINT || fm_coupled_entry(m, kind, object, component) < 0;
}

static fm_status check_value(fm_instance *s, uint32_t reference, double value)
{
    const int32_t kind = s->image.variable_kind[reference], object = s->image.variable_object[reference];
    const int32_t part = s->image.variable_component[reference];
    const char *why = NULL;
    char name[200], bound[400];
    if (fm_stored(s, kind, object, part) == NULL) why = "it is computed and cannot be set";
    else if (fm_follows_path(&s->image, kind, object, part)) why = "this mode follows a path";
    else if (fm_kinds[kind].state && s->clock[FM_HOSTED] != 0.0 &&
             fm_is_dependent(s, fm_place_of(s, kind, object, part)))
        why = "it follows from the independent states, by the loops: set these";
    else if (!fm_fits(kind, is_diagonal(&s->image, kind, object, part), value, bound, sizeof bound)) why = bound;
    if (why == NULL) return FM_OK;
    (void)fm_variable_name(s, reference, name, sizeof name);
    return fm_say(s, FM_ERROR, "%s = %.9g is refused: %s", name, value, why);
}

/* How many numbers a variable stands for where it is stored: 3 of a ball's one stiffness or damping, which is that of
 * three modes. */
int32_t fm_stands_for(const fm_instance *s, uint32_t reference)
{
    const fm_image *m = &s->image;
    const int32_t kind = m->variable_kind[reference];
    const int ball = (kind == FM_J_STIFFNESS || kind == FM_J_DAMPING) && m->variable_component[reference] < 0 &&
                     m->joint_kind[m->variable_object[reference]] == FM_JOINT_SPHERICAL;
    return ball ? 3 : 1;
}

static void write(const fm_instance *s, uint32_t reference, double *at, double value)
{
    for (int32_t i = fm_stands_for(s, reference); i > 0; i--) at[i - 1] = value;
}

/* Where a tunable parameter, or an input of inverse dynamics, is stored; NULL for all else. */
double *fm_parameter_at(fm_instance *s, uint32_t reference)
{
    const fm_image *m = &s->image;
    if (reference >= fm_variable_count(s)) return NULL;
    const fm_kind_info *kind = fm_kinds + m->variable_kind[reference];
    if (!kind->tunable && !(s->model.inverse && kind->causality == FM_INPUT)) return NULL;
    return fm_stored(s, m->variable_kind[reference], m->variable_object[reference], m->variable_component[reference]);
}

/* Adds to what fm_parameter_at finds, beyond its bounds too. 0: it is none. */
int fm_add_to_parameter(fm_instance *s, uint32_t reference, double more)
{
    double *at = fm_parameter_at(s, reference);
    if (at != NULL) write(s, reference, at, *at + more);
    return at != NULL;
}

/* The element of y that a finite value can be set to by a reference beyond the table, while the host integrates; -1:
 * none. */
static int32_t beyond_state(const fm_instance *s, uint32_t reference, double value)
{
    int32_t i = -1;
    const int is_state = fm_beyond(s, reference, &i) == FM_BEYOND_STATE;
    return is_state && s->clock[FM_HOSTED] != 0.0 && isfinite(value) ? i : -1;
}

fm_status fm_do_set(fm_instance *s, const uint32_t *reference, size_t count, const double *value)
{
    const fm_image *m = &s->image;
    const int hosted = s->clock[FM_HOSTED] != 0.0;
    int changed = 0, derived = 0, moved = 0;
    for (size_t i = 0; i < count; i++) {
        if (beyond_state(s, reference[i], value[i]) >= 0) continue;
        if (reference[i] >= fm_variable_count(s)) return unknown(s, reference[i]);
        if (check_value(s, reference[i], value[i]) != FM_OK) return FM_ERROR;
    }
    for (size_t i = 0; i < count; i++) {
        const int32_t state = beyond_state(s, reference[i], value[i]);
        if (state >= 0) {
            changed |= memcmp(s->y + state, value + i, sizeof *value) != 0;
            moved |= changed;
            s->y[state] = value[i];
            continue;
        }
        const int32_t kind = m->variable_kind[reference[i]];
        double *at = fm_stored(s, kind, m->variable_object[reference[i]], m->variable_component[reference[i]]);
        if (fm_kinds[kind].state && !hosted) s->guess[at - s->y] = value[i];
        if (memcmp(at, value + i, sizeof *at) == 0) continue;
        write(s, reference[i], at, value[i]);
        changed = 1;
        if (fm_kinds[kind].causality == FM_PARAMETER) derived = 1;
        if (fm_kinds[kind].state && !hosted) s->clock[FM_ASSEMBLED] = 0.0;
        moved |= fm_kinds[kind].state || fm_kinds[kind].elements == FM_HAVE_CAMS;
    }
    if (derived) fm_derive(s);
    if (moved && hosted) fm_note_set(s);
    if (moved && !hosted && !s->model.inverse && s->clock[FM_ASSEMBLED] != 0.0)
        s->clock[FM_LOOPS_OPEN] = 1.0; /* cams */
    if (changed) {
        s->clock[FM_AHEAD] = 0.0;
        s->valid = FM_VALID_NOTHING;
    }
    return FM_OK;
}

/* An error about a variable: why it cannot be what it is asked to be. */
fm_status fm_refuse_reference(fm_instance *s, uint32_t reference, const char *why)
{
    char name[200] = "no such variable";
    (void)fm_variable_name(s, reference, name, sizeof name);
    return fm_say(s, FM_ERROR, "reference %lu (%s): %s", (unsigned long)reference, name, why);
}
