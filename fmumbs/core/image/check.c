/* check.c: consistency checks across the arrays of an image, so that no byte string can make the core read out of
 * bounds or loop forever.
 */
#include "check.h"

#include "../maths/rotations.h"
#include "../maths/text.h"
#include "bounds.h"
#include "check_modes.h"
#include "image.h"
#include "joints.h"
#include "kinds.h"

#include <math.h>
#include <stdlib.h>

/* Whether links are in depth-first order: a link's parent is the link before it or one of that link's ancestors. Linear
 * in the number of links, as each is climbed from at most once. */
static int stands_depth_first(const fm_image *m, int32_t link)
{
    int32_t above = link - 1;
    while (above >= 0 && above != m->link_parent[link]) above = m->link_parent[above];
    return above == m->link_parent[link];
}

static const char *check_links(const fm_image *m)
{
    int32_t p = 0, u = 0;
    for (int32_t i = 0; i < m->n.links; i++) {
        const int32_t kind = m->link_kind[i];
        if (!stands_depth_first(m, i)) return "its links are not in depth-first order";
        p += fm_link_positions(m, i);
        u += fm_link_speeds(m, i);
        if (fabs(m->link_sign[i]) != 1.0) return "a link's sign is neither 1 nor -1";
        if (!fm_is_rotation(m->link_R + 9 * i)) return "a link's frame is not a rotation";
        if (kind == FM_LINK_SPHERICAL) {
            const double *q = m->start_p + m->link_p[i];
            if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-20)) return "a start quaternion is zero";
        }
    }
    return p == m->n.positions && u == m->n.speeds ? NULL : "the numbers of links and variables disagree";
}

/* A joint's variables are in the order of its modes, which is that of its links or the reverse; driven ones come last.
 */
static const char *check_places(const fm_image *m, int32_t joint)
{
    int32_t p = m->joint_p[joint], u = m->joint_u[joint];
    for (int driven = 0; driven < 2; driven++)
        for (int32_t j = m->joint_first[joint]; j <= m->joint_last[joint]; j++) {
            const int32_t i = m->joint_reversed[joint] ? m->joint_first[joint] + m->joint_last[joint] - j : j;
            const int32_t positions = fm_link_positions(m, i), speeds = fm_link_speeds(m, i);
            if ((m->link_kind[i] == FM_LINK_DRIVEN) != driven) continue;
            if (m->link_p[i] != (positions ? p : -1) || m->link_u[i] != (speeds ? u : -1))
                return "a link's variables are out of place";
            p += positions;
            u += speeds;
        }
    return NULL;
}

/* A flexible body and its frames follow the joint that carries the body, and so do their variables. Returns the next
 * link that belongs to a joint; `found` is NULL, or what is wrong. */
static int32_t skip_modals(const fm_image *m, int32_t link, int32_t *p, int32_t *u, const char **found)
{
    *found = NULL;
    for (; link < m->n.links && m->link_modal[link] >= 0; link++) {
        const int32_t modes = fm_link_positions(m, link);
        if (m->link_p[link] != (modes ? *p : -1) || m->link_u[link] != (modes ? *u : -1))
            *found = "a flexible body's variables are out of place";
        *p += modes;
        *u += modes;
    }
    return link;
}

static int is_unit(const double *v)
{
    return fabs(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - 1.0) < 1e-9;
}

/* The modes of cut joints, and their variables, follow one another in the order of the joints. */
static const char *check_cut(const fm_image *m, int32_t j, int32_t *mode, int32_t *p, int32_t *u)
{
    const int32_t modes = m->joint_modes[j], kind = m->joint_kind[j];
    int32_t np = 0, nu = 0, balls = 0;
    if (m->joint_last[j] != -1 || m->joint_excited[j] != 0) return "a cut joint has links";
    if (m->joint_F_link[j] == m->joint_M_link[j]) return "a cut joint has both ends on one link";
    if (modes < 0 || modes > m->n.cut_modes - *mode || m->joint_mode[j] != *mode)
        return "a cut joint has an impossible number of modes";
    for (int32_t i = *mode; i < *mode + modes; i++) {
        if (m->cut_kind[i] < 0 || m->cut_kind[i] >= FM_CUT_KINDS) return "a mode has a kind that does not exist";
        if (!is_unit(m->cut_axis + 3 * i)) return "a mode's axis is not a unit vector";
        if (m->cut_kind[i] == FM_CUT_LOCKED) continue;
        balls += m->cut_kind[i] == FM_CUT_BALL;
        np += m->cut_kind[i] == FM_CUT_BALL ? 4 : 1;
        nu += m->cut_kind[i] == FM_CUT_BALL ? 3 : 1;
        if (nu > FM_JOINT_MODES) return "a cut joint has an impossible number of modes";
    }
    if (np != m->joint_np[j] || nu != m->joint_nu[j] || m->joint_p[j] != *p || m->joint_u[j] != *u ||
        np > m->n.cut_positions - *p || nu > m->n.modes - *u)
        return "a cut joint's variables are out of place";
    const int ball = balls == 1 && m->cut_kind[*mode + modes - 1] == FM_CUT_BALL;
    const int fits = (kind == FM_JOINT_WELD && nu == 0) || (kind == FM_JOINT_SCALAR && nu > 0 && balls == 0) ||
                     (kind == FM_JOINT_SPHERICAL && ball && nu == 3) || (kind == FM_JOINT_FREE && ball && nu == 6);
    if (!fits) return "a joint's kind does not fit its variables";
    if (ball) {
        const double *q = m->cut_start + *p + (np - 4);
        if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-20)) return "a start quaternion is zero";
    }
    *mode += modes;
    *p += np;
    *u += nu;
    return NULL;
}

