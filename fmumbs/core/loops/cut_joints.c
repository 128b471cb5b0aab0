/* cut_joints.c: coordinates of cut joints, and the forces that act along them.
 *
 * A cut joint is the same product of modes as in a tree, X_FM = X_1(s_1) X_2(s_2) .... Its positions p follow from the
 * poses of its two frames: with Phi the free modes at M and B the directions of forces along them (reactions.c), by
 * Newton's method p <- p + (B' Phi)^-1 B' (rotation, displacement) from X(p) to X_FM. It starts at the positions of the
 * last accepted step, so that angles are unwrapped and quaternions keep their sign; these positions are saved with the
 * state. Rotations converge by themselves, and translations with them in one step, however long, as they are linear.
 * While the loop is open by an angle e across the free rotations, B turns under the iteration, which then converges
 * linearly, by about e a step. Velocities and accelerations follow alike, and the forces lambda of inputs, springs and
 * dampers act on the two bodies as the wrench B (Phi' B)^-1 lambda. F's axes, angular part first, at M.
 */
#include "cut_joints.h"

#include "../maths/rotations.h"
#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../tree/dual.h"
#include "../tree/kinematics.h"
#include "../forces/matrix_laws.h"
#include "../forces/wrenches.h"
#include "cut_chain.h"
#include "planar_loops.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define FM_FOUND 1e-15         /* [rad], or relative to the length: step at which the iteration stops */
#define FM_ROUND_OFF_STEP 1e-9 /* the same: a step below it that is no shorter than the one before is round-off */
#define FM_OPEN 0.1            /* [rad]: angle across the free rotations by which the loop is open */
/* [rad]: largest rotation in a Newton step; translations are linear and have no limit */
#define FM_LARGEST_ROTATION 1.0
#define FM_FARTHEST 1e6     /* [rad]: largest predicted rotation in a step */

/* Requires world kinematics, with accelerations if `moving`. */
static void relate(const fm_instance *s, int32_t joint, int moving, fm_relation *to)
{
    const fm_image *m = &s->image;
    const int32_t F = m->joint_F_link[joint], M = m->joint_M_link[joint];
    fm_place f, g;
    double d[3], v[3], a[3], w[3], x[3], y[3], alpha[3];
    fm_frame_place(s, F, m->joint_F_r + 3 * joint, moving, &f);
    fm_frame_place(s, M, m->joint_M_r + 3 * joint, moving, &g);
    if (F < 0) memcpy(to->F, m->joint_F + 9 * joint, sizeof to->F);
    else product(s->world[F].R, m->joint_F + 9 * joint, to->F);
    if (M < 0) memcpy(to->M, m->joint_M + 9 * joint, sizeof to->M);
    else product(s->world[M].R, m->joint_M + 9 * joint, to->M);
    memcpy(to->at, g.r, sizeof to->at);
    to->extent = 0.0;
    for (int j = 0; j < 3; j++) to->extent = fmax(to->extent, fmax(fabs(f.r[j]), fabs(g.r[j])));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            to->R[3 * i + j] = (to->F[i] * to->M[j] + to->F[3 + i] * to->M[3 + j]) + to->F[6 + i] * to->M[6 + j];
    for (int j = 0; j < 3; j++) d[j] = g.r[j] - f.r[j], w[j] = g.w[j] - f.w[j];
    cross(f.w, d, x);
    for (int j = 0; j < 3; j++) v[j] = (g.v[j] - f.v[j]) - x[j];
    cross(f.w, w, alpha);
    for (int j = 0; j < 3; j++) alpha[j] = (g.alpha[j] - f.alpha[j]) - alpha[j];
    cross(f.w, x, a); /* centripetal */
    cross(f.alpha, d, x);
    cross(f.w, v, y); /* Coriolis */
    for (int j = 0; j < 3; j++) a[j] = (((g.a[j] - f.a[j]) - x[j]) - a[j]) - 2.0 * y[j];
    rotate_in(to->F, d, to->r);
    rotate_in(to->F, w, to->velocity);
    rotate_in(to->F, v, to->velocity + 3);
    rotate_in(to->F, alpha, to->acceleration);
    rotate_in(to->F, a, to->acceleration + 3);
}

/* The angle about a joint's only axis, up to multiples of 2 pi. */
static double angle_about(const double *axis, const double *R)
{
    double e[3], across[3], rotated[3];
    fm_across(axis, e);
    cross(axis, e, across);
    rotate_out(R, e, rotated);
    return fm_atan2(dot(across, rotated), dot(e, rotated));
}

