/* row_graph.c: the constraint rows of loops and couplings with their first two derivatives, by the equations of
 * loops/constraints.c; what their multipliers exert; and what acts along their modes (cut_graph.c).
 */
#include "row_graph.h"

#include "../image/joints.h"
#include "../maths/vectors.h"
#include "builder.h"
#include "cut_graph.h"
#include "nodes.h"
#include "tree_graph.h"

#include <string.h>

/* The ends of a cut joint: M's origin from F's, and the sums of the forces and torques on M there. */
typedef struct fm_cut_slots {
    int32_t joint, F, M, r, arm, force, torque;
    fm_moving between;
} fm_cut_slots;

static fm_moving moving_at(int32_t at)
{
    const fm_moving out = {at, at + 3, at + 6};
    return out;
}

static fm_moving fixed_vector(fm_builder *b, int32_t link, const double *in)
{
    return moving_at(fm_add_part(b, FM_DO_CARRIED, 0, fm_constant(b, in, 3), 0, link, 9));
}

static int32_t product_of(fm_builder *b, int32_t v, int32_t w)
{
    return fm_add_node(b, FM_DO_DOT, v, w, 0);
}

/* The derivatives of v . w, each of them one piece, and its value less a length. */
static void write_dot(fm_builder *b, int32_t row, fm_moving v, fm_moving w, double length)
{
    const int32_t at = fm_add_node(b, FM_DO_PRODUCT_ROW, v.at, w.at, fm_number(b, length));
    for (int level = 0; level < 3; level++) b->g->row[3 * row + level] = at + level;
}

/* (d . d - l^2) / 2 l */
static int32_t write_distance(fm_builder *b, int32_t row, fm_moving d, double length)
{
    int32_t *c = b->g->row + 3 * row;
    const int32_t over = fm_number(b, 1.0 / length);
    const int32_t square =
        fm_add_node(b, FM_DO_DIFFERENCE, product_of(b, d.at, d.at), fm_number(b, length * length), 0);
    c[0] = fm_times_constant(b, 0.5 / length, square);
    c[1] = fm_add_node(b, FM_DO_PRODUCT, over, product_of(b, d.at, d.rate), 0);
    const int32_t second = fm_add_node(b, FM_DO_SUM, product_of(b, d.at, d.second), product_of(b, d.rate, d.rate), 0);
    c[2] = fm_add_node(b, FM_DO_PRODUCT, over, second, 0);
    return fm_add_node(b, FM_DO_SCALE, over, d.at, 0);
}

/* |d| less the length of a program. */
static int32_t write_length(fm_builder *b, int32_t row, fm_moving d)
{
    const fm_image *m = b->m;
    int32_t *c = b->g->row + 3 * row;
    const int32_t one = m->row_excitation[row], u = m->excitation_u[one];
    const int32_t length = fm_add_node(b, FM_DO_LENGTH, d.at, 0, 0);
    const int32_t along =
        fm_add_node(b, FM_DO_SCALE, fm_add_node(b, FM_DO_QUOTIENT, fm_number(b, 1.0), length, 0), d.at, 0);
    const int32_t rate = product_of(b, along, d.rate);
    const int32_t turning = fm_add_node(b, FM_DO_DIFFERENCE, product_of(b, d.rate, d.rate),
                                        fm_add_node(b, FM_DO_PRODUCT, rate, rate, 0), 0);
    const int32_t second = fm_add_node(b, FM_DO_SUM, product_of(b, along, d.second),
                                       fm_add_node(b, FM_DO_QUOTIENT, turning, length, 0), 0);
    c[0] = fm_add_node(b, FM_DO_DIFFERENCE, length, b->g->leaf.y + m->excitation_p[one], 0);
    c[1] = fm_add_node(b, FM_DO_DIFFERENCE, rate, b->g->leaf.y + m->n.positions + u, 0);
    c[2] = fm_add_node(b, FM_DO_DIFFERENCE, second, b->g->acceleration[u], 0);
    return along;
}

static void push(fm_builder *b, int32_t *sum, int32_t row, int32_t along)
{
    const int32_t lambda = b->g->leaf.lambda + row;
    *sum = *sum == FM_NO_SLOT ? fm_add_node(b, FM_DO_SCALE, lambda, along, 0)
                              : fm_add_node(b, FM_DO_ADD_SCALED, *sum, lambda, along);
}

