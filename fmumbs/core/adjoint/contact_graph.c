/* contact_graph.c: the spots of contacts, by the equations of forces/contact.c, tyre.c and rolling.c. Whether a spot
 * touches, slips, rolls and drills are leaves, which do not change with the motion.
 */
#include "contact_graph.h"

#include "../forces/rolling.h"
#include "../forces/tyre.h"
#include "builder.h"
#include "nodes.h"
#include "tree_graph.h"

static int32_t sum_of(fm_builder *b, int32_t v, int32_t w)
{
    return fm_add_node(b, FM_DO_ADD, v, w, 0);
}

static int32_t less(fm_builder *b, int32_t v, int32_t w)
{
    return fm_add_node(b, FM_DO_SUBTRACT, v, w, 0);
}

static int32_t times(fm_builder *b, int32_t number, int32_t v)
{
    return fm_add_node(b, FM_DO_SCALE, number, v, 0);
}

static int32_t dot_of(fm_builder *b, int32_t v, int32_t w)
{
    return fm_add_node(b, FM_DO_DOT, v, w, 0);
}

static int32_t product_of(fm_builder *b, int32_t x, int32_t y)
{
    return fm_add_node(b, FM_DO_PRODUCT, x, y, 0);
}

static int32_t over(fm_builder *b, int32_t x, int32_t y)
{
    return fm_add_node(b, FM_DO_QUOTIENT, x, y, 0);
}

static int32_t difference(fm_builder *b, int32_t x, int32_t y)
{
    return fm_add_node(b, FM_DO_DIFFERENCE, x, y, 0);
}

/* v without what it has along a unit vector n. */
static int32_t across(fm_builder *b, int32_t v, int32_t n, int32_t along)
{
    return less(b, v, times(b, along, n));
}

/* One number where a leaf is 0, another where it is 1. */
static int32_t either(fm_builder *b, int32_t leaf, int32_t zero, int32_t one)
{
    return fm_add_node(b, FM_DO_ADD_PRODUCT, zero, leaf, difference(b, one, zero));
}

/* T where a leaf is 0, a limit along it where it is 1: none of no T. */
static int32_t limited(fm_builder *b, int32_t slips, int32_t limit, int32_t T)
{
    const int32_t held = less(b, T, times(b, slips, T)), along = fm_add_node(b, FM_DO_UNIT, T, 0, 0);
    return fm_add_node(b, FM_DO_ADD_SCALED, held, product_of(b, slips, limit), along);
}

/* From the centre of a spot to where it is furthest against n: -Q n / sqrt(n Q n), Q = R half^2 R'. */
static int32_t reach_of(fm_builder *b, int32_t i, int32_t n, int32_t R)
{
    const double *half = b->m->spot_half + 3 * i, square[3] = {half[0] * half[0], half[1] * half[1], half[2] * half[2]};
    if (half[0] == half[1] && half[0] == half[2]) return times(b, fm_number(b, -half[0]), n);
    const int32_t in = fm_add_node(b, FM_DO_BACK, R, n, 0);
    const int32_t Qn = fm_add_node(b, FM_DO_SYMMETRIC, fm_constant(b, square, 3), b->zero, in);
    const int32_t h = fm_add_node(b, FM_DO_ROOT, dot_of(b, in, Qn), 0, 0);
    return times(b, over(b, fm_number(b, -1.0), h), fm_add_node(b, FM_DO_CARRY, R, Qn, 0));
}

