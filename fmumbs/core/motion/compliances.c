/* compliances.c: the stiffness and damping of elements that act across several joints, point springs and springs in cut joints,
 * beside the inertias of stiffness.c.
 *
 * Each adds a symmetric matrix of rank one for every direction in which it resists: with J the row of the rate u_J = J u of
 * that direction, k its stiffness and d its damping, R = J' rho J, rho = g d + g^2 k. As a constraint row with a compliance
 * 1/rho it is taken into M' = M + R of the sweeps, loops included, by
 *     (M' + J' rho J)^-1 = (1 - C (1/rho + J C)^-1 J) M'^-1,   C = M'^-1 J',
 * C from an evaluation more for each direction. A spring of length l under a pull F resists along its line, and across it
 * with F/l. Directions in which it hardly resists within g, compared with the bodies' inertia, are left out, and of more than
 * FM_COMPLIANCES those that resist least: that slows the iteration of the scheme, and changes nothing of where it ends.
 */
#include "compliances.h"

#include "../instance/instance.h"
#include "../forces/laws.h"
#include "../image/joints.h"
#include "../loops/cut_joints.h"
#include "../loops/jacobian.h"
#include "../maths/vectors.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "rates.h"

#include <math.h>
#include <string.h>

#define FM_HARDLY_STIFF 0.05 /* rho over the least inertia that opposes: below it, an element is not stiff */
#define FM_ALONGSIDE 0.01    /* F/l over k: below it, a spring does not resist across its line */

/* A direction: the wrench of a unit force on link M, and the opposite of that on link F (-1: ground); its stiffness and its
 * damping. */
typedef struct direction {
    fm_constraint on_M, on_F;
    int32_t F, M;
    double k, d;
} direction;

/* An upper bound of the acceleration of a link's point along any direction by a unit force: that of the link alone,
 * 1/m + |arm|^2/(its least inertia about its centre), the latter at least det/(half the trace)^2. */
static double most_mobile(const fm_instance *s, int32_t link, const double r[3])
{
    if (link < 0) return 0.0;
    const fm_link *k = s->link + link;
    if (!(k->m > 0.0)) return INFINITY;
    double c[3], J[6], arm = 0.0;
    for (int j = 0; j < 3; j++) c[j] = k->h[j] / k->m, arm += (r[j] - c[j]) * (r[j] - c[j]);
    const double square = dot(c, c);
    J[0] = k->J[0] - k->m * (square - c[0] * c[0]), J[3] = k->J[3] - k->m * (square - c[1] * c[1]);
    J[5] = k->J[5] - k->m * (square - c[2] * c[2]);
    J[1] = k->J[1] + k->m * c[0] * c[1], J[2] = k->J[2] + k->m * c[0] * c[2], J[4] = k->J[4] + k->m * c[1] * c[2];
    const double minor = J[3] * J[5] - J[4] * J[4], half = 0.5 * ((J[0] + J[3]) + J[5]);
    const double det = (J[0] * minor - J[1] * (J[1] * J[5] - J[4] * J[2])) + J[2] * (J[1] * J[4] - J[3] * J[2]);
    const double least = det / (half * half);
    return arm > 0.0 ? 1.0 / k->m + arm / (least > 0.0 ? least : 0.0) : 1.0 / k->m;
}

/* Adds J, the compliance and g k of a direction to a set; the stiffest ones if there is no more room. */
static void add(fm_instance *s, fm_compliances *set, double g, const direction *at)
{
    const int32_t nu = s->image.n.speeds;
    const double rho = g * (at->d + g * at->k);
    int32_t place = set->count;
    if (place == s->stiff.room) {
        int32_t softest = 0;
        for (int32_t i = 1; i < place; i++) softest = set->rho[i] < set->rho[softest] ? i : softest;
        if (!(rho > set->rho[softest])) return;
        place = softest;
    } else set->count++;
    double *J = set->J + (size_t)place * (size_t)nu;
    memset(J, 0, (size_t)nu * sizeof *J);
    (void)fm_wrench_along(s, -1, at->M, &at->on_M, J, NULL);
    (void)fm_wrench_along(s, at->F, -1, &at->on_F, J, NULL);
    fm_from_links(s, J);
    set->rho[place] = rho, set->gk[place] = g * at->k;
}

