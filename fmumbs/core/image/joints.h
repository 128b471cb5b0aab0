/* joints.h: functions of joints.c. */
#ifndef FM_JOINTS_H
#define FM_JOINTS_H

#include "image.h"

FM_HIDDEN_BEGIN

int fm_is_pin(const fm_image *m, int32_t joint);
int32_t fm_joint_of_mode(const fm_image *m, int32_t mode);
int32_t fm_cut_joint_part(const fm_image *m, int32_t joint, int32_t part, int32_t *at);
int32_t fm_row_of_joint(const fm_image *m, int32_t row);
int32_t fm_link_positions(const fm_image *m, int32_t link);
int32_t fm_link_speeds(const fm_image *m, int32_t link);

/* Whether a joint is a cut joint, which closes a loop or fixes a leaf to the ground: its position follows from its
 * frames. */
static inline int fm_is_cut_joint(const fm_image *m, int32_t joint)
{
    return m->joint_first[joint] < 0;
}

/* Whether a cut joint only turns, about one axis. */
static inline int fm_is_hinge(const fm_image *m, int32_t joint)
{
    return fm_is_pin(m, joint) && m->cut_slide[m->joint_mode[joint]] == 0.0;
}

/* Whether springs couple the modes of a joint of the tree. */
static inline int fm_has_matrix(const fm_image *m, int32_t joint)
{
    const int32_t kind = m->joint_kind[joint];
    return m->joint_couplings[joint] > 0 && !fm_is_cut_joint(m, joint) &&
           (kind == FM_JOINT_SCALAR || kind == FM_JOINT_SPHERICAL);
}

/* Where a screw of a general link is in rows and changes while positions are assembled; free ones are after all modes.
 */
static inline int32_t fm_screw_variable(const fm_image *m, int32_t link, int32_t place)
{
    const int32_t g = m->link_general[link], rows = m->general_rows[g];
    return place < rows ? m->n.modes + m->general_row[g] + place
                        : m->link_u[link] + m->general_speeds[g] + (place - rows);
}

/* Whether a coupling is a cam: its first coordinate follows a path over the second. */
static inline int fm_is_cam(const fm_image *m, int32_t coupling)
{
    return m->coupling_count[coupling] == 2 && m->term_path[m->coupling_first[coupling] + 1] >= 0;
}

static inline int fm_has_cams(const fm_image *m)
{
    for (int32_t i = 0; i < m->n.couplings; i++)
        if (fm_is_cam(m, i)) return 1;
    return 0;
}

/* Whether a law is that of what the gear of a motor loses. */
static inline int fm_law_is_loss(const fm_image *m, int32_t law)
{
    return m->law_motor[law] >= 0 && m->law_u[law] >= 0;
}

/* Whether a row is the distance of two points that follows a program; its target itself moves nothing. */
static inline int fm_is_programmed_length(const fm_image *m, int32_t row)
{
    return m->row_kind[row] == FM_ROW_DISTANCE && m->row_excitation[row] >= 0;
}

/* The link's own axis about which it rotates or along which it slides: 0, 1 or 2. */
static inline int32_t fm_link_axis(int32_t kind)
{
    return kind <= FM_LINK_REVOLUTE_Z ? kind - FM_LINK_REVOLUTE_X : 2;
}

/* Whether a joint's own reaction loads its friction. */
static inline int fm_is_owned(const fm_image *m, int32_t friction)
{
    const double *own = m->friction_own + 3 * friction;
    return own[0] > 0.0 || own[1] > 0.0 || own[2] > 0.0;
}

FM_HIDDEN_END

#endif
