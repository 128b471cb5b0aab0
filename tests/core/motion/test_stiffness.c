/* test_stiffness.c: accelerations with the inertias R that stiffness and damping add to the joints. (M + R) a = Q + R b
 * holds where the ordinary kernels give the same a under the additional joint forces R (b - a), whatever b is; and what
 * point springs, springs in cut joints and matrices in joints of the tree add to them.
 */
#include "images.h"

#include "image/joints.h"
#include "instance/instance.h"
#include "loops/delassus.h"
#include "motion/compliances.h"
#include "motion/evaluation.h"
#include "motion/rates.h"
#include "motion/scratch.h"
#include "motion/stiffness.h"
#include "tree/links.h"

#define WITHIN 1e-9 /* of the largest acceleration, without loops: round-off */
#define WITHIN_STIFF 1e-8 /* where dampers nearly cancel each other: draws leave up to 1.2e-9 */

static double uniform(uint64_t *seed, double low, double high)
{
    return low + (high - low) * ((double)(any(seed) >> 11) / 9007199254740992.0);
}

/* Springs and dampers in every joint of the tree. */
static void stiffen(fm_instance *s, uint64_t *seed, double stiffness)
{
    for (int32_t i = 0; i < s->image.n.modes; i++) {
        s->stiffness[i] = any_below(seed, 4) == 0 ? 0.0 : uniform(seed, 0.0, stiffness);
        s->damping[i] = any_below(seed, 4) == 0 ? 0.0 : uniform(seed, 0.0, 0.1 * stiffness);
    }
    for (int32_t i = 0; i < s->image.n.screws; i++) { /* of nonholonomic joints */
        s->screw_stiffness[i] = uniform(seed, 0.0, stiffness);
        s->screw_damping[i] = uniform(seed, 0.0, 0.1 * stiffness);
    }
    fm_links_derive(s);
    s->model.resisted = 1;
}

/* The forces R (b - a) as inputs; of an excited position the input that its filter makes of them. */
static void apply(fm_instance *s, double g, const double *a, const double *b)
{
    const int32_t n = s->image.n.speeds;
    double *less = allocate((size_t)n, sizeof *less), *none = allocate((size_t)n, sizeof *none),
           *f = allocate((size_t)n, sizeof *f);
    for (int32_t i = 0; i < n; i++) less[i] = b[i] - a[i];
    fm_stiff_force(s, g, less, none, f);
    for (int32_t i = 0; i < s->image.n.excitations; i++) {
        const int32_t u = s->image.excitation_u[i];
        const double omega = s->image.excitation_cutoff[i];
        f[u] = s->image.excitation_kind[i] == FM_EXCITED_BY_POSITION ? f[u] / (omega * omega) : 0.0;
    }
    for (int32_t i = 0; i < n; i++) s->tau[i] += f[i];
    free(less), free(none), free(f);
}

/* The largest acceleration without the multipliers, whose forces may cancel nearly all of it. */
static double without_loops(fm_instance *s, double *a)
{
    const size_t rows = (size_t)s->image.n.rows;
    double *active = allocate(rows, sizeof *active), most = 0.0;
    memcpy(active, s->row_active, rows * sizeof *active);
    memset(s->row_active, 0, rows * sizeof *active);
    fm_use_rows(s);
    fm_accelerations(s, s->clock[FM_TIME], s->y, a);
    for (int32_t i = 0; i < s->image.n.speeds; i++) most = fmax(most, fabs(a[i]));
    memcpy(s->row_active, active, rows * sizeof *active);
    fm_use_rows(s);
    free(active);
    return most;
}

