/* constraints.c: the constraint rows of cut joints, and the propagation of their wrenches to the ground.
 *
 * A cut joint is a set of rows c(q) = 0 between a frame F on one link and a frame M on another (or the ground):
 *     along:          e . p_FM = value, e fixed in F, or in M
 *     perpendicular:  f . g = cosine, f fixed in F, g fixed in M
 *     screw:          f . p_FM = pitch times the angle about f
 *     distance:       (p_FM . p_FM - l^2) / 2 l = 0;  of a program |p_FM| - eta = 0
 *     modes:          the pose is a product of modes (mode_rows.c)
 * or a relation between coordinates of the tree,
 *     coupled:        sum of ratio q = offset
 * A row's multiplier exerts a wrench w on both links. It is propagated to the ground like one more column of the inward
 * sweep, w <- w - U phi'w / D, and leaves the innovations phi'w in every free mode on its path. World axes throughout;
 * wrenches are about the origin of the link they act on.
 */
#include "constraints.h"

#include "../image/joints.h"
#include "../maths/text.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/general.h"
#include "../tree/group.h"
#include "../tree/kinematics.h"
#include "../tree/modal.h"
#include "cut_joints.h"
#include "mode_rows.h"
#include "profiles.h"
#include "velocity_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FM_NO_ARM 1e-8      /* relative to the model's length: a shorter arm counts as zero */
#define FM_COINCIDENT 1e-12 /* squared fraction of a distance below which its two points coincide */

/* A vector fixed in a link, in world axes, with its derivatives; the second one only if `moving`. */
static void fixed_vector(const fm_instance *s, int32_t link, const fm_place *p, const double *in, int moving,
                         double out[3][3])
{
    double again[3];
    if (link < 0) memcpy(out[0], in, 3 * sizeof *in);
    else rotate_out(s->world[link].R, in, out[0]);
    cross(p->w, out[0], out[1]);
    memset(out[2], 0, sizeof out[2]);
    if (!moving) return;
    cross(p->w, out[1], again);
    cross(p->alpha, out[0], out[2]);
    for (int j = 0; j < 3; j++) out[2][j] += again[j];
}

/* Sum of ratio q, or of a cam's path, less the offset, and its derivatives. */
static void coupling_at(const fm_instance *s, int32_t i, int moving, double c[3])
{
    const fm_image *m = &s->image;
    const int32_t coupling = m->row_coupling[i], first = m->coupling_first[coupling];
    c[0] = -m->row_length[i] - s->coupling_offset[coupling];
    for (int32_t j = first; j < first + m->coupling_count[coupling]; j++) {
        if (m->term_path[j] >= 0) {
            fm_add_profile(s, coupling, j, moving, c);
            continue;
        }
        const fm_link *k = s->link + m->term_link[j];
        c[0] += m->term_ratio[j] * s->work.evaluated[k->p];
        c[1] += m->term_ratio[j] * s->work.evaluated[m->n.positions + k->u];
        if (moving) c[2] += m->term_ratio[j] * s->work.accelerated[k->u];
    }
}

/* The distance of two points less the length that a program prescribes; d: from the one to the other, and its rates. */
static void length_at(const fm_instance *s, int32_t i, int moving, double d[3][3], const double *guess,
                      fm_constraint *out)
{
    const int32_t mode = s->image.row_excitation[i], u = s->image.excitation_u[mode];
    const double l = sqrt(dot(d[0], d[0]));
    for (int j = 0; j < 3; j++) out->force[j] = l > 0.0 ? d[0][j] / l : guess[j];
    const double rate = dot(out->force, d[1]);
    out->c[0] = l - s->work.evaluated[s->image.excitation_p[mode]];
    out->c[1] = rate - s->work.evaluated[s->image.n.positions + u];
    if (!moving) return;
    out->c[2] = dot(out->force, d[2]) - s->work.accelerated[u];
    if (l > 0.0) out->c[2] += (dot(d[1], d[1]) - rate * rate) / l;
}

