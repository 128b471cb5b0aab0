/* modal.c: flexible bodies with a floating frame and modes.
 *
 * A point at r0 in the undeformed floating frame is at r = r0 + sum of phi_k q_k; q are the modal coordinates. With
 * alpha and a (less gravity) the accelerations of the floating frame, w its angular velocity, and the integrals over
 * the body's mass
 *     h = int r,   J = int (r.r - r r'),   S_k = int phi_k,   N_k = int r phi_k' = A_k + sum over j of q_j B_jk,
 *     C_k = int r x phi_k (from N_k),   M_jk = int phi_j . phi_k,   A_k and B_jk = int phi_j phi_k' in the image,
 * the inertial torque, force and modal forces are
 *     J alpha + h x a + C q''      + w x J w + 2 sum of q'_j (tr N_j - N_j') w,
 *     m a + alpha x h + S q''      + w x (w x h) + 2 w x S q',
 *     C_k . alpha + S_k . a + M q'' + w' N_k w - w.w tr N_k + 2 w . sum of q'_j int phi_j x phi_k.
 * The applied modal forces are -K q - D q' and those of wrenches at frames that move with the modes.
 *
 * Shapes of second order, by which a beam shortens, follow the modes: the coordinate of each is z_a = q' C_a q / 2, and
 * all above is meant with (q, z) for q. With Z_ak = sum over j of C_ajk q_j, what multiplies the rate or the
 * acceleration of a mode has sum over a of Z_ak times that of the shapes besides (the rows of S, C, M and f), and z''
 * has q'' to the rest of z'' at constant q', q'' = 0: z''_a = q' C_a q' of the rates. So the kinetic energy is that of
 * a displacement, and no mass matrix is indefinite, as it would be if S, C and J were expanded to the second order by
 * themselves.
 *
 * Such a frame is a separate link without mass (FM_LINK_FRAME). Its motion relative to the floating frame is the
 * translation psi q' and a rotation tau q', tau = T theta of its rotation vector theta q (bend.c), while the floating
 * frame moves in space. Its S and e (after the transformation X) add X'S X to the body's S, X'S psi to U, psi'S psi to
 * S_qq and psi'e to f (psi, tau in one column). The joint that carries the body may be at such a frame too. Then the
 * parent link moves with the frame at p = p0 + psi q, rotated by theta q, and the floating frame moves relative to it
 * by phi = -(tau, psi - tau x p), so that with z = z' + phi q''
 *     U <- U + S phi,   S_qq <- S_qq + phi'U + U'phi + phi'S phi,   f <- f + phi'e.
 * Then the modes are eliminated (group.c). All in the axes of the floating frame's link.
 */
#include "modal.h"

#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "bend.h"
#include "group.h"
#include "links.h"

#include <math.h>
#include <string.h>

/* Called once, after the image has been read. */
void fm_modal_structure(fm_instance *s)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.modals; i++) {
        fm_modal *b = s->modal + i;
        const int32_t pair = m->modal_pair[i], frame = m->link_frame[m->modal_link[i]];
        b->link = m->modal_link[i];
        b->n = m->modal_shapes[i];
        b->all = b->n + m->modal_seconds[i];
        b->first = m->modal_shape[i];
        b->pair_mass = m->pair_mass + pair;
        b->pair_stiffness = m->pair_stiffness + pair;
        b->pair_damping = m->pair_damping + pair;
        b->pair_product = m->pair_product + 9 * pair;
        b->mass = b->pair_mass;
        if (b->all > b->n) {
            b->follower = m->follower + m->modal_follower[i];
            b->mass = b->mass_now = s->mass_now + pair;
        }
        b->base = frame < 0 ? NULL : s->bend + frame;
        memcpy(b->p0, m->modal_r + 3 * i, sizeof b->p0);
        rotate_out(m->link_R + 9 * b->link, b->p0, b->r0);
        for (int j = 0; j < 3; j++) b->r0[j] += m->link_r[3 * b->link + j];
        b->group = (fm_group){b->n, FM_BODY_MODES, b->U, b->L[0], b->D, b->g};
    }
}

