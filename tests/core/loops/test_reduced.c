/* test_reduced.c: the reduced formulation, alone. Inverse dynamics returns the forces that the sweeps were given; the
 * mass matrix has its columns; and the motion does not touch what the sweeps and the Delassus matrix leave behind.
 */
#include "images.h"

#include "instance/instance.h"
#include "loops/reduced.h"
#include "loops/reduced_choice.h"
#include "maths/reflections.h"
#include "motion/evaluation.h"
#include "motion/stiffness.h"
#include "tree/composite.h"
#include "tree/inverse.h"
#include "tree/kinematics.h"
#include "tree/links.h"
#include "tree/reversed.h"

#define WITHIN 1e-9 /* of the largest force, or acceleration: round-off */

static fm_instance *begin(const image *one)
{
    fm_instance *s = open_image(one);
    if (s->model.reduced && fm_assemble(s, 0.0) == FM_OK) return s;
    fm_close(s);
    return NULL;
}

static double largest(const double *a, const double *b, int32_t n)
{
    double most = 0.0;
    for (int32_t i = 0; i < n; i++) most = fmax(most, fabs(b == NULL ? a[i] : a[i] - b[i]));
    return most;
}

/* The sweeps' accelerations under random forces, put into inverse dynamics. */
static void check_inverse(const image *one)
{
    static uint64_t seed = 3;
    fm_instance *s = begin(one);
    if (s == NULL) return;
    const int32_t n = s->image.n.speeds;
    double *tau = allocate((size_t)n, sizeof *tau), *udot = allocate((size_t)n, sizeof *udot),
           *back = allocate((size_t)n, sizeof *back);
    s->work.forced = 0;
    for (int32_t i = 0; i < n; i++) tau[i] = (double)(any(&seed) >> 11) / 4503599627370496.0 - 1.0;
    fm_run_orientations(s, s->y);
    fm_run_sweeps(s, s->y, tau, udot);
    fm_inverse_place(s, s->y);
    memcpy(udot, fm_linked_forces(s, udot), (size_t)n * sizeof *udot);
    fm_inverse_accelerations(s, udot, 1);
    fm_inverse_forces(s, udot, 1, back);
    fm_from_links(s, back);
    for (int32_t i = 0; i < s->image.n.excitations; i++) /* what an excited mode is given is its acceleration */
        tau[s->image.excitation_u[i]] = back[s->image.excitation_u[i]] = 0.0;
    double most = 1.0;
    for (int32_t i = 0; i < 6 * s->image.n.links; i++) most = fmax(most, fabs(s->reduced.wrench[i]));
    CHECK(largest(tau, back, n) <= WITHIN * most);
    free(tau), free(udot), free(back);
    fm_close(s);
}

/* Springs and dampers in every joint of the tree. */
static void stiffen(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.modes; i++) s->stiffness[i] = 10.0 + i, s->damping[i] = 1.0 + i;
    for (int32_t i = 0; i < s->image.n.screws; i++) s->screw_stiffness[i] = 20.0 + i, s->screw_damping[i] = 2.0 + i;
    fm_links_derive(s);
}

/* The mass matrix of composite bodies, by itself and with the inertias of the implicit scheme: its columns are the
 * forces that inverse dynamics finds for unit accelerations. */
static void check_mass(const image *one)
{
    fm_instance *s = begin(one);
    if (s == NULL) return;
    const int32_t n = s->image.n.speeds;
    double *unit = allocate((size_t)n, sizeof *unit), *column = allocate((size_t)n, sizeof *column);
    (void)fm_step(s, fm_time(s) + 1e-3);
    for (int stiff = 0; stiff < 2; stiff++) {
        if (stiff) stiffen(s);
        fm_stiff_place(s, s->y);
        if (stiff) fm_stiff_begin(s, 0.1);
        fm_run_orientations(s, s->y);
        fm_inverse_place(s, s->y);
        fm_composite_mass(s);
        for (int32_t u = 0; u < n; u++) {
            memset(unit, 0, (size_t)n * sizeof *unit);
            unit[u] = 1.0;
            fm_inverse_accelerations(s, unit, 0);
            fm_inverse_forces(s, unit, 0, column);
            for (int32_t k = 0; k < n; k++) {
                const double *M = s->reduced.mass, found = M[(size_t)u * (size_t)n + (size_t)k];
                const double size = sqrt(column[u] * M[(size_t)k * (size_t)(n + 1)]);
                const double mirrored = M[(size_t)k * (size_t)n + (size_t)u];
                CHECK(stiff ? fabs(found - mirrored) <= 1e-15 * size : found == mirrored);
                CHECK(fabs(found - column[k]) <= 1e-12 * size);
            }
        }
        if (stiff) fm_stiff_end(s);
    }
    free(unit), free(column);
    fm_close(s);
}

/* Both formulations in one instance: the same accelerations, by other bits. */
static void check_accelerations(const image *one)
{
    fm_instance *s = begin(one);
    if (s == NULL) return;
    const int32_t n = s->image.n.speeds;
    double *a = allocate((size_t)n, sizeof *a), *b = allocate((size_t)n, sizeof *b);
    for (int round = 0; round < 3; round++) {
        if (fm_step(s, fm_time(s) + 1e-3) != FM_OK) break;
        s->laws.use = s->law_mode;
        fm_accelerations(s, fm_time(s), s->y, a);
        s->reduced.used = 0;
        fm_accelerations(s, fm_time(s), s->y, b);
        s->reduced.used = 1;
        s->laws.use = s->laws.now;
        CHECK(largest(a, b, n) <= WITHIN * fmax(1.0, largest(b, NULL, n)));
    }
    free(a), free(b);
    fm_close(s);
}