/* Row i. `ends`: cached frames of the previous row's joint, updated to this one's. */
void fm_constraint_at(const fm_instance *s, int32_t i, int moving, fm_ends *ends, fm_constraint *out)
{
    const fm_image *m = &s->image;
    const fm_place *f = &ends->F, *g = &ends->M;
    memset(out, 0, sizeof *out);
    if (fm_row_rests(s, i)) return;
    if (m->row_kind[i] == FM_ROW_COUPLED) {
        coupling_at(s, i, moving, out->c);
        if (m->row_part[i] != FM_OF_POSITION) fm_rate_row(s, i, out);
        return;
    }
    const int32_t joint = m->row_joint[i], F = m->joint_F_link[joint], M = m->joint_M_link[joint];
    double e[3][3], b[3][3], d[3], dv[3], da[3];
    if (ends->joint != joint) {
        fm_frame_place(s, F, m->joint_F_r + 3 * joint, moving, &ends->F);
        fm_frame_place(s, M, m->joint_M_r + 3 * joint, moving, &ends->M);
        ends->joint = joint, ends->found = 0;
    }
    for (int j = 0; j < 3; j++) d[j] = g->r[j] - f->r[j], dv[j] = g->v[j] - f->v[j], da[j] = g->a[j] - f->a[j];
    memcpy(out->r, g->r, sizeof out->r);
    if (m->row_kind[i] == FM_ROW_MODES || m->row_kind[i] == FM_ROW_MODES_M) {
        fm_mode_row(s, i, moving, ends, out);
        return;
    }
    if (m->row_kind[i] >= FM_ROW_SPEED) {
        fm_velocity_row(s, i, ends, out);
        return;
    }
    fixed_vector(s, F, f, m->row_f + 3 * i, moving, e);
    if (m->row_kind[i] == FM_ROW_ALONG || m->row_kind[i] == FM_ROW_SCREW) {
        out->c[0] = dot(e[0], d) - m->row_length[i];
        out->c[1] = dot(e[0], dv) + dot(e[1], d);
        out->c[2] = (dot(e[0], da) + 2.0 * dot(e[1], dv)) + dot(e[2], d);
        memcpy(out->force, e[0], sizeof e[0]);
        if (m->row_kind[i] == FM_ROW_ALONG) return;
        double w[3], alpha[3];
        for (int j = 0; j < 3; j++) w[j] = g->w[j] - f->w[j], alpha[j] = g->alpha[j] - f->alpha[j];
        out->c[0] = dot(e[0], d) - m->row_length[i] * fm_cut_joint_angle(s, joint);
        out->c[1] -= m->row_length[i] * dot(e[0], w);
        out->c[2] -= m->row_length[i] * (dot(e[0], alpha) + dot(e[1], w));
        for (int j = 0; j < 3; j++) out->torque[j] = -m->row_length[i] * e[0][j];
    } else if (m->row_kind[i] == FM_ROW_ALONG_M) {
        fixed_vector(s, M, g, m->row_g + 3 * i, moving, b);
        out->c[0] = dot(b[0], d) - m->row_length[i];
        out->c[1] = dot(b[0], dv) + dot(b[1], d);
        out->c[2] = (dot(b[0], da) + 2.0 * dot(b[1], dv)) + dot(b[2], d);
        memcpy(out->force, b[0], sizeof b[0]);
        cross(b[0], d, out->torque);
    } else if (m->row_kind[i] == FM_ROW_PERPENDICULAR) {
        fixed_vector(s, M, g, m->row_g + 3 * i, moving, b);
        out->c[0] = dot(e[0], b[0]) - m->row_length[i];
        out->c[1] = dot(e[1], b[0]) + dot(e[0], b[1]);
        out->c[2] = (dot(e[2], b[0]) + dot(e[0], b[2])) + 2.0 * dot(e[1], b[1]);
        cross(b[0], e[0], out->torque);
    } else if (fm_is_programmed_length(m, i)) {
        double between[3][3];
        memcpy(between[0], d, sizeof d), memcpy(between[1], dv, sizeof dv), memcpy(between[2], da, sizeof da);
        length_at(s, i, moving, between, e[0], out);
    } else {
        const double l = m->row_length[i], square = dot(d, d);
        out->c[0] = (square - l * l) / (2.0 * l);
        out->c[1] = dot(d, dv) / l;
        out->c[2] = (dot(d, da) + dot(dv, dv)) / l;
        /* from a guess, if the direction is undefined */
        for (int j = 0; j < 3; j++) out->force[j] = square > FM_COINCIDENT * l * l ? d[j] / l : e[0][j];
    }
}

