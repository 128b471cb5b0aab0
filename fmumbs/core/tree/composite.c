/* composite.c: the mass matrix of the tree by composite rigid bodies (Featherstone, Rigid Body Dynamics Algorithms,
 * section 6.2).
 *
 * While only joint i accelerates, all that it carries moves as one rigid body with the sums of mass m, first moment h
 * and inertia J about the link's origin. A unit acceleration phi of its mode takes the wrench torque = J phi_t + h x
 * phi_f,   force = m phi_f - h x phi_t, which reaches every link k between i and the root with its moment about k's
 * origin, where M_ki = phi_k' wrench: as many products as pairs of a mode and one that carries it. The wrenches are in
 * world axes, so that nothing has to be rotated on their way. Columns of flexible bodies' modes come from inverse
 * dynamics (inverse.c) one by one. M includes the inertias R of drives and of motion/stiffness.c. In terms of links
 * (reversed.c).
 */
#include "composite.h"

#include "../image/joints.h"
#include "../instance/instance.h"
#include "../maths/vectors.h"
#include "general.h"
#include "inverse.h"

#include <string.h>

/* The number of the modes of a link's joint; 0 for flexible bodies and their frames. */
static int32_t modes_of(const fm_instance *s, int32_t i)
{
    const fm_link *k = s->link + i;
    if (k->kind >= FM_LINK_MODAL || k->u < 0) return 0;
    return k->kind == FM_LINK_GENERAL ? s->general[k->nth].speeds : k->kind == FM_LINK_SPHERICAL ? 3 : 1;
}

/* Its modes in world axes. */
static void place_modes(const fm_instance *s, int32_t i, const double *world)
{
    const fm_link *k = s->link + i;
    for (int32_t n = 0; n < modes_of(s, i); n++) {
        double in[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, *phi = s->reduced.phi + 6 * (k->u + n);
        if (k->kind == FM_LINK_GENERAL) {
            memcpy(in, s->general[k->nth].phi[n], sizeof in);
        } else if (k->kind == FM_LINK_SPHERICAL) {
            in[n] = 1.0;
        } else {
            in[fm_link_axis(k->kind)] = k->sign * k->pitch;
            in[3 + fm_link_axis(k->kind)] = k->sign * k->slide;
        }
        rotate_out(world, in, phi);
        rotate_out(world, in + 3, phi + 3);
    }
}

/* The inertia of a link and the modes of its joint in world axes, after its rotation. */
static void place_link(fm_instance *s, int32_t i)
{
    const fm_rigid *k = s->rigid + i;
    fm_composite *c = s->reduced.composite + i;
    const double *J = k->J;
    const double full[9] = {J[0], J[1], J[2], J[1], J[3], J[4], J[2], J[4], J[5]};
    double half[9];
    product(c->R, full, half);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) c->J[3 * a + b] = dot(half + 3 * a, c->R + 3 * b);
    rotate_out(c->R, k->h, c->h);
    c->m = k->m;
    place_modes(s, i, c->R);
}

/* Of each link: its rotation, the arm from its parent's origin, and its own inertia, in world axes. */
static void place(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        fm_composite *c = s->reduced.composite + i;
        const double *R = s->reduced.R + 9 * i;
        double r[3];
        fm_lane_get(s, r, i, r);
        if (k->root) memcpy(c->R, R, sizeof c->R), memcpy(c->arm, r, sizeof c->arm);
        else product(c[k->parent - i].R, R, c->R), rotate_out(c[k->parent - i].R, r, c->arm);
        place_link(s, i);
    }
}

/* The same from the world kinematics, whatever kernels left them. */
static void place_in_world(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        fm_composite *c = s->reduced.composite + i;
        memcpy(c->R, s->world[i].R, sizeof c->R);
        for (int j = 0; j < 3; j++) c->arm[j] = s->world[i].r[j] - (k->root ? 0.0 : s->world[k->parent].r[j]);
        place_link(s, i);
    }
}