/* Adds the multiple of 2 pi that continues from the previous angle and velocity. */
static double go_on(const fm_instance *s, double angle, double before, double velocity)
{
    const double rotated = velocity * (s->work.time - s->clock[FM_FOLLOWED]);
    const double near = fabs(rotated) < FM_FARTHEST ? before + rotated : before;
    return fm_with_turns(angle, near);
}

/* Moves the free modes by `step`; returns its largest element, translations relative to the model's length. */
static double advance(const fm_instance *s, int32_t joint, double *step, double *p)
{
    const fm_image *m = &s->image;
    double most = 0.0, turned = 0.0;
    for (int32_t i = 0; i < m->joint_nu[joint]; i++) {
        const int slides = m->mode_linear[m->joint_u[joint] + i];
        const double size = fabs(step[i]) / (slides ? m->length[0] : 1.0);
        most = size > most || isnan(size) ? size : most;
        if (!slides && size > turned) turned = size;
    }
    for (int32_t i = 0; turned > FM_LARGEST_ROTATION && i < m->joint_nu[joint]; i++)
        step[i] *= FM_LARGEST_ROTATION / turned;
    for (int32_t k = m->joint_mode[joint]; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        if (m->cut_kind[k] == FM_CUT_SCREW) *p++ += *step++;
        if (m->cut_kind[k] != FM_CUT_BALL) continue;
        fm_rotate_quaternion(step, p);
        step += 3, p += 4;
    }
    return most;
}

/* Chooses the sign of a ball's quaternion that continues from the previous one with this angular velocity. */
static void keep_sign(const fm_instance *s, const double *before, const double *w, double *q)
{
    double rotated[3], near[4];
    memcpy(near, before, sizeof near);
    for (int j = 0; j < 3; j++) rotated[j] = w[j] * (s->work.time - s->clock[FM_FOLLOWED]);
    if (dot(rotated, rotated) < FM_FARTHEST * FM_FARTHEST) fm_rotate_quaternion(rotated, near);
    const double cosine = (near[0] * q[0] + near[1] * q[1]) + (near[2] * q[2] + near[3] * q[3]);
    for (int j = 0; cosine < 0.0 && j < 4; j++) q[j] = -q[j];
}

/* The joint at rest at positions p; made = 0: nowhere yet. u: its velocities for the relation, if they are `known`. */
typedef struct posed_joint {
    double p[FM_JOINT_MODES + 1], u[6];
    int made, independent, known;
    fm_cut_found *found; /* has its chain and its directions */
} posed_joint;

/* Poses it at p, unless it is there already. 0: the modes are dependent there. */
static int pose(const fm_instance *s, int32_t joint, const double *p, posed_joint *at)
{
    const size_t size = (size_t)s->image.joint_np[joint] * sizeof *p;
    if (at->made && memcmp(at->p, p, size) == 0) return at->independent;
    memcpy(at->p, p, size);
    fm_make_chain(s, joint, p, NULL, &at->found->chain);
    at->independent = fm_make_dual(s, at->found->chain.phi, at->found->chain.n, &at->found->dual);
    at->made = 1, at->known = 0;
    return at->independent;
}

/* The same, with its velocities. */
static int pose_moving(const fm_instance *s, int32_t joint, const fm_relation *to, const double *p, posed_joint *at)
{
    if (!pose(s, joint, p, at)) return 0;
    if (!at->known) {
        memcpy(at->u, to->velocity, sizeof at->u);
        fm_dual_rates(&at->found->dual, at->u);
    }
    return at->known = 1;
}

/* Makes angles and quaternions continue from the previous ones. */
static void unwind(const fm_instance *s, int32_t joint, const fm_relation *to, const double *before, double *p,
                   posed_joint *moving)
{
    const fm_image *m = &s->image;
    if (!pose_moving(s, joint, to, p, moving)) return;
    const double *u = moving->u;
    for (int32_t k = m->joint_mode[joint], at = 0, mode = 0; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        const int ball = m->cut_kind[k] == FM_CUT_BALL, free = m->cut_kind[k] == FM_CUT_SCREW;
        if (free && m->cut_turn[k] == 1.0 && m->cut_slide[k] == 0.0) p[at] = go_on(s, p[at], before[at], u[mode]);
        if (ball) keep_sign(s, before + at, u + mode, p + at);
        at += ball ? 4 : free, mode += ball ? 3 : free;
    }
}

/* Newton's method from the positions in p. Between steps of the implicit scheme it ends where the next step is expected
 * to confirm the last one; explicit schemes keep the bits that they had. 0: the modes are dependent on its way, or it
 * does not converge though the loop is closed; while it is open, the rows show the gap, and the next positions of the
 * bodies ask again. */
