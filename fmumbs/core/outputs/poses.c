/* poses.c: where all bodies are and how flexible ones are bent, for whoever draws them. Linear in the number of bodies.
 */
#include "poses.h"

#include "../image/joints.h"
#include "../tree/kinematics.h"
#include "update.h"

#include <string.h>

enum { FM_POSE = 12 }; /* numbers of a body: r (3), R (3, 3) by rows */

/* r = r_link + R_link r_body, R = R_link R_body. */
static void write_pose(const fm_instance *s, int32_t body, double *pose)
{
    const fm_world *w = s->world + s->image.body_link[body];
    const double *r = s->image.body_r + 3 * body, *R = s->image.body_R + 9 * body;
    for (int i = 0; i < 3; i++) {
        const double *row = w->R + 3 * i;
        pose[i] = w->r[i] + (row[0] * r[0] + row[1] * r[1] + row[2] * r[2]);
        for (int j = 0; j < 3; j++) pose[3 + 3 * i + j] = row[0] * R[j] + row[1] * R[3 + j] + row[2] * R[6 + j];
    }
}

size_t fm_do_poses(fm_instance *s, double *poses, size_t capacity)
{
    const fm_image *m = &s->image;
    size_t used = (size_t)m->n.bodies * FM_POSE;
    fm_update(s, FM_VALID_WORLD);
    if (capacity >= used)
        for (int32_t i = 0; i < m->n.bodies; i++) write_pose(s, i, poses + FM_POSE * (size_t)i);
    for (int32_t i = 0; i < m->n.bodies; i++) {
        const int32_t link = m->body_link[i];
        if (m->link_kind[link] != FM_LINK_MODAL) continue;
        const size_t count = (size_t)fm_link_positions(m, link);
        if (capacity >= used + count) memcpy(poses + used, s->y + m->link_p[link], count * sizeof *poses);
        used += count;
    }
    return used;
}
