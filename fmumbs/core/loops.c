/* loops.c: joints that close loops, and tips that are fixed: their reactions, and the direct correction.
 *
 * A secondary joint is a set of rows c(q) = 0 between a frame F on one link and a frame M on another (or the ground):
 *     along:          e . p_FM = 0, e fixed in F
 *     perpendicular:  f . g = cosine, f fixed in F, g fixed in M
 *     distance:       (p_FM . p_FM - l^2) / 2 l = 0
 * A row's multiplier puts a wrench on both links. It travels to the ground as one more column of the sweep towards
 * the roots, w <- w - U phi'w / D, and leaves the innovations phi'w in every free mode of its path. With these
 * K = J M^-1 J' = sum over the modes of (phi'w_i) (phi'w_j) / D, and K lambda = -c'' at lambda = 0.
 * Positions and then velocities are corrected by the smallest change in the mass norm,
 *     dq = -M^-1 J' K^-1 c,   du = -M^-1 J' K^-1 c'.
 * Everything here is in world axes, wrenches about the origin of the link where they are.
 */
#include "instance.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FM_CORRECTIONS 25   /* Newton steps of a correction */
#define FM_CLOSINGS 400     /* the same for a start from guesses */
#define FM_LESS 1e-5        /* part of the squares by which a step there must lessen them */
#define FM_SOFT 1e-6        /* the least and the greatest softening of the rows there */
#define FM_SOFTEST 1e3
#define FM_TURN_AT_ONCE 0.5 /* [rad] */
#define FM_NEARBY 0.03      /* how far a neighbour is whose rank is looked at [rad], or of the length */
#define FM_DEPENDENT 1e-11  /* a pivot of the scaled K below it: the row follows from the others */
#define FM_COARSE 1e-5      /* the same while the loops are open: beside the square of the gap over the length */

static double dot(const double *a, const double *b)
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *out)
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y, out[2] = z;
}

static void turn_out(const double *R, const double *v, double *out)
{
    double x = R[0] * v[0] + R[1] * v[1] + R[2] * v[2], y = R[3] * v[0] + R[4] * v[1] + R[5] * v[2];
    double z = R[6] * v[0] + R[7] * v[1] + R[8] * v[2];
    out[0] = x, out[1] = y, out[2] = z;
}

static void turn_in(const double *R, const double *v, double *out)
{
    double x = R[0] * v[0] + R[3] * v[1] + R[6] * v[2], y = R[1] * v[0] + R[4] * v[1] + R[7] * v[2];
    double z = R[2] * v[0] + R[5] * v[1] + R[8] * v[2];
    out[0] = x, out[1] = y, out[2] = z;
}

/* A frame of a secondary joint in the world. */
typedef struct place {
    double r[3], v[3], w[3], a[3], alpha[3]; /* a: true acceleration, only where `moving` asked for it */
} place;

static void frame_place(const fm_instance *s, int32_t link, const double *at, int moving, place *p)
{
    memset(p, 0, sizeof *p);
    if (link < 0) {
        memcpy(p->r, at, sizeof p->r);
        return;
    }
    const fm_world *world = s->world + link;
    double arm[3], add[3];
    turn_out(world->R, at, arm);
    cross(world->w, arm, add);
    memcpy(p->w, world->w, sizeof p->w);
    for (int j = 0; j < 3; j++) p->r[j] = world->r[j] + arm[j], p->v[j] = world->v[j] + add[j];
    if (!moving) return;
    double a[3], centripetal[3];
    turn_out(world->R, s->motion[link].alpha, p->alpha);
    turn_out(world->R, s->motion[link].a, a);
    cross(world->w, add, centripetal);
    cross(p->alpha, arm, add);
    for (int j = 0; j < 3; j++) p->a[j] = ((a[j] + s->gravity[j]) + add[j]) + centripetal[j];
}

/* A vector that is fixed in a link, in the world, with its derivatives. */
static void fixed_vector(const fm_instance *s, int32_t link, const place *p, const double *in, double out[3][3])
{
    double again[3];
    if (link < 0) memcpy(out[0], in, 3 * sizeof *in);
    else turn_out(s->world[link].R, in, out[0]);
    cross(p->w, out[0], out[1]);
    cross(p->w, out[1], again);
    cross(p->alpha, out[0], out[2]);
    for (int j = 0; j < 3; j++) out[2][j] += again[j];
}

