/* cylinder.c: double-acting hydraulic cylinders along the line between two points P and Q.
 *
 * With l the distance of the points, v its rate and e the direction from P to Q, x = l - closed length is where the
 * piston is. Chamber A lies behind it, B around its rod:
 *
 *     V_A = dead_A + area_A x,   V_B = dead_B + area_B (stroke - x),
 *     p_A' = beta/V_A (q_A - area_A v - leakage (p_A - p_B)),   p_B' = beta/V_B (q_B + area_B v + leakage (p_A - p_B)),
 *
 * and F = area_A p_A - area_B p_B puts -F e on P and F e on Q. Flows are inputs, or those of a valve with four edges
 * and the opening u, cut to -1 .. 1, between supply p_S and tank p_T, each of which follows the orifice law
 *
 *     q(u, p) = rated flow u s(p / rated drop),   s(z) = z/(z^2 + d^2)^(1/4),   d = FM_LAMINAR,
 *
 * the square root but for |z| < d, where the flow is laminar. For u > 0 q_A = q(u, p_S - p_A), q_B = -q(u, p_B - p_T),
 * for u < 0 q_A = q(u, p_A - p_T), q_B = -q(u, p_S - p_B). A force law without force has a piece for each branch, so
 * that steps end where the valve passes its middle and its ends. Two more watch the pressures: steps end where one
 * passes that of vapour, and the first that falls below it is noted with its time.
 *
 * The pressures are own states. Their oil at constant beta stores V (beta (exp z - 1) - p), z = p/beta, which is what
 * shut chambers take from the piston. In statics shut chambers keep their oil, by its volume at no pressure W = V exp
 * z, which stands in place of the pressures meanwhile (fm_own_trap); with leakage they share it. Those that the valve
 * connects have the pressures at which nothing flows but leakage.
 */
#include "cylinder.h"

#include "elements.h"

#include "../instance/instance.h"
#include "../maths/decay.h"
#include "../maths/text.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "laws.h"
#include "point_pair.h"

#include <math.h>
#include <string.h>

#define FM_SMALL_STRAIN 0.25 /* of oil: below it, its energy is a series */
#define FM_STRAIN_TERMS 16

/* The piston: its place, the rate and the direction of the line; volumes of the chambers, not finite without any. */
typedef struct piston {
    double line[3], length, v, x, volume[2];
} piston;

static piston piston_of(const fm_instance *s, int32_t i)
{
    piston at;
    at.length = fm_line(s, s->image.cylinder_P[i], s->image.cylinder_Q[i], at.line, &at.v);
    at.x = at.length - s->cylinder_closed_length[i];
    at.volume[0] = s->cylinder_dead_volume_A[i] + s->cylinder_area_A[i] * at.x;
    at.volume[1] = s->cylinder_dead_volume_B[i] + s->cylinder_area_B[i] * (s->cylinder_stroke[i] - at.x);
    for (int j = 0; j < 2; j++)
        if (!(at.volume[j] > 0.0)) at.volume[j] = NAN;
    return at;
}

/* The first cylinder of which a chamber has no more than this part of its dead volume left at y; -1: none. Overwrites
 * world kinematics. */
int32_t fm_cylinder_run_out(fm_instance *s, const double *y, double part)
{
    if (s->image.n.cylinders == 0) return -1;
    fm_run_orientations(s, y);
    fm_make_world(s, y);
    for (int32_t i = 0; i < s->image.n.cylinders; i++) {
        const piston at = piston_of(s, i);
        if (!(at.volume[0] > part * s->cylinder_dead_volume_A[i]) ||
            !(at.volume[1] > part * s->cylinder_dead_volume_B[i]))
            return i;
    }
    return -1;
}

