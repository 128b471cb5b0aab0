/* friction.c: LuGre friction in joints (copcod, Eqs 19 to 22), with bristles in one, two or three dimensions.
 *
 * With the sliding velocity v of a joint (its rate, or arms times its rates), and the normal force N,
 *
 *     z' = v - |v| z / g,   g = (mu_k + (mu_s - mu_k) exp(-(|v|/v_s)^2)) / sigma_0,
 *     F = -N (sigma_0 z + sigma_1 z' + sigma_2 v)
 *
 * z is a state beside the positions. N is a constant, an input, a function of the joint's own reaction
 * (normal_forces.c), or their sum; the sum of the first two is never below 0.
 *
 * In the implicit scheme bristles are condensed: of the system (I - g J) d = r the part of z is
 *
 *     d_z = (r_z + g B d_v) / (1 + g w),   B = z'/v = 1 - z (w' v/|v|)',   w = |v|/g,
 *
 * so that the modes have the damping N (sigma_2 + B (sigma_1 + g sigma_0) / (1 + g w)), and feel z + g r_z / (1 + g w).
 */
#include "friction.h"

#include "../instance/instance.h"
#include "../image/joints.h"
#include "../maths/decay.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "../forces/inputs.h"
#include "../loops/cut_joints.h"
#include "../loops/jacobian.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

/* Called after every change of a parameter: what the error control takes as small, a deflection that slides. */
void fm_friction_derive(fm_instance *s)
{
    const fm_image *m = &s->image;
    int32_t owned = 0;
    s->friction->on_cuts = 0;
    s->friction->jammed = -1;
    for (int32_t i = 0; i < m->n.frictions; i++) {
        const double g = s->friction_kinetic[i] / s->friction_stiffness[i],
                     least = m->friction_linear[i] ? m->length[0] : 1.0;
        for (int32_t k = 0; k < m->friction_count[i]; k++) s->scale[fm_bristles_of(s, i) + k] = g < least ? g : least;
        s->friction->on_cuts |= fm_is_cut_joint(m, m->friction_joint[i]);
        if (fm_is_owned(m, i)) s->friction->owned[owned++] = i;
    }
    s->friction->count = owned;
}

/* The sliding velocities of a friction at y; in a cut joint requires world kinematics. */
static void slide(const fm_instance *s, int32_t i, const double *y, double v[3])
{
    const fm_image *m = &s->image;
    const int32_t joint = m->friction_joint[i], u = m->friction_u[i];
    const double *arm = m->friction_arm + 3 * i, *rate = y + m->n.positions + u;
    fm_coordinates at;
    if (fm_is_cut_joint(m, joint)) {
        fm_cut_joint_coordinates(s, joint, 0, &at);
        rate = at.u + (u - m->joint_u[joint]);
    }
    for (int32_t k = 0; k < 3; k++) v[k] = k < m->friction_count[i] ? arm[k] * rate[k] : 0.0;
}

static double norm(const double v[3])
{
    return v[1] == 0.0 && v[2] == 0.0 ? fabs(v[0]) : sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
}

static double control_of(const fm_instance *s, int32_t control, double otherwise)
{
    return control < 0 ? otherwise : s->work.control[control];
}

/* Everything about friction at y that does not depend on the joints' own reactions. Requires work.control, and for cut
 * joints world kinematics. */
void fm_friction_place(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.frictions; i++) {
        double *v = s->friction->v + 3 * i, *rate = s->friction->rate + 3 * i, *mu = s->friction->mu + 3 * i,
               deflection[3];
        const double *z = y + fm_bristles_of(s, i);
        const double stiffness = s->friction_stiffness[i], kinetic = s->friction_kinetic[i];
        slide(s, i, y, v);
        const double speed = norm(v), x = speed / s->friction_stribeck[i];
        const double over = (s->friction_static[i] - kinetic) * fm_decay(x * x), g = (kinetic + over) / stiffness;
        s->friction->w[i] = speed / g;
        s->friction->slope[i] = (1.0 + 2.0 * x * x * (over / (kinetic + over))) / g;
        for (int32_t k = 0; k < 3; k++) {
            deflection[k] = k < m->friction_count[i] ? z[k] : 0.0;
            rate[k] = v[k] - s->friction->w[i] * deflection[k];
            mu[k] = (stiffness * deflection[k] + s->friction_damping[i] * rate[k]) + s->friction_viscous[i] * v[k];
        }
        s->friction->slip[i] = norm(deflection) / g;
        const double factor = s->friction_scale[i] * control_of(s, m->friction_scaled[i], 1.0);
        const double pressed = s->friction_preload[i] + control_of(s, m->friction_pressed[i], 0.0);
        s->friction->factor[i] = factor > 0.0 ? factor : 0.0;
        s->friction->load[i] = (pressed > 0.0 ? pressed : 0.0) + s->friction->own[i];
    }
}

