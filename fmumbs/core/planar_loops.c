/* planar_loops.c: loops of mechanisms that move in a plane, with the sweeps of planar.inc.
 *
 * Of the rows of a secondary joint those that act in the plane move the mechanism; along and perpendicular rows across
 * it hold by themselves and only show in reactions, which are made in space. With e the direction of a row, w and v
 * angular velocity and velocity, M and F the points of the joint, d from F to M, and F' the point of F's link that is
 * where M is, the rows and what their second derivatives are without accelerations are
 *     along:          c' = e . (v_M - v_F'),       - e . (w_M^2 r_M - w_F^2 r_F' + 2 w_F x (v_M - v_F'))
 *     perpendicular:  c' = (w_M - w_F) (g x f),    - (w_M - w_F)^2 (f . g)
 *     distance:       c' = d . (v_M - v_F) / l,    as along with e = d / l, but (v_M - v_F)^2 / l - w_F^2 d^2 / l at last
 * r from the origins of the links. What accelerations add comes from the column that a unit multiplier sends to the
 * ground: with the wrench (n, f) before a pin n alpha + f . a = n g + (f - n H / J) . a by the way back of planar.inc,
 * and so on. So c'' without multipliers needs no sweep to the tips; that follows once, with the multipliers in g.
 */
#include "loops.h"
#include "rows.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

#define AT(name) x[FM_PLANE_##name * FM_PLANE_WIDTH]
#define FM_PARALLEL 1e-14 /* directions that differ by less are the same */

/* Which mechanisms ---------------------------------------------------------------------------------------------------- */

/* Whether a vector lies in the plane (1), across it (0), or neither (-1). */
static int lies(const double *v, const double *n)
{
    double rest[3];
    cross(v, n, rest);
    if (fabs(dot(v, n)) <= FM_PARALLEL) return 1;
    return dot(rest, rest) <= FM_PARALLEL * FM_PARALLEL ? 0 : -1;
}

/* The sort of a row: its kind, FM_ROW_KINDS if it holds by itself, -1 if it acts in space. */
static int32_t sort_of(const fm_image *m, int32_t i, const double *nF, const double *nM)
{
    const int32_t kind = m->row_kind[i];
    const int f = lies(m->row_f + 3 * i, nF), g = lies(m->row_g + 3 * i, nM);
    if (kind == FM_ROW_DISTANCE) return kind;
    if (kind == FM_ROW_ALONG) return f == 1 ? kind : f == 0 ? FM_ROW_KINDS : -1;
    if (kind != FM_ROW_PERPENDICULAR || f < 0 || g < 0) return -1;
    return f == 1 && g == 1 ? kind : FM_ROW_KINDS;
}

/* Whether all loops move in the plane across `ground`; `normal`: that of each link's axes, zero for those in space. */
int fm_planar_loops_fit(const fm_image *m, const double *ground, const double *normal)
{
    for (int32_t i = 0; i < m->n.rows; i++) {
        if (m->row_kind[i] == FM_ROW_HELD) continue;
        if (m->row_kind[i] == FM_ROW_COUPLED) return 0;
        const int32_t F = m->joint_F_link[m->row_joint[i]], M = m->joint_M_link[m->row_joint[i]];
        const double *nF = F < 0 ? ground : normal + 3 * F, *nM = M < 0 ? ground : normal + 3 * M;
        if (dot(nF, nF) == 0.0 || dot(nM, nM) == 0.0 || sort_of(m, i, nF, nM) < 0) return 0;
    }
    return 1;
}

/* What is constant of them -------------------------------------------------------------------------------------------- */

static const fm_plane_axes *axes_of(const fm_instance *s, int32_t place)
{
    return place < 0 ? &s->plane_ground : s->plane_axes + place;
}

static void in_plane(const fm_plane_axes *axes, const double *v, double out[2])
{
    out[0] = dot(axes->x, v), out[1] = dot(axes->y, v);
}

/* How far the origins of the links are from the ground's, along the normal. */
static double height(const fm_instance *s, int32_t place, const double *at)
{
    double sum = dot(axes_of(s, place)->n, at);
    while (place >= 0) {
        const fm_plane_link *k = s->plane_link + place;
        sum += dot(axes_of(s, k->parent)->n, s->link[k->link].r);
        place = k->parent;
    }
    return sum;
}

