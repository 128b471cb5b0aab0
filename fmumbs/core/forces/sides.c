/* sides.c: the sides of ropes, from one pulley or end to the next: their lengths, and when they are taut.
 *
 * A side runs through points without friction. At a pulley of radius r, in the frame of its point on what carries it (z
 * along the axis, x towards where the side touches it at the start), the next point N = (x, y, h) is joined by a
 * tangent. With t = sqrt(x^2 + y^2 - r^2), the tangent touches at n = (r (x, y) - turn t (-y, x))/(x^2 + y^2), a unit
 * vector at the angle alpha, and leaves along e = turn (-n_y, n_x); the span, out of the pulley's plane by h, and what
 * it has laid on the pulley since the start have the length
 *
 *   l = sqrt(t^2 + h^2) + r turn alpha,     dl/dN = t/s e - r/t (1 - t/s) n + h/s z,     s = sqrt(t^2 + h^2).
 *
 * Alpha is continuous: of all angles that are whole turns apart it is the one nearest to that at the last accepted
 * positions, via_angle, which is part of the state. In one step it changes by less than half a turn.
 *
 * The rope does not slip on the pulley: at its angle q a side has the unstretched length
 *
 *   L = share length + sum of turn r (q - q_start)  (+ what a winch has paid out, at the rope's last end).
 *
 * With x = l - L a side is taut where x >= 0 and x + damping/EA x' >= 0. Both are one margin, the least of them, on
 * which a force law without force stands for the side, so that integration stops where it becomes slack or taut. Of a
 * side that a winch pays out it is the second alone: the winch's speed is not in x', and would have the side at rest
 * between both.
 */
#include "sides.h"

#include "../maths/rotations.h"
#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "laws.h"

#include <math.h>
#include <string.h>

#define FM_LEAST_LEFT 1e-3 /* of a rope's length: a side with less has run out */
#define FM_LEAST_ARC 1e-9 /* [rad]: round-off of where a rope touches a pulley, from up to 1e6 radii away */
#define FM_MIDDLE_ARC (3.14159265358979323846 - FM_LEAST_ARC) /* between no arc and a whole turn */
#define FM_FARTHEST_TURN 1.6 /* [rad] about a pulley in one step: half of that which would count the other way */

/* Length and slope of a span from a pulley of radius r to N in its frame; alpha: near which its angle is, and that
 * angle. Not finite where N is inside the pulley. */
double fm_span_to(const double N[3], double r, double turn, double *alpha, double slope[3])
{
    const double x = N[0], y = N[1], h = N[2], square = x * x + y * y, t = sqrt(square - r * r);
    const double n[2] = {(r * x + turn * t * y) / square, (r * y - turn * t * x) / square};
    const double span = sqrt(t * t + h * h), along = t / span, lost = (r / t) * (h * h / (span * (span + t)));
    slope[0] = -along * turn * n[1] - lost * n[0];
    slope[1] = along * turn * n[0] - lost * n[1];
    slope[2] = h / span;
    *alpha = fm_with_turns(fm_atan2(n[1], n[0]), *alpha);
    return span + r * turn * *alpha;
}

/* The axes of a point in the world. */
static void axes_of(const fm_instance *s, int32_t point, double R[9])
{
    const int32_t link = s->image.point_link[point];
    if (link < 0) memcpy(R, s->image.point_R + 9 * point, 9 * sizeof *R);
    else product(s->world[link].R, s->image.point_R + 9 * point, R);
}

/* Length and slope of the span `at` with the arm from its base to its end, and its angle on the pulley. */
static double lay(const fm_instance *s, fm_span *at, int32_t on, const double arm[3])
{
    double R[9], N[3], in[3];
    const int32_t pulley = on < 0 ? -1 : s->image.via_pulley[on];
    if (pulley < 0) {
        const double length = sqrt(dot(arm, arm));
        for (int j = 0; j < 3; j++) at->slope[j] = length > 0.0 ? arm[j] / length : 0.0;
        return length;
    }
    axes_of(s, at->base, R);
    rotate_in(R, arm, N);
    at->angle = s->via_angle[on];
    const double length = fm_span_to(N, s->pulley_radius[pulley], s->image.via_turn[on], &at->angle, in);
    rotate_out(R, in, at->slope);
    return length;
}

/* A torque about the axis of the pulley at `via`, in world axes. */
void fm_pulley_torque(const fm_instance *s, int32_t via, double torque, double out[3])
{
    double R[9];
    axes_of(s, s->image.via_point[via], R);
    for (int j = 0; j < 3; j++) out[j] = torque * R[3 * j + 2];
}