/* Row i: value and first two derivatives, force and torque of a unit multiplier on M's link at M's origin. */
typedef struct row {
    double c[3], force[3], torque[3], r[3];
} row;

static void row_of(const fm_instance *s, int32_t i, int moving, row *out)
{
    const fm_image *m = &s->image;
    const int32_t joint = m->row_joint[i], F = m->joint_F_link[joint], M = m->joint_M_link[joint];
    place f, g;
    double e[3][3], b[3][3], d[3], dv[3], da[3];
    frame_place(s, F, m->joint_F_r + 3 * joint, moving, &f);
    frame_place(s, M, m->joint_M_r + 3 * joint, moving, &g);
    for (int j = 0; j < 3; j++) d[j] = g.r[j] - f.r[j], dv[j] = g.v[j] - f.v[j], da[j] = g.a[j] - f.a[j];
    memset(out, 0, sizeof *out);
    if (m->row_kind[i] == FM_ROW_HELD) return;
    memcpy(out->r, g.r, sizeof out->r);
    fixed_vector(s, F, &f, m->row_f + 3 * i, e);
    if (m->row_kind[i] == FM_ROW_ALONG) {
        out->c[0] = dot(e[0], d) - m->row_length[i];
        out->c[1] = dot(e[0], dv) + dot(e[1], d);
        out->c[2] = (dot(e[0], da) + 2.0 * dot(e[1], dv)) + dot(e[2], d);
        memcpy(out->force, e[0], sizeof e[0]);
    } else if (m->row_kind[i] == FM_ROW_PERPENDICULAR) {
        fixed_vector(s, M, &g, m->row_g + 3 * i, b);
        out->c[0] = dot(e[0], b[0]) - m->row_length[i];
        out->c[1] = dot(e[1], b[0]) + dot(e[0], b[1]);
        out->c[2] = (dot(e[2], b[0]) + dot(e[0], b[2])) + 2.0 * dot(e[1], b[1]);
        cross(b[0], e[0], out->torque);
    } else {
        const double l = m->row_length[i];
        out->c[0] = (dot(d, d) - l * l) / (2.0 * l);
        out->c[1] = dot(d, dv) / l;
        out->c[2] = (dot(d, da) + dot(dv, dv)) / l;
        for (int j = 0; j < 3; j++) out->force[j] = d[j] / l;
    }
}

/* One over the pivot and the free mode's row over it, in the link's axes. */
static void mode_of(const fm_instance *s, int32_t i, double U[6], double phi[6])
{
    const fm_link *k = s->link + i;
    const int axis = k->kind <= FM_LINK_REVOLUTE_Z ? k->kind - FM_LINK_REVOLUTE_X : 2;
    memcpy(U, s->motion[i].U, 6 * sizeof *U);
    memset(phi, 0, 6 * sizeof *phi);
    phi[axis] = k->pitch;
    phi[3 + axis] = k->slide;
    if (k->kind <= FM_LINK_REVOLUTE) U[axis] = 1.0;
}

/* The most that a mode's innovation could be, were its row along the wrench. */
static double most_of(const double phi[6], const double w[6])
{
    return sqrt(dot(phi, phi) * dot(w, w)) + sqrt(dot(phi + 3, phi + 3) * dot(w + 3, w + 3));
}

/* Takes a wrench (torque, force) through the free modes of a link; its innovations are added to `y`, and what K's
 * diagonal would have from them at most to `most`, unless that is NULL. */
