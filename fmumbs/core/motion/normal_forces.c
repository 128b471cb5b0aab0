/* normal_forces.c: friction that the reaction of its own joint loads (copcod, Eqs 21), solved together with the
 * dynamics.
 *
 * At a state the friction of joint j is -mu_j (N_j + n_j), with N_j given and n_j the own part, a function h of the
 * joint's torque and force on M at M. These are affine in all n, as accelerations and multipliers are, so that
 *
 *     n_i = h_i(w_i),   w_i = w_i0 + sum_j W_ij n_j,   h = a |f across| + b |f along| + c |t across| the joint's axis
 *
 * w_i0 needs an evaluation, and W a solution with its factors for each column (own_response.c), or where these do not
 * serve an evaluation. Newton's method then needs none. If friction makes more force than it takes, there may be no
 * solution: the joint jams. Of several the least is that which friction leads to as it grows from zero; Newton's method
 * from zero leads there too, as n - h is concave. From the last step's normal forces it may lead to a larger one: it
 * begins there only if it finds none from zero.
 */
#include "normal_forces.h"

#include "../image/joints.h"
#include "../maths/vectors.h"
#include "../tree/rate.h"
#include "../tree/kinematics.h"
#include "../tree/planar.h"
#include "../tree/reversed.h"
#include "../loops/multipliers.h"
#include "../loops/reduced.h"
#include "../loops/scratch.h"
#include "joint_forces.h"
#include "own_response.h"
#include "reactions.h"
#include "scratch.h"
#include "sticking.h"

#include <math.h>
#include <string.h>

#define FM_AGREE 1e-13    /* of the normal forces, relative to the largest */

int fm_any_own_friction(const fm_instance *s)
{
    return s->friction->count > 0;
}

/* Normal forces of the integrator's last step, with which the next one begins. */
void fm_begin_normal_forces(fm_instance *s)
{
    for (int32_t k = 0; k < s->friction->count; k++)
        s->friction->own[s->friction->owned[k]] = s->normal_last[s->friction->owned[k]];
    s->friction->jammed = -1;
    s->realised->lost = 0;
}

void fm_note_normal_forces(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.frictions; i++) s->normal_last[i] = s->friction->own[i];
}

/* The normal force of owned friction k that counts as 1 N: 1 N.m in units of the model's length if it turns. */
static double unit_of(const fm_instance *s, int32_t k)
{
    return s->image.friction_linear[s->friction->owned[k]] ? 1.0 : s->image.length[0];
}

/* Torque and force of each joint on M at M, in world axes, after an evaluation. */
static void weigh(fm_instance *s, const fm_evaluation *how, double *wrench, double *udot)
{
    const fm_image *m = &s->image;
    if (s->reduced.used) fm_reduced_multipliers(s);
    fm_run_orientations(s, how->y);
    fm_make_world(s, how->y);
    fm_planar_expand(s);
    fm_make_joint_forces(s, udot);
    for (int32_t k = 0; k < s->friction->count; k++) {
        const int32_t joint = m->friction_joint[s->friction->owned[k]];
        double *out = wrench + 6 * k, own[6];
        if (fm_is_cut_joint(m, joint)) {
            fm_loop_wrench(s, joint, out, out + 3);
            continue;
        }
        const double *R = s->world[m->joint_last[joint]].R;
        fm_joint_wrench(s, joint, own);
        rotate_out(R, own, out);
        rotate_out(R, own + 3, out + 3);
    }
}

static void evaluate(fm_instance *s, const fm_evaluation *how, double *wrench, double *udot)
{
    how->make(s, how, udot);
    weigh(s, how, wrench, udot);
}

/* The axis of a friction in world axes; zero for a ball. */
static void axis_of(const fm_instance *s, int32_t i, double out[3])
{
    const fm_image *m = &s->image;
    const int32_t joint = m->friction_joint[i], on_M = m->friction_on_M[i];
    const int32_t link = on_M ? m->joint_M_link[joint] : m->joint_F_link[joint];
    double axis[3];
    rotate_out((on_M ? m->joint_M : m->joint_F) + 9 * joint, m->friction_axis + 3 * i, axis);
    memcpy(out, axis, sizeof axis);
    if (link >= 0) rotate_out(s->world[link].R, axis, out);
}

/* |v| times a factor, v without its part along the axis; adds its derivative by v. */
static double across(double factor, const double v[3], const double axis[3], double slope[3])
{
    const double along = dot(v, axis);
    double part[3];
    for (int j = 0; j < 3; j++) part[j] = v[j] - along * axis[j];
    const double size = sqrt(dot(part, part)), over = size > 0.0 ? factor / size : 0.0;
    for (int j = 0; j < 3; j++) slope[j] += over * part[j];
    return factor * size;
}

