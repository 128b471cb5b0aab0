/* required.c: what a motion requires of the tree, at positions, velocities and accelerations that a host gives.
 *
 * By inverse dynamics (tree/inverse.c), with loops left open, for each instant at the cost of one sweep out and back:
 *     forces     M udot + h(p, u) - Q(p, u), h with gravity, Q what inputs, springs, dampers, friction and laws exert
 *     mass       M, a column for each unit acceleration
 *     Jacobian   J' F for each of six unit wrenches F at a point: what they exert on the velocity variables
 *     momenta    the wrenches on the roots while velocities stand for accelerations
 * Bristles of friction are deflected as after long sliding at the same velocity, z' = 0. A law at a bound of velocity,
 * as dry friction at rest, exerts the mean of its forces on either side. The state remains as it is.
 *
 * In an image that asks for inverse dynamics (variables.h) the motion is an input, in s->given, and the forces that it
 * takes are the results of an evaluation, in work.required: of all coordinates, or of actuators (actuated.c).
 * Accelerations and wrenches of the links are those of this motion.
 */
#include "required.h"

#include "../forces/inputs.h"
#include "../forces/laws.h"
#include "../forces/wrenches.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../maths/vectors.h"
#include "../tree/inverse.h"
#include "../tree/kinematics.h"
#include "../tree/planar.h"
#include "../tree/positions.h"
#include "../tree/reversed.h"
#include "actuated.h"
#include "evaluation.h"
#include "friction.h"
#include "normal_forces.h"
#include "own_states.h"
#include "rules.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

/* What a call changes for a while, as it was. */
typedef struct kept {
    int32_t planar;
    double gravity[3];
} kept;

static int are_finite(fm_instance *s, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return fm_say(s, FM_ERROR, "a position, velocity or acceleration is not finite: give finite numbers") ==
                   FM_OK;
    return 1;
}

/* Evaluations in space from here on. FM_ERROR: the parameters break a rule. */
static fm_status begin(fm_instance *s, kept *was)
{
    if (fm_check_rules(s, FM_ERROR) != FM_OK) return FM_ERROR;
    was->planar = s->planar.used;
    memcpy(was->gravity, s->gravity, sizeof was->gravity);
    if (was->planar) (void)fm_planar_use(s, 0);
    s->laws.use = s->laws.now;
    return FM_OK;
}

static fm_status end(fm_instance *s, const kept *was, fm_status status)
{
    memcpy(s->gravity, was->gravity, sizeof was->gravity);
    if (was->planar) (void)fm_planar_use(s, 1);
    for (int32_t i = 0; i < 2 * s->image.n.laws; i++) s->laws.now[i] = FM_UNKNOWN;
    s->planar.is_placed = 0;
    s->valid = FM_VALID_NOTHING;
    return status;
}

/* Positions and velocities of an instant, NULL for none, as a state with unit quaternions. */
static double *state_of(fm_instance *s, const double *positions, const double *speeds)
{
    const size_t np = (size_t)s->image.n.positions, nu = (size_t)s->image.n.speeds;
    double *y = s->work.probe;
    memcpy(y, positions, np * sizeof *y);
    if (speeds != NULL) memcpy(y + np, speeds, nu * sizeof *y);
    else memset(y + np, 0, nu * sizeof *y);
    (void)fm_normalise(s, y, NULL);
    return y;
}

/* Deflects the bristles so that z' = v - w z = 0. */
static void deflect(fm_instance *s, double *y)
{
    const fm_image *m = &s->image;
    if (m->n.frictions == 0) return;
    fm_run_orientations(s, y);
    if (s->friction->on_cuts) fm_make_world(s, y);
    fm_friction_place(s, y);
    for (int32_t i = 0; i < m->n.frictions; i++)
        for (int32_t k = 0; k < m->friction_count[i]; k++) {
            const double w = s->friction->w[i];
            y[fm_bristles_of(s, i) + k] = w > 0.0 ? s->friction->v[3 * i + k] / w : 0.0;
        }
}

