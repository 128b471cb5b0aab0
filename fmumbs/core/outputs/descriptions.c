/* descriptions.c: what variables are: their names, units, causality and types. */
#include "../image/kinds.h"
#include "../instance/instance.h"
#include "../maths/text.h"
#include "computed.h"
#include "continuous.h"
#include "places.h"

#include <string.h>

/* Whether a joint's variable has a unit of its mode. */
static int has_unit_of_mode(int32_t kind)
{
    return strcmp(fm_kinds[kind].unit, fm_kinds[kind].unit_linear) != 0;
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
    return m->screw_pitch[fm_screw_of(m, joint, component)] == 0.0;
}

/* Whether a component of a friction's variable belongs to a translation: forces follow their modes. */
static int is_sliding(const fm_image *m, int32_t kind, int32_t friction, int32_t component)
{
    if (kind != FM_FR_FORCE) return m->friction_linear[friction] != 0;
    return m->mode_linear[m->friction_u[friction] + (component < 0 ? 0 : component)] != 0;
}

static int is_law_linear(const fm_image *m, int32_t law)
{
    return m->law_u[law] < 0 || m->mode_linear[m->law_u[law]] != 0;
}

/* The link of a coordinate of a coupling. */
static int32_t coupled_link(const fm_image *m, int32_t coupling, int32_t component)
{
    return m->term_link[m->coupling_first[coupling] + (component < 0 ? 0 : component)];
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
        const int32_t kind = beyond == FM_BEYOND_INDICATOR ? -2 : -1;
        *info = (fm_variable_info){kind, -1, -1, FM_LOCAL, FM_REAL, 0, beyond == FM_BEYOND_STATE, ""};
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
    const int32_t entry = kind->owner == FM_JOINT ? fm_coupled_entry(m, info->kind, info->object, info->component) : -1;
    if (entry >= 0) info->unit = coupled_unit(m, info->kind, info->object, entry);
    else if (kind->owner == FM_JOINT && has_unit_of_mode(info->kind) &&
             is_linear(m, info->kind, info->object, info->component))
        info->unit = kind->unit_linear;
    if (kind->owner == FM_LAW && is_law_linear(m, info->object)) info->unit = kind->unit_linear;
    if (kind->owner == FM_FRICTION && is_sliding(m, info->kind, info->object, info->component))
        info->unit = kind->unit_linear;
    if (kind->owner == FM_MOTOR && m->mode_linear[m->motor_u[info->object]]) info->unit = kind->unit_linear;
    if (kind->owner == FM_GEAR && is_law_linear(m, m->gear_law[info->object])) info->unit = kind->unit_linear;
    const char *of_rate = kind->owner == FM_JOINT ? unit_of_rate(m, info->kind, info->object) : NULL;
    if (of_rate != NULL) info->unit = of_rate;
    const int32_t term = info->kind == FM_C_PHASE ? 1 : info->component;
    if (kind->owner == FM_COUPLING && m->mode_linear[m->link_u[coupled_link(m, info->object, term)]])
        info->unit = kind->unit_linear;
    if (fm_follows_path(m, info->kind, info->object, info->component)) info->state = 0;
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
    int32_t indicator = 0;
    const fm_beyond_kind beyond = fm_beyond(s, reference, &indicator);
    const long state =
        (long)((reference - fm_variable_count(s) - 1) % (uint32_t)(s->hosted.states + !s->hosted.states));
    int length = 0;
    if (beyond == FM_BEYOND_TIME) length = fm_print(name, capacity, "time");
    if (beyond == FM_BEYOND_STATE) length = fm_print(name, capacity, "continuous state %ld", state + 1);
    if (beyond == FM_BEYOND_RATE) length = fm_print(name, capacity, "rate of continuous state %ld", state + 1);
    if (beyond == FM_BEYOND_INDICATOR) length = fm_print(name, capacity, "event indicator %ld", (long)indicator + 1);
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

/* Arrays ------------------------------------------------------------------------------------------------ */

/* Length of the name without "[component + 1]"; 0 if it does not end so. */
static size_t stem(const char *name, int32_t component)
{
    const size_t length = strlen(name);
    return length > 3 && name[length - 3] == '[' && name[length - 2] == '1' + component && name[length - 1] == ']'
               ? length - 3
               : 0;
}

/* Whether the vector's components that `first` and `other` are have its name, or both a declared one. */
static int share_name(const fm_image *m, uint32_t first, uint32_t other)
{
    const int32_t a = m->variable_name[first], b = m->variable_name[other];
    if (a < 0 || b < 0) return a < 0 && b < 0;
    const size_t length = stem(m->text + a, m->variable_component[first]);
    return length > 0 && length == stem(m->text + b, m->variable_component[other]) &&
           memcmp(m->text + a, m->text + b, length) == 0;
}

/* Whether variables of a kind are states or rates of states, which importers count and pair one by one. */
static int is_continuous(int32_t kind)
{
    switch (kind) {
#define R(id, rate) \
    case FM_##rate: return fm_kinds[kind].state || fm_kinds[FM_##id].state;
        FM_RATES(R)
#undef R
    default: return fm_kinds[kind].state;
    }
}

/* The number of components of the vector that begins at a reference of the table; 1 if it is a scalar. */
static uint32_t length_from(const fm_instance *s, uint32_t reference)
{
    const fm_image *m = &s->image;
    const int32_t kind = m->variable_kind[reference], object = m->variable_object[reference];
    const uint32_t length = (uint32_t)fm_kinds[kind].components;
    if (length < 2 || m->variable_component[reference] != 0 || is_continuous(kind)) return 1;
    if (length > fm_variable_count(s) - reference) return 1;
    for (uint32_t i = 0; i < length; i++) {
        const uint32_t at = reference + i;
        if (m->variable_kind[at] != kind || m->variable_object[at] != object ||
            m->variable_component[at] != (int32_t)i || !share_name(m, reference, at))
            return 1;
    }
    return length;
}

uint32_t fm_array_length(const fm_instance *s, uint32_t reference)
{
    if (reference >= fm_variable_count(s)) return 1;
    const int32_t component = s->image.variable_component[reference];
    if (component > 0 && (uint32_t)component <= reference &&
        length_from(s, reference - (uint32_t)component) > (uint32_t)component)
        return 0;
    return length_from(s, reference);
}
