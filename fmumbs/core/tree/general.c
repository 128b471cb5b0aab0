/* general.c: links of several screws with linear relations between their velocities; their modes are eliminated
 * together.
 *
 * The pose after n screws with the rates r is R_1 r_1 R_2 r_2 ..., the velocity at M's origin G = J r. Velocity rows w'
 * in the axes after one of the screws relate the free rates r_f, the speeds u and the excited rates kappa,
 *     A_f r_f + A_e kappa = [u; 0],   A = w' J,
 * the general form of Eqs 3.10 and 3.27 of joint-representation: r = Y [u; kappa], G = J Y [u; kappa], whose columns
 * are the free modes phi and the excited ones. With the bias accelerations b of the rows and those of M's origin at
 * constant rates, r_f' = -A_f^-1 b, and the link's bias acceleration is the effect of these and of the constant rates
 * at M. The sweeps then eliminate phi from S (group.c), with U = S phi, S_qq = phi' S phi and f = phi' e. All in the
 * link's axes, angular part first; the link's origin is M's.
 */
#include "general.h"

#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Called once, after the image has been read. */
void fm_general_structure(fm_instance *s)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.generals; i++) {
        fm_general *g = s->general + i;
        g->link = m->general_link[i];
        g->screws = m->general_screws[i];
        g->rows = m->general_rows[i];
        g->free = m->general_speeds[i];
        g->speeds = g->free + (g->screws - g->rows);
        g->after = m->general_after[i];
        g->first = m->general_screw[i];
        int32_t f = 0, e = g->rows;
        for (int32_t k = 0; k < g->screws; k++) {
            g->place[k] = m->screw_excited[g->first + k] ? e++ : f++;
            g->unit[g->place[k]] = m->screw_pitch[g->first + k] == 0.0 ? m->length[0] : 1.0;
            s->scale[s->link[g->link].p + g->place[k]] = g->unit[g->place[k]];
        }
        g->row = m->velocity_row + 6 * m->general_row[i];
        memcpy(g->tail, m->general_tail + 3 * i, sizeof g->tail);
        g->group = (fm_group){g->free, FM_JOINT_MODES, g->U, g->L[0], g->D, g->g};
    }
}

/* Gauss-Jordan elimination, A n x n, whose columns have units; the pivot is the largest element beside the largest one
 * of its row. If A is singular the inverse is not finite. */
static void invert(double A[FM_JOINT_MODES][FM_JOINT_MODES], double B[FM_JOINT_MODES][FM_JOINT_MODES],
                   const double *unit, int32_t n)
{
    double size[FM_JOINT_MODES] = {0.0};
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) B[i][j] = i == j ? 1.0 : 0.0, size[i] = fmax(size[i], fabs(A[i][j]) * unit[j]);
    for (int32_t c = 0; c < n; c++) {
        int32_t p = c;
        for (int32_t i = c + 1; i < n; i++) p = fabs(A[i][c]) * size[p] > fabs(A[p][c]) * size[i] ? i : p;
        const double own = size[c];
        size[c] = size[p], size[p] = own;
        for (int32_t j = 0; p != c && j < n; j++) {
            double a = A[c][j], b = B[c][j];
            A[c][j] = A[p][j], A[p][j] = a;
            B[c][j] = B[p][j], B[p][j] = b;
        }
        const double pivot = 1.0 / A[c][c];
        for (int32_t j = 0; j < n; j++) A[c][j] *= pivot, B[c][j] *= pivot;
        for (int32_t i = 0; i < n; i++) {
            const double less = A[i][c];
            if (i == c || less == 0.0) continue;
            for (int32_t j = 0; j < n; j++) A[i][j] -= less * A[c][j], B[i][j] -= less * B[c][j];
        }
    }
}