/* Joint j, whose links begin at `next`, or behind those of modals there, with the next variables. */
static const char *check_tree_joint(const fm_image *m, int32_t j, int32_t *next, int32_t *all_p, int32_t *all_u)
{
    const int32_t first = m->joint_first[j], last = m->joint_last[j];
    int32_t p = 0, u = 0;
    const char *found;
    if (m->joint_modes[j] != 0) return "a joint of the tree has modes of a cut joint";
    const int32_t ends[2] = {m->joint_F_link[j], m->joint_M_link[j]}, reversed = m->joint_reversed[j];
    if (reversed != 0 && (reversed != 1 || m->joint_kind[j] == FM_JOINT_NONHOLONOMIC))
        return "a joint points in an impossible direction";
    if (ends[!reversed] != last) return "a joint's outer frame is not on its last link";
    *next = skip_modals(m, *next, all_p, all_u, &found);
    if (found != NULL) return found;
    if (first != *next || last < first) return "a joint's links are out of place";
    *next = last + 1;
    for (int32_t i = first; i <= last; i++) {
        if (m->link_joint[i] != j || m->link_modal[i] >= 0) return "a link belongs to another joint";
        if (i > first && m->link_parent[i] != i - 1) return "a joint's links do not follow one another";
        p += fm_link_positions(m, i);
        u += fm_link_speeds(m, i);
    }
    if (m->joint_np[j] != p || m->joint_nu[j] != u) return "the number of a joint's variables is wrong";
    if ((p > 0 && m->joint_p[j] != *all_p) || (u > 0 && m->joint_u[j] != *all_u))
        return "a joint's variables are out of place";
    *all_p += p;
    *all_u += u;
    found = check_places(m, j);
    if (found != NULL) return found;
    const int32_t kind = m->joint_kind[j], general = m->link_general[first];
    const int fits = (kind == FM_JOINT_WELD && u == 0) || (kind == FM_JOINT_SCALAR && u > 0 && u == p) ||
                     (kind == FM_JOINT_SPHERICAL && u == 3 && p == 4) || (kind == FM_JOINT_FREE && u == 6 && p == 7) ||
                     (kind == FM_JOINT_NONHOLONOMIC && general >= 0 && first == last);
    if (!fits) return "a joint's kind does not fit its variables";
    return NULL;
}

/* The links of joints follow one another: first to last, each a child of the one before, the first a child of another
 * joint's link or of the ground. */
static const char *check_joints(const fm_image *m)
{
    int32_t next = 0, all_p = 0, all_u = 0, mode = 0, cut_p = 0, cut_u = m->n.speeds;
    const char *found;
    for (int32_t j = 0; j < m->n.joints; j++) {
        for (int32_t c = 0; c < 6; c++)
            if (m->joint_unique[6 * j + c] < 0 || m->joint_unique[6 * j + c] >= FM_UNIQUENESSES)
                return "a reaction's uniqueness is impossible";
        if (!fm_is_rotation(m->joint_F + 9 * j) || !fm_is_rotation(m->joint_M + 9 * j))
            return "a joint's frame is not a rotation";
        if (m->joint_held[j] != 0 && m->joint_held[j] != 1) return "a joint's mark as held is impossible";
        if (fm_is_cut_joint(m, j)) {
            found = check_cut(m, j, &mode, &cut_p, &cut_u);
            if (found != NULL) return found;
            continue;
        }
        found = check_tree_joint(m, j, &next, &all_p, &all_u);
        if (found != NULL) return found;
    }
    next = skip_modals(m, next, &all_p, &all_u, &found);
    if (found != NULL) return found;
    if (mode != m->n.cut_modes || cut_p != m->n.cut_positions || cut_u != m->n.modes ||
        m->n.cut_speeds != m->n.modes - m->n.speeds)
        return "the number of modes of cut joints is wrong";
    return next == m->n.links ? NULL : "a link belongs to no joint";
}

