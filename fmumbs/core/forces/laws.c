/* laws.c: piecewise force laws.
 *
 * In each piece the force is a polynomial of position x and velocity v, f = sum c_ij (x - origin)^i v^j. During an
 * integration step every law stays in the mode in which the step began, so that the integrand is smooth. If a law
 * leaves its mode within a step, even if it returns before the end, the error-controlled integrator locates that moment
 * on its dense output and ends the step there (switches.c). The fixed-step
 * scheme completes its step and loses its order there. Then modes are chosen again (law_modes.c). A mode is a piece
 * (sliding), or a bound of velocity between two pieces at which the law sticks. It is stored as two numbers: the piece
 * and FM_SLIDING, or the pieces above and below the bound. -1 stands for no piece.
 *
 * A stop with a restitution has a piece for each end, its wall: the positions beyond and the velocities that go
 * further, where it never is. It sticks at rest while it is closed, and is in no piece while it is open
 * (motion/impacts.c).
 */
#include "laws.h"

#include "../image/kinds.h"
#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "../tree/rate.h"
#include "../tree/reversed.h"
#include "circuit.h"
#include "contact.h"
#include "sides.h"

#include <math.h>
#include <string.h>

#define FM_AT 1e-12     /* of the mechanism's velocities: a velocity that is so near a law's bound is at it */

/* Pieces are those of the instance from here on, if parameters of gears or motors make some of them. */
void fm_laws_own(fm_instance *s)
{
    const int32_t pieces = s->image.n.law_pieces;
    if (s->image.n.gears == 0 && s->image.n.motors == 0) return;
    memcpy(s->laws.own_range, s->image.law_range, 5 * (size_t)pieces * sizeof(double));
    memcpy(s->laws.own_polynomial, s->image.law_polynomial, FM_LAW_TERMS * (size_t)pieces * sizeof(double));
    s->image.law_range = s->laws.own_range, s->image.law_polynomial = s->laws.own_polynomial;
}

/* Every law is looked at from here on. */
void fm_watch_all_laws(fm_instance *s)
{
    s->laws.watched = s->laws.all, s->laws.watching = s->image.n.laws;
}

/* The position of a cylinder's law: its valve's opening, or by how much a chamber's pressure is above that of vapour.
 */
static double cylinder_watch(const fm_instance *s, int32_t law, const double *y)
{
    const fm_image *m = &s->image;
    const int32_t i = m->law_cylinder[law], chamber = law - m->cylinder_vapour_law[i];
    if (law == m->cylinder_law[i]) return s->work.control[m->cylinder_opening[i]];
    return y[s->model.bristles + m->cylinder_state[i] + chamber] - s->cylinder_vapour[i];
}

/* Position and velocity that a law depends on; for a spring or a rope, world kinematics must be those of y, and of a
 * valve and a motor work.control its inputs. */
void fm_law_at(const fm_instance *s, int32_t law, const double *y, double *x, double *v)
{
    const fm_image *m = &s->image;
    double direction[3];
    if (m->law_side[law] >= 0) {
        *x = fm_side_margin(s, m->law_side[law], y, v);
        return;
    }
    if (m->law_cylinder[law] >= 0) {
        *x = cylinder_watch(s, law, y);
        *v = 0.0;
        return;
    }
    if (m->law_motor[law] >= 0) {
        fm_motor_watch(s, law, y, x, v);
        return;
    }
    if (m->law_spot[law] >= 0) {
        const int32_t i = m->law_spot[law], which = law - m->spot_law[i];
        double at[2 * FM_SPOT_LAWS];
        fm_spot_watch(s, i, which, which + 1, y, at);
        *x = at[2 * which], *v = at[2 * which + 1];
        return;
    }
    if (m->law_spring[law] >= 0) {
        *x = fm_spring_line(s, m->law_spring[law], direction, v);
        return;
    }
    *x = y[m->law_p[law]];
    *v = y[m->n.positions + m->law_u[law]];
    const int32_t gear = m->law_gear[law];
    if (gear < 0) return;
    *x -= s->gear_ratio[gear] * y[m->gear_p[gear]];
    *v -= s->gear_ratio[gear] * y[m->n.positions + m->gear_u[gear]];
}

