/* forces.c: world kinematics, springs, dampers and loads, energy. */
#include "instance.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

/* Axes of a link in its parent's, from the cosines, sines and ball axes of fm_kernels.turn. */
static void link_axes(const fm_instance *s, int32_t i, double R[9])
{
    const fm_link *k = s->link + i;
    if (k->kind == FM_LINK_SPHERICAL) {
        for (int j = 0; j < 9; j++) R[j] = s->ball[k->ball].T[j % 3][j / 3];
        return;
    }
    if (k->kind == FM_LINK_FIXED || k->kind == FM_LINK_PRISMATIC || k->kind >= FM_LINK_GENERAL) {
        memcpy(R, s->turned[i].R, 9 * sizeof(double));
        return;
    }
    const int K = k->kind <= FM_LINK_REVOLUTE_Z ? k->kind - FM_LINK_REVOLUTE_X : 2, A = (K + 1) % 3, B = (K + 2) % 3;
    const double *R0 = s->turned[i].R0, c = s->motion[i].c, sn = s->motion[i].s;
    for (int row = 0; row < 3; row++) {
        R[3 * row + A] = R0[3 * row + A] * c + R0[3 * row + B] * sn;
        R[3 * row + B] = R0[3 * row + B] * c - R0[3 * row + A] * sn;
        R[3 * row + K] = R0[3 * row + K];
    }
}

/* Pose and velocity of every link in the world; fm_kernels.turn has been called with the same y. */
void fm_make_world(fm_instance *s, const double *y)
{
    static const fm_world ground = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    y = fm_linked(s, y);
    const double *u = y + s->image.n.positions;
    s->evaluated = y;
    fm_planar_turns(s);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        const fm_world *p = k->root ? &ground : s->world + k->parent;
        fm_world *w = s->world + i;
        double R[9], r[3], v[3], spin[3] = {0.0, 0.0, 0.0}, arm[3], add[3];
        link_axes(s, i, R);
        product(p->R, R, w->R);
        memcpy(r, k->r, sizeof r);
        memset(v, 0, sizeof v);
        if (k->kind == FM_LINK_SPHERICAL) memcpy(spin, u + k->u, sizeof spin);
        else if (k->kind == FM_LINK_GENERAL) {
            double in[6];
            fm_general_velocity(s->general + k->general, u + k->u, in);
            memcpy(spin, in, sizeof spin);
            turn_out(R, in + 3, v);
            fm_lane_get(s, r, i, r);
        } else if (k->kind >= FM_LINK_MODAL) {
            fm_modal_velocity(s, i, y, spin, v);
            fm_lane_get(s, r, i, r);
        } else if (k->u >= 0) {
            const int K = k->kind <= FM_LINK_REVOLUTE_Z ? k->kind - FM_LINK_REVOLUTE_X : 2;
            spin[K] = k->sign * k->pitch * u[k->u];
            for (int j = 0; j < 3; j++) {
                r[j] += s->turned[i].R0[3 * j + 2] * (k->sign * k->slide * y[k->p]);
                v[j] = s->turned[i].R0[3 * j + 2] * (k->sign * k->slide * u[k->u]);
            }
        }
        turn_out(p->R, r, arm);
        turn_out(w->R, spin, add);
        for (int j = 0; j < 3; j++) w->r[j] = p->r[j] + arm[j], w->w[j] = p->w[j] + add[j];
        cross(p->w, arm, add);
        turn_out(p->R, v, r);
        for (int j = 0; j < 3; j++) w->v[j] = (p->v[j] + add[j]) + r[j];
    }
}

void fm_point_place(const fm_instance *s, int32_t point, double r[3], double v[3])
{
    const int32_t link = s->image.point_link[point];
    const double *at = s->image.point_r + 3 * point;
    double arm[3], add[3];
    if (link < 0) {
        memcpy(r, at, 3 * sizeof *r);
        memset(v, 0, 3 * sizeof *v);
        return;
    }
    const fm_world *w = s->world + link;
    turn_out(w->R, at, arm);
    cross(w->w, arm, add);
    for (int j = 0; j < 3; j++) r[j] = w->r[j] + arm[j], v[j] = w->v[j] + add[j];
}

/* Length of a spring, the direction from P to Q (zero where they meet) and the length's rate. */
double fm_spring_line(const fm_instance *s, int32_t spring, double direction[3], double *rate)
{
    double rP[3], vP[3], rQ[3], vQ[3], v[3];
    fm_point_place(s, s->image.spring_P[spring], rP, vP);
    fm_point_place(s, s->image.spring_Q[spring], rQ, vQ);
    for (int j = 0; j < 3; j++) direction[j] = rQ[j] - rP[j], v[j] = vQ[j] - vP[j];
    double length = sqrt(dot(direction, direction));
    for (int j = 0; j < 3; j++) direction[j] = length > 0.0 ? direction[j] / length : 0.0;
    *rate = dot(direction, v);
    return length;
}

/* Adds a force and a torque in world axes at a point to what is applied on its link. */
static void apply(fm_instance *s, int32_t point, const double force[3], const double torque[3])
{
    const int32_t link = s->image.point_link[point];
    double f[3], t[3], moment[3];
    if (link < 0) return;
    turn_in(s->world[link].R, force, f);
    turn_in(s->world[link].R, torque, t);
    cross(s->image.point_r + 3 * point, f, moment);
    for (int j = 0; j < 3; j++) s->applied[6 * link + j] += t[j] + moment[j], s->applied[6 * link + 3 + j] += f[j];
}