/* h of a joint's torque and force, and its derivative by them. */
static double load_of(const fm_instance *s, int32_t k, const double wrench[6], double slope[6])
{
    const double *own = s->image.friction_own + 3 * s->friction->owned[k], *axis = s->friction->axis + 3 * k;
    memset(slope, 0, 6 * sizeof *slope);
    double load = across(own[0], wrench + 3, axis, slope + 3);
    if (own[2] > 0.0) load += across(own[2], wrench, axis, slope);
    const double along = dot(wrench + 3, axis), sign = along < 0.0 ? -1.0 : 1.0;
    for (int j = 0; j < 3; j++) slope[3 + j] += own[1] * sign * axis[j];
    return load + own[1] * fabs(along);
}

/* n - h at the own parts x, with the derivatives of h; returns its largest element beside the largest of n and h. */
static double residual(fm_instance *s, const double *x, double *off)
{
    const int32_t count = s->friction->count;
    double most = 0.0, size = 0.0;
    for (int32_t k = 0; k < count; k++) {
        double wrench[6];
        memcpy(wrench, s->friction->at_rest + 6 * k, sizeof wrench);
        for (int32_t l = 0; l < count; l++)
            for (int c = 0; c < 6; c++) wrench[c] += s->friction->by_load[6 * (k * count + l) + c] * x[l];
        const double load = load_of(s, k, wrench, s->friction->slope_of + 6 * k), unit = unit_of(s, k);
        off[k] = x[k] - load;
        most = fabs(off[k]) / unit > most || isnan(off[k]) ? fabs(off[k]) / unit : most;
        size = fmax(size, load / unit);
    }
    return size > 0.0 || isnan(most) ? most / size : most;
}

/* x <- (1 - h' W)^-1 x, in forces; 0: it is singular. */
static int eliminate(fm_instance *s, double *x)
{
    const int32_t n = s->friction->count;
    double *A = s->friction->A;
    for (int32_t k = 0; k < n; k++)
        for (int32_t l = 0; l < n; l++) {
            const double by = dot6(s->friction->slope_of + 6 * k, s->friction->by_load + 6 * (k * n + l));
            A[k * n + l] = (k == l ? 1.0 : 0.0) - by * (unit_of(s, l) / unit_of(s, k));
        }
    for (int32_t c = 0; c < n; c++) {
        int32_t best = c;
        for (int32_t k = c + 1; k < n; k++)
            if (fabs(A[k * n + c]) > fabs(A[best * n + c])) best = k;
        if (!(fabs(A[best * n + c]) > 1e-14)) return 0;
        for (int32_t l = 0; best != c && l < n; l++) {
            const double kept = A[c * n + l];
            A[c * n + l] = A[best * n + l], A[best * n + l] = kept;
        }
        const double kept = x[c];
        x[c] = x[best], x[best] = best == c ? x[c] : kept;
        for (int32_t k = c + 1; k < n; k++) {
            const double part = A[k * n + c] / A[c * n + c];
            for (int32_t l = c; l < n && part != 0.0; l++) A[k * n + l] -= part * A[c * n + l];
            x[k] -= part * x[c];
        }
    }
    for (int32_t c = n - 1; c >= 0; c--) {
        for (int32_t l = c + 1; l < n; l++) x[c] -= A[c * n + l] * x[l];
        x[c] /= A[c * n + c];
    }
    return 1;
}

/* The same in the units of the frictions. */
static int solve(fm_instance *s, double *x)
{
    for (int32_t k = 0; k < s->friction->count; k++) x[k] /= unit_of(s, k);
    const int regular = eliminate(s, x);
    for (int32_t k = 0; k < s->friction->count; k++) x[k] *= unit_of(s, k);
    return regular;
}

/* Newton's method from friction.x. 0: it finds no own parts. */
static int find(fm_instance *s)
{
    const int32_t n = s->friction->count;
    double *x = s->friction->x, *off = s->friction->off, *trial = s->friction->trial, before = residual(s, x, off);
    int there = 1; /* the derivatives are those at x */
    for (int round = 0; round < FM_MOST_NORMAL_STEPS && before > FM_AGREE; round++) {
        double part = 1.0, now = INFINITY;
        if (!solve(s, off)) return 0;
        for (int halved = 0; halved < FM_MOST_HALVINGS && !(now < before); halved++, part *= 0.5) {
            for (int32_t k = 0; k < n; k++) trial[k] = x[k] - part * off[k];
            now = residual(s, trial, s->friction->aim);
        }
        there = now < before;
        if (!there) break;
        memcpy(x, trial, (size_t)n * sizeof *x);
        memcpy(off, s->friction->aim, (size_t)n * sizeof *x);
        before = now;
    }
    return (there ? before : residual(s, x, off)) <= 100.0 * FM_AGREE;
}

