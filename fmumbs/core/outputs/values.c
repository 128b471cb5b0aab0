/* values.c: variables by value reference. */
#include "values.h"

#include "../maths/text.h"
#include "../image/bounds.h"
#include "../image/joints.h"
#include "../image/kinds.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../forces/excitation.h"
#include "../forces/laws.h"
#include "../motion/friction.h"
#include "../motion/parameters.h"
#include "../motion/required.h"
#include "../motion/scratch.h"
#include "../time/hosted.h"
#include "computed.h"
#include "continuous.h"
#include "update.h"

#include <math.h>
#include <string.h>

#define FM_READ_AT_ONCE 8 /* most components that are read at once */

static const int32_t needs[FM_KIND_COUNT] = {
#define K(id, owner, suffix, components, role, elements, place, needs, follows, unit, linear, text) FM_VALID_##needs,
    FM_KINDS(K)
#undef K
};

uint32_t fm_variable_count(const fm_instance *s)
{
    return (uint32_t)s->image.n.variables;
}

/* Whether a joint's variable has a unit of its mode. */
static int has_unit_of_mode(int32_t kind)
{
    return strcmp(fm_kinds[kind].unit, fm_kinds[kind].unit_linear) != 0;
}

/* The free screw of a nonholonomic joint that a component belongs to. */
static int32_t screw_of(const fm_image *m, int32_t joint, int32_t component)
{
    int32_t screw = m->general_screw[m->link_general[m->joint_first[joint]]], left = component < 0 ? 0 : component;
    while (m->screw_excited[screw] || left-- > 0) screw++;
    return screw;
}

/* A parameter of a nonholonomic joint's spring or damper, which belongs to a screw; NULL for all else. */
static double *law_of_screw(const fm_instance *s, int32_t kind, int32_t joint, int32_t part)
{
    double *const of = kind == FM_J_STIFFNESS ? s->screw_stiffness
                       : kind == FM_J_DAMPING ? s->screw_damping
                       : kind == FM_J_REST    ? s->screw_rest
                                              : NULL;
    if (of == NULL || s->image.joint_kind[joint] != FM_JOINT_NONHOLONOMIC) return NULL;
    return of + screw_of(&s->image, joint, part);
}

/* Which of the coupled entries (table.h) a component of a joint's stiffness or damping is; -1: of its diagonal. */
static int32_t coupled_entry(const fm_image *m, int32_t kind, int32_t joint, int32_t component)
{
    const int32_t part = component - m->joint_nu[joint];
    if ((kind != FM_J_STIFFNESS && kind != FM_J_DAMPING) || m->joint_couplings[joint] == 0 || part < 0) return -1;
    return m->joint_coupled[joint] + part;
}

/* Its unit: that of an entry for two translations, two rotations, or one of each. */
static const char *coupled_unit(const fm_image *m, int32_t kind, int32_t joint, int32_t entry)
{
    const int32_t *linear = m->mode_linear + m->joint_u[joint], *mode = m->coupled_modes + 2 * entry;
    if (linear[mode[0]] != linear[mode[1]]) return kind == FM_J_STIFFNESS ? "N" : "N.s";
    return linear[mode[0]] ? fm_kinds[kind].unit_linear : fm_kinds[kind].unit;
}

/* Whether a component of a joint's variable belongs to a translation. */
static int is_linear(const fm_image *m, int32_t kind, int32_t joint, int32_t component)
{
    const int32_t elements = fm_kinds[kind].elements;
    const int of_screw = elements == FM_HAVE_SPRUNG || elements == FM_HAVE_RESTING || elements == FM_HAVE_COORDINATES;
    if (m->joint_kind[joint] != FM_JOINT_NONHOLONOMIC || !of_screw)
        return m->mode_linear[fm_mode_of(m, kind, joint, component)] != 0;
    return m->screw_pitch[screw_of(m, joint, component)] == 0.0;
}

/* Whether a component of a friction's variable belongs to a translation: forces follow their modes. */
static int is_sliding(const fm_image *m, int32_t kind, int32_t friction, int32_t component)
{
    if (kind != FM_FR_FORCE) return m->friction_linear[friction] != 0;
    return m->mode_linear[m->friction_u[friction] + (component < 0 ? 0 : component)] != 0;
}

static int is_law_linear(const fm_image *m, int32_t law)
{
    return m->law_spring[law] >= 0 || m->mode_linear[m->law_u[law]] != 0;
}

