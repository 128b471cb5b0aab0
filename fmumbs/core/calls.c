/* calls.c: the public calls that compute, each in the core's floating-point mode (float_mode.h) and back in the host's.
 *
 * The work of fm_step is fm_do_step, and so on: in other files, so that no operation is moved out of the mode.
 */
#include "instance.h"

static void enter(fm_instance *s)
{
    s->host_mode = fm_float_enter();
}

static fm_status leave(const fm_instance *s, fm_status status)
{
    fm_float_leave(s->host_mode);
    return status;
}

fm_status fm_open(const void *image, size_t bytes, fm_instance **out, char *message, size_t capacity)
{
    const fm_float_mode host = fm_float_enter();
    const fm_status status = fm_do_open(image, bytes, out, message, capacity);
    fm_float_leave(host);
    return status;
}

fm_status fm_reset(fm_instance *s)
{
    enter(s);
    return leave(s, fm_do_reset(s));
}

fm_status fm_assemble(fm_instance *s, double t)
{
    enter(s);
    return leave(s, fm_do_assemble(s, t));
}

fm_status fm_check_inertia(fm_instance *s)
{
    enter(s);
    return leave(s, fm_do_check_inertia(s));
}

fm_status fm_step(fm_instance *s, double t_end)
{
    enter(s);
    return leave(s, fm_do_step(s, t_end));
}

fm_status fm_evaluate(fm_instance *s, size_t times)
{
    enter(s);
    return leave(s, fm_do_evaluate(s, times));
}

size_t fm_jacobian(fm_instance *s, double *J, size_t capacity)
{
    enter(s);
    const size_t size = fm_do_jacobian(s, J, capacity);
    (void)leave(s, FM_OK);
    return size;
}

fm_status fm_get(fm_instance *s, const uint32_t *reference, size_t count, double *value)
{
    enter(s);
    return leave(s, fm_do_get(s, reference, count, value));
}

fm_status fm_set(fm_instance *s, const uint32_t *reference, size_t count, const double *value)
{
    enter(s);
    return leave(s, fm_do_set(s, reference, count, value));
}

fm_status fm_set_input_derivatives(fm_instance *s, const uint32_t *reference, size_t count, const int32_t *order,
                                   const double *value)
{
    enter(s);
    return leave(s, fm_do_set_input_derivatives(s, reference, count, order, value));
}

fm_status fm_get_output_derivatives(fm_instance *s, const uint32_t *reference, size_t count, const int32_t *order,
                                    double *value)
{
    enter(s);
    return leave(s, fm_do_get_output_derivatives(s, reference, count, order, value));
}

fm_status fm_directional_derivative(fm_instance *s, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                    size_t knowns, const double *seed, double *result)
{
    enter(s);
    return leave(s, fm_do_directional_derivative(s, unknown, unknowns, known, knowns, seed, result));
}

fm_status fm_state_load(fm_instance *s, const void *bytes, size_t size)
{
    enter(s);
    return leave(s, fm_do_state_load(s, bytes, size));
}

/* Whether the host wants the step under way to end; asked in its own mode, which it may change. */
int fm_ask_host(fm_instance *s)
{
    fm_float_leave(s->host_mode);
    const int ends = s->interrupt_wanted(s->host) != 0;
    enter(s);
    return ends;
}
