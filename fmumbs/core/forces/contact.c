/* contact.c: contacts of ellipsoids with planes and roads (road.c), and of spheres with spheres, from outside or
 * inside, at one spot each.
 *
 * n is the normal from B to A, and g the gap between their surfaces along it, negative where they overlap by x = -g. At
 * the middle of the overlap, A moves past B with g' along n and s across it. B presses A away with
 *
 *     N = k x^m (1 - c g'),   never below 0,
 *
 * and rubs it with -F. Bristles of deflection z, held in B, and their limit
 *
 *     T = K z + D s,   L = N (mu + (mu_static - mu) exp(-(|s|/v_S)^2)),
 *     F = T while |T| < L, where they stick: z' = s;     F = L T/|T| beyond, where they slip: z' = (F - K z)/D,
 *
 * so that a contact that sticks is a spring, which does not creep, and one that slips exerts L. What F s gives, z
 * stores, or it is lost: F s - K z z' = D z'^2 + F (s - z'), both parts of which are at least 0 however N changes.
 * Without contact F = 0, and bristles are straight: what they still store is lost as contact ends. z is across n; what
 * turns out of that as n turns in B relaxes, with the time D/K. Without bristles F = L s/sqrt(s^2 + v_0^2), which
 * creeps.
 *
 * What turns A in B at a spot is in rolling.c; the bristles of a tyre, which go on rolling, in tyre.c.
 *
 * Each spot has force laws without force, which say where it changes, so that steps end there (laws.c): contact begins
 * and ends; N becomes 0; |T| passes L. In statics bristles are a spring between a point of A and one of B, those that
 * touched before (fm_spots_trap), so that A may roll.
 */
#include "contact.h"

#include "../image/kinds.h"
#include "../instance/instance.h"
#include "../maths/decay.h"
#include "../maths/rotations.h"
#include "../maths/vectors.h"
#include "../tree/kinematics.h"
#include "elements.h"
#include "laws.h"
#include "point_pair.h"
#include "road.h"
#include "tyre.h"
#include "wrenches.h"

#include <math.h>
#include <string.h>

/* Where two surfaces are next to each other, in world axes; how A turns in B, moves at its centre past B, and its z;
 * and N, 0 where there is no contact: `open`. */
typedef struct nearest {
    double n[3], at[3], gap, rate, slip[3], speed;
    double turn[3], ahead[3], z[3];
    double normal;
    int open;
} nearest;

/* A point in the world, and its axes. */
static fm_place place_of(const fm_instance *s, int32_t point, double R[9])
{
    const int32_t link = s->image.point_link[point];
    const double *own = s->image.point_R + 9 * point;
    fm_place at;
    fm_frame_place(s, link, s->image.point_r + 3 * point, 0, &at);
    if (link < 0) memcpy(R, own, 9 * sizeof *R);
    else product(s->world[link].R, own, R);
    return at;
}

/* The foot of a spot on the road that B is, from B's point, and the normal there, in world axes; away: A's centre from
 * there. */
static void stand_on_road(const fm_image *m, int32_t i, const double away[3], const double R_A[9], const double R_B[9],
                          double foot[3], double n[3])
{
    fm_over_road body;
    double own_foot[3], own_n[3];
    rotate_in(R_B, away, body.c);
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++)
            body.R[3 * j + k] = R_B[j] * R_A[k] + R_B[3 + j] * R_A[3 + k] + R_B[6 + j] * R_A[6 + k];
    memcpy(body.half, m->spot_half + 3 * i, sizeof body.half);
    fm_road_below(m, m->spot_road[i], &body, own_foot, own_n);
    rotate_out(R_B, own_foot, foot);
    rotate_out(R_B, own_n, n);
}