/* Notes the first chamber whose oil cavitates at state y of time t, unless one has been noted before. */
void fm_watch_cavitation(fm_instance *s, double t, const double *y)
{
    for (int32_t i = 0; i < s->image.n.cylinders && s->clock[FM_CAVITY] == 0.0; i++)
        for (int32_t chamber = 1; chamber >= 0; chamber--) {
            double above, still;
            fm_law_at(s, s->image.cylinder_vapour_law[i] + chamber, y, &above, &still);
            if (!(above < 0.0)) continue;
            s->clock[FM_CAVITY] = 2 * i + chamber + 1;
            s->clock[FM_CAVITATED_AT] = t;
        }
}

/* Says which chamber's oil cavitated first; 0: none did. */
int fm_say_cavitation(const fm_instance *s, char *out, size_t capacity)
{
    const double cavity = s->clock[FM_CAVITY];
    if (!(cavity >= 1.0 && cavity <= 2.0 * s->image.n.cylinders)) return 0;
    const int32_t chamber = (int32_t)cavity - 1, i = chamber / 2;
    (void)fm_print(out, capacity,
                   FM_OIL_CAVITATES
                   ": at t = %.9g s the pressure of chamber %s of cylinder '%.80s' falls below its vapour = "
                   "%g Pa, which the law does not follow. Raise the pressures at the start, or let oil in",
                   s->clock[FM_CAVITATED_AT], chamber % 2 == 0 ? "A" : "B", s->image.text + s->image.cylinder_name[i],
                   s->cylinder_vapour[i]);
    return 1;
}

/* The valve's opening, cut; `side`: 1 A at the supply, -1 at the tank; `follows`: 0 if it is cut. In the branch that is
 * in use if one is. */
double fm_cylinder_opening(const fm_instance *s, int32_t i, int *side, int *follows)
{
    const int32_t law = s->image.cylinder_law[i];
    const double u = s->work.control[s->image.cylinder_opening[i]];
    int32_t piece;
    if (!fm_law_slides(s, law, &piece) || piece < 0) piece = fm_law_piece(&s->image, law, u, 0.0, 0);
    const int branch = (int)(piece - s->image.law_first[law]);
    *follows = branch == 1 || branch == 2;
    *side = branch >= 2 ? 1 : -1;
    return *follows ? u : (double)*side;
}

/* Flow through an edge that is fully open, and its slope by the pressure. */
static double orifice(const fm_instance *s, int32_t i, double drop, double *slope)
{
    const double z = drop / s->cylinder_rated_drop[i], root = sqrt(z * z + FM_LAMINAR * FM_LAMINAR),
                 part = s->cylinder_rated_flow[i] / sqrt(root);
    *slope = part * (1.0 - 0.5 * z * z / (root * root)) / s->cylinder_rated_drop[i];
    return part * z;
}

/* The flows into the chambers at pressures p, their slopes by these, and by the opening. */
static void flows_of(const fm_instance *s, int32_t i, const double p[2], double q[2], double by_p[2], double by_u[2])
{
    const fm_image *m = &s->image;
    int side, follows;
    by_p[0] = by_p[1] = by_u[0] = by_u[1] = 0.0;
    if (m->cylinder_opening[i] < 0) {
        q[0] = s->work.control[m->cylinder_flow_A[i]], q[1] = s->work.control[m->cylinder_flow_B[i]];
        return;
    }
    const double u = fm_cylinder_opening(s, i, &side, &follows), wide = side * u;
    for (int j = 0; j < 2; j++) {
        const int fed = (j == 0) == (side > 0);
        double slope;
        const double edge = orifice(s, i, (fed ? s->cylinder_supply[i] : s->cylinder_tank[i]) - p[j], &slope);
        q[j] = wide * edge, by_p[j] = -wide * slope, by_u[j] = follows ? side * edge : 0.0;
    }
}

static double strain_to_volume(double z)
{
    return z >= 0.0 ? 1.0 / fm_decay(z) : fm_decay(-z);
}