static void pass_link(const fm_instance *s, int32_t i, double w[6], double *y, double *most)
{
    const fm_link *k = s->link + i;
    const double *R = s->world[i].R;
    if (k->u < 0 || k->kind == FM_LINK_FIXED) return;
    if (k->kind == FM_LINK_GENERAL) {
        double at[6];
        turn_in(R, w, at);
        turn_in(R, w + 3, at + 3);
        const fm_general *g = s->general + k->general;
        for (int32_t j = 0; most != NULL && j < g->free; j++) {
            const double highest = most_of(g->phi[j], at);
            *most += highest * highest * g->D[j];
        }
        fm_general_pass(s->general + k->general, at, y + k->u);
        turn_out(R, at, w);
        turn_out(R, at + 3, w + 3);
        return;
    }
    if (k->kind == FM_LINK_SPHERICAL) {
        const fm_ball *b = s->ball + k->ball;
        double t[3], f[3], less[3];
        turn_in(R, w, t);
        for (int j = 0; j < 3; j++) f[j] = (b->W[0][j] * t[0] + b->W[1][j] * t[1]) + b->W[2][j] * t[2];
        const double second = t[1] - b->factor[3] * t[0];
        if (most != NULL) *most += dot(t, t) * ((b->factor[0] + b->factor[1]) + b->factor[2]);
        y[k->u] += t[0];
        y[k->u + 1] += second;
        y[k->u + 2] += (t[2] - b->factor[4] * t[0]) - b->factor[5] * second;
        turn_out(R, f, less);
        for (int j = 0; j < 3; j++) w[j] = 0.0, w[3 + j] -= less[j];
        return;
    }
    double U[6], phi[6], in[6], out[6];
    mode_of(s, i, U, phi);
    turn_in(R, w, in);
    turn_in(R, w + 3, in + 3);
    const double along = dot(phi, in) + dot(phi + 3, in + 3);
    y[k->u] += along;
    if (most != NULL) {
        const double highest = most_of(phi, in);
        *most += highest * highest * s->motion[i].D;
    }
    turn_out(R, U, out);
    turn_out(R, U + 3, out + 3);
    for (int j = 0; j < 6; j++) w[j] -= out[j] * along;
}

/* The wrench that a unit of generalised force on a link's own freedom hands on to its parent; its innovations. */
static void pass_force(const fm_instance *s, int32_t i, int32_t part, double w[6], double *y)
{
    const fm_link *k = s->link + i;
    double U[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, phi[6];
    if (k->kind == FM_LINK_SPHERICAL) {
        const fm_ball *b = s->ball + k->ball;
        double t[3] = {0.0, 0.0, 0.0};
        t[part] = 1.0;
        const double second = t[1] - b->factor[3] * t[0];
        y[k->u] += t[0];
        y[k->u + 1] += second;
        y[k->u + 2] += (t[2] - b->factor[4] * t[0]) - b->factor[5] * second;
        memcpy(U, t, sizeof t);
        for (int j = 0; j < 3; j++) U[3 + j] = b->W[part][j];
    } else {
        mode_of(s, i, U, phi);
        y[k->u] += 1.0;
    }
    turn_out(s->world[i].R, U, w);
    turn_out(s->world[i].R, U + 3, w + 3);
    for (int j = 0; j < 6; j++) w[j] = -w[j];
}

/* A wrench at a point of a link, down to the ground. */
static void pass_path(const fm_instance *s, int32_t link, const double *at, const double *torque, const double *force,
                      double sign, double *y, double *most)
{
    double w[6], arm[3], add[3];
    const double *r = at;
    for (int j = 0; j < 3; j++) w[j] = sign * torque[j], w[3 + j] = sign * force[j];
    for (int32_t i = link; i >= 0; i = s->link[i].parent) {
        for (int j = 0; j < 3; j++) arm[j] = r[j] - s->world[i].r[j];
        cross(arm, w + 3, add);
        for (int j = 0; j < 3; j++) w[j] += add[j];
        pass_link(s, i, w, y, most);
        r = s->world[i].r;
    }
}

/* The row of a coordinate that is held. */
static void pass_held(fm_instance *s, int32_t i, double *y, double *most)
{
    const int32_t link = s->image.row_link[i], parent = s->link[link].parent;
    double w[6];
    pass_force(s, link, s->image.row_part[i], w, y);
    pass_path(s, parent, s->world[link].r, w, w + 3, 1.0, y, NULL);
    for (int32_t u = 0; most != NULL && u < s->image.n.speeds; u++) *most += y[u] * y[u] * s->loop_pivot[u];
}

/* One over the pivot of each velocity variable. */
static void reciprocals(const fm_instance *s, double *out)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind == FM_LINK_SPHERICAL)
            for (int j = 0; j < 3; j++) out[k->u + j] = s->ball[k->ball].factor[j];
        else if (k->kind == FM_LINK_GENERAL)
            for (int32_t j = 0; j < s->general[k->general].speeds; j++)
                out[k->u + j] = j < s->general[k->general].free ? s->general[k->general].D[j] : 0.0;
        else out[k->u] = s->motion[i].D;
    }
}

