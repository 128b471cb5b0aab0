/* compliances.c: the stiffness and damping of force elements, of springs in cut joints, and of matrices of springs
 * between the modes of a joint of the tree, beside the inertias of stiffness.c.
 *
 * Each adds a symmetric matrix of rank one for every direction in which it resists: with J the row of the rate u_J = J
 * u of that direction, k its stiffness and d its damping, R = J' rho J, rho = g d + g^2 k. As a constraint row with a
 * compliance 1/rho it is taken into M' = M + R of the sweeps, loops included, by (M' + J' rho J)^-1 = (1 - C (1/rho + J
 * C)^-1 J) M'^-1,   C = M'^-1 J', C from an evaluation more for each direction, or that of another stage where it is
 * nearly the same. An element says itself in which directions it resists (forces/elements.h). A joint's matrix resists
 * along its eigenvectors; the inertias of stiffness.c are then zero there. Directions in which it hardly resists within
 * g, compared with the bodies' inertia, are left out, and of more than FM_COMPLIANCES those that resist least, of the
 * joints of the tree those with the highest indices, whose diagonals stay in stiffness.c. That slows the iteration of
 * the scheme, and changes nothing of where it ends.
 *
 * What friction in a cut joint resists with jumps as the velocity turns round (z' = v - |v| z/g): its modes are
 * directions of their own, whose rho is renewed in every iteration while C stays.
 */
#include "compliances.h"

#include "../instance/instance.h"
#include "../forces/elements.h"
#include "../forces/laws.h"
#include "../forces/matrix_laws.h"
#include "../forces/sides.h"
#include "../image/joints.h"
#include "../loops/cut_joints.h"
#include "../loops/jacobian.h"
#include "../maths/diagonalise.h"
#include "../maths/lu.h"
#include "../maths/products.h"
#include "../maths/vectors.h"
#include "../tree/kinematics.h"
#include "../tree/rate.h"
#include "../tree/reversed.h"
#include "mobility.h"
#include "rates.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

#define FM_MOST_MOBILE 1e30    /* of a link without mass, over that of the mechanism's mass, and length */
#define FM_SAME_TIME 0.02      /* of g: so near, M' = M + R is nearly the same */
#define FM_SAME_DIRECTION 0.3  /* of J C: so near, directions are nearly the same */

/* The sum of the matrices rho and g k of springs between two links, by the wrench on M about a point; M -2: none. Or
 * those of a joint of the tree, by the forces on its modes, the first of which is u; u -1: none. Each with the most
 * that six unit forces do to the motion along themselves. */
typedef struct joint_block {
    int32_t F, M, u;
    double r[3], R[6][6], K[6][6], mobility_bound[6];
} joint_block;

static double *speeds_row(const fm_instance *s, double *matrix, int32_t i)
{
    return matrix + (size_t)i * (size_t)s->image.n.speeds;
}

/* The row J of a direction more, which is still zero, if it resists; of those that resist most if there is no more
 * room, without those of the tree, whose joints resist by nothing else. NULL: it is left out. `rubs` as in the set. */
static double *row_for(fm_instance *s, fm_compliances *set, double g, double k, double d, double mobility_bound,
                       int32_t rubs)
{
    const int32_t nu = s->image.n.speeds;
    const double rho = g * (d + g * k);
    int32_t place = set->count;
    if (!(rho * mobility_bound > set->least)) return NULL;
    if (place == s->implicit->room) {
        int32_t softest = set->fixed;
        for (int32_t i = softest + 1; i < place; i++) softest = set->resists[i] < set->resists[softest] ? i : softest;
        if (softest == place || !(rho * mobility_bound > set->resists[softest])) return NULL;
        place = softest;
    } else set->count++;
    double *J = speeds_row(s, set->J, place);
    memset(J, 0, (size_t)nu * sizeof *J);
    set->rho[place] = rho, set->gk[place] = g * k, set->resists[place] = rho * mobility_bound, set->rubs[place] = rubs;
    return J;
}

/* Adds a direction between two links to a set; `rubs` as there. */
static void add(fm_instance *s, fm_compliances *set, double g, const fm_direction *at, int32_t rubs)
{
    const double mobility_bound = fm_most_mobile(s, at->F, &at->on_F) + fm_most_mobile(s, at->M, &at->on_M);
    double *J = row_for(s, set, g, at->k, at->d, mobility_bound, rubs);
    if (J == NULL) return;
    (void)fm_wrench_along(s, -1, at->M, &at->on_M, J, NULL);
    (void)fm_wrench_along(s, at->F, -1, &at->on_F, J, NULL);
    fm_from_links(s, J);
}

