/* derivatives.c: Taylor coefficients of inputs, time derivatives of outputs, directional derivatives. */
#include "derivatives.h"

#include "../image/kinds.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../tree/general.h"
#include "../tree/kinematics.h"
#include "../tree/rate.h"
#include "../forces/excitation.h"
#include "../forces/laws.h"
#include "../forces/rope.h"
#include "../motion/friction.h"
#include "../motion/own_states.h"
#include "../motion/rates.h"
#include "../motion/required.h"
#include "../motion/scratch.h"
#include "../time/hosted.h"
#include "computed.h"
#include "continuous.h"
#include "differences.h"
#include "exact.h"
#include "places.h"
#include "response.h"
#include "update.h"
#include "values.h"

#include <math.h>
#include <string.h>

/* Fractions of the shortest time scale of the motion, as steps of differences in time. */
#define FM_WIDE 5e-3
#define FM_NEAR_STEP 6e-6
#define FM_ROUND_OFF 1e-12 /* relative, of values computed as small differences of large terms */

fm_status fm_do_set_input_derivatives(fm_instance *s, const uint32_t *reference, size_t count, const int32_t *order,
                                      const double *value)
{
    if (s->model.inverse && count > 0)
        return fm_refuse_reference(s, reference[0], "inverse dynamics has no input derivatives");
    for (size_t i = 0; i < count; i++) {
        if (fm_input_place(s, reference[i]) < 0)
            return fm_refuse_reference(s, reference[i], "only an input has input derivatives");
        if (order[i] < 1 || order[i] > FM_TAYLOR)
            return fm_refuse_reference(s, reference[i], "input derivatives have order 1 to 3");
        if (!isfinite(value[i])) return fm_refuse_reference(s, reference[i], "its derivative must be a finite number");
    }
    for (size_t i = 0; i < count; i++) {
        const int32_t place = fm_input_place(s, reference[i]), modes = s->image.n.modes, loads = 6 * s->image.n.loads;
        double *to = place < modes           ? s->tau_taylor + FM_TAYLOR * place
                     : place < modes + loads ? s->load_taylor + FM_TAYLOR * (place - modes)
                                             : s->control_taylor + FM_TAYLOR * (place - modes - loads);
        to[order[i] - 1] = value[i];
    }
    if (count > 0) {
        s->clock[FM_TAYLOR_ON] = 1.0;
        s->clock[FM_AHEAD] = 0.0;
    }
    return FM_OK;
}

static double quaternion_rate(fm_instance *s, int32_t kind, int32_t object, int32_t part)
{
    double q[4], w[3];
    for (int32_t i = 0; i < 4; i++) q[i] = fm_value(s, kind, object, i);
    for (int32_t i = 0; i < 3; i++) w[i] = fm_value(s, kind == FM_J_QUAT ? FM_J_W : FM_B_W, object, i);
    const double hand = kind == FM_J_QUAT ? 0.5 : -0.5; /* w in the moving axes, or in the world's */
    switch (part) {
    case 0: return -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
    case 1: return 0.5 * (q[0] * w[0]) + hand * (q[2] * w[2] - q[3] * w[1]);
    case 2: return 0.5 * (q[0] * w[1]) + hand * (q[3] * w[0] - q[1] * w[2]);
    default: return 0.5 * (q[0] * w[2]) + hand * (q[1] * w[1] - q[2] * w[0]);
    }
}

/* The rate of a position variable that is not itself a velocity variable. */
static double nonholonomic_rate(fm_instance *s, int32_t joint, int32_t part)
{
    double rate[FM_JOINT_MODES];
    const fm_link *k = s->link + s->image.joint_first[joint];
    fm_update(s, FM_VALID_WORLD);
    fm_general_rates(s->general + k->nth, s->y + s->image.n.positions + k->u, rate);
    return rate[part];
}

/* A value with the state advanced along its rates by time h. */
static double value_along(fm_instance *s, const double *kept, const double *rate, double t, double h, int32_t kind,
                          int32_t object, int32_t part)
{
    for (int32_t i = 0; i < s->model.ny; i++) s->y[i] = kept[i] + h * rate[i];
    s->clock[FM_TIME] = t + h;
    s->valid &= FM_VALID_LAWS;
    fm_update(s, fm_validity(&s->image, kind, object));
    return fm_value(s, kind, object, part);
}