/* Adds a torque and a force in world axes at a place in the world. */
void fm_apply_wrench(fm_instance *s, int32_t link, const double at[3], const double wrench[6], double sign)
{
    double arm[3], moment[3], t[3], f[3];
    if (link < 0) return;
    for (int j = 0; j < 3; j++) arm[j] = at[j] - s->world[link].r[j];
    cross(arm, wrench + 3, moment);
    for (int j = 0; j < 3; j++) moment[j] += wrench[j];
    turn_in(s->world[link].R, moment, t);
    turn_in(s->world[link].R, wrench + 3, f);
    for (int j = 0; j < 3; j++) s->applied[6 * link + j] += sign * t[j], s->applied[6 * link + 3 + j] += sign * f[j];
}

/* Springs (where asked for), their laws and loads on the links, world kinematics being there. */
void fm_apply_forces(fm_instance *s, const double *load, int springs)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    memset(s->applied, 0, (size_t)s->image.n.links * 6 * sizeof(double));
    for (int32_t i = 0; (springs || s->image.n.laws > 0) && i < s->image.n.springs; i++) {
        double direction[3], rate, pull[3], back[3];
        double length = fm_spring_line(s, i, direction, &rate);
        double force = s->spring_stiffness[i] * (length - s->spring_free_length[i]) + s->spring_damping[i] * rate;
        if (!springs) force = 0.0;
        if (s->image.n.laws > 0) force += fm_laws_on_spring(s, i, s->evaluated);
        for (int j = 0; j < 3; j++) pull[j] = force * direction[j], back[j] = -pull[j];
        apply(s, s->image.spring_P[i], pull, none);
        apply(s, s->image.spring_Q[i], back, none);
    }
    for (int32_t i = 0; i < s->image.n.loads; i++)
        apply(s, s->image.load_point[i], load + 6 * i, load + 6 * i + 3);
}

/* Rotation vector of a quaternion, the short way. */
void fm_rotation_vector(const double *q, double out[3])
{
    double sine = sqrt(dot(q + 1, q + 1)), half = atan2(sine, fabs(q[0]));
    double factor = sine > 0.0 ? (q[0] < 0.0 ? -2.0 : 2.0) * half / sine : 0.0;
    for (int j = 0; j < 3; j++) out[j] = factor * q[1 + j];
}

/* tau: inputs and what springs and dampers in the joints add. */
void fm_apply_modes(fm_instance *s, const double *y, const double *input, double *tau)
{
    const double *u = y + s->image.n.positions;
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        const int32_t n = k->u;
        if (k->kind == FM_LINK_GENERAL || k->kind == FM_LINK_DRIVEN || k->kind == FM_LINK_MODAL) {
            memcpy(tau + n, input + n, (size_t)fm_link_speeds(&s->image, i) * sizeof *tau);
            if (k->kind == FM_LINK_MODAL) fm_modal_forces(s, i, y, tau + n);
            continue;
        }
        if (k->kind != FM_LINK_SPHERICAL) {
            tau[n] = (input[n] - s->stiffness[n] * (y[k->p] - s->rest[n])) - s->damping[n] * u[n];
            continue;
        }
        double angle[3];
        fm_rotation_vector(y + k->p, angle);
        for (int j = 0; j < 3; j++)
            tau[n + j] = (input[n + j] - s->stiffness[n] * angle[j]) - s->damping[n] * u[n + j];
    }
}

static double link_energy(const fm_instance *s, int32_t i)
{
    const fm_link *k = s->link + i;
    const fm_world *w = s->world + i;
    const double *J = k->J;
    double spin[3], v[3], arm[3], turn[3], Jw[3];
    turn_in(w->R, w->w, spin);
    turn_in(w->R, w->v, v);
    turn_out(w->R, k->h, arm);
    cross(spin, k->h, turn);
    Jw[0] = J[0] * spin[0] + J[1] * spin[1] + J[2] * spin[2];
    Jw[1] = J[1] * spin[0] + J[3] * spin[1] + J[4] * spin[2];
    Jw[2] = J[2] * spin[0] + J[4] * spin[1] + J[5] * spin[2];
    double kinetic = 0.5 * (k->m * dot(v, v) + dot(spin, Jw)) + dot(v, turn);
    if (k->kind == FM_LINK_MODAL) kinetic += fm_modal_energy(s, i, spin, v); /* and what is stored in its modes */
    return kinetic - (k->m * dot(s->gravity, w->r) + dot(s->gravity, arm));
}

static double mode_energy(const fm_instance *s, const fm_link *k)
{
    const double *y = s->y, *u = s->y + s->image.n.positions;
    if (k->u < 0 || k->kind == FM_LINK_MODAL) return 0.0;
    if (k->kind == FM_LINK_SPHERICAL) {
        double angle[3];
        fm_rotation_vector(y + k->p, angle);
        return 0.5 * s->stiffness[k->u] * dot(angle, angle);
    }
    double stretch = y[k->p] - s->rest[k->u];
    return 0.5 * (s->stiffness[k->u] * stretch * stretch + k->rotor * u[k->u] * u[k->u]);
}

/* Kinetic and potential energy at the present state, world kinematics being there [J]. */
double fm_energy(fm_instance *s)
{
    double energy = 0.0;
    for (int32_t i = 0; i < s->image.n.links; i++) energy += link_energy(s, i) + mode_energy(s, s->link + i);
    for (int32_t i = 0; i < s->image.n.springs; i++) {
        double direction[3], rate, stretch = fm_spring_line(s, i, direction, &rate) - s->spring_free_length[i];
        energy += 0.5 * s->spring_stiffness[i] * stretch * stretch;
    }
    return energy + fm_cut_energy(s);
}