/* Adds each link's mass to its parent's, about the parent's origin, from the leaves to the roots. */
static void gather(fm_instance *s)
{
    for (int32_t i = s->image.n.links - 1; i >= 0; i--) {
        const fm_composite *c = s->reduced.composite + i;
        if (s->link[i].root) continue;
        fm_composite *up = s->reduced.composite + s->link[i].parent;
        const double *h = c->h, *r = c->arm, turn = 2.0 * dot(h, r) + c->m * dot(r, r);
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++)
                up->J[3 * a + b] += c->J[3 * a + b] - ((h[a] + c->m * r[a]) * r[b] + r[a] * h[b]);
            up->J[4 * a] += turn;
        }
        for (int a = 0; a < 3; a++) up->h[a] += h[a] + c->m * r[a];
        up->m += c->m;
    }
}

/* The column of velocity variable u of joint i, and the row of the same entries. */
static void fill_column(fm_instance *s, int32_t i, int32_t u)
{
    const size_t nu = (size_t)s->image.n.speeds;
    const fm_composite *c = s->reduced.composite + i;
    const double *phi = s->reduced.phi + 6 * u;
    double w[6], arm[3];
    rotate_out(c->J, phi, w);
    cross(c->h, phi + 3, arm);
    cross(phi, c->h, w + 3);
    for (int a = 0; a < 3; a++) w[a] += arm[a], w[3 + a] += c->m * phi[3 + a];
    for (int32_t at = i;; at = s->link[at].parent) {
        for (int32_t n = s->link[at].u, last = n + modes_of(s, at); n < last; n++)
            s->reduced.mass[(size_t)u * nu + (size_t)n] = s->reduced.mass[(size_t)n * nu + (size_t)u] =
                dot6(s->reduced.phi + 6 * n, w);
        if (s->link[at].root) return;
        cross(s->reduced.composite[at].arm, w + 3, arm);
        for (int a = 0; a < 3; a++) w[a] += arm[a];
    }
}

/* Adds the inertias of drives, and R, at the joint of a link. */
static void add_drives(fm_instance *s, int32_t i)
{
    const fm_link *k = s->link + i;
    const size_t nu = (size_t)s->image.n.speeds;
    const int32_t count = modes_of(s, i);
    if (k->kind != FM_LINK_GENERAL) {
        for (int32_t n = k->u; n < k->u + count; n++) s->reduced.mass[(nu + 1) * (size_t)n] += k->rotor;
        return;
    }
    const fm_general *g = s->general + k->nth;
    for (int32_t n = 0; s->stiff.time > 0.0 && n < g->free; n++)
        for (int32_t j = 0; j < g->free; j++)
            s->reduced.mass[(size_t)(k->u + n) * nu + (size_t)(k->u + j)] += fm_general_inertia(s, g, n, j);
}

/* The columns of a flexible body's modes, and the rows of the same entries. Overwrites the accelerations of the links.
 */
static void fill_modes(fm_instance *s, const fm_modal *b)
{
    const size_t nu = (size_t)s->image.n.speeds;
    for (int32_t u = s->link[b->link].u; u < s->link[b->link].u + b->n; u++) {
        double *unit = s->reduced.part, *column = s->reduced.mass + (size_t)u * nu;
        memset(unit, 0, nu * sizeof *unit);
        unit[u] = 1.0;
        fm_inverse_accelerations(s, unit, 0);
        fm_inverse_forces(s, unit, 0, column);
        for (size_t n = 0; n < nu; n++) s->reduced.mass[n * nu + (size_t)u] = column[n];
    }
}

/* M in reduced.mass but for the columns of flexible bodies. */
static void fill(fm_instance *s)
{
    const size_t nu = (size_t)s->image.n.speeds;
    memset(s->reduced.mass, 0, nu * nu * sizeof *s->reduced.mass);
    gather(s);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        for (int32_t n = 0; n < modes_of(s, i); n++) fill_column(s, i, s->link[i].u + n);
        if (modes_of(s, i) > 0) add_drives(s, i);
    }
}

/* M in reduced.mass, after fm_inverse_place. */
void fm_composite_mass(fm_instance *s)
{
    place(s);
    fill(s);
    for (int32_t i = 0; i < s->image.n.modals; i++) fill_modes(s, s->modal + i);
}

/* The same without flexible bodies, after fm_make_world. */
void fm_composite_mass_in_world(fm_instance *s)
{
    place_in_world(s);
    fill(s);
}