/* The free mode of each one-DOF link and its U over the pivot, in loop.phi. Requires world kinematics. */
void fm_world_modes(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0 || k->kind == FM_LINK_SPHERICAL || k->kind >= FM_LINK_GENERAL) continue;
        const int axis = fm_link_axis(k->kind);
        const double *R = s->world[i].R;
        double *phi = s->loop.phi + 12 * i, U[6];
        memcpy(U, s->projected[i].U, sizeof U);
        if (k->kind <= FM_LINK_REVOLUTE && !(s->stiff.time > 0.0)) U[axis] = 1.0;
        for (int j = 0; j < 3; j++) phi[j] = k->pitch * R[3 * j + axis], phi[3 + j] = k->slide * R[3 * j + axis];
        rotate_out(R, U, phi + 6);
        rotate_out(R, U + 3, phi + 9);
    }
}

/* An upper bound of the torque about a link's origin: if the force passes through the origin, the torque is round-off,
 * which must not be compared with itself. */
double fm_most_torque(const fm_instance *s, const double torque[3], const double force[3])
{
    return sqrt(dot(torque, torque)) + FM_NO_ARM * s->image.length[0] * sqrt(dot(force, force));
}

/* The upper bound of a mode's innovation, as if the wrench were parallel to it. */
static double most_of(const fm_instance *s, const double phi[6], const double w[6])
{
    return sqrt(dot(phi, phi)) * fm_most_torque(s, w, w + 3) + sqrt(dot(phi + 3, phi + 3) * dot(w + 3, w + 3));
}

/* The same for a flexible body and its frames, whose wrenches act on the modes before the body's own: `felt`
 * accumulates the forces on the modes, and their upper bounds. */
static void pass_modal(const fm_instance *s, int32_t i, double w[6], double felt[2][FM_BODY_MODES], double *y,
                       double *most)
{
    const fm_modal *b = fm_modal_of(s, i);
    const double *R = s->world[i].R;
    double at[6], column[6];
    rotate_in(R, w, at);
    rotate_in(R, w + 3, at + 3);
    for (int32_t j = 0; j < b->n; j++)
        if (fm_modal_column(s, i, j, column)) {
            felt[0][j] += dot6(column, at);
            felt[1][j] += most_of(s, column, at);
        }
    if (s->link[i].kind == FM_LINK_FRAME) return;
    for (int32_t j = 0; most != NULL && j < b->n; j++) *most += felt[1][j] * felt[1][j] * b->D[j];
    fm_group_pass(&b->group, felt[0], at, y + s->link[i].u);
    memset(felt, 0, 2 * sizeof felt[0]);
    rotate_out(R, at, w);
    rotate_out(R, at + 3, w + 3);
}

/* The part R (J + R)^-1 of a torque on a ball that goes on where springs add the inertia R, in world axes. */
static void keep_torque(const fm_instance *s, int32_t i, const double t[3], double *kept)
{
    double x[3] = {t[0], t[1], t[2]};
    fm_ball_solve(s->ball[s->link[i].nth].factor, x);
    for (int j = 0; j < 3; j++) x[j] *= s->link[i].rotor;
    rotate_out(s->world[i].R, x, kept);
}

/* Propagates a wrench (torque, force) through the free modes of a link; adds its innovations to `y`, and, unless NULL,
 * the upper bound of their contribution to K's diagonal to `most`. */