/* Where two surfaces are next to each other, and how they move. */
static void build_nearest(fm_builder *b, int32_t i, fm_spot_slots *out)
{
    const fm_image *m = b->m;
    const int32_t P = m->spot_P[i], Q = m->spot_Q[i], A = m->point_link[P], B = m->point_link[Q];
    const fm_point_slots p = fm_build_point(b, A, m->point_r + 3 * P), q = fm_build_point(b, B, m->point_r + 3 * Q);
    static const double up[3] = {0.0, 0.0, 1.0};
    const int32_t away = less(b, p.r, q.r), R_A = fm_axes_of_point(b, P), R_B = fm_axes_of_point(b, Q);
    const double ball = m->spot_reach[i];
    int32_t between = away;
    out->held = R_B;
    if (m->spot_road[i] >= 0) {
        const int32_t foot = fm_add_part(b, FM_DO_ROAD, R_B, away, R_A, i, 7);
        out->n = foot + 3, between = less(b, away, foot);
    } else if (m->spot_plane[i]) out->n = fm_add_node(b, FM_DO_CARRY, R_B, fm_constant(b, up, 3), 0);
    else out->n = times(b, fm_number(b, ball < 0.0 ? -1.0 : 1.0), fm_add_node(b, FM_DO_UNIT, away, 0, 0));
    const int32_t reach = reach_of(b, i, out->n, R_A);
    out->gap = dot_of(b, sum_of(b, between, reach), out->n);
    if (!m->spot_plane[i]) out->gap = difference(b, out->gap, fm_number(b, ball));
    const int32_t arm = less(b, reach, times(b, fm_times_constant(b, 0.5, out->gap), out->n));
    out->at = sum_of(b, p.r, arm), out->axis = fm_add_node(b, FM_DO_CARRY, R_A, fm_constant(b, up, 3), 0);
    out->turn = less(b, b->link[A].w, b->link[B].w);
    const int32_t carried = fm_add_node(b, FM_DO_CROSS, b->link[B].w, sum_of(b, arm, away), 0);
    out->ahead = less(b, less(b, p.v, q.v), carried);
    const int32_t v = fm_add_node(b, FM_DO_ADD_CROSS, out->ahead, b->link[A].w, arm);
    out->rate = dot_of(b, v, out->n), out->slip = across(b, v, out->n, out->rate);
    out->speed = fm_add_node(b, FM_DO_LENGTH, out->slip, 0, 0);
}

/* N, 0 where there is no contact. */
static int32_t build_normal(fm_builder *b, int32_t i, const fm_spot_slots *at)
{
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t c = b->m->spot_contact[i], minus = fm_times_constant(b, -1.0, at->gap);
    const int32_t power = fm_add_node(b, FM_DO_POWER, minus, leaf->contact_exponent + c, 0);
    const int32_t slowed = product_of(b, leaf->contact_damping + c, at->rate);
    const int32_t part = difference(b, fm_number(b, 1.0), slowed);
    const int32_t press = product_of(b, product_of(b, leaf->contact_stiffness + c, power), part);
    return product_of(b, leaf->touches + i, press);
}

/* The most friction at a speed. */
static int32_t build_limit(fm_builder *b, int32_t c, const fm_spot_slots *at)
{
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t kinetic = leaf->contact_mu + c, v_S = leaf->contact_stribeck + c;
    const int32_t x = over(b, dot_of(b, at->slip, at->slip), product_of(b, v_S, v_S));
    const int32_t more = difference(b, leaf->contact_static + c, kinetic);
    const int32_t mu = fm_add_node(b, FM_DO_ADD_PRODUCT, kinetic, more, fm_add_node(b, FM_DO_DECAY, x, 0, 0));
    return product_of(b, at->normal, mu);
}

/* L s / sqrt(s^2 + v_0^2) */
static int32_t build_creep(fm_builder *b, int32_t c, const fm_spot_slots *at)
{
    const int32_t v = b->g->leaf.contact_creep + c;
    const int32_t square = fm_add_node(b, FM_DO_ADD_PRODUCT, dot_of(b, at->slip, at->slip), v, v);
    return times(b, over(b, build_limit(b, c, at), fm_add_node(b, FM_DO_ROOT, square, 0, 0)), at->slip);
}

/* The first of the bristles of a spot. */
static int32_t bristles_of(const fm_builder *b, int32_t state)
{
    return b->g->leaf.y + b->model->bristles + state;
}