/* Rows at the present world kinematics, their innovations and K; `choose`: also how large its diagonal can be. */
static void make_rows(fm_instance *s, int moving, int choose)
{
    const int32_t rows = s->image.n.rows, speeds = s->image.n.speeds;
    reciprocals(s, s->loop_pivot);
    for (int32_t i = 0; i < rows; i++) {
        const int32_t joint = s->image.row_joint[i];
        double *y = s->loop_y + (size_t)i * (size_t)speeds;
        row one;
        row_of(s, i, moving, &one);
        for (int j = 0; j < 3; j++) {
            s->loop_c[3 * i + j] = one.c[j];
            s->loop_wrench[6 * i + j] = one.torque[j];
            s->loop_wrench[6 * i + 3 + j] = one.force[j];
        }
        memset(y, 0, (size_t)speeds * sizeof *y);
        double *most = choose ? s->loop_most + i : NULL;
        s->loop_most[i] = 0.0;
        if (s->image.row_kind[i] == FM_ROW_HELD) {
            if (s->holding) pass_held(s, i, y, most);
            continue;
        }
        pass_path(s, s->image.joint_M_link[joint], one.r, one.torque, one.force, 1.0, y, most);
        pass_path(s, s->image.joint_F_link[joint], one.r, one.torque, one.force, -1.0, y, most);
    }
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j <= i; j++) {
            const double *a = s->loop_y + (size_t)i * (size_t)speeds, *b = s->loop_y + (size_t)j * (size_t)speeds;
            double sum = 0.0;
            for (int32_t u = 0; u < speeds; u++) sum += a[u] * b[u] * s->loop_pivot[u];
            s->loop_K[(size_t)i * (size_t)rows + (size_t)j] = sum;
        }
}

/* Which rows are independent: Cholesky of K, scaled by what its diagonal can be, with the largest pivot first. */
static void choose_rows(fm_instance *s, double least)
{
    const int32_t rows = s->image.n.rows;
    const size_t n = (size_t)rows;
    double *L = s->loop_L, *d = s->loop_rhs, *most = s->loop_most;
    for (int32_t i = 0; i < rows; i++) {
        const int out = s->image.row_kind[i] == FM_ROW_HELD && !s->holding;
        d[i] = most[i] > 0.0 && !out ? s->loop_K[(size_t)i * n + (size_t)i] / most[i] : 0.0;
        s->row_active[i] = 0.0;
    }
    int held = s->holding; /* what is held comes first */
    for (int32_t step = 0; step < rows; step++) {
        int32_t best = -1;
        for (int32_t i = 0; i < rows; i++)
            if (s->row_active[i] == 0.0 && (s->image.row_kind[i] == FM_ROW_HELD) == held && (best < 0 || d[i] > d[best]))
                best = i;
        if (best < 0 || !(d[best] > least)) {
            if (!held) break;
            held = 0;
            step--;
            continue;
        }
        const double pivot = sqrt(d[best]);
        s->row_active[best] = step + 1.0;
        for (int32_t i = 0; i < rows; i++) {
            if (s->row_active[i] != 0.0 || !(most[i] > 0.0)) continue;
            const size_t low = (size_t)(i > best ? i : best), high = (size_t)(i > best ? best : i);
            double value = s->loop_K[low * n + high] / sqrt(most[i] * most[best]);
            for (int32_t j = 0; j < step; j++) value -= L[(size_t)i * n + (size_t)j] * L[(size_t)best * n + (size_t)j];
            L[(size_t)i * n + (size_t)step] = value / pivot;
            d[i] -= L[(size_t)i * n + (size_t)step] * L[(size_t)i * n + (size_t)step];
        }
        L[(size_t)best * n + (size_t)step] = pivot;
    }
}

/* Solves K x = b for the active rows, zero elsewhere. 0: K is not positive definite. */
static int solve_rows(fm_instance *s, const double *b, double *x)
{
    const int32_t rows = s->image.n.rows;
    const size_t n = (size_t)rows;
    double *L = s->loop_L;
    for (int32_t i = 0; i < rows; i++) {
        x[i] = 0.0;
        if (s->row_active[i] == 0.0) continue;
        double sum = b[i];
        for (int32_t j = 0; j <= i; j++) {
            if (s->row_active[j] == 0.0) continue;
            double value = s->loop_K[(size_t)i * n + (size_t)j];
            for (int32_t q = 0; q < j; q++)
                if (s->row_active[q] != 0.0) value -= L[(size_t)i * n + (size_t)q] * L[(size_t)j * n + (size_t)q];
            if (j < i) {
                L[(size_t)i * n + (size_t)j] = value / L[(size_t)j * n + (size_t)j];
                sum -= L[(size_t)i * n + (size_t)j] * x[j];
            } else {
                if (!(value > 1e-14 * s->loop_K[(size_t)i * n + (size_t)i])) return 0;
                L[(size_t)i * n + (size_t)i] = sqrt(value);
            }
        }
        x[i] = sum / L[(size_t)i * n + (size_t)i];
    }
    for (int32_t i = rows - 1; i >= 0; i--) {
        if (s->row_active[i] == 0.0) continue;
        for (int32_t j = i + 1; j < rows; j++)
            if (s->row_active[j] != 0.0) x[i] -= L[(size_t)j * n + (size_t)i] * x[j];
        x[i] /= L[(size_t)i * n + (size_t)i];
    }
    return 1;
}

