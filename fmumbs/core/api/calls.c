/* calls.c: the public functions that compute, each in the core's floating-point mode (float_mode.h).
 *
 * The work of fm_step is done by fm_do_step, and so on, in other files, so that the compiler cannot move operations out
 * of the mode.
 */
#include "../maths/float_mode.h"
#include "../forces/cylinder.h"
#include "../forces/missed.h"
#include "../instance/host.h"
#include "../image/bounds.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../motion/required.h"
#include "../motion/rules.h"
#include "../outputs/continuous.h"
#include "../outputs/derivatives.h"
#include "../outputs/exact.h"
#include "../outputs/loop_values.h"
#include "../outputs/poses.h"
#include "../outputs/start_changes.h"
#include "../outputs/places.h"
#include "../outputs/values.h"
#include "../tree/rate.h"
#include "../time/hosted.h"
#include "../statics/scratch.h"
#include "../statics/tangent.h"
#include "assemble.h"
#include "open.h"
#include "state.h"
#include "step.h"

#include <string.h>

static int settled(fm_instance *s)
{
    return fm_settle(s) == FM_OK;
}

fm_status fm_open(const void *image, size_t bytes, fm_instance **out, char *message, size_t capacity)
{
    const fm_float_mode host = fm_float_enter();
    const fm_status status = fm_do_open(image, bytes, 0, out, message, capacity);
    fm_float_leave(host);
    return status;
}

fm_status fm_open_with_derivatives(const void *image, size_t bytes, fm_instance **out, char *message, size_t capacity)
{
    const fm_float_mode host = fm_float_enter();
    const fm_status status = fm_do_open(image, bytes, 1, out, message, capacity);
    fm_float_leave(host);
    return status;
}

fm_status fm_reset(fm_instance *s)
{
    fm_enter(s);
    return fm_leave(s, fm_do_reset(s));
}

fm_status fm_assemble(fm_instance *s, double t)
{
    fm_enter(s);
    return fm_leave(s, fm_do_assemble(s, t));
}

int32_t fm_speed_count(const fm_instance *s)
{
    return s->image.n.speeds;
}

fm_status fm_tangent(fm_instance *s, double step, const double *direction, double *out)
{
    fm_enter(s);
    return fm_leave(s, settled(s) ? fm_do_tangent(s, step, direction, out) : FM_DISCARD);
}

fm_status fm_flexibility(fm_instance *s, const double *direction, double *out)
{
    fm_enter(s);
    return fm_leave(s, settled(s) ? fm_do_flexibility(s, direction, out) : FM_DISCARD);
}

int32_t fm_equilibrium_found(const fm_instance *s, double *evaluations)
{
    *evaluations = s->statics->evaluations;
    return s->statics->method;
}

double fm_departure(const fm_instance *s, char *name, size_t capacity)
{
    if (capacity > 0) name[0] = 0;
    if (s->statics->growth > 0.0 && !s->statics->vibrates) fm_name_moving(s, s->statics->motion, name, capacity);
    return s->statics->growth;
}

double fm_deformation(const fm_instance *s, char *message, size_t capacity)
{
    if (capacity > 0) message[0] = 0;
    const fm_float_mode host = fm_float_enter();
    const double found = fm_say_deformation(s, message, capacity);
    fm_float_leave(host);
    return found;
}

/* Whether something is to be told of the run, and its sentence. */
static int told(const fm_instance *s, int (*say)(const fm_instance *, char *, size_t), char *message, size_t capacity)
{
    if (capacity > 0) message[0] = 0;
    const fm_float_mode host = fm_float_enter();
    const int found = say(s, message, capacity);
    fm_float_leave(host);
    return found;
}

int fm_cavitation(const fm_instance *s, char *message, size_t capacity)
{
    return told(s, fm_say_cavitation, message, capacity);
}

int fm_missed_contact(const fm_instance *s, char *message, size_t capacity)
{
    return told(s, fm_say_missed, message, capacity);
}

int32_t fm_lock_count(const fm_instance *s)
{
    return s->statics->locks;
}

double fm_lock(const fm_instance *s, int32_t index, char *name, size_t capacity)
{
    fm_name_position(s, s->statics->locked[index], name, capacity);
    return s->statics->holds[index];
}

fm_status fm_check_inertia(fm_instance *s)
{
    fm_enter(s);
    return fm_leave(s, fm_do_check_inertia(s));
}

fm_status fm_check_parameters(fm_instance *s)
{
    fm_enter(s);
    return fm_leave(s, fm_check_rules(s, FM_ERROR));
}