/* Poses of the screws, each in the one before. Requires cosines and sines. */
static void place_screws(const fm_instance *s, fm_general *g, const double *p)
{
    const fm_image *m = &s->image;
    for (int32_t k = 0; k < g->screws; k++) {
        const double *R0 = m->screw_R + 9 * (g->first + k), *r0 = m->screw_r + 3 * (g->first + k);
        const double c = g->c[k], sn = g->s[k], along = m->screw_slide[g->first + k] * p[g->place[k]];
        double *R = g->R[k], *r = g->r[k];
        for (int i = 0; i < 3; i++) {
            R[3 * i] = R0[3 * i] * c + R0[3 * i + 1] * sn;
            R[3 * i + 1] = R0[3 * i + 1] * c - R0[3 * i] * sn;
            R[3 * i + 2] = R0[3 * i + 2];
            r[i] = r0[i] + R0[3 * i + 2] * along;
        }
    }
}

/* The columns of J and the axes of the rows; the link's rotation and its place before the screws. */
static void place_columns(const fm_instance *s, fm_general *g, double turned[9], double tail[3])
{
    const fm_image *m = &s->image;
    double R[FM_JOINT_MODES + 1][9] = {{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    double r[FM_JOINT_MODES + 1][3] = {{0.0, 0.0, 0.0}}, out[3];
    const int32_t n = g->screws;
    for (int32_t k = 0; k < n; k++) {
        product(R[k], g->R[k], R[k + 1]);
        rotate_out(R[k], g->r[k], out);
        for (int i = 0; i < 3; i++) r[k + 1][i] = r[k][i] + out[i];
    }
    rotate_out(R[n], g->tail, tail);
    for (int i = 0; i < 3; i++) tail[i] += r[n][i];
    for (int32_t k = 0; k < n; k++) {
        const double pitch = m->screw_pitch[g->first + k], slide = m->screw_slide[g->first + k];
        const double axis[3] = {R[k + 1][2], R[k + 1][5], R[k + 1][8]};
        double arm[3], turn[3], v[3], *J = g->J[k];
        for (int i = 0; i < 3; i++) arm[i] = tail[i] - r[k + 1][i], turn[i] = pitch * axis[i];
        cross(turn, arm, v);
        for (int i = 0; i < 3; i++) v[i] += slide * axis[i];
        rotate_in(R[n], turn, J);
        rotate_in(R[n], v, J + 3);
    }
    for (int i = 0; i < 3; i++) /* from the link's axes to those of the rows */
        for (int j = 0; j < 3; j++) {
            const double *a = R[g->after];
            g->rows_R[3 * i + j] = a[i] * R[n][j] + a[3 + i] * R[n][3 + j] + a[6 + i] * R[n][6 + j];
        }
    memcpy(turned, R[n], sizeof R[n]);
}

/* That, and the link's pose in its parent. */
static void place_link(fm_instance *s, fm_general *g)
{
    const int32_t link = g->link;
    double R[9], tail[3], out[3], base[9];
    place_columns(s, g, R, tail);
    memcpy(base, s->axes[link].R0, sizeof base);
    product(base, R, s->axes[link].R);
    rotate_out(base, tail, out);
    for (int i = 0; i < 3; i++) out[i] += s->rigid[link].r[i];
    fm_lane_set(s, r, link, out);
}

/* A row times a velocity or an acceleration in the link's axes. */
static double along_row(const fm_general *g, int32_t i, const double *v)
{
    double in[6];
    rotate_out(g->rows_R, v, in);
    rotate_out(g->rows_R, v + 3, in + 3);
    return dot6(g->row + 6 * i, in);
}

/* Y, A_f^-1 and the modes. */
static void make_modes(fm_general *g)
{
    double A[FM_JOINT_MODES][FM_JOINT_MODES] = {{0.0}}, E[FM_JOINT_MODES][FM_JOINT_MODES] = {{0.0}};
    const int32_t n = g->rows, excited = g->screws - g->rows;
    for (int32_t k = 0; k < g->screws; k++)
        for (int32_t i = 0; i < n; i++) {
            if (g->place[k] < n) A[i][g->place[k]] = along_row(g, i, g->J[k]);
            else E[i][g->place[k] - n] = along_row(g, i, g->J[k]);
        }
    invert(A, g->inverse, g->unit, n);
    memset(g->Y, 0, sizeof g->Y);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < g->free; j++) g->Y[i][j] = g->inverse[i][j];
        for (int32_t e = 0; e < excited; e++)
            for (int32_t j = 0; j < n; j++) g->Y[i][g->free + e] -= g->inverse[i][j] * E[j][e];
    }
    for (int32_t e = 0; e < excited; e++) g->Y[n + e][g->free + e] = 1.0;
    memset(g->phi, 0, sizeof g->phi);
    for (int32_t j = 0; j < g->speeds; j++)
        for (int32_t k = 0; k < g->screws; k++)
            for (int i = 0; i < 6; i++) g->phi[j][i] += g->J[k][i] * g->Y[g->place[k]][j];
}

