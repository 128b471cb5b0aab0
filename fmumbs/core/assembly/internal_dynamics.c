/* internal_dynamics.c: whether drives can realise programs (loops/realised.c) from a start, and whether what the
 * programs leave free, the internal dynamics, stays near it.
 *
 * The mechanism rests at the start, excited modes and targets stand, and there is no friction. With N_0 the motions
 * that the rows of positions allow, N_1 those that the rows of velocities allow besides, both orthonormal in units of
 * the coordinates, d/dt (z, w) = [0, N_0' N_1; N_1' du'/dq N_0, N_1' du'/du N_1] (z, w) by central differences of
 * fourth order. An eigenvalue with a positive real part beyond round-off is unstable. Differences leave 1e-12 of the
 * largest; a double eigenvalue at zero, a coordinate that nothing returns, turns that into its square root.
 */
#include "internal_dynamics.h"

#include "../maths/eigenvalues.h"
#include "../maths/text.h"
#include "../instance/instance.h"
#include "../loops/constraints.h"
#include "../loops/jacobian.h"
#include "../loops/realised.h"
#include "../loops/velocity_rows.h"
#include "../motion/rates.h"
#include "../motion/evaluation.h"
#include "../tree/kinematics.h"
#include "../tree/positions.h"
#include "../tree/reversed.h"
#include "../loops/scratch.h"

#include <math.h>
#include <string.h>

#define FM_EFFECT 1e-8        /* least pivot of the drives' effect at the start */
#define FM_NO_EFFECT 1e-5     /* where a step failed */
#define FM_PROBE 1e-3         /* step of the differences, in units of the coordinates */
#define FM_GROWS 3e-4         /* part of the largest eigenvalue that is not round-off */
#define FM_DEPENDENT_ROW 1e-9 /* of a row of length one: less is round-off */

/* The programs that drives realise and these drives, such as "'P' by A, B". */
void fm_name_realised(const fm_instance *s, char *out, size_t capacity)
{
    const fm_image *m = &s->image;
    int32_t last = -1;
    size_t used = 0;
    for (int32_t j = 0; j < s->realised->count; j++) {
        const int32_t program = m->excitation_joint[m->row_excitation[s->realised->row[j]]];
        const char *drive = m->text + m->joint_name[m->link_joint[s->realised->link[j]]],
                   *name = m->text + m->joint_name[program];
        const char *comma = j > 0 ? ", " : "";
        if (used >= capacity) break;
        if (program == last) used += (size_t)fm_print(out + used, capacity - used, ", '%.40s'", drive);
        else used += (size_t)fm_print(out + used, capacity - used, "%s'%.40s' by '%.40s'", comma, name, drive);
        last = program;
    }
    if (used >= capacity && capacity > 4) memcpy(out + capacity - 4, "...", 4);
}

static double unit(const fm_instance *s, int32_t u)
{
    return s->scale[s->image.n.positions + u];
}

/* Takes the parts along orthonormal vectors out of v, and divides it by its length. 0: nothing is left. */
static int leave(const double *basis, int32_t count, int32_t n, double *v)
{
    double square = 0.0, left = 0.0;
    for (int32_t i = 0; i < n; i++) square += v[i] * v[i];
    for (int again = 0; again < 2; again++)
        for (int32_t k = 0; k < count; k++) {
            double along = 0.0;
            for (int32_t i = 0; i < n; i++) along += basis[k * n + i] * v[i];
            for (int32_t i = 0; i < n; i++) v[i] -= along * basis[k * n + i];
        }
    for (int32_t i = 0; i < n; i++) left += v[i] * v[i];
    if (!(left > FM_DEPENDENT_ROW * FM_DEPENDENT_ROW * square)) return 0;
    for (int32_t i = 0; i < n; i++) v[i] /= sqrt(left);
    return 1;
}

/* Orthonormal motions that the active rows up to a level allow, while excited modes stand. Requires world kinematics.
 * Returns their number; the space before them is overwritten by what they exclude. */
