/* general_graph.c: links of several screws with linear relations between their velocities, by the equations of
 * tree/general.c, in the axes of the joint's frame in the parent, which rests.
 *
 * With J the columns of the screws and w' the rows, in axes that turn with w_a, V the velocity of the link's origin and
 * b its acceleration at constant rates,
 *     A = w' J,   A_f r_f = [u; 0] - A_e kappa,   A_f r_f' = [u'; 0] - A_e kappa' - w' (b - w_a x V),
 * and forces tau of the screws, those of their springs among them, are A_f'^-1 tau_f along the speeds.
 */
#include "general_graph.h"

#include "../image/joints.h"
#include "builder.h"
#include "nodes.h"
#include "tree_graph.h"

/* Of one link while it is built. */
typedef struct screws {
    int32_t link, general, first, count, rows, free, after, u;
    int32_t last, tail; /* the motion of the last screw, the place of the link */
    int32_t row[FM_JOINT_MODES][2], excited[FM_JOINT_MODES]; /* -1: it is free */
} screws;

/* Which position of its link a screw has: the free ones come first. */
int32_t fm_place_of_screw(const fm_image *m, int32_t general, int32_t screw)
{
    const int32_t first = m->general_screw[general], excited = m->screw_excited[first + screw] != 0;
    int32_t place = excited ? m->general_rows[general] : 0;
    for (int32_t k = 0; k < screw; k++) place += (m->screw_excited[first + k] != 0) == excited;
    return place;
}

/* Numbers one behind the other, at least so many. */
static int32_t pack(fm_builder *b, const int32_t *number, int32_t count)
{
    int32_t first = FM_NO_SLOT;
    for (int32_t i = 0; i < count; i += 3) {
        const int32_t second = i + 1 < count ? number[i + 1] : b->zero, third = i + 2 < count ? number[i + 2] : b->zero;
        const int32_t at = fm_add_node(b, FM_DO_VECTOR, number[i], second, third);
        first = i == 0 ? at : first;
    }
    return first;
}

/* The screws one on the other, the first on what rests, at rates or, `moving` 0, at none. */
static int32_t build_chain(fm_builder *b, const screws *of, int moving)
{
    const fm_image *m = b->m;
    const fm_general_slots *g = b->general + of->general;
    int32_t on = m->n.links + 1, at = FM_NO_SLOT;
    for (int32_t k = 0; k < of->count; k++) {
        const int32_t screw = of->first + k,
                      q = b->g->leaf.y + m->link_p[of->link] + fm_place_of_screw(m, of->general, k);
        at = fm_add_part(b, FM_DO_JOINT, moving ? g->rate[k] : b->zero, q, b->zero, on, FM_JOINT_NUMBERS);
        if (b->failed) return 0;
        double *numbers = b->g->value + at;
        for (int j = 0; j < 9; j++) numbers[FM_JOINT_R0 + j] = m->screw_R[9 * screw + j];
        for (int j = 0; j < 3; j++) numbers[FM_JOINT_AT + j] = m->screw_r[3 * screw + j];
        numbers[FM_JOINT_TURN] = m->screw_pitch[screw], numbers[FM_JOINT_SLIDE] = m->screw_slide[screw];
        numbers[FM_JOINT_SIGN] = 1.0, numbers[FM_JOINT_ABOUT] = 2.0, numbers[FM_JOINT_TURNS] = 1.0;
        on = m->n.links + 2 + 2 * screw + moving;
        const fm_motion_places places = {at + FM_MOTION_R, at + FM_MOTION_PLACE, at + FM_MOTION_W,
                                         at + FM_MOTION_V, at + FM_MOTION_ALPHA, at + FM_MOTION_A};
        b->g->motion[on] = places;
    }
    return at;
}

/* What a screw moves: the motion of the chain at rest. */
static const fm_motion_places *screw_at(const fm_builder *b, const screws *of, int32_t k, int moving)
{
    return b->g->motion + b->m->n.links + 2 + 2 * (of->first + k) + moving;
}

