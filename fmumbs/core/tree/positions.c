/* positions.c: rates of positions, changes of positions, normalisation of quaternions. */
#include "positions.h"

#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "general.h"

#include <math.h>
#include <string.h>

/* pdot = Y1(p) u: the velocity variables themselves, and q (0, w)/2 for the quaternion of a ball. */
void fm_position_rates(const fm_instance *s, const double *y, double *pdot)
{
    const double *u = y + s->image.n.positions;
    if (s->model.balls + s->image.n.generals + s->image.n.modals == 0) {
        memcpy(pdot, u, (size_t)s->image.n.speeds * sizeof *pdot);
        return;
    }
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind == FM_LINK_GENERAL) {
            fm_general_rates(s->general + k->nth, u + k->u, pdot + k->p);
            continue;
        }
        if (k->kind == FM_LINK_MODAL) {
            memcpy(pdot + k->p, u + k->u, (size_t)s->image.modal_shapes[s->image.link_modal[i]] * sizeof *pdot);
            continue;
        }
        if (k->kind != FM_LINK_SPHERICAL) {
            pdot[k->p] = u[k->u];
            continue;
        }
        const double *q = y + k->p, *w = u + k->u;
        double *to = pdot + k->p;
        to[0] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
        to[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
        to[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
        to[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
    }
}

/* The speeds whose rates of positions are nearest to those; zero for links of several screws. */
void fm_speeds_of(const fm_instance *s, const double *y, const double *rates, double *u)
{
    memset(u, 0, (size_t)s->image.n.speeds * sizeof *u);
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0 || k->kind == FM_LINK_GENERAL) continue;
        if (k->kind != FM_LINK_SPHERICAL) {
            copy(u + k->u, rates + k->p, fm_link_speeds(&s->image, i));
            continue;
        }
        const double *q = y + k->p, *r = rates + k->p;
        u[k->u] = 2.0 * ((q[0] * r[1] - q[1] * r[0]) + (q[3] * r[2] - q[2] * r[3]));
        u[k->u + 1] = 2.0 * ((q[0] * r[2] - q[2] * r[0]) + (q[1] * r[3] - q[3] * r[1]));
        u[k->u + 2] = 2.0 * ((q[0] * r[3] - q[3] * r[0]) + (q[2] * r[1] - q[1] * r[2]));
    }
}

/* Moves positions by a change in terms of velocity variables; while they are assembled, of general links' screws. */
void fm_move_positions(const fm_instance *s, double *y, const double *change)
{
    for (int32_t i = 0; i < s->image.n.links; i++) {
        const fm_link *k = s->link + i;
        if (k->u < 0) continue;
        if (k->kind == FM_LINK_GENERAL) {
            const fm_general *g = s->general + k->nth;
            double moved[FM_JOINT_MODES];
            if (!s->loop.placing) fm_general_rates(g, change + k->u, moved);
            for (int32_t j = 0; j < g->screws; j++)
                y[k->p + j] += s->loop.placing ? change[fm_screw_variable(&s->image, i, j)] : moved[j];
            continue;
        }
        if (k->kind != FM_LINK_SPHERICAL) {
            for (int32_t j = 0; j < fm_link_positions(&s->image, i); j++) y[k->p + j] += change[k->u + j];
            continue;
        }
        fm_rotate_quaternion(change + k->u, y + k->p);
    }
}

/* The same state at rest. */
void fm_stop(const fm_instance *s, const double *from, double *to)
{
    memcpy(to, from, (size_t)s->model.ny * sizeof *to);
    memset(to + s->image.n.positions, 0, (size_t)s->image.n.speeds * sizeof *to);
}

/* Normalises quaternions, and scales `slope` with them. 0: one is not finite or zero, and is not changed. */
int fm_normalise(const fm_instance *s, double *y, double *slope)
{
    int all = 1;
    for (int32_t i = 0; i < s->model.balls; i++) {
        const int32_t p = s->link[s->ball_link[i]].p;
        double *q = y + p;
        const double square = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]), scale = 1.0 / sqrt(square);
        if (!(square > 1e-20 && square < 1e20)) {
            all = 0;
            continue;
        }
        for (int j = 0; j < 4; j++) q[j] *= scale;
        for (int j = 0; slope != NULL && j < 4; j++) slope[p + j] *= scale;
    }
    return all;
}