/* The entries of the joints' matrices follow one another; each couples two scalar modes of a bushing, or two axes of a
 * ball, which has all three. */
static const char *check_coupled(const fm_image *m)
{
    int32_t next = 0;
    for (int32_t j = 0; j < m->n.joints; j++) {
        const int32_t count = m->joint_couplings[j];
        if (count == 0) continue;
        const int ball = m->joint_kind[j] == FM_JOINT_SPHERICAL && count == 3;
        if (!ball && (m->joint_kind[j] != FM_JOINT_SCALAR || m->joint_np[j] != m->joint_nu[j] || m->joint_nu[j] > 6))
            return "a joint's springs are out of place";
        if (m->joint_coupled[j] != next || count < 0 || count > m->n.coupled - next)
            return "a joint's springs are out of place";
        for (; next < m->joint_coupled[j] + count; next++)
            for (int32_t e = 2 * next; e < 2 * next + 2; e++)
                if (m->coupled_modes[e] < 0 || m->coupled_modes[e] >= m->joint_nu[j])
                    return "a spring of a joint is between modes that do not exist";
    }
    return next == m->n.coupled ? NULL : "a spring between modes belongs to no joint";
}

/* Three free modes whose springs act on a rotation vector are turns. */
static const char *check_bends(const fm_image *m)
{
    for (int32_t j = 0; j < m->n.joints; j++) {
        const int32_t first = m->joint_bends[j];
        if (first == -1) continue;
        if (first < 0 || m->joint_kind[j] != FM_JOINT_SCALAR || m->joint_couplings[j] > 0 ||
            m->joint_np[j] != m->joint_nu[j] || m->joint_nu[j] > FM_JOINT_MODES || first > m->joint_nu[j] - 3)
            return "a rotation spring is out of place";
        for (int32_t k = m->joint_u[j] + first; k < m->joint_u[j] + first + 3; k++)
            if (m->mode_linear[k]) return "a rotation spring is out of place";
    }
    return NULL;
}

/* The terms of couplings follow one another; each term refers to a link with one coordinate. */
static const char *check_couplings(const fm_image *m)
{
    int32_t next = 0;
    for (int32_t i = 0; i < m->n.couplings; i++) {
        if (m->coupling_first[i] != next || m->coupling_count[i] < 1 || m->coupling_count[i] > m->n.terms - next)
            return "a coupling has an impossible number of terms";
        next += m->coupling_count[i];
    }
    for (int32_t i = 0; i < m->n.terms; i++) {
        const int32_t kind = m->link_kind[m->term_link[i]];
        if (kind == FM_LINK_FIXED || kind == FM_LINK_SPHERICAL || kind >= FM_LINK_GENERAL)
            return "a coupling refers to a coordinate that does not exist";
    }
    for (int32_t i = 0; i < m->n.couplings; i++)
        for (int32_t j = m->coupling_first[i]; j < m->coupling_first[i] + m->coupling_count[i]; j++)
            if (m->term_path[j] >= 0 && (m->coupling_count[i] != 2 || j == m->coupling_first[i]))
                return "a cam has an impossible number of terms";
    return next == m->n.terms ? NULL : "a term belongs to no coupling";
}

static const char *check_given(const fm_image *m)
{
    for (int32_t i = 0; i < m->n.modes; i++)
        if (m->given_p[i] < 0 || m->given_p[i] >= FM_GIVEN_KINDS || m->given_u[i] < 0 ||
            m->given_u[i] >= FM_GIVEN_KINDS)
            return "a start value's mark as given is impossible";
    return NULL;
}