/* Called after every change of a parameter: the body's rigid inertia. */
void fm_modal_derive(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.modals; i++) {
        fm_modal *b = s->modal + i;
        memcpy(b->J0, s->rigid[b->link].J, sizeof b->J0);
        memcpy(b->h0, s->rigid[b->link].h, sizeof b->h0);
    }
}

/* The modal mass at the present shape: M + Z' M_zq + M_qz Z + Z' M_zz Z. */
static void follow_mass(fm_modal *b)
{
    const int32_t n = b->n, all = b->all;
    double half[FM_BODY_MODES]; /* of a shape of second order: its mass with each mode, with half of that with others */
    for (int32_t i = 0; i < n; i++) memcpy(b->mass_now + i * n, b->pair_mass + i * all, (size_t)n * sizeof *half);
    for (int32_t a = n; a < all; a++) {
        const double *lean = b->lean[a - n];
        for (int32_t i = 0; i < n; i++) {
            half[i] = b->pair_mass[a * all + i];
            for (int32_t c = n; c < all; c++) half[i] += 0.5 * b->pair_mass[a * all + c] * b->lean[c - n][i];
        }
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) b->mass_now[i * n + j] += lean[i] * half[j] + half[i] * lean[j];
    }
}

/* The coordinates of all shapes at those of the modes, what those of second order follow of their rates, and the modal
 * mass. */
void fm_modal_bend(fm_modal *b, const double *q)
{
    memcpy(b->bent, q, (size_t)b->n * sizeof *q);
    for (int32_t a = 0; a < b->all - b->n; a++) {
        const double *C = b->follower + a * b->n * b->n;
        double sum = 0.0;
        for (int32_t j = 0; j < b->n; j++) {
            double row = 0.0;
            for (int32_t k = 0; k < b->n; k++) row += C[j * b->n + k] * q[k];
            b->lean[a][j] = row;
            sum += q[j] * row;
        }
        b->bent[b->n + a] = 0.5 * sum;
    }
    if (b->all > b->n) follow_mass(b);
}

static const fm_bend *bend_of(const fm_instance *s, int32_t link)
{
    return s->bend + s->image.link_frame[link];
}

/* The motion of a floating frame or a frame relative to its parent link per mode, in its own axes; 0: none. */
int fm_modal_column(const fm_instance *s, int32_t link, int32_t mode, double column[6])
{
    const fm_modal *b = fm_modal_of(s, link);
    if (link == b->link) {
        memcpy(column, b->phi[mode], sizeof b->phi[mode]);
        return b->base != NULL;
    }
    const fm_bend *f = bend_of(s, link);
    rotate_in(s->axes[link].R, f->turn + 3 * mode, column);
    rotate_in(s->axes[link].R, f->rows + 6 * mode, column + 3);
    return 1;
}

/* Sum over the modes of columns of three, `stride` apart. */
static void sum_of(const double *columns, int32_t stride, int32_t n, const double *q, double sum[3])
{
    memset(sum, 0, 3 * sizeof *sum);
    for (int32_t k = 0; k < n; k++)
        for (int j = 0; j < 3; j++) sum[j] += columns[stride * k + j] * q[k];
}

/* Rotation vector of a frame, or of the frame that attaches the body; returns its part about z, the angle of the link
 * [rad]. */
double fm_modal_angle(fm_instance *s, int32_t link, const double *y)
{
    const fm_modal *b = fm_modal_of(s, link);
    const int32_t frame = s->image.link_frame[link];
    if (frame < 0) return 0.0;
    fm_modal_bend(s->modal + s->image.link_modal[link], y + s->link[b->link].p);
    fm_bend_place(s, frame, b);
    return link == b->link ? -s->bend[frame].theta[2] : s->bend[frame].theta[2];
}

