/* links.c: prepares the link data of the sweeps from the image and the instance's parameters. */
#include "links.h"

#include "../image/joints.h"
#include "../instance/instance.h"

#include <string.h>

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* Arranges how S and e are passed on: link + 1 passes them directly, every other child through its parent's slot. */
void fm_arrange_slots(fm_instance *s)
{
    const int32_t links = s->image.n.links;
    s->model.pendings = 0;
    for (int32_t i = links - 1; i >= 0; i--) {
        fm_link *k = s->link + i;
        k->slot = -1;
        k->first_in_slot = 0;
        if (k->parent < 0) continue;
        fm_link *parent = s->link + k->parent;
        if (k->parent == i - 1) {
            parent->chained = 1;
            continue;
        }
        k->first_in_slot = parent->pending < 0;
        if (k->first_in_slot) parent->pending = s->model.pendings++;
        k->slot = parent->pending;
    }
    for (int32_t i = 0; i < links; i++)
        s->link[i].mirror = s->link[i].pending >= 0 || (s->link[i].chained && s->link[i + 1].kind != FM_LINK_SPHERICAL);
}

/* What the sweeps read of each link; after fm_arrange_slots and the choice of kernels (planar.c). */
void fm_make_briefs(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        const int8_t stores = (int8_t)(k->slot >= 0 ? 1 : k->slot == FM_SWEEP_ENDS ? -1 : 0);
        const int first = i % FM_LANE_WIDTH == 0, follows = first || (s->brief[i - 1].follows && k->parent == i - 1);
        s->brief[i] = (fm_brief){k->kind, k->chained,      k->root,   k->along, k->mirror, k->pending >= 0,
                                 stores,  (int8_t)follows, k->parent, k->u,     k->nth,    k->sign};
    }
}

/* Marks the links whose joints constraint rows depend on: those between the ends of cut joints, and coupled ones. */
void fm_mark_loops(fm_instance *s)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.terms; i++) s->in_loop[m->term_link[i]] = 1;
    for (int32_t i = 0; i < m->n.joints; i++) {
        int32_t F = m->joint_F_link[i], M = m->joint_M_link[i];
        while (fm_is_cut_joint(m, i) && F != M) { /* a parent's index is smaller than its child's */
            int32_t *end = F > M ? &F : &M;
            s->in_loop[*end] = 1;
            *end = m->link_parent[*end];
        }
    }
}

static void make_link(fm_instance *s, int32_t i, int32_t *balls)
{
    const fm_image *m = &s->image;
    fm_link *k = s->link + i;
    double *r = s->rigid[i].r;
    memset(k, 0, sizeof *k);
    k->kind = (int8_t)m->link_kind[i];
    k->parent = m->link_parent[i];
    k->root = k->parent < 0;
    k->p = m->link_p[i];
    k->u = m->link_u[i];
    k->pending = -1;
    k->sign = m->link_sign[i];
    const int screw = k->kind == FM_LINK_SCREW || k->kind == FM_LINK_DRIVEN;
    k->pitch = screw ? m->link_screw[6 * i + 2] : k->kind <= FM_LINK_REVOLUTE ? 1.0 : 0.0;
    k->slide = screw ? m->link_screw[6 * i + 5] : k->kind == FM_LINK_PRISMATIC ? 1.0 : 0.0;
    k->nth = m->link_general[i];
    memcpy(r, m->link_r + 3 * i, sizeof s->rigid[i].r);
    memcpy(s->axes[i].R0, m->link_R + 9 * i, 9 * sizeof(double));
    k->along = r[1] == 0.0 && r[2] == 0.0 ? 0 : r[0] == 0.0 && r[2] == 0.0 ? 1 : r[0] == 0.0 && r[1] == 0.0 ? 2 : 3;
    k->rotated = memcmp(s->axes[i].R0, identity, sizeof identity) != 0;
    fm_lane_set(s, r, i, r);
    memcpy(s->axes[i].R, s->axes[i].R0, 9 * sizeof(double));
    s->turn[i].c = 1.0;
    if (k->kind <= FM_LINK_REVOLUTE || screw) s->angle[s->model.angles++] = (fm_angle){k->sign * k->pitch, i, k->p};
    if (k->kind == FM_LINK_SPHERICAL) {
        k->nth = (*balls)++;
        s->ball_link[k->nth] = i;
    }
    if (k->slide != 0.0) s->slide_link[s->model.slides++] = i;
}

/* The units of the states, and how often each is integrated: a velocity once, the target of a program as often. */
static void make_scales(fm_instance *s)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.links; i++) {
        const fm_link *k = s->link + i;
        const int32_t p = fm_link_positions(m, i), u = fm_link_speeds(m, i);
        const double least = k->u >= 0 && m->mode_linear[k->u] ? m->length[0] : 1.0;
        for (int32_t j = 0; j < p; j++) s->scale[k->p + j] = least;
        for (int32_t j = 0; j < u; j++) {
            s->scale[m->n.positions + k->u + j] = m->mode_linear[k->u + j] ? m->length[0] : 1.0;
            s->order[m->n.positions + k->u + j] = 1;
        }
    }
    for (int32_t i = 0; i < m->n.excitations; i++) { /* the targets of programs for velocities and accelerations */
        const int32_t row = m->excitation_row[i], level = row >= 0 ? m->row_part[row] : 0;
        s->order[m->excitation_p[i]] += level, s->order[m->n.positions + m->excitation_u[i]] += level;
    }
}