/* The link of a coordinate of a coupling. */
static int32_t coupled_link(const fm_image *m, int32_t coupling, int32_t component)
{
    return m->term_link[m->coupling_first[coupling] + (component < 0 ? 0 : component)];
}

/* Position and velocity of a mode that follows a path: not states. */
static int follows_path(const fm_image *m, int32_t kind, int32_t joint, int32_t component)
{
    if (!fm_kinds[kind].state || fm_kinds[kind].elements != FM_HAVE_EXCITED) return 0;
    return m->excitation_kind[m->joint_excitation[joint] + (component < 0 ? 0 : component)] == FM_EXCITED_BY_PATH;
}

/* The unit of a variable of a program for velocities or accelerations; NULL for all else. */
static const char *unit_of_rate(const fm_image *m, int32_t kind, int32_t joint)
{
    static const char *const unit[2][5] = {{"rad", "rad/s", "rad/s2", "rad/s3", "rad/s4"},
                                           {"m", "m/s", "m/s2", "m/s3", "m/s4"}};
    if (!fm_is_excited(kind) || kind == FM_J_DRIVE) return NULL;
    const int32_t first = m->joint_excitation[joint], row = m->excitation_row[first];
    const int order = kind == FM_J_KAPPA ? 1 : kind == FM_J_KAPPA_DOT || kind == FM_J_KAPPA_DOT_IN ? 2 : 0;
    if (row < 0 || m->row_part[row] == FM_OF_POSITION) return NULL;
    return unit[m->mode_linear[m->excitation_u[first]] != 0][order + m->row_part[row]];
}

fm_status fm_variable(const fm_instance *s, uint32_t reference, fm_variable_info *info)
{
    const fm_image *m = &s->image;
    const fm_beyond_kind beyond = fm_beyond(s, reference, NULL);
    if (beyond == FM_BEYOND_NOTHING) return FM_ERROR;
    if (beyond != FM_BEYOND_NOT) {
        *info = (fm_variable_info){-1, -1, -1, FM_LOCAL, FM_REAL, 0, beyond == FM_BEYOND_STATE, ""};
        return FM_OK;
    }
    const fm_kind_info *kind = fm_kinds + m->variable_kind[reference];
    info->kind = m->variable_kind[reference];
    info->object = m->variable_object[reference];
    info->component = m->variable_component[reference];
    info->causality = kind->causality;
    info->type = kind->type;
    info->tunable = kind->tunable;
    info->state = kind->state;
    info->unit = kind->unit;
    const int32_t entry = kind->owner == FM_JOINT ? coupled_entry(m, info->kind, info->object, info->component) : -1;
    if (entry >= 0) info->unit = coupled_unit(m, info->kind, info->object, entry);
    else if (kind->owner == FM_JOINT && has_unit_of_mode(info->kind) &&
             is_linear(m, info->kind, info->object, info->component))
        info->unit = kind->unit_linear;
    if (kind->owner == FM_LAW && is_law_linear(m, info->object)) info->unit = kind->unit_linear;
    if (kind->owner == FM_FRICTION && is_sliding(m, info->kind, info->object, info->component))
        info->unit = kind->unit_linear;
    const char *of_rate = kind->owner == FM_JOINT ? unit_of_rate(m, info->kind, info->object) : NULL;
    if (of_rate != NULL) info->unit = of_rate;
    if (info->kind == FM_C_TAU && m->mode_linear[m->link_u[coupled_link(m, info->object, info->component)]])
        info->unit = kind->unit_linear;
    if (follows_path(m, info->kind, info->object, info->component)) info->state = 0;
    if (fm_is_cut_motion(m, info->kind, info->object)) info->state = 0;
    return FM_OK;
}

static const char *owner_name(const fm_image *m, int32_t owner, int32_t object)
{
    switch (owner) {
#define O(id, one, all) \
    case FM_##id: return m->text + m->one##_name[object];
        FM_OWNERS(O)
#undef O
    default: return "";
    }
}