static int iterate(const fm_instance *s, int32_t joint, const fm_relation *to, double *p, posed_joint *at)
{
    const fm_image *m = &s->image;
    const double resolved = 64.0 * DBL_EPSILON * to->extent / m->length[0], noise = fmax(FM_ROUND_OFF_STEP, resolved);
    const int early = s->clock[FM_IMPLICIT] != 0.0;
    double before = INFINITY, across = 0.0;
    for (int n = 0; n < FM_MOST_SEARCHES; n++) {
        double step[6], kept[FM_JOINT_MODES + 1];
        if (!pose(s, joint, p, at)) return 0;
        fm_chain_miss(&at->found->chain, to->R, to->r, step);
        across = at->found->dual.turning < 3 ? sqrt(dot(step, step)) : 0.0;
        fm_dual_rates(&at->found->dual, step);
        memcpy(kept, p, (size_t)m->joint_np[joint] * sizeof *p);
        const double moved = advance(s, joint, step, p);
        const double rate = moved / before; /* the next step has its square, or as far as the loop is open */
        if (moved <= FM_FOUND || (n > 0 && early && moved * (rate * rate + across) <= FM_FOUND)) return 1;
        if (moved < noise && moved >= before) { /* round-off */
            memcpy(p, kept, (size_t)m->joint_np[joint] * sizeof *p);
            return 1;
        }
        if (!isfinite(moved)) return 0;
        before = moved;
    }
    return across > FM_OPEN;
}

/* Finds positions near those in p, the previous ones; angles continue with their velocity, also over whole rotations.
 * 0: there are none, and p is NAN. at: with a place for what is found. */
static int find_positions(const fm_instance *s, int32_t joint, const fm_relation *to, double *p, posed_joint *at)
{
    const fm_image *m = &s->image;
    const double *axis = m->cut_axis + 3 * m->joint_mode[joint];
    double noted[FM_JOINT_MODES + 1];
    at->made = 0;
    if (fm_is_pin(m, joint)) {
        p[0] = go_on(s, angle_about(axis, to->R), p[0], dot(axis, to->velocity));
        return isfinite(p[0]);
    }
    memcpy(noted, p, (size_t)m->joint_np[joint] * sizeof *p);
    if (iterate(s, joint, to, p, at)) {
        unwind(s, joint, to, noted, p, at);
        return 1;
    }
    for (int32_t i = 0; i < m->joint_np[joint]; i++) p[i] = NAN;
    return 0;
}

/* The joint's coordinates for the relation of its frames: positions, velocities, and accelerations if `moving`. 0:
 * there are none, as its modes are dependent there, and all are NAN. */
static int seek(const fm_instance *s, int32_t joint, int moving, const fm_relation *to, fm_cut_found *out)
{
    const fm_image *m = &s->image;
    fm_coordinates *c = &out->at;
    posed_joint at = {.found = out};
    memset(c, 0, sizeof *c);
    memcpy(c->p, s->cut_p + m->joint_p[joint], (size_t)m->joint_np[joint] * sizeof(double));
    if (!find_positions(s, joint, to, c->p, &at) || !pose_moving(s, joint, to, c->p, &at)) {
        for (int j = 0; j < FM_JOINT_MODES; j++) c->u[j] = c->udot[j] = NAN;
        return 0;
    }
    memcpy(c->u, at.u, sizeof c->u);
    if (!moving) return 1;
    fm_make_chain(s, joint, c->p, c->u, &out->chain);
    for (int j = 0; j < 6; j++) c->udot[j] = to->acceleration[j] - out->chain.bias[j];
    fm_dual_rates(&out->dual, c->udot);
    return 1;
}

/* Whether a search from the present positions, for this relation, is the last one of its joint. */
static int is_known(const fm_instance *s, int32_t joint, int moving, const fm_relation *to, const fm_cut_search *last)
{
    const size_t size = moving ? sizeof *to : offsetof(fm_relation, acceleration);
    return last->found.known && last->moving >= moving && last->since == s->work.time - s->clock[FM_FOLLOWED] &&
           memcmp(last->from, s->cut_p + s->image.joint_p[joint], (size_t)s->image.joint_np[joint] * sizeof(double)) ==
               0 &&
           memcmp(&last->to, to, size) == 0;
}

/* The same, for the present links. Outputs, forces and rows ask for it one component after the other. own: room for
 * what is found of a joint without coordinates, which is not kept. */