/* Less the pitch times the angle of a screw about e; returns the torque of a unit of its multiplier. */
static int32_t add_pitch(fm_builder *b, int32_t row, const fm_cut_slots *cut, fm_moving e)
{
    int32_t *c = b->g->row + 3 * row;
    const fm_link_slots *F = b->link + cut->F, *M = b->link + cut->M;
    const int32_t w = fm_add_node(b, FM_DO_SUBTRACT, M->w, F->w, 0);
    const int32_t alpha = fm_add_node(b, FM_DO_SUBTRACT, M->alpha, F->alpha, 0);
    const int32_t second = fm_add_node(b, FM_DO_SUM, product_of(b, e.at, alpha), product_of(b, e.rate, w), 0);
    const int32_t less = fm_number(b, -b->m->row_length[row]);
    c[0] = fm_add_node(b, FM_DO_ADD_PRODUCT, c[0], less, b->cut[cut->joint].p);
    c[1] = fm_add_node(b, FM_DO_ADD_PRODUCT, c[1], less, product_of(b, e.at, w));
    c[2] = fm_add_node(b, FM_DO_ADD_PRODUCT, c[2], less, second);
    return fm_add_node(b, FM_DO_SCALE, less, e.at, 0);
}

/* A row of a cut joint; adds what its multiplier exerts on M's link at M's origin. */
static int build_row(fm_builder *b, int32_t row, fm_cut_slots *cut)
{
    const fm_image *m = b->m;
    const double length = m->row_length[row];
    fm_moving e = {0, 0, 0}, g = {0, 0, 0};
    const int32_t kind = m->row_kind[row];
    if (kind == FM_ROW_ALONG || kind == FM_ROW_PERPENDICULAR || kind == FM_ROW_SCREW)
        e = fixed_vector(b, cut->F, m->row_f + 3 * row);
    if (kind == FM_ROW_ALONG_M || kind == FM_ROW_PERPENDICULAR) g = fixed_vector(b, cut->M, m->row_g + 3 * row);
    switch (kind) {
    case FM_ROW_ALONG:
        write_dot(b, row, e, cut->between, length);
        push(b, &cut->force, row, e.at);
        return 1;
    case FM_ROW_SCREW:
        write_dot(b, row, e, cut->between, 0.0);
        push(b, &cut->force, row, e.at);
        push(b, &cut->torque, row, add_pitch(b, row, cut, e));
        return 1;
    case FM_ROW_ALONG_M:
        write_dot(b, row, g, cut->between, length);
        push(b, &cut->force, row, g.at);
        push(b, &cut->torque, row, fm_add_node(b, FM_DO_CROSS, g.at, cut->between.at, 0));
        return 1;
    case FM_ROW_PERPENDICULAR:
        write_dot(b, row, e, g, length);
        push(b, &cut->torque, row, fm_add_node(b, FM_DO_CROSS, g.at, e.at, 0));
        return 1;
    case FM_ROW_DISTANCE:
        push(b, &cut->force, row,
             fm_is_programmed_length(m, row) ? write_length(b, row, cut->between)
                                             : write_distance(b, row, cut->between, length));
        return 1;
    default: return fm_uncovered(b, "the kind of constraint of joint", m->joint_name[cut->joint]);
    }
}

/* Adds a term of a coupling, ratio q, to its row. */
static void add_term(fm_builder *b, int32_t term, int32_t c[3])
{
    const fm_image *m = b->m;
    const int32_t link = m->term_link[term], u = m->link_u[link],
                  ratio = b->ratio[term] = fm_number(b, m->term_ratio[term]);
    c[0] = fm_add_node(b, FM_DO_ADD_PRODUCT, c[0], ratio, b->g->leaf.y + m->link_p[link]);
    c[1] = fm_add_node(b, FM_DO_ADD_PRODUCT, c[1], ratio, b->g->leaf.y + m->n.positions + u);
    c[2] = fm_add_node(b, FM_DO_ADD_PRODUCT, c[2], ratio, b->g->acceleration[u]);
}

/* Adds that of a cam, ratio scale f(a - phase) (loops/profiles.c). */
static void add_profile(fm_builder *b, int32_t coupling, int32_t term, int32_t c[3])
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t link = m->term_link[term], u = m->link_u[link], rate = leaf->y + m->n.positions + u;
    const int32_t a = fm_add_node(b, FM_DO_DIFFERENCE, leaf->y + m->link_p[link], leaf->coupling_phase + coupling, 0);
    const int32_t f = fm_add_part(b, FM_DO_PROFILE, a, 0, 0, m->term_path[term], 3);
    const int32_t factor = fm_times_constant(b, m->term_ratio[term], leaf->coupling_scale + coupling);
    const int32_t bend = fm_add_node(b, FM_DO_PRODUCT, factor, f + 2, 0);
    const int32_t ratio = b->ratio[term] = fm_add_node(b, FM_DO_PRODUCT, factor, f + 1, 0);
    c[0] = fm_add_node(b, FM_DO_ADD_PRODUCT, c[0], factor, f);
    c[1] = fm_add_node(b, FM_DO_ADD_PRODUCT, c[1], ratio, rate);
    c[2] = fm_add_node(b, FM_DO_ADD_PRODUCT, c[2], ratio, b->g->acceleration[u]);
    c[2] = fm_add_node(b, FM_DO_ADD_PRODUCT, c[2], bend, fm_add_node(b, FM_DO_PRODUCT, rate, rate, 0));
}