static const char *check_rows(const fm_image *m)
{
    for (int32_t i = 0; i < m->n.rows; i++) {
        const double *f = m->row_f + 3 * i, *g = m->row_g + 3 * i;
        if (m->row_kind[i] < 0 || m->row_kind[i] >= FM_ROW_KINDS) return "a row has a kind that does not exist";
        const int coupled = m->row_kind[i] == FM_ROW_COUPLED;
        if (fm_is_cut_joint(m, m->row_joint[i]) == coupled) return "a row belongs to a joint of another kind";
        if (coupled != (m->row_coupling[i] >= 0)) return "a row has a wrong coupling";
        if (m->row_kind[i] == FM_ROW_GIVEN && (m->row_part[i] < 0 || m->row_part[i] >= m->joint_nu[m->row_joint[i]]))
            return "a row refers to a coordinate that does not exist";
        if (m->row_kind[i] == FM_ROW_MODES || m->row_kind[i] == FM_ROW_MODES_M) {
            if (fm_row_of_joint(m, i) + m->joint_nu[m->row_joint[i]] >= 6) return "a joint has too many rows";
        }
        if (m->row_kind[i] == FM_ROW_SCREW) {
            const int32_t joint = m->row_joint[i];
            if (m->joint_modes[joint] != 1 || m->joint_nu[joint] != 1 || m->cut_turn[m->joint_mode[joint]] == 0.0)
                return "a row refers to an angle that does not exist";
        }
        if (m->row_kind[i] != FM_ROW_GIVEN) {
            const int rates = m->row_kind[i] >= FM_ROW_SPEED && m->row_kind[i] <= FM_ROW_ROLLING, part = m->row_part[i];
            if (part < 0 || part >= FM_ROW_LEVELS || (rates && part == FM_OF_POSITION))
                return "a row has an impossible level";
            if (part != FM_OF_POSITION && !rates && m->row_kind[i] != FM_ROW_COUPLED)
                return "a row of positions has another level";
            if (part != FM_OF_POSITION && coupled && fm_is_cam(m, m->row_coupling[i]))
                return "a cam couples no positions";
            if (part == FM_OF_LOCK && (m->row_kind[i] != FM_ROW_COUPLED || m->row_excitation[i] >= 0))
                return "a lock moves by a program";
        }
        if (m->row_kind[i] >= FM_ROW_ROLLING && !(m->row_length[i] != 0.0)) return "a wheel has no radius";
        const int32_t vary = m->row_vary[i],
                      twists = m->row_kind[i] == FM_ROW_TWIST || m->row_kind[i] == FM_ROW_TWIST_M;
        if (!twists && (!is_unit(f) || !is_unit(g))) return "a row's vector is not a unit vector";
        if (vary >= 0 && (!twists || fm_link_positions(m, vary) != 1 || fm_link_speeds(m, vary) != 1))
            return "a row varies with a coordinate that does not exist";
        if (m->row_kind[i] == FM_ROW_DISTANCE && !(m->row_length[i] > 0.0)) return "a row's length is not positive";
    }
    return NULL;
}

/* Whether pieces of a law know no velocity, so that it never sticks. */
static int never_sticks(const fm_image *m, int32_t law)
{
    for (int32_t i = m->law_first[law]; i < m->law_first[law] + m->law_count[law]; i++)
        if (!(m->law_range[5 * i + 2] <= -FM_LARGEST_BOUND && m->law_range[5 * i + 3] >= FM_LARGEST_BOUND)) return 0;
    return 1;
}

/* Whether a law watches a limit of a motor, or is that of its losses, on its mode. */
static int is_of_motor(const fm_image *m, int32_t law, int32_t motor)
{
    if (law == m->motor_loss_law[motor]) return m->law_u[law] == m->motor_u[motor] && m->law_count[law] == 4;
    return (law == m->motor_voltage_law[motor] || law == m->motor_current_law[motor]) && m->law_u[law] < 0 &&
           m->law_count[law] == 3 && never_sticks(m, law);
}

/* Whether a law watches the valve of a cylinder, or the pressure of one of its chambers. */
static int is_of_cylinder(const fm_image *m, int32_t law, int32_t cylinder)
{
    const int32_t chamber = law - m->cylinder_vapour_law[cylinder];
    return (law == m->cylinder_law[cylinder] && m->law_count[law] == 4) ||
           ((chamber == 0 || chamber == 1) && m->law_count[law] == 2);
}

