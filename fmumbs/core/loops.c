/* loops.c: joints that close loops, and tips that are fixed: their reactions.
 *
 * With the innovations that the rows' multipliers leave in the free modes (constraints.c)
 *     K = J M^-1 J' = sum over the modes of (phi'w_i) (phi'w_j) / D,   K lambda = -c'' at lambda = 0.
 */
#include "loops.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

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
void fm_make_rows(fm_instance *s, int moving, int choose)
{
    const int32_t rows = s->image.n.rows, speeds = s->image.n.speeds;
    reciprocals(s, s->loop_pivot);
    for (int32_t i = 0; i < rows; i++) {
        const int32_t joint = s->image.row_joint[i];
        double *y = s->loop_y + (size_t)i * (size_t)speeds;
        fm_constraint one;
        fm_constraint_at(s, i, moving, &one);
        for (int j = 0; j < 3; j++) {
            s->loop_c[3 * i + j] = one.c[j];
            s->loop_wrench[6 * i + j] = one.torque[j];
            s->loop_wrench[6 * i + 3 + j] = one.force[j];
        }
        memset(y, 0, (size_t)speeds * sizeof *y);
        double *most = choose ? s->loop_most + i : NULL;
        s->loop_most[i] = 0.0;
        if (s->image.row_kind[i] == FM_ROW_HELD) {
            if (s->holding) fm_pass_held(s, i, y, most);
            continue;
        }
        if (s->image.row_kind[i] == FM_ROW_COUPLED) {
            fm_pass_coupling(s, i, y, most);
            continue;
        }
        fm_pass_path(s, s->image.joint_M_link[joint], one.r, one.torque, one.force, 1.0, y, most);
        fm_pass_path(s, s->image.joint_F_link[joint], one.r, one.torque, one.force, -1.0, y, most);
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
void fm_choose_rows(fm_instance *s, double least)
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
int fm_solve_rows(fm_instance *s, const double *b, double *x)
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
        if (s->image.row_kind[i] == FM_ROW_COUPLED || s->image.row_kind[i] == FM_ROW_HELD) continue;
        const int32_t joint = s->image.row_joint[i];
        const int32_t ends[2] = {s->image.joint_M_link[joint], s->image.joint_F_link[joint]};
        fm_place at;
        fm_frame_place(s, ends[0], s->image.joint_M_r + 3 * joint, 0, &at);
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
    fm_make_rows(s, 1, 0);
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop_rhs[i] = -s->loop_c[3 * i + 2];
    if (!fm_solve_rows(s, s->loop_rhs, s->lambda)) {
        for (int32_t i = 0; i < s->image.n.speeds; i++) udot[i] = NAN; /* the step is then rejected */
        return;
    }
    add_multipliers(s, s->lambda);
    s->kernels->back(s, udot);
    load_links(s, s->lambda);
}

/* M^-1 J' lambda in `out`: the same columns, at rest and without weight. */
void fm_spread(fm_instance *s, const double *lambda, double *out)
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

/* The generalised force that a coupling puts on one of its coordinates. */
double fm_coupling_force(const fm_instance *s, int32_t coupling, int32_t term)
{
    double force = 0.0;
    for (int32_t i = 0; i < s->image.n.rows; i++)
        if (s->image.row_coupling[i] == coupling)
            force += s->lambda[i] * s->image.term_ratio[s->image.coupling_first[coupling] + term];
    return force;
}