static void place_rates(fm_builder *b, int32_t state, int32_t at)
{
    for (int j = 0; j < 3; j++) b->g->rate[b->model->bristles + state + j] = at + j;
}

/* Those of a contact that rubs by Coulomb's law. */
static int32_t build_bristles(fm_builder *b, int32_t i, const fm_spot_slots *at)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t c = m->spot_contact[i], K = leaf->contact_tangential + c, D = leaf->contact_tangential_damping + c;
    const int32_t R = at->held, slips = leaf->slips + i;
    const int32_t held = fm_add_node(b, FM_DO_CARRY, R, bristles_of(b, m->spot_state[i]), 0);
    const int32_t out = dot_of(b, held, at->n), z = across(b, held, at->n, out), pull = times(b, K, z);
    const int32_t T = fm_add_node(b, FM_DO_ADD_SCALED, pull, D, at->slip);
    const int32_t force = limited(b, slips, build_limit(b, c, at), T);
    const int32_t gives = times(b, over(b, fm_number(b, 1.0), D), less(b, force, pull));
    int32_t rate = fm_add_node(b, FM_DO_ADD_SCALED, at->slip, slips, less(b, gives, at->slip));
    const int32_t relax = fm_times_constant(b, -1.0, product_of(b, over(b, K, D), out));
    rate = fm_add_node(b, FM_DO_ADD_SCALED, rate, relax, at->n);
    place_rates(b, m->spot_state[i], times(b, leaf->touches + i, fm_add_node(b, FM_DO_BACK, R, rate, 0)));
    return force;
}

/* The tread of a tyre in one direction: K, D, its deflection's rate while it sticks, and T. */
typedef struct fm_tread_slots {
    int32_t K, D, z, rate, T;
} fm_tread_slots;

static fm_tread_slots build_tread(fm_builder *b, int32_t i, int k, int32_t side, int32_t V, const fm_spot_slots *at)
{
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t c = b->m->spot_contact[i], C = leaf->contact_slip_stiffness + 2 * c + k;
    const int32_t sigma = leaf->contact_relaxation + 2 * c + k, one = fm_number(b, 1.0);
    fm_tread_slots out = {.K = over(b, C, sigma), .z = bristles_of(b, b->m->spot_state[i]) + k};
    const int32_t still = over(b, one, leaf->contact_tangential_damping + c);
    const int32_t rolls = over(b, V, fm_times_constant(b, FM_TREAD_AT_ONCE, C));
    out.D = over(b, one, fm_add_node(b, FM_DO_SUM, still, rolls, 0));
    const int32_t lost = product_of(b, over(b, V, sigma), out.z);
    out.rate = difference(b, dot_of(b, at->slip, side), lost);
    out.T = fm_add_node(b, FM_DO_ADD_PRODUCT, product_of(b, out.K, out.z), out.D, out.rate);
    return out;
}

static int32_t build_tyre(fm_builder *b, int32_t i, fm_spot_slots *at)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t c = m->spot_contact[i], slips = leaf->slips + i, state = m->spot_state[i];
    const int32_t y = fm_add_node(b, FM_DO_UNIT, across(b, at->axis, at->n, dot_of(b, at->axis, at->n)), 0, 0);
    const int32_t side[2] = {fm_add_node(b, FM_DO_CROSS, y, at->n, 0), y};
    const int32_t V = fm_add_node(b, FM_DO_ABSOLUTE, dot_of(b, at->ahead, side[0]), 0, 0);
    const fm_tread_slots tread[2] = {build_tread(b, i, 0, side[0], V, at), build_tread(b, i, 1, side[1], V, at)};
    const int32_t T = fm_add_node(b, FM_DO_VECTOR, tread[0].T, tread[1].T, b->zero);
    const int32_t held = limited(b, slips, product_of(b, leaf->contact_mu + c, at->normal), T);
    const int32_t turned = over(b, leaf->contact_tangential + c, leaf->contact_tangential_damping + c);
    const int32_t relax = product_of(b, turned, bristles_of(b, state) + 2);
    int32_t rate[3], force = b->zero;
    rate[2] = fm_times_constant(b, -1.0, relax);
    for (int k = 0; k < 2; k++) {
        const int32_t F = held + k;
        const int32_t gives = over(b, difference(b, F, product_of(b, tread[k].K, tread[k].z)), tread[k].D);
        rate[k] = either(b, slips, tread[k].rate, gives);
        force = fm_add_node(b, FM_DO_ADD_SCALED, force, F, side[k]);
        at->tread[k] = product_of(b, fm_number(b, -1.0), product_of(b, leaf->touches + i, F));
    }
    const int32_t rates = fm_add_node(b, FM_DO_VECTOR, rate[0], rate[1], rate[2]);
    place_rates(b, state, times(b, leaf->touches + i, rates));
    return force;
}