static const char *check_laws(const fm_image *m)
{
    for (int32_t i = 0; i < m->n.laws; i++) {
        const int on_mode = m->law_p[i] >= 0 && m->law_u[i] >= 0, on_spring = m->law_spring[i] >= 0;
        const int32_t motor = m->law_motor[i];
        const int watches =
            (m->law_side[i] >= 0) + (m->law_cylinder[i] >= 0) + (m->law_spot[i] >= 0) + (motor >= 0 && m->law_u[i] < 0);
        if (on_mode + on_spring + watches != 1 || on_mode != (m->law_u[i] >= 0))
            return "a force law acts on nothing, or on two things";
        if (m->law_first[i] < 0 || m->law_count[i] < 1 || m->law_first[i] > m->n.law_pieces - m->law_count[i])
            return "a force law's pieces are out of bounds";
        if (m->law_gear[i] >= 0 && (!on_mode || m->gear_law[m->law_gear[i]] != i || m->law_count[i] != 4))
            return "a gear's law is that of another";
        if (m->law_cylinder[i] >= 0 && !is_of_cylinder(m, i, m->law_cylinder[i]))
            return "a cylinder's law is that of another";
        if (motor >= 0 && !is_of_motor(m, i, motor)) return "a motor's law is that of another";
        if (m->law_hard[i] != 0 && m->law_hard[i] != 1)
            return "a force law is neither a stop with a restitution nor not";
        for (int32_t k = m->law_first[i]; m->law_hard[i] && k < m->law_first[i] + m->law_count[i]; k++)
            if (m->law_range[5 * k + 2] != 0.0 && m->law_range[5 * k + 3] != 0.0) return "a stop holds no velocity";
    }
    for (int32_t i = 0; i < m->n.gears; i++)
        if (m->law_gear[m->gear_law[i]] != i) return "a gear has the law of another";
    return NULL;
}

/* Whether a side passes points, with pulleys at its ends alone, which are some of its rope's and have its law. */
static int is_side(const fm_image *m, int32_t side)
{
    const int32_t first = m->side_via[side], count = m->side_vias[side], rope = m->side_rope[side];
    const int32_t law = m->side_law[side], pulley = m->rope_pulley[rope];
    if (count < 2 || first > m->n.vias - count || m->law_side[law] != side) return 0;
    if (!never_sticks(m, law)) return 0;
    for (int32_t i = first; i < first + count; i++) {
        const int32_t on = m->via_pulley[i];
        if (on < 0) continue;
        if ((i != first && i != first + count - 1) || !(fabs(m->via_turn[i]) == 1.0)) return 0;
        if (on < pulley || on >= pulley + m->rope_pulleys[rope]) return 0;
    }
    return count > 2 || m->via_pulley[first] < 0 || m->via_pulley[first + 1] < 0;
}

static const char *check_ropes(const fm_image *m)
{
    for (int32_t i = 0; i < m->n.ropes; i++) {
        if (m->rope_sides[i] < 1 || m->rope_sides[i] > m->n.sides - m->rope_side[i])
            return "a rope's sides are out of bounds";
        if (m->rope_pulley[i] < 0 || m->rope_pulleys[i] < 0 || m->rope_pulleys[i] > m->n.pulleys - m->rope_pulley[i])
            return "a rope's pulleys are out of bounds";
        for (int32_t k = m->rope_side[i]; k < m->rope_side[i] + m->rope_sides[i]; k++)
            if (m->side_rope[k] != i) return "a rope's side belongs to another rope";
    }
    for (int32_t i = 0; i < m->n.sides; i++)
        if (!is_side(m, i) || !(m->side_share[i] > 0.0)) return "a rope has an impossible side";
    return NULL;
}

/* Whether a spot has its laws, which never stick, and a sphere where B is one. */
static int is_spot(const fm_image *m, int32_t i)
{
    const int32_t first = m->spot_law[i], laws = fm_spot_laws(m, i);
    const double *half = m->spot_half + 3 * i;
    if (first > m->n.laws - laws || (m->spot_plane[i] != 0 && m->spot_plane[i] != 1)) return 0;
    for (int32_t law = first; law < first + laws; law++)
        if (m->law_spot[law] != i || m->law_count[law] != 1 || !never_sticks(m, law)) return 0;
    if (m->spot_road[i] >= 0 && !m->spot_plane[i]) return 0;
    for (int j = 0; j < 3; j++)
        if (!(half[j] >= 0.0) || (!m->spot_plane[i] && half[j] != half[0])) return 0;
    return 1;
}

/* Roads have their knots in order, from the first x to the last. */
static const char *check_roads(const fm_image *m)
{
    int32_t next = 0;
    for (int32_t i = 0; i < m->n.roads; i++) {
        if (m->road_knot[i] != next || m->road_knots[i] < 2 || m->road_knots[i] > m->n.knots - next)
            return "a road's knots are out of place";
        next += m->road_knots[i];
        for (int32_t k = m->road_knot[i] + 1; k < next; k++)
            if (!(m->knot_x[k] > m->knot_x[k - 1])) return "a road does not go on";
    }
    return next == m->n.knots ? NULL : "a knot belongs to no road";
}