/* The rotation of its link as a unit quaternion. */
void fm_modal_quaternion(const fm_instance *s, int32_t link, const double *y, double q[4])
{
    static const double none[4] = {1.0, 0.0, 0.0, 0.0};
    const fm_modal *b = fm_modal_of(s, link);
    double moved[6];
    memcpy(q, none, sizeof none);
    if (s->image.link_frame[link] < 0) return;
    fm_modal_bend(s->modal + s->image.link_modal[link], y + s->link[b->link].p);
    fm_bend_moved(bend_of(s, link), b, b->bent, moved);
    fm_bend_quaternion(moved + 3, link == b->link ? -1.0 : 1.0, q);
}

/* The rotation matrix; of a rotation about z from its cosine and sine. */
static void rotate_link(fm_instance *s, int32_t link)
{
    const double *R0 = s->axes[link].R0, c = s->turn[link].c, sn = s->turn[link].s;
    double *R = s->axes[link].R, E[9];
    if (!bend_of(s, link)->planar) {
        fm_bend_axes(bend_of(s, link), link == fm_modal_of(s, link)->link ? -1.0 : 1.0, E);
        product(R0, E, R);
        return;
    }
    for (int i = 0; i < 3; i++) {
        R[3 * i] = R0[3 * i] * c + R0[3 * i + 1] * sn;
        R[3 * i + 1] = R0[3 * i + 1] * c - R0[3 * i] * sn;
        R[3 * i + 2] = R0[3 * i + 2];
    }
}

/* int r x phi from int r phi'. */
static void moment_of(const double *N, double out[3])
{
    out[0] = N[5] - N[7];
    out[1] = N[6] - N[2];
    out[2] = N[1] - N[3];
}

/* Adds to the torque and force of each mode those of the shapes that follow it. */
static void follow(fm_modal *b)
{
    for (int32_t i = 0; i < b->n; i++)
        for (int32_t a = b->n; a < b->all; a++)
            for (int x = 0; x < 6; x++) b->own[i][x] += b->lean[a - b->n][i] * b->own[a][x];
}

/* First moment, inertia and modal inertia terms of the deformed body. */
static void bend(fm_instance *s, fm_modal *b)
{
    fm_rigid *k = s->rigid + b->link;
    const double *q = b->bent;
    double P[9] = {0.0};
    memcpy(k->h, b->h0, sizeof k->h);
    memcpy(k->J, b->J0, sizeof k->J);
    for (int32_t i = 0; i < b->all; i++) {
        const double *A = s->image.shape_moment + 9 * (b->first + i), *S = s->image.shape_first + 3 * (b->first + i);
        double *N = b->N[i];
        memcpy(N, A, sizeof b->N[i]);
        for (int32_t j = 0; j < b->all; j++)
            for (int x = 0; x < 9; x++) N[x] += q[j] * b->pair_product[9 * (j * b->all + i) + x];
        for (int x = 0; x < 3; x++) k->h[x] += S[x] * q[i], b->own[i][3 + x] = S[x];
        for (int x = 0; x < 9; x++) P[x] += q[i] * (A[x % 3 * 3 + x / 3] + N[x]);
        moment_of(N, b->own[i]);
    }
    k->J[0] += P[4] + P[8], k->J[1] -= P[1], k->J[2] -= P[2];
    k->J[3] += P[0] + P[8], k->J[4] -= P[5], k->J[5] += P[0] + P[4];
    fm_make_inertia_lanes(s, b->link);
    if (b->all > b->n) follow(b);
}

/* The floating frame's pose relative to the frame that carries the body. */
static void place_base(fm_instance *s, fm_modal *b)
{
    double r[3];
    if (b->base == NULL) return;
    rotate_link(s, b->link);
    for (int j = 0; j < 3; j++) b->p[j] = b->base->moved[j] + b->p0[j];
    rotate_out(s->axes[b->link].R, b->p, r);
    for (int j = 0; j < 3; j++) r[j] = b->r0[j] - r[j];
    fm_lane_set(s, r, b->link, r);
    for (int32_t k = 0; k < b->n; k++) {
        const double *turn = b->base->turn + 3 * k, *psi = b->base->rows + 6 * k;
        double arm[3];
        cross(turn, b->p, arm);
        for (int j = 0; j < 3; j++) b->phi[k][j] = -turn[j], b->phi[k][3 + j] = arm[j] - psi[j];
    }
}