/* The generalised force of a friction on one of its modes [N.m] or [N]. */
double fm_friction_force(const fm_instance *s, int32_t friction, int32_t part)
{
    const int32_t at = 3 * friction + (part < 0 ? 0 : part);
    return -(s->image.friction_arm[at] * s->friction->mu[at]) *
           (s->friction->factor[friction] * s->friction->load[friction]);
}

/* Forces on all modes, with those of friction. */
static const double *add(fm_instance *s, const double *tau, double (*force)(const fm_instance *, int32_t, int32_t))
{
    const fm_image *m = &s->image;
    memcpy(s->friction->tau, tau, (size_t)m->n.modes * sizeof *tau);
    for (int32_t i = 0; i < m->n.frictions; i++)
        for (int32_t k = 0; k < m->friction_count[i]; k++) s->friction->tau[m->friction_u[i] + k] += force(s, i, k);
    return s->friction->tau;
}

/* The applied forces of all modes, with friction. */
const double *fm_friction_add(fm_instance *s, const double *tau)
{
    return add(s, tau, fm_friction_force);
}

/* The rates of the bristles, after an evaluation. */
void fm_friction_rates(const fm_instance *s, double *ydot)
{
    for (int32_t i = 0; i < s->image.n.frictions; i++)
        for (int32_t k = 0; k < s->image.friction_count[i]; k++)
            ydot[fm_bristles_of(s, i) + k] = s->friction->rate[3 * i + k];
}

/* The implicit scheme --------------------------------------------------------------------------------------------- */

/* B of one direction; of a ball the same for all, that along the velocity, as its link resists alike in all of them. */
static double follows(const fm_instance *s, int32_t i, const double *z, int32_t k)
{
    const double *v = s->friction->v + 3 * i, speed = norm(v);
    double along = 0.0;
    if (!(speed > 0.0)) return 1.0;
    if (s->image.joint_kind[s->image.friction_joint[i]] != FM_JOINT_SPHERICAL)
        return 1.0 - z[k] * s->friction->slope[i] * (v[k] / speed);
    for (int32_t j = 0; j < 3; j++) along += z[j] * v[j] / speed;
    return 1.0 - along * s->friction->slope[i];
}

/* The deflection of a friction's bristles at y. */
static double deflected(const fm_instance *s, int32_t i, const double *y)
{
    double z[3] = {0.0};
    memcpy(z, y + fm_bristles_of(s, i), (size_t)s->image.friction_count[i] * sizeof *z);
    return norm(z);
}

/* Prepares a stage at time t and y, g its time: the damping of the modes; the rates of the bristles, if wanted. */
void fm_friction_stage(fm_instance *s, double t, const double *y, double g, double *rates)
{
    const fm_image *m = &s->image;
    if (m->n.frictions == 0) return;
    if (s->friction->on_cuts) {
        fm_run_orientations(s, y);
        fm_make_world(s, y);
    }
    fm_controls_at(s, t);
    fm_friction_place(s, y);
    memset(s->friction->D, 0, (size_t)m->n.modes * sizeof(double));
    memset(s->friction->most, 0, (size_t)m->n.modes * sizeof(double));
    memcpy(s->stiff.D, s->friction->base, (size_t)m->n.speeds * sizeof(double));
    for (int32_t i = 0; i < m->n.frictions; i++) {
        const double bristle = (s->friction_damping[i] + g * s->friction_stiffness[i]) / (1.0 + g * s->friction->w[i]);
        const double turned = 1.0 + deflected(s, i, y) * s->friction->slope[i]; /* the most that B is */
        for (int32_t k = 0; k < m->friction_count[i]; k++) {
            const double arm = m->friction_arm[3 * i + k], B = follows(s, i, y + fm_bristles_of(s, i), k);
            const double by_v = s->friction_viscous[i] + (B > 0.0 ? B * bristle : 0.0),
                         load = s->friction->factor[i] * s->friction->load[i];
            const int32_t u = m->friction_u[i] + k;
            s->friction->D[u] += arm * arm * by_v * load;
            s->friction->most[u] += arm * arm * (s->friction_viscous[i] + turned * bristle) * load;
            if (u < m->n.speeds) s->stiff.D[u] = s->friction->base[u] + s->friction->D[u];
        }
    }
    if (rates != NULL) fm_friction_rates(s, rates);
}

/* r_z <- z' - k_z, and the bristles of a stage to z + g r_z / (1 + g w), not to z + g r_z. */
void fm_friction_relax(const fm_instance *s, double g, const double *k, double *r, double *y)
{
    for (int32_t i = 0; i < s->image.n.frictions; i++)
        for (int32_t z = fm_bristles_of(s, i); z < fm_bristles_of(s, i) + s->image.friction_count[i]; z++)
            r[z] -= k[z], y[z] += g * r[z], y[z] -= g * r[z] * (g * s->friction->w[i] / (1.0 + g * s->friction->w[i]));
}

/* The row of the rate of a mode, in terms of velocities; of a cut joint by its links, which requires world kinematics.
 */
static void mode_row(fm_instance *s, int32_t joint, int32_t u, double *J)
{
    memset(J, 0, (size_t)s->image.n.speeds * sizeof *J);
    if (u < s->image.n.speeds) {
        J[u] = 1.0;
        return;
    }
    fm_cut_mode_row(s, joint, u, J);
    fm_from_links(s, J);
}