static nearest nearest_of(const fm_instance *s, int32_t i)
{
    const fm_image *m = &s->image;
    double R_A[9], R_B[9], reach[3], away[3], foot[3] = {0.0}, arm[3], add[3], v[3], ball = m->spot_reach[i];
    const fm_place A = place_of(s, m->spot_P[i], R_A), B = place_of(s, m->spot_Q[i], R_B);
    nearest out = {.open = 1};
    for (int j = 0; j < 3; j++) away[j] = A.r[j] - B.r[j], out.n[j] = R_B[3 * j + 2];
    if (!m->spot_plane[i]) {
        const double length = sqrt(dot(away, away)), sign = ball < 0.0 ? -1.0 : 1.0;
        for (int j = 0; j < 3 && length > 0.0; j++) out.n[j] = sign * away[j] / length;
    } else ball = 0.0;
    if (m->spot_road[i] >= 0) stand_on_road(m, i, away, R_A, R_B, foot, out.n);
    fm_reach_against(out.n, m->spot_half + 3 * i, R_A, reach);
    out.gap = -ball;
    for (int j = 0; j < 3; j++) out.gap += (away[j] - foot[j] + reach[j]) * out.n[j];
    for (int j = 0; j < 3; j++) arm[j] = reach[j] - 0.5 * out.gap * out.n[j], out.at[j] = A.r[j] + arm[j];
    cross(A.w, arm, add);
    for (int j = 0; j < 3; j++) v[j] = (A.v[j] + add[j]) - B.v[j], arm[j] += away[j];
    cross(B.w, arm, add);
    for (int j = 0; j < 3; j++) v[j] -= add[j];
    for (int j = 0; j < 3; j++) {
        out.turn[j] = A.w[j] - B.w[j], out.ahead[j] = (A.v[j] - B.v[j]) - add[j], out.z[j] = R_A[3 * j + 2];
    }
    out.rate = dot(v, out.n);
    for (int j = 0; j < 3; j++) out.slip[j] = v[j] - out.rate * out.n[j];
    out.speed = sqrt(dot(out.slip, out.slip));
    return out;
}

/* What a rate of the gap leaves of N. */
static double pressing(const fm_instance *s, int32_t c, double rate)
{
    return 1.0 - s->contact_damping[c] * rate;
}

static double normal_at(const fm_instance *s, int32_t c, double gap, double part)
{
    return s->contact_stiffness[c] * fm_odd_power(-gap, s->contact_exponent[c]) * part;
}

/* With N, as the step began. */
static nearest touch_of(const fm_instance *s, int32_t i)
{
    const int32_t c = s->image.spot_contact[i];
    nearest at = nearest_of(s, i);
    const double part = pressing(s, c, at.rate);
    at.open = !fm_spot_is_in(s, i, FM_SPOT_TOUCHES, at.gap) || fm_spot_is_in(s, i, FM_SPOT_RELEASED, part);
    at.normal = at.open ? 0.0 : normal_at(s, c, at.gap, part);
    return at;
}

static fm_pressed pressed_at(const nearest *at)
{
    fm_pressed out = {.normal = at->normal};
    memcpy(out.at, at->at, sizeof out.at), memcpy(out.n, at->n, sizeof out.n);
    memcpy(out.turn, at->turn, sizeof out.turn);
    return out;
}

/* The most friction at a speed. */
static double limit_of(const fm_instance *s, int32_t c, double normal, double speed)
{
    const double x = speed / s->contact_stribeck[c], kinetic = s->contact_mu[c];
    return normal > 0.0 ? normal * (kinetic + (s->contact_static[c] - kinetic) * fm_decay(x * x)) : 0.0;
}

/* Bristles in world axes: z across n, and what it has along n; |T| and its limit; F. Of a tyre, z and F ahead and
 * aside, and the rate of z. */
typedef struct bristles {
    double z[3], out, size, limit, force[3];
    fm_tread tread;
    double F[2], rate[2];
    int slips;
} bristles;

/* A point of the world in the axes in which bristles are held, from the origin of B's link. */
static void place_in(const fm_instance *s, int32_t i, const double at[3], double out[3])
{
    const int32_t link = s->image.point_link[s->image.spot_Q[i]];
    double R[9], arm[3];
    fm_spot_axes(s, i, R);
    for (int j = 0; j < 3; j++) arm[j] = at[j] - (link < 0 ? 0.0 : s->world[link].r[j]);
    rotate_in(R, arm, out);
}

