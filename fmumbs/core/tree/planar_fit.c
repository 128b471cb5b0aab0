/* planar_fit.c: finds planar trees and planar mechanisms with loops, from the image alone.
 *
 * A tree (a link on the ground and all its descendants) is planar if its links rotate about one common direction n,
 * translate perpendicular to it, or are fixed, and if its flexible bodies move points across it alone. Driven modes are
 * as free ones; a screw that is driven leaves the plane. In a model with loops all trees of the loops must share one
 * plane.
 */
#include "planar_fit.h"

#include "../image/joints.h"
#include "../maths/vectors.h"
#include "../instance/plane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_pin(int32_t kind)
{
    return kind <= FM_LINK_REVOLUTE;
}

/* A driven mode that rotates about its z, or translates along it, and does not do both. */
static int is_driven(const fm_image *m, int32_t link, int rotates)
{
    const double *screw = m->link_screw + 6 * link;
    return m->link_kind[link] == FM_LINK_DRIVEN && (screw[2] != 0.0) == rotates && (screw[5] != 0.0) != rotates;
}

/* Pins, and flexible bodies with their frames, which turn about their z. */
static int turns_in_plane(const fm_image *m, int32_t link)
{
    return is_pin(m->link_kind[link]) || m->link_kind[link] >= FM_LINK_MODAL || is_driven(m, link, 1);
}

static int slides(const fm_image *m, int32_t link)
{
    return m->link_kind[link] == FM_LINK_PRISMATIC || is_driven(m, link, 0);
}

/* Whether a flexible body or a frame on it has modes that move in its plane x, y alone. */
static int bends_in_plane(const fm_image *m, int32_t link)
{
    const int32_t b = m->link_modal[link], frame = m->link_frame[link];
    const int32_t modes = m->modal_shapes[b], n = modes + m->modal_seconds[b];
    double out = 0.0;
    for (int32_t k = 0; k < n && frame >= 0; k++) {
        const double *row = m->frame_shape + 6 * (m->frame_first[frame] + k);
        out += (fabs(row[2]) + fabs(row[3])) + fabs(row[4]);
        if (k >= modes)
            out += fabs(row[5]); /* the planar sweeps have no turns of second order, which beams do not need */
    }
    if (m->link_kind[link] == FM_LINK_FRAME) return out == 0.0;
    for (int32_t k = m->modal_shape[b]; k < m->modal_shape[b] + n; k++) {
        const double *N = m->shape_moment + 9 * k;
        out += fabs(m->shape_first[3 * k + 2]) + ((fabs(N[2]) + fabs(N[5])) + fabs(N[8]));
    }
    for (int32_t k = m->modal_pair[b]; k < m->modal_pair[b] + n * n; k++) {
        const double *P = m->pair_product + 9 * k;
        out += ((fabs(P[2]) + fabs(P[5])) + (fabs(P[6]) + fabs(P[7]))) + fabs(P[8]);
    }
    return out == 0.0;
}

static int is_identity(const double *R)
{
    for (int j = 0; j < 9; j++)
        if (R[j] != (j % 4 == 0 ? 1.0 : 0.0)) return 0;
    return 1;
}

/* Whether a link moves in the plane normal to n (in its axes); where it turns, n is rounded to its axis. */
static int moves_across(const fm_image *m, int32_t link, double *n)
{
    const int32_t kind = m->link_kind[link], axis = is_pin(kind) ? fm_link_axis(kind) : 2;
    const double rest = fabs(n[(axis + 1) % 3]) + fabs(n[(axis + 2) % 3]), side = n[axis] < 0.0 ? -1.0 : 1.0;
    if (kind == FM_LINK_FIXED) return 1;
    if (slides(m, link)) return fabs(n[2]) <= FM_PARALLEL;
    if (kind >= FM_LINK_MODAL && !bends_in_plane(m, link)) return 0;
    if (!turns_in_plane(m, link) || rest + fabs(fabs(n[axis]) - 1.0) > FM_PARALLEL) return 0;
    memset(n, 0, 3 * sizeof *n);
    n[axis] = side;
    return kind >= FM_LINK_REVOLUTE || is_identity(m->link_R + 9 * link);
}

/* Whether all links from a root to `end` move in the plane normal to the root's n; writes the normal of each. */
static int fits(const fm_image *m, int32_t root, int32_t end, double *normal)
{
    int dof = 0;
    for (int32_t i = root; i < end; i++) {
        if (i > root) rotate_in(m->link_R + 9 * i, normal + 3 * m->link_parent[i], normal + 3 * i);
        if (!moves_across(m, i, normal + 3 * i)) return 0;
        dof += m->link_u[i] >= 0;
    }
    return dof > 0;
}

/* The axis of a link's rotation or translation, in the root's axes; no rotations lie in between. */
static void axis_in_root(const fm_image *m, int32_t root, int32_t link, double *out)
{
    const int32_t kind = m->link_kind[link];
    double v[3] = {0.0, 0.0, 0.0};
    v[is_pin(kind) ? fm_link_axis(kind) : 2] = 1.0;
    memcpy(out, v, sizeof v);
    for (int32_t i = link; i != root; i = m->link_parent[i]) {
        rotate_out(m->link_R + 9 * i, v, out);
        memcpy(v, out, sizeof v);
    }
}

/* The normal of a tree's plane, in the root's axes: the axis of its first pin or flexible body, as there are no
 * rotations before it. Without these, perpendicular to the first slide and to the one that differs most from it, or
 * else to any direction. */