/* The bristles of a contact from `bristle` on, those of all its spots and then those of its rolls, from `roll` on, are
 * theirs, three each. Returns where those of the next one begin, -1 if they are out of place. */
static int32_t bristles_after(const fm_image *m, int32_t c, int32_t bristle, int32_t *roll)
{
    const int brushed = m->contact_rubs[c] == FM_RUBS_BY_BRISTLES || m->contact_rubs[c] == FM_RUBS_AS_TYRE;
    const int32_t first = m->contact_spot[c], end = first + m->contact_spots[c];
    const int32_t turn = brushed ? bristle + 3 * m->contact_spots[c] : bristle;
    const int rolls = m->contact_turn[c] >= 0;
    if (rolls && (m->contact_rubs[c] != FM_RUBS_BY_BRISTLES || m->contact_turn[c] != turn)) return -1;
    for (int32_t i = first; i < end; i++) {
        if (m->spot_state[i] != (brushed ? bristle + 3 * (i - first) : -1)) return -1;
        if (m->spot_roll[i] != (rolls ? *roll : -1)) return -1;
        if (!rolls) continue;
        if (*roll >= m->n.rolls || m->roll_spot[*roll] != i) return -1;
        if (m->roll_state[*roll] != turn + 3 * (i - first) || !(m->roll_nominal[*roll] > 0.0)) return -1;
        (*roll)++;
    }
    return rolls ? turn + 3 * m->contact_spots[c] : turn;
}

/* Spots belong to contacts, in order; the bristles from `bristle` on are theirs. */
static const char *check_spots(const fm_image *m, int32_t bristle)
{
    int32_t next = 0, spot = 0, roll = 0;
    for (int32_t i = 0; i < m->n.contacts; i++) {
        if (m->contact_rubs[i] < 0 || m->contact_rubs[i] >= FM_RUBS_KINDS) return "a contact rubs in an impossible way";
        if (m->contact_state[i] != m->spot_state[m->contact_spot[i]])
            return "a contact's bristles are those of another";
        if (m->contact_spot[i] != next || m->contact_spots[i] < 1 || m->contact_spots[i] > m->n.spots - next)
            return "a contact's spots are out of place";
        for (next += m->contact_spots[i]; spot < next; spot++)
            if (m->spot_contact[spot] != i) return "a spot belongs to another contact";
    }
    if (next != m->n.spots) return "a spot belongs to no contact";
    for (int32_t i = 0; i < m->n.contacts; i++) {
        const int32_t after = bristles_after(m, i, bristle, &roll);
        if (after < 0 || after > m->n.bristles) return "a contact's bristles are out of place";
        for (; bristle < after; bristle++)
            if (m->bristle_friction[bristle] >= 0) return "a contact's bristles belong to a friction";
    }
    if (roll != m->n.rolls) return "what resists rolling belongs to no spot";
    for (int32_t i = 0; i < m->n.spots; i++) {
        if (!is_spot(m, i)) return "a contact has an impossible spot";
        if (m->spot_state[i] >= 0 && !(m->spot_nominal[i] > 0.0))
            return "what is small of a spot's bristles is not positive";
    }
    for (int32_t i = 0; i < m->n.laws; i++) {
        const int32_t of = m->law_spot[i];
        if (of >= 0 && (i < m->spot_law[of] || i >= m->spot_law[of] + fm_spot_laws(m, of)))
            return "a spot's law is that of another";
        if (of < 0 && i > 0 && m->law_spot[i - 1] >= 0) return "a force law follows those of spots";
    }
    return bristle == m->n.bristles ? NULL : "a bristle belongs to nothing";
}

/* Cylinders have a valve with its law, or flows; the bristles from `bristle` on are their pressures, in order. */
static const char *check_cylinders(const fm_image *m, int32_t bristle)
{
    for (int32_t i = 0; i < m->n.cylinders; i++, bristle += 2) {
        const int32_t law = m->cylinder_law[i], state = m->cylinder_state[i], vapour = m->cylinder_vapour_law[i];
        const int flows = m->cylinder_flow_A[i] >= 0 && m->cylinder_flow_B[i] >= 0, valve = m->cylinder_opening[i] >= 0;
        if (flows == valve || valve != (law >= 0) || (valve && (m->law_cylinder[law] != i || !never_sticks(m, law))))
            return "a cylinder has neither a valve nor flows, or both";
        if (vapour > m->n.laws - 2) return "the laws of a cylinder's vapour are out of bounds";
        for (int32_t k = vapour; k < vapour + 2; k++)
            if (m->law_cylinder[k] != i || !never_sticks(m, k)) return "a cylinder's vapour has the law of another";
        if (state != bristle || state > m->n.bristles - 2 || m->bristle_friction[state] >= 0 ||
            m->bristle_friction[state + 1] >= 0)
            return "a cylinder's pressures are out of place";
        if (!(m->cylinder_nominal[i] > 0.0)) return "what is small of a cylinder's pressure is not positive";
    }
    return check_spots(m, bristle);
}