static void check_inertias(const image *one)
{
    static uint64_t seed = 77;
    fm_instance *s = open_image(one);
    const int32_t n = s->image.n.speeds;
    double *a = allocate((size_t)n, sizeof *a), *b = allocate((size_t)n, sizeof *b),
           *c = allocate((size_t)n, sizeof *c);
    double *tau = allocate((size_t)s->image.n.modes, sizeof *tau), *none = allocate((size_t)n, sizeof *none);
    if (fm_assemble(s, 0.0) == FM_OK && fm_step(s, 1e-3) == FM_OK) {
        for (int round = 0; round < 8; round++) {
            fm_level_use(s, round % 2 < fm_level_best() ? 1 : 0);
            const double g = uniform(&seed, 0.001, 0.1), stiffness = round < 4 ? 10.0 : 1e4;
            double most = 0.0, off = 0.0;
            stiffen(s, &seed, stiffness);
            fm_stiff_place(s, s->y);
            fm_accelerations(s, s->clock[FM_TIME], s->y, a);
            for (int32_t i = 0; i < n; i++) b[i] = uniform(&seed, -3.0, 3.0);
            for (int32_t i = 0; i < n; i++) most = fmax(most, fmax(1.0, fabs(a[i])));
            fm_stiff_force(s, g, b, none, s->implicit->f);
            fm_stiff_accelerations(s, s->clock[FM_TIME], s->y, g, a);
            memcpy(tau, s->tau, (size_t)s->image.n.modes * sizeof *tau);
            apply(s, g, a, b);
            most = fmax(most, without_loops(s, c));
            fm_accelerations(s, s->clock[FM_TIME], s->y, c);
            memcpy(s->tau, tau, (size_t)s->image.n.modes * sizeof *tau);
            for (int32_t i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
            for (int32_t i = 0; i < n; i++) off = fmax(off, fabs(c[i] - a[i]));
            CHECK(off <= WITHIN * most);
        }
    }
    free(a), free(b), free(c), free(tau), free(none);
    fm_close(s);
}

/* Draws dampers of point springs, of cut joints and of those with matrices, which are far from diagonal, and takes the
 * directions in which they resist. */
static int32_t resist(fm_instance *s, uint64_t seed, double factor, double g, double *a)
{
    for (int32_t i = 0; i < s->image.n.springs; i++) s->spring_damping[i] = factor * uniform(&seed, 300.0, 1000.0);
    for (int32_t j = 0; j < s->image.n.joints; j++) { /* one for all modes, as a ball has */
        const double damping = factor * uniform(&seed, 10.0, 100.0);
        const int resists =
            s->image.joint_u[j] >= s->image.n.speeds || (j < s->stiff.matrices && fm_has_matrix(&s->image, j));
        for (int32_t i = s->image.joint_u[j]; resists && i < s->image.joint_u[j] + s->image.joint_nu[j]; i++)
            s->damping[i] = damping;
        for (int32_t c = s->image.joint_coupled[j]; c < s->image.joint_coupled[j] + s->image.joint_couplings[j]; c++)
            s->coupled_damping[c] = resists ? (c % 2 ? -damping : damping) * uniform(&seed, 0.06, 0.15) : 0.0;
    }
    fm_links_derive(s);
    fm_stiff_accelerations(s, 0.0, s->y, g, a);
    fm_compliances_place(s, 1, -1, 0.0, s->y, g, a);
    return s->implicit->set[1].count;
}

/* Dampers d of point springs and cut joints alone: x of fm_compliances_apply solves x - g A x = x0, where A v is what v
 * changes the accelerations by through the dampers. Coriolis terms are the same without them. */
static void check_compliances(const image *one)
{
    static uint64_t seed = 5;
    fm_instance *s = open_image(one);
    const int32_t n = s->image.n.speeds, np = s->image.n.positions, modes = s->image.n.modes,
                  springs = s->image.n.springs;
    double *a[4], *x = allocate((size_t)n, sizeof *x), *from = allocate((size_t)n, sizeof *from);
    double *y = allocate((size_t)s->model.ny, sizeof *y);
    for (int i = 0; i < 4; i++) a[i] = allocate((size_t)n, sizeof *a[i]);
    if (s->implicit->room > 0 && s->image.n.laws == 0 && fm_assemble(s, 0.0) == FM_OK) {
        const double g = 0.05;
        double most = 1.0, off = 0.0;
        memset(s->stiffness, 0, (size_t)modes * sizeof(double));
        memset(s->spring_stiffness, 0, (size_t)springs * sizeof(double));
        memset(s->damping, 0, (size_t)modes * sizeof(double));
        memset(s->coupled_stiffness, 0, (size_t)s->image.n.coupled * sizeof(double));
        memset(s->y + np, 0,
               (size_t)n * sizeof(double)); /* at rest, dampers do not pull, nor resist across their lines */
        memset(s->stiff.K, 0, (size_t)n * sizeof(double));
        memset(s->stiff.D, 0, (size_t)n * sizeof(double));
        memset(s->implicit->f, 0, (size_t)n * sizeof(double));
        double factor = 1.0; /* so large that none is left out as soft */
        const int32_t all = resist(s, ++seed, 1e6, g, a[0]);
        while (resist(s, seed, factor, g, a[0]) < all) factor *= 10.0;
        for (int32_t i = 0; i < n; i++) x[i] = from[i] = uniform(&seed, -1.0, 1.0);
        fm_compliances_apply(s, 1, NULL, x);
        memcpy(y, s->y, (size_t)s->model.ny * sizeof *y);
        for (int i = 0; i < 4; i++) {
            for (int32_t j = 0; j < n; j++) y[np + j] = s->y[np + j] + (i % 2) * x[j];
            if (i == 2) {
                memset(s->spring_damping, 0, (size_t)springs * sizeof(double));
                memset(s->damping, 0, (size_t)modes * sizeof(double));
                memset(s->coupled_damping, 0, (size_t)s->image.n.coupled * sizeof(double));
            }
            fm_stiff_accelerations(s, 0.0, y, g, a[i]);
            for (int32_t j = 0; j < n; j++) most = fmax(most, fabs(g * a[i][j]));
        }
        for (int32_t i = 0; i < n; i++)
            off = fmax(off, fabs(x[i] - g * ((a[1][i] - a[0][i]) - (a[3][i] - a[2][i])) - from[i]));
        CHECK(off <= WITHIN_STIFF * most);
    }
    for (int i = 0; i < 4; i++) free(a[i]);
    free(x), free(from), free(y);
    fm_close(s);
}

int main(void)
{
    return walk(check_inertias, EVERY) + walk(check_compliances, EVERY);
}