/* Where in B the point of A is that bristles hold in statics. */
static void held_place(const fm_instance *s, int32_t i, double out[3])
{
    fm_place at;
    fm_frame_place(s, s->image.point_link[s->image.spot_P[i]], s->work.held + 3 * i, 0, &at);
    place_in(s, i, at.r, out);
}

/* Holds the point of A that touches B, or is nearest to it. */
static void hold_point(fm_instance *s, int32_t i, const nearest *at)
{
    const int32_t link = s->image.point_link[s->image.spot_P[i]];
    double arm[3], *held = s->work.held + 3 * i;
    for (int j = 0; j < 3; j++) arm[j] = at->at[j] + 0.5 * fmax(at->gap, 0.0) * at->n[j];
    if (link < 0) {
        memcpy(held, arm, sizeof arm);
        return;
    }
    for (int j = 0; j < 3; j++) arm[j] -= s->world[link].r[j];
    rotate_in(s->world[link].R, arm, held);
}

static const double *stored(const fm_instance *s, int32_t i, const double *y)
{
    return y + s->model.bristles + s->image.spot_state[i];
}

/* What is left of bristles across n; in statics from the points that they hold. Returns what is along n. */
static double deflection(const fm_instance *s, int32_t i, const nearest *at, const double *y, double z[3])
{
    double R[9], own[3];
    fm_spot_axes(s, i, R);
    memcpy(own, stored(s, i, y), sizeof own);
    if (s->work.still == 1) {
        double place[3];
        held_place(s, i, place);
        for (int j = 0; j < 3; j++) own[j] = place[j] - own[j];
    }
    rotate_out(R, own, z);
    const double out = dot(z, at->n);
    for (int j = 0; j < 3; j++) z[j] -= out * at->n[j];
    return out;
}

/* Those of a tyre at y. */
static bristles tread_of(const fm_instance *s, int32_t i, const nearest *at, const double *y)
{
    const int32_t c = s->image.spot_contact[i];
    bristles own = {.out = 0.0};
    double held[3], T[2];
    fm_tread *tread = &own.tread;
    fm_tread_at(s, c, at->n, at->z, at->slip, at->ahead, tread);
    memcpy(own.z, stored(s, i, y), sizeof own.z);
    if (s->work.still == 1) {
        (void)deflection(s, i, at, y, held);
        for (int k = 0; k < 2; k++) own.z[k] = dot(held, tread->side[k]);
    }
    for (int k = 0; k < 2; k++) {
        own.rate[k] = tread->slip[k] - tread->relax[k] * own.z[k];
        T[k] = tread->K[k] * own.z[k] + tread->D[k] * own.rate[k];
    }
    own.size = sqrt(T[0] * T[0] + T[1] * T[1]);
    own.limit = s->contact_mu[c] * at->normal;
    own.slips = at->open || fm_spot_is_in(s, i, FM_SPOT_SLIPS, own.size - own.limit);
    const double part = !own.slips ? 1.0 : own.size > 0.0 ? own.limit / own.size : 0.0;
    for (int k = 0; k < 2; k++) {
        own.F[k] = part * T[k];
        if (own.slips) own.rate[k] = (own.F[k] - tread->K[k] * own.z[k]) / tread->D[k];
    }
    for (int j = 0; j < 3; j++) own.force[j] = own.F[0] * tread->side[0][j] + own.F[1] * tread->side[1][j];
    return own;
}

/* Those at y. */
static bristles bristles_of(const fm_instance *s, int32_t i, const nearest *at, const double *y)
{
    const int32_t c = s->image.spot_contact[i];
    if (s->image.contact_rubs[c] == FM_RUBS_AS_TYRE) return tread_of(s, i, at, y);
    bristles own;
    double T[3];
    own.out = deflection(s, i, at, y, own.z);
    for (int j = 0; j < 3; j++)
        T[j] = s->contact_tangential[c] * own.z[j] + s->contact_tangential_damping[c] * at->slip[j];
    own.size = sqrt(dot(T, T));
    own.limit = limit_of(s, c, at->normal, at->speed);
    own.slips = at->open || fm_spot_is_in(s, i, FM_SPOT_SLIPS, own.size - own.limit);
    const double part = !own.slips ? 1.0 : own.size > 0.0 ? own.limit / own.size : 0.0;
    for (int j = 0; j < 3; j++) own.force[j] = part * T[j];
    return own;
}

