/* dynamics.c: the right-hand side, and what the outputs need of it at the present time. */
#include "instance.h"

#include <string.h>

/* Inputs at time t: their values and, where the coming step has them, Taylor coefficients from its start. */
static const double *inputs_at(fm_instance *s, double t, const double *value, const double *taylor, int32_t count,
                               double *now)
{
    if (s->clock[FM_TAYLOR_ON] == 0.0) return value;
    double x = t - s->clock[FM_TIME];
    for (int32_t i = 0; i < count; i++) {
        const double *d = taylor + FM_TAYLOR * i;
        now[i] = value[i] + x * (d[0] + x * (d[1] / 2.0 + x * (d[2] / 6.0)));
    }
    return now;
}

/* pdot = Y1(p) u: the speeds themselves, and q (0, w)/2 for the quaternion of a ball. */
void fm_position_rates(const fm_instance *s, const double *y, double *pdot)
{
    const double *u = y + s->image.n.positions;
    if (s->model.balls + s->image.n.generals + s->image.n.modals == 0) {
        memcpy(pdot, u, (size_t)s->image.n.positions * sizeof *pdot);
        return;
    }
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind == FM_LINK_GENERAL) {
            fm_general_rates(s->general + k->general, u + k->u, pdot + k->p);
            continue;
        }
        if (k->kind == FM_LINK_MODAL) {
            memcpy(pdot + k->p, u + k->u, (size_t)s->image.modal_shapes[s->image.link_modal[i]] * sizeof *pdot);
            continue;
        }
        if (k->kind != FM_LINK_SPHERICAL) {
            pdot[k->p] = u[k->u];
            continue;
        }
        const double *q = y + k->p, *w = u + k->u;
        double *to = pdot + k->p;
        to[0] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
        to[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
        to[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
        to[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
    }
}

/* udot under generalised forces and what is applied to the links; world kinematics of y are there if there are loops. */
static void accelerate(fm_instance *s, const double *y, const double *tau, double *udot)
{
    fm_run_sweeps(s, y, tau, udot);
    s->accelerated = udot;
    if (s->image.n.rows > 0) fm_close_loops(s, udot);
}

/* udot at the time and state of an evaluation, with the forces that laws hold with. */
static void accelerate_so(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const double t = how->t, *y = how->y;
    const int32_t loads = 6 * s->image.n.loads;
    const double *tau = inputs_at(s, t, s->tau, s->tau_taylor, s->image.n.modes, s->input_now);
    s->worked += s->image.n.links + s->image.n.rows;
    s->evaluated = y;
    s->at_time = t;
    s->in_place = s->is_placed && memcmp(y, s->placed, (size_t)s->model.ny * sizeof *y) == 0;
    if (!s->in_place) fm_run_turns(s, y);
    s->cuts = fm_cuts_forced(s, tau);
    s->forced = s->image.n.springs + s->image.n.loads > 0 || s->cuts;
    if (s->forced || (s->image.n.rows > 0 && !s->planar)) fm_make_world(s, y);
    if (s->forced) {
        const double *load = inputs_at(s, t, s->load, s->load_taylor, loads, s->input_now + s->image.n.modes);
        fm_apply_forces(s, load, 1);
        if (s->cuts) fm_apply_cuts(s, tau, 1);
    }
    if (s->model.resisted || s->image.n.laws > 0) {
        fm_apply_modes(s, y, tau, s->tau_now);
        fm_laws_on_modes(s, y, s->tau_now);
        tau = s->tau_now;
    }
    if (s->model.excited) {
        const double *given = s->clock[FM_TAYLOR_ON] != 0.0 ? s->input_now : s->tau;
        if (tau != s->tau_now) memcpy(s->tau_now, tau, (size_t)s->image.n.speeds * sizeof(double));
        fm_excite(s, t, y, given, s->tau_now);
        tau = s->tau_now;
    }
    accelerate(s, y, tau, udot);
    s->in_place = 0;
}

fm_evaluation fm_evaluation_at(double t, const double *y)
{
    const fm_evaluation how = {accelerate_so, t, y, NULL, NULL};
    return how;
}

/* udot at time t, y = (p, u). Leaves the motion of y in the links. */
void fm_accelerations(fm_instance *s, double t, const double *y, double *udot)
{
    const fm_evaluation how = fm_evaluation_at(t, y);
    if (fm_laws_holding(s)) fm_laws_hold(s, &how, udot);
    else accelerate_so(s, &how, udot);
}

/* ydot at time t; the present state's outputs are then to be made anew. */
void fm_rates(fm_instance *s, double t, const double *y, double *ydot)
{
    s->valid &= FM_VALID_LAWS;
    fm_accelerations(s, t, y, ydot + s->image.n.positions);
    fm_position_rates(s, y, ydot);
    s->bridged = 0;
    if (s->loop_narrow && fm_bridge_rates(s, t, y, ydot + s->image.n.positions)) return;
    if (s->on_branch) fm_rates_on_branch(s, t, y, ydot + s->image.n.positions);
}

static void cross_add(double *to, const double *a, const double *b)
{
    to[0] += a[1] * b[2] - a[2] * b[1];
    to[1] += a[2] * b[0] - a[0] * b[2];
    to[2] += a[0] * b[1] - a[1] * b[0];
}

/* Axes of a link in its parent's, from the world's. */
static void axes_from_world(const fm_instance *s, int32_t i, double R[9])
{
    const double *W = s->world[i].R;
    if (s->link[i].root) {
        memcpy(R, W, 9 * sizeof *R);
        return;
    }
    const double *P = s->world[s->link[i].parent].R;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) R[3 * a + b] = P[a] * W[b] + P[3 + a] * W[3 + b] + P[6 + a] * W[6 + b];
}