static int32_t allowed(fm_instance *s, int32_t level, double *space, double **first)
{
    const fm_image *m = &s->image;
    const int32_t nu = m->n.speeds;
    int32_t count = 0, excluded;
    fm_ends ends = {.joint = -1};
    for (int32_t i = 0; i < m->n.excitations; i++, count++) {
        memset(space + count * nu, 0, (size_t)nu * sizeof *space);
        space[count * nu + m->excitation_u[i]] = 1.0;
    }
    for (int32_t i = 0; i < m->n.rows && count < nu; i++) {
        double *J = space + count * nu;
        fm_constraint one;
        if (!(s->row_active[i] > 0.0) || m->row_kind[i] == FM_ROW_GIVEN) continue;
        if (fm_is_rate_row(m, i) && (level == 0 || m->row_part[i] == FM_OF_ACCELERATION)) continue;
        fm_constraint_at(s, i, 0, &ends, &one);
        memset(J, 0, (size_t)nu * sizeof *J);
        fm_whole_row(s, i, &one, J);
        if (m->row_kind[i] != FM_ROW_COUPLED) fm_from_links(s, J);
        for (int32_t u = 0; u < nu; u++) J[u] *= unit(s, u);
        count += leave(space, count, nu, J);
    }
    excluded = count;
    for (int32_t u = 0; u < nu && count < nu; u++) {
        memset(space + count * nu, 0, (size_t)nu * sizeof *space);
        space[count * nu + u] = 1.0;
        double *v = space + count * nu;
        double left = 1.0;
        for (int32_t k = 0; k < count; k++) left -= space[k * nu + u] * space[k * nu + u];
        if (left > 1e-6) count += leave(space, count, nu, v);
    }
    *first = space + excluded * nu;
    return count - excluded;
}

/* Accelerations at rest at y, displaced along v by a distance, or with the velocity along v. */
static void probe(fm_instance *s, double t, const double *y, const double *v, double distance, int velocity,
                  double *udot)
{
    const int32_t np = s->image.n.positions, nu = s->image.n.speeds;
    double *at = s->realised->at, *change = s->realised->rates;
    memcpy(at, y, (size_t)np * sizeof *at);
    memset(at + np, 0, (size_t)nu * sizeof *at);
    for (int32_t u = 0; u < nu; u++) change[u] = distance * unit(s, u) * v[u];
    if (velocity) memcpy(at + np, change, (size_t)nu * sizeof *at);
    else {
        if (s->image.n.generals > 0) fm_run_orientations(s, at);
        fm_move_positions(s, at, change);
        (void)fm_normalise(s, at, NULL);
    }
    fm_accelerations(s, t, at, udot);
}

/* The change of the accelerations along v, in `out`. */
static void differentiate(fm_instance *s, double t, const double *y, const double *v, int velocity, double *out)
{
    static const double step[4] = {1.0, -1.0, 2.0, -2.0}, weight[4] = {8.0, -8.0, -1.0, 1.0};
    const int32_t nu = s->image.n.speeds;
    double *udot = s->realised->rates + nu;
    memset(out, 0, (size_t)nu * sizeof *out);
    for (int k = 0; k < 4; k++) {
        probe(s, t, y, v, FM_PROBE * step[k], velocity, udot);
        for (int32_t u = 0; u < nu; u++) out[u] += weight[k] * udot[u] / (12.0 * FM_PROBE * unit(s, u));
    }
}

/* The growth of the fastest growing motion [1/s]; 0: none grows beyond round-off. */
static double growth(fm_instance *s, double t, const double *y)
{
    const int32_t nu = s->image.n.speeds;
    double *N[2], *map = s->realised->map, *column = s->realised->rates + 2 * nu, most = 0.0, largest = 0.0;
    int32_t n[2];
    for (int level = 0; level < 2; level++) n[level] = allowed(s, level, s->realised->N + level * nu * nu, N + level);
    const int32_t all = n[0] + n[1];
    for (int32_t j = 0; j < all; j++) {
        const int velocity = j >= n[0];
        const double *v = velocity ? N[1] + (j - n[0]) * nu : N[0] + j * nu;
        differentiate(s, t, y, v, velocity, column);
        for (int32_t i = 0; i < all; i++) {
            const double *own = i < n[0] ? N[0] + i * nu : N[1] + (i - n[0]) * nu, *with = i < n[0] ? v : column;
            map[i * all + j] = 0.0;
            for (int32_t u = 0; (i >= n[0] || velocity) && u < nu; u++) map[i * all + j] += own[u] * with[u];
        }
    }
    double *re = s->realised->rates, *im = re + 2 * nu;
    if (!fm_eigenvalues(map, all, re, im)) return INFINITY;
    for (int32_t i = 0; i < all; i++) {
        most = fmax(most, re[i]);
        largest = fmax(largest, sqrt(re[i] * re[i] + im[i] * im[i]));
    }
    return most > FM_GROWS * largest ? most : 0.0;
}

/* An evaluation by the sweeps at rest at y. */
static void evaluate_at_rest(fm_instance *s, double t, const double *y, double *udot)
{
    const int32_t still = s->work.still;
    s->work.still = 2;
    memset(udot, 0, (size_t)s->image.n.speeds * sizeof *udot);
    probe(s, t, y, udot, 0.0, 0, udot);
    s->work.still = still;
}

static int insisted(const fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.excitations; i++)
        if (s->image.excitation_insist[i]) return 1;
    return 0;
}