/* Adds what the multipliers bring about to the forced part of every free mode. */
static void add_multipliers(fm_instance *s, const double *lambda)
{
    const int32_t rows = s->image.n.rows, speeds = s->image.n.speeds;
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        double x[FM_FREEDOMS] = {0.0};
        const int32_t count = k->u < 0 ? 0 : fm_link_speeds(&s->image, i);
        if (k->u < 0) continue;
        for (int32_t r = 0; r < rows; r++)
            for (int32_t j = 0; j < count; j++) x[j] += lambda[r] * s->loop_y[(size_t)r * (size_t)speeds + (size_t)(k->u + j)];
        for (int32_t j = 0; j < count; j++) x[j] *= s->loop_pivot[k->u + j];
        if (k->kind == FM_LINK_GENERAL) {
            fm_general_add(s->general + k->general, x);
            continue;
        }
        if (count == 1) {
            s->motion[i].g += x[0];
            continue;
        }
        const double *f = s->ball[k->ball].factor;
        x[1] -= f[5] * x[2];
        x[0] = (x[0] - f[3] * x[1]) - f[4] * x[2];
        for (int j = 0; j < 3; j++) s->motion[i].U[j] += x[j];
    }
}

/* The multipliers' wrenches on the links themselves, for the cuts. */
static void load_links(fm_instance *s, const double *lambda)
{
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        const int32_t joint = s->image.row_joint[i];
        const int32_t ends[2] = {s->image.joint_M_link[joint], s->image.joint_F_link[joint]};
        place at;
        frame_place(s, ends[0], s->image.joint_M_r + 3 * joint, 0, &at);
        for (int e = 0; e < 2; e++) {
            const int32_t link = ends[e];
            const double sign = e == 0 ? lambda[i] : -lambda[i];
            double arm[3], moment[3], t[3], f[3];
            if (link < 0) continue;
            for (int j = 0; j < 3; j++) arm[j] = at.r[j] - s->world[link].r[j];
            cross(arm, s->loop_wrench + 6 * i + 3, moment);
            for (int j = 0; j < 3; j++) moment[j] += s->loop_wrench[6 * i + j];
            turn_in(s->world[link].R, moment, t);
            turn_in(s->world[link].R, s->loop_wrench + 6 * i + 3, f);
            fm_lanes *lane = s->lane + link / FM_LANE_WIDTH;
            for (int j = 0; j < 3; j++) {
                lane->torque[j][link % FM_LANE_WIDTH] -= sign * t[j];
                lane->force[j][link % FM_LANE_WIDTH] -= sign * f[j];
            }
        }
    }
}

/* After the sweeps without the loops' reactions: adds these. World kinematics of y are there. */
void fm_close_loops(fm_instance *s, double *udot)
{
    make_rows(s, 1, 0);
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop_rhs[i] = -s->loop_c[3 * i + 2];
    if (!solve_rows(s, s->loop_rhs, s->lambda)) {
        for (int32_t i = 0; i < s->image.n.speeds; i++) udot[i] = NAN; /* the step is then rejected */
        return;
    }
    add_multipliers(s, s->lambda);
    s->kernels->back(s, udot);
    load_links(s, s->lambda);
}

/* M^-1 J' lambda in `out`: the same columns, at rest and without weight. */
static void spread(fm_instance *s, const double *lambda, double *out)
{
    double gravity[3];
    memcpy(gravity, s->gravity, sizeof gravity);
    memset(s->gravity, 0, sizeof gravity);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const double zero[3] = {0.0, 0.0, 0.0};
        fm_lane_set(s, lift, i, zero);
        memset(s->motion[i].turn, 0, sizeof s->motion[i].turn);
        s->motion[i].g = 0.0;
        if (s->link[i].kind == FM_LINK_SPHERICAL) memset(s->motion[i].U, 0, 3 * sizeof(double));
        if (s->link[i].kind == FM_LINK_GENERAL) memset(s->general[s->link[i].general].g, 0, sizeof s->general->g);
    }
    add_multipliers(s, lambda);
    s->kernels->back(s, out);
    memcpy(s->gravity, gravity, sizeof gravity);
}

