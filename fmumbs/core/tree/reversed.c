/* reversed.c: joints that are traversed from M to F, with F on the child's body and M on the parent's.
 *
 * Their links run from M to F, the last mode first, each about or along its opposite axis: the variables of rotations
 * and translations are unchanged. A ball's are in M's axes, which are fixed in the parent: with R = R_FM,
 *     quaternion of the link = the conjugate,   its spin = -R w,   torque on it = -R tau,   w' = -R' alpha.
 * The state and the inputs are the joint's; the kernels work with the link's.
 */
#include "reversed.h"

#include "../maths/vectors.h"
#include "../instance/instance.h"

#include <string.h>

void fm_reversed_structure(fm_instance *s)
{
    const fm_image *m = &s->image;
    s->model.reversed = 0;
    for (int32_t i = 0; i < s->model.balls; i++)
        if (m->joint_reversed[m->link_joint[s->ball_link[i]]]) s->reversed_ball[s->model.reversed++] = i;
}

/* Converts a vector of a reversed ball from M's axes to the link's, and back; T rotates from the parent's axes. */
static void to_link(const fm_instance *s, int32_t i, const double *v, double *out)
{
    const fm_ball *b = s->ball + s->reversed_ball[i];
    double x[3];
    rotate_out(s->axes[s->ball_link[s->reversed_ball[i]]].R0, v, x);
    for (int j = 0; j < 3; j++) out[j] = -dot(b->T[j], x);
}

static void from_link(const fm_instance *s, int32_t i, double *v)
{
    const fm_ball *b = s->ball + s->reversed_ball[i];
    double x[3];
    for (int j = 0; j < 3; j++) x[j] = -((b->T[0][j] * v[0] + b->T[1][j] * v[1]) + b->T[2][j] * v[2]);
    rotate_in(s->axes[s->ball_link[s->reversed_ball[i]]].R0, x, v);
}

static const fm_link *link_of(const fm_instance *s, int32_t i)
{
    return s->link + s->ball_link[s->reversed_ball[i]];
}

/* The spins of y in s->linked. */
static void link_speeds(fm_instance *s, const double *y)
{
    for (int32_t i = 0; i < s->model.reversed; i++) {
        const int32_t u = s->image.n.positions + link_of(s, i)->u;
        to_link(s, i, y + u, s->linked + u);
    }
}

/* Cosines, sines and rotations of every link at y, and y in terms of the links. */
void fm_run_orientations(fm_instance *s, const double *y)
{
    if (s->model.reversed == 0) {
        s->kernels->orient(s, y);
        return;
    }
    double *at = s->linked;
    memcpy(at, y, (size_t)s->model.ny * sizeof *at);
    for (int32_t i = 0; i < s->model.reversed; i++)
        for (int j = 1; j < 4; j++) at[link_of(s, i)->p + j] = -y[link_of(s, i)->p + j];
    s->kernels->orient(s, at);
    link_speeds(s, y);
}

/* The velocities of y in terms of the links, after fm_run_orientations for the same positions. */
void fm_run_speeds(fm_instance *s, const double *y)
{
    const int32_t np = s->image.n.positions;
    if (s->model.reversed == 0) return;
    memcpy(s->linked + np, y + np, (size_t)s->image.n.speeds * sizeof *y);
    link_speeds(s, y);
}

/* The y of the last fm_run_orientations or fm_run_speeds, in terms of the links. */
const double *fm_linked(const fm_instance *s, const double *y)
{
    return s->model.reversed > 0 ? s->linked : y;
}

/* Converts a row of velocity variables from the links to the joints: accelerations, forces, or a row of a Jacobian. */
void fm_from_links(const fm_instance *s, double *udot)
{
    for (int32_t i = 0; i < s->model.reversed; i++) from_link(s, i, udot + link_of(s, i)->u);
}

/* Forces on the velocity variables, in terms of the links. */
const double *fm_linked_forces(fm_instance *s, const double *tau)
{
    if (s->model.reversed == 0) return tau;
    memcpy(s->linked_tau, tau, (size_t)s->image.n.speeds * sizeof *tau);
    for (int32_t i = 0; i < s->model.reversed; i++)
        to_link(s, i, tau + link_of(s, i)->u, s->linked_tau + link_of(s, i)->u);
    return s->linked_tau;
}

/* All sweeps, after fm_run_orientations for the same y. */
void fm_run_sweeps(fm_instance *s, const double *y, const double *tau, double *udot)
{
    s->kernels->accelerate(s, fm_linked(s, y), fm_linked_forces(s, tau), udot);
    fm_from_links(s, udot);
}

/* The outward sweep alone, after a change of the force-dependent terms. */
void fm_run_outward(fm_instance *s, double *udot)
{
    s->kernels->outward(s, udot);
    fm_from_links(s, udot);
}