/* Central differences along the rates of the state: of sixth order over 3 FM_WIDE of the shortest time scale, whose
 * round-off is smallest. If it disagrees with the second-order difference over FM_NEAR_STEP of that time by more than
 * the latter's round-off, the output is not smooth in between, as at a knot of a path or table, and the short
 * difference is used. */
static double rate_along_flow(fm_instance *s, int32_t kind, int32_t object, int32_t part)
{
    const int32_t ny = s->model.ny, positions = s->image.n.positions;
    double *kept = s->work.probe, *rate = s->work.probe + ny, far[3], largest = 0.0, fastest = 0.0;
    const double t = s->clock[FM_TIME];
    fm_update(s, FM_VALID_LAWS);
    memcpy(kept, s->y, (size_t)ny * sizeof(double));
    fm_rates(s, t, s->y, rate);
    const double unit = fmax(fm_rate_of(s, kept + positions), sqrt(fm_fastest(s, rate + positions)));
    for (int32_t i = 0; i < ny && unit > 0.0; i++)
        fastest = fmax(fastest, fabs(rate[i]) / fmax(fabs(kept[i]), s->scale[i] * (fm_is_speed(s, i) ? unit : 1.0)));
    const double shortest = unit > 0.0 ? 1.0 / fmax(fastest, unit) : s->options[FM_OPTION_STEP], h = FM_WIDE * shortest,
                 small = FM_NEAR_STEP * shortest;
    for (int j = 0; j < 3; j++) {
        const double after = value_along(s, kept, rate, t, (j + 1) * h, kind, object, part);
        const double before = value_along(s, kept, rate, t, -(j + 1) * h, kind, object, part);
        far[j] = after - before;
        largest = fmax(largest, fmax(fabs(after), fabs(before)));
    }
    const double after = value_along(s, kept, rate, t, small, kind, object, part);
    const double near = (after - value_along(s, kept, rate, t, -small, kind, object, part)) / (2.0 * small);
    memcpy(s->y, kept, (size_t)ny * sizeof(double));
    s->clock[FM_TIME] = t;
    s->valid &= FM_VALID_LAWS;
    const double wide = (45.0 * far[0] - 9.0 * far[1] + far[2]) / (60.0 * h);
    return fabs(wide - near) <= FM_ROUND_OFF * largest / small ? wide : near;
}

fm_status fm_do_get_output_derivatives(fm_instance *s, const uint32_t *reference, size_t count, const int32_t *order,
                                       double *value)
{
    const fm_image *m = &s->image;
    if (s->model.inverse && count > 0)
        return fm_refuse_reference(s, reference[0], "inverse dynamics has no output derivatives");
    for (size_t i = 0; i < count; i++) {
        fm_variable_info info;
        if (fm_variable(s, reference[i], &info) != FM_OK || info.causality != FM_OUTPUT || info.type != FM_REAL)
            return fm_refuse_reference(s, reference[i], "only a real output has output derivatives");
        if (order[i] != 1) return fm_refuse_reference(s, reference[i], "output derivatives have order 1");
    }
    for (size_t i = 0; i < count; i++) {
        const int32_t kind = m->variable_kind[reference[i]], object = m->variable_object[reference[i]];
        const int32_t component = m->variable_component[reference[i]], part = component < 0 ? 0 : component;
        const int32_t rate = fm_kind_rate(kind);
        double direction[3];
        if (kind == FM_J_Q && m->joint_kind[object] == FM_JOINT_NONHOLONOMIC) {
            value[i] = nonholonomic_rate(s, object, part);
        } else if (rate >= 0) {
            fm_update(s, fm_validity(m, rate, object));
            value[i] = fm_value(s, rate, object, part);
        } else if (kind == FM_J_QUAT || kind == FM_B_QUAT) {
            fm_update(s, FM_VALID_WORLD | fm_validity(m, kind, object));
            value[i] = quaternion_rate(s, kind, object, part);
        } else if (kind == FM_S_LENGTH) {
            fm_update(s, FM_VALID_WORLD);
            (void)fm_spring_line(s, object, direction, value + i);
        } else {
            value[i] = rate_along_flow(s, kind, object, part);
        }
    }
    return FM_OK;
}

