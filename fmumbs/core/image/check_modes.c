/* check_modes.c: consistency checks of the arrays of excited modes, paths, links of several screws and flexible
 * bodies.
 */
#include "check_modes.h"

#include "../maths/rotations.h"
#include "image.h"

#include <stdlib.h>

/* Links of several screws follow one another, each with its own screws and rows. */
static const char *check_generals(const fm_image *m)
{
    int32_t screw = 0, row = 0, next = 0;
    for (int32_t i = 0; i < m->n.links; i++) {
        const int32_t g = m->link_general[i];
        if (m->link_kind[i] != FM_LINK_GENERAL) {
            if (g != -1) return "a link has screws, but is of another kind";
            continue;
        }
        if (g != next++ || m->general_link[g] != i) return "links of several screws are out of place";
        const int32_t screws = m->general_screws[g], rows = m->general_rows[g], speeds = m->general_speeds[g];
        if (screws < 1 || screws > FM_JOINT_MODES || screws > m->n.screws - screw || m->general_screw[g] != screw)
            return "a link has an impossible number of screws";
        int32_t free = screws;
        for (int32_t k = screw; k < screw + screws; k++) {
            if (m->screw_excited[k] != 0 && m->screw_excited[k] != 1) return "a screw is neither excited nor free";
            if (!fm_is_rotation(m->screw_R + 9 * k)) return "a screw's frame is not a rotation";
            free -= m->screw_excited[k];
        }
        if (rows != free || rows < 1 || rows > m->n.velocity_rows - row || m->general_row[g] != row)
            return "a link's velocity rows do not fit its screws";
        if (speeds < 0 || speeds > rows || speeds + (screws - free) < 1)
            return "a link has an impossible number of speeds";
        if (m->general_after[g] < 0 || m->general_after[g] > screws)
            return "velocity rows follow a screw that does not exist";
        screw += screws;
        row += rows;
    }
    return next == m->n.generals && screw == m->n.screws && row == m->n.velocity_rows ? NULL
                                                                                      : "screws belong to no link";
}

/* Flexible bodies are in the order of their links, each with its own modes and pairs of modes, and the frames on them.
 */
static const char *check_modals(const fm_image *m)
{
    int32_t next = 0, shape = 0, pair = 0, frame = 0, row = 0, follower = 0;
    for (int32_t i = 0; i < m->n.links; i++) {
        const int32_t kind = m->link_kind[i], b = m->link_modal[i], f = m->link_frame[i], parent = m->link_parent[i];
        if (kind != FM_LINK_MODAL && kind != FM_LINK_FRAME) {
            if (b != -1 || f != -1) return "a link has modes, but is of another kind";
            continue;
        }
        if (kind == FM_LINK_MODAL) {
            if (b != next++ || m->modal_link[b] != i) return "flexible bodies are out of place";
            const int32_t n = m->modal_shapes[b], more = m->modal_seconds[b], all = n + more;
            if (n < 1 || n > FM_BODY_MODES || more < 0 || more > FM_BODY_SECONDS || all > m->n.shapes - shape ||
                all * all > m->n.shape_pairs - pair || more * n * n > m->n.followers - follower ||
                m->modal_shape[b] != shape || m->modal_pair[b] != pair ||
                (more > 0 && m->modal_follower[b] != follower))
                return "a flexible body has an impossible number of modes";
            if (parent < 0) return "a flexible body has no parent";
            shape += all;
            pair += all * all;
            follower += more * n * n;
        } else if (parent < 0 || m->link_kind[parent] != FM_LINK_MODAL || b != m->link_modal[parent] || f < 0) {
            return "a frame moves with the modes of another body";
        } else if (m->link_R[9 * i + 8] != 1.0) {
            return "a frame of a flexible body rotates out of its plane";
        }
        if (f < 0) continue;
        if (f != frame++ || m->frame_link[f] != i || m->frame_first[f] != row ||
            m->modal_shapes[b] + m->modal_seconds[b] > m->n.frame_shapes - row)
            return "frames of flexible bodies are out of place";
        row += m->modal_shapes[b] + m->modal_seconds[b];
    }
    return next == m->n.modals && shape == m->n.shapes && pair == m->n.shape_pairs && frame == m->n.frames &&
                   row == m->n.frame_shapes && follower == m->n.followers
               ? NULL
               : "modes belong to no body";
}

/* Nodes where stress is an output have a row for each mode of their body, one after another. */
static const char *check_gauges(const fm_image *m)
{
    int32_t row = 0;
    for (int32_t i = 0; i < m->n.gauges; i++) {
        const int32_t modes = m->modal_shapes[m->gauge_modal[i]];
        if (m->gauge_first[i] != row || modes > m->n.gauge_modes - row) return "modal stresses are out of place";
        row += modes;
    }
    return row == m->n.gauge_modes ? NULL : "modal stresses belong to no node";
}