/* Everything that depends on the modal coordinates, of bodies in planar trees or of all others. Requires cosines and
 * sines of the rotations. */
void fm_modal_place(fm_instance *s, const double *y, int planar)
{
    for (int32_t i = 0; i < s->image.n.modals; i++) {
        fm_modal *b = s->modal + i;
        if (fm_moves_in_plane(s, b->link) != planar) continue;
        fm_modal_bend(b, y + s->link[b->link].p);
        if (planar && b->base != NULL) fm_bend_place(s, s->image.link_frame[b->link], b);
        bend(s, b);
        place_base(s, b);
    }
    for (int32_t i = 0; i < s->image.n.frames; i++) {
        const int32_t link = s->image.frame_link[i];
        const fm_modal *b = fm_modal_of(s, link);
        double r[3];
        if (link == b->link || fm_moves_in_plane(s, link) != planar) continue;
        rotate_link(s, link);
        if (planar) fm_bend_place(s, i, b);
        for (int j = 0; j < 3; j++) r[j] = s->bend[i].moved[j] + s->rigid[link].r[j];
        fm_lane_set(s, r, link, r);
    }
}

/* Velocity of a floating frame or a frame relative to its parent link: w in its own axes, v in the parent's. */
void fm_modal_velocity(const fm_instance *s, int32_t link, const double *y, double w[3], double v[3])
{
    const fm_modal *b = fm_modal_of(s, link);
    const double *rates = y + s->image.n.positions + s->link[b->link].u;
    double in[3] = {0.0, 0.0, 0.0};
    memset(w, 0, 3 * sizeof *w);
    if (link != b->link) {
        sum_of(bend_of(s, link)->rows, 6, b->n, rates, v);
        sum_of(bend_of(s, link)->turn, 3, b->n, rates, in);
        rotate_in(s->axes[link].R, in, w);
        return;
    }
    for (int32_t k = 0; b->base != NULL && k < b->n; k++)
        for (int j = 0; j < 3; j++) w[j] += b->phi[k][j] * rates[k], in[j] += b->phi[k][3 + j] * rates[k];
    rotate_out(s->axes[link].R, in, v);
}

/* First sweep: wp and w are the angular velocities of the parent link and of this one, each in its own axes. */
void fm_modal_angular_velocity(fm_instance *s, int32_t link, const double *wp, double *w, const double *y)
{
    double in[3], spin[3], v[3];
    fm_modal_velocity(s, link, y, spin, v);
    rotate_in(s->axes[link].R, wp, in);
    for (int i = 0; i < 3; i++) w[i] = in[i] + spin[i];
    cross(in, spin, s->projected[link].bias);
    if (s->image.link_frame[link] < 0 || bend_of(s, link)->planar) return;
    const fm_modal *b = fm_modal_of(s, link);
    double drift[3];
    fm_bend_drift(bend_of(s, link), b, y + s->image.n.positions + s->link[b->link].u, drift);
    if (link != b->link) rotate_in(s->axes[link].R, drift, drift);
    for (int i = 0; i < 3; i++) s->projected[link].bias[i] += link == b->link ? -drift[i] : drift[i];
}

static void add_to_bias(fm_instance *s, int32_t link, const double *v, const double *drift)
{
    double wp[3], push[3];
    fm_parent_w(s, s->link[link].parent, wp);
    cross(wp, v, push);
    for (int j = 0; j < 3; j++) s->lane[link / FM_LANE_WIDTH].bias[j][link % FM_LANE_WIDTH] += 2.0 * push[j] + drift[j];
}

