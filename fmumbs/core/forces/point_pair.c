/* point_pair.c: forces along the line between two points P and Q.
 *
 * With l the distance and e the direction from P to Q, a pull f puts f e on P and -f e on Q. Small motions v of Q
 * relative to P change it by (k e e' + f/l (1 - e e')) v, where k = df/dl: it resists along the line with k, and across
 * it with f/l.
 */
#include "point_pair.h"

#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "wrenches.h"

#include <math.h>
#include <string.h>

#define FM_ALONGSIDE 0.01 /* f/l over k: below it, a force does not resist across its line */

/* Applies a pull along the line to both links. */
void fm_pull_together(fm_instance *s, int32_t P, int32_t Q, const double direction[3], double force)
{
    double pull[3], back[3];
    for (int j = 0; j < 3; j++) pull[j] = force * direction[j], back[j] = -pull[j];
    fm_apply_at_point(s, P, pull, NULL);
    fm_apply_at_point(s, Q, back, NULL);
}

/* Two directions that are perpendicular to a unit vector, and to one another. */
void fm_find_sides(const double line[3], double side[2][3])
{
    fm_across(line, side[0]);
    const double size = sqrt(dot(side[0], side[0]));
    for (int j = 0; j < 3; j++) side[0][j] /= size;
    cross(line, side[0], side[1]);
}

/* The direction along a unit vector between links F and M, at r_F and r_M, with stiffness k and damping d. */
fm_direction fm_direction_at(const int32_t links[2], const double r_F[3], const double r_M[3], const double along[3],
                             double k, double d)
{
    fm_direction at;
    memset(&at, 0, sizeof at);
    at.F = links[0], at.M = links[1], at.k = k, at.d = d;
    memcpy(at.on_F.r, r_F, sizeof at.on_F.r);
    memcpy(at.on_M.r, r_M, sizeof at.on_M.r);
    memcpy(at.on_F.force, along, sizeof at.on_F.force);
    memcpy(at.on_M.force, along, sizeof at.on_M.force);
    return at;
}

/* The directions in which a pull along the line, a unit vector, resists: with stiffness k and damping d, and `across`
 * in the two others. Returns how many there are. */
int fm_pair_directions(const fm_instance *s, int32_t P, int32_t Q, const double line[3], double k, double d,
                       double across, fm_direction at[FM_DIRECTIONS])
{
    const int32_t links[2] = {s->image.point_link[P], s->image.point_link[Q]};
    const int directions = across > FM_ALONGSIDE * k ? 3 : 1;
    double side[3][3], r_M[3], r_F[3], v[3];
    if (links[0] == links[1]) return 0;
    fm_point_place(s, Q, r_M, v);
    fm_point_place(s, P, r_F, v);
    memcpy(side[0], line, sizeof side[0]);
    if (directions > 1) fm_find_sides(line, side + 1);
    for (int j = 0; j < directions; j++)
        at[j] = fm_direction_at(links, r_F, r_M, side[j], j == 0 ? k : across, j == 0 ? d : 0.0);
    return directions;
}