/* Adds the directions of a force element. */
static void add_element(fm_instance *s, fm_compliances *set, double g, const fm_force_element *element, int32_t i,
                        const double *y)
{
    fm_direction at[FM_DIRECTIONS];
    const int directions = element->stiffness(s, i, y, at);
    for (int j = 0; j < directions; j++) {
        if (s->work.still) at[j].d = 0.0;
        if (at[j].d + g * at[j].k > 0.0) add(s, set, g, at + j, -1);
    }
}

/* What carries the pulley at a side's end, its disc, and the torque that takes the rope in. 0: the end is a point. */
static int at_pulley(const fm_instance *s, int32_t via, fm_direction *at)
{
    const fm_image *m = &s->image;
    const int32_t pulley = m->via_pulley[via];
    double v[3];
    if (pulley < 0) return 0;
    memset(at, 0, sizeof *at);
    at->F = m->point_link[m->via_point[via]], at->M = m->point_link[m->pulley_disc[pulley]];
    fm_point_place(s, m->via_point[via], at->on_M.r, v);
    fm_pulley_torque(s, via, -m->via_turn[via] * s->pulley_radius[pulley], at->on_M.torque);
    at->on_F = at->on_M;
    return 1;
}

/* Part k of the direction in which a side of a rope resists, its stretch: its spans, then the pulleys at its ends. 0:
 * there is no such part; its k and d are not set. */
static int side_part(const fm_instance *s, int32_t side, int32_t k, fm_direction *at)
{
    const fm_image *m = &s->image;
    const int32_t first = m->side_via[side], last = m->side_vias[side] - 1;
    fm_span span;
    double v[3];
    if (k >= last) return at_pulley(s, k == last ? first : first + last, at);
    memset(at, 0, sizeof *at);
    fm_span_at(s, side, k, &span);
    at->F = m->point_link[span.base], at->M = m->point_link[span.end];
    fm_point_place(s, span.end, at->on_M.r, v);
    memcpy(at->on_M.force, span.slope, sizeof span.slope);
    at->on_F = at->on_M;
    return 1;
}

/* Adds the stretch of a side of a rope that is taut: one direction, which moves all that it touches. */
static void add_side(fm_instance *s, fm_compliances *set, double g, int32_t side, const double *y)
{
    const int32_t rope = s->image.side_rope[side], parts = s->image.side_vias[side] + 1;
    fm_direction at;
    double most = 0.0;
    if (!fm_side_is_taut(s, side, y)) return;
    const double own = fm_side_at(s, side, y).own, d = s->work.still ? 0.0 : s->rope_damping[rope] / own;
    for (int32_t k = 0; k < parts; k++)
        if (side_part(s, side, k, &at))
            most += sqrt(fm_most_mobile(s, at.F, &at.on_F)) + sqrt(fm_most_mobile(s, at.M, &at.on_M));
    double *J = row_for(s, set, g, s->rope_stiffness[rope] / own, d, most * most, -1);
    for (int32_t k = 0; J != NULL && k < parts; k++)
        if (side_part(s, side, k, &at)) (void)fm_wrench_along(s, at.F, at.M, &at.on_M, J, NULL);
    if (J != NULL) fm_from_links(s, J);
}

/* rho and g k between the modes of a joint, about a ball in M's axes. 0: it does not resist. */
static int joint_matrices(const fm_instance *s, int32_t joint, double g, double rho[6][6], double gk[6][6])
{
    const fm_image *m = &s->image;
    const int32_t n = m->joint_nu[joint];
    int resists = 0;
    memset(rho, 0, 36 * sizeof(double)), memset(gk, 0, 36 * sizeof(double));
    for (int32_t i = 0; i < n; i++) {
        const int32_t u = m->joint_u[joint] + i;
        const double d = s->work.still ? 0.0 : s->damping[u];
        gk[i][i] = g * (s->stiffness[u] > 0.0 ? s->stiffness[u] : 0.0), rho[i][i] = g * (d + gk[i][i]);
        resists |= rho[i][i] > 0.0;
    }
    for (int32_t c = m->joint_coupled[joint]; c < m->joint_coupled[joint] + m->joint_couplings[joint]; c++) {
        const int32_t i = m->coupled_modes[2 * c], j = m->coupled_modes[2 * c + 1];
        gk[i][j] = gk[j][i] = g * s->coupled_stiffness[c];
        rho[i][j] = rho[j][i] = g * ((s->work.still ? 0.0 : s->coupled_damping[c]) + gk[i][j]);
    }
    return resists;
}