/* What rubs A, less its sign. */
static void friction_of(const fm_instance *s, int32_t i, const nearest *at, const double *y, double out[3])
{
    const int32_t c = s->image.spot_contact[i];
    memset(out, 0, 3 * sizeof *out);
    if (at->open || s->image.contact_rubs[c] == FM_RUBS_NOT) return;
    if (s->image.contact_state[c] >= 0) {
        const bristles own = bristles_of(s, i, at, y);
        memcpy(out, own.force, sizeof own.force);
        return;
    }
    const double v = s->contact_creep[c],
                 part = limit_of(s, c, at->normal, at->speed) / sqrt(at->speed * at->speed + v * v);
    for (int j = 0; j < 3; j++) out[j] = part * at->slip[j];
}

/* The gap as a law watches it, with its rate: that of spheres d apart, R where they touch, as (d^2 - R^2)/(2 R), which
 * is a parabola of time where they fly past each other. The gap itself nearly has a cusp there, which looks that are
 * further apart than the spheres are large would miss. */
static void watched_gap(const fm_image *m, int32_t i, const nearest *at, double out[2])
{
    const double R = m->spot_plane[i] ? 0.0 : m->spot_reach[i] + m->spot_half[3 * i];
    out[0] = R == 0.0 ? at->gap : at->gap * (1.0 + 0.5 * at->gap / R);
    out[1] = R == 0.0 ? at->rate : at->rate * (1.0 + at->gap / R);
}

/* What a spot presses. 0: it is open. */
int fm_spot_pressed(const fm_instance *s, int32_t i, fm_pressed *out)
{
    const nearest at = touch_of(s, i);
    if (at.open) return 0;
    *out = pressed_at(&at);
    return 1;
}

/* Whether the bristles of a spot that presses slip, at the present state. */
int fm_spot_slips(const fm_instance *s, int32_t i)
{
    const nearest at = touch_of(s, i);
    return s->image.spot_state[i] >= 0 && bristles_of(s, i, &at, s->y).slips;
}

/* What the position of a law of a spot is a difference of: places; 1 and its part; forces, which may be nothing. */
double fm_spot_unit(const fm_instance *s, int which)
{
    return which == FM_SPOT_TOUCHES ? s->image.length[0] : which == FM_SPOT_RELEASED ? 1.0 : 0.0;
}

/* Position and velocity of the laws of a spot from `first` on, one after the other in `at`, of as many as `laws`: the
 * gap; what presses of N, how far T is beyond its limit, and the same of rolling and drilling, which are asked for
 * after the law of the gap is known, and 1 where that is open. */
void fm_spot_watch(const fm_instance *s, int32_t i, int first, int laws, const double *y, double *at)
{
    const int32_t c = s->image.spot_contact[i];
    const int open = fm_spot_is_open(s, i);
    for (int which = FM_SPOT_TOUCHES + 1; which < laws; which++) at[2 * which] = 1.0, at[2 * which + 1] = 0.0;
    if (first > FM_SPOT_TOUCHES && open) return;
    nearest now = nearest_of(s, i);
    watched_gap(&s->image, i, &now, at + 2 * FM_SPOT_TOUCHES);
    if (open || laws <= FM_SPOT_RELEASED) return;
    const double part = at[2 * FM_SPOT_RELEASED] = pressing(s, c, now.rate);
    if (laws <= FM_SPOT_SLIPS || !(now.gap < 0.0) || !(part > 0.0)) return;
    now.open = 0, now.normal = normal_at(s, c, now.gap, part);
    const bristles own = bristles_of(s, i, &now, y);
    at[2 * FM_SPOT_SLIPS] = own.size - own.limit;
    const fm_pressed pressed = pressed_at(&now);
    if (laws > FM_SPOT_ROLLS) fm_roll_watch(s, s->image.spot_roll[i], &pressed, y, at + 2 * FM_SPOT_ROLLS);
}