static void describe_joint(fm_instance *s, int32_t block)
{
    static const double nothing[3] = {0.0, 0.0, 0.0};
    const fm_image *m = &s->image;
    const fm_block *b = s->loop.block + block;
    const int32_t joint = m->row_joint[b->first], F = m->joint_F_link[joint], M = m->joint_M_link[joint];
    fm_plane_joint *j = s->plane_joint + block;
    if (m->row_kind[b->first] == FM_ROW_HELD) return;
    j->F = F < 0 ? -1 : s->plane_place[F], j->M = M < 0 ? -1 : s->plane_place[M];
    in_plane(axes_of(s, j->F), m->joint_F_r + 3 * joint, j->at_F);
    in_plane(axes_of(s, j->M), m->joint_M_r + 3 * joint, j->at_M);
    j->high_F = height(s, j->F, nothing), j->high_M = height(s, j->M, nothing);
    j->apart = height(s, j->M, m->joint_M_r + 3 * joint) - height(s, j->F, m->joint_F_r + 3 * joint);
    for (int32_t i = b->first; i < b->first + b->rows; i++) {
        fm_plane_row *row = s->plane_row + i;
        row->kind = sort_of(m, i, axes_of(s, j->F)->n, axes_of(s, j->M)->n);
        in_plane(axes_of(s, j->F), m->row_f + 3 * i, row->f);
        in_plane(axes_of(s, j->M), m->row_g + 3 * i, row->g);
    }
}

/* Once, after planar axes have been chosen; those of the ground have `normal`. */
void fm_planar_loops_structure(fm_instance *s, const double *normal)
{
    fm_plane_axes *ground = &s->plane_ground;
    const int least = fabs(normal[0]) < 0.6 ? 0 : 1;
    double x[3] = {0.0, 0.0, 0.0};
    x[least] = 1.0;
    cross(normal, x, ground->y);
    const double length = sqrt(dot(ground->y, ground->y));
    for (int j = 0; j < 3; j++) ground->y[j] /= length;
    memcpy(ground->n, normal, sizeof ground->n);
    cross(ground->y, ground->n, ground->x);
    memset(s->plane_world, 0, ((size_t)s->model.planars + 1) * sizeof *s->plane_world);
    s->plane_world[0].c = 1.0;
    for (int32_t i = 0; i < s->model.planars; i++) {
        const fm_plane_link *k = s->plane_link + i;
        fm_plane_world *root = s->plane_root + i;
        double axis[3], turned[2], at[2];
        memset(root, 0, sizeof *root);
        if (k->parent >= 0) continue;
        turn_out(s->turned[k->link].R0, s->plane_axes[i].x, axis);
        in_plane(ground, axis, turned);
        in_plane(ground, s->link[k->link].r, at);
        root->c = turned[0], root->s = turned[1], root->x = at[0], root->y = at[1];
    }
    for (int32_t b = 0; b < s->loop.blocks; b++) describe_joint(s, b);
    for (size_t e = 0; e < s->loop.paths; e++) s->plane_mode[e] = s->plane_place[s->loop.link[e]];
}

/* World kinematics ---------------------------------------------------------------------------------------------------- */

/* Where the planar links are and how they move, in the axes of the plane. */
void fm_planar_world(fm_instance *s, const double *y)
{
    const double *u = y + s->image.n.positions;
    fm_plane_world *world = s->plane_world + 1;
    for (int32_t i = 0; i < s->model.planars; i++) {
        const fm_plane_link *k = s->plane_link + i;
        const double *x = fm_plane_at(s, i);
        const fm_plane_world *p = k->parent < 0 ? s->plane_root + i : world + k->parent;
        double rx = k->parent < 0 ? 0.0 : AT(ty), ry = k->parent < 0 ? 0.0 : -AT(tx);
        double px = p->x, py = p->y;
        if (k->parent < 0 && k->kind == FM_PLANE_SLIDE) {
            double r[3];
            fm_lane_get(s, r, k->link, r);
            px = dot(s->plane_ground.x, r), py = dot(s->plane_ground.y, r);
        }
        const double ax = p->c * rx - p->s * ry, ay = p->s * rx + p->c * ry;
        world[i].x = px + ax, world[i].y = py + ay;
        world[i].c = p->c * AT(c) - p->s * AT(s), world[i].s = p->s * AT(c) + p->c * AT(s);
        world[i].vx = p->vx - p->w * ay, world[i].vy = p->vy + p->w * ax;
        world[i].w = p->w;
        if (k->kind == FM_PLANE_PIN) world[i].w += k->sign * u[k->u];
        if (k->kind != FM_PLANE_SLIDE) continue;
        const double rate = k->sign * u[k->u];
        world[i].vx += rate * world[i].c, world[i].vy += rate * world[i].s;
    }
}

