/* kinematics.c: pose, velocity and acceleration of links, and of points and frames on them, in the world.
 *
 * Positions use the cosines, sines and rotations of each link, accelerations the results of the sweeps.
 */
#include "kinematics.h"

#include "../image/joints.h"
#include "../maths/rotations.h"
#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "general.h"
#include "modal.h"
#include "planar.h"
#include "reversed.h"

#include <math.h>
#include <string.h>

/* Rotation from a link's axes to its parent's, from its cosine and sine or a ball's axes. */
void fm_link_axes(const fm_instance *s, int32_t i, double R[9])
{
    const fm_link *k = s->link + i;
    if (k->kind == FM_LINK_SPHERICAL) {
        for (int j = 0; j < 9; j++) R[j] = s->ball[k->nth].T[j % 3][j / 3];
        return;
    }
    if (k->kind == FM_LINK_FIXED || k->kind == FM_LINK_PRISMATIC || k->kind >= FM_LINK_GENERAL) {
        memcpy(R, s->axes[i].R, 9 * sizeof(double));
        return;
    }
    const int K = fm_link_axis(k->kind), A = (K + 1) % 3, B = (K + 2) % 3;
    const double *R0 = s->axes[i].R0, c = s->turn[i].c, sn = s->turn[i].s;
    for (int row = 0; row < 3; row++) {
        R[3 * row + A] = R0[3 * row + A] * c + R0[3 * row + B] * sn;
        R[3 * row + B] = R0[3 * row + B] * c - R0[3 * row + A] * sn;
        R[3 * row + K] = R0[3 * row + K];
    }
}

/* A link's origin r and its velocity v relative to its parent, in the parent's axes, and its relative angular velocity
 * in its own, which R turns into them; v and spin are zero before. */
static inline void move_in_parent(const fm_instance *s, int32_t i, const double *y, const double R[9], double r[3],
                                  double v[3], double spin[3])
{
    const fm_link *k = s->link + i;
    const double *u = y + s->image.n.positions;
    memcpy(r, s->rigid[i].r, sizeof s->rigid[i].r);
    if (k->kind == FM_LINK_SPHERICAL) memcpy(spin, u + k->u, 3 * sizeof *spin);
    else if (k->kind == FM_LINK_GENERAL) {
        double in[6];
        fm_general_velocity(s->general + k->nth, u + k->u, in);
        memcpy(spin, in, 3 * sizeof *spin);
        rotate_out(R, in + 3, v);
        fm_lane_get(s, r, i, r);
    } else if (k->kind >= FM_LINK_MODAL) {
        fm_modal_velocity(s, i, y, spin, v);
        fm_lane_get(s, r, i, r);
    } else if (k->u >= 0) {
        const int K = fm_link_axis(k->kind);
        spin[K] = k->sign * k->pitch * u[k->u];
        for (int j = 0; j < 3; j++) {
            r[j] += s->axes[i].R0[3 * j + 2] * (k->sign * k->slide * y[k->p]);
            v[j] = s->axes[i].R0[3 * j + 2] * (k->sign * k->slide * u[k->u]);
        }
    }
}

/* Pose and velocity of every link in the world. Requires the orientations at the same y. */
void fm_make_world(fm_instance *s, const double *y)
{
    static const fm_world ground = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    y = fm_linked(s, y);
    s->work.evaluated = y;
    fm_planar_orient(s, y);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        const fm_world *p = k->root ? &ground : s->world + k->parent;
        fm_world *w = s->world + i;
        double R[9], r[3], v[3] = {0.0, 0.0, 0.0}, spin[3] = {0.0, 0.0, 0.0}, arm[3], add[3];
        fm_link_axes(s, i, R);
        product(p->R, R, w->R);
        move_in_parent(s, i, y, R, r, v, spin);
        rotate_out(p->R, r, arm);
        rotate_out(w->R, spin, add);
        for (int j = 0; j < 3; j++) w->r[j] = p->r[j] + arm[j], w->w[j] = p->w[j] + add[j];
        cross(p->w, arm, add);
        rotate_out(p->R, v, r);
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
    rotate_out(w->R, at, arm);
    cross(w->w, arm, add);
    for (int j = 0; j < 3; j++) r[j] = w->r[j] + arm[j], v[j] = w->v[j] + add[j];
}

/* The distance of two points, the direction from P to Q (zero where they coincide) and the distance's rate. */
double fm_line(const fm_instance *s, int32_t P, int32_t Q, double direction[3], double *rate)
{
    double rP[3], vP[3], rQ[3], vQ[3], v[3];
    fm_point_place(s, P, rP, vP);
    fm_point_place(s, Q, rQ, vQ);
    for (int j = 0; j < 3; j++) direction[j] = rQ[j] - rP[j], v[j] = vQ[j] - vP[j];
    double length = sqrt(dot(direction, direction));
    for (int j = 0; j < 3; j++) direction[j] = length > 0.0 ? direction[j] / length : 0.0;
    *rate = dot(direction, v);
    return length;
}

double fm_spring_line(const fm_instance *s, int32_t spring, double direction[3], double *rate)
{
    return fm_line(s, s->image.spring_P[spring], s->image.spring_Q[spring], direction, rate);
}

