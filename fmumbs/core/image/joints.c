/* joints.c: properties of joints and links that follow from the image alone. */
#include "joints.h"

#include "image.h"

/* Whether a cut joint is a pin: its only mode is a rotation or a screw. */
int fm_is_pin(const fm_image *m, int32_t joint)
{
    const int32_t mode = m->joint_mode[joint];
    return m->joint_modes[joint] == 1 && m->cut_kind[mode] == FM_CUT_SCREW && m->cut_turn[mode] != 0.0;
}

/* For velocity variable `part` of a cut joint: which of the three of a ball it is, -1 if it is not one. `at`: the first
 * position variable of its mode. */
int32_t fm_cut_joint_part(const fm_image *m, int32_t joint, int32_t part, int32_t *at)
{
    int32_t first = 0;
    *at = m->joint_p[joint];
    for (int32_t k = m->joint_mode[joint]; k < m->joint_mode[joint] + m->joint_modes[joint]; k++) {
        const int32_t size = m->cut_kind[k] == FM_CUT_BALL ? 3 : m->cut_kind[k] == FM_CUT_SCREW;
        if (part < first + size) return size == 3 ? part - first : -1;
        first += size;
        *at += size == 3 ? 4 : size;
    }
    return -1;
}

/* How many rows of the same joint and kind come before a row. */
int32_t fm_row_of_joint(const fm_image *m, int32_t row)
{
    int32_t first = row;
    while (first > 0 && m->row_joint[first - 1] == m->row_joint[row] && m->row_kind[first - 1] == m->row_kind[row])
        first--;
    return row - first;
}

/* The numbers of position and velocity variables of a link; the arrays of general links and flexible bodies must have
 * been checked. */
int32_t fm_link_positions(const fm_image *m, int32_t link)
{
    static const int32_t positions[FM_LINK_KINDS] = {1, 1, 1, 1, 1, 4, 1, 0, 1, 0, 0, 0};
    const int32_t kind = m->link_kind[link];
    if (kind == FM_LINK_MODAL) return m->modal_shapes[m->link_modal[link]];
    return kind == FM_LINK_GENERAL ? m->general_screws[m->link_general[link]] : positions[kind];
}

int32_t fm_link_speeds(const fm_image *m, int32_t link)
{
    static const int32_t speeds[FM_LINK_KINDS] = {1, 1, 1, 1, 1, 3, 1, 0, 1, 0, 0, 0};
    const int32_t kind = m->link_kind[link], g = m->link_general[link];
    if (kind == FM_LINK_MODAL) return m->modal_shapes[m->link_modal[link]];
    if (kind != FM_LINK_GENERAL) return speeds[kind];
    return m->general_speeds[g] + (m->general_screws[g] - m->general_rows[g]);
}

/* The joint of a mode, of the tree or of a cut joint; -1: it is one of a flexible body. */
int32_t fm_joint_of_mode(const fm_image *m, int32_t mode)
{
    for (int32_t j = 0; j < m->n.joints; j++)
        if (mode >= m->joint_u[j] && mode < m->joint_u[j] + m->joint_nu[j]) return j;
    return -1;
}