/* Sorts seeds: those of inputs into work.seed, of states into hosted.toward; parameters stay in `along`. Sets
 * *inputs, *others where some are not zero. */
static fm_status sort_seeds(fm_instance *s, const fm_seeds *along, int *inputs, int *others)
{
    memset(s->work.seed, 0, (size_t)(s->image.n.modes + 6 * s->image.n.loads + s->image.n.controls) * sizeof(double));
    memset(s->hosted.toward, 0, (size_t)s->model.ny * sizeof(double));
    *inputs = *others = 0;
    for (size_t i = 0; i < along->knowns; i++) {
        const uint32_t known = along->known[i];
        const int32_t place = s->model.inverse ? -1 : fm_input_place(s, known), state = fm_any_state(s, known);
        if (place < 0 && state < 0 && fm_parameter_at(s, known) == NULL)
            return fm_refuse_reference(s, known,
                                       "derivatives are with respect to inputs, states and tunable parameters only");
        if (!isfinite(along->seed[i])) return fm_refuse_reference(s, known, "its seed must be a finite number");
        if (place >= 0) s->work.seed[place] += along->seed[i];
        if (state >= 0) s->hosted.toward[state] += along->seed[i];
        if (along->seed[i] != 0.0) *(place >= 0 ? inputs : others) = 1;
    }
    return FM_OK;
}

/* The response of an unknown to the inputs' seeds, after fm_respond. */
static double response_of(fm_instance *s, uint32_t unknown)
{
    const fm_image *m = &s->image;
    int32_t state = 0;
    const fm_beyond_kind beyond = fm_beyond(s, unknown, &state);
    if (beyond == FM_BEYOND_RATE)
        return fm_is_speed(s, state)       ? s->work.udot[state - m->n.positions]
               : state < s->model.bristles ? 0.0 /* of a position */
                                           : s->work.own_seed[state - s->model.bristles];
    if (beyond != FM_BEYOND_NOT) return 0.0;
    const int32_t kind = m->variable_kind[unknown], object = m->variable_object[unknown];
    const int32_t component = m->variable_component[unknown];
    if (kind == FM_FR_FORCE) return fm_friction_force_seed(s, object, component);
    if (kind == FM_FR_LOAD) return s->friction->load_seed[object] + s->friction->own_seed[object];
    if (fm_kinds[kind].follows == FM_FOLLOWS_OWN) return fm_element_seed(s, kind, object, component);
    if (kind == FM_ENERGY) return fm_rope_energy_seed(s);
    if (kind == FM_S_F) return fm_laws_on_spring(s, object, s->work.probe);
    if (kind == FM_LAW_SLIP || kind == FM_LAW_CLOSED || fm_kinds[kind].follows < FM_FOLLOWS_ACCELERATIONS) return 0.0;
    return fm_value(s, kind, object, component);
}

/* Whether links are at rest while the response of an unknown is computed: velocities add to accelerations, but multiply
 * forces in a power. */
static int is_at_rest(const fm_instance *s, uint32_t unknown)
{
    if (fm_beyond(s, unknown, NULL) != FM_BEYOND_NOT) return 1;
    return fm_kinds[s->image.variable_kind[unknown]].follows < FM_FOLLOWS_BALANCE;
}