/* Modes of a copy of the link at other positions of its screws. */
void fm_general_at(const fm_instance *s, fm_general *g, const double *p)
{
    double R[9], tail[3];
    for (int32_t k = 0; k < g->screws; k++)
        fm_cos_and_sin(s->image.screw_pitch[g->first + k] * p[g->place[k]], &g->c[k], &g->s[k]);
    place_screws(s, g, p);
    place_columns(s, g, R, tail);
    make_modes(g);
}

/* Everything that depends on the positions. Requires cosines and sines of the angles in c and s. */
void fm_general_place(fm_instance *s, fm_general *g, const double *y)
{
    place_screws(s, g, y + s->link[g->link].p);
    place_link(s, g);
    make_modes(g);
}

/* Rates of its positions, the free ones first. Requires the pose. */
void fm_general_rates(const fm_general *g, const double *u, double *pdot)
{
    for (int32_t i = 0; i < g->screws; i++) {
        pdot[i] = 0.0;
        for (int32_t j = 0; j < g->speeds; j++) pdot[i] += g->Y[i][j] * u[j];
    }
}

/* Adds the forces of springs and dampers on its free screws to those on its speeds. Requires the pose. */
void fm_general_resist(const fm_instance *s, const fm_general *g, const double *y, double *tau)
{
    const double *p = y + s->link[g->link].p;
    double pdot[FM_JOINT_MODES];
    fm_general_rates(g, y + s->image.n.positions + s->link[g->link].u, pdot);
    for (int32_t k = 0; k < g->screws; k++) {
        const int32_t at = g->place[k], screw = g->first + k;
        if (at >= g->rows) continue;
        const double force =
            -s->screw_stiffness[screw] * (p[at] - s->screw_rest[screw]) - s->screw_damping[screw] * pdot[at];
        for (int32_t j = 0; j < g->free; j++) tau[j] += g->Y[at][j] * force;
    }
}

/* Y' K Y and Y' D Y of these springs and dampers, by which their forces on the speeds change with the motion. Requires
 * the pose. */
void fm_general_stiffen(const fm_instance *s, fm_general *g)
{
    memset(g->stiffness, 0, sizeof g->stiffness);
    memset(g->damping, 0, sizeof g->damping);
    for (int32_t n = 0; n < g->screws; n++) {
        const int32_t at = g->place[n], screw = g->first + n;
        if (at >= g->rows) continue;
        const double k = s->screw_stiffness[screw] > 0.0 ? s->screw_stiffness[screw] : 0.0;
        const double d = !s->work.still && s->screw_damping[screw] > 0.0 ? s->screw_damping[screw] : 0.0;
        for (int32_t i = 0; i < g->free; i++)
            for (int32_t j = 0; j < g->free; j++) {
                g->stiffness[i][j] += g->Y[at][i] * k * g->Y[at][j];
                g->damping[i][j] += g->Y[at][i] * d * g->Y[at][j];
            }
    }
}

/* What stiffness and damping add between two of its free modes to phi' S phi. */
double fm_general_inertia(const fm_instance *s, const fm_general *g, int32_t i, int32_t j)
{
    const double t = s->stiff.time;
    const int32_t u = s->link[g->link].u + j;
    return t * ((g->damping[i][j] + (i == j ? s->stiff.D[u] : 0.0)) +
                t * (g->stiffness[i][j] + (i == j ? s->stiff.K[u] : 0.0)));
}