void fm_frame_place(const fm_instance *s, int32_t link, const double *at, int moving, fm_place *p)
{
    memset(p, 0, sizeof *p);
    if (link < 0) {
        memcpy(p->r, at, sizeof p->r);
        return;
    }
    const fm_world *world = s->world + link;
    double arm[3], add[3];
    rotate_out(world->R, at, arm);
    cross(world->w, arm, add);
    memcpy(p->w, world->w, sizeof p->w);
    for (int j = 0; j < 3; j++) p->r[j] = world->r[j] + arm[j], p->v[j] = world->v[j] + add[j];
    if (!moving) return;
    double a[3], centripetal[3];
    rotate_out(world->R, s->motion[link].alpha, p->alpha);
    rotate_out(world->R, s->motion[link].a, a);
    cross(world->w, add, centripetal);
    cross(p->alpha, arm, add);
    for (int j = 0; j < 3; j++) p->a[j] = ((a[j] + s->gravity[j]) + add[j]) + centripetal[j];
}

/* World acceleration of a point fixed in a link, given in its axes. */
void fm_acceleration(const fm_instance *s, int32_t link, const double *at, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    if (link < 0) return;
    const fm_motion *m = s->motion + link;
    const double *al = m->alpha;
    double w[3];
    fm_lane_get(s, w, link, w);
    double along = (w[0] * at[0] + w[1] * at[1]) + w[2] * at[2], square = (w[0] * w[0] + w[1] * w[1]) + w[2] * w[2];
    double a[3];
    a[0] = m->a[0] + (al[1] * at[2] - al[2] * at[1]) + (w[0] * along - at[0] * square);
    a[1] = m->a[1] + (al[2] * at[0] - al[0] * at[2]) + (w[1] * along - at[1] * square);
    a[2] = m->a[2] + (al[0] * at[1] - al[1] * at[0]) + (w[2] * along - at[2] * square);
    for (int j = 0; j < 3; j++) out[j] = row_of(s->world[link].R, j, a) + s->gravity[j];
}

/* q = q * part. */
static void turn_by(const double part[4], double q[4])
{
    double kept[4];
    memcpy(kept, q, sizeof kept);
    fm_multiply_quaternions(kept, part, q);
}

static void turn_by_axes(const double R[9], double q[4])
{
    double part[4];
    fm_quaternion_of(R, part);
    turn_by(part, q);
}

/* q times the rotation by an angle [rad] about a coordinate axis. */
static void turn_about(int axis, double angle, double q[4])
{
    double turn[4] = {0.0};
    fm_cos_and_sin(0.5 * angle, turn, turn + 1 + axis);
    turn_by(turn, q);
}

/* q times the rotations of a link's screws. */
static void turn_by_screws(const fm_instance *s, const fm_general *g, double q[4])
{
    const double *p = s->y + s->link[g->link].p;
    for (int32_t k = 0; k < g->screws; k++) {
        turn_by_axes(s->image.screw_R + 9 * (g->first + k), q);
        turn_about(2, s->image.screw_pitch[g->first + k] * p[g->place[k]], q);
    }
}

/* q times the rotation of a link in its parent. */
static void turn_by_link(const fm_instance *s, int32_t i, double q[4])
{
    const fm_link *k = s->link + i;
    if (k->rotated) turn_by_axes(s->axes[i].R0, q);
    if (k->kind == FM_LINK_SPHERICAL) {
        const double *p = s->y + k->p, sign = s->image.joint_reversed[s->image.link_joint[i]] ? -1.0 : 1.0;
        const double turn[4] = {p[0], sign * p[1], sign * p[2], sign * p[3]};
        turn_by(turn, q);
    } else if (k->kind == FM_LINK_GENERAL) {
        turn_by_screws(s, s->general + k->nth, q);
    } else if (k->kind >= FM_LINK_MODAL) {
        double turn[4];
        fm_modal_quaternion(s, i, s->y, turn);
        turn_by(turn, q);
    } else if (k->u >= 0) {
        turn_about(fm_link_axis(k->kind), k->sign * k->pitch * s->y[k->p], q);
    }
}

/* Quaternion of every link: the product of its joints', continuous in their positions, so that its sign is too. */
void fm_make_quaternions(fm_instance *s)
{
    static const double ground[4] = {1.0, 0.0, 0.0, 0.0};
    for (int32_t i = 0; i < s->image.n.links; i++) {
        double *q = s->quaternion + 4 * i;
        memcpy(q, s->link[i].root ? ground : s->quaternion + 4 * s->link[i].parent, sizeof ground);
        turn_by_link(s, i, q);
    }
}

/* Requires the quaternions of the links. */
void fm_body_quaternion(const fm_instance *s, int32_t body, double q[4])
{
    const int32_t link = s->image.body_link[body];
    fm_quaternion_of(s->image.body_R + 9 * body, q);
    if (link < 0) return;
    double part[4];
    memcpy(part, q, sizeof part);
    fm_multiply_quaternions(s->quaternion + 4 * link, part, q);
}