/* What rubs A, less its sign; none: nothing does. */
static int32_t build_friction(fm_builder *b, int32_t i, fm_spot_slots *at)
{
    const int32_t c = b->m->spot_contact[i];
    switch (b->m->contact_rubs[c]) {
    case FM_RUBS_NOT: return FM_NO_SLOT;
    case FM_RUBS_SMOOTHLY: return build_creep(b, c, at);
    case FM_RUBS_AS_TYRE: return build_tyre(b, i, at);
    default: return build_bristles(b, i, at);
    }
}

/* A wrench on A's link at a place, and the opposite on B's. */
static void act_between(fm_builder *b, int32_t i, int32_t at, int32_t force, int32_t torque)
{
    const int32_t links[2] = {b->m->point_link[b->m->spot_P[i]], b->m->point_link[b->m->spot_Q[i]]};
    for (int end = 0; end < 2; end++) {
        if (links[end] < 0) continue;
        const int32_t arm = force == FM_NO_SLOT ? FM_NO_SLOT : less(b, at, b->link[links[end]].r);
        fm_add_wrench(b, links[end], force, arm, torque, end == 0 ? -1 : 1);
    }
}

void fm_build_spot(fm_builder *b, int32_t i)
{
    fm_spot_slots *at = b->spot + i;
    build_nearest(b, i, at);
    at->normal = build_normal(b, i, at);
    at->force = times(b, at->normal, at->n);
    const int32_t rubs = build_friction(b, i, at);
    at->rub = rubs == FM_NO_SLOT ? b->zero : times(b, b->g->leaf.touches + i, rubs);
    if (rubs != FM_NO_SLOT) at->force = less(b, at->force, at->rub);
    act_between(b, i, at->at, at->force, FM_NO_SLOT);
}

/* What resists rolling and drilling at a spot. */
void fm_build_roll(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t spot = m->roll_spot[i], c = m->spot_contact[spot];
    const int32_t K = leaf->contact_turning + c, D = leaf->contact_turning_damping + c;
    const int32_t arm[FM_PARTS] = {leaf->contact_rolling + c, leaf->contact_drilling + c};
    fm_spot_slots *at = b->spot + spot;
    const int32_t R = at->held;
    const int32_t z = fm_add_node(b, FM_DO_CARRY, R, bristles_of(b, m->roll_state[i]), 0);
    const int32_t w_n = dot_of(b, at->turn, at->n), z_n = dot_of(b, z, at->n);
    int32_t w_of[FM_PARTS], z_of[FM_PARTS], rate = b->zero, moment = b->zero;
    w_of[FM_DRILLING] = times(b, w_n, at->n), w_of[FM_ROLLING] = less(b, at->turn, w_of[FM_DRILLING]);
    z_of[FM_DRILLING] = times(b, z_n, at->n), z_of[FM_ROLLING] = less(b, z, z_of[FM_DRILLING]);
    for (int p = 0; p < FM_PARTS; p++) {
        const int32_t slips = leaf->rolls + 2 * i + p, pull = times(b, K, z_of[p]);
        const int32_t T = fm_add_node(b, FM_DO_ADD_SCALED, pull, D, w_of[p]);
        const int32_t limit = product_of(b, arm[p], at->normal);
        const int32_t M = limited(b, slips, limit, T);
        const int32_t gives = times(b, over(b, fm_number(b, 1.0), D), less(b, M, pull));
        rate = sum_of(b, rate, fm_add_node(b, FM_DO_ADD_SCALED, w_of[p], slips, less(b, gives, w_of[p])));
        at->moment[p] = times(b, leaf->touches + spot, M);
        moment = sum_of(b, moment, at->moment[p]);
    }
    place_rates(b, m->roll_state[i], times(b, leaf->touches + spot, fm_add_node(b, FM_DO_BACK, R, rate, 0)));
    act_between(b, spot, at->at, FM_NO_SLOT, less(b, b->zero, moment));
}