/* Adds the response to the inputs' seeds in work.seed. */
static void add_response(fm_instance *s, const uint32_t *unknown, size_t unknowns, double *result)
{
    const fm_image *m = &s->image;
    double gravity[3];
    fm_update(s, FM_VALID_LAWS | (m->n.frictions > 0 ? FM_VALID_MOTION : 0));
    fm_laws_seed(s, s->work.seed + m->n.modes + 6 * m->n.loads);
    fm_friction_seed(s, s->work.seed + m->n.modes + 6 * m->n.loads);
    fm_excite_seed(s, s->work.seed);
    memcpy(s->work.control_seed, s->work.seed + m->n.modes + 6 * m->n.loads, (size_t)m->n.controls * sizeof(double));
    fm_own_seed(s);
    fm_respond(s, s->work.seed, s->work.seed + m->n.modes);
    memcpy(gravity, s->gravity, sizeof gravity);
    memset(s->gravity, 0, sizeof gravity);
    s->laws.off = FM_STICKING_LAWS;
    for (size_t i = 0; i < unknowns; i++)
        if (is_at_rest(s, unknown[i])) result[i] += response_of(s, unknown[i]);
    s->valid &= FM_VALID_LAWS;
    fm_update(s, FM_VALID_WORLD);
    for (size_t i = 0; i < unknowns; i++)
        if (!is_at_rest(s, unknown[i])) result[i] += response_of(s, unknown[i]);
    s->laws.off = FM_ALL_LAWS;
    memcpy(s->gravity, gravity, sizeof gravity);
}

/* By the response to inputs, and by differences for all others. 0: one is not finite. */
static int respond_and_differ(fm_instance *s, const fm_seeds *along, const uint32_t *unknown, size_t unknowns,
                              double *result)
{
    int inputs, others;
    if (sort_seeds(s, along, &inputs, &others) != FM_OK) return 0;
    memset(result, 0, unknowns * sizeof *result);
    if (others && !fm_differ(s, along, unknown, unknowns, result)) return 0;
    if ((inputs || !others) && !s->model.inverse) {
        fm_keep_pieces(s);
        add_response(s, unknown, unknowns, result);
    }
    return 1;
}

/* The same of those unknowns that have no exact derivative. *differed: how many there are. */
static int differ_left_out(fm_instance *s, const fm_seeds *along, const uint32_t *unknown, size_t unknowns,
                           size_t *differed, double *result)
{
    const size_t room = (size_t)s->model.ny + FM_UNKNOWNS;
    size_t count;
    *differed = 0;
    for (size_t first = 0, i = 0; i < unknowns; first = i, *differed += count) {
        for (count = 0; i < unknowns && count < room; i++)
            if (!fm_exact_covers(s, unknown[i])) s->hosted.differed[count++] = unknown[i];
        if (count == 0) continue;
        if (!respond_and_differ(s, along, s->hosted.differed, count, s->hosted.difference)) return 0;
        for (size_t k = first, n = 0; n < count; k++)
            if (unknown[k] == s->hosted.differed[n]) result[k] = s->hosted.difference[n++];
    }
    return 1;
}

fm_status fm_do_directional_derivative(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                       size_t knowns, const double *seed, double *result)
{
    const fm_seeds along = {known, seed, knowns};
    int inputs, others;
    if (s->model.inverse && fm_check_given(s) != FM_OK) return FM_ERROR;
    if (sort_seeds(s, &along, &inputs, &others) != FM_OK) return FM_ERROR;
    for (size_t i = 0; i < unknowns; i++) {
        fm_variable_info info;
        const fm_beyond_kind beyond = fm_beyond(s, unknown[i], NULL);
        if (fm_variable(s, unknown[i], &info) != FM_OK || beyond == FM_BEYOND_INDICATOR ||
            (beyond == FM_BEYOND_NOT && info.causality != FM_OUTPUT))
            return fm_refuse_reference(s, unknown[i], "only outputs and rates of states have derivatives");
    }
    fm_keep_pieces(s);
    size_t differed = 0;
    const int exact = fm_exact_fits(s, &along, unknown, unknowns);
    const int fits = !exact ? respond_and_differ(s, &along, unknown, unknowns, result)
                            : differ_left_out(s, &along, unknown, unknowns, &differed, result) &&
                                  (differed == 0 || fm_exact_fits(s, &along, unknown, unknowns)) &&
                                  fm_exact_forward(s, &along, unknown, unknowns, result);
    fm_end_smooth(s);
    if (!fits) return fm_say(s, FM_DISCARD, "a derivative is not finite at the present state");
    for (size_t i = 0; i < unknowns; i++) {
        const int32_t state = fm_any_state(s, unknown[i]);
        if (state >= 0) result[i] = s->hosted.toward[state];
    }
    return FM_OK;
}