/* Adds those of a joint to the sum between its links. */
static void add_joint(const fm_instance *s, joint_block *all, double g, int32_t joint)
{
    const int32_t n = s->image.joint_nu[joint];
    double rho[6][6], gk[6][6], row[6][6], arm[3];
    if (!joint_matrices(s, joint, g, rho, gk)) return;
    for (int32_t i = 0; i < n; i++) {
        fm_constraint on;
        fm_cut_joint_row(s, joint, i, &on);
        if (all->M < -1) {
            all->F = s->image.joint_F_link[joint], all->M = s->image.joint_M_link[joint];
            memcpy(all->r, on.r, sizeof all->r);
        }
        for (int k = 0; k < 3; k++) arm[k] = on.r[k] - all->r[k];
        cross(arm, on.force, row[i]);
        for (int k = 0; k < 3; k++) row[i][k] += on.torque[k], row[i][3 + k] = on.force[k];
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            for (int a = 0; rho[i][j] != 0.0 && a < 6; a++)
                for (int b = 0; b < 6; b++) {
                    all->R[a][b] += row[i][a] * rho[i][j] * row[j][b];
                    all->K[a][b] += row[i][a] * gk[i][j] * row[j][b];
                }
}

/* The constraint of a wrench about the common point. */
static fm_constraint wrench_of(const joint_block *all, const double w[6])
{
    fm_constraint on;
    memset(&on, 0, sizeof on);
    memcpy(on.r, all->r, sizeof on.r);
    memcpy(on.torque, w, sizeof on.torque);
    memcpy(on.force, w + 3, sizeof on.force);
    return on;
}

/* Adds a force on the modes of a joint of the tree as a direction. */
static void add_modes(fm_instance *s, fm_compliances *set, double g, const joint_block *all, const double w[6],
                      double k, double d)
{
    double most = 0.0;
    for (int i = 0; i < 6; i++)
        if (w[i] != 0.0) most += fabs(w[i]) * sqrt(all->mobility_bound[i]);
    double *J = row_for(s, set, g, k, d, most * most, -1);
    for (int i = 0; J != NULL && i < 6; i++)
        if (w[i] != 0.0) J[all->u + i] = w[i];
}

/* The most that a unit force on a velocity variable does to it, as an upper bound. */
static double mobility_of(const fm_instance *s, int32_t u)
{
    const fm_image *m = &s->image;
    const int32_t j = fm_joint_of_mode(m, u);
    return fm_most_mobile_at(s, m->joint_F_link[j], m->joint_F_r + 3 * j, m->mode_linear[u]) +
           fm_most_mobile_at(s, m->joint_M_link[j], m->joint_M_r + 3 * j, m->mode_linear[u]);
}

/* Adds the teeth of gears that are pressed. */
static void add_gears(fm_instance *s, fm_compliances *set, double g, const double *y)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.gears; i++) {
        const int32_t one = m->law_u[m->gear_law[i]], other = m->gear_u[i];
        const double N = s->gear_ratio[i];
        double by_x, by_v;
        if (!fm_law_slopes(s, m->gear_law[i], y, &by_x, &by_v)) continue;
        double *J = row_for(s, set, g, by_x < 0.0 ? -by_x : 0.0, by_v < 0.0 && !s->work.still ? -by_v : 0.0,
                            2.0 * (mobility_of(s, one) + N * N * mobility_of(s, other)), -1);
        if (J != NULL) J[one] += 1.0, J[other] -= N;
    }
}

/* Adds the directions of the sum to the set: at most six, of which each has a stiffness and a damping of its own, R =
 * sum of w w' and g K = sum of gamma w w'. */
static void add_sum(fm_instance *s, fm_compliances *set, double g, joint_block *all)
{
    double w[6][6], gamma[6], scale[6];
    if (all->M < -1 && all->u < 0) return;
    for (int i = 0; all->u < 0 && i < 6; i++) {
        double unit[6] = {0.0};
        unit[i] = 1.0;
        const fm_constraint on = wrench_of(all, unit);
        all->mobility_bound[i] = fm_most_mobile(s, all->F, &on) + fm_most_mobile(s, all->M, &on);
    }
    for (int i = 0; i < 6; i++) {
        const int slides = all->u < 0 ? i >= 3 : i < s->image.n.speeds - all->u && s->image.mode_linear[all->u + i];
        const double arm = slides ? 1.0 : s->image.length[0], most = FM_MOST_MOBILE / (s->model.mass * arm * arm);
        scale[i] = all->mobility_bound[i] < most ? all->mobility_bound[i] : most;
    }
    const int n = fm_diagonalise_both(all->R, all->K, scale, w, gamma);
    for (int i = 0; i < n; i++) {
        fm_direction at = {.F = all->F, .M = all->M, .k = gamma[i] / g, .d = 1.0 / g - gamma[i]};
        if (all->u >= 0) {
            add_modes(s, set, g, all, w[i], at.k, at.d);
            continue;
        }
        at.on_M = at.on_F = wrench_of(all, w[i]);
        add(s, set, g, &at, -1);
    }
}