/* Energy of these springs [J]. */
double fm_general_energy(const fm_instance *s, const fm_general *g, const double *y)
{
    const double *p = y + s->link[g->link].p;
    double energy = 0.0;
    for (int32_t k = 0; k < g->screws; k++) {
        const double stretch = p[g->place[k]] - s->screw_rest[g->first + k];
        energy += 0.5 * s->screw_stiffness[g->first + k] * stretch * stretch;
    }
    return energy;
}

/* Angular velocity, and velocity of the link's origin, relative to the parent, in the link's axes. */
void fm_general_velocity(const fm_general *g, const double *u, double out[6])
{
    memset(out, 0, 6 * sizeof *out);
    for (int32_t j = 0; j < g->speeds; j++)
        for (int i = 0; i < 6; i++) out[i] += g->phi[j][i] * u[j];
}

/* Velocities and accelerations at constant rates, screw by screw; also w in the axes of the rows. */
static void pass_screws(const fm_instance *s, const fm_general *g, const double *pdot, double w_rows[3], double w[3],
                        double bias[6])
{
    const fm_image *m = &s->image;
    double alpha[3] = {0.0, 0.0, 0.0}, a[3] = {0.0, 0.0, 0.0}, x[3], z[3], in[3], twice[3];
    memset(w, 0, 3 * sizeof *w);
    memset(w_rows, 0, 3 * sizeof *w_rows);
    for (int32_t k = 0; k <= g->screws; k++) {
        const double *r = k < g->screws ? g->r[k] : g->tail;
        if (k == g->after) memcpy(w_rows, w, 3 * sizeof *w);
        cross(w, r, x);
        cross(w, x, z);
        cross(alpha, r, x);
        for (int i = 0; i < 3; i++) a[i] += x[i] + z[i];
        if (k == g->screws) break;
        const double turn = m->screw_pitch[g->first + k] * pdot[g->place[k]];
        const double slide = m->screw_slide[g->first + k] * pdot[g->place[k]];
        rotate_in(g->R[k], a, in);
        memcpy(a, in, sizeof a);
        rotate_in(g->R[k], alpha, in);
        memcpy(alpha, in, sizeof alpha);
        rotate_in(g->R[k], w, in);
        cross(in, (double[3]){0.0, 0.0, turn}, x);
        cross(in, (double[3]){0.0, 0.0, 2.0 * slide}, twice);
        for (int i = 0; i < 3; i++) w[i] = in[i], alpha[i] += x[i], a[i] += twice[i];
        w[2] += turn;
    }
    memcpy(bias, alpha, sizeof alpha);
    memcpy(bias + 3, a, sizeof a);
}

/* The bias acceleration at M. */
static void make_bias(const fm_instance *s, fm_general *g, const double *u)
{
    double pdot[FM_JOINT_MODES], b[FM_JOINT_MODES], w[3], w_rows[3], w_in[3], x[6];
    fm_general_rates(g, u, pdot);
    pass_screws(s, g, pdot, w_rows, w, g->bias);
    rotate_in(g->rows_R, w_rows, w_in); /* the rows' axes rotate */
    cross(w_in, g->v, x);
    cross(w_in, g->v + 3, x + 3);
    for (int i = 0; i < 6; i++) x[i] = g->bias[i] - x[i];
    for (int32_t i = 0; i < g->rows; i++) b[i] = along_row(g, i, x);
    for (int32_t k = 0; k < g->screws; k++) {
        if (g->place[k] >= g->rows) continue;
        double rate = 0.0;
        for (int32_t j = 0; j < g->rows; j++) rate -= g->inverse[g->place[k]][j] * b[j];
        for (int i = 0; i < 6; i++) g->bias[i] += g->J[k][i] * rate;
    }
}

/* First sweep: wp and w are the angular velocities of parent and link, each in its own axes. */
void fm_general_angular_velocity(fm_instance *s, int32_t link, const double *wp, double *w, const double *u)
{
    fm_general *g = s->general + s->link[link].nth;
    fm_projected *m = s->projected + link;
    double in[3];
    fm_general_velocity(g, u, g->v);
    make_bias(s, g, u);
    rotate_in(s->axes[link].R, wp, in);
    cross(in, g->v, m->bias);
    for (int i = 0; i < 3; i++) w[i] = in[i] + g->v[i], m->bias[i] += g->bias[i];
}

