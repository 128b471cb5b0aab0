/* places.c: where variables are stored: inputs, states and parameters. */
#include "places.h"

#include "../image/kinds.h"
#include "../instance/instance.h"
#include "computed.h"

uint32_t fm_variable_count(const fm_instance *s)
{
    return (uint32_t)s->image.n.variables;
}

/* The free screw of a nonholonomic joint that a component belongs to. */
int32_t fm_screw_of(const fm_image *m, int32_t joint, int32_t component)
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
    return of + fm_screw_of(&s->image, joint, part);
}

/* Which of the coupled entries (table.h) a component of a joint's stiffness or damping is; -1: of its diagonal. */
int32_t fm_coupled_entry(const fm_image *m, int32_t kind, int32_t joint, int32_t component)
{
    const int32_t part = component - m->joint_nu[joint];
    if ((kind != FM_J_STIFFNESS && kind != FM_J_DAMPING) || m->joint_couplings[joint] == 0 || part < 0) return -1;
    return m->joint_coupled[joint] + part;
}

/* Position and velocity of a mode that follows a path: not states. */
int fm_follows_path(const fm_image *m, int32_t kind, int32_t joint, int32_t component)
{
    if (!fm_kinds[kind].state || fm_kinds[kind].elements != FM_HAVE_EXCITED) return 0;
    return m->excitation_kind[m->joint_excitation[joint] + (component < 0 ? 0 : component)] == FM_EXCITED_BY_PATH;
}

/* The location of a parameter, in its array. */
static double *stored_parameter(fm_instance *s, int32_t kind, int32_t object, int32_t part)
{
    const fm_image *m = &s->image;
    double *const of_screw = law_of_screw(s, kind, object, part);
    const int32_t entry = fm_kinds[kind].owner == FM_JOINT ? fm_coupled_entry(m, kind, object, part) : -1;
    if (of_screw != NULL) return of_screw;
    if (entry >= 0) return (kind == FM_J_STIFFNESS ? s->coupled_stiffness : s->coupled_damping) + entry;
    const int32_t mode = fm_kinds[kind].owner == FM_JOINT ? fm_mode_of(m, kind, object, part) : -1;
    if (kind == FM_RO_RADIUS) return s->pulley_radius + m->rope_pulley[object] + part;
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
    case FM_AT_OWN_STATE:
        return s->y + s->model.bristles + fm_kind_own_state(kind) +
               (kind == FM_M_CURRENT ? m->motor_state[object]
                : kind == FM_CT_Z    ? m->contact_state[object] + part
                : kind == FM_CT_TURN ? m->contact_turn[object] + part
                                     : m->cylinder_state[object]);
    case FM_AT_MODAL_POSITION: return s->y + m->link_p[m->body_link[object]] + part;
    case FM_AT_MODAL_SPEED: return speeds + m->link_u[m->body_link[object]] + part;
    case FM_AT_PARAMETER: return stored_parameter(s, kind, object, part);
    default: return NULL;
    }
}

/* The location of a variable that is stored; NULL for computed ones. */
double *fm_stored(fm_instance *s, int32_t kind, int32_t object, int32_t component)
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
    const double *at = fm_stored(s, kind, m->variable_object[reference], m->variable_component[reference]);
    switch (fm_kinds[kind].place) {
    case FM_AT_TAU: return (int32_t)(at - s->tau);
    case FM_AT_CONTROL: return (int32_t)(m->n.modes + 6 * m->n.loads + (at - s->control));
    default: return (int32_t)(m->n.modes + (at - s->load));
    }
}

/* The element of the state where a component of a kind is stored, -1 if it is stored elsewhere or computed. */
int32_t fm_place_of(fm_instance *s, int32_t kind, int32_t object, int32_t component)
{
    if (kind < 0 || kind >= FM_KIND_COUNT || !fm_kinds[kind].state) return -1;
    const double *at = fm_stored(s, kind, object, component);
    return at == NULL ? -1 : (int32_t)(at - s->y);
}