/* Adds the modes of a cut joint along which bristles resist, each by itself: what they resist with follows the velocity
 * in every iteration (fm_compliances_renew). Where it may turn round they count with the most they resist with. */
static void add_friction(fm_instance *s, fm_compliances *set, double g, int32_t joint)
{
    const fm_image *m = &s->image;
    fm_direction at = {.F = m->joint_F_link[joint], .M = m->joint_M_link[joint]};
    for (int32_t u = m->joint_u[joint]; u < m->joint_u[joint] + m->joint_nu[joint]; u++) {
        if (!(s->friction->most[u] > 0.0)) continue;
        fm_cut_joint_row(s, joint, u - m->joint_u[joint], &at.on_M);
        at.on_F = at.on_M, at.d = s->friction->most[u];
        add(s, set, g, &at, u);
    }
}

/* Adds the directions of all cut joints; those of springs and dampers between the same links, one after the other, are
 * in one block. */
static void add_cut_joints(fm_instance *s, fm_compliances *set, double g)
{
    const fm_image *m = &s->image;
    const joint_block none = {.F = -2, .M = -2, .u = -1};
    joint_block all = none;
    for (int32_t j = m->n.modes > m->n.speeds ? 0 : m->n.joints; j < m->n.joints; j++) {
        if (!fm_is_cut_joint(m, j)) continue;
        if (all.F != m->joint_F_link[j] || all.M != m->joint_M_link[j]) add_sum(s, set, g, &all), all = none;
        add_joint(s, &all, g, j);
    }
    add_sum(s, set, g, &all);
    for (int32_t j = s->friction->on_cuts && !s->work.still ? 0 : m->n.joints; j < m->n.joints; j++)
        if (fm_is_cut_joint(m, j)) add_friction(s, set, g, j);
}

/* Adds the directions of matrices in the joints of the tree. */
static void add_tree(fm_instance *s, fm_compliances *set, double g, const double *y)
{
    const fm_image *m = &s->image;
    for (int32_t j = 0; j < s->stiff.matrices; j++) {
        joint_block all = {.F = -2, .M = -2, .u = m->joint_u[j]};
        double K[3][3];
        if (!fm_resists_along(s, j) || !joint_matrices(s, j, g, all.R, all.K)) continue;
        if (m->joint_kind[j] == FM_JOINT_SPHERICAL) {
            fm_ball_stiffness(s, j, all.u, y + m->joint_p[j], K);
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) all.R[a][b] += g * (g * K[a][b] - all.K[a][b]), all.K[a][b] = g * K[a][b];
        }
        for (int32_t i = 0; i < m->joint_nu[j]; i++)
            all.mobility_bound[i] =
                fm_most_mobile_at(s, m->joint_F_link[j], m->joint_F_r + 3 * j, m->mode_linear[all.u + i]) +
                fm_most_mobile_at(s, m->joint_M_link[j], m->joint_M_r + 3 * j, m->mode_linear[all.u + i]);
        add_sum(s, set, g, &all);
    }
    set->fixed = set->count;
}

static fm_compliances *set_of(fm_instance *s, int which)
{
    return s->implicit->set + which;
}

/* Takes C from a set of the same step if M' is nearly the same there and the directions are: what that is off by slows
 * the iteration only, as J and 1/rho are its own. */
static int reuse(fm_instance *s, fm_compliances *set, const fm_compliances *source)
{
    if (source == NULL || source->count != set->count || !(fabs(set->g - source->g) <= FM_SAME_TIME * source->g))
        return 0;
    for (int32_t i = 0; i < set->count; i++) {
        const double *C = speeds_row(s, source->C, i);
        const double own = fm_product(speeds_row(s, source->J, i), C, s->image.n.speeds);
        if (!(fabs(fm_product(speeds_row(s, set->J, i), C, s->image.n.speeds) - own) <= FM_SAME_DIRECTION * own))
            return 0;
    }
    memcpy(set->C, source->C, (size_t)set->count * (size_t)s->image.n.speeds * sizeof(double));
    return 1;
}