static void fill(double *at, size_t count)
{
    for (size_t i = 0; i < count; i++) at[i] = NAN;
}

/* Everything that only sweeps, K and multipliers write. */
static void poison(fm_instance *s)
{
    const size_t rows = (size_t)s->image.n.rows;
    fill(s->loop.L, s->plan.L), fill(s->loop.y, s->plan.y), fill(s->loop.z, s->plan.y);
    fill(s->loop.lambda, rows), fill(s->loop.diagonal, rows);
    fill((double *)s->pending, ((size_t)s->image.n.links / 2 + 1) * sizeof *s->pending / sizeof(double));
    for (int32_t i = 0; i < s->image.n.links; i++) {
        fill(s->projected[i].U, 6);
        s->projected[i].g = s->projected[i].D = NAN;
    }
    for (int32_t i = 0; i < s->model.balls; i++) fill(s->ball[i].factor, 6), fill(s->ball[i].W[0], 12);
    for (int32_t i = 0; i < s->image.n.generals; i++) {
        fill(s->general[i].U[0], 6 * FM_JOINT_MODES), fill(s->general[i].L[0], FM_JOINT_MODES * FM_JOINT_MODES);
        fill(s->general[i].D, FM_JOINT_MODES), fill(s->general[i].g, FM_JOINT_MODES);
    }
    for (int32_t i = 0; i < s->image.n.modals; i++) {
        fill(s->modal[i].L[0], FM_BODY_MODES * FM_BODY_MODES), fill(s->modal[i].D, FM_BODY_MODES);
        fill(s->modal[i].g, FM_BODY_MODES);
    }
}

static void check_alone(const image *one)
{
    fm_instance *s = begin(one), *other = begin(one);
    if (s == NULL) return;
    for (int round = 1; round < 5; round++) {
        const double t = 0.01 * round;
        poison(s);
        const fm_status status = fm_step(s, t);
        CHECK(fm_step(other, t) == status);
        CHECK(memcmp(s->y, other->y, (size_t)s->model.ny * sizeof *s->y) == 0);
        if (status != FM_OK) break;
    }
    fm_close(s), fm_close(other);
}

static int exchanged; /* rows in all images */

/* Rows that are not in use leave nothing behind when they are tried. */
static void check_trials(fm_instance *s)
{
    fm_reflections *r = &s->reduced.rows;
    const size_t size = (size_t)s->image.n.speeds * sizeof *r->taken;
    int32_t *taken = allocate((size_t)s->image.n.speeds, sizeof *taken),
            *first = allocate((size_t)s->image.n.speeds, sizeof *first);
    memcpy(taken, r->taken, size), memcpy(first, r->first, size);
    for (const fm_block *k = s->plan.block, *end = k + s->plan.blocks; k < end; k++)
        for (int32_t i = k->first; i < k->first + k->rows; i++) {
            fm_ends ends = {.joint = -1};
            if (s->row_active[i] > 0.0 || r->rank == r->rows) continue;
            (void)fm_reduced_add_row(s, k, i, 0, &ends);
            fm_reflect_drop(r);
            CHECK(memcmp(taken, r->taken, size) == 0 && memcmp(first, r->first, size) == 0);
        }
    free(taken), free(first);
}

/* Pivots of rows in use grow with the motion; rows that take the place of worn ones begin with their own. */
static void check_choice(const image *one)
{
    fm_instance *s = begin(one);
    if (s == NULL) return;
    const int32_t rows = s->image.n.rows;
    double *before = allocate((size_t)rows, sizeof *before);
    for (int round = 1; rows > 0 && round <= 20 && fm_step(s, 0.05 * round) == FM_OK; round++) {
        fm_run_orientations(s, s->y);
        fm_make_world(s, s->y);
        if (!fm_reduced_rows(s, 0)) continue;
        check_trials(s);
        (void)fm_reduced_rows(s, 0);
        for (int worn = 0; worn < 2; worn++) {
            memcpy(before, s->row_active, (size_t)rows * sizeof *before);
            for (int32_t i = 0; i < rows; i++)
                s->row_pivot[i] = before[i] > 0.0 ? (worn ? 1e6 : 0.5) * s->reduced.pivot[i] : 1e9;
            s->loop.worn = worn, s->loop.near_singular = 0;
            fm_reduced_watch(s, s->y);
            for (int32_t i = 0; i < rows; i++) {
                const int fresh = s->row_active[i] > 0.0 && !(before[i] > 0.0);
                if (fresh || (!worn && s->row_active[i] > 0.0)) CHECK(s->row_pivot[i] == s->reduced.pivot[i]);
                exchanged += fresh;
            }
        }
        (void)fm_assemble(s, fm_time(s));
    }
    free(before);
    fm_close(s);
}

static int check_choices(void)
{
    const int failed = walk(check_choice, EVERY);
    CHECK(exchanged > 0);
    return failed;
}

int main(void)
{
    return check_choices() + walk(check_inverse, EVERY) + walk(check_mass, EVERY) + walk(check_accelerations, EVERY) +
           walk(check_alone, EVERY);
}