const double *fm_law_range(const fm_image *m, int32_t piece) /* lower, upper, v_lower, v_upper, origin */
{
    return m->law_range + 5 * piece;
}

static int at_position(const fm_image *m, int32_t piece, double x)
{
    return x >= fm_law_range(m, piece)[0] && x < fm_law_range(m, piece)[1];
}

/* The piece that applies at (x, v), or, if `below`, just below v; -1 if none does. */
int32_t fm_law_piece(const fm_image *m, int32_t law, double x, double v, int below)
{
    for (int32_t i = m->law_first[law]; i < m->law_first[law] + m->law_count[law]; i++) {
        const double low = fm_law_range(m, i)[2], high = fm_law_range(m, i)[3];
        if (at_position(m, i, x) && (below ? v > low && v <= high : v >= low && v < high)) return i;
    }
    return -1;
}

/* 1 rad or the model's length, as a law's velocity has it; 1 of cylinders, motors and contacts. */
double fm_law_unit(const fm_instance *s, int32_t law)
{
    if (s->image.law_u[law] >= 0) return s->scale[s->image.n.positions + s->image.law_u[law]];
    return s->image.law_cylinder[law] >= 0 || s->image.law_motor[law] >= 0 || s->image.law_spot[law] >= 0
               ? 1.0
               : s->image.length[0];
}

/* How near a bound a law's velocity v is at it: round-off of the largest velocity, of which v is a remainder where
 * loops lock the law; of the mechanism's rate where all is at rest. Requires fm_laws_place. */
double fm_law_near(const fm_instance *s, int32_t law, double v)
{
    return FM_AT * (fm_law_unit(s, law) * (s->clock[FM_RATE] + s->laws.fastest) + fabs(v));
}

/* The same of a position x: round-off of 1 rad, or the model's length, and of x. */
double fm_law_near_position(const fm_instance *s, int32_t law, double x)
{
    const int32_t spot = s->image.law_spot[law];
    const double unit = spot < 0 ? fm_law_unit(s, law) : fm_spot_unit(s, law - s->image.spot_law[spot]);
    return FM_AT * (unit + fabs(x));
}

/* Whether there are stops with a restitution. */
int fm_any_law_hard(const fm_image *m)
{
    for (int32_t i = 0; i < m->n.laws; i++)
        if (m->law_hard[i]) return 1;
    return 0;
}

/* The sign with which the force of a stop's wall drives its velocity: 1 at a lower end, -1 at an upper one. */
double fm_wall_sign(const fm_image *m, int32_t wall)
{
    return fm_law_range(m, wall)[3] == 0.0 ? 1.0 : -1.0;
}

/* How far x is beyond the end of a stop at a wall. */
double fm_beyond_wall(const fm_image *m, int32_t wall, double x)
{
    const double *range = fm_law_range(m, wall);
    return fm_wall_sign(m, wall) > 0.0 ? range[1] - x : x - range[0];
}

/* The wall of a stop with a restitution that is touched at x; -1: none. */
int32_t fm_law_wall(const fm_instance *s, int32_t law, double x)
{
    const fm_image *m = &s->image;
    if (!m->law_hard[law]) return -1;
    for (int32_t i = m->law_first[law]; i < m->law_first[law] + m->law_count[law]; i++)
        if (fm_beyond_wall(m, i, x) >= -fm_law_near_position(s, law, x)) return i;
    return -1;
}

/* The wall at which a stop with a restitution is closed; -1: it is open, or another law. */
int32_t fm_law_closed(const fm_instance *s, int32_t law)
{
    int32_t above, below;
    double bound;
    if (!s->image.law_hard[law] || !fm_law_sticks(s, law, &above, &below, &bound)) return -1;
    return above >= 0 ? above : below;
}

/* Whether an open stop with a restitution is touched at y with a velocity that goes further. Requires fm_laws_place. */
int fm_law_strikes(const fm_instance *s, int32_t law, const double *y)
{
    double x, v;
    if (!s->image.law_hard[law] || fm_law_closed(s, law) >= 0) return 0;
    fm_law_at(s, law, y, &x, &v);
    const int32_t wall = fm_law_wall(s, law, x);
    return wall >= 0 && fm_wall_sign(&s->image, wall) * v < -fm_law_near(s, law, v);
}

