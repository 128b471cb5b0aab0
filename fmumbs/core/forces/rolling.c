/* rolling.c: what resists rolling and drilling at a spot of a contact.
 *
 * A turns in B with w. Bristles have turned by z, a vector held in B, of stiffness K and damping D. T = K z + D w has a
 * part across the normal n, against rolling, and one along n, against drilling, each with its own limit, an arm times
 * N:
 *
 *     M = T, z' = w while |T| < L, where it sticks;   M = L T/|T|, z' = (M - K z)/D beyond,
 *
 * part by part, and -M acts on A. What M w gives, z stores, or it is lost: M w - K z z' = D z'^2 + M (w - z'), both
 * parts of which are at least 0, whatever N and n do, as K and D are the same for both parts. Without contact z = 0.
 */
#include "rolling.h"

#include "../instance/instance.h"
#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "spots.h"

#include <math.h>
#include <string.h>

/* How A is turned in B, as a unit quaternion. */
static void attitude(const fm_instance *s, int32_t i, double q[4])
{
    const int32_t A = s->image.point_link[s->image.spot_P[s->image.roll_spot[i]]];
    double R_A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, R_B[9], R[9];
    if (A >= 0) memcpy(R_A, s->world[A].R, sizeof R_A);
    fm_spot_axes(s, s->image.roll_spot[i], R_B);
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) R[3 * j + k] = R_B[j] * R_A[k] + R_B[3 + j] * R_A[3 + k] + R_B[6 + j] * R_A[6 + k];
    fm_quaternion_of(R, q);
}

/* The rotation vector of q turned back by that of v: log(q exp(-v)). */
static void turned_back(const double q[4], const double v[3], double out[3])
{
    const double back[3] = {-v[0], -v[1], -v[2]};
    double rest[4] = {q[0], q[1], q[2], q[3]};
    fm_rotate_quaternion(back, rest);
    fm_rotation_vector(rest, out);
}

/* How far bristles have turned, in world axes; in statics they hold an attitude of A. */
static void deflection(const fm_instance *s, int32_t i, const double *y, double z[3])
{
    const double *own = y + s->model.bristles + s->image.roll_state[i];
    double R[9], q[4], now[3];
    memcpy(now, own, sizeof now);
    if (s->work.still == 1) {
        attitude(s, i, q);
        turned_back(q, own, now);
    }
    fm_spot_axes(s, s->image.roll_spot[i], R);
    rotate_out(R, now, z);
}

/* The part of v along n, and that across it. */
static void split(const double n[3], const double v[3], double out[FM_PARTS][3])
{
    const double along = dot(v, n);
    for (int j = 0; j < 3; j++) out[FM_DRILLING][j] = along * n[j], out[FM_ROLLING][j] = v[j] - out[FM_DRILLING][j];
}

/* Bristles and moments at y. */
fm_turned fm_turned_at(const fm_instance *s, int32_t i, const fm_pressed *at, const double *y)
{
    const int32_t spot = s->image.roll_spot[i], c = s->image.spot_contact[spot];
    const double K = s->contact_turning[c], D = s->contact_turning_damping[c];
    const double arm[FM_PARTS] = {s->contact_rolling[c], s->contact_drilling[c]};
    double z[3];
    fm_turned out;
    deflection(s, i, y, z);
    split(at->n, at->turn, out.w);
    split(at->n, z, out.z);
    for (int p = 0; p < FM_PARTS; p++) {
        double T[3];
        for (int j = 0; j < 3; j++) T[j] = K * out.z[p][j] + D * out.w[p][j];
        const double size = sqrt(dot(T, T)), limit = arm[p] * at->normal;
        out.beyond[p] = size - limit;
        out.slips[p] = fm_spot_is_in(s, spot, FM_SPOT_ROLLS + p, out.beyond[p]);
        const double part = !out.slips[p] ? 1.0 : size > 0.0 ? limit / size : 0.0;
        for (int j = 0; j < 3; j++) out.M[p][j] = part * T[j];
    }
    return out;
}

/* Position and velocity of the laws of rolling and of drilling. */
void fm_roll_watch(const fm_instance *s, int32_t i, const fm_pressed *at, const double *y, double *out)
{
    const fm_turned now = fm_turned_at(s, i, at, y);
    for (int p = 0; p < FM_PARTS; p++) out[2 * p] = now.beyond[p];
}

/* As fm_spots_trap: the attitude of A that bristles hold, or `back` these. */
void fm_roll_trap(const fm_instance *s, int32_t i, const fm_pressed *at, double *y, int back)
{
    double *own = y + s->model.bristles + s->image.roll_state[i], q[4], R[9], M[3];
    if (!back) {
        const double bent[3] = {-own[0], -own[1], -own[2]};
        double straight[4] = {1.0, 0.0, 0.0, 0.0}, now[4];
        attitude(s, i, now);
        fm_rotate_quaternion(bent, straight);
        fm_multiply_quaternions(straight, now, q);
        fm_rotation_vector(q, own);
        return;
    }
    const fm_turned held = fm_turned_at(s, i, at, y);
    const double K = s->contact_turning[s->image.spot_contact[s->image.roll_spot[i]]];
    for (int j = 0; j < 3; j++) M[j] = (held.M[FM_ROLLING][j] + held.M[FM_DRILLING][j]) / K;
    fm_spot_axes(s, s->image.roll_spot[i], R);
    rotate_in(R, M, own);
}
