/* rules.c: the rules on several parameters, which hold when initialisation ends and when a step begins.
 *
 * Between two calls they need not hold, as an inertia or a matrix is set entry by entry. The bounds of each parameter
 * are checked with them, for states that were saved by something else; fm_set has refused all others.
 */
#include "rules.h"

#include "../image/bounds.h"
#include "../instance/message.h"
#include "../forces/cylinder.h"
#include "../forces/inputs.h"
#include "../forces/sides.h"

static fm_status check_bounds(fm_instance *s, fm_status status)
{
    const fm_image *m = &s->image;
    const fm_bounded_array all[] = FM_BOUNDED_ARRAYS(s);
    char why[300];
    if (fm_all_fit(all, sizeof all / sizeof *all, why, sizeof why)) return FM_OK;
    return fm_say(s, status, "a parameter of a saved state is refused: %s", why);
}

static fm_status check_inertias(fm_instance *s, fm_status status)
{
    const fm_image *m = &s->image;
    char why[300];
    for (int32_t b = 0; b < m->n.bodies; b++) {
        if (m->link_kind[m->body_link[b]] == FM_LINK_MODAL) continue; /* not a parameter */
        if (fm_solid_fits(s->inertia + 6 * b, m->body_measured[b], why, sizeof why)) continue;
        return fm_say(s, status, "the inertia of body '%s' is refused: %s. Nothing is lost: set it, and go on",
                      m->text + m->body_name[b], why);
    }
    return FM_OK;
}

/* Whether the matrix of a joint has a negative eigenvalue. */
static int is_negative(const fm_instance *s, int32_t joint, const double *diagonal, const double *beside)
{
    const fm_image *m = &s->image;
    const int32_t n = m->joint_nu[joint];
    double a[36] = {0.0};
    if (n > 6) return 1;
    for (int32_t i = 0; i < n; i++) a[i * n + i] = diagonal[m->joint_u[joint] + i];
    for (int32_t c = m->joint_coupled[joint]; c < m->joint_coupled[joint] + m->joint_couplings[joint]; c++) {
        const int32_t i = m->coupled_modes[2 * c], j = m->coupled_modes[2 * c + 1];
        a[i * n + j] = a[j * n + i] = beside[c];
    }
    return fm_has_negative(a, n);
}

static fm_status check_matrices(fm_instance *s, fm_status status)
{
    const fm_image *m = &s->image;
    for (int32_t j = 0; j < m->n.joints; j++) {
        if (m->joint_couplings[j] == 0) continue;
        const int stiff = is_negative(s, j, s->stiffness, s->coupled_stiffness);
        if (!stiff && !is_negative(s, j, s->damping, s->coupled_damping)) continue;
        return fm_say(
            s, status,
            "the %s matrix of joint '%s' has a negative eigenvalue: it would drive some motion. Nothing is lost: set "
            "its entries to those of a matrix without one, and go on",
            stiff ? "stiffness" : "damping", m->text + m->joint_name[j]);
    }
    return FM_OK;
}

/* Whether friction at rest, NAME.static, is not below that in motion, NAME.WORD. */
static fm_status check_static(fm_instance *s, fm_status status, int32_t name, const char *word, double at_rest,
                              double moving)
{
    const char *const text = s->image.text + name;
    if (at_rest >= moving) return FM_OK;
    return fm_say(s, status,
                  "%s.static = %g is refused: it must be at least %s.%s = %g. Nothing is lost: set one of them, and go "
                  "on",
                  text, at_rest, text, word, moving);
}

static fm_status check_frictions(fm_instance *s, fm_status status)
{
    for (int32_t i = 0; i < s->image.n.frictions; i++)
        if (check_static(s, status, s->image.friction_name[i], "kinetic", s->friction_static[i],
                         s->friction_kinetic[i]) != FM_OK)
            return status;
    for (int32_t i = 0; i < s->image.n.contacts; i++)
        if (s->image.contact_rubs[i] != FM_RUBS_AS_TYRE &&
            check_static(s, status, s->image.contact_name[i], "mu", s->contact_static[i], s->contact_mu[i]) != FM_OK)
            return status;
    return FM_OK;
}

static fm_status check_ropes(fm_instance *s, fm_status status)
{
    if (s->image.n.ropes == 0) return FM_OK;
    fm_controls_at(s, s->clock[FM_TIME]);
    const int32_t rope = fm_rope_run_out(s, s->y);
    if (rope >= 0)
        return fm_say(s, status, "a side of rope '%s' has no length left: give a longer one, or stop what takes it in",
                      s->image.text + s->image.rope_name[rope]);
    (void)fm_ropes_follow(s, s->y);
    const int32_t pulley = fm_rope_lifts(s, s->y);
    if (pulley < 0) return FM_OK;
    return fm_say(s, status,
                  "rope '%s' is off its pulley on joint '%s': guide it by points beside the pulley, or start where it "
                  "lies on it",
                  fm_pulley_rope(&s->image, pulley), fm_pulley_joint(&s->image, pulley));
}

static fm_status check_cylinders(fm_instance *s, fm_status status)
{
    const int32_t cylinder = fm_cylinder_run_out(s, s->y, 0.0);
    if (cylinder < 0) return FM_OK;
    return fm_say(s, status,
                  "the piston of cylinder '%s' leaves a chamber no volume: give it a longer stroke or another "
                  "closed_length, or stop it before",
                  s->image.text + s->image.cylinder_name[cylinder]);
}

/* FM_OK if the parameters obey the rules, else `status` with a message; remembers it until a parameter changes, but of
 * the lengths of ropes and cylinders, which inputs and the motion change. */
fm_status fm_check_rules(fm_instance *s, fm_status status)
{
    if (check_ropes(s, status) != FM_OK || check_cylinders(s, status) != FM_OK) return status;
    if (s->model.obeys) return FM_OK;
    if (check_bounds(s, status) != FM_OK || check_inertias(s, status) != FM_OK || check_matrices(s, status) != FM_OK ||
        check_frictions(s, status) != FM_OK)
        return status;
    s->model.obeys = 1;
    return FM_OK;
}

/* Whether the quaternions of balls among positions y can be normalised. */
fm_status fm_check_quaternions(fm_instance *s, const double *y)
{
    for (int32_t i = 0; i < s->model.balls; i++) {
        const double *q = y + s->link[s->ball_link[i]].p;
        const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if (!(square > 1e-20 && square < 1e20))
            return fm_say(s, FM_ERROR, "joint '%s': its quaternion is %s; give a unit one",
                          s->image.text + s->image.joint_name[s->image.link_joint[s->ball_link[i]]],
                          square < 1.0 ? "zero" : "far too long");
    }
    return FM_OK;
}