/* Span k of a side, from 0 on. Requires world kinematics. */
void fm_span_at(const fm_instance *s, int32_t side, int32_t k, fm_span *out)
{
    static const double still[3] = {0.0, 0.0, 0.0};
    const fm_image *m = &s->image;
    const int32_t from = m->side_via[side] + k, to = from + 1, back = m->via_pulley[to] >= 0;
    double base[3], end[3], v_base[3], v_end[3], arm[3], turned[3];
    out->base = m->via_point[back ? to : from], out->end = m->via_point[back ? from : to];
    fm_point_place(s, out->base, base, v_base);
    fm_point_place(s, out->end, end, v_end);
    for (int j = 0; j < 3; j++) arm[j] = end[j] - base[j];
    out->length = lay(s, out, back ? to : from, arm);
    const int32_t link = m->point_link[out->base];
    cross(link < 0 ? still : s->world[link].w, arm, turned);
    for (int j = 0; j < 3; j++) v_end[j] -= v_base[j] + turned[j];
    out->rate = dot(out->slope, v_end);
}

/* The control that is the length of a side's rope, where a winch pays it out on this side; -1: none. */
int32_t fm_winch_of(const fm_image *m, int32_t side)
{
    const int32_t rope = m->side_rope[side];
    return side == m->rope_side[rope] + m->rope_sides[rope] - 1 ? m->rope_winch[rope] : -1;
}

/* What seeds of the controls add to the unstretched length of a side. */
double fm_side_seed(const fm_instance *s, int32_t side, const double *control)
{
    const int32_t winch = fm_winch_of(&s->image, side);
    return winch >= 0 ? control[winch] : 0.0;
}

/* The unstretched length of a side at y, and its rate. Requires work.control. */
static void own_length(const fm_instance *s, int32_t side, const double *y, fm_side *at)
{
    const fm_image *m = &s->image;
    const int32_t rope = m->side_rope[side], winch = fm_winch_of(m, side), first = m->side_via[side];
    at->own = m->side_share[side] * s->rope_length[rope];
    if (winch >= 0) at->own += s->work.control[winch] - s->rope_length[rope];
    for (int32_t end = 0; end < 2; end++) {
        const int32_t via = end == 0 ? first : first + m->side_vias[side] - 1, pulley = m->via_pulley[via];
        if (pulley < 0) continue;
        const double arm = m->via_turn[via] * s->pulley_radius[pulley];
        at->own += arm * (y[m->pulley_p[pulley]] - m->pulley_angle[pulley]);
        at->own_rate += arm * y[m->n.positions + m->pulley_u[pulley]];
    }
}

/* Follows the angles of ropes on pulleys to y. Returns the first rope with one that moved too far for its turns to be
 * counted; -1: none. Overwrites world kinematics. */
int32_t fm_ropes_follow(fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    int32_t lost = -1;
    if (m->n.pulleys == 0) return -1;
    fm_run_orientations(s, y);
    fm_make_world(s, y);
    for (int32_t side = 0; side < m->n.sides; side++)
        for (int32_t k = 0; k < m->side_vias[side] - 1; k++) {
            const int32_t from = m->side_via[side] + k, via = m->via_pulley[from + 1] >= 0 ? from + 1 : from;
            fm_span span;
            if (m->via_pulley[via] < 0) continue;
            fm_span_at(s, side, k, &span);
            if (lost < 0 && fabs(span.angle - s->via_angle[via]) > FM_FARTHEST_TURN) lost = m->side_rope[side];
            if (isfinite(span.angle)) s->via_angle[via] = span.angle;
        }
    return lost;
}

/* The angle that a rope lies on the pulley between a side and the next one, less than a turn at the start. */
static double arc_after(const fm_instance *s, int32_t side)
{
    const fm_image *m = &s->image;
    const int32_t one = m->side_via[side] + m->side_vias[side] - 1, other = m->side_via[side + 1];
    const double *A = m->point_R + 9 * m->via_point[one], *B = m->point_R + 9 * m->via_point[other];
    double along = 0.0, across = 0.0; /* of the directions at which it touched at the start */
    for (int j = 0; j < 3; j++) along += A[3 * j] * B[3 * j], across += A[3 * j + 1] * B[3 * j];
    const double start = fm_with_turns(m->via_turn[other] * fm_atan2(across, along), FM_MIDDLE_ARC);
    return start + (m->via_turn[one] * s->via_angle[one] + m->via_turn[other] * s->via_angle[other]);
}