int fm_value_fits(int32_t kind, int diagonal, double value, char *why, size_t capacity)
{
    const fm_float_mode host = fm_float_enter();
    const int found = kind >= 0 && kind < FM_KIND_COUNT && fm_fits(kind, diagonal, value, why, capacity);
    fm_float_leave(host);
    return found;
}

int fm_inertia_fits(const double inertia[6], int measured, char *why, size_t capacity)
{
    const fm_float_mode host = fm_float_enter();
    const int found = fm_solid_fits(inertia, measured, why, capacity);
    fm_float_leave(host);
    return found;
}

int fm_matrix_fits(const double *matrix, int32_t n)
{
    const fm_float_mode host = fm_float_enter();
    double a[36];
    const int32_t size = n >= 0 && n <= 6 ? n * n : 0;
    for (int32_t i = 0; i < size; i++) a[i] = matrix[i];
    const int found = size == n * n && !fm_has_negative(a, n);
    fm_float_leave(host);
    return found;
}

fm_status fm_step(fm_instance *s, double t_end)
{
    fm_enter(s);
    return fm_leave(s, fm_do_step(s, t_end));
}

fm_status fm_run(fm_instance *s, const double *times, size_t count, const uint32_t *reference, size_t width,
                 double *values, const size_t step[2], double *positions, size_t *rows)
{
    fm_enter(s);
    return fm_leave(s, fm_do_run(s, times, count, reference, width, values, step, positions, rows));
}

int32_t fm_continuous_count(const fm_instance *s)
{
    return s->hosted.states;
}

int32_t fm_continuous_place(fm_instance *s, uint32_t reference)
{
    const int32_t place = fm_state_place(s, reference);
    return place < 0 ? -1 : s->hosted.state[place];
}

int32_t fm_continuous_of(fm_instance *s, int32_t kind, int32_t object, int32_t component)
{
    const int32_t place = fm_place_of(s, kind, object, component);
    return place < 0 ? -1 : s->hosted.state[place];
}

void fm_nominals(const fm_instance *s, double *nominal)
{
    const double rate = fm_nominal_rate(s);
    for (int32_t i = 0; i < s->hosted.states; i++) {
        const int32_t place = s->hosted.place[i];
        nominal[i] = s->scale[place] * (fm_is_speed(s, place) ? rate : 1.0);
    }
}

void fm_get_continuous(const fm_instance *s, double *x)
{
    for (int32_t i = 0; i < s->hosted.states; i++) x[i] = s->y[s->hosted.place[i]];
}

fm_status fm_set_continuous(fm_instance *s, double t, const double *x)
{
    fm_enter(s);
    return fm_leave(s, fm_do_set_continuous(s, t, x));
}

fm_status fm_continuous_rates(fm_instance *s, double *rates)
{
    fm_enter(s);
    return fm_leave(s, settled(s) ? fm_do_continuous_rates(s, rates) : FM_DISCARD);
}

size_t fm_positions(fm_instance *s, double *positions, size_t capacity)
{
    fm_enter(s);
    const int closed = settled(s);
    (void)fm_leave(s, FM_OK);
    return closed ? fm_read_positions(s, positions, capacity) : 0;
}

size_t fm_tree_state(fm_instance *s, double *y, size_t capacity)
{
    const size_t size = (size_t)s->model.ny;
    fm_enter(s);
    const int closed = settled(s);
    (void)fm_leave(s, FM_OK);
    if (!closed) return 0;
    if (capacity >= size) memcpy(y, s->y, size * sizeof *y);
    return size;
}

fm_status fm_set_tree_state(fm_instance *s, const double *y)
{
    fm_enter(s);
    return fm_leave(s, fm_do_set_tree_state(s, y));
}

fm_status fm_tree_rates(fm_instance *s, double *rates, size_t capacity)
{
    const size_t size = (size_t)s->model.ny;
    fm_enter(s);
    if (capacity < size)
        return fm_leave(s, fm_say(s, FM_ERROR, "the tree state has %lu rates: there is room for %lu",
                                  (unsigned long)size, (unsigned long)capacity));
    return fm_leave(s, settled(s) ? fm_do_tree_rates(s, rates) : FM_DISCARD);
}

size_t fm_tree_nominals(const fm_instance *s, double *nominal, size_t capacity)
{
    const size_t size = (size_t)s->model.ny;
    if (capacity >= size) memcpy(nominal, s->scale, size * sizeof *nominal);
    return size;
}

int32_t fm_indicator_count(const fm_instance *s)
{
    return fm_count_indicators(s);
}