/* The first bound of velocity that is crossed between `from` and `v` at position x, or equal to v. 0: none. Requires
 * fm_laws_place. */
int fm_law_bound(const fm_instance *s, int32_t law, double x, double from, double v, double *bound)
{
    const fm_image *m = &s->image;
    const double near = fm_law_near(s, law, v);
    int found = 0;
    for (int32_t i = m->law_first[law]; i < m->law_first[law] + m->law_count[law]; i++)
        for (int end = 2; end < 4 && at_position(m, i, x); end++) {
            const double b = fm_law_range(m, i)[end];
            const int passed = (from < b + near && v >= b) || (from > b - near && v <= b) || fabs(v - b) <= near;
            if (!passed || (found && !(fabs(b - from) < fabs(*bound - from)))) continue;
            *bound = b;
            found = 1;
        }
    return found;
}

/* The force of a piece and its derivatives by x and v; 0 if there is no piece. */
double fm_law_piece_force(const fm_image *m, int32_t piece, double x, double v, double *by_x, double *by_v)
{
    double force = 0.0;
    *by_x = *by_v = 0.0;
    if (piece < 0) return 0.0;
    const double *c = m->law_polynomial + FM_LAW_TERMS * piece, away = x - fm_law_range(m, piece)[4];
    for (int i = FM_LAW_POWERS_X - 1; i >= 0; i--) {
        const double *row = c + FM_LAW_POWERS_V * i;
        *by_x = *by_x * away + force;
        force = force * away + (((row[3] * v + row[2]) * v + row[1]) * v + row[0]);
        *by_v = *by_v * away + ((3.0 * row[3] * v + 2.0 * row[2]) * v + row[1]);
    }
    return force;
}

double fm_law_polynomial(const fm_image *m, int32_t piece, double x, double v)
{
    double by_x, by_v;
    return fm_law_piece_force(m, piece, x, v, &by_x, &by_v);
}

/* The present factor of a law. Requires work.control. */
double fm_law_factor(const fm_instance *s, int32_t law)
{
    const int32_t control = s->image.law_scaled[law];
    const double factor = control < 0 ? s->law_scale[law] : s->law_scale[law] * s->work.control[control];
    return factor > 0.0 ? factor : 0.0;
}

/* Whether a law sticks: between which pieces and at which bound. */
int fm_law_sticks(const fm_instance *s, int32_t law, int32_t *above, int32_t *below, double *bound)
{
    const double *mode = s->laws.use + 2 * law;
    if (mode[1] == FM_SLIDING || !fm_law_has_piece(&s->image, law, mode[0]) ||
        !fm_law_has_piece(&s->image, law, mode[1]))
        return 0;
    *above = (int32_t)mode[0];
    *below = (int32_t)mode[1];
    if (*above < 0 && *below < 0) return 0;
    *bound = *above >= 0 ? fm_law_range(&s->image, *above)[2] : fm_law_range(&s->image, *below)[3];
    return fabs(*bound) < FM_LARGEST_BOUND && (*below < 0 || fm_law_range(&s->image, *below)[3] == *bound);
}

/* Of a stop with a restitution in a search for an equilibrium, where it gives (statics/stops.c). */
static double stop_at_rest(const fm_instance *s, int32_t law, double x)
{
    const fm_image *m = &s->image;
    double force = 0.0;
    for (int32_t i = m->law_first[law]; i < m->law_first[law] + m->law_count[law]; i++) {
        const double sign = fm_wall_sign(m, i), found = fmax(sign * s->laws.pushes[law], 0.0);
        const double push = found + s->laws.stiff[law] * fm_beyond_wall(m, i, x);
        if (s->laws.linear ? i == s->laws.bears[law] : push > 0.0) force += sign * push;
    }
    return m->law_spring[law] >= 0 ? -force : force;
}