static void move_positions(const fm_instance *s, double *y, const double *change)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind == FM_LINK_GENERAL) {
            const fm_general *g = s->general + k->general;
            double moved[FM_FREEDOMS];
            fm_general_rates(g, change + k->u, moved);
            for (int32_t j = 0; j < g->screws; j++) y[k->p + j] += moved[j];
            continue;
        }
        if (k->kind != FM_LINK_SPHERICAL) {
            y[k->p] += change[k->u];
            continue;
        }
        const double *v = change + k->u;
        double *q = y + k->p, angle = sqrt(dot(v, v)), half = 0.5 * angle;
        double factor = angle > 1e-8 ? sin(half) / angle : 0.5, c = cos(half), x[3], old[4];
        for (int j = 0; j < 3; j++) x[j] = factor * v[j];
        memcpy(old, q, sizeof old);
        q[0] = ((old[0] * c - old[1] * x[0]) - old[2] * x[1]) - old[3] * x[2];
        q[1] = ((old[0] * x[0] + old[1] * c) + old[2] * x[2]) - old[3] * x[1];
        q[2] = ((old[0] * x[1] + old[2] * c) + old[3] * x[0]) - old[1] * x[2];
        q[3] = ((old[0] * x[2] + old[3] * c) + old[1] * x[1]) - old[2] * x[0];
    }
}

static void place_links(fm_instance *s, const double *y)
{
    s->kernels->turn(s, y);
    fm_make_world(s, y);
}

/* The largest violation of the rows at level 0 (positions) or 1 (velocities), world kinematics being there. */
double fm_violation(fm_instance *s, int level)
{
    double worst = 0.0;
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        row one;
        row_of(s, i, 0, &one);
        worst = fabs(one.c[level]) > worst || isnan(one.c[level]) ? fabs(one.c[level]) : worst;
    }
    return worst;
}

/* The row that is violated most, and how far off its joint's rows of that sort are together. */
int32_t fm_worst_row(fm_instance *s, double *gap)
{
    int32_t worst = 0;
    double most = -1.0, sum = 0.0;
    row one;
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        row_of(s, i, 0, &one);
        if (!(fabs(one.c[0]) <= most)) worst = i, most = fabs(one.c[0]);
    }
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        if (s->image.row_joint[i] != s->image.row_joint[worst] || s->image.row_kind[i] != s->image.row_kind[worst]) continue;
        row_of(s, i, 0, &one);
        sum += one.c[0] * one.c[0];
    }
    *gap = sqrt(sum);
    return worst;
}

static double tolerance(const fm_instance *s)
{
    double extent = s->image.length[0];
    for (int32_t i = 0; i < s->image.n.links; i++)
        for (int j = 0; j < 3; j++) extent = fabs(s->world[i].r[j]) > extent ? fabs(s->world[i].r[j]) : extent;
    const double least = 64.0 * DBL_EPSILON * extent, wanted = 1e-12 * s->image.length[0];
    return wanted > least ? wanted : least;
}

/* Rows that depend on one another only where the loops are closed do so, while they are open, but for the square of
 * the gap. */
static double coarse(const fm_instance *s, double gap)
{
    const double part = gap / s->image.length[0], square = part * part;
    return square < FM_DEPENDENT ? FM_DEPENDENT : square < FM_COARSE ? square : FM_COARSE;
}

/* Half the sum of the squares of all rows, world kinematics being there. */
static double merit(const fm_instance *s)
{
    double sum = 0.0;
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        row one;
        row_of(s, i, 0, &one);
        sum += 0.5 * one.c[0] * one.c[0];
    }
    return sum;
}

/* All rows, softened alike, so that the change leads down, by a part of the most that a diagonal entry of K can be. */
static void soften(fm_instance *s, double part)
{
    const size_t n = (size_t)s->image.n.rows;
    double most = 0.0;
    for (size_t i = 0; i < n; i++) most = s->image.row_kind[i] != FM_ROW_HELD ? fmax(most, s->loop_most[i]) : most;
    for (size_t i = 0; i < n; i++) {
        s->row_active[i] = s->loop_most[i] > 0.0 ? 1.0 : 0.0;
        if (s->image.row_kind[i] != FM_ROW_HELD) s->loop_K[i * n + i] += part * most;
    }
}

