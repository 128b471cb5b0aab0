/* matrix_graph.c: springs and dampers with matrices, of balls and of bushings, and of three turns by their rotation
 * vector, by the equations of forces/matrix_laws.c.
 */
#include "matrix_graph.h"

#include "../image/joints.h"
#include "builder.h"
#include "nodes.h"

/* K theta of a ball at the quaternion q, u the first of its modes; *angle: theta. */
static int32_t ball_spring(fm_builder *b, int32_t joint, int32_t u, int32_t q, int32_t *angle)
{
    const fm_image *m = b->m;
    const int full = m->joint_kind[joint] == FM_JOINT_SPHERICAL && m->joint_couplings[joint] > 0;
    const int32_t K = full ? b->g->leaf.coupled_stiffness + m->joint_coupled[joint] : b->zero;
    *angle = fm_add_node(b, FM_DO_BEND, q, 0, 0);
    return fm_add_node(b, FM_DO_SYMMETRIC, b->g->leaf.stiffness + u, K, *angle);
}

/* The energy of that spring, twice. */
int32_t fm_build_ball_energy(fm_builder *b, int32_t joint, int32_t u, int32_t q)
{
    int32_t angle;
    const int32_t force = ball_spring(b, joint, u, q, &angle);
    return fm_add_node(b, FM_DO_DOT, angle, force, 0);
}

/* The torque of a ball's spring, G' K theta, and of its damper, at the quaternion q and the velocity `speed`. */
int32_t fm_build_ball_resistance(fm_builder *b, int32_t joint, int32_t u, int32_t q, int32_t speed)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int full = m->joint_kind[joint] == FM_JOINT_SPHERICAL && m->joint_couplings[joint] > 0;
    int32_t angle;
    const int32_t force = ball_spring(b, joint, u, q, &angle);
    const int32_t D = full ? leaf->coupled_damping + m->joint_coupled[joint] : b->zero;
    const int32_t once = fm_add_node(b, FM_DO_CROSS, angle, force, 0),
                  twice = fm_add_node(b, FM_DO_CROSS, angle, once, 0);
    const int32_t factor = fm_add_node(b, FM_DO_SERIES, fm_add_node(b, FM_DO_DOT, angle, angle, 0), 0, 0);
    const int32_t drag = fm_add_node(b, FM_DO_SYMMETRIC, leaf->damping + u, D, speed);
    const int32_t sum = fm_add_node(b, FM_DO_ADD_SCALED, force, fm_number(b, -0.5), once);
    return fm_add_node(b, FM_DO_ADD, fm_add_node(b, FM_DO_ADD_SCALED, sum, factor, twice), drag, 0);
}

/* The forces between the modes of bushings, added to those on the modes. */
static void couple_modes(fm_builder *b, int32_t joint, int32_t p, int32_t u)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t first = m->joint_u[joint];
    const int32_t minus = fm_number(b, -1.0);
    for (int32_t c = m->joint_coupled[joint]; c < m->joint_coupled[joint] + m->joint_couplings[joint]; c++)
        for (int way = 0; way < 2; way++) {
            const int32_t on = m->coupled_modes[2 * c + way], by = m->coupled_modes[2 * c + 1 - way];
            const int32_t away = fm_add_node(b, FM_DO_DIFFERENCE, p + by, leaf->rest + first + by, 0);
            int32_t back = fm_add_node(b, FM_DO_PRODUCT, leaf->coupled_stiffness + c, away, 0);
            back = fm_add_node(b, FM_DO_ADD_PRODUCT, back, leaf->coupled_damping + c, u + by);
            int32_t *applied = b->applied + first + on;
            *applied = fm_add_node(b, FM_DO_ADD_PRODUCT, *applied, minus, back);
        }
}

/* K v of three modes from `mode` on, or D v. */
static int32_t times(fm_builder *b, int32_t diagonal, int32_t v)
{
    return fm_add_node(b, FM_DO_SYMMETRIC, diagonal, b->zero, v);
}

/* The forces of a spring and a damper on a rotation vector t in place of those on the three angles q: what they add to
 * these, K (q - rest) + D q' - B' (K (t - rest) + D B q'), B = G A. */
static void resist_rotation(fm_builder *b, int32_t joint, int32_t q, int32_t u)
{
    const fm_image *m = b->m;
    const fm_leaves *leaf = &b->g->leaf;
    const int32_t first = m->joint_bends[joint], mode = m->joint_u[joint] + first;
    q += first, u += first;
    const int32_t K = leaf->stiffness + mode, D = leaf->damping + mode, rest = leaf->rest + mode;
    const int32_t t = fm_add_node(b, FM_DO_TURNS, q, 0, 0);
    const int32_t c = fm_add_node(b, FM_DO_SERIES, fm_add_node(b, FM_DO_DOT, t, t, 0), 0, 0);
    const int32_t half = fm_number(b, 0.5), minus_half = fm_number(b, -0.5);
    const int32_t spin = fm_add_node(b, FM_DO_SPIN, q, u, 0), once = fm_add_node(b, FM_DO_CROSS, t, spin, 0);
    int32_t rate = fm_add_node(b, FM_DO_ADD_SCALED, spin, half, once);
    rate = fm_add_node(b, FM_DO_ADD_SCALED, rate, c, fm_add_node(b, FM_DO_CROSS, t, once, 0));
    const int32_t away = fm_add_node(b, FM_DO_SUBTRACT, t, rest, 0);
    const int32_t moment = fm_add_node(b, FM_DO_ADD, times(b, K, away), times(b, D, rate), 0);
    const int32_t turned = fm_add_node(b, FM_DO_CROSS, t, moment, 0);
    int32_t torque = fm_add_node(b, FM_DO_ADD_SCALED, moment, minus_half, turned);
    torque = fm_add_node(b, FM_DO_ADD_SCALED, torque, c, fm_add_node(b, FM_DO_CROSS, t, turned, 0));
    const int32_t angles = fm_add_node(b, FM_DO_SUBTRACT, q, rest, 0);
    int32_t more = fm_add_node(b, FM_DO_ADD, times(b, K, angles), times(b, D, u), 0);
    more = fm_add_node(b, FM_DO_SUBTRACT, more, fm_add_node(b, FM_DO_SPIN_BACK, q, torque, 0), 0);
    for (int32_t j = 0; j < 3; j++) b->applied[mode + j] = fm_add_node(b, FM_DO_SUM, b->applied[mode + j], more + j, 0);
    b->bent[joint] = t;
}

/* Those of a joint at positions p and velocities u, beside the diagonals, added to the forces on its modes. */
void fm_build_matrix(fm_builder *b, int32_t joint, int32_t p, int32_t u)
{
    const fm_image *m = b->m;
    if (m->joint_bends[joint] >= 0) resist_rotation(b, joint, p, u);
    else if (m->joint_couplings[joint] > 0 && m->joint_kind[joint] == FM_JOINT_SCALAR) couple_modes(b, joint, p, u);
}

/* Those of joints of the tree. */
void fm_build_matrices(fm_builder *b)
{
    const fm_image *m = b->m;
    const int32_t y = b->g->leaf.y;
    for (int32_t j = 0; j < m->n.joints; j++)
        if (!fm_is_cut_joint(m, j)) fm_build_matrix(b, j, y + m->joint_p[j], y + m->n.positions + m->joint_u[j]);
}