static void pass_link(const fm_instance *s, int32_t i, double w[6], double *y, double *most)
{
    const fm_link *k = s->link + i;
    const double *R = s->world[i].R;
    if (k->u < 0 || k->kind == FM_LINK_FIXED) return;
    if (k->kind == FM_LINK_GENERAL) {
        double at[6];
        rotate_in(R, w, at);
        rotate_in(R, w + 3, at + 3);
        const fm_general *g = s->general + k->nth;
        for (int32_t j = 0; most != NULL && j < g->free; j++) {
            const double highest = most_of(s, g->phi[j], at);
            *most += highest * highest * g->D[j];
        }
        fm_general_pass(s->general + k->nth, at, y + k->u);
        rotate_out(R, at, w);
        rotate_out(R, at + 3, w + 3);
        return;
    }
    if (k->kind == FM_LINK_SPHERICAL) {
        const fm_ball *b = s->ball + k->nth;
        double t[3], f[3], less[3];
        rotate_in(R, w, t);
        for (int j = 0; j < 3; j++) f[j] = (b->W[0][j] * t[0] + b->W[1][j] * t[1]) + b->W[2][j] * t[2];
        const double second = t[1] - b->factor[3] * t[0];
        if (most != NULL) {
            const double highest = fm_most_torque(s, w, w + 3);
            *most += highest * highest * ((b->factor[0] + b->factor[1]) + b->factor[2]);
        }
        y[k->u] += t[0];
        y[k->u + 1] += second;
        y[k->u + 2] += (t[2] - b->factor[4] * t[0]) - b->factor[5] * second;
        rotate_out(R, f, less);
        for (int j = 0; j < 3; j++) w[j] = 0.0, w[3 + j] -= less[j];
        if (s->stiff.time > 0.0) keep_torque(s, i, t, w);
        return;
    }
    const double *phi = s->loop.phi + 12 * i, *U = phi + 6, along = dot6(phi, w);
    y[k->u] += along;
    if (most != NULL) {
        const double highest = most_of(s, phi, w);
        *most += highest * highest * s->projected[i].D;
    }
    for (int j = 0; j < 6; j++) w[j] -= U[j] * along;
}

/* The wrench that a generalised force on a link's free mode passes to its parent; adds its innovations. */
static void pass_force(const fm_instance *s, int32_t i, int32_t part, double force, double w[6], double *y)
{
    const fm_link *k = s->link + i;
    if (k->kind == FM_LINK_SPHERICAL) {
        const fm_ball *b = s->ball + k->nth;
        double t[3] = {0.0, 0.0, 0.0}, kept[3] = {0.0, 0.0, 0.0};
        t[part] = force;
        const double second = t[1] - b->factor[3] * t[0];
        y[k->u] += t[0];
        y[k->u + 1] += second;
        y[k->u + 2] += (t[2] - b->factor[4] * t[0]) - b->factor[5] * second;
        rotate_out(s->world[i].R, b->W[part], w + 3);
        for (int j = 0; j < 3; j++) w[3 + j] *= force;
        if (s->stiff.time > 0.0) keep_torque(s, i, t, kept);
        rotate_out(s->world[i].R, t, w);
        for (int j = 0; j < 3; j++) w[j] -= kept[j];
    } else {
        const double signed_force = force * k->sign, *U = s->loop.phi + 12 * i + 6;
        for (int j = 0; j < 6; j++) w[j] = U[j] * signed_force;
        y[k->u] += signed_force;
    }
    for (int j = 0; j < 6; j++) w[j] = -w[j];
}

/* Moves a wrench from a point to a link's origin. */
static void move_to(const fm_instance *s, int32_t link, const double *from, double w[6])
{
    double arm[3], add[3];
    for (int j = 0; j < 3; j++) arm[j] = from[j] - s->world[link].r[j];
    cross(arm, w + 3, add);
    for (int j = 0; j < 3; j++) w[j] += add[j];
}

/* Propagates a wrench at a point of a link to the ground. */
static void pass_path(const fm_instance *s, int32_t link, const double *at, const double *torque, const double *force,
                      double sign, double *y, double *most)
{
    double w[6], felt[2][FM_BODY_MODES];
    const double *r = at;
    if (s->image.n.modals > 0) memset(felt, 0, sizeof felt);
    for (int j = 0; j < 3; j++) w[j] = sign * torque[j], w[3 + j] = sign * force[j];
    for (int32_t i = link; i >= 0; i = s->link[i].parent) {
        move_to(s, i, r, w);
        if (s->link[i].kind >= FM_LINK_MODAL) pass_modal(s, i, w, felt, y, most);
        else pass_link(s, i, w, y, most);
        r = s->world[i].r;
    }
}