/* The gap of a spot, and how far its ellipsoid and what it touches are from the origins of their links, at most: a gap
 * changes by no more than these origins move, and these arms by turning. */
double fm_spot_apart(const fm_instance *s, int32_t i, double arm[2])
{
    const fm_image *m = &s->image;
    const double *half = m->spot_half + 3 * i, *on[2] = {m->point_r + 3 * m->spot_P[i], m->point_r + 3 * m->spot_Q[i]};
    const nearest at = nearest_of(s, i);
    for (int k = 0; k < 2; k++) arm[k] = sqrt(dot(on[k], on[k]));
    if (half[0] != half[1] || half[0] != half[2]) arm[0] += fmax(half[0], fmax(half[1], half[2]));
    if (!m->spot_plane[i]) return at.gap;
    double place[3];
    place_in(s, i, at.at, place); /* turned about B's origin, a plane moves here by the distance from it */
    arm[1] = sqrt(dot(place, place)) + 0.5 * fabs(at.gap);
    return at.gap;
}

/* In place of the bristles in y, at world kinematics: the places in B from which they reach to the points of A that
 * they hold; `back`, at rest: bristles again. */
void fm_spots_trap(fm_instance *s, double *y, int back)
{
    for (int32_t i = 0; i < s->image.n.spots; i++) {
        if (s->image.spot_state[i] < 0) continue;
        const nearest at = touch_of(s, i);
        double *own = y + s->model.bristles + s->image.spot_state[i], R[9], place[3];
        if (back) {
            bristles held = bristles_of(s, i, &at, y);
            if (s->image.contact_rubs[s->image.spot_contact[i]] == FM_RUBS_AS_TYRE) {
                for (int k = 0; k < 2; k++) own[k] = held.F[k] / held.tread.K[k];
                own[2] = 0.0;
                continue;
            }
            for (int j = 0; j < 3; j++) held.force[j] /= s->contact_tangential[s->image.spot_contact[i]];
            fm_spot_axes(s, i, R);
            rotate_in(R, held.force, own);
            continue;
        }
        hold_point(s, i, &at);
        held_place(s, i, place);
        if (s->image.contact_rubs[s->image.spot_contact[i]] == FM_RUBS_AS_TYRE) {
            const bristles held = bristles_of(s, i, &at, y);
            double out[3];
            for (int j = 0; j < 3; j++) out[j] = held.z[0] * held.tread.side[0][j] + held.z[1] * held.tread.side[1][j];
            fm_spot_axes(s, i, R);
            rotate_in(R, out, own);
        }
        for (int j = 0; j < 3; j++) own[j] = place[j] - own[j];
    }
    for (int32_t i = 0; i < s->image.n.rolls; i++) {
        const nearest at = touch_of(s, s->image.roll_spot[i]);
        const fm_pressed pressed = pressed_at(&at);
        fm_roll_trap(s, i, &pressed, y, back);
    }
}

/* Bristles of spots without contact are straight, in y. Returns whether some were not. */
int fm_spots_let_go(const fm_instance *s, double *y)
{
    int bent = 0;
    for (int32_t i = 0; i < s->image.n.spots; i++) {
        if (s->image.spot_state[i] < 0 || !(fm_spot_is_open(s, i) || fm_spot_is_in(s, i, FM_SPOT_RELEASED, 1.0)))
            continue;
        double *own = y + s->model.bristles + s->image.spot_state[i];
        for (int j = 0; j < 3; j++) bent |= own[j] != 0.0, own[j] = 0.0;
        if (s->image.spot_roll[i] < 0) continue;
        own = y + s->model.bristles + s->image.roll_state[s->image.spot_roll[i]];
        for (int j = 0; j < 3; j++) bent |= own[j] != 0.0, own[j] = 0.0;
    }
    return bent;
}