/* A joint in the plane. */
typedef struct sight {
    const fm_plane_world *F, *M;
    double rM[2], rF[2];  /* M's point from the origins of both links */
    double d[2], dv[2];   /* from F to M, and its rate */
    double slip[2];       /* v_M - v_F' */
} sight;

static void see(const fm_instance *s, const fm_plane_joint *j, sight *out)
{
    const fm_plane_world *F = s->plane_world + 1 + j->F, *M = s->plane_world + 1 + j->M;
    const double fx = F->c * j->at_F[0] - F->s * j->at_F[1], fy = F->s * j->at_F[0] + F->c * j->at_F[1];
    out->F = F, out->M = M;
    out->rM[0] = M->c * j->at_M[0] - M->s * j->at_M[1], out->rM[1] = M->s * j->at_M[0] + M->c * j->at_M[1];
    out->rF[0] = (M->x - F->x) + out->rM[0], out->rF[1] = (M->y - F->y) + out->rM[1];
    out->d[0] = out->rF[0] - fx, out->d[1] = out->rF[1] - fy;
    const double vx = (M->vx - M->w * out->rM[1]) - F->vx, vy = (M->vy + M->w * out->rM[0]) - F->vy;
    out->dv[0] = vx + F->w * fy, out->dv[1] = vy - F->w * fx;
    out->slip[0] = vx + F->w * out->rF[1], out->slip[1] = vy - F->w * out->rF[0];
}

/* A row: value and rate, its second derivative without accelerations, force and torque of a unit multiplier on M. */
typedef struct look {
    double c[3], torque, force[2];
} look;

static void look_at(const fm_instance *s, const fm_plane_joint *j, int32_t i, const sight *at, look *out)
{
    const fm_plane_row *row = s->plane_row + i;
    const fm_plane_world *F = at->F, *M = at->M;
    const double length = s->image.row_length[i], wF = F->w, wM = M->w;
    double e[2] = {F->c * row->f[0] - F->s * row->f[1], F->s * row->f[0] + F->c * row->f[1]};
    memset(out, 0, sizeof *out);
    if (row->kind == FM_ROW_PERPENDICULAR) {
        const double gx = M->c * row->g[0] - M->s * row->g[1], gy = M->s * row->g[0] + M->c * row->g[1];
        const double along = e[0] * gx + e[1] * gy, spin = wM - wF;
        out->torque = gx * e[1] - gy * e[0];
        out->c[0] = along - length;
        out->c[1] = spin * out->torque;
        out->c[2] = -(spin * spin) * along;
        return;
    }
    if (row->kind == FM_ROW_ALONG) {
        out->c[0] = (e[0] * at->d[0] + e[1] * at->d[1]) - length;
        out->c[1] = e[0] * at->slip[0] + e[1] * at->slip[1];
        out->c[2] = -2.0 * wF * (e[1] * at->slip[0] - e[0] * at->slip[1]);
    } else {
        const double square = at->d[0] * at->d[0] + at->d[1] * at->d[1];
        e[0] = at->d[0] / length, e[1] = at->d[1] / length;
        out->c[0] = ((square + j->apart * j->apart) - length * length) / (2.0 * length);
        out->c[1] = e[0] * at->dv[0] + e[1] * at->dv[1];
        out->c[2] = ((at->dv[0] * at->dv[0] + at->dv[1] * at->dv[1]) - (wF * wF) * square) / length;
    }
    out->c[2] -= (wM * wM) * (e[0] * at->rM[0] + e[1] * at->rM[1]) - (wF * wF) * (e[0] * at->rF[0] + e[1] * at->rF[1]);
    out->force[0] = e[0], out->force[1] = e[1];
}