/* The sum of ratio q, or of a cam's path, less the offset. */
static int build_coupling(fm_builder *b, int32_t row)
{
    const fm_image *m = b->m;
    const int32_t coupling = m->row_coupling[row], first = m->coupling_first[coupling];
    const int32_t none = fm_number(b, 0.0), length = fm_number(b, -m->row_length[row]);
    int32_t c[3] = {fm_add_node(b, FM_DO_DIFFERENCE, length, b->g->leaf.coupling_offset + coupling, 0), none, none};
    if (m->row_part[row] != FM_OF_POSITION)
        return fm_uncovered(b, "velocities of coupling", m->coupling_name[coupling]);
    for (int32_t j = first; j < first + m->coupling_count[coupling]; j++) {
        const int32_t link = m->term_link[j], u = m->link_u[link];
        if (m->term_path[j] >= 0) add_profile(b, coupling, j, c);
        else add_term(b, j, c);
        if (m->link_kind[link] == FM_LINK_DRIVEN) continue; /* the drive takes its force */
        const int32_t force = fm_add_node(b, FM_DO_PRODUCT, b->ratio[j], b->g->leaf.lambda + row, 0);
        const int32_t sum = b->g->residual[u] == FM_NO_SLOT ? none : b->g->residual[u];
        b->g->residual[u] = fm_add_node(b, FM_DO_DIFFERENCE, sum, force, 0);
    }
    memcpy(b->g->row + 3 * row, c, sizeof c);
    return 1;
}

/* A point of a link, -1 the ground, with its arm first. */
static int32_t place_end(fm_builder *b, int32_t link, const double *in)
{
    return fm_add_part(b, FM_DO_POINT, 0, fm_constant(b, in, 3), 0, link, 12);
}

static fm_cut_slots begin_cut(fm_builder *b, int32_t joint)
{
    const fm_image *m = b->m;
    const int32_t F = m->joint_F_link[joint], M = m->joint_M_link[joint];
    const int32_t f = place_end(b, F, m->joint_F_r + 3 * joint), g = place_end(b, M, m->joint_M_r + 3 * joint);
    const int32_t apart = fm_add_part(b, FM_DO_APART, g + FM_POINT_AT, f + FM_POINT_AT, 0, 9, 9);
    const fm_cut_slots cut = {joint, F, M, g + FM_POINT_AT, g, FM_NO_SLOT, FM_NO_SLOT, moving_at(apart)};
    fm_build_cut_motion(b, joint, cut.between);
    return cut;
}

static void add_applied(fm_builder *b, int32_t *sum, int32_t more)
{
    if (more == FM_NO_SLOT) return;
    *sum = *sum == FM_NO_SLOT ? more : fm_add_node(b, FM_DO_ADD, *sum, more, 0);
}

/* What acts on M is subtracted from what its link takes; the opposite acts on F's link at the same point. */
static void end_cut(fm_builder *b, fm_cut_slots *cut)
{
    b->cut[cut->joint].force = cut->force, b->cut[cut->joint].torque = cut->torque;
    fm_build_cut_forces(b, cut->joint);
    add_applied(b, &cut->torque, b->cut[cut->joint].applied[0]);
    add_applied(b, &cut->force, b->cut[cut->joint].applied[1]);
    fm_add_wrench(b, cut->M, cut->force, cut->arm, cut->torque, -1);
    if (cut->F < 0) return;
    fm_add_wrench(b, cut->F, cut->force, fm_add_node(b, FM_DO_SUBTRACT, cut->r, b->link[cut->F].r, 0), cut->torque, 1);
}

/* All rows of a cut joint. */
static int build_cut(fm_builder *b, int32_t joint)
{
    const fm_image *m = b->m;
    fm_cut_slots cut = begin_cut(b, joint);
    for (int32_t row = 0; row < m->n.rows; row++) {
        if (m->row_joint[row] != joint || m->row_kind[row] == FM_ROW_GIVEN || m->row_kind[row] == FM_ROW_COUPLED)
            continue;
        if (!build_row(b, row, &cut)) return 0;
    }
    end_cut(b, &cut);
    return 1;
}

int fm_build_rows(fm_builder *b)
{
    const fm_image *m = b->m;
    for (int32_t row = 0; row < m->n.rows; row++) {
        const int locks = m->row_part[row] == FM_OF_LOCK;
        if (m->row_kind[row] == FM_ROW_COUPLED && !locks && !build_coupling(b, row)) return 0;
    }
    for (int32_t j = 0; j < m->n.joints; j++) {
        if (!fm_is_cut_joint(m, j)) continue;
        if (!build_cut(b, j)) return 0;
    }
    return 1;
}