/* An output of a contact. */
int32_t fm_contact_output(fm_builder *b, int32_t kind, int32_t contact, int32_t part)
{
    const fm_image *m = b->m;
    const int32_t first = m->contact_spot[contact];
    const fm_spot_slots *at = b->spot + first + (kind == FM_CT_POINT ? part / 3 : part);
    int32_t sum = b->zero;
    switch (kind) {
    case FM_CT_GAP: return at->gap;
    case FM_CT_POINT: return at->at + part % 3;
    case FM_CT_NORMAL: return at->normal;
    case FM_CT_SLIP: return at->speed;
    case FM_CT_STATE: return fm_number(b, 0.0);
    case FM_CT_FRICTION: return fm_add_node(b, FM_DO_LENGTH, at->rub, 0, 0);
    case FM_CT_TREAD: return b->spot[first].tread[part];
    case FM_CT_ROLLING_MOMENT: return fm_add_node(b, FM_DO_LENGTH, at->moment[FM_ROLLING], 0, 0);
    case FM_CT_DRILLING_MOMENT: return fm_add_node(b, FM_DO_LENGTH, at->moment[FM_DRILLING], 0, 0);
    default:
        for (int32_t i = first; i < first + m->contact_spots[contact]; i++) sum = sum_of(b, sum, b->spot[i].force);
        return sum + part;
    }
}

static int32_t half_of_square(fm_builder *b, int32_t stiffness, int32_t square)
{
    return fm_times_constant(b, 0.5, product_of(b, stiffness, square));
}

int32_t fm_spot_energy(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t c = m->spot_contact[i], exponent = leaf->contact_exponent + c;
    const int32_t x = fm_add_node(b, FM_DO_POSITIVE, fm_times_constant(b, -1.0, b->spot[i].gap), 0, 0);
    const int32_t pressed = product_of(b, x, fm_add_node(b, FM_DO_POWER, x, exponent, 0));
    const int32_t more = fm_add_node(b, FM_DO_SUM, exponent, fm_number(b, 1.0), 0);
    int32_t sum = over(b, product_of(b, leaf->contact_stiffness + c, pressed), more);
    if (m->spot_state[i] < 0) return sum;
    const int32_t z = bristles_of(b, m->spot_state[i]);
    if (m->contact_rubs[c] != FM_RUBS_AS_TYRE)
        return fm_add_node(b, FM_DO_SUM, sum, half_of_square(b, leaf->contact_tangential + c, dot_of(b, z, z)), 0);
    for (int k = 0; k < 2; k++) {
        const int32_t K = over(b, leaf->contact_slip_stiffness + 2 * c + k, leaf->contact_relaxation + 2 * c + k);
        sum = fm_add_node(b, FM_DO_SUM, sum, half_of_square(b, K, product_of(b, z + k, z + k)), 0);
    }
    return sum;
}

int32_t fm_roll_energy(fm_builder *b, int32_t i)
{
    const int32_t z = bristles_of(b, b->m->roll_state[i]);
    return half_of_square(b, b->g->leaf.contact_turning + b->m->spot_contact[b->m->roll_spot[i]], dot_of(b, z, z));
}