static void apply(fm_instance *s, int32_t i, const double *load)
{
    (void)load;
    if (fm_spot_is_open(s, i)) return;
    const nearest at = touch_of(s, i);
    double wrench[6] = {0.0}, rub[3];
    if (at.open) return;
    friction_of(s, i, &at, s->work.evaluated, rub);
    for (int j = 0; j < 3; j++) wrench[3 + j] = at.normal * at.n[j] - rub[j];
    fm_apply_wrench(s, s->image.point_link[s->image.spot_P[i]], at.at, wrench, 1.0);
    fm_apply_wrench(s, s->image.point_link[s->image.spot_Q[i]], at.at, wrench, -1.0);
}

static double energy(const fm_instance *s, int32_t i)
{
    const int32_t c = s->image.spot_contact[i];
    const nearest at = nearest_of(s, i);
    const double x = at.gap < 0.0 ? -at.gap : 0.0, m = s->contact_exponent[c];
    double sum = s->contact_stiffness[c] * x * fm_odd_power(x, m) / (m + 1.0);
    if (s->image.spot_state[i] < 0) return sum;
    const double *z = stored(s, i, s->y);
    if (s->image.contact_rubs[c] == FM_RUBS_AS_TYRE) return sum + fm_tread_energy(s, c, z);
    return sum + 0.5 * s->contact_tangential[c] * dot(z, z);
}

/* Without contact bristles stay as they are. */
static int rests(const fm_instance *s, int32_t i, double *ydot)
{
    if (s->image.spot_state[i] < 0) return 1;
    if (!fm_spot_is_open(s, i)) return 0;
    for (int j = 0; j < 3; j++) ydot[s->model.bristles + s->image.spot_state[i] + j] = 0.0;
    return 1;
}

static int states(const fm_instance *s, int32_t i, const double *y, fm_own_states *own)
{
    const int32_t c = s->image.spot_contact[i];
    if (s->image.spot_state[i] < 0) return 0;
    const double K = s->contact_tangential[c], D = s->contact_tangential_damping[c], relax = K / D;
    own->first = s->model.bristles + s->image.spot_state[i];
    own->u = own->P = -1, own->follows = 1;
    for (int j = 0; j < 3; j++) own->nominal[j] = s->image.spot_nominal[i];
    if (fm_spot_is_open(s, i)) return 3;
    const nearest at = touch_of(s, i);
    if (at.open) return 3;
    for (int j = 0; j < 3; j++) own->settled[j] = y[own->first + j], own->A[j][j] = -relax;
    const bristles now = bristles_of(s, i, &at, y);
    double R[9], rate[3];
    if (s->image.contact_rubs[c] == FM_RUBS_AS_TYRE) {
        const fm_tread *tread = &now.tread;
        for (int k = 0; k < 2; k++) {
            own->rate[k] = now.rate[k], own->along[k] = tread->slip[k];
            own->A[k][k] = now.slips ? -tread->K[k] / tread->D[k] : -tread->relax[k], own->B[k] = now.slips ? 0.0 : 1.0;
        }
        own->rate[2] = -relax * y[own->first + 2];
        return 3;
    }
    for (int j = 0; j < 3; j++) {
        const double along = now.slips ? (now.force[j] - K * now.z[j]) / D : at.slip[j];
        rate[j] = along - relax * now.out * at.n[j];
    }
    fm_spot_axes(s, i, R);
    rotate_in(R, rate, own->rate);
    if (now.slips) return 3;
    rotate_in(R, at.slip, own->along);
    for (int j = 0; j < 3; j++) own->B[j] = 1.0, own->A[j][j] = 0.0;
    return 3;
}

static void links(const fm_image *m, int32_t i, int32_t links[2])
{
    links[0] = m->point_link[m->spot_Q[i]], links[1] = m->point_link[m->spot_P[i]];
}