static const fm_cut_found *find(const fm_instance *s, int32_t joint, int moving, fm_relation *to, fm_cut_found *own)
{
    const fm_image *m = &s->image;
    relate(s, joint, moving, to);
    if (m->joint_nu[joint] == 0) {
        own->known = seek(s, joint, moving, to, own);
        return own;
    }
    fm_cut_search *last = s->work.cut_search + (m->joint_u[joint] - m->n.speeds);
    if (!is_known(s, joint, moving, to, last)) {
        last->found.known = seek(s, joint, moving, to, &last->found);
        last->moving = moving;
        last->since = s->work.time - s->clock[FM_FOLLOWED];
        memcpy(last->from, s->cut_p + m->joint_p[joint], (size_t)m->joint_np[joint] * sizeof(double));
        last->to = *to;
    }
    return &last->found;
}

/* 0: there are no coordinates, and *out is only in part. */
int fm_cut_joint_motion(const fm_instance *s, int32_t joint, int moving, fm_cut_motion *out)
{
    fm_relation to;
    fm_cut_found own;
    const fm_cut_found *found = find(s, joint, moving, &to, &own);
    out->at = found->at;
    if (!found->known) return 0;
    out->dual = found->dual;
    fm_chain_miss(&found->chain, to.R, to.r, out->miss);
    memcpy(out->phi, found->chain.phi, sizeof out->phi);
    memcpy(out->velocity, to.velocity, sizeof to.velocity);
    for (int j = 0; j < 6; j++) out->acceleration[j] = moving ? to.acceleration[j] - found->chain.bias[j] : 0.0;
    memcpy(out->F, to.F, sizeof to.F);
    memcpy(out->R, to.R, sizeof to.R);
    return 1;
}

void fm_cut_joint_coordinates(const fm_instance *s, int32_t joint, int moving, fm_coordinates *out)
{
    fm_relation to;
    fm_cut_found own;
    *out = find(s, joint, moving, &to, &own)->at;
}

/* A row that prescribes a start value: of a ball, a component of the rotation vector from its start, in its own axes.
 */
void fm_cut_joint_row(const fm_instance *s, int32_t joint, int32_t part, fm_constraint *out)
{
    const fm_image *m = &s->image;
    fm_cut_found own;
    fm_relation to;
    int32_t p;
    const int32_t of_ball = fm_cut_joint_part(m, joint, part, &p);
    double wrench[6] = {0.0}, turn[4], v[3];
    memset(out, 0, sizeof *out);
    const fm_cut_found *found = find(s, joint, 0, &to, &own);
    if (!found->known) {
        out->c[0] = out->c[1] = NAN;
        return;
    }
    const double *now = found->at.p + (p - m->joint_p[joint]), *start = m->cut_start + p;
    if (of_ball < 0) {
        out->c[0] = now[0] - start[0];
    } else {
        const double back[4] = {start[0], -start[1], -start[2], -start[3]};
        fm_multiply_quaternions(back, now, turn);
        fm_rotation_vector(turn, v);
        out->c[0] = v[of_ball];
    }
    out->c[1] = found->at.u[part];
    wrench[part] = 1.0;
    fm_dual_wrench(&found->dual, wrench);
    rotate_out(to.F, wrench, out->torque);
    rotate_out(to.F, wrench + 3, out->force);
    memcpy(out->r, to.at, sizeof out->r);
}

/* The angle of a joint with one rotational mode. */
double fm_cut_joint_angle(const fm_instance *s, int32_t joint)
{
    double p = s->cut_p[s->image.joint_p[joint]];
    fm_relation to;
    fm_cut_found found;
    posed_joint at = {.found = &found};
    relate(s, joint, 0, &to);
    (void)find_positions(s, joint, &to, &p, &at);
    return p;
}

/* Stores the coordinates at a position that the integrator accepted, as the reference for unwrapping. Positions in
 * between are not stored, so that the motion does not depend on when outputs are read. Requires placed links. Returns a
 * joint that has none there, and keeps its former ones; -1: all have. */
int32_t fm_follow_cut_joints(fm_instance *s)
{
    const fm_image *m = &s->image;
    int32_t lost = -1;
    for (int32_t j = m->n.cut_positions > 0 ? 0 : m->n.joints; j < m->n.joints; j++) {
        double *p = s->cut_p + m->joint_p[j], rate;
        fm_relation to;
        fm_cut_found found;
        posed_joint at = {.found = &found};
        if (!fm_is_cut_joint(m, j) || m->joint_np[j] == 0) continue;
        const int planar = s->planar.used && s->plan.blocks > 0 && s->planar.block[j] >= 0;
        if (planar && fm_is_pin(m, j)) {
            const double angle = fm_planar_angle(s, j, &rate);
            *p = go_on(s, angle, *p, rate);
            continue;
        }
        if (planar) fm_planar_show(s, j);
        relate(s, j, 0, &to);
        double now[FM_JOINT_MODES + 1];
        const size_t size = (size_t)m->joint_np[j] * sizeof *p;
        memcpy(now, p, size);
        if (find_positions(s, j, &to, now, &at)) memcpy(p, now, size);
        else lost = j;
    }
    s->clock[FM_FOLLOWED] = s->work.time;
    return lost;
}