/* Modes and forces of the laws at y. */
static void place_laws(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    if (m->n.laws == 0) return;
    fm_laws_place(s, y);
    for (int32_t i = 0; i < m->n.laws; i++) {
        double x, v, bound, *mode = s->laws.use + 2 * i;
        fm_law_at(s, i, y, &x, &v);
        mode[0] = fm_law_piece(m, i, x, v, 0), mode[1] = FM_SLIDING;
        if (!fm_law_bound(s, i, x, v, v, &bound)) continue;
        const int32_t above = fm_law_piece(m, i, x, bound, 0), below = fm_law_piece(m, i, x, bound, 1);
        if (above == below) continue;
        mode[0] = above, mode[1] = below;
        s->laws.force[i] = fm_law_factor(s, i) *
                           (0.5 * (fm_law_polynomial(m, above, x, bound) + fm_law_polynomial(m, below, x, bound)));
    }
}

/* Forces on the velocity variables in place of `out`, which are what accelerations take in terms of links, less tau. */
static void give(fm_instance *s, const double *tau, double *out)
{
    fm_from_links(s, out);
    for (int32_t u = 0; tau != NULL && u < s->image.n.speeds; u++) out[u] -= tau[u];
    for (int32_t i = 0; tau != NULL && i < s->image.n.excitations; i++) /* its input is a motion, not a force */
        out[s->image.excitation_u[i]] += s->tau[s->image.excitation_u[i]];
}

static void require_forces(fm_instance *s, double *y, int applied, const double *udot, double *out)
{
    const double *tau = NULL, *linked;
    s->work.forced = 0;
    if (applied) {
        fm_controls_at(s, s->clock[FM_TIME]);
        deflect(s, y);
        fm_own_settle(s, y);
        place_laws(s, y);
        tau = fm_apply_all(s, s->clock[FM_TIME], y);
    } else {
        fm_run_orientations(s, y);
    }
    fm_inverse_place(s, y);
    linked = fm_linked_forces(s, udot);
    fm_inverse_accelerations(s, linked, 1);
    fm_inverse_forces(s, linked, 1, out);
    give(s, tau, out);
}

static fm_status refuse_own_friction(fm_instance *s)
{
    if (!fm_any_own_friction(s)) return FM_OK;
    return fm_say(s, FM_ERROR,
                  "friction that the reaction of its own joint loads has no inverse dynamics: give it "
                  "a normal force, or leave out applied forces");
}

fm_status fm_do_required_forces(fm_instance *s, size_t count, int applied, const double *positions,
                                const double *speeds, const double *accelerations, double *forces)
{
    const size_t np = (size_t)s->image.n.positions, nu = (size_t)s->image.n.speeds;
    kept was;
    if (applied && refuse_own_friction(s) != FM_OK) return FM_ERROR;
    if (!are_finite(s, positions, count * np) || !are_finite(s, speeds, count * nu) ||
        !are_finite(s, accelerations, count * nu) || begin(s, &was) != FM_OK)
        return FM_ERROR;
    for (size_t i = 0; i < count; i++)
        require_forces(s, state_of(s, positions + i * np, speeds + i * nu), applied, accelerations + i * nu,
                       forces + i * nu);
    return end(s, &was, FM_OK);
}

/* Makes the motion that is given the present one. */
static void take_given(fm_instance *s)
{
    const size_t np = (size_t)s->image.n.positions, nu = (size_t)s->image.n.speeds;
    memcpy(s->y, s->given, (np + nu) * sizeof *s->y);
    (void)fm_normalise(s, s->y, NULL);
    memcpy(s->work.udot, s->given + np + nu, nu * sizeof *s->y);
}

/* What the motion takes of the actuators. */
static void require_actuators(fm_instance *s, double *y)
{
    const fm_actuated *a = s->actuated;
    require_forces(s, y, 1, s->work.udot, a->taken);
    fm_actuate(s, y, a->taken);
    if (fm_set_actuators(s, 1)) require_forces(s, y, 1, s->work.udot, a->taken); /* they act on the links */
    (void)fm_set_actuators(s, 0);
    for (int32_t k = 0; k < s->model.actuators; k++) s->work.required[a->place[k]] = a->force[k];
}

/* The results `what` that follow from the motion that is given, which becomes the present one: what it takes is in
 * work.required then, and it is in the links. */