static const char *check_paths(const fm_image *m)
{
    int32_t next = 0;
    for (int32_t i = 0; i < m->n.paths; i++) {
        const int32_t pieces = m->path_pieces[i];
        if (pieces < 1 || pieces > m->n.pieces - next || m->path_piece[i] != next)
            return "a path has an impossible number of pieces";
        for (int32_t k = next + 1; k < next + pieces; k++)
            if (!(m->piece_time[k] > m->piece_time[k - 1])) return "the times of a path do not increase";
        const double span = m->piece_time[next + pieces - 1] - m->piece_time[next];
        if (m->path_period[i] != 0.0 && !(m->path_period[i] > span && m->path_period[i] >= FM_LEAST_PERIOD))
            return "a path's period is too short";
        next += pieces;
    }
    return next == m->n.pieces ? NULL : "pieces belong to no path";
}

/* Whether an excited mode has no drive, or one that realises its program: a link with this one free coordinate alone,
 * and no other mode has the same. */
static int fits_drive(const fm_image *m, int32_t e)
{
    const int32_t u = m->excitation_drive[e];
    int found = 0;
    if (u < 0) return 1;
    for (int32_t i = 0; i < m->n.excitations; i++) found |= i != e && m->excitation_drive[i] == u;
    if (found || m->excitation_row[e] < 0) return 0;
    for (int32_t i = 0; i < m->n.links; i++)
        if (m->link_u[i] == u) found = m->link_kind[i] <= FM_LINK_PRISMATIC || m->link_kind[i] == FM_LINK_SCREW;
    return found;
}

/* One of the `count` excited modes of joint j, the first of which is `first`. */
static const char *check_excitation(const fm_image *m, int32_t j, int32_t e, int32_t first, int32_t count)
{
    const int32_t kind = m->excitation_kind[e], back = first + count - e;
    if (kind < 0 || kind >= FM_EXCITATION_KINDS) return "an excited mode has a kind that does not exist";
    if (m->excitation_joint[e] != j) return "an excited mode belongs to another joint";
    if (m->excitation_p[e] != m->joint_p[j] + m->joint_np[j] - back ||
        m->excitation_u[e] != m->joint_u[j] + m->joint_nu[j] - back)
        return "an excited mode's variables are out of place";
    if ((kind == FM_EXCITED_BY_PATH) != (m->excitation_path[e] >= 0)) return "an excited mode's path is missing";
    if (kind == FM_EXCITED_BY_POSITION && !(m->excitation_cutoff[e] > 0.0))
        return "an excited mode's filter has no cut-off";
    if (!(m->excitation_transition[e] >= 0.0)) return "a program's transition is negative";
    if (m->excitation_row[e] >= 0 && m->row_excitation[m->excitation_row[e]] != e)
        return "a program follows another mode";
    if (m->excitation_row[e] < 0 && m->excitation_transition[e] != 0.0)
        return "a mode without a program has a transition";
    if (m->excitation_insist[e] != 0 && m->excitation_insist[e] != 1)
        return "a program's insistence is neither on nor off";
    if (!fits_drive(m, e)) return "a drive realises nothing, or is no free coordinate of a joint";
    if (m->excitation_row[e] >= 0 && count > FM_JOINT_MODES) return "a program has too many coordinates";
    if (m->excitation_row[e] >= 0 && m->row_kind[m->excitation_row[e]] == FM_ROW_PERPENDICULAR && count != 3)
        return "a program of an orientation does not have three angles";
    if ((m->excitation_row[e] < 0) != (m->excitation_row[first] < 0)) return "a program has only some of its rows";
    return NULL;
}

/* The excited modes follow one another by joint; their variables follow those of the joint's free modes. */
const char *fm_check_excitations(const fm_image *m)
{
    int32_t next = 0;
    for (int32_t j = 0; j < m->n.joints; j++) {
        const int32_t count = m->joint_excited[j];
        int32_t driven = 0;
        if (count < 0 || count > m->n.excitations - next) return "a joint has an impossible number of excited modes";
        if (count > 0 && m->joint_excitation[j] != next) return "a joint's excited modes are out of place";
        for (int32_t i = m->joint_first[j]; i >= 0 && i <= m->joint_last[j]; i++) {
            const int32_t g = m->link_general[i];
            driven += m->link_kind[i] == FM_LINK_DRIVEN ? 1 : g >= 0 ? m->general_screws[g] - m->general_rows[g] : 0;
        }
        if (driven != count) return "the number of a joint's excited modes is wrong";
        for (int32_t e = next; e < next + count; e++) {
            const char *wrong = check_excitation(m, j, e, next, count);
            if (wrong != NULL) return wrong;
        }
        next += count;
    }
    for (int32_t i = 0; i < m->n.rows; i++)
        if (m->row_excitation[i] >= 0 && m->excitation_row[m->row_excitation[i]] != i)
            return "a row follows another mode";
    return next == m->n.excitations ? NULL : "an excited mode belongs to no joint";
}

/* Returns NULL, or what is wrong. Requires that the kinds of links have been checked. */
const char *fm_check_modes(const fm_image *m)
{
    const char *found = check_generals(m);
    if (found == NULL) found = check_modals(m);
    if (found == NULL) found = check_gauges(m);
    if (found == NULL) found = check_paths(m);
    return found;
}