/* C by an evaluation of each direction beside the one at y, the last one, that left `udot`. */
static void evaluate(fm_instance *s, fm_compliances *set, double t, const double *y, const double *udot)
{
    const int32_t nu = s->image.n.speeds;
    const double trial = fm_trial_force(s);
    double *force = s->implicit->along;
    for (int32_t i = 0; i < set->count; i++) {
        double *C = speeds_row(s, set->C, i);
        const double *J = speeds_row(s, set->J, i), part = sqrt(set->rho[i] / s->model.mass) * trial;
        for (int32_t n = 0; n < nu; n++) force[n] = part * J[n];
        for (int32_t n = 0; n < s->image.n.excitations; n++)
            force[s->image.excitation_u[n]] = 0.0; /* which no force moves */
        fm_stiff_again(s, t, y, set->g, force, C);
        for (int32_t n = 0; n < nu; n++) C[n] = (C[n] - udot[n]) / part;
    }
}

/* Factors a set with what friction resists with now (friction.c); nothing where it slides on. */
static void renew(fm_instance *s, fm_compliances *set)
{
    const int32_t n = set->count;
    memcpy(set->L, set->JC, (size_t)n * (size_t)n * sizeof(double));
    for (int32_t i = 0; i < n; i++) {
        if (set->rubs[i] >= 0) set->rho[i] = set->g * s->friction->D[set->rubs[i]];
        set->L[i * n + i] = set->rho[i] > 0.0 ? 1.0 / set->rho[i] + set->L[i * n + i] : INFINITY;
    }
    fm_lu_factor(set->L, n, NULL, NULL); /* a direction whose pivot is round-off resists with nothing */
}

/* The directions in which springs resist at y in the time g, by more than `least` times the least inertia that can
 * oppose, without C. Requires world kinematics. */
void fm_compliances_find(fm_instance *s, int which, const double *y, double g, double least)
{
    fm_compliances *set = set_of(s, which);
    set->count = set->fixed = 0, set->g = g, set->least = least;
    if (s->implicit->room == 0) return;
    add_tree(s, set, g, y);
#define O(id, one, all)                                                                            \
    for (int32_t i = 0; fm_##one##_element.stiffness != NULL && i < s->image.n.all; i++) \
        add_element(s, set, g, &fm_##one##_element, i, y);
    FM_FORCE_ELEMENTS(O)
#undef O
    for (int32_t i = 0; i < s->image.n.sides; i++) add_side(s, set, g, i, y);
    add_gears(s, set, g, y);
    add_cut_joints(s, set, g);
}

/* The directions at y in the time g, with an evaluation each beside the one at y, the last one, that left `udot`, or
 * with C of the set `source` of the same step, -1: none. */
void fm_compliances_place(fm_instance *s, int which, int source, double t, const double *y, double g,
                          const double *udot)
{
    fm_compliances *set = set_of(s, which);
    const int32_t nu = s->image.n.speeds;
    fm_compliances_find(s, which, y, g, FM_STIFF_ABOVE);
    if (!reuse(s, set, source < 0 ? NULL : set_of(s, source))) evaluate(s, set, t, y, udot);
    for (int32_t i = 0; i < set->count; i++)
        for (int32_t j = 0; j < set->count; j++)
            set->JC[i * set->count + j] = fm_product(speeds_row(s, set->J, i), speeds_row(s, set->C, j), nu);
    renew(s, set);
}

/* The same directions as bristles resist now, in a later iteration of the stage. */
void fm_compliances_renew(fm_instance *s, int which)
{
    if (s->friction->on_cuts) renew(s, set_of(s, which));
}

/* x <- (1 - C (1/rho + J C)^-1 J) x of velocity variables; with `moved`, after x <- x - C g k J moved. */
void fm_compliances_apply(fm_instance *s, int which, const double *moved, double *x)
{
    const fm_compliances *set = set_of(s, which);
    const int32_t n = set->count, nu = s->image.n.speeds;
    double *push = s->implicit->push;
    for (int32_t i = 0; moved != NULL && i < n; i++) {
        const double force = set->gk[i] * fm_product(speeds_row(s, set->J, i), moved, nu),
                     *C = speeds_row(s, set->C, i);
        for (int32_t j = 0; j < nu; j++) x[j] -= force * C[j];
    }
    for (int32_t i = 0; i < n; i++) push[i] = fm_product(speeds_row(s, set->J, i), x, nu);
    fm_lu_solve(set->L, n, NULL, push);
    for (int32_t i = n - 1; i >= 0; i--) fm_add_times(x, -push[i], speeds_row(s, set->C, i), nu);
}
