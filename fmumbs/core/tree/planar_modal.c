/* planar_modal.c: flexible bodies in planar trees: their constants in planar axes, and conversion to space.
 *
 * Their modes move points in the plane alone (planar_fit.c). Of the integrals of modal.c that leaves, for each mode,
 * the first moment S_k, the trace of N_k and the moment C_k about the normal. The sweeps are in planar_modal.inc.
 */
#include "planar_modal.h"

#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "modal.h"

#include <string.h>

/* Integrals of the modes about the axes x, y of the floating frame; `side`: 1, or -1 if the normal is -z. */
static void integrate(fm_instance *s, int32_t body, const fm_plane_axes *axes, double side)
{
    const fm_image *m = &s->image;
    fm_plane_modal *b = s->planar.modal + body;
    for (int32_t k = 0; k < b->all; k++) {
        const double *S = m->shape_first + 3 * (m->modal_shape[body] + k);
        const double *A = m->shape_moment + 9 * (m->modal_shape[body] + k);
        fm_plane_mode *mode = b->mode + k;
        mode->first[0] = dot(axes->x, S), mode->first[1] = dot(axes->y, S);
        mode->trace0 = A[0] + A[4], mode->cross0 = side * (A[1] - A[3]);
    }
    for (int32_t k = 0; k < b->all * b->all; k++) {
        const double *P = m->pair_product + 9 * (m->modal_pair[body] + k);
        b->trace[k] = P[0] + P[4], b->cross[k] = side * (P[1] - P[3]);
    }
}

/* The shapes of a frame in the planar axes of the floating frame. */
static void place_shapes(fm_instance *s, int32_t frame, const fm_plane_axes *axes, double side)
{
    const fm_image *m = &s->image;
    const int32_t first = m->frame_first[frame], all = s->modal[m->link_modal[m->frame_link[frame]]].all;
    for (int32_t k = first; k < first + all; k++) {
        const double *row = m->frame_shape + 6 * k;
        s->planar.shape[k] = (fm_plane_shape){side * row[5], dot(axes->x, row), dot(axes->y, row)};
    }
}

/* Once, after the planar axes of all links and the lanes of their places in their parents. */
void fm_planar_modal_structure(fm_instance *s)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.modals; i++) {
        const int32_t place = s->planar.place[m->modal_link[i]], shape = m->modal_shape[i], pair = m->modal_pair[i];
        fm_plane_modal *b = s->planar.modal + i;
        if (place < 0) continue;
        const fm_plane_axes *axes = s->planar.axes + place;
        const double *x = fm_plane_at(s, place), *p0 = m->modal_r + 3 * i;
        const int32_t frame = m->link_frame[m->modal_link[i]];
        memset(b, 0, sizeof *b);
        b->shape = s->modal + i;
        b->n = b->shape->n, b->all = b->shape->all;
        b->p = s->link[m->modal_link[i]].p, b->u = s->link[m->modal_link[i]].u;
        if (frame >= 0) b->base = (b->all > b->n ? s->planar.shape_now : s->planar.shape) + m->frame_first[frame];
        b->mass = m->pair_mass + pair, b->stiffness = m->pair_stiffness + pair, b->damping = m->pair_damping + pair;
        b->trace = s->planar.modal_trace + pair, b->cross = s->planar.modal_cross + pair,
        b->L = s->planar.modal_L + pair;
        b->mode = s->planar.modal_mode + shape;
        memset(b->mode, 0, (size_t)b->all * sizeof *b->mode);
        b->p0[0] = dot(axes->x, p0), b->p0[1] = dot(axes->y, p0);
        const double c = x[FM_PLANE_c0 * FM_PLANE_WIDTH], sn = x[FM_PLANE_s0 * FM_PLANE_WIDTH];
        b->r0[0] = x[FM_PLANE_ty * FM_PLANE_WIDTH] + (c * b->p0[0] - sn * b->p0[1]);
        b->r0[1] = -x[FM_PLANE_tx * FM_PLANE_WIDTH] + (sn * b->p0[0] + c * b->p0[1]);
        integrate(s, i, axes, axes->n[2]);
    }
    for (int32_t i = 0; i < m->n.frames; i++) {
        const int32_t place = s->planar.place[m->modal_link[m->link_modal[m->frame_link[i]]]];
        if (place >= 0) place_shapes(s, i, s->planar.axes + place, s->planar.axes[place].n[2]);
    }
}

/* After every change of a parameter: the rigid inertia. */
void fm_planar_modal_derive(fm_instance *s)
{
    for (int32_t i = 0; i < s->image.n.modals; i++) {
        const int32_t link = s->image.modal_link[i], place = s->planar.place[link];
        if (place < 0) continue;
        const fm_plane_axes *axes = s->planar.axes + place;
        const double *h = s->modal[i].h0;
        s->planar.modal[i].J0 = s->modal[i].J0[5];
        s->planar.modal[i].h0[0] = dot(axes->x, h), s->planar.modal[i].h0[1] = dot(axes->y, h);
    }
}

/* Shapes and rotations of planar bodies in space, at y. Requires cosines and sines. */
void fm_planar_modal_orient(fm_instance *s, const double *y)
{
    for (int32_t i = 0; i < s->model.planars; i++) {
        const fm_plane_link *k = s->planar.link + i;
        if (k->kind < FM_PLANE_MODAL) continue;
        const double *x = fm_plane_at(s, i);
        s->turn[k->link].c = x[FM_PLANE_cosine * FM_PLANE_WIDTH];
        s->turn[k->link].s = s->planar.axes[i].n[2] * x[FM_PLANE_sine * FM_PLANE_WIDTH];
    }
    fm_modal_place(s, y, 1);
}

/* Adds the inertial wrenches of the modes to those of rigid bodies. */
void fm_planar_modal_expand(fm_instance *s, const double *y)
{
    for (int32_t i = 0; i < s->image.n.modals; i++)
        if (fm_moves_in_plane(s, s->image.modal_link[i])) fm_modal_own(s, i, y);
}