/* Motors act on a free mode of a joint in the tree; the bristles from `bristle` on are their currents, in order. */
static const char *check_motors(const fm_image *m, int32_t bristle)
{
    for (int32_t i = 0; i < m->n.motors; i++) {
        const int32_t joint = m->motor_joint[i], part = m->motor_u[i] - m->joint_u[joint], state = m->motor_state[i];
        if (m->joint_first[joint] < 0 || m->joint_kind[joint] != FM_JOINT_SCALAR)
            return "a motor acts on a joint of another kind";
        if (part < 0 || part >= m->joint_nu[joint] - m->joint_excited[joint])
            return "a motor acts on a mode that its joint does not have";
        if (!(m->motor_nominal[i] > 0.0)) return "what is small of a motor's current is not positive";
        const int32_t laws[3] = {m->motor_voltage_law[i], m->motor_current_law[i], m->motor_loss_law[i]};
        for (int k = 0; k < 3; k++)
            if (laws[k] >= 0 && (m->law_motor[laws[k]] != i || laws[k] == laws[(k + 1) % 3]))
                return "a motor has the law of another";
        if (state < 0) continue;
        if (state != bristle || state >= m->n.bristles || m->bristle_friction[state] >= 0)
            return "a motor's current is out of place";
        bristle++;
    }
    return check_cylinders(m, bristle);
}

/* Frictions act on modes of one joint, turns and slides or a ball; their bristles are in the same order. */
static const char *check_frictions(const fm_image *m)
{
    int32_t bristle = 0;
    for (int32_t i = 0; i < m->n.frictions; i++) {
        const int32_t j = m->friction_joint[i], u = m->friction_u[i], count = m->friction_count[i];
        const int ball = m->joint_kind[j] == FM_JOINT_SPHERICAL;
        if (count < 1 || count > 3 || (ball && count != 3) || (!ball && m->joint_kind[j] != FM_JOINT_SCALAR))
            return "a friction acts on a joint of another kind";
        if (u < m->joint_u[j] || u - m->joint_u[j] > m->joint_nu[j] - m->joint_excited[j] - count)
            return "a friction acts on modes that its joint does not have";
        if (m->friction_z[i] != bristle || count > m->n.bristles - bristle)
            return "a friction's bristles are out of place";
        for (int32_t k = 0; k < count; k++)
            if (m->bristle_friction[bristle++] != i) return "a bristle belongs to another friction";
        for (int32_t k = 0; k < 3; k++)
            if (!(m->friction_own[3 * i + k] >= 0.0)) return "a friction's own normal force is negative";
    }
    return check_motors(m, bristle);
}

static const char *check_bodies(const fm_image *m)
{
    for (int32_t i = 0; i < m->n.bodies; i++) {
        if (!fm_is_rotation(m->body_R + 9 * i)) return "a body's frame is not a rotation";
        int32_t axis[3], fixed;
        if (m->body_euler[i] != 0 && !fm_euler_axes(m->body_euler[i], axis, &fixed))
            return "a body has Euler angles about axes that do not exist";
        if (m->body_measured[i] != 0 && m->body_measured[i] != 1)
            return "a body's inertia is neither measured nor a solid's";
    }
    return NULL;
}

static const char *check_points(const fm_image *m)
{
    for (int32_t i = 0; i < m->n.points; i++)
        if (!fm_is_rotation(m->point_R + 9 * i)) return "a point's frame is not a rotation";
    return NULL;
}

static const char *check_loads(const fm_image *m)
{
    for (int32_t i = 0; i < m->n.loads; i++)
        if (m->load_axes[i] < 0 || m->load_axes[i] >= FM_LOAD_AXES) return "a load has axes that do not exist";
    return NULL;
}

/* The start values of parameters are in their bounds. */
static const char *check_parameters(const fm_image *m)
{
    const fm_bounded_array all[] = FM_BOUNDED_ARRAYS(m);
    return fm_all_fit(all, sizeof all / sizeof *all, NULL, 0) ? NULL : "a parameter is out of its bounds";
}

/* Positions and velocities that follow from independent states: in order; a nonholonomic joint's positions follow from
 * its velocities alone, and what is excited follows nothing. */