/* Bias acceleration of the floating frame's origin relative to the parent link, in the parent's axes. */
static void bias_of(const fm_instance *s, const fm_modal *b, const double *rates, double drift[3])
{
    double turn[3], pdot[3], own[3], coriolis[3], arm[3], inwards[3], in[3], seconds[6];
    memset(drift, 0, 3 * sizeof *drift);
    if (b->base == NULL) return;
    sum_of(b->base->turn, 3, b->n, rates, turn);
    sum_of(b->base->rows, 6, b->n, rates, pdot);
    fm_bend_drift(b->base, b, rates, own);
    fm_bend_seconds(b->base, b, rates, seconds);
    cross(own, b->p, in);
    cross(turn, pdot, coriolis);
    cross(turn, b->p, arm);
    cross(turn, arm, inwards);
    for (int j = 0; j < 3; j++) in[j] += (2.0 * coriolis[j] - inwards[j]) - seconds[j];
    rotate_out(s->axes[b->link].R, in, drift);
}

/* Inertial terms of the body due to modal rates, in addition to those of a rigid body. */
static void add_own(fm_instance *s, fm_modal *b, const double *modal_rates)
{
    double rates[FM_BODY_MODES + FM_BODY_SECONDS];
    memcpy(rates, modal_rates, (size_t)b->n * sizeof *rates);
    for (int32_t a = b->n; a < b->all; a++) {
        rates[a] = 0.0;
        for (int32_t k = 0; k < b->n; k++) rates[a] += b->lean[a - b->n][k] * modal_rates[k];
    }
    fm_inertial *own = s->inertial + b->link / FM_LANE_WIDTH;
    const int32_t at = b->link % FM_LANE_WIDTH;
    double w[3], flow[3] = {0.0, 0.0, 0.0}, torque[3] = {0.0, 0.0, 0.0}, force[3];
    fm_lane_get(s, w, b->link, w);
    const double square = dot(w, w);
    for (int32_t k = 0; k < b->all; k++) {
        const double *N = b->N[k], *S = s->image.shape_first + 3 * (b->first + k);
        const double trace = (N[0] + N[4]) + N[8];
        double Nw[3], moment[3], coriolis = 0.0;
        rotate_in(N, w, Nw);
        for (int j = 0; j < 3; j++) {
            torque[j] += rates[k] * (trace * w[j] - Nw[j]);
            flow[j] += S[j] * rates[k];
        }
        for (int32_t j = 0; j < b->all; j++) {
            moment_of(b->pair_product + 9 * (j * b->all + k), moment);
            coriolis += rates[j] * dot(w, moment);
        }
        b->f[k] = (dot(Nw, w) - square * trace) + 2.0 * coriolis;
    }
    cross(w, flow, force);
    for (int j = 0; j < 3; j++) own->torque[j][at] += 2.0 * torque[j], own->force[j][at] += 2.0 * force[j];
    for (int32_t a = b->n; a < b->all; a++) {
        const double second = fm_bend_second(b, a - b->n, rates);
        for (int j = 0; j < 3; j++)
            own->torque[j][at] += b->own[a][j] * second, own->force[j][at] += b->own[a][3 + j] * second;
        for (int32_t k = 0; k < b->all; k++) b->f[k] += b->pair_mass[a * b->all + k] * second;
    }
    for (int32_t k = 0; k < b->n; k++)
        for (int32_t a = b->n; a < b->all; a++) b->f[k] += b->lean[a - b->n][k] * b->f[a];
}

void fm_modal_own(fm_instance *s, int32_t body, const double *y)
{
    add_own(s, s->modal + body, y + s->image.n.positions + s->link[s->modal[body].link].u);
}

/* After the local terms of each link: the bias terms of modes, and initial values of the sums over the body's frames.
 */
