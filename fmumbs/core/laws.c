/* laws.c: force laws by pieces, and the times at which they switch.
 *
 * In each piece the force is a polynomial of position x and velocity v, f = sum c_ij (x - origin)^i v^j. During a step
 * of the error-controlled integrator every law keeps the piece with which the step began, so that what is integrated
 * is smooth. Where (x, v) has left its piece the moment is located on the dense output to 1e-9 s, the step is cut
 * there, and the next one begins in the new piece. The fixed-step scheme takes the piece of each evaluation: its
 * order drops to one across a switch.
 */
#include "instance.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FM_LOCATED 1e-9 /* [s] */
#define FM_LOOKS 8      /* times within a step at which a law is looked at */

/* Position and velocity that a law follows; of a spring where the world kinematics are those of y. */
static void law_at(const fm_instance *s, int32_t law, const double *y, double *x, double *v)
{
    const fm_image *m = &s->image;
    double direction[3];
    if (m->law_spring[law] >= 0) {
        *x = fm_spring_line(s, m->law_spring[law], direction, v);
        return;
    }
    *x = y[m->law_p[law]];
    *v = y[m->n.positions + m->law_u[law]];
}

static int piece_holds(const fm_image *m, int32_t piece, double x, double v)
{
    const double *range = m->law_range + 5 * piece; /* lower, upper, v_lower, v_upper, origin */
    return x >= range[0] && x < range[1] && v >= range[2] && v < range[3];
}

/* The piece that holds at (x, v), -1 where there is none. */
static int32_t piece_at(const fm_image *m, int32_t law, double x, double v)
{
    for (int32_t i = m->law_first[law]; i < m->law_first[law] + m->law_count[law]; i++)
        if (piece_holds(m, i, x, v)) return i;
    return -1;
}

static double polynomial(const fm_image *m, int32_t piece, double x, double v)
{
    const double *c = m->law_polynomial + 24 * piece, away = x - m->law_range[5 * piece + 4];
    double force = 0.0;
    for (int i = 5; i >= 0; i--)
        force = force * away + (((c[4 * i + 3] * v + c[4 * i + 2]) * v + c[4 * i + 1]) * v + c[4 * i]);
    return force;
}

/* The force of a law at y [N or N.m]. */
static double law_force(const fm_instance *s, int32_t law, const double *y)
{
    double x, v;
    law_at(s, law, y, &x, &v);
    const double first = s->image.law_first[law], kept = s->law_piece[law];
    const int usable = s->laws_kept && kept >= -1.0 && (kept < 0.0 || (kept >= first && kept < first + s->image.law_count[law]));
    const int32_t piece = usable ? (int32_t)kept : piece_at(&s->image, law, x, v);
    return piece < 0 ? 0.0 : polynomial(&s->image, piece, x, v);
}

/* Adds the laws of joints to the applied forces of their modes. */
void fm_laws_on_modes(const fm_instance *s, const double *y, double *tau)
{
    for (int32_t i = 0; i < s->image.n.laws; i++)
        if (s->image.law_spring[i] < 0) tau[s->image.law_u[i]] += law_force(s, i, y);
}

/* What the laws of a spring add to its pull, world kinematics being those of y [N]. */
double fm_laws_on_spring(const fm_instance *s, int32_t spring, const double *y)
{
    double force = 0.0;
    for (int32_t i = 0; i < s->image.n.laws; i++)
        if (s->image.law_spring[i] == spring) force += law_force(s, i, y);
    return force;
}

static void place_for_laws(fm_instance *s, const double *y)
{
    s->valid = FM_VALID_NOTHING;
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        if (s->image.law_spring[i] < 0) continue;
        s->kernels->turn(s, y);
        fm_make_world(s, y);
        return;
    }
}

/* The pieces in which the coming step begins. */
void fm_laws_choose(fm_instance *s, const double *y)
{
    place_for_laws(s, y);
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        double x, v;
        law_at(s, i, y, &x, &v);
        s->law_piece[i] = piece_at(&s->image, i, x, v);
    }
}

/* Whether some law has left its piece at y. */
static int any_left(fm_instance *s, const double *y)
{
    place_for_laws(s, y);
    for (int32_t i = 0; i < s->image.n.laws; i++) {
        double x, v;
        law_at(s, i, y, &x, &v);
        if ((double)piece_at(&s->image, i, x, v) != s->law_piece[i]) return 1;
    }
    return 0;
}

/* The first time within the last step at which a law has left its piece, and the state there in `y`; the head's time
 * where none has. */
double fm_laws_switch(fm_instance *s, double *y)
{
    const double tail = s->clock[FM_TIME_TAIL], head = s->clock[FM_TIME_HEAD];
    double before = tail, after = head;
    int found = 0;
    for (int i = 1; i <= FM_LOOKS && !found; i++) {
        after = i < FM_LOOKS ? tail + (head - tail) * i / FM_LOOKS : head;
        fm_dense(s, after, y);
        found = any_left(s, y);
        if (!found) before = after;
    }
    if (!found) return head;
    const double least = FM_LOCATED > 8.0 * DBL_EPSILON * fabs(head) ? FM_LOCATED : 8.0 * DBL_EPSILON * fabs(head);
    while (after - before > least) {
        const double middle = 0.5 * (before + after);
        fm_dense(s, middle, y);
        if (any_left(s, y)) after = middle;
        else before = middle;
    }
    fm_dense(s, after, y);
    return after;
}