/* Writes why the drives do not realise programs: their rank is too small, of which `drive` has no part, the dynamics
 * beside them is too large, or unstable. */
static void say_why(const fm_instance *s, int32_t rank, int32_t drive, double grows, char *out, size_t capacity)
{
    char names[160];
    const int32_t count = s->realised->count;
    fm_name_realised(s, names, sizeof names);
    if (rank < count)
        (void)fm_print(
            out, capacity,
            "the drives cannot realise the programs (%s): they determine %ld of %ld programmed accelerations at "
            "the start, and drive '%.40s' adds none. Springs between a drive and what it shall move, and loops that "
            "lock it, are in its way: choose other drives, or leave drives= out for ideal forces",
            names, (long)rank, (long)count,
            s->image.text + s->image.joint_name[s->image.link_joint[s->realised->link[drive]]]);
    else if (!insisted(s) && s->image.n.speeds > FM_INTERNAL)
        (void)fm_print(
            out, capacity,
            "the internal dynamics beside the programs (%s) has too many coordinates for its stability to be "
            "checked: %ld, at most %d. Give insist=True, or leave drives= out for ideal forces",
            names, (long)s->image.n.speeds, FM_INTERNAL);
    else if (grows > 0.0)
        (void)fm_print(
            out, capacity,
            "the internal dynamics beside the programs (%s) is unstable at the start: a deviation grows as "
            "exp(%.3g t). Choose other drives, add springs or dampers to what they leave free, or give insist=True",
            names, grows);
}

/* Whether drives determine what they realise at the start y, and nothing departs from it on its own; else writes why
 * not. Notes the sign of their effect. */
int fm_drives_realise(fm_instance *s, double t, const double *y, char *out, size_t capacity)
{
    int32_t drive;
    if (s->realised->count == 0) return 1;
    const double correction = s->closure[FM_CLOSURE_CORRECTION];
    s->closure[FM_CLOSURE_CORRECTION] = (double)FM_CORRECT_DIRECTLY;
    s->work.still = 2;
    for (int32_t i = 0; i < 2 * s->image.n.laws; i++) s->laws.now[i] = FM_UNKNOWN;
    s->drive_side[0] = 0.0;
    evaluate_at_rest(s, t, y, s->work.udot);
    const int32_t rank = fm_drives_rank(s, FM_EFFECT, &drive), count = s->realised->count;
    double grows = 0.0;
    if (rank == count) {
        s->drive_side[0] = fm_drives_side(s);
        if (!insisted(s) && s->image.n.speeds <= FM_INTERNAL) grows = growth(s, t, y);
    }
    s->work.still = 0;
    s->closure[FM_CLOSURE_CORRECTION] = correction;
    s->valid = FM_VALID_NOTHING;
    s->planar.is_placed = 0;
    const int fits = rank == count && !(grows > 0.0) && (insisted(s) || s->image.n.speeds <= FM_INTERNAL);
    if (!fits) say_why(s, rank, drive, grows, out, capacity);
    return fits;
}

typedef struct fm_drives_kept {
    int32_t used, lost, crossed;
} fm_drives_kept;

/* An evaluation by the sweeps at rest at y alone, not at nodes beside it, apart from those of the integration. */
static fm_drives_kept evaluate_apart(fm_instance *s, double t, const double *y)
{
    const fm_drives_kept kept = {s->reduced.used, s->realised->lost, s->realised->crossed};
    s->reduced.used = 0;
    s->realised->crossed = 1;
    evaluate_at_rest(s, t, y, s->work.udot);
    return kept;
}

static void end_apart(fm_instance *s, fm_drives_kept kept)
{
    s->reduced.used = kept.used;
    s->realised->lost = kept.lost, s->realised->crossed = kept.crossed;
    s->valid = FM_VALID_NOTHING;
}

/* Whether the drives' least effect at y is below `least`. */
int fm_drives_fade(fm_instance *s, double t, const double *y, double least)
{
    int32_t drive;
    const fm_drives_kept kept = evaluate_apart(s, t, y);
    const int weak = fm_drives_rank(s, least, &drive) < s->realised->count;
    end_apart(s, kept);
    return weak;
}

/* The determinant of the drives' response at y. */
double fm_drives_response_at(fm_instance *s, double t, const double *y)
{
    const fm_drives_kept kept = evaluate_apart(s, t, y);
    const double response = fm_drives_response(s);
    end_apart(s, kept);
    return response;
}

/* Whether a step failed because the drives lost their effect. */
int fm_drives_lost(fm_instance *s)
{
    return s->realised->count > 0 &&
           (s->realised->lost || s->realised->crossed || fm_drives_fade(s, s->clock[FM_TIME], s->y, FM_NO_EFFECT));
}