void fm_modal_bias(fm_instance *s, const double *y)
{
    double w[3], v[3], drift[3], seconds[6];
    for (int32_t i = 0; i < s->image.n.modals; i++) {
        fm_modal *b = s->modal + i;
        const double *rates = y + s->image.n.positions + s->link[b->link].u;
        if (fm_moves_in_plane(s, b->link)) continue;
        fm_modal_velocity(s, b->link, y, w, v);
        bias_of(s, b, rates, drift);
        add_to_bias(s, b->link, v, drift);
        add_own(s, b, rates);
        memcpy(b->U, b->own, (size_t)b->n * sizeof b->U[0]);
        for (int32_t j = 0; j < b->n; j++)
            for (int32_t k = 0; k <= j; k++) b->M[j][k] = b->mass[j * b->n + k];
    }
    for (int32_t i = 0; i < s->image.n.frames; i++) {
        const int32_t link = s->image.frame_link[i];
        if (s->link[link].kind != FM_LINK_FRAME || fm_moves_in_plane(s, link)) continue;
        const fm_modal *b = fm_modal_of(s, link);
        fm_modal_velocity(s, link, y, w, v);
        fm_bend_seconds(s->bend + i, b, y + s->image.n.positions + s->link[b->link].u, seconds);
        add_to_bias(s, link, v, seconds);
    }
}

/* Second sweep: adds a frame's part to the modes' U, S_qq and f. `c` is in the floating frame's axes about the frame's
 * origin, which is at r. */
void fm_modal_add_frame(fm_instance *s, int32_t link, const fm_articulated *c, const double *r)
{
    fm_modal *b = fm_modal_of(s, link);
    const fm_bend *at = bend_of(s, link);
    const double e[6] = {c->n[0], c->n[1], c->n[2], c->f[0], c->f[1], c->f[2]};
    for (int32_t k = 0; k < b->n; k++) {
        const double *turn = at->turn + 3 * k, *psi = at->rows + 6 * k;
        const double column[6] = {turn[0], turn[1], turn[2], psi[0], psi[1], psi[2]};
        double wrench[6], moment[3];
        fm_articulated_times(c, column, wrench);
        for (int32_t j = k; j < b->n; j++)
            b->M[j][k] += dot(at->turn + 3 * j, wrench) + dot(at->rows + 6 * j, wrench + 3);
        b->f[k] += dot6(column, e);
        cross(r, wrench + 3, moment);
        for (int j = 0; j < 3; j++) b->U[k][j] += wrench[j] + moment[j], b->U[k][3 + j] += wrench[3 + j];
    }
}

/* Converts S_qq, U and f from motions of the floating frame to motions of the parent link. */
static void project_base(fm_modal *b, const fm_articulated *c)
{
    const double e[6] = {c->n[0], c->n[1], c->n[2], c->f[0], c->f[1], c->f[2]};
    double Sphi[FM_BODY_MODES][6];
    if (b->base == NULL) return;
    for (int32_t k = 0; k < b->n; k++) {
        fm_articulated_times(c, b->phi[k], Sphi[k]);
        b->f[k] += dot6(b->phi[k], e);
    }
    for (int32_t j = 0; j < b->n; j++)
        for (int32_t k = 0; k <= j; k++)
            b->M[j][k] += (dot6(b->phi[j], b->U[k]) + dot6(b->U[j], b->phi[k])) + dot6(b->phi[j], Sphi[k]);
    for (int32_t k = 0; k < b->n; k++)
        for (int j = 0; j < 6; j++) b->U[k][j] += Sphi[k][j];
}