/* Stiffness, damping and pull of a spring with its laws at y. */
static void spring_at(const fm_instance *s, int32_t i, const double *y, double line[3], double *k, double *d, double *across)
{
    double rate;
    const double length = fm_spring_line(s, i, line, &rate);
    double pull = s->spring_stiffness[i] * (length - s->spring_free_length[i]) + s->spring_damping[i] * rate;
    *k = s->spring_stiffness[i] > 0.0 ? s->spring_stiffness[i] : 0.0, *d = s->spring_damping[i] > 0.0 ? s->spring_damping[i] : 0.0;
    for (int32_t j = 0; j < s->image.n.laws; j++) {
        double by_x, by_v;
        if (s->image.law_spring[j] != i || !fm_law_slopes(s, j, y, &by_x, &by_v)) continue;
        *k += by_x > 0.0 ? by_x : 0.0, *d += by_v > 0.0 ? by_v : 0.0;
    }
    if (s->work.still) *d = 0.0;
    if (s->image.n.laws > 0) pull += fm_laws_on_spring(s, i, y);
    *across = length > 0.0 ? pull / length : s->spring_free_length[i] == 0.0 ? *k : 0.0;
    if (length > 0.0) return;
    line[0] = 1.0, line[1] = line[2] = 0.0;
    if (s->spring_free_length[i] != 0.0) *k = 0.0;
    *d = 0.0;
}

static void add_spring(fm_instance *s, fm_compliances *set, double g, int32_t i, const double *y)
{
    const fm_image *m = &s->image;
    const int32_t P = m->spring_P[i], Q = m->spring_Q[i];
    double line[3], across, side[3][3] = {{0.0}}, v[3];
    direction at;
    memset(&at, 0, sizeof at);
    at.F = m->point_link[P], at.M = m->point_link[Q];
    if (at.F == at.M) return;
    spring_at(s, i, y, line, &at.k, &at.d, &across);
    const double most = most_mobile(s, at.F, m->point_r + 3 * P) + most_mobile(s, at.M, m->point_r + 3 * Q);
    const double *stiffest = at.k > across ? &at.k : &across;
    if (!(g * (at.d + g * *stiffest) * most > FM_HARDLY_STIFF)) return;
    memcpy(side[0], line, sizeof side[0]);
    const int least = fabs(line[0]) < fabs(line[1]) ? (fabs(line[0]) < fabs(line[2]) ? 0 : 2) : (fabs(line[1]) < fabs(line[2]) ? 1 : 2);
    v[0] = v[1] = v[2] = 0.0, v[least] = 1.0;
    cross(line, v, side[1]);
    const double size = sqrt(dot(side[1], side[1]));
    for (int j = 0; j < 3; j++) side[1][j] /= size;
    cross(line, side[1], side[2]);
    fm_point_place(s, Q, at.on_M.r, v);
    fm_point_place(s, P, at.on_F.r, v);
    for (int j = 0, directions = across > FM_ALONGSIDE * at.k ? 3 : 1; j < directions; j++) {
        if (j == 1) at.k = across, at.d = 0.0;
        memcpy(at.on_M.force, side[j], sizeof side[j]);
        memcpy(at.on_F.force, side[j], sizeof side[j]);
        if (at.d + g * at.k > 0.0) add(s, set, g, &at);
    }
}

static void add_cut_joint(fm_instance *s, fm_compliances *set, double g, int32_t joint)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->joint_nu[joint]; i++) {
        const int32_t u = m->joint_u[joint] + i;
        direction at = {.F = m->joint_F_link[joint], .M = m->joint_M_link[joint], .k = s->stiffness[u], .d = s->damping[u]};
        if (s->work.still) at.d = 0.0;
        else if (m->n.frictions > 0 && !s->work.still) at.d += s->friction.D[u];
        if (!(at.d + g * at.k > 0.0)) continue;
        fm_cut_joint_row(s, joint, i, &at.on_M);
        at.on_F = at.on_M;
        add(s, set, g, &at);
    }
}

