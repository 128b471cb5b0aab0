/* roll.c: what resists rolling and drilling at a spot (rolling.c), as a force element. */
#include "../instance/instance.h"
#include "../maths/vectors.h"
#include "contact.h"
#include "elements.h"
#include "point_pair.h"
#include "rolling.h"
#include "wrenches.h"

#include <string.h>

static void links(const fm_image *m, int32_t i, int32_t links[2])
{
    links[0] = m->point_link[m->spot_Q[m->roll_spot[i]]], links[1] = m->point_link[m->spot_P[m->roll_spot[i]]];
}

static void apply(fm_instance *s, int32_t i, const double *load)
{
    const int32_t spot = s->image.roll_spot[i];
    double wrench[6] = {0.0};
    int32_t on[2];
    fm_pressed at;
    (void)load;
    if (fm_spot_is_open(s, spot) || !fm_spot_pressed(s, spot, &at)) return;
    const fm_turned now = fm_turned_at(s, i, &at, s->work.evaluated);
    for (int j = 0; j < 3; j++) wrench[j] = -(now.M[FM_ROLLING][j] + now.M[FM_DRILLING][j]);
    links(&s->image, i, on);
    fm_apply_wrench(s, on[1], at.at, wrench, 1.0);
    fm_apply_wrench(s, on[0], at.at, wrench, -1.0);
}

static double energy(const fm_instance *s, int32_t i)
{
    const double *z = s->y + s->model.bristles + s->image.roll_state[i];
    return 0.5 * s->contact_turning[s->image.spot_contact[s->image.roll_spot[i]]] * dot(z, z);
}

/* With the projector P on what slips, Q on what sticks, in B's axes: A = -K/D P, and the rate follows Q w. */
static int states(const fm_instance *s, int32_t i, const double *y, fm_own_states *own)
{
    const int32_t spot = s->image.roll_spot[i], c = s->image.spot_contact[spot];
    const double K = s->contact_turning[c], D = s->contact_turning_damping[c];
    double R[9], n[3], rate[3] = {0.0}, along[3] = {0.0};
    fm_pressed at;
    own->first = s->model.bristles + s->image.roll_state[i];
    own->u = own->P = -1, own->follows = 1;
    for (int j = 0; j < 3; j++) own->nominal[j] = s->image.roll_nominal[i], own->settled[j] = y[own->first + j];
    if (fm_spot_is_open(s, spot) || !fm_spot_pressed(s, spot, &at)) return 3;
    const fm_turned now = fm_turned_at(s, i, &at, y);
    for (int p = 0; p < FM_PARTS; p++)
        for (int j = 0; j < 3; j++) {
            rate[j] += now.slips[p] ? (now.M[p][j] - K * now.z[p][j]) / D : now.w[p][j];
            along[j] += now.slips[p] ? 0.0 : now.w[p][j];
        }
    fm_spot_axes(s, spot, R);
    rotate_in(R, rate, own->rate);
    rotate_in(R, along, own->along);
    rotate_in(R, at.n, n);
    for (int j = 0; j < 3; j++) {
        own->B[j] = 1.0;
        for (int k = 0; k < 3; k++) {
            const double drilled = n[j] * n[k], rolled = (j == k ? 1.0 : 0.0) - drilled;
            own->A[j][k] = -K / D * ((now.slips[FM_ROLLING] ? rolled : 0.0) + (now.slips[FM_DRILLING] ? drilled : 0.0));
        }
    }
    return 3;
}

/* About n and across it, while that part sticks. */
static int stiffness(const fm_instance *s, int32_t i, const double *y, fm_direction at[FM_DIRECTIONS])
{
    const int32_t spot = s->image.roll_spot[i], c = s->image.spot_contact[spot];
    double side[3][3];
    int count = 0;
    fm_pressed pressed;
    int32_t on[2];
    if (!fm_spot_pressed(s, spot, &pressed)) return 0;
    const fm_turned now = fm_turned_at(s, i, &pressed, y);
    memcpy(side[2], pressed.n, sizeof side[2]);
    fm_find_sides(pressed.n, side);
    links(&s->image, i, on);
    for (int j = 0; j < 3; j++) {
        if (now.slips[j == 2 ? FM_DRILLING : FM_ROLLING]) continue;
        fm_direction *to = at + count++;
        *to =
            fm_direction_at(on, pressed.at, pressed.at, side[j], s->contact_turning[c], s->contact_turning_damping[c]);
        memset(to->on_M.force, 0, sizeof to->on_M.force), memset(to->on_F.force, 0, sizeof to->on_F.force);
        memcpy(to->on_M.torque, side[j], sizeof side[j]), memcpy(to->on_F.torque, side[j], sizeof side[j]);
    }
    return count;
}

const fm_force_element fm_roll_element = {
    .apply = apply,
    .energy = energy,
    .states = states,
    .links = links,
    .stiffness = stiffness,
};