static void build_columns(fm_builder *b, const screws *of)
{
    fm_general_slots *g = b->general + of->general;
    for (int32_t k = 0; k < of->count; k++) {
        const fm_motion_places *at = screw_at(b, of, k, 0);
        const int32_t e = at->R - FM_MOTION_R + FM_JOINT_AXIS;
        const double pitch = b->m->screw_pitch[of->first + k], slide = b->m->screw_slide[of->first + k];
        g->turn[k] = fm_add_node(b, FM_DO_SCALE, fm_number(b, pitch), e, 0);
        g->slide[k] = fm_add_node(b, FM_DO_SCALE, fm_number(b, slide), e, 0);
        const int32_t arm = fm_add_node(b, FM_DO_SUBTRACT, of->tail, at->r, 0);
        g->slide[k] = fm_add_node(b, FM_DO_ADD_CROSS, g->slide[k], g->turn[k], arm);
    }
}

/* The rows, as they turn with the screw before them. */
static void build_rows(fm_builder *b, screws *of)
{
    const fm_image *m = b->m;
    const int32_t R = of->after > 0 ? screw_at(b, of, of->after - 1, 0)->R : b->identity;
    for (int32_t i = 0; i < of->rows; i++) {
        const double *row = m->velocity_row + 6 * (m->general_row[of->general] + i);
        for (int part = 0; part < 2; part++) of->row[i][part] = fm_carry(b, R, row + 3 * part);
    }
}

static int32_t along_row(fm_builder *b, const screws *of, int32_t i, int32_t angular, int32_t linear)
{
    const int32_t turned = fm_add_node(b, FM_DO_DOT, of->row[i][0], angular, 0);
    return fm_add_node(b, FM_DO_SUM, turned, fm_add_node(b, FM_DO_DOT, of->row[i][1], linear, 0), 0);
}

/* [u; 0] less what excited screws make of the rows, for speeds or accelerations. */
static void find_wanted(fm_builder *b, const screws *of, const int32_t *given, int32_t *wanted)
{
    const fm_general_slots *g = b->general + of->general;
    for (int32_t i = 0; i < of->rows; i++) {
        wanted[i] = i < of->free ? given[i] : b->zero;
        for (int32_t k = 0; k < of->count; k++) {
            if (of->excited[k] < 0) continue;
            const int32_t part = along_row(b, of, i, g->turn[k], g->slide[k]);
            const int32_t made = fm_add_node(b, FM_DO_PRODUCT, part, given[of->free + of->excited[k]], 0);
            wanted[i] = fm_add_node(b, FM_DO_DIFFERENCE, wanted[i], made, 0);
        }
    }
}

static void build_matrix(fm_builder *b, const screws *of)
{
    fm_general_slots *g = b->general + of->general;
    int32_t entry[FM_JOINT_MODES * FM_JOINT_MODES];
    for (int32_t k = 0; k < of->count; k++)
        for (int32_t i = 0; i < of->rows && of->excited[k] < 0; i++)
            entry[i * of->rows + fm_place_of_screw(b->m, of->general, k)] =
                along_row(b, of, i, g->turn[k], g->slide[k]);
    g->matrix = pack(b, entry, of->rows * of->rows);
}

/* Of each screw its rate, or its second derivative. */
static void solve_rows(fm_builder *b, const screws *of, const int32_t *given, const int32_t *wanted, int32_t *of_screw)
{
    const int32_t n = of->rows, matrix = b->general[of->general].matrix;
    const int32_t solved = fm_add_part(b, FM_DO_SOLVE, matrix, pack(b, wanted, n), 0, n, FM_JOINT_MODES);
    for (int32_t k = 0; k < of->count; k++)
        of_screw[k] =
            of->excited[k] < 0 ? solved + fm_place_of_screw(b->m, of->general, k) : given[of->free + of->excited[k]];
}