/* Along n, and across it while it sticks; friction that creeps is a damping against its present motion. */
static int stiffness(const fm_instance *s, int32_t i, const double *y, fm_direction at[FM_DIRECTIONS])
{
    const int32_t c = s->image.spot_contact[i], rubs = s->image.contact_rubs[c];
    const nearest now = touch_of(s, i);
    const double x = -now.gap, m = s->contact_exponent[c], creep = s->contact_creep[c];
    const double press = s->contact_damping[c] * s->contact_stiffness[c] * fm_odd_power(x, m);
    double side[2][3], k = 0.0, d = 0.0;
    int32_t links_of[2];
    if (now.open || !(x > 0.0)) return 0;
    links(&s->image, i, links_of);
    at[0] = fm_direction_at(links_of, now.at, now.at, now.n, m * now.normal / x, press);
    if (rubs == FM_RUBS_AS_TYRE) {
        const bristles own = bristles_of(s, i, &now, y);
        const fm_tread *tread = &own.tread;
        for (int j = 0; j < 2 && !own.slips; j++)
            at[1 + j] = fm_direction_at(links_of, now.at, now.at, tread->side[j], tread->K[j], tread->D[j]);
        return own.slips ? 1 : 3;
    }
    if (rubs == FM_RUBS_BY_BRISTLES && !bristles_of(s, i, &now, y).slips)
        k = s->contact_tangential[c], d = s->contact_tangential_damping[c];
    if (rubs == FM_RUBS_SMOOTHLY) d = now.normal * s->contact_mu[c] / sqrt(now.speed * now.speed + creep * creep);
    if (!(d > 0.0)) return 1;
    fm_find_sides(now.n, side);
    for (int j = 0; j < 2; j++) at[1 + j] = fm_direction_at(links_of, now.at, now.at, side[j], k, d);
    return 3;
}

const fm_force_element fm_spot_element = {
    .apply = apply,
    .energy = energy,
    .states = states,
    .rests = rests,
    .links = links,
    .stiffness = stiffness,
};

/* The contacts themselves, whose spots act ------------------------------------------------------------------------- */

/* The state of a spot: 0 open, 1 sticks, or has no friction, 2 slips. */
static double state_of(const fm_instance *s, int32_t i, const nearest *at)
{
    const int32_t rubs = s->image.contact_rubs[s->image.spot_contact[i]];
    if (at->open) return 0.0;
    if (s->image.spot_state[i] >= 0) return bristles_of(s, i, at, s->y).slips ? 2.0 : 1.0;
    return rubs == FM_RUBS_NOT ? 1.0 : 2.0;
}

/* The size of the moment against rolling or drilling at a spot. */
static double moment_of(const fm_instance *s, int32_t i, const nearest *at, int which)
{
    const fm_pressed pressed = pressed_at(at);
    const fm_turned now = fm_turned_at(s, s->image.spot_roll[i], &pressed, s->y);
    return sqrt(dot(now.M[which], now.M[which]));
}

/* The force on A in world axes. */
static double force_on(const fm_instance *s, int32_t c, int part)
{
    double sum = 0.0, rub[3];
    for (int32_t i = s->image.contact_spot[c]; i < s->image.contact_spot[c] + s->image.contact_spots[c]; i++) {
        const nearest at = touch_of(s, i);
        friction_of(s, i, &at, s->y, rub);
        sum += at.normal * at.n[part] - rub[part];
    }
    return sum;
}

static double value(const fm_instance *s, int32_t kind, int32_t c, int32_t part)
{
    const int32_t component = part < 0 ? 0 : part;
    if (kind == FM_CT_FORCE) return force_on(s, c, component);
    const int32_t i = s->image.contact_spot[c] + (kind == FM_CT_POINT   ? component / 3
                                                  : kind == FM_CT_TREAD ? 0
                                                                        : component);
    const nearest at = touch_of(s, i);
    double rub[3];
    switch (kind) {
    case FM_CT_GAP: return at.gap;
    case FM_CT_POINT: return at.at[component % 3];
    case FM_CT_NORMAL: return at.normal;
    case FM_CT_SLIP: return at.speed;
    case FM_CT_STATE: return state_of(s, i, &at);
    case FM_CT_TREAD: return at.open ? 0.0 : -bristles_of(s, s->image.contact_spot[c], &at, s->y).F[component];
    case FM_CT_ROLLING_MOMENT: return moment_of(s, i, &at, FM_ROLLING);
    case FM_CT_DRILLING_MOMENT: return moment_of(s, i, &at, FM_DRILLING);
    default: friction_of(s, i, &at, s->y, rub); return sqrt(dot(rub, rub));
    }
}

const fm_force_element fm_contact_element = {.value = value};
