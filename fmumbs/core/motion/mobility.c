/* mobility.c: how much a wrench on a link moves it along itself, at most: as if nothing held the link. */
#include "mobility.h"

#include "../instance/instance.h"
#include "../maths/vectors.h"

#include <math.h>

/* The mobility of a free link, at most, under the squares of a force and of a torque about its centre c:
 * force^2/m + torque^2/(its least inertia about that), the latter at least det/(half the trace)^2. */
static double free_mobility(const fm_rigid *k, const double c[3], double force, double torque)
{
    double J[6];
    const double square = dot(c, c);
    J[0] = k->J[0] - k->m * (square - c[0] * c[0]), J[3] = k->J[3] - k->m * (square - c[1] * c[1]);
    J[5] = k->J[5] - k->m * (square - c[2] * c[2]);
    J[1] = k->J[1] + k->m * c[0] * c[1], J[2] = k->J[2] + k->m * c[0] * c[2], J[4] = k->J[4] + k->m * c[1] * c[2];
    const double minor = J[3] * J[5] - J[4] * J[4], half = 0.5 * ((J[0] + J[3]) + J[5]);
    const double det = (J[0] * minor - J[1] * (J[1] * J[5] - J[4] * J[2])) + J[2] * (J[1] * J[4] - J[3] * J[2]);
    const double least = det / (half * half), sliding = force / k->m;
    return torque > 0.0 ? sliding + torque / (least > 0.0 ? least : 0.0) : sliding;
}

/* An upper bound of what a wrench does to the motion along itself: that of the free link. */
double fm_most_mobile(const fm_instance *s, int32_t link, const fm_constraint *on)
{
    if (link < 0) return 0.0;
    const fm_rigid *k = s->rigid + link;
    const fm_world *w = s->world + link;
    if (!(k->m > 0.0)) return INFINITY;
    double c[3], arm[3], out[3], about[3];
    for (int j = 0; j < 3; j++) c[j] = k->h[j] / k->m;
    rotate_out(w->R, c, out);
    for (int j = 0; j < 3; j++) arm[j] = on->r[j] - (w->r[j] + out[j]);
    cross(arm, on->force, about);
    for (int j = 0; j < 3; j++) about[j] += on->torque[j];
    return free_mobility(k, c, dot(on->force, on->force), dot(about, about));
}

/* The same of a unit force, or torque, whatever its direction, at a point in the link's axes. */
double fm_most_mobile_at(const fm_instance *s, int32_t link, const double r[3], int32_t linear)
{
    if (link < 0) return 0.0;
    const fm_rigid *k = s->rigid + link;
    if (!(k->m > 0.0)) return INFINITY;
    double c[3], arm[3];
    for (int j = 0; j < 3; j++) c[j] = k->h[j] / k->m, arm[j] = r[j] - c[j];
    return linear ? free_mobility(k, c, 1.0, dot(arm, arm)) : free_mobility(k, c, 0.0, 1.0);
}