/* Eliminates the modes from the sum over the body's frames. */
void fm_modal_project(fm_instance *s, int32_t link, fm_articulated *c, const double *tau)
{
    fm_modal *b = fm_modal_of(s, link);
    const double *turn = s->projected[link].bias, *applied = tau + s->link[link].u;
    const double push[6] = {turn[0], turn[1], turn[2], 0.0, 0.0, 0.0};
    double most[FM_BODY_MODES], x[FM_BODY_MODES];
    project_base(b, c);
    for (int32_t j = 0; j < b->n; j++) {
        memcpy(b->L[j], b->M[j], sizeof b->L[j]);
        most[j] = fabs(b->M[j][j]);
        x[j] = applied[j] - b->f[j];
    }
    for (int32_t j = 0; s->stiff.time > 0.0 && j < b->n; j++)
        for (int32_t k = 0; k <= j; k++)
            b->L[j][k] +=
                s->stiff.time * (b->pair_damping[j * b->all + k] + s->stiff.time * b->pair_stiffness[j * b->all + k]);
    fm_group_factor(&b->group, most, s->pivot + 2 * link);
    fm_group_eliminate(&b->group, c, x);
    fm_group_push(c, push);
}

/* Third sweep: alpha and a come in as the parent link's motion gives them, and go out as the floating frame's. */
void fm_modal_outward(fm_instance *s, int32_t link, double *alpha, double *a, double *udot)
{
    const fm_modal *b = fm_modal_of(s, link);
    const double z[6] = {alpha[0], alpha[1], alpha[2], a[0], a[1], a[2]};
    double *to = udot + s->link[link].u;
    fm_group_outward(&b->group, z, to);
    for (int32_t k = 0; b->base != NULL && k < b->n; k++)
        for (int j = 0; j < 3; j++) alpha[j] += b->phi[k][j] * to[k], a[j] += b->phi[k][3 + j] * to[k];
}

/* The same for a frame: adds the effect of the modal accelerations, in its axes. */
void fm_modal_frame_acceleration(const fm_instance *s, int32_t link, double *alpha, double *a, const double *udot)
{
    const fm_modal *b = fm_modal_of(s, link);
    const double *rates = udot + s->link[b->link].u;
    double v[3], w[3];
    sum_of(bend_of(s, link)->rows, 6, b->n, rates, v);
    sum_of(bend_of(s, link)->turn, 3, b->n, rates, w);
    rotate_in(s->axes[link].R, v, v);
    rotate_in(s->axes[link].R, w, w);
    for (int j = 0; j < 3; j++) a[j] += v[j], alpha[j] += w[j];
}

/* Adds -K q - D q' to the forces on the modes of a body. */
void fm_modal_forces(const fm_instance *s, int32_t link, const double *y, double *tau)
{
    const fm_modal *b = fm_modal_of(s, link);
    const double *q = y + s->link[link].p, *rates = y + s->image.n.positions + s->link[link].u;
    for (int32_t j = 0; j < b->n; j++) {
        double sum = 0.0;
        for (int32_t k = 0; k < b->n; k++)
            sum += b->pair_stiffness[j * b->all + k] * q[k] + b->pair_damping[j * b->all + k] * rates[k];
        tau[j] -= sum;
    }
}

/* Adds the inertial wrench of the modal accelerations (motion/joint_forces.c). */
void fm_modal_weigh(const fm_instance *s, int32_t link, const double *udot, double wrench[6])
{
    const fm_modal *b = fm_modal_of(s, link);
    for (int32_t k = 0; k < b->n; k++)
        for (int j = 0; j < 6; j++) wrench[j] += b->own[k][j] * udot[s->link[link].u + k];
}

/* Kinetic energy of the modal rates and strain energy; spin and v: of the floating frame, in its axes. */
double fm_modal_energy(const fm_instance *s, int32_t link, const double *spin, const double *v)
{
    const fm_modal *b = fm_modal_of(s, link);
    const double *q = s->y + s->link[link].p, *rates = s->y + s->image.n.positions + s->link[link].u;
    double energy = 0.0;
    for (int32_t j = 0; j < b->n; j++) {
        energy += rates[j] * (dot(b->own[j], spin) + dot(b->own[j] + 3, v));
        for (int32_t k = 0; k < b->n; k++)
            energy +=
                0.5 * (b->mass[j * b->n + k] * rates[j] * rates[k] + b->pair_stiffness[j * b->all + k] * q[j] * q[k]);
    }
    return energy;
}