/* Propagates the wrenches of a cut joint's row on M's and F's links to the ground; from the link where their paths meet
 * they are summed, unless upper bounds are requested in `most`. */
void fm_pass_loop(const fm_instance *s, int32_t joint, const fm_constraint *row, double *y, double *most)
{
    int32_t link[2] = {s->image.joint_M_link[joint], s->image.joint_F_link[joint]};
    const double *r[2] = {row->r, row->r};
    double w[2][6];
    if (most != NULL || s->image.n.modals > 0) {
        for (int e = 0; e < 2; e++)
            pass_path(s, link[e], row->r, row->torque, row->force, e == 0 ? 1.0 : -1.0, y, most);
        return;
    }
    for (int j = 0; j < 3; j++) w[0][j] = row->torque[j], w[0][3 + j] = row->force[j];
    for (int j = 0; j < 6; j++) w[1][j] = -w[0][j];
    for (;;) {
        const int e = link[1] > link[0]; /* a parent's index is smaller than its child's */
        const int32_t i = link[e];
        if (i < 0) return;
        move_to(s, i, r[e], w[e]);
        if (link[1] == link[0]) {
            move_to(s, i, r[1], w[1]);
            for (int j = 0; j < 6; j++) w[0][j] += w[1][j];
            link[1] = -1;
        }
        pass_link(s, i, w[e], y, NULL);
        r[e] = s->world[i].r;
        link[e] = s->link[i].parent;
    }
}

/* The innovations of a generalised force on a free mode of a link; on an excited one the drive takes it. Requires
 * fm_world_modes. most: as in pass_link, where the mode is the only one. */
void fm_pass_force(const fm_instance *s, int32_t link, int32_t part, double force, double *y, double *most)
{
    double w[6];
    if (s->link[link].kind == FM_LINK_DRIVEN) return;
    pass_force(s, link, part, force, w, y);
    if (most != NULL) *most += force * force * s->projected[link].D;
    pass_path(s, s->link[link].parent, s->world[link].r, w, w + 3, 1.0, y, most);
}

/* The row of a coupling: a generalised force on each of its coordinates. */
void fm_pass_coupling(const fm_instance *s, int32_t i, double *y, double *most)
{
    const fm_image *m = &s->image;
    const int32_t coupling = m->row_coupling[i], first = m->coupling_first[coupling];
    for (int32_t j = first; j < first + m->coupling_count[coupling]; j++)
        fm_pass_force(s, m->term_link[j], 0, fm_ratio(s, coupling, j), y, most);
}

/* Whether a row constrains angles. */
int fm_row_turns(const fm_image *m, int32_t row)
{
    const int32_t coupling = m->row_coupling[row];
    if (coupling < 0) return m->row_kind[row] == FM_ROW_PERPENDICULAR;
    return !m->mode_linear[m->link_u[m->term_link[m->coupling_first[coupling]]]];
}

/* The unit in which violations of a row count: 1 rad, or the model's length. one: the row. */
double fm_row_unit(const fm_instance *s, int32_t row, const fm_constraint *one)
{
    const fm_image *m = &s->image;
    const double length = m->length[0];
    double most = 0.0;
    switch (m->row_kind[row]) {
    case FM_ROW_PERPENDICULAR:
    case FM_ROW_SPIN:
    case FM_ROW_SPIN_M: return 1.0;
    case FM_ROW_MODES:
    case FM_ROW_MODES_M: return dot(one->force, one->force) > 0.0 ? length : 1.0;
    case FM_ROW_TWIST:
    case FM_ROW_TWIST_M:
        return sqrt(dot(m->row_f + 3 * row, m->row_f + 3 * row)) +
               length * sqrt(dot(m->row_g + 3 * row, m->row_g + 3 * row));
    case FM_ROW_GIVEN: return m->mode_linear[m->joint_u[m->row_joint[row]] + m->row_part[row]] ? length : 1.0;
    case FM_ROW_COUPLED:
        for (int32_t j = m->coupling_first[m->row_coupling[row]], n = m->coupling_count[m->row_coupling[row]]; n > 0;
             j++, n--) {
            if (m->term_path[j] >= 0) continue; /* counts in the follower's unit */
            most = fmax(most, fabs(m->term_ratio[j]) * (m->mode_linear[m->link_u[m->term_link[j]]] ? length : 1.0));
        }
        return most;
    default: return length;
    }
}