/* The motion of the link's origin in the axes of the joint's frame, which rests. */
typedef struct relative {
    int32_t w, v, alpha, a;
} relative;

static relative move_link(fm_builder *b, const screws *of, const int32_t *second_given)
{
    const fm_general_slots *g = b->general + of->general;
    const fm_motion_places *at = screw_at(b, of, of->count - 1, 1);
    const int32_t arm = fm_add_node(b, FM_DO_SUBTRACT, of->tail, screw_at(b, of, of->count - 1, 0)->r, 0);
    const int32_t turned = fm_add_node(b, FM_DO_CROSS, at->w, arm, 0);
    const int32_t w_rows = of->after > 0 ? screw_at(b, of, of->after - 1, 1)->w : b->zero;
    relative out = {at->w, fm_add_node(b, FM_DO_ADD, at->v, turned, 0), at->alpha, 0};
    int32_t wanted[FM_JOINT_MODES], second[FM_JOINT_MODES];
    out.a = fm_add_node(b, FM_DO_ADD_CROSS, fm_add_node(b, FM_DO_ADD_CROSS, at->a, at->alpha, arm), at->w, turned);
    const int32_t turning = fm_add_node(b, FM_DO_ADD_CROSS, out.alpha, out.w, w_rows);
    const int32_t sliding = fm_add_node(b, FM_DO_ADD_CROSS, out.a, out.v, w_rows);
    find_wanted(b, of, second_given, wanted);
    for (int32_t i = 0; i < of->rows; i++)
        wanted[i] = fm_add_node(b, FM_DO_DIFFERENCE, wanted[i], along_row(b, of, i, turning, sliding), 0);
    solve_rows(b, of, second_given, wanted, second);
    for (int32_t k = 0; k < of->count; k++) {
        out.alpha = fm_add_node(b, FM_DO_ADD_SCALED, out.alpha, second[k], g->turn[k]);
        out.a = fm_add_node(b, FM_DO_ADD_SCALED, out.a, second[k], g->slide[k]);
    }
    return out;
}

static screws screws_of(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const int32_t g = m->link_general[i];
    screws of = {.link = i, .general = g, .first = m->general_screw[g], .count = m->general_screws[g]};
    of.rows = m->general_rows[g], of.free = m->general_speeds[g], of.after = m->general_after[g];
    of.u = m->link_u[i];
    for (int32_t k = 0; k < of.count; k++)
        of.excited[k] = m->screw_excited[of.first + k] ? fm_place_of_screw(m, g, k) - of.rows : -1;
    return of;
}