/* The largest violation at level 0 (positions) or 1 (velocities), and all in s->loop_c; fm_planar_world has been called. */
double fm_planar_violation(fm_instance *s, int level)
{
    double worst = 0.0;
    for (int32_t b = 0; b < s->loop.blocks; b++) {
        const fm_block *k = s->loop.block + b;
        const fm_plane_joint *j = s->plane_joint + b;
        sight at;
        look one;
        if (s->image.row_kind[k->first] == FM_ROW_HELD) continue;
        see(s, j, &at);
        for (int32_t i = k->first; i < k->first + k->rows; i++) {
            if (s->plane_row[i].kind == FM_ROW_KINDS) continue;
            look_at(s, j, i, &at, &one);
            const double off = s->loop_c[3 * i + level] = one.c[level];
            worst = fabs(off) > worst || isnan(off) ? fabs(off) : worst;
        }
    }
    return worst;
}

/* A link's motion in space from that in the plane; its origin is that high above the plane. */
static void show(fm_instance *s, int32_t place, double high)
{
    if (place < 0) return;
    const fm_plane_axes *axes = s->plane_axes + place, *ground = &s->plane_ground;
    const fm_plane_world *in = s->plane_world + 1 + place;
    fm_world *out = s->world + s->plane_link[place].link;
    for (int i = 0; i < 3; i++) {
        const double x = in->c * ground->x[i] + in->s * ground->y[i], y = in->c * ground->y[i] - in->s * ground->x[i];
        for (int j = 0; j < 3; j++) out->R[3 * i + j] = (x * axes->x[j] + y * axes->y[j]) + ground->n[i] * axes->n[j];
        out->r[i] = (in->x * ground->x[i] + in->y * ground->y[i]) + high * ground->n[i];
        out->v[i] = in->vx * ground->x[i] + in->vy * ground->y[i];
        out->w[i] = in->w * ground->n[i];
    }
}

/* World kinematics of the links of secondary joints. */
void fm_planar_show_cuts(fm_instance *s)
{
    for (int32_t b = 0; b < s->loop.blocks; b++) {
        const fm_plane_joint *j = s->plane_joint + b;
        if (s->image.row_kind[s->loop.block[b].first] == FM_ROW_HELD) continue;
        show(s, j->F, j->high_F);
        show(s, j->M, j->high_M);
    }
}

/* How far the links are from the origin, at most along an axis. */
double fm_planar_extent(const fm_instance *s)
{
    double most = 0.0;
    for (int32_t i = 1; i <= s->model.planars; i++) {
        const fm_plane_world *w = s->plane_world + i;
        most = fabs(w->x) > most ? fabs(w->x) : most;
        most = fabs(w->y) > most ? fabs(w->y) : most;
    }
    return most;
}

/* Columns ------------------------------------------------------------------------------------------------------------- */

typedef struct wrenches {
    double n[FM_FREEDOMS], fx[FM_FREEDOMS], fy[FM_FREEDOMS];
} wrenches;

/* Takes wrenches in a link's axes, about its origin, to its parent's; innovations go to `y` and over the pivots to `z`,
 * what accelerations without multipliers do to c'' is added to `bias`. */
FM_INLINE void pass_place(const fm_instance *s, int32_t place, wrenches *w, double **y, double **z, double *bias,
                          const int rows)
{
    const fm_plane_link *k = s->plane_link + place;
    const double *x = fm_plane_at(s, place);
    const double c = AT(c), sn = AT(s), tx = AT(tx), ty = AT(ty), lx = AT(lx), ly = AT(ly);
    for (int q = 0; q < rows; q++) {
        double n = w->n[q], fx = w->fx[q], fy = w->fy[q];
        if (k->kind == FM_PLANE_PIN) {
            const double over = n * AT(D);
            *y[q]++ = n, *z[q]++ = over;
            bias[q] += n * AT(g);
            fx -= over * AT(Ux), fy -= over * AT(Uy);
            n = 0.0;
        } else if (k->kind == FM_PLANE_SLIDE) {
            *y[q]++ = fx, *z[q]++ = fx * AT(D);
            bias[q] += fx * AT(g);
            n -= fx * AT(Ux), fy -= fx * AT(Uy);
            fx = 0.0;
        }
        const double up_x = c * fx - sn * fy, up_y = sn * fx + c * fy;
        bias[q] += up_x * lx + up_y * ly;
        w->n[q] = n + (tx * up_x + ty * up_y);
        w->fx[q] = up_x, w->fy[q] = up_y;
    }
}