/* The mean of the forces on either side of rest, which friction drops out of, and so do losses of motors. */
static double force_at_rest(const fm_instance *s, int32_t law, const double *y)
{
    double x, v;
    if (s->image.law_motor[law] >= 0) return 0.0;
    fm_law_at(s, law, y, &x, &v);
    if (s->image.law_hard[law]) return fm_law_closed(s, law) >= 0 ? s->laws.force[law] : stop_at_rest(s, law, x);
    const double above = fm_law_polynomial(&s->image, fm_law_piece(&s->image, law, x, 0.0, 0), x, 0.0);
    const double below = fm_law_polynomial(&s->image, fm_law_piece(&s->image, law, x, 0.0, 1), x, 0.0);
    return fm_law_factor(s, law) * (0.5 * (above + below));
}

/* The force of a law at y with the modes in use [N or N.m]. Requires the world kinematics of y for a spring's. */
double fm_law_force(const fm_instance *s, int32_t law, const double *y)
{
    double x, v;
    int32_t piece, below;
    if (s->work.still == 1) return force_at_rest(s, law, y);
    if (s->laws.off == FM_NO_LAWS) return 0.0;
    if (fm_law_sticks(s, law, &piece, &below, &v)) return s->laws.force[law];
    if (s->laws.off) return s->laws.seed[law];
    fm_law_at(s, law, y, &x, &v);
    if (!fm_law_slides(s, law, &piece)) piece = fm_law_piece(&s->image, law, x, v, 0);
    return fm_law_factor(s, law) * fm_law_polynomial(&s->image, piece, x, v);
}

/* The derivatives of a law's force by its position and velocity at y. 0: it sticks, or no piece applies. */
int fm_law_slopes(const fm_instance *s, int32_t law, const double *y, double *by_x, double *by_v)
{
    const fm_image *m = &s->image;
    double x, v, bound = 0.0;
    int32_t piece, below;
    *by_x = *by_v = 0.0;
    if (fm_law_sticks(s, law, &piece, &below, &bound)) return 0;
    if (m->law_hard[law] && s->work.still == 1) {
        *by_x = m->law_spring[law] >= 0 ? s->laws.stiff[law] : -s->laws.stiff[law];
        return s->laws.bears[law] >= 0;
    }
    fm_law_at(s, law, y, &x, &v);
    if (!fm_law_slides(s, law, &piece)) piece = fm_law_piece(m, law, x, v, 0);
    if (piece < 0) return 0;
    (void)fm_law_piece_force(m, piece, x, v, by_x, by_v);
    *by_x *= fm_law_factor(s, law), *by_v *= fm_law_factor(s, law);
    return 1;
}

/* What seeds of the controls change of what the gear of a motor loses while its law slides. */
static double loss_seed(const fm_instance *s, int32_t law, const double *control)
{
    const int32_t motor = s->image.law_motor[law];
    double by_x, by_v;
    (void)fm_law_slopes(s, law, s->y, &by_x, &by_v);
    return by_x * (fm_motor_strength(s, motor) * fm_motor_current_seed(s, motor, control));
}

/* The derivatives of the forces of laws that slide along seeds of the controls, at the present state. */
void fm_laws_seed(fm_instance *s, const double *control)
{
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        const int32_t scaled = s->image.law_scaled[i];
        int32_t piece, below;
        double x, v;
        s->laws.seed[i] = 0.0;
        if (s->image.law_side[i] >= 0) s->laws.seed[i] = fm_side_tension_seed(s, s->image.law_side[i], control);
        if (fm_law_is_loss(&s->image, i)) s->laws.seed[i] = loss_seed(s, i, control);
        if (scaled < 0 || !(s->control[scaled] >= 0.0) || fm_law_sticks(s, i, &piece, &below, &v)) continue;
        fm_law_at(s, i, s->y, &x, &v);
        if (!fm_law_slides(s, i, &piece)) piece = fm_law_piece(&s->image, i, x, v, 0);
        s->laws.seed[i] = s->law_scale[i] * control[scaled] * fm_law_polynomial(&s->image, piece, x, v);
    }
}