void fm_require_given(fm_instance *s, int32_t what)
{
    const int32_t np = s->image.n.positions, of_motion = FM_VALID_LAWS | FM_VALID_MOTION | FM_VALID_LINKS;
    if (!(s->valid & FM_VALID_GIVEN)) take_given(s);
    s->valid |= FM_VALID_GIVEN;
    if (!(what & of_motion & ~s->valid)) return;
    double *y = state_of(s, s->given, s->given + np);
    s->laws.use = s->laws.now;
    if (s->model.acts) require_actuators(s, y);
    else require_forces(s, y, 1, s->work.udot, s->work.required);
    memcpy(s->y + s->model.bristles, y + s->model.bristles, (size_t)s->image.n.bristles * sizeof *y);
    s->valid |= of_motion;
}

/* Whether the motion that is given, and the parameters, have inverse dynamics. */
fm_status fm_check_given(fm_instance *s)
{
    if (refuse_own_friction(s) != FM_OK || fm_check_rules(s, FM_ERROR) != FM_OK) return FM_ERROR;
    if (fm_check_quaternions(s, s->given) != FM_OK) return FM_ERROR;
    if (!s->model.acts) return FM_OK;
    if (s->image.n.rows > 0 && fm_check_assembled(s) != FM_OK) return FM_ERROR;
    fm_require_given(s, FM_VALID_MOTION);
    return fm_check_actuated(s);
}

/* Inverse dynamics has no states: of a start and of a step the time alone is kept. */
fm_status fm_go_given(fm_instance *s, double t)
{
    const double before = s->clock[FM_TIME];
    s->clock[FM_TIME] = s->work.time = t;
    s->valid = FM_VALID_NOTHING;
    if (fm_check_given(s) != FM_OK) {
        s->clock[FM_TIME] = s->work.time = before;
        s->valid = FM_VALID_NOTHING;
        return FM_ERROR;
    }
    fm_require_given(s, FM_VALID_NOTHING);
    return FM_OK;
}

fm_status fm_do_actuated_forces(fm_instance *s, size_t count, const double *positions, const double *speeds,
                                const double *accelerations, double *forces)
{
    const size_t np = (size_t)s->image.n.positions, nu = (size_t)s->image.n.speeds;
    const size_t actuators = (size_t)s->model.actuators;
    char why[sizeof s->message];
    if (!s->model.inverse) return fm_say(s, FM_ERROR, "this image does not ask for inverse dynamics");
    for (size_t i = 0; i < count; i++) {
        memcpy(s->given, positions + i * np, np * sizeof *forces);
        memcpy(s->given + np, speeds + i * nu, nu * sizeof *forces);
        memcpy(s->given + np + nu, accelerations + i * nu, nu * sizeof *forces);
        s->valid = FM_VALID_NOTHING;
        if (!are_finite(s, s->given, np + 2 * nu)) return FM_ERROR;
        if (fm_check_given(s) == FM_OK) {
            fm_require_given(s, FM_VALID_MOTION);
            for (size_t k = 0; k < actuators; k++) forces[i * actuators + k] = s->work.required[s->actuated->place[k]];
            continue;
        }
        memcpy(why, s->message, sizeof why);
        return fm_say(s, FM_ERROR, "instant %ld: %s", (long)i, why);
    }
    return FM_OK;
}

/* Places the links at rest at the positions of an instant. */
static void place_at_rest(fm_instance *s, const double *positions)
{
    const double *y = state_of(s, positions, NULL);
    s->work.forced = 0;
    fm_run_orientations(s, y);
    fm_make_world(s, y);
    fm_inverse_place(s, y);
}

fm_status fm_do_mass_matrix(fm_instance *s, size_t count, const double *positions, double *mass)
{
    const size_t np = (size_t)s->image.n.positions, nu = (size_t)s->image.n.speeds;
    double *unit = s->work.udot;
    kept was;
    if (!are_finite(s, positions, count * np) || begin(s, &was) != FM_OK) return FM_ERROR;
    for (size_t i = 0; i < count; i++) {
        double *M = mass + i * nu * nu;
        place_at_rest(s, positions + i * np);
        for (size_t u = 0; u < nu; u++) {
            memset(unit, 0, nu * sizeof *unit);
            unit[u] = 1.0;
            const double *linked = fm_linked_forces(s, unit);
            fm_inverse_accelerations(s, linked, 0);
            fm_inverse_forces(s, linked, 0, M + u * nu);
            fm_from_links(s, M + u * nu);
        }
        for (size_t u = 0; u < nu; u++)
            for (size_t v = 0; v < u; v++) M[u * nu + v] = M[v * nu + u] = 0.5 * (M[u * nu + v] + M[v * nu + u]);
    }
    return end(s, &was, FM_OK);
}

