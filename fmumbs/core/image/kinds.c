/* kinds.c: the kinds of variables as a table, and which elements have them. */
#include "kinds.h"

#include "image.h"
#include "joints.h"

enum {
#define R(name, causality, type, tunable, state) \
    CAUSALITY_##name = causality, TYPE_##name = type, TUNABLE_##name = tunable, STATE_##name = state,
    FM_ROLES(R)
#undef R
};

const fm_kind_info fm_kinds[FM_KIND_COUNT] = {
#define K(id, owner, suffix, components, role, elements, place, needs, follows, unit, linear, text) \
    {suffix, unit, linear, text, FM_##owner, CAUSALITY_##role, TYPE_##role, TUNABLE_##role, STATE_##role, #owner, \
     components, FM_HAVE_##elements, FM_AT_##place, FM_FOLLOWS_##follows},
    FM_KINDS(K)
#undef K
};

static const fm_parameter_info parameters[] = {
#define P(V, kind, array, columns, rows) {FM_##kind, #array, 0, columns},
#define S(V, kind, name, array, first, components) {FM_##kind, #array, first, components},
    FM_PARAMETERS(P, ) FM_SETTINGS(S, )
#undef P
#undef S
};

uint32_t fm_parameter_count(void)
{
    return sizeof parameters / sizeof *parameters;
}

const fm_parameter_info *fm_parameter(uint32_t index)
{
    return index < fm_parameter_count() ? parameters + index : NULL;
}

uint32_t fm_kind_count(void)
{
    return FM_KIND_COUNT;
}

const fm_kind_info *fm_kind(uint32_t index)
{
    return index < FM_KIND_COUNT ? fm_kinds + index : NULL;
}

int32_t fm_kind_rate(int32_t kind)
{
    switch (kind) {
#define R(id, rate) case FM_##id: return FM_##rate;
        FM_RATES(R)
#undef R
    default: return -1;
    }
}

/* The place among the controls of an input of a friction or a law; -1 if it has none. */
int32_t fm_control_place(const fm_image *m, int32_t kind, int32_t object)
{
    if (fm_kinds[kind].elements == FM_HAVE_PRESSED) return m->friction_pressed[object];
    return fm_kinds[kind].owner == FM_LAW ? m->law_scaled[object] : m->friction_scaled[object];
}

static int is_flexible(const fm_image *m, int32_t body)
{
    return m->link_kind[m->body_link[body]] == FM_LINK_MODAL;
}

/* Whether a joint is the drive of a program. */
static int is_program(const fm_image *m, int32_t joint)
{
    return m->joint_excited[joint] > 0 && m->excitation_row[m->joint_excitation[joint]] >= 0;
}

/* Entries of the stiffness or the damping of a joint's modes; of a ball joint one for all three, or a matrix. */
static int32_t sprung(const fm_image *m, int32_t joint)
{
    const int32_t excited = m->joint_excited[joint], couplings = m->joint_couplings[joint];
    switch (m->joint_kind[joint]) {
    case FM_JOINT_SPHERICAL: return couplings > 0 ? 3 + couplings : 1;
    case FM_JOINT_NONHOLONOMIC: return m->joint_np[joint] - excited;
    default: return m->joint_nu[joint] - excited + couplings;
    }
}

/* How many modes or positions of a joint have kinds whose number follows from them. */
static int32_t joint_components(const fm_image *m, int32_t elements, int32_t joint)
{
    const int32_t kind = m->joint_kind[joint];
    const int scalar = kind == FM_JOINT_SCALAR, ball = kind == FM_JOINT_SPHERICAL, loose = kind == FM_JOINT_FREE;
    const int fewer = kind == FM_JOINT_NONHOLONOMIC; /* fewer speeds than positions */
    const int32_t excited = m->joint_excited[joint], free = m->joint_nu[joint] - excited;
    switch (elements) {
    case FM_HAVE_TORQUED: return scalar || fewer ? free : ball || loose ? 3 : 0;
    case FM_HAVE_FORCED: return scalar ? free : loose ? 3 : 0;
    case FM_HAVE_COORDINATES:
    case FM_HAVE_RESTING: return scalar ? free : fewer ? m->joint_np[joint] - excited : 0;
    case FM_HAVE_RATES:
    case FM_HAVE_GEARED: return scalar ? free : 0;
    case FM_HAVE_NONHOLONOMIC: return fewer ? free : 0;
    case FM_HAVE_SPRUNG: return sprung(m, joint);
    case FM_HAVE_PROGRAMMED: return is_program(m, joint) ? excited : 0;
    default: return excited;
    }
}

/* How many components a kind of variable has for an element; 0 if that has no such variable. */
int32_t fm_components(const fm_image *m, int32_t kind, int32_t object)
{
    const int32_t elements = fm_kinds[kind].elements, components = fm_kinds[kind].components;
    switch (elements) {
    case FM_HAVE_EVERY:
    case FM_HAVE_NAMED:
    case FM_HAVE_DEFORMED: return components;
    case FM_HAVE_FLEXIBLE: return is_flexible(m, object) ? fm_link_positions(m, m->body_link[object]) : 0;
    case FM_HAVE_RIGID: return is_flexible(m, object) ? 0 : components;
    case FM_HAVE_TERMS: return m->coupling_count[object];
    case FM_HAVE_RUBBING: return m->friction_count[object];
    case FM_HAVE_PRESSED:
    case FM_HAVE_SCALED: return fm_control_place(m, kind, object) >= 0 ? components : 0;
    case FM_HAVE_CLOSED: return m->n.rows > 0 ? components : 0;
    case FM_HAVE_TURNING:
        return m->joint_kind[object] == FM_JOINT_SPHERICAL || m->joint_kind[object] == FM_JOINT_FREE ? components : 0;
    case FM_HAVE_FREE: return m->joint_kind[object] == FM_JOINT_FREE ? components : 0;
    default: break;
    }
    const int32_t own = joint_components(m, elements, object);
    return components > 0 && own > 0 ? components : own;
}

/* Whether an element has a component of a kind: that of an excited mode also by what moves it. */
int fm_has_component(const fm_image *m, int32_t kind, int32_t object, int32_t part)
{
    const int32_t components = fm_components(m, kind, object), elements = fm_kinds[kind].elements;
    if (components == 0 || part < -1 || part >= components || (part == -1 && components != 1)) return 0;
    if (elements < FM_HAVE_BY_ACCELERATION || elements > FM_HAVE_BY_POSITION) return 1;
    const int32_t by = m->excitation_kind[m->joint_excitation[object] + (part < 0 ? 0 : part)];
    if (elements == FM_HAVE_BY_POSITION) return by == FM_EXCITED_BY_POSITION;
    return (by == FM_EXCITED_BY_ACCELERATION) == (elements == FM_HAVE_BY_ACCELERATION);
}