FM_INLINE void start_wrenches(const fm_plane_world *at, const double *arm, double sign, const look *one, wrenches *w,
                              const int rows)
{
    for (int q = 0; q < rows; q++) {
        const double fx = sign * one[q].force[0], fy = sign * one[q].force[1];
        w->n[q] = sign * one[q].torque + (arm[0] * fy - arm[1] * fx);
        w->fx[q] = at->c * fx + at->s * fy;
        w->fy[q] = at->c * fy - at->s * fx;
    }
}

/* What the ground's acceleration, which is that of weight, does; root: whose axes at zero the wrenches have, -1: those of
 * the ground. */
FM_INLINE void reach_ground(const fm_instance *s, int32_t root, const wrenches *w, double *bias, const int rows)
{
    const fm_plane_world *at = root < 0 ? s->plane_world : s->plane_root + root;
    for (int q = 0; q < rows; q++) bias[q] += w->fx[q] * at->ax + w->fy[q] * at->ay;
}

/* The columns of a block, as many as its rows in use; -c'' without multipliers goes to s->loop_rhs. */
FM_INLINE void make_columns(fm_instance *s, int32_t block, const int rows)
{
    const fm_block *b = s->loop.block + block;
    const fm_plane_joint *j = s->plane_joint + block;
    double *y[FM_FREEDOMS], *z[FM_FREEDOMS], bias[FM_FREEDOMS];
    look one[FM_FREEDOMS];
    wrenches from_M, from_F;
    sight at;
    see(s, j, &at);
    for (int q = 0; q < rows; q++) {
        const size_t start = b->y + (size_t)b->use[q] * (size_t)b->length;
        y[q] = s->loop_y + start, z[q] = s->loop_z + start;
        look_at(s, j, b->first + b->use[q], &at, one + q);
        bias[q] = one[q].c[2];
        if (s->closure[0] == FM_CORRECT_BAUMGARTE)
            bias[q] += 2.0 * s->closure[2] * one[q].c[1] + (s->closure[3] * s->closure[3]) * one[q].c[0];
    }
    start_wrenches(at.M, at.rM, 1.0, one, &from_M, rows);
    start_wrenches(at.F, at.rF, -1.0, one, &from_F, rows);
    int32_t M = j->M, F = j->F;
    if (M < 0) reach_ground(s, -1, &from_M, bias, rows);
    if (F < 0) reach_ground(s, -1, &from_F, bias, rows);
    while (M != F) {
        const int32_t place = M > F ? M : F, parent = s->plane_link[place].parent;
        wrenches *w = M > F ? &from_M : &from_F;
        pass_place(s, place, w, y, z, bias, rows);
        if (parent < 0) reach_ground(s, place, w, bias, rows);
        if (M > F) M = parent;
        else F = parent;
    }
    for (int q = 0; q < rows && M >= 0; q++)
        from_M.n[q] += from_F.n[q], from_M.fx[q] += from_F.fx[q], from_M.fy[q] += from_F.fy[q];
    while (M >= 0) {
        pass_place(s, M, &from_M, y, z, bias, rows);
        if (s->plane_link[M].parent < 0) reach_ground(s, M, &from_M, bias, rows);
        M = s->plane_link[M].parent;
    }
    for (int q = 0; q < rows; q++) s->loop_rhs[b->first + b->use[q]] = -bias[q];
}

/* Rows in use and their columns, after the sweep from the tips. */
static void make_rows(fm_instance *s)
{
    for (int32_t b = 0; b < s->loop.blocks; b++)
        switch (s->loop.block[b].used) {
        case 0: break;
        case 1: make_columns(s, b, 1); break;
        case 2: make_columns(s, b, 2); break;
        case 3: make_columns(s, b, 3); break;
        default: make_columns(s, b, s->loop.block[b].used);
        }
}