/* The names of the rope and of the joint of a pulley, for messages. */
const char *fm_pulley_rope(const fm_image *m, int32_t pulley)
{
    int32_t rope = 0;
    while (pulley >= m->rope_pulley[rope] + m->rope_pulleys[rope]) rope++;
    return m->text + m->rope_name[rope];
}

const char *fm_pulley_joint(const fm_image *m, int32_t pulley)
{
    return m->text + m->joint_name[fm_joint_of_mode(m, m->pulley_u[pulley])];
}

/* The first pulley that a rope leaves where a side beside it is taut, at y where fm_ropes_follow was; -1: none.
 * Requires work.control. */
int32_t fm_rope_lifts(const fm_instance *s, const double *y)
{
    const fm_image *m = &s->image;
    for (int32_t side = 0; m->n.pulleys > 0 && side + 1 < m->n.sides; side++) {
        if (m->side_rope[side] != m->side_rope[side + 1] || !(arc_after(s, side) < -FM_LEAST_ARC)) continue;
        if (fm_side_is_taut(s, side, y) || fm_side_is_taut(s, side + 1, y)) return m->via_pulley[m->side_via[side + 1]];
    }
    return -1;
}

/* The first rope of which a side has no length left at y; -1: none. Requires work.control. */
int32_t fm_rope_run_out(const fm_instance *s, const double *y)
{
    for (int32_t i = 0; i < s->image.n.sides; i++) {
        fm_side at = {0.0, 0.0, 0.0, 0.0};
        own_length(s, i, y, &at);
        if (!(at.own > FM_LEAST_LEFT * s->rope_length[s->image.side_rope[i]])) return s->image.side_rope[i];
    }
    return -1;
}

/* A side at y, whose unstretched length is not finite where none is left. Requires world kinematics of y, and
 * work.control. */
fm_side fm_side_at(const fm_instance *s, int32_t side, const double *y)
{
    fm_side at = {0.0, 0.0, 0.0, 0.0};
    fm_span span;
    for (int32_t k = 0; k < s->image.side_vias[side] - 1; k++) {
        fm_span_at(s, side, k, &span);
        at.length += span.length, at.rate += span.rate;
    }
    own_length(s, side, y, &at);
    if (!(at.own > 0.0)) at.own = NAN;
    return at;
}

/* The margin by which a side is taut [m], and the rate of its stretch. Requires as fm_side_at. */
double fm_side_margin(const fm_instance *s, int32_t side, const double *y, double *rate)
{
    const int32_t rope = s->image.side_rope[side];
    const fm_side at = fm_side_at(s, side, y);
    const double stretch = at.length - at.own;
    *rate = at.rate - at.own_rate;
    const double pulled = stretch + s->rope_damping[rope] / s->rope_stiffness[rope] * *rate;
    return pulled < stretch || fm_winch_of(&s->image, side) >= 0 ? pulled : stretch;
}

/* Whether a side is taut, in the mode that is in use if one is. Requires as fm_side_at. */
int fm_side_is_taut(const fm_instance *s, int32_t side, const double *y)
{
    const int32_t law = s->image.side_law[side];
    int32_t piece;
    double rate;
    if (fm_law_slides(s, law, &piece)) return piece != s->image.law_first[law];
    return fm_side_margin(s, side, y, &rate) >= 0.0;
}

/* The tension of a side that is taut [N]. */
double fm_side_tension(const fm_instance *s, int32_t side, const fm_side *at)
{
    const int32_t rope = s->image.side_rope[side];
    const double stretch = at->length - at->own, rate = at->rate - at->own_rate;
    return (s->rope_stiffness[rope] * stretch + s->rope_damping[rope] * rate) / at->own;
}

/* What a pulley takes from a side that is taut beside its tension, as the side becomes stiffer with less rope: the
 * energy EA x^2/(2 L) has the slope -(T + EA x^2/(2 L^2)) by L [N]. */
double fm_side_winding(const fm_instance *s, int32_t side, const fm_side *at)
{
    const double strain = (at->length - at->own) / at->own;
    return 0.5 * s->rope_stiffness[s->image.side_rope[side]] * strain * strain;
}

/* The derivative of the tension along seeds of the controls, at the present state. */
double fm_side_tension_seed(const fm_instance *s, int32_t side, const double *control)
{
    const int32_t rope = s->image.side_rope[side];
    const double more = fm_side_seed(s, side, control);
    if (more == 0.0 || !fm_side_is_taut(s, side, s->y)) return 0.0;
    const fm_side at = fm_side_at(s, side, s->y);
    const double rate = at.rate - at.own_rate;
    return -more * (s->rope_stiffness[rope] * at.length + s->rope_damping[rope] * rate) / (at.own * at.own);
}