/* Called once, after the image has been read. */
void fm_links_structure(fm_instance *s)
{
    const fm_image *m = &s->image;
    s->model.angles = s->model.slides = 0;
    s->model.deforms = 0;
    for (int32_t i = 0; i < m->n.modes; i++) s->model.deforms |= m->mode_strain[i] > 0.0;
    s->model.coupled = m->n.coupled > 0;
    for (int32_t i = 0; i < m->n.joints; i++) s->model.coupled |= m->joint_bends[i] >= 0;
    int32_t balls = 0;
    for (int32_t i = 0; i < m->n.links; i++) make_link(s, i, &balls);
    make_scales(s);
}

/* Adds mass, first moment and inertia of a body about the link's origin, in the link's axes. */
static void place_body(fm_rigid *k, const double *R, const double *r, double mass, const double *com, const double *I)
{
    const double X[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
    double c[3], Y[9], J[9];
    for (int i = 0; i < 3; i++) c[i] = r[i] + R[3 * i] * com[0] + R[3 * i + 1] * com[1] + R[3 * i + 2] * com[2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) Y[3 * i + j] = R[3 * i] * X[j] + R[3 * i + 1] * X[3 + j] + R[3 * i + 2] * X[6 + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            J[3 * i + j] = Y[3 * i] * R[3 * j] + Y[3 * i + 1] * R[3 * j + 1] + Y[3 * i + 2] * R[3 * j + 2];
    double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    k->m += mass;
    for (int i = 0; i < 3; i++) k->h[i] += mass * c[i];
    k->J[0] += J[0] + mass * (square - c[0] * c[0]);
    k->J[1] += J[1] - mass * c[0] * c[1];
    k->J[2] += J[2] - mass * c[0] * c[2];
    k->J[3] += J[4] + mass * (square - c[1] * c[1]);
    k->J[4] += J[5] - mass * c[1] * c[2];
    k->J[5] += J[8] + mass * (square - c[2] * c[2]);
}

/* Computes the inertial wrenches that the last evaluation did not keep. */
void fm_complete_inertial(fm_instance *s)
{
    if (s->work.no_inertial) s->kernels->inertial(s);
    s->work.no_inertial = 0;
}

/* The inertia of a link in the lanes. */
void fm_make_inertia_lanes(fm_instance *s, int32_t i)
{
    const fm_rigid *k = s->rigid + i;
    s->lane[i / FM_LANE_WIDTH].m[0][i % FM_LANE_WIDTH] = k->m;
    fm_lane_set(s, h, i, k->h);
    fm_lane_set(s, J, i, k->J);
    fm_lane_write(s->lane[i / FM_LANE_WIDTH].J + 3, i % FM_LANE_WIDTH, k->J + 3);
}

/* The inertias of the drives of all velocity variables, with those of motors behind their gears. */
static void make_rotors(fm_instance *s)
{
    memcpy(s->rotor, s->rotor_inertia, (size_t)s->image.n.speeds * sizeof *s->rotor);
    for (int32_t i = 0; i < s->image.n.motors; i++)
        s->rotor[s->image.motor_u[i]] += s->motor_gear[i] * s->motor_gear[i] * s->motor_rotor_inertia[i];
}

/* Called after every change of a parameter. */
void fm_links_derive(fm_instance *s)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.links; i++) {
        fm_rigid *k = s->rigid + i;
        k->m = 0.0;
        memset(k->h, 0, sizeof k->h);
        memset(k->J, 0, sizeof k->J);
    }
    for (int32_t i = 0; i < m->n.bodies; i++)
        place_body(s->rigid + m->body_link[i], m->body_R + 9 * i, m->body_r + 3 * i, s->mass[i], m->com + 3 * i,
                   s->inertia + 6 * i);
    make_rotors(s);
    const double square = m->length[0] * m->length[0];
    s->model.mass = 0.0;
    for (int32_t i = 0; i < m->n.links; i++) {
        const fm_rigid *k = s->rigid + i;
        s->model.mass += k->m + ((k->J[0] + k->J[3]) + k->J[5]) / square;
    }
    s->model.resisted = m->n.modals > 0 || m->n.coupled > 0;
    for (int32_t i = 0; i < m->n.speeds; i++)
        if (s->stiffness[i] != 0.0 || s->damping[i] != 0.0) s->model.resisted = 1;
    for (int32_t i = 0; i < m->n.screws; i++)
        if (s->screw_stiffness[i] != 0.0 || s->screw_damping[i] != 0.0) s->model.resisted = 1;
    for (int32_t i = 0; i < m->n.links; i++) {
        fm_make_inertia_lanes(s, i);
        if (s->link[i].kind == FM_LINK_SCREW) s->link[i].rotor = s->rotor[s->link[i].u];
    }
}