/* Adds what multipliers bring about to the forced parts. */
static void add_multipliers(fm_instance *s, const double *lambda)
{
    for (int32_t n = 0; n < s->loop.blocks; n++) {
        const fm_block *b = s->loop.block + n;
        const int32_t *mode = s->plane_mode + b->path;
        for (int32_t q = 0; q < b->used; q++) {
            const double *z = s->loop_z + b->y + (size_t)b->use[q] * (size_t)b->length, force = lambda[b->first + b->use[q]];
            for (int32_t e = 0; e < b->length; e++) fm_plane_at(s, mode[e])[FM_PLANE_g * FM_PLANE_WIDTH] += force * z[e];
        }
    }
}

/* Between the sweep from the tips and the one to them: the multipliers. */
void fm_planar_close(fm_instance *s, const double *y)
{
    s->plane_world[0].ax = -dot(s->plane_ground.x, s->gravity);
    s->plane_world[0].ay = -dot(s->plane_ground.y, s->gravity);
    for (int32_t i = 0; i < s->model.planars; i++) {
        const fm_plane_link *k = s->plane_link + i;
        if (k->parent >= 0) continue;
        double weight[3];
        turn_in(s->turned[k->link].R0, s->gravity, weight);
        s->plane_root[i].ax = -dot(s->plane_axes[i].x, weight);
        s->plane_root[i].ay = -dot(s->plane_axes[i].y, weight);
    }
    if (!s->in_place) fm_planar_world(s, y);
    make_rows(s);
    fm_make_K(s);
    fm_find_multipliers(s);
    add_multipliers(s, s->lambda);
}

/* K's factor at y, whose place is there. 0: it is singular. */
int fm_planar_factor(fm_instance *s, const double *y)
{
    memset(s->tau_now, 0, (size_t)s->image.n.speeds * sizeof(double));
    s->kernels->plane_cuts(s, y, s->tau_now);
    make_rows(s);
    fm_make_K(s);
    return fm_factor_K(s);
}

/* M^-1 J' lambda in `out`: the sweep to the tips at rest and without weight. */
void fm_planar_spread(fm_instance *s, const double *lambda, double *out)
{
    double alpha = 0.0, ax = 0.0, ay = 0.0;
    for (int32_t i = 0; i < s->model.planars; i++) fm_plane_at(s, i)[FM_PLANE_g * FM_PLANE_WIDTH] = 0.0;
    add_multipliers(s, lambda);
    memset(out, 0, (size_t)s->image.n.speeds * sizeof *out);
    for (int32_t i = 0; i < s->model.planars; i++) {
        const fm_plane_link *k = s->plane_link + i;
        double *x = fm_plane_at(s, i);
        if (k->jumps) {
            const double *p = k->parent < 0 ? NULL : fm_plane_at(s, k->parent);
            alpha = p == NULL ? 0.0 : p[FM_PLANE_alpha * FM_PLANE_WIDTH];
            ax = p == NULL ? 0.0 : p[FM_PLANE_ax * FM_PLANE_WIDTH], ay = p == NULL ? 0.0 : p[FM_PLANE_ay * FM_PLANE_WIDTH];
        }
        const double c = AT(c), sn = AT(s), vx = AT(vx), vy = AT(vy), before = alpha;
        const double own_x = (c * ax + sn * ay) + vx * alpha, own_y = (c * ay - sn * ax) + vy * alpha;
        if (k->kind == FM_PLANE_PIN) {
            const double ux = AT(Ux) * AT(D), uy = AT(Uy) * AT(D), wx = c * ux - sn * uy, wy = sn * ux + c * uy;
            alpha = (AT(g) - (ux * vx + uy * vy) * alpha) - (wx * ax + wy * ay);
            out[k->u] = k->sign * (alpha - before);
        }
        ax = own_x, ay = own_y;
        if (k->kind == FM_PLANE_SLIDE) {
            const double rate = AT(g) - ((AT(Ux) * alpha + AT(Uy) * ay) + ax);
            out[k->u] = k->sign * rate;
            ax += rate;
        }
        AT(alpha) = alpha, AT(ax) = ax, AT(ay) = ay;
    }
}