fm_status fm_indicators(fm_instance *s, double *indicator)
{
    fm_enter(s);
    return fm_leave(s, settled(s) ? fm_do_indicators(s, indicator) : FM_DISCARD);
}

fm_status fm_completed_step(fm_instance *s, int32_t *event)
{
    fm_enter(s);
    return fm_leave(s, fm_do_completed_step(s, event));
}

fm_status fm_update_events(fm_instance *s, fm_events *events)
{
    fm_enter(s);
    return fm_leave(s, settled(s) ? fm_do_update_events(s, events) : FM_DISCARD);
}

fm_status fm_evaluate(fm_instance *s, size_t times)
{
    fm_enter(s);
    return fm_leave(s, settled(s) ? fm_do_evaluate(s, times) : FM_DISCARD);
}

size_t fm_jacobian(fm_instance *s, double *J, size_t capacity)
{
    fm_enter(s);
    const size_t size = settled(s) ? fm_do_jacobian(s, J, capacity) : 0;
    (void)fm_leave(s, FM_OK);
    return size;
}

size_t fm_violations(fm_instance *s, double *c, size_t capacity)
{
    fm_enter(s);
    const size_t size = settled(s) ? fm_do_violations(s, c, capacity) : 0;
    (void)fm_leave(s, FM_OK);
    return size;
}

fm_status fm_required_forces(fm_instance *s, size_t count, int applied, const double *positions, const double *speeds,
                             const double *accelerations, double *forces)
{
    fm_enter(s);
    return fm_leave(s, fm_do_required_forces(s, count, applied, positions, speeds, accelerations, forces));
}

fm_status fm_actuated_forces(fm_instance *s, size_t count, const double *positions, const double *speeds,
                             const double *accelerations, double *forces)
{
    fm_enter(s);
    return fm_leave(s, fm_do_actuated_forces(s, count, positions, speeds, accelerations, forces));
}

fm_status fm_mass_matrix(fm_instance *s, size_t count, const double *positions, double *mass)
{
    fm_enter(s);
    return fm_leave(s, fm_do_mass_matrix(s, count, positions, mass));
}

fm_status fm_point_jacobian(fm_instance *s, size_t count, const double *positions, int32_t link, const double r[3],
                            double *J)
{
    fm_enter(s);
    return fm_leave(s, fm_do_point_jacobian(s, count, positions, link, r, J));
}

fm_status fm_momenta(fm_instance *s, size_t count, const double *positions, const double *speeds, double *momenta)
{
    fm_enter(s);
    return fm_leave(s, fm_do_momenta(s, count, positions, speeds, momenta));
}

fm_status fm_get(fm_instance *s, const uint32_t *reference, size_t count, double *value)
{
    fm_enter(s);
    return fm_leave(s, settled(s) ? fm_do_get(s, reference, count, value, 1) : FM_DISCARD);
}

fm_status fm_set(fm_instance *s, const uint32_t *reference, size_t count, const double *value)
{
    fm_enter(s);
    return fm_leave(s, fm_do_set(s, reference, count, value));
}

fm_status fm_set_input_derivatives(fm_instance *s, const uint32_t *reference, size_t count, const int32_t *order,
                                   const double *value)
{
    fm_enter(s);
    return fm_leave(s, fm_do_set_input_derivatives(s, reference, count, order, value));
}

fm_status fm_get_output_derivatives(fm_instance *s, const uint32_t *reference, size_t count, const int32_t *order,
                                    double *value)
{
    fm_enter(s);
    return fm_leave(s, settled(s) ? fm_do_get_output_derivatives(s, reference, count, order, value) : FM_DISCARD);
}

fm_status fm_directional_derivative(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                    size_t knowns, const double *seed, double *result)
{
    fm_enter(s);
    return fm_leave(s, settled(s) ? fm_do_directional_derivative(s, unknown, unknowns, known, knowns, seed, result)
                                  : FM_DISCARD);
}

fm_status fm_adjoint_derivative(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                size_t knowns, const double *seed, double *result)
{
    fm_enter(s);
    return fm_leave(s, settled(s) ? fm_do_adjoint_derivative(s, unknown, unknowns, known, knowns, seed, result)
                                  : FM_DISCARD);
}

size_t fm_poses(fm_instance *s, double *poses, size_t capacity)
{
    fm_enter(s);
    const size_t count = settled(s) ? fm_do_poses(s, poses, capacity) : 0;
    (void)fm_leave(s, FM_OK);
    return count;
}

fm_status fm_state_load(fm_instance *s, const void *bytes, size_t size)
{
    fm_enter(s);
    return fm_leave(s, fm_do_state_load(s, bytes, size));
}
