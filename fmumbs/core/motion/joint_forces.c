/* joint_forces.c: the wrench across every joint, from the balance of each link. */
#include "joint_forces.h"

#include "../instance/instance.h"
#include "../tree/links.h"
#include "../tree/modal.h"
#include "../loops/multipliers.h"
#include "least.h"
#include "scratch.h"

static void cross_add(double *to, const double *a, const double *b)
{
    to[0] += a[1] * b[2] - a[2] * b[1];
    to[1] += a[2] * b[0] - a[0] * b[2];
    to[2] += a[0] * b[1] - a[1] * b[0];
}

/* Rotation from a link's axes to its parent's; not of a root. */
static void axes_from_world(const fm_instance *s, int32_t i, double R[9])
{
    const double *W = s->world[i].R, *P = s->world[s->link[i].parent].R;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) R[3 * a + b] = P[a] * W[b] + P[3 + a] * W[3 + b] + P[6 + a] * W[6 + b];
}

/* The wrench that each parent exerts on its link, from the leaves to the roots: z_a of Eq. 33 (riccati-mstmm), by the
 * balance of each link, after fm_load_links. */
static void balance_links(fm_instance *s, const double *udot)
{
    const int32_t links = s->image.n.links;
    for (int32_t i = 0; i < links; i++) {
        const fm_link *k = s->link + i;
        const fm_motion *m = s->motion + i;
        double *t = s->wrench + 6 * i, *f = t + 3;
        const fm_rigid *b = s->rigid + i;
        const double *J = b->J, *w = m->alpha;
        fm_inertial_get(s, torque, i, t);
        fm_inertial_get(s, force, i, f);
        t[0] += (J[0] * w[0] + J[1] * w[1] + J[2] * w[2]);
        t[1] += (J[1] * w[0] + J[3] * w[1] + J[4] * w[2]);
        t[2] += (J[2] * w[0] + J[4] * w[1] + J[5] * w[2]);
        for (int j = 0; j < 3; j++) f[j] += b->m * m->a[j];
        cross_add(t, b->h, m->a);
        cross_add(f, w, b->h);
        if (k->kind == FM_LINK_MODAL) fm_modal_weigh(s, i, udot, t);
    }
    for (int32_t i = links - 1; i >= 0; i--) {
        const fm_link *k = s->link + i;
        const double *t = s->wrench + 6 * i, *f = t + 3;
        double R[9], r[3], force[3];
        if (k->root) continue;
        double *up = s->wrench + 6 * k->parent;
        axes_from_world(s, i, R);
        for (int j = 0; j < 3; j++) {
            force[j] = R[3 * j] * f[0] + R[3 * j + 1] * f[1] + R[3 * j + 2] * f[2];
            up[j] += R[3 * j] * t[0] + R[3 * j + 1] * t[1] + R[3 * j + 2] * t[2];
            up[3 + j] += force[j];
        }
        fm_lane_get(s, r, i, r);
        cross_add(up, r, force);
    }
}

/* The wrenches with all multipliers, after an evaluation that left udot; if these are not unique, with those of the
 * minimum-norm reactions. */
void fm_make_joint_forces(fm_instance *s, const double *udot)
{
    double *change = s->least->change;
    fm_load_links(s, s->loop.lambda);
    balance_links(s, udot);
    if (!fm_least_reactions(s, change)) return;
    fm_load_links(s, change);
    balance_links(s, udot);
    for (int32_t i = 0; i < s->image.n.rows; i++) s->loop.lambda[i] += change[i];
}