/* Adds a force on a mode to the forces f on the velocity variables; of a cut joint requires world kinematics. */
static void push_mode(fm_instance *s, int32_t joint, int32_t u, double force, double *f)
{
    const fm_image *m = &s->image;
    double *J = s->implicit->along;
    if (u < m->n.speeds) {
        f[u] += force;
        return;
    }
    mode_row(s, joint, u, J);
    for (int32_t n = 0; n < m->n.excitations; n++) J[m->excitation_u[n]] = 0.0; /* which no force moves */
    for (int32_t n = 0; n < m->n.speeds; n++) f[n] += force * J[n];
}

/* The row of sliding velocity k of a friction, in terms of velocities; of a cut joint requires world kinematics. */
void fm_friction_row(fm_instance *s, int32_t i, int32_t k, double *row)
{
    const double arm = s->image.friction_arm[3 * i + k];
    mode_row(s, s->image.friction_joint[i], s->image.friction_u[i] + k, row);
    for (int32_t u = 0; u < s->image.n.speeds; u++) row[u] *= arm;
}

/* w, B and N (sigma_0 - sigma_1 w) of one direction at y, where it is placed; returns N (sigma_2 + B sigma_1). */
double fm_friction_parts(const fm_instance *s, int32_t i, int32_t k, const double *y, double part[3])
{
    const double load = s->friction->factor[i] * s->friction->load[i], w = s->friction->w[i],
                 B = follows(s, i, y + fm_bristles_of(s, i), k);
    part[0] = w, part[1] = B, part[2] = load * (s->friction_stiffness[i] - s->friction_damping[i] * w);
    return load * (s->friction_viscous[i] + B * s->friction_damping[i]);
}

/* Adds to the forces f what g r_z / (1 + g w) more of the bristles would exert on the modes. */
void fm_friction_push(fm_instance *s, double g, const double *r, double *f)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.frictions; i++) {
        const double w = s->friction->w[i], by_z = s->friction_stiffness[i] - s->friction_damping[i] * w;
        for (int32_t k = 0; k < m->friction_count[i]; k++)
            push_mode(s, m->friction_joint[i], m->friction_u[i] + k,
                      -m->friction_arm[3 * i + k] * (s->friction->factor[i] * s->friction->load[i]) * by_z *
                          (g * r[fm_bristles_of(s, i) + k] / (1.0 + g * w)),
                      f);
    }
}

/* r_z <- (r_z + g B d_v) / (1 + g w); `change`: a state with the pose and bristles of the stage, and d_v as velocities.
 */
void fm_friction_follow(fm_instance *s, double g, const double *change, double *r)
{
    const fm_image *m = &s->image;
    if (m->n.frictions > 0 && s->friction->on_cuts) {
        fm_run_orientations(s, change);
        fm_make_world(s, change);
    }
    for (int32_t i = 0; i < m->n.frictions; i++) {
        const double *v = s->friction->v + 3 * i, *z = change + fm_bristles_of(s, i), speed = norm(v);
        double d[3], along = 0.0;
        slide(s, i, change, d);
        for (int32_t k = 0; k < 3 && speed > 0.0; k++) along += d[k] * (v[k] / speed);
        for (int32_t k = 0; k < m->friction_count[i]; k++) {
            double *to = r + fm_bristles_of(s, i) + k;
            *to = (*to + g * (d[k] - z[k] * s->friction->slope[i] * along)) / (1.0 + g * s->friction->w[i]);
        }
    }
}

/* Directional derivatives ----------------------------------------------------------------------------------------- */

/* The derivatives of load and factor along seeds of the controls, at the present state. */
void fm_friction_seed(fm_instance *s, const double *control)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.frictions; i++) {
        const int32_t pressed = m->friction_pressed[i], scaled = m->friction_scaled[i];
        const int presses = pressed >= 0 && s->friction_preload[i] + s->control[pressed] >= 0.0;
        const int scales = scaled >= 0 && s->control[scaled] >= 0.0;
        s->friction->load_seed[i] = presses ? control[pressed] : 0.0;
        s->friction->own_seed[i] = 0.0;
        s->friction->factor_seed[i] = scales ? s->friction_scale[i] * control[scaled] : 0.0;
    }
}

/* The derivative of fm_friction_force. */
double fm_friction_force_seed(const fm_instance *s, int32_t friction, int32_t part)
{
    const int32_t at = 3 * friction + (part < 0 ? 0 : part);
    const double seed =
        s->friction->factor[friction] * (s->friction->load_seed[friction] + s->friction->own_seed[friction]) +
        s->friction->factor_seed[friction] * s->friction->load[friction];
    return -(s->image.friction_arm[at] * s->friction->mu[at]) * seed;
}

/* The seeds of the forces of all modes, with those of friction. */
const double *fm_friction_add_seed(fm_instance *s, const double *tau)
{
    return add(s, tau, fm_friction_force_seed);
}