/* J' F of a unit wrench at a point of a link, in a row; without gravity and at rest. */
static void push(fm_instance *s, int32_t link, const double at[3], int part, double *row)
{
    const size_t nu = (size_t)s->image.n.speeds;
    double wrench[6] = {0.0}, *none = s->work.udot;
    wrench[part < 3 ? 3 + part : part - 3] = 1.0; /* rows: velocity, then angular velocity */
    memset(s->work.applied, 0, 6 * (size_t)s->image.n.links * sizeof(double));
    memset(none, 0, nu * sizeof *none);
    fm_apply_wrench(s, link, at, wrench, 1.0);
    fm_inverse_place(s, s->work.probe);
    fm_inverse_accelerations(s, none, 1);
    fm_inverse_forces(s, none, 1, row);
    fm_from_links(s, row);
    for (size_t u = 0; u < nu; u++) row[u] = 0.0 - row[u];
}

fm_status fm_do_point_jacobian(fm_instance *s, size_t count, const double *positions, int32_t link, const double r[3],
                               double *J)
{
    const size_t np = (size_t)s->image.n.positions, nu = (size_t)s->image.n.speeds;
    kept was;
    if (link < -1 || link >= s->image.n.links)
        return fm_say(s, FM_ERROR, "link %ld does not exist: there are %ld", (long)link, (long)s->image.n.links);
    if (!are_finite(s, positions, count * np) || begin(s, &was) != FM_OK) return FM_ERROR;
    memset(s->gravity, 0, sizeof was.gravity);
    memset(J, 0, count * 6 * nu * sizeof *J);
    for (size_t i = 0; link >= 0 && i < count; i++) {
        double at[3];
        place_at_rest(s, positions + i * np);
        rotate_out(s->world[link].R, r, at);
        for (int j = 0; j < 3; j++) at[j] += s->world[link].r[j];
        s->work.forced = 1;
        for (int part = 0; part < 6; part++) push(s, link, at, part, J + (6 * i + (size_t)part) * nu);
    }
    return end(s, &was, FM_OK);
}

/* Mass, centre of mass, momentum, and angular momentum about the centre of mass, in world axes. */
static void sum_momenta(fm_instance *s, const double *speeds, double out[10])
{
    const double *linked = fm_linked_forces(s, speeds);
    double arm[3], *centre = out + 1, *p = out + 4, *L = out + 7;
    memset(out, 0, 10 * sizeof *out);
    fm_inverse_accelerations(s, linked, 0);
    fm_inverse_forces(s, linked, 0, s->work.udot);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        const fm_world *w = s->world + i;
        const fm_rigid *b = s->rigid + i;
        double h[3], t[3], f[3];
        rotate_out(w->R, b->h, h);
        out[0] += b->m;
        for (int j = 0; j < 3; j++) centre[j] += b->m * w->r[j] + h[j];
        if (!k->root) continue;
        rotate_out(w->R, s->reduced.wrench + 6 * i, t);
        rotate_out(w->R, s->reduced.wrench + 6 * i + 3, f);
        cross(w->r, f, arm);
        for (int j = 0; j < 3; j++) p[j] += f[j], L[j] += t[j] + arm[j];
    }
    for (int j = 0; j < 3; j++) centre[j] /= out[0];
    cross(centre, p, arm);
    for (int j = 0; j < 3; j++) L[j] -= arm[j];
}

fm_status fm_do_momenta(fm_instance *s, size_t count, const double *positions, const double *speeds, double *momenta)
{
    const size_t np = (size_t)s->image.n.positions, nu = (size_t)s->image.n.speeds;
    kept was;
    if (!are_finite(s, positions, count * np) || !are_finite(s, speeds, count * nu) || begin(s, &was) != FM_OK)
        return FM_ERROR;
    for (size_t i = 0; i < count; i++) {
        place_at_rest(s, positions + i * np);
        sum_momenta(s, speeds + i * nu, momenta + 10 * i);
    }
    return end(s, &was, FM_OK);
}