/* Adds to K and D of the joints' velocity variables what their laws resist a motion with at y. */
void fm_laws_stiffen(const fm_instance *s, const double *y, double *K, double *D)
{
    for (int32_t i = 0; i < s->model.acting; i++) {
        double by_x, by_v;
        if (s->image.law_u[i] < 0 || s->image.law_gear[i] >= 0 || s->image.law_motor[i] >= 0 ||
            !fm_law_slopes(s, i, y, &by_x, &by_v))
            continue; /* those of gears are directions (compliances.c), those of motors parts of own_states.c */
        K[s->image.law_u[i]] -= by_x < 0.0 ? by_x : 0.0;
        D[s->image.law_u[i]] -= by_v < 0.0 ? by_v : 0.0;
    }
}

/* Adds the force laws of joints to the applied forces of their modes. */
void fm_laws_on_modes(const fm_instance *s, const double *y, double *tau)
{
    for (int32_t i = 0; i < s->model.acting; i++) {
        const int32_t gear = s->image.law_gear[i];
        if (s->image.law_u[i] < 0) continue;
        const double force = fm_law_force(s, i, y);
        tau[s->image.law_u[i]] += force;
        if (gear >= 0) tau[s->image.gear_u[gear]] -= s->gear_ratio[gear] * force;
    }
}

/* The force of a spring's laws, added to its pull [N]. Requires the world kinematics of y. */
double fm_laws_on_spring(const fm_instance *s, int32_t spring, const double *y)
{
    double force = 0.0;
    for (int32_t i = 0; i < s->model.acting; i++)
        if (s->image.law_spring[i] == spring) force += fm_law_force(s, i, y);
    return force;
}

/* Computes world kinematics if the law of a spring or a rope needs them, and the largest velocity. */
void fm_laws_place(fm_instance *s, const double *y)
{
    s->laws.fastest = fm_fastest(s, y + s->image.n.positions);
    s->valid &= FM_VALID_LAWS;
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        if (s->image.law_u[i] >= 0 || s->image.law_motor[i] >= 0) continue;
        fm_run_orientations(s, y);
        fm_make_world(s, y);
        return;
    }
}

/* Stores the velocities that the watched laws depend on at y, before a step; those of spots stick at none. */
void fm_laws_note(fm_instance *s, const double *y)
{
    double x;
    fm_laws_place(s, y);
    for (int32_t i = 0; i < s->model.acting; i++) fm_law_at(s, i, y, &x, s->laws.v + i);
}

/* Position and velocity of each watched law at y, in `looks` by its number. Requires what fm_law_at does. */
void fm_laws_look(const fm_instance *s, const double *y, double *looks)
{
    const fm_image *m = &s->image;
    for (int32_t k = 0; k < s->laws.watching;) {
        const int32_t law = s->laws.watched[k], spot = m->law_spot[law];
        if (spot < 0) {
            fm_law_at(s, law, y, looks + 2 * law, looks + 2 * law + 1);
            k++;
            continue;
        }
        const int laws = fm_spot_laws(m, spot); /* one after the other */
        fm_spot_watch(s, spot, 0, laws, y, looks + 2 * law);
        k += laws;
    }
}

/* Name of what a law acts on or watches, for messages. */
const char *fm_law_carrier(const fm_instance *s, int32_t law, const char **what)
{
    const fm_image *m = &s->image;
    *what = m->law_spot[law] >= 0       ? "contact"
            : m->law_cylinder[law] >= 0 ? "cylinder"
            : m->law_motor[law] >= 0    ? "motor"
            : m->law_side[law] >= 0     ? "rope"
            : m->law_spring[law] >= 0   ? "spring"
                                        : "joint";
    if (m->law_spot[law] >= 0) return m->text + m->contact_name[m->spot_contact[m->law_spot[law]]];
    if (m->law_cylinder[law] >= 0) return m->text + m->cylinder_name[m->law_cylinder[law]];
    if (m->law_motor[law] >= 0) return m->text + m->motor_name[m->law_motor[law]];
    if (m->law_side[law] >= 0) return m->text + m->rope_name[m->side_rope[m->law_side[law]]];
    if (m->law_spring[law] >= 0) return m->text + m->spring_name[m->law_spring[law]];
    for (int32_t j = 0; j < m->n.joints; j++)
        if (m->law_u[law] >= m->joint_u[j] && m->law_u[law] < m->joint_u[j] + m->joint_nu[j])
            return m->text + m->joint_name[j];
    return "";
}