static fm_compliances *set_of(fm_instance *s, int which)
{
    return s->stiff.set + which;
}

static double product_of(const double *a, const double *b, int32_t n)
{
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Factors 1/rho + J C, of which the lower triangle is in `L`; a direction whose pivot is round-off resists with nothing. */
static void factor(fm_compliances *set)
{
    const int32_t n = set->count;
    for (int32_t i = 0; i < n; i++) {
        double *at = set->L + (size_t)i * (size_t)n;
        for (int32_t j = 0; j <= i; j++) {
            const double *other = set->L + (size_t)j * (size_t)n;
            double sum = at[j];
            for (int32_t k = 0; k < j; k++) sum -= at[k] * other[k];
            at[j] = j < i ? sum * other[j] : sum > 0.0 ? 1.0 / sqrt(sum) : 0.0; /* reciprocals on the diagonal */
        }
    }
}

/* The directions at y in the time g, with an evaluation each beside the one at y that left `udot`. */
void fm_compliances_place(fm_instance *s, int which, double t, const double *y, double g, const double *udot)
{
    fm_compliances *set = set_of(s, which);
    const int32_t nu = s->image.n.speeds;
    set->count = 0;
    if (s->stiff.room == 0) return;
    for (int32_t i = 0; i < s->image.n.springs; i++) add_spring(s, set, g, i, y);
    for (int32_t j = s->image.n.modes > nu ? 0 : s->image.n.joints; j < s->image.n.joints; j++)
        if (fm_is_cut_joint(&s->image, j)) add_cut_joint(s, set, g, j);
    memcpy(s->stiff.kept, s->stiff.f, (size_t)nu * sizeof *s->stiff.f);
    for (int32_t i = 0; i < set->count; i++) {
        double *C = set->C + (size_t)i * (size_t)nu, *J = set->J + (size_t)i * (size_t)nu;
        for (int32_t n = 0; n < nu; n++) s->stiff.f[n] += J[n];
        for (int32_t n = 0; n < s->image.n.excitations; n++) /* which no force moves */
            s->stiff.f[s->image.excitation_u[n]] = s->stiff.kept[s->image.excitation_u[n]];
        fm_stiff_accelerations(s, t, y, g, C);
        for (int32_t n = 0; n < nu; n++) C[n] -= udot[n];
        memcpy(s->stiff.f, s->stiff.kept, (size_t)nu * sizeof *s->stiff.f);
    }
    for (int32_t i = 0; i < set->count; i++)
        for (int32_t j = 0; j <= i; j++)
            set->L[i * set->count + j] = (i == j ? 1.0 / set->rho[i] : 0.0) +
                product_of(set->J + (size_t)i * (size_t)nu, set->C + (size_t)j * (size_t)nu, nu);
    factor(set);
}

/* x <- (1 - C (1/rho + J C)^-1 J) x of velocity variables; with `moved`, after x <- x - C g k J moved. */
void fm_compliances_apply(fm_instance *s, int which, const double *moved, double *x)
{
    const fm_compliances *set = set_of(s, which);
    const int32_t n = set->count, nu = s->image.n.speeds;
    double *push = s->stiff.push;
    for (int32_t i = 0; moved != NULL && i < n; i++) {
        const double force = set->gk[i] * product_of(set->J + (size_t)i * (size_t)nu, moved, nu), *C = set->C + (size_t)i * (size_t)nu;
        for (int32_t j = 0; j < nu; j++) x[j] -= force * C[j];
    }
    for (int32_t i = 0; i < n; i++) {
        const double *at = set->L + (size_t)i * (size_t)n;
        push[i] = product_of(set->J + (size_t)i * (size_t)nu, x, nu);
        for (int32_t j = 0; j < i; j++) push[i] -= at[j] * push[j];
        push[i] *= at[i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < n; j++) push[i] -= set->L[(size_t)j * (size_t)n + (size_t)i] * push[j];
        push[i] *= set->L[(size_t)i * (size_t)n + (size_t)i];
        const double *C = set->C + (size_t)i * (size_t)nu;
        for (int32_t j = 0; j < nu; j++) x[j] -= push[i] * C[j];
    }
}
