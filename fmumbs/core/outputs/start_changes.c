/* start_changes.c: the start values that assembly changed; names of coordinates. */
#include "start_changes.h"
#include "../maths/text.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "../loops/cut_joints.h"
#include "../assembly/scratch.h"
#include "../assembly/units.h"
#include "update.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FM_ALTERED 1e-9     /* [rad], or relative to the model's length: a smaller change does not count */

/* The variable's suffix and its index in the joint's variables; `part` -1: it has no index. */
static const char *suffix_of(const fm_instance *s, int level, int32_t u, int32_t joint, int32_t *part)
{
    const fm_image *m = &s->image;
    const int32_t kind = m->joint_kind[joint], free = m->joint_nu[joint] - m->joint_excited[joint];
    *part = u - m->joint_u[joint];
    switch (kind) {
    case FM_JOINT_SPHERICAL:
    case FM_JOINT_FREE:
        if (kind == FM_JOINT_FREE && *part < 3) return level == FM_POSITIONS ? "r" : "v";
        *part = level == FM_POSITIONS ? -1 : *part % 3;
        return level == FM_POSITIONS ? "q" : "w";
    case FM_JOINT_NONHOLONOMIC:
        if (level == FM_POSITIONS) *part = -1;
        return level == FM_POSITIONS ? "q" : "u";
    default:
        if (free == 1) *part = -1;
        return level == FM_POSITIONS ? "q" : "qd";
    }
}

static void name_variable(const fm_instance *s, int level, int32_t u, char *out, size_t capacity)
{
    const fm_image *m = &s->image;
    const int32_t link = fm_is_of_cut_joint(s, u) ? -1 : s->assembly->link[u];
    int32_t joint = link < 0 ? s->assembly->link[u] : m->link_joint[link], part, body = 0;
    const char *owner = m->text + m->joint_name[joint], *suffix;
    if (link >= 0 && s->link[link].kind == FM_LINK_MODAL) {
        while (m->body_link[body] != link) body++;
        owner = m->text + m->body_name[body];
        suffix = level == FM_POSITIONS ? "q" : "qd";
        part = fm_link_speeds(m, link) > 1 ? u - s->link[link].u : -1;
    } else {
        suffix = suffix_of(s, level, u, joint, &part);
    }
    if (part < 0) (void)fm_print(out, capacity, "%.80s.%s", owner, suffix);
    else (void)fm_print(out, capacity, "%.80s.%s[%ld]", owner, suffix, (long)part + 1);
}

/* Says which deformation left the linear range; returns it, 0: none did. */
double fm_say_deformation(const fm_instance *s, char *out, size_t capacity)
{
    const int32_t u = (int32_t)s->clock[FM_DEFORMED_MODE];
    const double strain = s->clock[FM_DEFORMED], bound = s->options[FM_OPTION_DEFORMATION];
    char name[100];
    if (!(strain > 0.0)) return 0.0;
    name_variable(s, FM_POSITIONS, u, name, sizeof name);
    const int modal = !fm_is_of_cut_joint(s, u) && s->link[s->assembly->link[u]].kind == FM_LINK_MODAL;
    (void)fm_print(out, capacity,
                   "a deformation leaves the linear range: at t = %.6g s %s makes a rotation or strain of %.4g, "
                   "and solver.deformation is %g. %s",
                   s->clock[FM_DEFORMED_AT], name, strain, bound,
                   modal ? "Make this body a FlexibleLink, which may turn and bend as far as it likes"
                         : "Give this flexible link more elements");
    return strain;
}

void fm_name_position(const fm_instance *s, int32_t u, char *out, size_t capacity)
{
    name_variable(s, FM_POSITIONS, u, out, capacity);
}

/* Names the coordinate that moves most in a displacement, in radians and in lengths of the model: of an orientation and
 * of a nonholonomic joint the velocity variable. */