static size_t name_beyond(const fm_instance *s, uint32_t reference, char *name, size_t capacity)
{
    const fm_beyond_kind beyond = fm_beyond(s, reference, NULL);
    const long state =
        (long)((reference - fm_variable_count(s) - 1) % (uint32_t)(s->hosted.states + !s->hosted.states));
    int length = 0;
    if (beyond == FM_BEYOND_TIME) length = fm_print(name, capacity, "time");
    if (beyond == FM_BEYOND_STATE) length = fm_print(name, capacity, "continuous state %ld", state + 1);
    if (beyond == FM_BEYOND_RATE) length = fm_print(name, capacity, "rate of continuous state %ld", state + 1);
    return length < 0 ? 0 : (size_t)length;
}

size_t fm_variable_name(const fm_instance *s, uint32_t reference, char *name, size_t capacity)
{
    const fm_image *m = &s->image;
    if (capacity > 0) name[0] = 0;
    if (reference >= fm_variable_count(s)) return name_beyond(s, reference, name, capacity);
    const fm_kind_info *kind = fm_kinds + m->variable_kind[reference];
    const int32_t component = m->variable_component[reference];
    int length;
    if (m->variable_name[reference] >= 0) {
        length = fm_print(name, capacity, "%s", m->text + m->variable_name[reference]);
    } else {
        const char *owner = owner_name(m, kind->owner, m->variable_object[reference]), *dot = owner[0] ? "." : "";
        if (component < 0) length = fm_print(name, capacity, "%s%s%s", owner, dot, kind->suffix);
        else length = fm_print(name, capacity, "%s%s%s[%ld]", owner, dot, kind->suffix, (long)component + 1);
    }
    return length < 0 ? 0 : (size_t)length;
}

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

/* The location of a parameter, in its array. */
static double *stored_parameter(fm_instance *s, int32_t kind, int32_t object, int32_t part)
{
    const fm_image *m = &s->image;
    double *const of_screw = law_of_screw(s, kind, object, part);
    const int32_t entry = fm_kinds[kind].owner == FM_JOINT ? coupled_entry(m, kind, object, part) : -1;
    if (of_screw != NULL) return of_screw;
    if (entry >= 0) return (kind == FM_J_STIFFNESS ? s->coupled_stiffness : s->coupled_damping) + entry;
    const int32_t mode = fm_kinds[kind].owner == FM_JOINT ? fm_mode_of(m, kind, object, part) : -1;
    switch (kind) {
#define P(V, kind, array, columns, rows) \
    case FM_##kind: return s->array + (mode >= 0 ? mode : (columns) * object + part);
#define S(V, kind, name, array, first, components) case FM_##kind: return s->array + first + part;
        FM_PARAMETERS(P, )
        FM_SETTINGS(S, )
#undef P
#undef S
    default: return NULL;
    }
}

/* The location of a variable in the state, or that of another kind; NULL for computed ones. */
static double *stored_beside(fm_instance *s, int32_t kind, int32_t object, int32_t component)
{
    const fm_image *m = &s->image;
    const int32_t part = component < 0 ? 0 : component;
    double *const speeds = s->y + m->n.positions;
    if (fm_is_cut_motion(m, kind, object)) return NULL;
    switch (fm_kinds[kind].place) {
    case FM_AT_TAU: return s->tau + fm_mode_of(m, kind, object, part);
    case FM_AT_LOAD_FORCE: return s->load + 6 * object + part;
    case FM_AT_LOAD_TORQUE: return s->load + 6 * object + 3 + part;
    case FM_AT_CONTROL: return s->control + fm_control_place(m, kind, object);
    case FM_AT_POSITION: return s->y + m->joint_p[object] + part;
    case FM_AT_QUATERNION: return s->y + m->joint_p[object] + part + (m->joint_kind[object] == FM_JOINT_FREE ? 3 : 0);
    case FM_AT_SPEED: return speeds + fm_mode_of(m, kind, object, part);
    case FM_AT_EXCITED: return s->y + m->excitation_p[m->joint_excitation[object] + part];
    case FM_AT_BRISTLE: return s->y + fm_bristles_of(s, object) + part;
    case FM_AT_MODAL_POSITION: return s->y + m->link_p[m->body_link[object]] + part;
    case FM_AT_MODAL_SPEED: return speeds + m->link_u[m->body_link[object]] + part;
    case FM_AT_PARAMETER: return stored_parameter(s, kind, object, part);
    default: return NULL;
    }
}