/* Coriolis and bias acceleration of its origin, in the parent's axes. */
void fm_general_bias(fm_instance *s, int32_t i)
{
    const fm_general *g = s->general + i;
    const int32_t link = g->link;
    double wp[3], v[3], push[3], bias[3];
    fm_parent_w(s, s->link[link].parent, wp);
    rotate_out(s->axes[link].R, g->v + 3, v);
    rotate_out(s->axes[link].R, g->bias + 3, bias);
    cross(wp, v, push);
    for (int j = 0; j < 3; j++) s->lane[link / FM_LANE_WIDTH].bias[j][link % FM_LANE_WIDTH] += 2.0 * push[j] + bias[j];
}

/* Second sweep: eliminates the free modes from S and e and adds the excited ones' accelerations. */
void fm_general_project(fm_instance *s, int32_t link, fm_articulated *c, const double *tau)
{
    fm_general *g = s->general + s->link[link].nth;
    fm_group *b = &g->group;
    const double *turn = s->projected[link].bias, *u = tau + s->link[link].u;
    const double turning = (c->J[0][0] + c->J[1][1]) + c->J[2][2], sliding = (c->M[0][0] + c->M[1][1]) + c->M[2][2];
    double push[6] = {turn[0], turn[1], turn[2], 0.0, 0.0, 0.0}, e[6], x[FM_JOINT_MODES], most[FM_JOINT_MODES];
    for (int i = 0; i < 3; i++) e[i] = c->n[i], e[3 + i] = c->f[i];
    for (int32_t j = 0; j < b->n; j++) {
        const double *phi = g->phi[j];
        fm_articulated_times(c, phi, g->U[j]);
        for (int32_t i = j; i < b->n; i++) g->L[i][j] = dot6(g->phi[i], g->U[j]);
        for (int32_t i = j; s->stiff.time > 0.0 && i < b->n; i++) g->L[i][j] += fm_general_inertia(s, g, i, j);
        most[j] = turning * dot(phi, phi) + sliding * dot(phi + 3, phi + 3);
        x[j] = u[j] - dot6(phi, e);
    }
    fm_group_factor(b, most, s->pivot + 2 * link);
    fm_group_eliminate(b, c, x);
    for (int32_t j = b->n; j < g->speeds; j++) {
        g->g[j] = u[j];
        for (int i = 0; i < 6; i++) push[i] += g->phi[j][i] * u[j];
    }
    fm_group_push(c, push);
}

/* Third sweep: alpha and a come in as the parent's motion gives them, and go out as the link's. */
void fm_general_outward(fm_instance *s, int32_t link, double *alpha, double *a, double *udot)
{
    const fm_general *g = s->general + s->link[link].nth;
    double z[6], *to = udot + s->link[link].u;
    for (int i = 0; i < 3; i++) z[i] = alpha[i], z[3 + i] = a[i];
    for (int32_t j = g->free; j < g->speeds; j++) {
        to[j] = g->g[j];
        for (int i = 0; i < 6; i++) z[i] += g->phi[j][i] * to[j];
    }
    fm_group_outward(&g->group, z, to);
    for (int32_t j = 0; j < g->free; j++)
        for (int i = 0; i < 6; i++) z[i] += g->phi[j][i] * to[j];
    for (int i = 0; i < 3; i++) alpha[i] = z[i], a[i] = z[3 + i];
}

/* Propagates a wrench at the link's origin (link axes) towards the root: adds its innovations (constraints.c). */
void fm_general_pass(const fm_general *g, double wrench[6], double *innovations)
{
    double x[FM_JOINT_MODES];
    for (int32_t j = 0; j < g->free; j++) x[j] = dot6(g->phi[j], wrench);
    fm_group_pass(&g->group, x, wrench, innovations);
}