/* Pressures at rest with both chambers connected to supply and tank: each edge drops d, so that what flows leaks. */
static void flowing_pressures(const fm_instance *s, int32_t i, double wide, int side, double p[2])
{
    const double all = s->cylinder_supply[i] - s->cylinder_tank[i];
    double least = 0.0, most = 0.5 * all, slope;
    for (double d = 0.5 * most; s->cylinder_leakage[i] > 0.0 && d != least && d != most; d = 0.5 * (least + most)) {
        const double more = s->cylinder_leakage[i] * (all - 2.0 * d) - wide * orifice(s, i, d, &slope);
        if ((more > 0.0) == (all > 0.0)) least = d;
        else most = d;
    }
    p[side > 0 ? 0 : 1] = s->cylinder_supply[i] - least;
    p[side > 0 ? 1 : 0] = s->cylinder_tank[i] + least;
}

/* Pressures at rest, from the oil W that shut chambers keep; 1: they follow from the piston. */
static int resting_pressures(const fm_instance *s, int32_t i, const piston *at, const double W[2], double p[2])
{
    const double beta = s->cylinder_bulk_modulus[i];
    int side, follows;
    const double u = s->image.cylinder_opening[i] >= 0 ? fm_cylinder_opening(s, i, &side, &follows) : 0.0;
    if (u != 0.0) {
        flowing_pressures(s, i, side * u, side, p);
        return 0;
    }
    if (s->cylinder_leakage[i] > 0.0)
        p[0] = p[1] = beta * fm_logarithm((W[0] + W[1]) / (at->volume[0] + at->volume[1]));
    else
        for (int j = 0; j < 2; j++) p[j] = beta * fm_logarithm(W[j] / at->volume[j]);
    return 1;
}

static const double *stored(const fm_instance *s, int32_t i, const double *y)
{
    return y + s->model.bristles + s->image.cylinder_state[i];
}

/* The pressures at y; 0: at rest they do not follow from the piston. Requires world kinematics and work.control. */
static int pressures_of(const fm_instance *s, int32_t i, const piston *at, const double *y, double p[2])
{
    if (s->work.still == 1) return resting_pressures(s, i, at, stored(s, i, y), p);
    memcpy(p, stored(s, i, y), 2 * sizeof *p);
    return 1;
}

/* In place of the pressures in y, at world kinematics: the volumes of their oil without pressure; `back`: the pressures
 * at rest. */
void fm_cylinders_trap(fm_instance *s, double *y, int back)
{
    for (int32_t i = 0; i < s->image.n.cylinders; i++) {
        const piston at = piston_of(s, i);
        double *own = y + s->model.bristles + s->image.cylinder_state[i], p[2];
        memcpy(p, own, sizeof p);
        if (back) (void)resting_pressures(s, i, &at, p, own);
        else
            for (int j = 0; j < 2; j++) own[j] = at.volume[j] * strain_to_volume(p[j] / s->cylinder_bulk_modulus[i]);
    }
}

static double force_of(const fm_instance *s, int32_t i, const double p[2])
{
    return s->cylinder_area_A[i] * p[0] - s->cylinder_area_B[i] * p[1];
}

static void apply(fm_instance *s, int32_t i, const double *load)
{
    const piston at = piston_of(s, i);
    double p[2];
    (void)load;
    (void)pressures_of(s, i, &at, s->work.evaluated, p);
    fm_pull_together(s, s->image.cylinder_P[i], s->image.cylinder_Q[i], at.line, -force_of(s, i, p));
}

/* What oil stores in a unit of volume. */
double fm_stored_by_oil(double p, double beta)
{
    const double z = p / beta;
    double sum = 1.0;
    if (!(fabs(z) < FM_SMALL_STRAIN)) return beta * (strain_to_volume(z) - 1.0) - p;
    for (int n = FM_STRAIN_TERMS; n > 2; n--) sum = 1.0 + z / n * sum;
    return 0.5 * p * z * sum;
}

static double energy(const fm_instance *s, int32_t i)
{
    const piston at = piston_of(s, i);
    double p[2], sum = 0.0;
    (void)pressures_of(s, i, &at, s->y, p);
    for (int j = 0; j < 2; j++) sum += at.volume[j] * fm_stored_by_oil(p[j], s->cylinder_bulk_modulus[i]);
    return sum;
}