/* The location of a variable that is stored; NULL for computed ones. */
static double *stored(fm_instance *s, int32_t kind, int32_t object, int32_t component)
{
    const fm_image *m = &s->image;
    const int32_t part = component < 0 ? 0 : component, place = fm_kinds[kind].place;
    if (kind < FM_FIRST_INVERSE) return stored_beside(s, kind, object, component);
    double *const rates = s->given + m->n.positions + m->n.speeds;
    if (place == FM_AT_ACCELERATION) return rates + fm_mode_of(m, kind, object, part);
    if (place == FM_AT_MODAL_ACCELERATION) return rates + m->link_u[m->body_link[object]] + part;
    double *const at = stored_beside(s, kind, object, component);
    return at == NULL ? NULL : s->given + (at - s->y);
}

/* The index of an input among all inputs: tau of every mode, the loads, the controls; -1 if it is none of these. */
int32_t fm_input_place(fm_instance *s, uint32_t reference)
{
    const fm_image *m = &s->image;
    if (reference >= fm_variable_count(s)) return -1;
    const int32_t kind = m->variable_kind[reference];
    if (fm_kinds[kind].causality != FM_INPUT || kind >= FM_FIRST_INVERSE) return -1;
    const double *at = stored(s, kind, m->variable_object[reference], m->variable_component[reference]);
    switch (fm_kinds[kind].place) {
    case FM_AT_TAU: return (int32_t)(at - s->tau);
    case FM_AT_CONTROL: return (int32_t)(m->n.modes + 6 * m->n.loads + (at - s->control));
    default: return (int32_t)(m->n.modes + (at - s->load));
    }
}

/* The continuous state that a variable is, -1 if it is none. */
int32_t fm_state_place(fm_instance *s, uint32_t reference)
{
    fm_variable_info info;
    if (fm_variable(s, reference, &info) != FM_OK || !info.state) return -1;
    return (int32_t)(stored(s, info.kind, info.object, info.component) - s->y);
}

/* The element of the state where a component of a kind is stored, -1 if it is stored elsewhere or computed. */
int32_t fm_place_of(fm_instance *s, int32_t kind, int32_t object, int32_t component)
{
    if (kind < 0 || kind >= FM_KIND_COUNT || !fm_kinds[kind].state) return -1;
    const double *at = stored(s, kind, object, component);
    return at == NULL ? -1 : (int32_t)(at - s->y);
}

/* The values of `count` components from `part` on. Requires the results that fm_validity lists. */
static void read_components(fm_instance *s, int32_t kind, int32_t object, int32_t part, int32_t count, double *out)
{
    const double *at = stored(s, kind, object, part);
    if (at == NULL) fm_compute(s, kind, object, part, count, out);
    else
        for (int32_t i = 0; i < count; i++) out[i] = *(i == 0 ? at : stored(s, kind, object, part + i));
}