static const char *check_dependent(const fm_image *m)
{
    for (int32_t i = 1; i < m->n.dependent_p; i++)
        if (m->dependent_p[i] <= m->dependent_p[i - 1]) return "its dependent positions are not in order";
    for (int32_t i = 1; i < m->n.dependent_u; i++)
        if (m->dependent_u[i] <= m->dependent_u[i - 1]) return "its dependent velocities are not in order";
    for (int32_t i = 0; i < m->n.links; i++)
        for (int32_t j = 0; j < m->n.dependent_p && m->link_kind[i] == FM_LINK_GENERAL; j++)
            if (m->dependent_p[j] >= m->link_p[i] && m->dependent_p[j] < m->link_p[i] + fm_link_positions(m, i))
                return "a position of a nonholonomic joint is dependent";
    for (int32_t i = 0; i < m->n.excitations; i++) {
        for (int32_t j = 0; j < m->n.dependent_p; j++)
            if (m->dependent_p[j] == m->excitation_p[i]) return "an excited position is dependent";
        for (int32_t j = 0; j < m->n.dependent_u; j++)
            if (m->dependent_u[j] == m->excitation_u[i]) return "an excited velocity is dependent";
    }
    return m->n.dependent_p > 0 && m->n.dependent_u == 0 ? "positions are dependent, but no velocities" : NULL;
}

/* Whether a variable is a state of the tree, which nothing has whose motion is given. */
static int is_tree_state(const fm_image *m, int32_t i)
{
    const fm_kind_info *kind = fm_kinds + m->variable_kind[i];
    return kind->state && !(kind->owner == FM_JOINT && fm_is_cut_joint(m, m->variable_object[i]));
}

static const char *check_variables(const fm_image *m)
{
    int given = 0, moves = 0;
#define O(id, one, all) m->n.all,
    const int32_t owned[] = {1, FM_OWNERS(O)};
#undef O
    if (m->n.characters < 1 || m->text[m->n.characters - 1] != 0) return "its text is not terminated";
    for (int32_t i = 0; i < m->n.variables; i++) {
        const int32_t kind = m->variable_kind[i], object = m->variable_object[i], part = m->variable_component[i];
        if (kind < 0 || kind >= FM_KIND_COUNT) return "a variable has a kind that does not exist";
        if (object < 0 || object >= owned[fm_kinds[kind].owner])
            return "a variable belongs to an element that does not exist";
        if (!fm_has_component(m, kind, object, part)) return "a variable has a component that does not exist";
        given |= kind >= FM_FIRST_INVERSE;
        moves |= is_tree_state(m, i);
        const int force = kind == FM_R_TAU || kind == FM_R_F; /* also of an actuator that closes a loop */
        if (kind >= FM_FIRST_INVERSE && !force && fm_kinds[kind].owner == FM_JOINT && fm_is_cut_joint(m, object))
            return "the motion of a cut joint is given";
    }
    return given && moves ? "its motion is both given and computed" : NULL;
}

int fm_image_check(const fm_image *m, char *why, size_t capacity)
{
    for (int32_t i = 0; i < m->n.links; i++)
        if (m->link_kind[i] < 0 || m->link_kind[i] >= FM_LINK_KINDS) {
            (void)fm_print(why, capacity, "the model image is damaged: a link has a kind that does not exist");
            return 0;
        }
    const double dynamics = m->options[FM_OPTION_DYNAMICS];
    const char *found =
        dynamics == (double)FM_RICCATI || dynamics == (double)FM_COPCOD ? NULL : "its formulation does not exist";
    if (found == NULL) found = fm_check_modes(m);
    if (found == NULL) found = check_links(m);
    if (found == NULL) found = check_joints(m);
    if (found == NULL) found = fm_check_excitations(m);
    if (found == NULL) found = check_coupled(m);
    if (found == NULL) found = check_bends(m);
    if (found == NULL) found = check_couplings(m);
    if (found == NULL) found = check_given(m);
    if (found == NULL) found = check_rows(m);
    if (found == NULL) found = check_laws(m);
    if (found == NULL) found = check_ropes(m);
    if (found == NULL) found = check_roads(m);
    if (found == NULL) found = check_frictions(m);
    if (found == NULL) found = check_bodies(m);
    if (found == NULL) found = check_points(m);
    if (found == NULL) found = check_loads(m);
    if (found == NULL) found = check_parameters(m);
    if (found == NULL) found = check_dependent(m);
    if (found == NULL) found = check_variables(m);
    if (found == NULL) return 1;
    (void)fm_print(why, capacity, "the model image is damaged: %s", found);
    return 0;
}