/* The smallest change of the positions (level 0) or velocities (1) that the rows ask for, in s->loop_change; `least`:
 * chooses rows anew, those with pivots beyond it, unless it is 0; `soft`: as in soften. 0: K is singular. */
static int make_change(fm_instance *s, const double *y, int level, double least, double soft)
{
    memset(s->tau_now, 0, (size_t)s->image.n.speeds * sizeof(double));
    s->kernels->accelerate(s, y, s->tau_now, s->loop_change);
    make_rows(s, 0, least > 0.0);
    if (soft > 0.0) soften(s, soft);
    else if (least > 0.0) choose_rows(s, least);
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop_rhs[i] = -s->loop_c[3 * i + level];
    if (!solve_rows(s, s->loop_rhs, s->lambda)) return 0;
    spread(s, s->lambda, s->loop_change);
    for (int32_t i = 0; i < s->image.n.rows && s->holding; i++)
        if (s->image.row_link[i] >= 0) s->loop_change[s->link[s->image.row_link[i]].u + s->image.row_part[i]] = 0.0;
    s->clock[FM_ITERATED] += 1.0;
    return 1;
}

/* No further at once than half a radian, or the model's length. */
static void shorten(fm_instance *s)
{
    double most = 1.0;
    for (int32_t i = 0; i < s->image.n.speeds; i++) {
        const double part = fabs(s->loop_change[i]) / (s->image.mode_linear[i] ? s->image.length[0] : FM_TURN_AT_ONCE);
        most = part > most ? part : most;
    }
    for (int32_t i = 0; i < s->image.n.speeds; i++) s->loop_change[i] /= most;
}

/* The change, unless the rows are hardly less violated then: 0, and y stays. */
static int try_change(fm_instance *s, double *y)
{
    double *kept = s->probe;
    const double before = merit(s);
    const size_t size = (size_t)s->image.n.positions * sizeof *kept;
    memcpy(kept, y, size);
    move_positions(s, y, s->loop_change);
    fm_normalise(s, y, NULL);
    place_links(s, y);
    if (merit(s) < (1.0 - FM_LESS) * before) return 1;
    memcpy(y, kept, size);
    place_links(s, y);
    return 0;
}

/* Positions of a start, from guesses that may be far: rows are chosen anew at every step, and softened as much as it
 * needs (Levenberg, Marquardt). 0: the loops stay open, and y is where the gap is least. */
static int close_positions(fm_instance *s, double *y)
{
    double soft = 0.0;
    for (int n = 0; n < FM_CLOSINGS; n++) {
        place_links(s, y);
        const double worst = fm_violation(s, 0), enough = tolerance(s);
        if (worst <= enough) return 1;
        if (!isfinite(worst)) return 0;
        for (;;) {
            if (make_change(s, y, 0, coarse(s, worst), soft)) {
                shorten(s);
                if (try_change(s, y)) break;
            }
            if (worst <= 1e3 * enough) return 1; /* round-off: no better to be had */
            soft = soft > 0.0 ? 10.0 * soft : FM_SOFT;
            if (soft > FM_SOFTEST) return 0;
        }
        soft = soft > FM_SOFT ? 0.1 * soft : 0.0;
    }
    return 0;
}

/* Corrects one level of y; `least` as in make_change. 0: it did not converge. */
static int correct_level(fm_instance *s, double *y, int level, double least)
{
    double *u = y + s->image.n.positions, before = INFINITY;
    for (int n = 0; n < FM_CORRECTIONS; n++) {
        place_links(s, y);
        const double worst = fm_violation(s, level), enough = tolerance(s) * (level == 0 ? 1.0 : 10.0);
        if (!isfinite(worst)) return 0;
        if (worst <= enough) return n == 0 && least > 0.0 ? make_change(s, y, level, least, 0.0) : 1; /* rows only */
        if (worst > 0.5 * before && worst < 1e3 * enough) return 1; /* round-off: no better to be had */
        before = worst;
        if (!make_change(s, y, level, least, 0.0)) return 0;
        if (level == 0) {
            move_positions(s, y, s->loop_change);
            fm_normalise(s, y, NULL);
        } else {
            for (int32_t i = 0; i < s->image.n.speeds; i++) u[i] += s->loop_change[i];
        }
        s->clock[FM_CORRECTED] += n == 0 ? 1.0 : 0.0;
    }
    place_links(s, y);
    return fm_violation(s, level) <= tolerance(s) * 1e3;
}