/* The value of a variable. Requires the results that fm_validity lists. */
double fm_value(fm_instance *s, int32_t kind, int32_t object, int32_t component)
{
    double value;
    read_components(s, kind, object, component < 0 ? 0 : component, 1, &value);
    return value;
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

/* Reads the first reference, and with it those after it that belong to the same vector; returns how many, at most
 * `most`. */
static size_t read_vector(fm_instance *s, const uint32_t *reference, size_t most, double value[FM_READ_AT_ONCE])
{
    const fm_image *m = &s->image;
    if (reference[0] >= (uint32_t)m->n.variables) {
        value[0] = fm_value_at(s, reference[0]);
        return 1;
    }
    const int32_t kind = m->variable_kind[reference[0]], object = m->variable_object[reference[0]];
    const int32_t component = m->variable_component[reference[0]], count = count_components(m, reference, most);
    fm_update(s, fm_validity(m, kind, object));
    read_components(s, kind, object, component < 0 ? 0 : component, count, value);
    return (size_t)count;
}

/* Writes each value `step` behind the one before. */
fm_status fm_do_get(fm_instance *s, const uint32_t *reference, size_t count, double *value, size_t step)
{
    double part[FM_READ_AT_ONCE];
    int rates = 0, computed = 0;
    for (size_t i = 0; i < count; i++) {
        if (reference[i] < (uint32_t)s->image.n.variables) {
            computed |=
                fm_validity(&s->image, s->image.variable_kind[reference[i]], s->image.variable_object[reference[i]]);
            continue;
        }
        const fm_beyond_kind beyond = fm_beyond(s, reference[i], NULL);
        if (beyond == FM_BEYOND_NOTHING) return unknown(s, reference[i]);
        rates |= beyond == FM_BEYOND_RATE;
    }
    if (s->model.inverse && computed != FM_VALID_NOTHING && fm_check_given(s) != FM_OK) return FM_ERROR;
    const fm_status status = rates ? fm_present_rates(s) : FM_OK;
    fm_keep_pieces(s);
    for (size_t i = 0, read; i < count && status == FM_OK; i += read) {
        const size_t left = count - i;
        read = read_vector(s, reference + i, left < FM_READ_AT_ONCE ? left : FM_READ_AT_ONCE, part);
        for (size_t j = 0; j < read; j++) value[(i + j) * step] = part[j];
    }
    fm_end_smooth(s);
    return status;
}

/* Writing ----------------------------------------------------------------------------------------------------- */

/* Whether a component of a parameter that is a matrix, or of any other, has the bounds of its kind (bounds.c). */
static int is_diagonal(const fm_image *m, int32_t kind, int32_t object, int32_t component)
{
    if (kind == FM_B_INERTIA) return component < 3;
    return fm_kinds[kind].owner != FM_JOINT || coupled_entry(m, kind, object, component) < 0;
}

static fm_status check_value(fm_instance *s, uint32_t reference, double value)
{
    const int32_t kind = s->image.variable_kind[reference], object = s->image.variable_object[reference];
    const int32_t part = s->image.variable_component[reference];
    const char *why = NULL;
    char name[200], bound[400];
    if (stored(s, kind, object, part) == NULL) why = "it is computed and cannot be set";
    else if (follows_path(&s->image, kind, object, part)) why = "this mode follows a path";
    else if (!fm_fits(kind, is_diagonal(&s->image, kind, object, part), value, bound, sizeof bound)) why = bound;
    if (why == NULL) return FM_OK;
    (void)fm_variable_name(s, reference, name, sizeof name);
    return fm_say(s, FM_ERROR, "%s = %.9g is refused: %s", name, value, why);
}

/* Writes a value where it is stored; a ball's one stiffness or damping is that of three modes. */
static void write(const fm_instance *s, uint32_t reference, double *at, double value)
{
    const fm_image *m = &s->image;
    const int32_t kind = m->variable_kind[reference];
    *at = value;
    if ((kind == FM_J_STIFFNESS || kind == FM_J_DAMPING) && m->variable_component[reference] < 0 &&
        m->joint_kind[m->variable_object[reference]] == FM_JOINT_SPHERICAL)
        at[1] = at[2] = value;
}

/* Where a tunable parameter, or an input of inverse dynamics, is stored; NULL for all else. */
double *fm_parameter_at(fm_instance *s, uint32_t reference)
{
    const fm_image *m = &s->image;
    if (reference >= fm_variable_count(s)) return NULL;
    const fm_kind_info *kind = fm_kinds + m->variable_kind[reference];
    if (!kind->tunable && !(s->model.inverse && kind->causality == FM_INPUT)) return NULL;
    return stored(s, m->variable_kind[reference], m->variable_object[reference], m->variable_component[reference]);
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
    int changed = 0, derived = 0;
    for (size_t i = 0; i < count; i++) {
        if (beyond_state(s, reference[i], value[i]) >= 0) continue;
        if (reference[i] >= fm_variable_count(s)) return unknown(s, reference[i]);
        if (check_value(s, reference[i], value[i]) != FM_OK) return FM_ERROR;
    }
    for (size_t i = 0; i < count; i++) {
        const int32_t state = beyond_state(s, reference[i], value[i]);
        if (state >= 0) {
            changed |= memcmp(s->y + state, value + i, sizeof *value) != 0;
            s->y[state] = value[i];
            continue;
        }
        const int32_t kind = m->variable_kind[reference[i]];
        double *at = stored(s, kind, m->variable_object[reference[i]], m->variable_component[reference[i]]);
        if (fm_kinds[kind].state && !hosted) s->guess[at - s->y] = value[i];
        if (memcmp(at, value + i, sizeof *at) == 0) continue;
        write(s, reference[i], at, value[i]);
        changed = 1;
        if (fm_kinds[kind].causality == FM_PARAMETER) derived = 1;
        if (fm_kinds[kind].state && !hosted) s->clock[FM_ASSEMBLED] = 0.0;
    }
    if (derived) fm_derive(s);
    if (changed) {
        s->clock[FM_AHEAD] = 0.0;
        s->valid = FM_VALID_NOTHING;
    }
    return FM_OK;
}