/* The largest violation of positions (level 0) or velocities (1), in rad or model's lengths; all of them, in the rows'
 * units, in s->loop.c. Requires world kinematics. */
double fm_violation(fm_instance *s, int level)
{
    double worst = 0.0;
    fm_ends ends = {.joint = -1};
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        fm_constraint one;
        fm_constraint_at(s, i, 0, &ends, &one);
        s->loop.c[3 * i + level] = one.c[level];
        const double off = fabs(one.c[level]) / fm_row_unit(s, i, &one);
        worst = off > worst || isnan(off) ? off : worst;
    }
    return worst;
}

/* The row with the largest violation of positions (level 0) or velocities (1), the norm of the violations of its
 * joint's rows of the same kind, and their unit. */
int32_t fm_worst_row(fm_instance *s, int level, double *gap, double *unit)
{
    int32_t worst = 0;
    double most = -1.0, sum = 0.0;
    fm_constraint one;
    fm_ends ends = {.joint = -1};
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        fm_constraint_at(s, i, 0, &ends, &one);
        const double own = fm_row_unit(s, i, &one), off = fabs(one.c[level]) / own;
        if (!(off <= most)) worst = i, most = off, *unit = own;
    }
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        if (s->image.row_joint[i] != s->image.row_joint[worst] || s->image.row_kind[i] != s->image.row_kind[worst])
            continue;
        fm_constraint_at(s, i, 0, &ends, &one);
        const double l = s->image.row_length[i], square = l * l + 2.0 * l * one.c[0];
        const int stretched =
            level == 0 && s->image.row_kind[i] == FM_ROW_DISTANCE && !fm_is_programmed_length(&s->image, i);
        const double off = stretched ? sqrt(square > 0.0 ? square : 0.0) - l : one.c[level];
        sum += off * off;
    }
    *gap = sqrt(sum);
    return worst;
}

/* Appends `before` and a joint's name; returns the full length, truncated or not. */
static size_t add_name(const fm_instance *s, int32_t joint, const char *before, char *out, size_t used, size_t capacity)
{
    const char *name = s->image.text + s->image.joint_name[joint];
    return used + (size_t)fm_print(out + used, used < capacity ? capacity - used : 0, "%s%s", before, name);
}

/* The joints of a row's loop, or path to the ground, joined by hyphens; or a coupling and its joints. */
void fm_loop_names(const fm_instance *s, int32_t row, char *out, size_t capacity)
{
    const fm_image *m = &s->image;
    const int32_t joint = m->row_joint[row], coupling = m->row_coupling[row];
    int32_t ends[2] = {m->joint_F_link[joint], m->joint_M_link[joint]}, last = -1;
    size_t used = 0;
    if (coupling >= 0) {
        used = (size_t)fm_print(out, capacity, "coupling %s", m->text + m->coupling_name[coupling]);
        for (int32_t i = 0; i < m->coupling_count[coupling] && used + 8 < capacity; i++)
            used = add_name(s, m->link_joint[m->term_link[m->coupling_first[coupling] + i]], i > 0 ? "-" : " of ", out,
                            used, capacity);
    } else {
        used = add_name(s, joint, "loop ", out, used, capacity);
    }
    while (coupling < 0 && ends[0] != ends[1] && used + 8 < capacity) {
        int32_t *end = ends[0] > ends[1] ? ends : ends + 1;
        if (m->link_joint[*end] != last) {
            last = m->link_joint[*end];
            used = add_name(s, last, "-", out, used, capacity);
        }
        *end = m->link_parent[*end];
    }
    if (used >= capacity && capacity > 4) memcpy(out + capacity - 4, "...", 4);
}