/* Positions, then velocities, onto the constraints. 0: they cannot be reached from here. */
int fm_correct(fm_instance *s, double *y)
{
    s->valid = FM_VALID_NOTHING;
    return correct_level(s, y, 0, 0.0) && correct_level(s, y, 1, 0.0);
}

int32_t fm_active_rows(const fm_instance *s)
{
    int32_t count = 0;
    for (int32_t i = 0; i < s->image.n.rows; i++) count += s->row_active[i] != 0.0;
    return count;
}

size_t fm_active(const fm_instance *s, int32_t *active, size_t capacity)
{
    const size_t rows = (size_t)s->image.n.rows;
    for (size_t i = 0; i < rows && i < capacity; i++) active[i] = s->row_active[i] != 0.0;
    return rows;
}

/* The same for a start: the rank is decided here. */
int fm_close_start(fm_instance *s, double *y)
{
    s->valid = FM_VALID_NOTHING;
    s->holding = 1;
    const int closed = close_positions(s, y) && correct_level(s, y, 1, FM_DEPENDENT);
    s->holding = 0;
    if (closed) choose_rows(s, FM_DEPENDENT); /* without what was held */
    return closed;
}

/* How many rows are independent a little further along a motion of the mechanism, which two sets of numbers choose;
 * y stays as it is, and so do the rows that are chosen. */
int32_t fm_rank_nearby(fm_instance *s, const double *y, int way)
{
    const int32_t positions = s->image.n.positions, speeds = s->image.n.speeds, rows = s->image.n.rows;
    double *moved = s->trial, *chosen = s->loop_kept, fastest = 0.0;
    const double iterated = s->clock[FM_ITERATED], corrected = s->clock[FM_CORRECTED];
    int32_t rank = 0;
    memcpy(moved, y, (size_t)(positions + speeds) * sizeof *moved);
    memcpy(chosen, s->row_active, (size_t)rows * sizeof *chosen);
    for (int32_t i = 0; i < speeds; i++) moved[positions + i] = sin(1.0 + (double)way + 2.4 * i);
    if (correct_level(s, moved, 1, 0.0)) {
        for (int32_t i = 0; i < speeds; i++) fastest = fmax(fastest, fabs(moved[positions + i]) / s->least[positions + i]);
        for (int32_t i = 0; i < speeds; i++) s->loop_change[i] = FM_NEARBY / fastest * moved[positions + i];
        if (fastest > 1e-9) move_positions(s, moved, s->loop_change);
        if (close_positions(s, moved) && correct_level(s, moved, 1, FM_DEPENDENT)) rank = fm_active_rows(s);
    }
    memcpy(s->row_active, chosen, (size_t)rows * sizeof *chosen);
    s->clock[FM_ITERATED] = iterated, s->clock[FM_CORRECTED] = corrected;
    return rank;
}

/* The joints of a secondary joint's loop, or path to the ground, with hyphens between. */
void fm_loop_names(const fm_instance *s, int32_t joint, char *out, size_t capacity)
{
    const fm_image *m = &s->image;
    int32_t ends[2] = {m->joint_F_link[joint], m->joint_M_link[joint]}, last = -1;
    size_t used = (size_t)snprintf(out, capacity, "%s", m->text + m->joint_name[joint]);
    while (ends[0] != ends[1] && used + 8 < capacity) {
        int32_t *end = ends[0] > ends[1] ? ends : ends + 1;
        if (m->link_joint[*end] != last) {
            last = m->link_joint[*end];
            used += (size_t)snprintf(out + used, capacity - used, "-%s", m->text + m->joint_name[last]);
        }
        *end = m->link_parent[*end];
    }
    if (used >= capacity && capacity > 4) memcpy(out + capacity - 4, "...", 4);
}

/* Torque and force of a secondary joint on M's link at M's origin, in world axes. */
void fm_loop_wrench(const fm_instance *s, int32_t joint, double torque[3], double force[3])
{
    memset(torque, 0, 3 * sizeof *torque);
    memset(force, 0, 3 * sizeof *force);
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        if (s->image.row_joint[i] != joint) continue;
        for (int j = 0; j < 3; j++) {
            torque[j] += s->lambda[i] * s->loop_wrench[6 * i + j];
            force[j] += s->lambda[i] * s->loop_wrench[6 * i + 3 + j];
        }
    }
}
