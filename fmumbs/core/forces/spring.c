/* spring.c: springs and dampers along the line between two points, with their force laws.
 *
 * With l the distance of P and Q, v its rate, and stiffness k, damping d and free length l0, the pull is
 * f = k (l - l0) + d v, and what laws add to it (laws.c); the energy is that of k alone.
 */
#include "elements.h"

#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "laws.h"
#include "point_pair.h"

/* Its pull at y, its length and the direction from P to Q. */
static double pull_of(const fm_instance *s, int32_t i, const double *y, double line[3], double *length)
{
    double rate;
    *length = fm_spring_line(s, i, line, &rate);
    const double pull = s->spring_stiffness[i] * (*length - s->spring_free_length[i]);
    const double laws = s->image.n.laws > 0 ? fm_laws_on_spring(s, i, y) : 0.0;
    return (pull + s->spring_damping[i] * rate) + laws;
}

static void apply(fm_instance *s, int32_t i, const double *load)
{
    double line[3], length;
    (void)load;
    const double pull = pull_of(s, i, s->work.evaluated, line, &length);
    fm_pull_together(s, s->image.spring_P[i], s->image.spring_Q[i], line, pull);
}

static void respond(fm_instance *s, int32_t i, const double *load)
{
    double line[3], rate;
    (void)load;
    if (s->image.n.laws == 0) return;
    (void)fm_spring_line(s, i, line, &rate);
    fm_pull_together(s, s->image.spring_P[i], s->image.spring_Q[i], line, fm_laws_on_spring(s, i, s->work.evaluated));
}

static double energy(const fm_instance *s, int32_t i)
{
    double line[3], rate;
    const double stretch = fm_spring_line(s, i, line, &rate) - s->spring_free_length[i];
    return 0.5 * s->spring_stiffness[i] * stretch * stretch;
}

static void links(const fm_image *m, int32_t i, int32_t links[2])
{
    links[0] = m->point_link[m->spring_P[i]], links[1] = m->point_link[m->spring_Q[i]];
}

/* Stiffness and damping with those of its laws. */
static void slopes(const fm_instance *s, int32_t i, const double *y, double *k, double *d)
{
    *k = s->spring_stiffness[i] > 0.0 ? s->spring_stiffness[i] : 0.0,
    *d = s->spring_damping[i] > 0.0 ? s->spring_damping[i] : 0.0;
    for (int32_t j = 0; j < s->image.n.laws; j++) {
        double by_x, by_v;
        if (s->image.law_spring[j] != i || !fm_law_slopes(s, j, y, &by_x, &by_v)) continue;
        *k += by_x > 0.0 ? by_x : 0.0, *d += by_v > 0.0 ? by_v : 0.0;
    }
}

/* Where its points coincide, it resists in every direction if it has no free length, and not at all if it has. */
static int stiffness(const fm_instance *s, int32_t i, const double *y, fm_direction at[FM_DIRECTIONS])
{
    static const double any[3] = {1.0, 0.0, 0.0};
    const int32_t P = s->image.spring_P[i], Q = s->image.spring_Q[i];
    double line[3], length, k, d;
    const double pull = pull_of(s, i, y, line, &length);
    slopes(s, i, y, &k, &d);
    if (length > 0.0) return fm_pair_directions(s, P, Q, line, k, d, pull / length, at);
    return s->spring_free_length[i] == 0.0 ? fm_pair_directions(s, P, Q, any, k, 0.0, k, at) : 0;
}

static double value(const fm_instance *s, int32_t kind, int32_t i, int32_t part)
{
    double line[3], length;
    (void)part;
    const double pull = pull_of(s, i, s->y, line, &length);
    return kind == FM_S_LENGTH ? length : pull;
}

const fm_force_element fm_spring_element = {
    .apply = apply,
    .respond = respond,
    .energy = energy,
    .links = links,
    .stiffness = stiffness,
    .value = value,
};