/* Adds the forces of springs and dampers on a joint's modes, at positions p and velocities u; returns their energy [J].
 */
static double resist(const fm_instance *s, int32_t joint, const double *p, const double *u, double *force)
{
    const fm_image *m = &s->image;
    double energy = fm_coupled_resist(s, joint, p, u, force);
    for (int32_t k = m->joint_mode[joint], at = m->joint_u[joint]; k < m->joint_mode[joint] + m->joint_modes[joint];
         k++) {
        if (m->cut_kind[k] == FM_CUT_BALL) {
            fm_ball_resist(s, joint, at, p, u, force);
            energy += fm_ball_energy(s, joint, at, p);
            at += 3, p += 4, u += 3, force += 3;
        } else if (m->cut_kind[k] == FM_CUT_SCREW) {
            const double away = *p++ - s->rest[at];
            *force = (*force - s->stiffness[at] * away) - s->damping[at] * *u++;
            energy += 0.5 * s->stiffness[at++] * away * away;
            force++;
        }
    }
    return energy;
}

/* Whether inputs, springs or dampers act along the modes from `first` to before `end`, those of cut joints. */
static int forced(const fm_instance *s, int32_t first, int32_t end, const double *tau)
{
    if (first < end && s->image.n.coupled > 0) return 1; /* also through entries beside the diagonals of matrices */
    for (int32_t i = first; i < end; i++)
        if (tau[i] != 0.0 || s->stiffness[i] != 0.0 || s->damping[i] != 0.0) return 1;
    return 0;
}

/* Whether work.cut_wrench is in use: it has no memory where no cut joint has coordinates. */
int fm_cut_joints_forced(const fm_instance *s, const double *tau)
{
    return forced(s, s->image.n.speeds, s->image.n.modes, tau);
}

/* Applies forces along the modes of cut joints to their links; `laws`: also of their springs and dampers. Requires
 * world kinematics. Where a joint has no coordinates its forces are NAN, and so is the motion. */
void fm_apply_cut_joints(fm_instance *s, const double *tau, int laws)
{
    const fm_image *m = &s->image;
    memset(s->work.cut_wrench, 0, (size_t)(m->n.modes > m->n.speeds ? m->n.joints : 0) * 6 * sizeof(double));
    for (int32_t j = m->n.modes > m->n.speeds ? 0 : m->n.joints; j < m->n.joints; j++) {
        double wrench[6], *world = s->work.cut_wrench + 6 * j;
        const int32_t u = m->joint_u[j], nu = m->joint_nu[j];
        fm_cut_found own;
        fm_relation to;
        if (!fm_is_cut_joint(m, j) || !forced(s, u, u + nu, tau)) continue;
        memcpy(wrench, tau + u, (size_t)nu * sizeof *wrench);
        const fm_cut_found *found = find(s, j, 0, &to, &own);
        if (found->known) {
            if (laws) (void)resist(s, j, found->at.p, found->at.u, wrench);
            fm_dual_wrench(&found->dual, wrench);
        } else {
            for (int c = 0; c < 6; c++) wrench[c] = NAN;
        }
        rotate_out(to.F, wrench, world);
        rotate_out(to.F, wrench + 3, world + 3);
        fm_apply_wrench(s, m->joint_M_link[j], to.at, world, 1.0);
        fm_apply_wrench(s, m->joint_F_link[j], to.at, world, -1.0);
    }
}

/* Energy of the springs of cut joints [J]. */
double fm_cut_joint_energy(const fm_instance *s)
{
    const fm_image *m = &s->image;
    double energy = 0.0;
    for (int32_t j = m->n.modes > m->n.speeds ? 0 : m->n.joints; j < m->n.joints; j++) {
        double force[FM_JOINT_MODES] = {0.0};
        fm_coordinates at;
        if (!fm_is_cut_joint(m, j) || m->joint_nu[j] == 0) continue;
        fm_cut_joint_coordinates(s, j, 0, &at);
        energy += resist(s, j, at.p, at.u, force);
    }
    return energy;
}