static void normal_of_root(const fm_image *m, int32_t root, int32_t end, double *n)
{
    double slide[3] = {0.0, 0.0, 1.0}, other[3], across[3], most = 1e-3;
    int32_t i = root;
    while (i < end && !turns_in_plane(m, i)) i++;
    if (i < end) {
        axis_in_root(m, root, i, n);
        return;
    }
    for (i = root; i < end && !slides(m, i);) i++;
    if (i < end) axis_in_root(m, root, i, slide);
    const int32_t least = fabs(slide[0]) < 0.6 ? 0 : fabs(slide[1]) < 0.6 ? 1 : 2;
    for (int j = 0; j < 3; j++) other[j] = j == least ? 1.0 : 0.0;
    cross(slide, other, n);
    for (; i < end; i++) {
        if (!slides(m, i)) continue;
        axis_in_root(m, root, i, other);
        cross(slide, other, across);
        if (!(dot(across, across) > most)) continue;
        most = dot(across, across);
        memcpy(n, across, sizeof across);
    }
    const double length = sqrt(dot(n, n));
    for (int j = 0; j < 3; j++) n[j] /= length;
}

/* Whether a vector lies in the plane (1), is normal to it (0), or neither (-1). */
static int lies(const double *v, const double *n)
{
    double rest[3];
    cross(v, n, rest);
    if (fabs(dot(v, n)) <= FM_PARALLEL) return 1;
    return dot(rest, rest) <= FM_PARALLEL * FM_PARALLEL ? 0 : -1;
}

/* The kind of a row in the plane; FM_ROW_KINDS if satisfied identically, -1 if it acts in space. */
int32_t fm_planar_row(const fm_image *m, int32_t i, const double *nF, const double *nM)
{
    const int32_t kind = m->row_kind[i];
    const int f = lies(m->row_f + 3 * i, nF), g = lies(m->row_g + 3 * i, nM);
    if (kind == FM_ROW_DISTANCE) return fm_is_programmed_length(m, i) ? -1 : kind;
    if (kind == FM_ROW_GIVEN) return FM_ROW_KINDS;
    if (kind == FM_ROW_ALONG) return f == 1 ? kind : f == 0 ? FM_ROW_KINDS : -1;
    if (kind != FM_ROW_PERPENDICULAR || f < 0 || g < 0) return -1;
    return f == 1 && g == 1 ? kind : FM_ROW_KINDS;
}

/* Whether all loops move in the plane normal to `ground`, also those whose only rows prescribe start values: every
 * block of the plan lies on planar links. `normal`: that of each link in its axes, zero for spatial links. */
static int loops_fit(const fm_image *m, const double *ground, const double *normal)
{
    for (int32_t i = 0, acting = 0; i < m->n.rows; i++) {
        if (m->row_kind[i] == FM_ROW_COUPLED) return 0;
        const int32_t F = m->joint_F_link[m->row_joint[i]], M = m->joint_M_link[m->row_joint[i]];
        const double *nF = F < 0 ? ground : normal + 3 * F, *nM = M < 0 ? ground : normal + 3 * M;
        if (dot(nF, nF) == 0.0 || dot(nM, nM) == 0.0) return 0;
        const int32_t sort = fm_planar_row(m, i, nF, nM);
        acting = (i > 0 && m->row_joint[i - 1] == m->row_joint[i] ? acting : 0) + (sort != FM_ROW_KINDS);
        if (sort < 0 || acting > FM_PLANE_ROWS) return 0;
    }
    return 1;
}

/* With loops, all planar trees share one plane, that of the first pin; the others are spatial. */
static int32_t share_normal(const fm_image *m, double *normal, const double *ground)
{
    int32_t found = 0;
    for (int32_t root = 0, end; root < m->n.links; root = end) {
        for (end = root + 1; end < m->n.links && m->link_parent[end] >= 0;) end++;
        rotate_in(m->link_R + 9 * root, ground, normal + 3 * root);
        if (fits(m, root, end, normal)) found += end - root;
        else memset(normal + 3 * root, 0, 3 * (size_t)(end - root) * sizeof *normal);
    }
    return loops_fit(m, ground, normal) ? found : 0;
}

/* The normal of each link's plane in its axes, zero for spatial links; `ground`: that of the first tree with a pin.
 * Returns the number of planar links. */
int32_t fm_planar_normals(const fm_image *m, double *normal, double *ground)
{
    int32_t found = 0;
    memset(ground, 0, 3 * sizeof *ground);
    for (int32_t root = 0, end; root < m->n.links; root = end) {
        int pinned = 0;
        for (end = root + 1; end < m->n.links && m->link_parent[end] >= 0;) end++;
        normal_of_root(m, root, end, normal + 3 * root);
        const int planar = fits(m, root, end, normal);
        for (int32_t i = root; i < end; i++) pinned += turns_in_plane(m, i);
        if (planar && pinned && dot(ground, ground) == 0.0) rotate_out(m->link_R + 9 * root, normal + 3 * root, ground);
        if (planar) found += end - root;
        else memset(normal + 3 * root, 0, 3 * (size_t)(end - root) * sizeof *normal);
    }
    if (m->n.rows == 0) return found;
    return dot(ground, ground) > 0.0 ? share_normal(m, normal, ground) : 0;
}

/* The number of planar links; allocates temporary memory, and returns 0 if it cannot. */
int32_t fm_planar_count(const fm_image *m)
{
    double ground[3], *normal = m->n.links > 0 ? malloc(3 * (size_t)m->n.links * sizeof *normal) : NULL;
    if (normal == NULL) return 0;
    const int32_t found = fm_planar_normals(m, normal, ground);
    free(normal);
    return found;
}