/* at_rest and by_load by an evaluation for each column, after one without own parts. */
static void evaluate_columns(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const int32_t n = s->friction->count;
    double *part = s->friction->own, unit = 0.0; /* as large as the largest force, so that differences lose nothing */
    weigh(s, how, s->friction->at_rest, udot);
    for (int32_t k = 0; k < 6 * n; k++)
        unit = fmax(unit, fabs(s->friction->at_rest[k]) / (k % 6 < 3 ? s->image.length[0] : 1.0));
    unit = unit > 0.0 ? unit : fm_trial_force(s);
    memset(s->friction->by_load, 0, 6 * (size_t)n * (size_t)n * sizeof(double));
    for (int32_t l = 0; l < n; l++) {
        const int32_t i = s->friction->owned[l];
        const double *mu = s->friction->mu + 3 * i;
        double *column = s->friction->column;
        if (s->friction->factor[i] == 0.0 || (mu[0] == 0.0 && mu[1] == 0.0 && mu[2] == 0.0)) continue;
        part[i] = unit * unit_of(s, l);
        evaluate(s, how, column, udot);
        for (int32_t k = 0; k < n; k++)
            for (int c = 0; c < 6; c++)
                s->friction->by_load[6 * (k * n + l) + c] =
                    (column[6 * k + c] - s->friction->at_rest[6 * k + c]) / part[i];
        part[i] = 0.0;
    }
}

/* How the joints' wrenches follow the own parts: at_rest and by_load. Returns whether by_own is there, too. */
static int respond_to_loads(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const int32_t n = s->friction->count;
    const int stick = fm_any_law_sticks(s); /* as they do with each force */
    for (int32_t k = 0; k < n; k++) s->friction->own[s->friction->owned[k]] = 0.0;
    how->make(s, how, udot);
    const int by_factors = !stick && fm_own_responds(s);
    if (by_factors) fm_own_response(s, how->y, udot);
    else evaluate_columns(s, how, udot);
    for (int32_t k = 0; k < n; k++) axis_of(s, s->friction->owned[k], s->friction->axis + 3 * k);
    return by_factors;
}

/* An evaluation with the own normal forces, which are left in friction.own; all is NaN where a joint jams.
 * `only_udot`: accelerations of links are not needed, so that it need not be made again with them. */
void fm_find_normal_forces(fm_instance *s, const fm_evaluation *how, int only_udot, double *udot)
{
    const int32_t n = s->friction->count;
    const int by_factors = respond_to_loads(s, how, udot);
    memset(s->friction->x, 0, (size_t)n * sizeof *s->friction->x);
    if (!find(s)) {
        for (int32_t k = 0; k < n; k++) s->friction->x[k] = s->normal_last[s->friction->owned[k]];
        if (!find(s)) {
            int32_t worst = 0;
            for (int32_t k = 1; k < n; k++)
                worst = fabs(s->friction->off[k]) / unit_of(s, k) > fabs(s->friction->off[worst]) / unit_of(s, worst)
                            ? k
                            : worst;
            s->friction->jammed = s->friction->owned[worst];
            for (int32_t k = 0; k < n; k++) s->friction->x[k] = NAN;
        }
    }
    for (int32_t k = 0; k < n; k++) s->friction->own[s->friction->owned[k]] = s->friction->x[k];
    s->friction->apart = only_udot && by_factors;
    if (s->friction->apart) fm_own_add(s, udot);
    else how->make(s, how, udot);
}

/* The response to seeds of the inputs at the present state, after an evaluation there, with that of the own normal
 * forces, which are left in friction.own_seed. */
void fm_normal_forces_follow(fm_instance *s, const fm_evaluation *how, double *udot)
{
    const int32_t n = s->friction->count;
    double *x = s->friction->x;
    for (int32_t k = 0; k < n; k++) s->friction->own_seed[s->friction->owned[k]] = 0.0;
    evaluate(s, how, s->friction->at_rest, udot);
    for (int32_t k = 0; k < n; k++) x[k] = dot6(s->friction->slope_of + 6 * k, s->friction->at_rest + 6 * k);
    if (!solve(s, x)) memset(x, 0, (size_t)n * sizeof *x);
    for (int32_t k = 0; k < n; k++) s->friction->own_seed[s->friction->owned[k]] = x[k];
    how->make(s, how, udot);
}
