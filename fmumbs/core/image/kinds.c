/* kinds.c: the kinds of variables as a table, and which elements have them. */
#include "kinds.h"

#include "../maths/rotations.h"
#include "image.h"
#include "joints.h"

#include <string.h>

enum {
#define R(name, causality, type, tunable, state) \
    CAUSALITY_##name = causality, TYPE_##name = type, TUNABLE_##name = tunable, STATE_##name = state,
    FM_ROLES(R)
#undef R
};

/* The columns that a given motion has from the kind that it is like. */
#define G(id, like)
enum {
#define K(id, owner, suffix, components, role, elements, place, needs, follows, unit, linear, text) \
    OWNER_##id = FM_##owner, COMPONENTS_##id = components, ELEMENTS_##id = FM_HAVE_##elements, \
    PLACE_##id = FM_AT_##place,
    FM_KINDS(K, G)
#undef K
};
#define K(id, owner, suffix, components, role, elements, place, needs, follows, unit, linear, text) \
    static const char suffix_##id[] = suffix, unit_##id[] = unit, linear_##id[] = linear, text_##id[] = text, \
                      owner_##id[] = #owner;
FM_KINDS(K, G)
#undef K
#undef G

const fm_kind_info fm_kinds[FM_KIND_COUNT] = {
#define ROW(id, like, role, follows) \
    {suffix_##like,       unit_##like,         linear_##like,     text_##like,  OWNER_##like, \
     CAUSALITY_##role,    TYPE_##role,         TUNABLE_##role,    STATE_##role, owner_##like, \
     COMPONENTS_##like,   ELEMENTS_##like,     PLACE_##like,      FM_FOLLOWS_##follows, FM_##id >= FM_FIRST_INVERSE},
#define K(id, owner, suffix, components, role, elements, place, needs, follows, unit, linear, text) \
    ROW(id, id, role, follows)
#define G(id, like) ROW(id, like, INPUT, NOTHING)
    FM_KINDS(K, G)
#undef K
#undef G
#undef ROW
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

/* The place among the controls of an input of a force element, a friction or a law; -1 if it has none. */
int32_t fm_control_place(const fm_image *m, int32_t kind, int32_t object)
{
    switch (kind) {
    case FM_FR_NORMAL: return m->friction_pressed[object];
    case FM_FR_SCALED: return m->friction_scaled[object];
    case FM_LAW_SCALED: return m->law_scaled[object];
    case FM_M_VOLTAGE: return m->motor_voltage[object];
    case FM_CY_FLOW_A: return m->cylinder_flow_A[object];
    case FM_CY_FLOW_B: return m->cylinder_flow_B[object];
    case FM_CY_OPENING: return m->cylinder_opening[object];
    case FM_RO_LENGTH_IN: return m->rope_winch[object];
    default: return m->actuator_force[object];
    }
}

/* Capital letters are axes that turn with the body, small ones fixed axes. */
int32_t fm_euler_sequence(const char *word)
{
    static const char *const letters[2] = {"XYZ", "xyz"};
    for (int32_t sequence = 1; sequence <= FM_EULER_CODES; sequence++) {
        int32_t axis[3], fixed, same = 0;
        if (!fm_euler_axes(sequence, axis, &fixed)) continue;
        while (same < 3 && word[same] == letters[fixed][axis[same]]) same++;
        if (same == 3 && word[3] == 0) return sequence;
    }
    return 0;
}

/* Which own state of its element a kind is: they follow one another in the order of their kinds. */
int32_t fm_kind_own_state(int32_t kind)
{
    int32_t before = 0;
    while (kind > before && fm_kinds[kind - before - 1].place == FM_AT_OWN_STATE &&
           fm_kinds[kind - before - 1].owner == fm_kinds[kind].owner)
        before++;
    return before;
}

/* How many laws watch a spot: with bristles their limit too, and those of rolling and drilling. */
int32_t fm_spot_laws(const fm_image *m, int32_t spot)
{
    const int32_t c = m->spot_contact[spot];
    return m->contact_turn[c] >= 0 ? FM_SPOT_LAWS : m->contact_state[c] >= 0 ? FM_SPOT_ROLLS : FM_SPOT_SLIPS;
}

/* Whether a contact rubs by Coulomb's law. */
static int is_dry(int32_t rubs)
{
    return rubs == FM_RUBS_BY_BRISTLES || rubs == FM_RUBS_SMOOTHLY;
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

/* Whether all free modes of a joint in the tree are screws with a rotor. */
static int is_geared(const fm_image *m, int32_t joint)
{
    int32_t screws = 0;
    for (int32_t i = m->joint_first[joint]; i >= 0 && i <= m->joint_last[joint]; i++)
        screws += m->link_joint[i] == joint && m->link_kind[i] == FM_LINK_SCREW;
    return screws == m->joint_nu[joint] - m->joint_excited[joint];
}

/* How many components a kind of variable has for an element; 0 if that has no such variable. */
int32_t fm_components(const fm_image *m, int32_t kind, int32_t object)
{
    const int32_t elements = fm_kinds[kind].elements, components = fm_kinds[kind].components;
    switch (elements) {
    case FM_HAVE_EVERY: return fm_kinds[kind].owner == FM_LAW && m->law_side[object] >= 0 ? 0 : components;
    case FM_HAVE_SIDES: return m->rope_sides[object];
    case FM_HAVE_REEVED: return m->rope_pulleys[object];
    case FM_HAVE_WOUND:
    case FM_HAVE_UNWOUND: return (m->rope_winch[object] >= 0) == (elements == FM_HAVE_WOUND) ? components : 0;
    case FM_HAVE_NAMED:
    case FM_HAVE_DEFORMED: return components;
    case FM_HAVE_STEADY: return m->load_axes[object] == FM_WORLD_AXES ? components : 0;
    case FM_HAVE_FOLLOWER: return m->load_axes[object] == FM_POINT_AXES ? components : 0;
    case FM_HAVE_FLEXIBLE: return is_flexible(m, object) ? fm_link_positions(m, m->body_link[object]) : 0;
    case FM_HAVE_RIGID: return is_flexible(m, object) ? 0 : components;
    case FM_HAVE_ORIENTED: return m->body_euler[object] != 0 ? components : 0;
    case FM_HAVE_TERMS: return m->coupling_count[object];
    case FM_HAVE_CAMS: return fm_is_cam(m, object) ? components : 0;
    case FM_HAVE_RUBBING: return m->friction_count[object];
    case FM_HAVE_PRESSED:
    case FM_HAVE_SCALED: return fm_control_place(m, kind, object) >= 0 ? components : 0;
    case FM_HAVE_INDUCTIVE: return m->motor_state[object] >= 0 ? components : 0;
    case FM_HAVE_RESISTIVE: return m->motor_state[object] < 0 ? components : 0;
    case FM_HAVE_FLOWING: return m->cylinder_opening[object] < 0 ? components : 0;
    case FM_HAVE_VALVED: return m->cylinder_opening[object] >= 0 ? components : 0;
    case FM_HAVE_SPOTS: return m->contact_spots[object];
    case FM_HAVE_SPOT_PLACES: return 3 * m->contact_spots[object];
    case FM_HAVE_BRISTLED: return m->contact_state[object] >= 0 ? 3 * m->contact_spots[object] : 0;
    case FM_HAVE_RUBBED: return m->contact_rubs[object] != FM_RUBS_NOT ? components : 0;
    case FM_HAVE_BRUSHED: return m->contact_rubs[object] == FM_RUBS_BY_BRISTLES ? components : 0;
    case FM_HAVE_CREEPING: return m->contact_rubs[object] == FM_RUBS_SMOOTHLY ? components : 0;
    case FM_HAVE_DRY: return is_dry(m->contact_rubs[object]) ? components : 0;
    case FM_HAVE_DAMPED: return m->contact_state[object] >= 0 ? components : 0;
    case FM_HAVE_TYRED: return m->contact_rubs[object] == FM_RUBS_AS_TYRE ? components : 0;
    case FM_HAVE_ROLLING: return m->contact_turn[object] >= 0 ? components : 0;
    case FM_HAVE_ROLLING_SPOTS: return m->contact_turn[object] >= 0 ? m->contact_spots[object] : 0;
    case FM_HAVE_ROLLED: return m->contact_turn[object] >= 0 ? 3 * m->contact_spots[object] : 0;
    case FM_HAVE_ROTATING: return is_geared(m, m->motor_joint[object]) ? components : 0;
    case FM_HAVE_CUT: return m->motor_voltage_law[object] >= 0 ? components : 0;
    case FM_HAVE_CURBED: return m->motor_current_law[object] >= 0 ? components : 0;
    case FM_HAVE_LOSSY: return m->motor_loss_law[object] >= 0 ? components : 0;
    case FM_HAVE_LOSSLESS: return m->motor_loss_law[object] < 0 ? components : 0;
    case FM_HAVE_SOFT: return m->law_hard[object] || m->law_side[object] >= 0 ? 0 : components;
    case FM_HAVE_HARD: return m->law_hard[object] ? components : 0;
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

/* Whether a joint's only free mode is a translation: its input is a force. */
static int pushes(const fm_image *m, int32_t joint)
{
    return m->joint_nu[joint] - m->joint_excited[joint] == 1 && m->mode_linear[m->joint_u[joint]] == 1;
}

static int any(const double *values, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (values[i] != 0.0) return 1;
    return 0;
}

/* Whether a mode of a free or nonholonomic joint has a spring or a damper; those of others may always get one. */
static int is_sprung(const fm_image *m, int32_t joint)
{
    const int32_t u = m->joint_u[joint];
    if (m->joint_kind[joint] == FM_JOINT_FREE) return any(m->stiffness + u, 6) || any(m->damping + u, 6);
    if (m->joint_kind[joint] != FM_JOINT_NONHOLONOMIC) return 1;
    const int32_t general = m->link_general[m->joint_first[joint]];
    const int32_t first = m->general_screw[general], count = m->general_screws[general];
    return any(m->screw_stiffness + first, count) || any(m->screw_damping + first, count);
}

/* Of fm_components those that are listed: no points without a name, which only carry a spring or a load, one name for
 * an input that is a force or a torque, and none for what is always zero. */
static int32_t listed_components(const fm_image *m, int32_t kind, int32_t object)
{
    const int32_t elements = fm_kinds[kind].elements, all = fm_components(m, kind, object);
    const int scalar = fm_kinds[kind].owner == FM_JOINT && m->joint_kind[object] == FM_JOINT_SCALAR;
    int is_listed = fm_kinds[kind].owner != FM_LAW || /* laws of gears, valves, limits and contacts are not shown */
                    (m->law_gear[object] < 0 && m->law_cylinder[object] < 0 && m->law_motor[object] < 0 &&
                     m->law_spot[object] < 0) ||
                    (fm_law_is_loss(m, object) && fm_kinds[kind].causality == FM_OUTPUT);
    switch (elements) {
    case FM_HAVE_NAMED: is_listed = m->text[m->point_name[object]] != 0; break;
    case FM_HAVE_DEFORMED: is_listed = any(m->mode_strain, m->n.modes); break;
    case FM_HAVE_FORCED: is_listed = !scalar || pushes(m, object); break;
    case FM_HAVE_TORQUED: is_listed = !scalar || !pushes(m, object); break;
    case FM_HAVE_GEARED: is_listed = all > 0 && is_geared(m, object); break;
    case FM_HAVE_RESTING: is_listed = all > 0 && is_sprung(m, object); break;
    case FM_HAVE_SPRUNG: return is_sprung(m, object) ? all : m->joint_couplings[object];
    default: break;
    }
    return is_listed ? all : 0;
}

static int32_t number_of(const fm_image *m, int32_t owner)
{
    switch (owner) {
#define O(id, one, all) case FM_##id: return m->n.all;
        FM_OWNERS(O)
#undef O
    default: return 1;
    }
}

int32_t fm_list_variables(const void *const *arrays, const int32_t *sizes, const int32_t *kinds, int32_t kinds_count,
                          int32_t *kind, int32_t *element, int32_t *component)
{
    int32_t count = 0;
    fm_image m;
    memset(&m, 0, sizeof m);
    memcpy(&m.n, sizes, sizeof m.n);
#define A(name, type, columns, rows, bound, lowest, unit, section) m.name = *arrays++;
    FM_IMAGE_ARRAYS(A)
#undef A
    for (int32_t j = 0; j < kinds_count; j++) {
        const int32_t number = number_of(&m, fm_kinds[kinds[j]].owner);
        for (int32_t i = 0; i < number; i++) {
            const int32_t width = listed_components(&m, kinds[j], i);
            for (int32_t k = 0; k < width; k++) {
                const int32_t part = width == 1 ? -1 : k;
                if (!fm_has_component(&m, kinds[j], i, part)) continue;
                if (kind != NULL) kind[count] = kinds[j], element[count] = i, component[count] = part;
                count++;
            }
        }
    }
    return count;
}

/* Whether a variable is one of excited modes. */
int fm_is_excited(int32_t kind)
{
    return fm_kinds[kind].elements >= FM_HAVE_EXCITED && fm_kinds[kind].elements <= FM_HAVE_PROGRAMMED;
}

/* The velocity variable that a component of a joint's variable belongs to. */
int32_t fm_mode_of(const fm_image *m, int32_t kind, int32_t joint, int32_t component)
{
    const int32_t part = component < 0 ? 0 : component, elements = fm_kinds[kind].elements;
    if (fm_is_excited(kind)) {
        const int32_t mode = m->joint_excitation[joint] + part;
        return kind == FM_J_DRIVE && m->excitation_drive[mode] >= 0 ? m->excitation_drive[mode] : m->excitation_u[mode];
    }
    const int turning = elements == FM_HAVE_TORQUED || elements == FM_HAVE_TURNING;
    return m->joint_u[joint] + part + (m->joint_kind[joint] == FM_JOINT_FREE && turning ? 3 : 0);
}

/* Where in tau, or after it in the loads, the force of a variable is that inverse dynamics asks for; -1: it is none. */
int32_t fm_required_place(const fm_image *m, int32_t kind, int32_t object, int32_t component)
{
    const int32_t part = component < 0 ? 0 : component;
    switch (kind) {
    case FM_R_TAU:
    case FM_R_F:
    case FM_R_DRIVE: return fm_mode_of(m, kind, object, part);
    case FM_R_B_F: return m->link_u[m->body_link[object]] + part;
    case FM_R_L_FORCE: return m->n.modes + 6 * object + part;
    case FM_R_L_TORQUE: return m->n.modes + 6 * object + 3 + part;
    default: return -1;
    }
}
