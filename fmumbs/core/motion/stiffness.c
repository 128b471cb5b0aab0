/* stiffness.c: evaluations with the stiffness and damping of the joints beside the mass matrix, for the implicit
 * scheme.
 *
 *     (M + R) a = Q(q, v) - bias + f,   R = g D + g^2 K,
 * g a time, K and D what springs, dampers, force laws and modes of flexible bodies put on the velocity variables. It is
 * block diagonal, so that the sweeps take R in at each joint as the inertia of a drive (kernels/stiff.inc). Springs K_p
 * on the positions of a nonholonomic joint, p' = Y u, put Y' K_p Y on u. What K and D leave out (the stiffness of the
 * motion itself; compliances.c has point springs and matrices) slows an iteration down, and changes nothing of where it
 * ends. An excited mode has the inertia 1: its acceleration is (kappa' + f)/(1 + R), K = omega^2 and D = 2 omega of its
 * filter.
 */
#include "stiffness.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "../forces/laws.h"
#include "../forces/matrix_laws.h"
#include "../tree/general.h"
#include "../tree/modal.h"
#include "../tree/reversed.h"
#include "scratch.h"

#include <string.h>

/* K and D at y, diagonal, with the matrices of nonholonomic joints; those of flexible bodies are in the image. */
void fm_stiff_place(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    memset(s->stiff.K, 0, (size_t)m->n.speeds * sizeof(double));
    memset(s->stiff.D, 0, (size_t)m->n.speeds * sizeof(double));
    for (int32_t i = 0; i < m->n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0 || k->kind == FM_LINK_GENERAL || k->kind == FM_LINK_DRIVEN || k->kind == FM_LINK_MODAL) continue;
        if (fm_resists_along(s, m->link_joint[i])) continue;
        for (int32_t j = 0; j < fm_link_speeds(m, i); j++)
            s->stiff.K[k->u + j] = s->stiffness[k->u] > 0.0 ? s->stiffness[k->u] : 0.0,
                              s->stiff.D[k->u + j] = s->damping[k->u];
    }
    for (int32_t i = 0; i < m->n.excitations; i++) {
        const int32_t u = m->excitation_u[i];
        const double omega = m->excitation_kind[i] == FM_EXCITED_BY_POSITION ? m->excitation_cutoff[i] : 0.0;
        s->stiff.K[u] = omega * omega, s->stiff.D[u] = 2.0 * omega;
    }
    if (m->n.generals > 0) fm_run_orientations(s, y);
    for (int32_t i = 0; i < m->n.generals; i++) fm_general_stiffen(s, s->general + i);
    fm_laws_stiffen(s, y, s->stiff.K, s->stiff.D);
    if (s->model.stateful > 0) memcpy(s->implicit->base, s->stiff.D, (size_t)m->n.speeds * sizeof(double));
    if (m->n.frictions > 0) memcpy(s->friction->base, s->stiff.D, (size_t)m->n.speeds * sizeof(double));
}

/* out = R a + g K b of every velocity variable. */
void fm_stiff_force(fm_instance *s, double g, const double *a, const double *b, double *out)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.speeds; i++) out[i] = g * (s->stiff.D[i] * a[i] + s->stiff.K[i] * (g * a[i] + b[i]));
    for (int32_t i = 0; i < m->n.modals; i++) {
        const fm_modal *f = s->modal + i;
        const int32_t u = s->link[f->link].u;
        for (int32_t j = 0; j < f->n; j++)
            for (int32_t k = 0; k < f->n; k++)
                out[u + j] += g * (f->pair_damping[j * f->all + k] * a[u + k] +
                                   f->pair_stiffness[j * f->all + k] * (g * a[u + k] + b[u + k]));
    }
    for (int32_t i = 0; i < m->n.generals; i++) {
        const fm_general *f = s->general + i;
        const int32_t u = s->link[f->link].u;
        for (int32_t j = 0; j < f->free; j++)
            for (int32_t k = 0; k < f->free; k++)
                out[u + j] += g * (f->damping[j][k] * a[u + k] + f->stiffness[j][k] * (g * a[u + k] + b[u + k]));
    }
}

/* Adds f to the applied forces, in an evaluation (evaluation.c). */
void fm_stiff_apply(const fm_instance *s, double *tau)
{
    const double g = s->stiff.time;
    for (int32_t i = 0; i < s->image.n.speeds; i++) tau[i] += s->implicit->f[i];
    for (int32_t i = 0; i < s->image.n.excitations; i++) {
        const int32_t u = s->image.excitation_u[i];
        tau[u] /= 1.0 + g * (s->stiff.D[u] + g * s->stiff.K[u]);
    }
}

/* The inertias that the sweeps take in, at each joint; from here on evaluations have them, with the kernels for them.
 */
void fm_stiff_begin(fm_instance *s, double g)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        fm_link *k = s->link + i;
        if (k->u < 0 || k->kind == FM_LINK_DRIVEN || k->kind >= FM_LINK_GENERAL) continue;
        k->rotor = k->kind == FM_LINK_SCREW ? s->rotor[k->u] : 0.0;
        k->rotor += g * (s->stiff.D[k->u] + g * s->stiff.K[k->u]);
    }
    for (int32_t i = 0; s->planar.used && i < s->model.planars; i++)
        s->planar.rotor[i] = s->link[s->planar.link[i].link].rotor;
    s->stiff.time = g;
    s->implicit->ordinary = s->kernels;
    s->kernels = s->stiff_kernels;
}

/* Evaluations are ordinary ones once more. */
void fm_stiff_end(fm_instance *s)
{
    s->kernels = s->implicit->ordinary;
    s->stiff.time = 0.0;
    for (int32_t i = 0; i < s->image.n.links; i++)
        s->link[i].rotor = s->link[i].kind == FM_LINK_SCREW ? s->rotor[s->link[i].u] : 0.0;
}