/* The motion of such a link, and the rates of its positions. */
void fm_build_general(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    fm_link_slots *k = b->link + i;
    const fm_link_slots *p = b->link + m->link_parent[i];
    screws of = screws_of(b, i);
    fm_general_slots *g = b->general + of.general;
    int32_t speed[FM_JOINT_MODES], second[FM_JOINT_MODES], wanted[FM_JOINT_MODES];
    const fm_motion_places rest = {b->identity, b->zero, b->zero, b->zero, b->zero, b->zero};
    b->g->motion[m->n.links + 1] = rest;
    for (int32_t j = 0; j < fm_link_speeds(m, i); j++)
        speed[j] = b->g->leaf.y + m->n.positions + of.u + j, second[j] = b->g->acceleration[of.u + j];
    of.last = build_chain(b, &of, 0);
    if (b->failed) return;
    of.tail = fm_add_node(b, FM_DO_ADD, of.last + FM_MOTION_PLACE,
                          fm_carry(b, of.last + FM_MOTION_R, m->general_tail + 3 * of.general), 0);
    build_columns(b, &of);
    build_rows(b, &of);
    build_matrix(b, &of);
    find_wanted(b, &of, speed, wanted);
    solve_rows(b, &of, speed, wanted, g->rate);
    (void)build_chain(b, &of, 1);
    if (b->failed) return;
    const relative in = move_link(b, &of, second);
    for (int32_t s = 0; s < of.count; s++) b->g->rate[m->link_p[i] + fm_place_of_screw(m, of.general, s)] = g->rate[s];
    g->R = fm_add_node(b, FM_DO_PLACE, p->R, 0, fm_constant(b, m->link_R + 9 * i, 9));
    k->R = fm_add_node(b, FM_DO_COMPOSE, g->R, 0, of.last + FM_MOTION_R);
    const int32_t place = fm_carry(b, p->R, m->link_r + 3 * i);
    k->arm = fm_add_node(b, FM_DO_ADD, place, fm_add_node(b, FM_DO_CARRY, g->R, of.tail, 0), 0);
    const int32_t w = fm_add_node(b, FM_DO_CARRY, g->R, in.w, 0), v = fm_add_node(b, FM_DO_CARRY, g->R, in.v, 0);
    const int32_t alpha = fm_add_node(b, FM_DO_CARRY, g->R, in.alpha, 0),
                  a = fm_add_node(b, FM_DO_CARRY, g->R, in.a, 0);
    const int32_t turned = fm_add_node(b, FM_DO_CROSS, p->w, k->arm, 0);
    k->r = fm_add_node(b, FM_DO_ADD, p->r, k->arm, 0);
    k->w = fm_add_node(b, FM_DO_ADD, p->w, w, 0);
    k->v = fm_add_node(b, FM_DO_ADD, fm_add_node(b, FM_DO_ADD, p->v, turned, 0), v, 0);
    k->alpha = fm_add_node(b, FM_DO_ADD_CROSS, fm_add_node(b, FM_DO_ADD, p->alpha, alpha, 0), p->w, w);
    const int32_t twice = fm_add_node(b, FM_DO_ADD_SCALED, turned, fm_number(b, 2.0), v);
    k->a = fm_add_node(b, FM_DO_ADD, fm_add_node(b, FM_DO_ADD_CROSS, p->a, p->alpha, k->arm), a, 0);
    k->a = fm_add_node(b, FM_DO_ADD_CROSS, k->a, p->w, twice);
}

/* The residuals of its free speeds: of the wrench that it takes, its springs, dampers and what is applied. */
void fm_build_general_forces(fm_builder *b, int32_t i)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const screws of = screws_of(b, i);
    const fm_general_slots *g = b->general + of.general;
    const int32_t wrench = fm_wrench_of(b, b->link + i);
    const int32_t torque = fm_add_node(b, FM_DO_BACK, g->R, wrench, 0);
    const int32_t force = fm_add_node(b, FM_DO_BACK, g->R, wrench + 3, 0);
    int32_t tau[FM_JOINT_MODES];
    for (int32_t k = 0; k < of.count; k++) {
        const int32_t at = fm_place_of_screw(m, of.general, k), screw = of.first + k;
        if (of.excited[k] >= 0) continue;
        const int32_t away = fm_add_node(b, FM_DO_DIFFERENCE, leaf->y + m->link_p[i] + at, leaf->screw_rest + screw, 0);
        int32_t sum = fm_add_node(b, FM_DO_SUM, fm_add_node(b, FM_DO_DOT, g->turn[k], torque, 0),
                                  fm_add_node(b, FM_DO_DOT, g->slide[k], force, 0), 0);
        sum = fm_add_node(b, FM_DO_ADD_PRODUCT, sum, leaf->screw_stiffness + screw, away);
        tau[at] = fm_add_node(b, FM_DO_ADD_PRODUCT, sum, leaf->screw_damping + screw, g->rate[k]);
    }
    const int32_t along = fm_add_part(b, FM_DO_SOLVE, g->matrix, pack(b, tau, of.rows), 0, -of.rows, FM_JOINT_MODES);
    for (int32_t j = 0; j < of.free; j++)
        b->g->residual[of.u + j] = fm_add_node(b, FM_DO_DIFFERENCE, along + j, b->applied[of.u + j], 0);
}