static int states(const fm_instance *s, int32_t i, const double *y, fm_own_states *own)
{
    const piston at = piston_of(s, i);
    const double beta = s->cylinder_bulk_modulus[i], leakage = s->cylinder_leakage[i], *p = stored(s, i, y),
                 area[2] = {s->cylinder_area_A[i], -s->cylinder_area_B[i]}, lost = leakage * (p[0] - p[1]);
    double q[2], by_p[2], by_u[2];
    flows_of(s, i, p, q, by_p, by_u);
    own->first = s->model.bristles + s->image.cylinder_state[i];
    own->u = -1, own->P = s->image.cylinder_P[i], own->Q = s->image.cylinder_Q[i];
    own->along[0] = own->along[1] = at.v;
    for (int j = 0; j < 2; j++) {
        const double per = beta / at.volume[j];
        own->settled[j] = p[j], own->nominal[j] = s->image.cylinder_nominal[i];
        own->rate[j] = per * ((q[j] - area[j] * at.v) - (j == 0 ? lost : -lost));
        own->A[j][j] = per * (by_p[j] - leakage), own->A[j][1 - j] = per * leakage;
        own->B[j] = -per * area[j], own->C[j] = area[j];
        const int32_t input = j == 0 ? s->image.cylinder_flow_A[i] : s->image.cylinder_flow_B[i];
        own->seed[j] =
            per * (s->image.cylinder_opening[i] < 0 ? s->work.control_seed[input]
                                                    : by_u[j] * s->work.control_seed[s->image.cylinder_opening[i]]);
    }
    return 2;
}

static void links(const fm_image *m, int32_t i, int32_t links[2])
{
    links[0] = m->point_link[m->cylinder_P[i]], links[1] = m->point_link[m->cylinder_Q[i]];
}

/* Along its line shut chambers resist as beta area^2 / V, in statics those that keep their oil. Flows let some of it
 * go: that is left to the iteration. */
static int stiffness(const fm_instance *s, int32_t i, const double *y, fm_direction at[FM_DIRECTIONS])
{
    const piston now = piston_of(s, i);
    const double beta = s->cylinder_bulk_modulus[i], A = s->cylinder_area_A[i], B = s->cylinder_area_B[i];
    double p[2], k = A * A / now.volume[0] + B * B / now.volume[1];
    if (!(now.length > 0.0)) return 0;
    const int kept = pressures_of(s, i, &now, y, p);
    if (s->work.still == 1 && s->cylinder_leakage[i] > 0.0) k = (A - B) * (A - B) / (now.volume[0] + now.volume[1]);
    return fm_pair_directions(s, s->image.cylinder_P[i], s->image.cylinder_Q[i], now.line, kept ? beta * k : 0.0, 0.0,
                              -force_of(s, i, p) / now.length, at);
}

static double value(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    const piston at = piston_of(s, i);
    const double *p = stored(s, i, s->y), vapour = s->cylinder_vapour[i];
    double q[2], by_p[2], by_u[2];
    (void)part;
    switch (kind) {
    case FM_CY_LENGTH: return at.length;
    case FM_CY_POSITION: return at.x;
    case FM_CY_FORCE: return force_of(s, i, p);
    case FM_CY_POWER: return force_of(s, i, p) * at.v;
    case FM_CY_CAVITATION: return (p[0] < vapour ? 1.0 : 0.0) + (p[1] < vapour ? 2.0 : 0.0);
    default: flows_of(s, i, p, q, by_p, by_u); return q[kind == FM_CY_FLOW_B_OUT];
    }
}

static double seed(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    double q[2], by_p[2], by_u[2];
    (void)part;
    flows_of(s, i, stored(s, i, s->y), q, by_p, by_u);
    return by_u[kind == FM_CY_FLOW_B_OUT] * s->work.control_seed[s->image.cylinder_opening[i]];
}

const fm_force_element fm_cylinder_element = {
    .apply = apply,
    .energy = energy,
    .states = states,
    .links = links,
    .stiffness = stiffness,
    .value = value,
    .seed = seed,
};