/* What each parent puts on its link, from the tips to the roots: the z_a of Eq 33 by the balance of each link. */
static void sum_cuts(fm_instance *s)
{
    const int32_t links = s->image.n.links;
    for (int32_t i = 0; i < links; i++) {
        const fm_link *k = s->link + i;
        const fm_motion *m = s->motion + i;
        double *t = s->wrench + 6 * i, *f = t + 3;
        const double *J = k->J, *w = m->alpha;
        fm_lane_get(s, torque, i, t);
        fm_lane_get(s, force, i, f);
        t[0] += (J[0] * w[0] + J[1] * w[1] + J[2] * w[2]);
        t[1] += (J[1] * w[0] + J[3] * w[1] + J[4] * w[2]);
        t[2] += (J[2] * w[0] + J[4] * w[1] + J[5] * w[2]);
        for (int j = 0; j < 3; j++) f[j] += k->m * m->a[j];
        cross_add(t, k->h, m->a);
        cross_add(f, w, k->h);
        if (k->kind == FM_LINK_MODAL) fm_modal_weigh(s, i, s->udot, t);
    }
    for (int32_t i = links - 1; i >= 0; i--) {
        const fm_link *k = s->link + i;
        const double *t = s->wrench + 6 * i, *f = t + 3;
        double R[9], r[3], force[3];
        if (k->root) continue;
        double *up = s->wrench + 6 * k->parent;
        axes_from_world(s, i, R);
        for (int j = 0; j < 3; j++) {
            force[j] = R[3 * j] * f[0] + R[3 * j + 1] * f[1] + R[3 * j + 2] * f[2];
            up[j] += R[3 * j] * t[0] + R[3 * j + 1] * t[1] + R[3 * j + 2] * t[2];
            up[3 + j] += force[j];
        }
        fm_lane_get(s, r, i, r);
        cross_add(up, r, force);
    }
}

/* The cuts with all multipliers; where these are not unique, with those of the least reactions. */
static void make_cuts(fm_instance *s)
{
    double *change = s->least_change;
    fm_load_links(s, s->lambda);
    sum_cuts(s);
    if (!fm_least_reactions(s, change)) return;
    fm_load_links(s, change);
    sum_cuts(s);
    for (int32_t i = 0; i < s->image.n.rows; i++) s->lambda[i] += change[i];
}

/* Makes what outputs at the present state need and is not there yet. */
void fm_update(fm_instance *s, int32_t what)
{
    if (what & FM_VALID_CUTS) what |= FM_VALID_LINKS | FM_VALID_WORLD;
    if (what & FM_VALID_LINKS) what |= FM_VALID_MOTION;
    if (what & FM_VALID_MOTION) what |= FM_VALID_LAWS;
    what &= ~s->valid;
    s->at_time = s->clock[FM_TIME];
    if (what & FM_VALID_LAWS) fm_laws_present(s);
    if (what & FM_VALID_MOTION) {
        fm_accelerations(s, s->clock[FM_TIME], s->y, s->udot);
        if (s->loop_narrow) fm_bridge_present(s, s->clock[FM_TIME], s->y, s->udot);
    }
    if (what & FM_VALID_WORLD) {
        fm_run_turns(s, s->y);
        fm_make_world(s, s->y);
    }
    if (what & FM_VALID_LINKS) fm_planar_expand(s);
    if (what & FM_VALID_CUTS) make_cuts(s);
    s->valid |= what;
}

/* What seeds of the inputs alone bring about: one sweep, at rest, weightless. */
static void respond_so(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const double *tau = how->tau;
    s->evaluated = how->y;
    fm_run_turns(s, how->y);
    fm_make_world(s, how->y);
    fm_apply_forces(s, how->load, 0);
    s->cuts = s->image.n.modes > s->image.n.speeds;
    s->forced = 1;
    fm_apply_cuts(s, tau, 0);
    if (s->image.n.laws > 0) {
        memcpy(s->tau_now, tau, (size_t)s->image.n.speeds * sizeof(double));
        fm_laws_on_modes(s, how->y, s->tau_now);
        tau = s->tau_now;
    }
    accelerate(s, how->y, tau, udot);
}

/* The accelerations and cuts that seeds of the inputs bring about; what laws hold stays held. */
void fm_respond(fm_instance *s, const double *tau, const double *load)
{
    double gravity[3];
    const size_t positions = (size_t)s->image.n.positions, speeds = (size_t)s->image.n.speeds;
    memcpy(s->probe, s->y, positions * sizeof(double));
    memset(s->probe + positions, 0, speeds * sizeof(double));
    memcpy(gravity, s->gravity, sizeof gravity);
    memset(s->gravity, 0, sizeof gravity);
    fm_planar_weigh(s);
    const fm_evaluation how = {respond_so, s->clock[FM_TIME], s->probe, tau, load};
    const double closure = s->closure[0];
    s->closure[0] = FM_CORRECT_NEVER; /* what is left of a violation is no response */
    s->laws_off = 1;
    if (fm_laws_holding(s)) fm_laws_hold(s, &how, s->udot);
    else respond_so(s, &how, s->udot);
    s->laws_off = 0;
    s->closure[0] = closure;
    fm_planar_expand(s);
    make_cuts(s);
    memcpy(s->gravity, gravity, sizeof gravity);
    fm_planar_weigh(s);
}