void fm_name_moving(const fm_instance *s, const double *v, char *out, size_t capacity)
{
    int32_t most = 0;
    for (int32_t u = 1; u < s->image.n.speeds; u++)
        if (fabs(v[u]) > fabs(v[most])) most = u;
    const int32_t kind = s->link[s->assembly->link[most]].kind;
    const int turns = kind == FM_LINK_SPHERICAL || kind == FM_LINK_GENERAL;
    name_variable(s, turns ? FM_VELOCITIES : FM_POSITIONS, most, out, capacity);
}

/* The given and the present values of a unit (units.c). */
static void compare_unit(const fm_instance *s, int level, int32_t u, fm_start_change *out)
{
    const fm_image *m = &s->image;
    const double *given, *value;
    int32_t first = m->n.positions + u;
    fm_coordinates at;
    out->count = 1;
    if (fm_is_of_cut_joint(s, u)) {
        const int32_t joint = s->assembly->link[u], part = u - m->joint_u[joint];
        out->count = fm_cut_joint_part(m, joint, part, &first) < 0 || level == FM_VELOCITIES ? 1 : 4;
        fm_cut_joint_coordinates(s, joint, 0, &at);
        given = level == FM_POSITIONS ? m->cut_start + first : m->cut_start_u + (u - m->n.speeds);
        value = level == FM_POSITIONS ? at.p + (first - m->joint_p[joint]) : at.u + part;
    } else {
        if (level == FM_POSITIONS) out->count = fm_unit_positions(s, u, &first);
        given = s->guess + first, value = s->y + first;
    }
    memcpy(out->given, given, (size_t)out->count * sizeof *given);
    memcpy(out->value, value, (size_t)out->count * sizeof *value);
}

static int is_ball(const fm_instance *s, int32_t u)
{
    const int32_t of = s->assembly->link[u];
    int32_t at;
    if (fm_is_of_cut_joint(s, u)) return fm_cut_joint_part(&s->image, of, u - s->image.joint_u[of], &at) >= 0;
    return s->link[of].kind == FM_LINK_SPHERICAL;
}

static int is_changed(const fm_instance *s, int32_t u, fm_start_change *c)
{
    double product = 0.0, square = 0.0, off = 0.0;
    const double least = FM_ALTERED * (s->image.mode_linear[u] ? s->image.length[0] : 1.0);
    for (int32_t j = 0; j < c->count; j++) product += c->given[j] * c->value[j], square += c->given[j] * c->given[j];
    const double scale =
        c->count == 4 && is_ball(s, u) && square > 0.0 ? (product < 0.0 ? -1.0 : 1.0) / sqrt(square) : 1.0;
    for (int32_t j = 0; j < c->count; j++) off = fmax(off, fabs(scale * c->given[j] - c->value[j]));
    return !(off <= least);
}

size_t fm_start_changes(fm_instance *s, fm_start_change *change, size_t capacity)
{
    size_t found = 0;
    if (s->image.n.rows == 0 || s->clock[FM_ASSEMBLED] == 0.0 || s->options[FM_OPTION_EQUILIBRIUM] != 0.0) return 0;
    fm_update(s, FM_VALID_WORLD);
    for (int pass = 0; pass < 4; pass++)
        for (int32_t i = 0; i < s->image.n.modes; i++) {
            const int level = pass % 2, set = pass < 2;
            const int32_t u = s->assembly->order[i];
            fm_start_change one;
            if (fm_unit_modes(s, level, u) == 0 || !fm_unit_in_loop(s, u) || set != fm_is_set(s, level, u)) continue;
            if (!set && !fm_is_given(s, level, u)) continue;
            compare_unit(s, level, u, &one);
            if (!is_changed(s, u, &one)) continue;
            if (found < capacity) {
                name_variable(s, level, u, one.name, sizeof one.name);
                one.unit = s->image.mode_linear[u] ? "m" : "rad";
                if (level == FM_VELOCITIES) one.unit = s->image.mode_linear[u] ? "m/s" : "rad/s";
                else if (one.count > 1) one.unit = "";
                one.set = set, one.velocity = level;
                one.mode = u, one.modes = fm_unit_modes(s, level, u);
                change[found] = one;
            }
            found++;
        }
    return found;
}
